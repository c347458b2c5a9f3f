//! Bytes that cross the seam in JSON: each character of the text is one byte (Latin-1).

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Bytes of the wire: a URI, a header, a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Octets(pub Vec<u8>);

impl<'de> Deserialize<'de> for Octets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = text.chars().map(u8::try_from).collect::<Result<_, _>>();
        bytes
            .map(Self)
            .map_err(|_| D::Error::custom("each character of bytes stands for one of them: U+0000 to U+00FF"))
    }
}

/// Bytes as text of which each character is one byte.
pub fn text_of(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}
