//! Specifications for tests.

use crate::spec::HttperfSpec;
use bakeoff_engine::TrialSpec;
use serde_json::{Value, json};

/// That of `httperf --server www`, as JSON.
pub(crate) fn plain() -> Value {
    serde_json::from_str(include_str!("../../tests/loopback/plain.json")).unwrap()
}

/// The same with some options changed; the load follows the period.
pub(crate) fn try_spec(extra: &str) -> Result<HttperfSpec, String> {
    let (mut workload, extra): (Value, Value) = (plain(), serde_json::from_str(extra).unwrap());
    for (name, value) in extra.as_object().unwrap() {
        workload[name] = value.clone();
    }
    let load = if workload["period"].is_null() {
        json!({"clients": 1})
    } else {
        json!({"rate": {"per_s": 1.0, "most_connections": 1}})
    };
    let trial = json!({"workload": workload, "load": load, "length_s": 10});
    let trial = TrialSpec::from_json(&trial.to_string()).unwrap();
    HttperfSpec::from_trial(&trial).map_err(|error| error.to_string())
}

/// One that must be right.
pub(crate) fn spec_with(extra: &str) -> HttperfSpec {
    try_spec(extra).unwrap()
}
