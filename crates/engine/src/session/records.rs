//! What a mux and a carrier of streams tell each other where the transport has streams of its own (QUIC).
//!
//! The bytes between them are records: a head of [`HEAD_BYTES`] and what it announces. Carriers hand over whole ones.

/// Bytes of a record before what it announces.
pub const HEAD_BYTES: usize = 13;

/// What a record says of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// To the mux: the stream may be used. Without content.
    Free,
    /// To the mux: no more streams than the record's number are taken at once. Without content.
    Limit,
    /// Content of the stream.
    Part,
    /// Content of the stream, which ends with it.
    Last,
    /// The stream is given up in both directions. The content is the code, 8 bytes, most significant first.
    Reset,
}

/// Head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// What it says.
    pub kind: RecordKind,
    /// Number of the stream.
    pub stream: u64,
    /// Bytes that follow.
    pub length: usize,
}

impl Record {
    /// Takes the next head from `bytes`; `None` when there is none or it announces more than there is.
    #[inline]
    pub fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (&first, rest) = bytes.split_first()?;
        let (stream, rest) = rest.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let kind = *[RecordKind::Free, RecordKind::Limit, RecordKind::Part, RecordKind::Last, RecordKind::Reset]
            .get(usize::from(first))?;
        let length = u32::from_be_bytes(*length) as usize;
        (length <= rest.len()).then_some(())?;
        *bytes = rest;
        Some(Self { kind, stream: u64::from_be_bytes(*stream), length })
    }
}

/// Appends a record.
#[inline]
pub fn put(kind: RecordKind, stream: u64, content: &[u8], out: &mut Vec<u8>) {
    out.push(kind as u8);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(&(content.len() as u32).to_be_bytes());
    out.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_taken_and_what_is_cut_is_not() {
        let mut out = Vec::new();
        put(RecordKind::Last, 1 << 40, b"abc", &mut out);
        put(RecordKind::Free, 4, b"", &mut out);
        let mut rest = out.as_slice();
        assert_eq!(Record::take(&mut rest), Some(Record { kind: RecordKind::Last, stream: 1 << 40, length: 3 }));
        rest = &rest[3..];
        assert_eq!(Record::take(&mut rest), Some(Record { kind: RecordKind::Free, stream: 4, length: 0 }));
        assert_eq!((Record::take(&mut rest), Record::take(&mut &out[..15]), rest), (None, None, &[][..]));
    }
}
