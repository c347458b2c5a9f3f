//! Text with values in it: `{csrf}`, or `{csrf:url}` where it says how the value is written.

use bakeoff_engine::SpecError;

/// The value that nobody takes: the client's number, from 1. Digits are written alike in any way.
pub(crate) const CLIENT: usize = 0;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// As it is.
    Plain,
    /// Percent-encoded, all but the unreserved characters (RFC 3986, 2.3).
    Url,
    /// As the inside of a JSON string.
    Json,
}

impl Escape {
    fn named(word: &[u8]) -> Option<Self> {
        match word {
            b"none" => Some(Self::Plain),
            b"url" => Some(Self::Url),
            b"json" => Some(Self::Json),
            _ => None,
        }
    }

    /// Writes a value.
    pub fn write(self, value: &[u8], out: &mut Vec<u8>) {
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        for &byte in value {
            let hex = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            match self {
                Self::Plain => out.push(byte),
                Self::Url if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => out.push(byte),
                Self::Url => out.extend_from_slice(&[b'%', hex[0], hex[1]]),
                Self::Json if matches!(byte, b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
                Self::Json if byte < b' ' => out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex[0], hex[1]]),
                Self::Json => out.push(byte),
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Box<[u8]>),
    Value { slot: usize, escape: Escape },
}

/// A text with its values' places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Text in which no brace means anything.
    pub fn plain(text: &[u8]) -> Self {
        Self { pieces: vec![Piece::Text(text.into())] }
    }

    /// Reads a text; `slot_of` knows the values that there are. Values that do not say how are written by `unsaid`.
    pub fn parse(
        text: &[u8],
        unsaid: Option<Escape>,
        slot_of: impl Fn(&str) -> Option<usize>,
    ) -> Result<Self, SpecError> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), Vec::new(), text);
        while let Some(at) = memchr::memchr(b'{', rest) {
            plain.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            let Some((name, how, length)) = word(rest) else {
                plain.push(b'{');
                rest = &rest[1..];
                continue;
            };
            let said = String::from_utf8_lossy(&rest[..length]).into_owned();
            let slot = slot_of(name).ok_or_else(|| format!("{said}: no step before takes a value of that name"))?;
            let unsaid = if slot == CLIENT { Some(Escape::Plain) } else { unsaid };
            let escape = how.map_or(Ok(unsaid), |how| Escape::named(how).map(Some).ok_or(()));
            let escape =
                escape.ok().flatten().ok_or_else(|| format!("{said}: say url, json or none behind the name"))?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain).into()));
            }
            pieces.push(Piece::Value { slot, escape });
            rest = &rest[length..];
        }
        plain.extend_from_slice(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.into()));
        }
        Ok(Self { pieces })
    }

    /// The value that the text begins with.
    pub fn begins_with(&self) -> Option<usize> {
        match self.pieces.first() {
            Some(&Piece::Value { slot, .. }) => Some(slot),
            _ => None,
        }
    }

    /// Writes the text with these values. A part with a byte that `fits` refuses is not written to its end: the error
    /// is its slot.
    pub fn write(&self, values: &[Vec<u8>], fits: impl Fn(u8) -> bool, out: &mut Vec<u8>) -> Result<(), usize> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                &Piece::Value { slot, escape } => {
                    let start = out.len();
                    escape.write(&values[slot], out);
                    if !out[start..].iter().all(|&byte| fits(byte)) {
                        return Err(slot);
                    }
                }
            }
        }
        Ok(())
    }
}

/// What stands in braces at the beginning of a text, if it can be a value: its name, how it is written, and the length of
/// all. Other braces are text, such as those of JSON.
fn word(text: &[u8]) -> Option<(&str, Option<&[u8]>, usize)> {
    let name_end = text[1..].iter().position(|&byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))? + 1;
    let name = std::str::from_utf8(&text[1..name_end]).ok()?;
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    match text[name_end] {
        b'}' => Some((name, None, name_end + 1)),
        b':' => {
            let how = &text[name_end + 1..];
            let end = how.iter().position(|byte| !byte.is_ascii_lowercase())?;
            (end > 0 && how[end] == b'}').then(|| (name, Some(&how[..end]), name_end + end + 2))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, unsaid: Option<Escape>, value: &[u8]) -> Result<String, String> {
        let slot_of = |name: &str| ["client", "a_1"].iter().position(|known| *known == name);
        let template = Template::parse(text.as_bytes(), unsaid, slot_of).map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        template
            .write(&[b"7".to_vec(), value.to_vec()], |byte| byte != 0, &mut out)
            .map_err(|slot| format!("slot {slot}"))?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_are_written_as_is_said() {
        let value = b"a b/\"\\\n\xc3\xa9~+".as_slice();
        assert_eq!(filled("x{a_1:url}y", None, value).unwrap(), "xa%20b%2F%22%5C%0A%C3%A9~%2By");
        assert_eq!(filled("{\"t\":\"{a_1:json}\"}", None, value).unwrap(), "{\"t\":\"a b/\\\"\\\\\\u000A\u{e9}~+\"}");
        assert_eq!(filled("{a_1}{a_1:none}", Some(Escape::Plain), b"v").unwrap(), "vv");
        assert_eq!(filled("u{client}", None, b"v").unwrap(), "u7");
    }

    #[test]
    fn braces_that_hold_no_name_are_text() {
        for text in
            ["{", "{}", "{ a_1}", "{\"a\":{\"b\":1}}", "a{1}b", "{a_1:URL}", "{a_1:}", "{a-b}", "{a_1", "{a_1:url"]
        {
            assert_eq!(filled(text, None, b"v").unwrap(), text);
        }
        assert_eq!(filled("{{a_1:url}}", None, b"v").unwrap(), "{v}");
    }

    #[test]
    fn names_and_ways_that_are_not_known_are_refused() {
        assert!(filled("{other:url}", None, b"").unwrap_err().contains("{other:url}: no step before"));
        assert!(filled("{a_1}", None, b"").unwrap_err().contains("say url, json or none"));
        assert!(filled("{a_1:html}", None, b"").unwrap_err().contains("say url, json or none"));
        assert_eq!(filled("{a_1:none}", None, b"\0"), Err("slot 1".to_owned()));
        assert_eq!(filled("{a_1:url}", None, b"\0").unwrap(), "%00");
    }
}
