//! The wire format of the `app` workload: what its client and its server must agree on, and nothing else.
//!
//! Described for other implementers in `docs/reference/app-protocol.md`; the bytes there and here are held together by
//! tests with literal frames. All numbers are little-endian.

mod content;
mod reply;
mod request;
mod status;

pub use content::{
    RECORD_BYTES_MAX, RECORD_BYTES_MIN, RECORDS_MAX, STAMP_BYTES, checksum, fill_record, is_record_size, pattern,
    process, read_stamp, record_at, seed_of,
};
pub use reply::{Figures, HELLO_REPLY_BYTES, Hello, READ_ENTRY_BYTES, REPLY_BYTES, ReadEntry, Reply, UNKNOWN, known};
pub use request::{Kind, REQUEST_BYTES, Request};
pub use status::Status;

/// Version of the protocol; a server refuses any other.
pub const VERSION: u32 = 2;

/// Bytes of the length field that begins each frame; the length counts what follows it.
pub const LENGTH_BYTES: usize = 4;

/// Largest payload that any frame may have, whatever a server is set to.
pub const PAYLOAD_BYTES_MAX: u32 = 64 << 20;

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|part| part.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map_or(0, u64::from_le_bytes)
}
