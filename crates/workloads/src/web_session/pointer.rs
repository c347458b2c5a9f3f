//! One value of a JSON text, by its pointer (RFC 6901), without a tree of the rest: what is passed over is only checked.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Names of members and places in arrays, from the outermost.
#[derive(Debug, Clone)]
pub(crate) struct Pointer {
    tokens: Box<[Box<str>]>,
}

/// Deeper pointers are refused.
const DEPTH_MAX: usize = 32;

impl Pointer {
    /// Reads `/order/0/id`.
    pub fn parse(text: &str) -> Option<Self> {
        if !text.is_empty() && !text.starts_with('/') {
            return None;
        }
        let tokens: Option<Box<[_]>> = text.split('/').skip(1).map(unescape).collect();
        tokens.filter(|tokens| tokens.len() <= DEPTH_MAX).map(|tokens| Self { tokens })
    }

    /// The text, number or truth value that it points to, a number as it was written. `None` where there is none, or the
    /// text is no JSON.
    pub fn find(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let found = At(&self.tokens).deserialize(&mut json).ok()?;
        json.end().ok()?;
        found
    }
}

fn unescape(token: &str) -> Option<Box<str>> {
    let mut parts = token.split('~');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.strip_prefix('0').map(|rest| ('~', rest)).or(part.strip_prefix('1').map(|rest| ('/', rest)));
        let (byte, rest) = rest?;
        whole.push(byte);
        whole.push_str(rest);
    }
    Some(whole.into())
}

/// What these tokens point to in the value that comes.
struct At<'t>(&'t [Box<str>]);

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = Option<Vec<u8>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return serde::Deserialize::deserialize(deserializer).map(|raw: &RawValue| scalar(raw.get()));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = Option<Vec<u8>>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    /// Of members of one name the last one counts, as with most readers.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = map.next_key_seed(Named(&self.0[0]))? {
            if is_it {
                found = map.next_value_seed(At(&self.0[1..]))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let token = &self.0[0];
        let wanted = token.parse::<usize>().ok().filter(|index| index.to_string() == **token);
        let mut found = None;
        for index in 0.. {
            let more = if Some(index) == wanted {
                let item = items.next_element_seed(At(&self.0[1..]))?;
                let there = item.is_some();
                found = item.flatten();
                there
            } else {
                items.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                break;
            }
        }
        Ok(found)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Whether a member has this name.
struct Named<'t>(&'t str);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Named<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

/// The value as text; objects, arrays and null have none.
fn scalar(raw: &str) -> Option<Vec<u8>> {
    match raw.as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(raw).ok().map(String::into_bytes),
        b'{' | b'[' | b'n' => None,
        _ => Some(raw.as_bytes().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pointer: &str, text: &str) -> Option<String> {
        Pointer::parse(pointer).unwrap().find(text.as_bytes()).map(|value| String::from_utf8(value).unwrap())
    }

    #[test]
    fn pointers_lead_where_rfc_6901_says() {
        let text = r#"{"foo":["bar","b\u00e9\"z"],"":0,"a/b":1,"m~n":8,"k":{"x":[{"id":90071992547409931,"f":1.10}]},"t":true}"#;
        for (pointer, value) in [
            ("/foo/0", "bar"),
            ("/foo/1", "b\u{e9}\"z"),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/m~0n", "8"),
            ("/k/x/0/id", "90071992547409931"),
            ("/k/x/0/f", "1.10"),
            ("/t", "true"),
        ] {
            assert_eq!(find(pointer, text).as_deref(), Some(value), "{pointer}");
        }
        for pointer in ["", "/foo", "/foo/2", "/foo/00", "/foo/-", "/k", "/nothing", "/t/x", "/foo/0/x"] {
            assert_eq!(find(pointer, text), None, "{pointer}");
        }
        assert_eq!(find("", "\"word\"").as_deref(), Some("word"));
        assert_eq!(find("/a", r#"{"a":1,"a":2}"#).as_deref(), Some("2"));
    }

    #[test]
    fn what_is_no_json_has_no_values_and_what_is_no_pointer_is_refused() {
        for text in ["", "{", r#"{"a":1"#, r#"{"a":1}x"#, r#"{"a":1,}"#, "<html>", r#"{"a":nul}"#, "{\"a\":\"\u{1}\"}"]
        {
            assert_eq!(find("/a", text), None, "{text}");
        }
        assert_eq!(Pointer::parse("/a").unwrap().find(b"{\"a\":\"\xff\"}"), None);
        for pointer in ["a", "/~2", "/a~", &"/x".repeat(33)] {
            assert!(Pointer::parse(pointer).is_none(), "{pointer}");
        }
    }

    #[test]
    fn depth_is_no_way_to_break_it() {
        for depth in [100, 1_000, 200_000] {
            let nested = format!("{{\"a\":{}1{},\"b\":2}}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(find("/b", &nested).as_deref(), Some("2"), "what is passed over takes no stack");
            assert_eq!(find("/a/0/0/0", &nested), None);
            let open = "[".repeat(depth);
            assert_eq!(find("/0/0/0/0", &open), None);
            assert_eq!(find("/b", &"{\"b\":".repeat(depth)), None);
        }
    }

    /// Against a reader that makes a tree, on words at random.
    #[test]
    fn random_texts_are_read_as_serde_json_reads_them() {
        let words = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"b\"",
            "\"\\u00e9\"",
            "1",
            "-2.5",
            "true",
            "null",
            " ",
            "\"",
            "\\",
            "x",
        ];
        let mut rng = bakeoff_engine::Rng::for_thread(11, 0, 0);
        let mut whole = 0;
        for round in 0..100_000 {
            let mut text: String = (0..=rng.below(9)).map(|_| words[rng.below(words.len() as u64) as usize]).collect();
            if round % 2 == 0 {
                text = format!("{{\"a\":[{text},{{\"b\":{text}}}]}}");
            }
            for pointer in ["/a", "/a/0", "/a/1/b", "/0", ""] {
                let tree = serde_json::from_str::<serde_json::Value>(&text).ok();
                let wanted = tree.as_ref().and_then(|tree| tree.pointer(pointer));
                let found = find(pointer, &text);
                let alike = match wanted {
                    Some(serde_json::Value::String(text)) => found.as_ref() == Some(text),
                    Some(serde_json::Value::Bool(truth)) => found == Some(truth.to_string()),
                    Some(serde_json::Value::Number(number)) => {
                        let read = found.as_ref().and_then(|found| found.parse::<f64>().ok());
                        read.zip(number.as_f64()).is_some_and(|(one, other)| (one - other).abs() <= 1e-9 * other.abs())
                    }
                    _ => found.is_none(),
                };
                whole += u32::from(found.is_some());
                assert!(alike, "{found:?} for {wanted:?}: {pointer} in {text}");
            }
        }
        assert!(whole > 1_000, "{whole}");
    }
}
