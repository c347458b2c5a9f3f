//! Compact bytes: numbers as LEB128, texts as length and bytes; and such bytes as text, deflated, for what crosses the seam.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read as _, Write as _};

/// The most bytes that text may stand for.
const OPENED_BYTES_MAX: u64 = 4 << 30;

#[derive(Debug, Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text);
    }

    pub fn texts(&mut self, texts: &[Vec<u8>]) {
        self.number(texts.len() as u64);
        texts.iter().for_each(|text| self.text(text));
    }

    /// All that was written, as text.
    pub fn shut(&self) -> String {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        // Writing to memory cannot fail.
        let deflated = encoder.write_all(&self.0).and_then(|()| encoder.finish()).unwrap_or_default();
        STANDARD_NO_PAD.encode(deflated)
    }
}

/// The bytes of [`Writer::shut`]; `None` for any other text.
pub(crate) fn open(text: &str) -> Option<Vec<u8>> {
    let deflated = STANDARD_NO_PAD.decode(text).ok()?;
    let mut bytes = Vec::new();
    let read = ZlibDecoder::new(&deflated[..]).take(OPENED_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    ((read as u64) < OPENED_BYTES_MAX).then_some(bytes)
}

pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// A number of 63 bits at most.
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A number of things that take a byte each at least.
    pub fn count(&mut self, most: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= most.min(self.0.len()))
    }

    pub fn index(&mut self, of: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|index| *index < of)
    }

    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.count(usize::MAX)?;
        self.bytes(length)
    }

    pub fn texts(&mut self, most: usize) -> Option<Vec<Vec<u8>>> {
        (0..self.count(most)?).map(|_| self.text().map(<[u8]>::to_vec)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shut_is_opened_and_nothing_else_is() {
        let mut writer = Writer::default();
        [0, 127, 128, (1 << 63) - 1].into_iter().for_each(|number| writer.number(number));
        writer.text(b"hello");
        let bytes = open(&writer.shut()).unwrap();
        let mut reader = Reader(&bytes);
        let numbers: Vec<_> = (0..4).map(|_| reader.number().unwrap()).collect();
        assert_eq!((numbers, reader.text()), (vec![0, 127, 128, (1 << 63) - 1], Some(&b"hello"[..])));
        assert_eq!((reader.number(), open("?"), open("QUJD")), (None, None, None));
    }
}
