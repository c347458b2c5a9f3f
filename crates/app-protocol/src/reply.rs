//! What a server answers.

use crate::{Kind, LENGTH_BYTES, Status, u32_at, u64_at};

/// Bytes of a reply without its payload.
pub const REPLY_BYTES: usize = 80;
/// Payload of the reply to a hello.
pub const HELLO_REPLY_BYTES: usize = 40;
/// Payload of the reply to a read, for each record.
pub const READ_ENTRY_BYTES: usize = 24;
const MAGIC: u8 = 0xB5;

/// A counter that the server does not have.
pub const UNKNOWN: u64 = u64::MAX;

/// A counter's value, unless it is [`UNKNOWN`].
pub fn known(count: u64) -> Option<u64> {
    (count != UNKNOWN).then_some(count)
}

/// What the server has used since its start, at most a tenth of a second old.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Time since its start when it was looked at, ns.
    pub uptime_ns: u64,
    /// Processor time of all its threads, ns.
    pub cpu_ns: u64,
    /// Bytes that the block device of its data segments has read, for whomever; [`UNKNOWN`] without one.
    pub disk_read_bytes: u64,
    /// Bytes that this device has written.
    pub disk_written_bytes: u64,
}

/// The head of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The request's kind, `None` when it had none that is known.
    pub kind: Option<Kind>,
    /// How it went.
    pub status: Status,
    /// The request's sequence number.
    pub sequence: u64,
    /// From the request's last byte read to the start of its service.
    pub queue_ns: u64,
    /// From the start of service to the reply.
    pub service_ns: u64,
    /// From the request's first byte read to the reply.
    pub server_ns: u64,
    /// Hello: the epoch. Upload: checksum of the payload. Download: bytes. Processor: the result.
    /// Read and write: records.
    pub value: u64,
    /// What the server has used.
    pub figures: Figures,
    /// Bytes that follow the head.
    pub payload_bytes: u32,
}

impl Reply {
    /// Writes the head into the first [`REPLY_BYTES`] of `frame`.
    ///
    /// # Panics
    /// When `frame` is shorter.
    pub fn write(&self, frame: &mut [u8]) {
        let length = (REPLY_BYTES - LENGTH_BYTES) as u32 + self.payload_bytes;
        frame[0..4].copy_from_slice(&length.to_le_bytes());
        frame[4] = MAGIC;
        frame[5] = self.kind.map_or(0, |kind| kind as u8);
        frame[6] = self.status as u8;
        frame[7] = 0;
        let figures = self.figures;
        let numbers = [
            self.sequence,
            self.queue_ns,
            self.service_ns,
            self.server_ns,
            self.value,
            figures.uptime_ns,
            figures.cpu_ns,
            figures.disk_read_bytes,
            figures.disk_written_bytes,
        ];
        for (place, number) in frame[8..REPLY_BYTES].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
    }

    /// Reads the head at the start of `bytes`, at least [`REPLY_BYTES`] of them; `None` when it is none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < REPLY_BYTES || bytes[4] != MAGIC || bytes[7] != 0 {
            return None;
        }
        let payload_bytes = u32_at(bytes, 0).checked_sub((REPLY_BYTES - LENGTH_BYTES) as u32)?;
        let kind = match bytes[5] {
            0 => None,
            byte => Some(Kind::from_byte(byte)?),
        };
        Some(Self {
            kind,
            status: Status::from_byte(bytes[6])?,
            sequence: u64_at(bytes, 8),
            queue_ns: u64_at(bytes, 16),
            service_ns: u64_at(bytes, 24),
            server_ns: u64_at(bytes, 32),
            value: u64_at(bytes, 40),
            figures: Figures {
                uptime_ns: u64_at(bytes, 48),
                cpu_ns: u64_at(bytes, 56),
                disk_read_bytes: u64_at(bytes, 64),
                disk_written_bytes: u64_at(bytes, 72),
            },
            payload_bytes,
        })
    }
}

/// Payload of the reply to a hello: how the server was set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Data segment of this client; 0 when it asked for none.
    pub segment_bytes: u64,
    /// Programmed service time, ns.
    pub service_ns: u64,
    /// Service threads.
    pub threads: u32,
    /// Processors that the server may use.
    pub processors: u32,
    /// Segments bypass the page cache.
    pub direct: bool,
    /// Each write is flushed to the device before its reply.
    pub fsync: bool,
    /// Largest payload of an upload or download.
    pub payload_max: u32,
    /// Most records of one read or write.
    pub records_max: u32,
}

impl Hello {
    /// As bytes.
    pub fn to_bytes(&self) -> [u8; HELLO_REPLY_BYTES] {
        let mut bytes = [0; HELLO_REPLY_BYTES];
        bytes[0..8].copy_from_slice(&self.segment_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.service_ns.to_le_bytes());
        let flags = u32::from(self.direct) | u32::from(self.fsync) << 1;
        let words = [self.threads, self.processors, flags, self.payload_max, self.records_max];
        for (place, word) in bytes[16..36].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// From bytes; `None` when they are too few.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != HELLO_REPLY_BYTES {
            return None;
        }
        let flags = u32_at(bytes, 24);
        Some(Self {
            segment_bytes: u64_at(bytes, 0),
            service_ns: u64_at(bytes, 8),
            threads: u32_at(bytes, 16),
            processors: u32_at(bytes, 20),
            direct: flags & 1 != 0,
            fsync: flags & 2 != 0,
            payload_max: u32_at(bytes, 28),
            records_max: u32_at(bytes, 32),
        })
    }
}

/// What a read found in one record: its stamp, and the checksum of all its bytes as the server computed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadEntry {
    /// Epoch of the session that wrote the record; 0 is the server itself.
    pub epoch: u64,
    /// Sequence number of the write.
    pub sequence: u64,
    /// CRC-32 of the record.
    pub checksum: u32,
}

impl ReadEntry {
    /// As bytes.
    pub fn to_bytes(&self) -> [u8; READ_ENTRY_BYTES] {
        let mut bytes = [0; READ_ENTRY_BYTES];
        bytes[0..8].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// From the first [`READ_ENTRY_BYTES`] of `bytes`; missing ones count as 0.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { epoch: u64_at(bytes, 0), sequence: u64_at(bytes, 8), checksum: u32_at(bytes, 16) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> Reply {
        Reply {
            kind: Some(Kind::Processor),
            status: Status::Ok,
            sequence: 1,
            queue_ns: 2,
            service_ns: 3,
            server_ns: 4,
            value: 5,
            figures: Figures { uptime_ns: 6, cpu_ns: 7, disk_read_bytes: 8, disk_written_bytes: 9 },
            payload_bytes: 24,
        }
    }

    #[test]
    fn the_frame_of_the_reference_is_written_and_read() {
        let mut frame = [0xFF; REPLY_BYTES];
        reply().write(&mut frame);
        assert_eq!(&frame[..8], &[100, 0, 0, 0, 0xB5, 4, 0, 0]);
        for (at, number) in frame[8..].chunks_exact(8).zip(1_u64..) {
            assert_eq!(at, number.to_le_bytes());
        }
        assert_eq!(Reply::parse(&frame), Some(reply()));
    }

    #[test]
    fn what_is_no_reply_is_not_taken_for_one() {
        let mut frame = [0; REPLY_BYTES];
        reply().write(&mut frame);
        for (place, value) in [(0, 10), (4, 0xB4), (5, 7), (6, 11), (7, 1)] {
            let mut wrong = frame;
            wrong[place] = value;
            assert_eq!(Reply::parse(&wrong), None, "byte {place}");
        }
        assert_eq!(Reply::parse(&frame[..REPLY_BYTES - 1]), None);
    }

    #[test]
    fn payloads_survive_the_way_there_and_back() {
        let hello = Hello {
            segment_bytes: 16 << 20,
            service_ns: 3_000_000,
            threads: 49,
            processors: 2,
            direct: false,
            fsync: true,
            payload_max: 4 << 20,
            records_max: 256,
        };
        assert_eq!(Hello::from_bytes(&hello.to_bytes()), Some(hello));
        assert_eq!(Hello::from_bytes(&[0; 39]), None);
        let entry = ReadEntry { epoch: 3, sequence: u64::MAX, checksum: 0xCBF4_3926 };
        assert_eq!(ReadEntry::from_bytes(&entry.to_bytes()), entry);
    }
}
