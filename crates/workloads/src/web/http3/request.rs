//! The header sections of requests, prepared once.

use super::frames::kind;
use super::{qpack, varint};

/// The fields that all requests of a workload share. Those of a request stand between them: pseudo-headers come first.
#[derive(Debug)]
pub(super) struct SharedFields {
    pseudo: Vec<u8>,
    others: Vec<u8>,
}

impl SharedFields {
    /// `others` are name and value of the fields beside scheme and authority, names in any case.
    pub fn new(scheme: &str, authority: &str, others: &[(String, String)]) -> Self {
        let mut shared = Self { pseudo: Vec::new(), others: Vec::new() };
        qpack::put_prefix(&mut shared.pseudo);
        qpack::put_field(":scheme", scheme, &mut shared.pseudo);
        qpack::put_field(":authority", authority, &mut shared.pseudo);
        for (name, value) in others {
            qpack::put_field(&name.to_ascii_lowercase(), value, &mut shared.others);
        }
        shared
    }

    /// Length of the section of a request with own fields of so many bytes.
    pub const fn length(&self, own_bytes: usize) -> usize {
        self.pseudo.len() + own_bytes + self.others.len()
    }

    /// Appends the frame of a request, whose own fields are `own`.
    #[inline]
    pub fn put(&self, own: &[u8], out: &mut Vec<u8>) {
        varint::put(kind::HEADERS, out);
        varint::put(self.length(own.len()) as u64, out);
        [&self.pseudo, own, &self.others].iter().for_each(|part| out.extend_from_slice(part));
    }
}

/// Appends the fields that are a request's own.
pub(crate) fn put_own(method: &str, path: &str, section: &mut Vec<u8>) {
    qpack::put_field(":method", method, section);
    qpack::put_field(":path", path, section);
}
