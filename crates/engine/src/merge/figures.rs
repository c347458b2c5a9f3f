//! How the figures that several machines have of their sessions become one.

use serde_json::{Value, json};

/// Whole numbers of the same name added up, one level after the other; anything else is that of the first.
pub fn add_counts(parts: &[&Value]) -> Value {
    let mut total = Value::Null;
    parts.iter().for_each(|part| add_count(&mut total, part));
    total
}

fn add_count(total: &mut Value, part: &Value) {
    match (&mut *total, part) {
        (Value::Object(total), Value::Object(part)) => {
            for (name, value) in part {
                add_count(total.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Number(sum), Value::Number(more)) => {
            if let (Some(sum), Some(more)) = (sum.as_u64(), more.as_u64()) {
                *total = json!(sum + more);
            }
        }
        (Value::Null, part) => *total = part.clone(),
        _ => {}
    }
}
