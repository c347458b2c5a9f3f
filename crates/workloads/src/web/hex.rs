//! Bytes as they cross the seam.

use bakeoff_engine::SpecError;

/// Bytes as text in hexadecimal.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of a text in hexadecimal.
pub(crate) fn from_hex(text: &str) -> Result<Vec<u8>, SpecError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes: Option<Vec<u8>> = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    bytes.filter(|_| rest.is_empty()).ok_or_else(|| SpecError::Range("a body is not hexadecimal".to_owned()))
}
