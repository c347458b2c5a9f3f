//! What a client sends.

use crate::{LENGTH_BYTES, Status, u16_at, u32_at, u64_at};

/// Bytes of a request without its payload.
pub const REQUEST_BYTES: usize = 32;
const MAGIC: u8 = 0xB4;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Opens the session: `a` = epoch of an ended session whose segment is wanted back, 0 for any, `b` = protocol
    /// version, `c` = record size, 0 for no segment.
    Hello = 1,
    /// Client to server: the payload; answered by its checksum.
    Upload = 2,
    /// Server to client: `b` = bytes wanted.
    Download = 3,
    /// Processor work: `a` = seed, `b` = rounds.
    Processor = 4,
    /// Random read: `a` = seed of the places, `b` = records, `c` = records in play (0 = all).
    Read = 5,
    /// Random write: as `Read`; the sequence number becomes part of the stamp.
    Write = 6,
}

impl Kind {
    /// All kinds that are transactions, in the order of their numbers.
    pub const WORK: [Self; 5] = [Self::Upload, Self::Download, Self::Processor, Self::Read, Self::Write];

    /// The name used in settings and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Upload => "upload",
            Self::Download => "download",
            Self::Processor => "processor",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// The kind of a number on the wire.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Hello,
            2 => Self::Upload,
            3 => Self::Download,
            4 => Self::Processor,
            5 => Self::Read,
            6 => Self::Write,
            _ => return None,
        })
    }
}

/// The head of a request; what `a`, `b` and `c` mean depends on the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What is asked for.
    pub kind: Kind,
    /// Chosen by the client and echoed; rises with each request of a connection.
    pub sequence: u64,
    /// See [`Kind`].
    pub a: u64,
    /// See [`Kind`].
    pub b: u32,
    /// See [`Kind`].
    pub c: u32,
    /// Bytes that follow the head; only an upload has any.
    pub payload_bytes: u32,
}

impl Request {
    /// The whole frame in bytes.
    pub fn frame_bytes(&self) -> usize {
        REQUEST_BYTES + self.payload_bytes as usize
    }

    /// Writes the head into the first [`REQUEST_BYTES`] of `frame`.
    ///
    /// # Panics
    /// When `frame` is shorter.
    pub fn write(&self, frame: &mut [u8]) {
        let length = (REQUEST_BYTES - LENGTH_BYTES) as u32 + self.payload_bytes;
        frame[0..4].copy_from_slice(&length.to_le_bytes());
        frame[4] = MAGIC;
        frame[5] = self.kind as u8;
        frame[6..8].copy_from_slice(&[0, 0]);
        frame[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        frame[16..24].copy_from_slice(&self.a.to_le_bytes());
        frame[24..28].copy_from_slice(&self.b.to_le_bytes());
        frame[28..32].copy_from_slice(&self.c.to_le_bytes());
    }

    /// Reads the head at the start of `bytes`: `Ok(None)` when more bytes are needed to say anything.
    ///
    /// A wrong frame is refused at the first byte that shows it, so that no memory is set aside for it. Payloads over
    /// `payload_max` bytes are too large.
    ///
    /// # Errors
    /// The status to refuse the frame with.
    pub fn parse(bytes: &[u8], payload_max: u32) -> Result<Option<Self>, Status> {
        if bytes.len() < LENGTH_BYTES {
            return Ok(None);
        }
        let Some(payload_bytes) = u32_at(bytes, 0).checked_sub((REQUEST_BYTES - LENGTH_BYTES) as u32) else {
            return Err(Status::BadLength);
        };
        if payload_bytes > payload_max {
            return Err(Status::TooLarge);
        }
        let Some(&magic) = bytes.get(4) else { return Ok(None) };
        if magic != MAGIC {
            return Err(Status::NotOurs);
        }
        let Some(&kind) = bytes.get(5) else { return Ok(None) };
        let kind = Kind::from_byte(kind).ok_or(Status::UnknownKind)?;
        if payload_bytes > 0 && kind != Kind::Upload {
            return Err(Status::BadLength);
        }
        if bytes.len() < REQUEST_BYTES {
            return Ok(None);
        }
        if u16_at(bytes, 6) != 0 {
            return Err(Status::BadParameter);
        }
        let (sequence, a) = (u64_at(bytes, 8), u64_at(bytes, 16));
        Ok(Some(Self { kind, sequence, a, b: u32_at(bytes, 24), c: u32_at(bytes, 28), payload_bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the reference, byte for byte.
    const READ: [u8; 32] = [
        28, 0, 0, 0, 0xB4, 5, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0xEF, 0xBE, 0xAD, 0xDE, 0, 0, 0, 0, 2, 0, 0, 0, 0, 4, 0, 0,
    ];

    #[test]
    fn the_frame_of_the_reference_is_written_and_read() {
        let request = Request { kind: Kind::Read, sequence: 7, a: 0xDEAD_BEEF, b: 2, c: 1024, payload_bytes: 0 };
        let mut frame = [0xFF; 32];
        request.write(&mut frame);
        assert_eq!(frame, READ);
        assert_eq!(Request::parse(&frame, 0), Ok(Some(request)));
    }

    #[test]
    fn nothing_is_said_before_the_bytes_that_say_it() {
        for length in 0..REQUEST_BYTES {
            assert_eq!(Request::parse(&READ[..length], 0), Ok(None), "{length} bytes");
        }
    }

    #[test]
    fn wrong_frames_are_refused_by_their_first_bytes() {
        let refused = |bytes: &[u8]| Request::parse(bytes, 1000).unwrap_err();
        assert_eq!(refused(&27_u32.to_le_bytes()), Status::BadLength);
        assert_eq!(refused(&0_u32.to_le_bytes()), Status::BadLength);
        assert_eq!(refused(&u32::MAX.to_le_bytes()), Status::TooLarge);
        assert_eq!(refused(&1029_u32.to_le_bytes()), Status::TooLarge);
        assert_eq!(refused(&[28, 0, 0, 0, 0x16]), Status::NotOurs);
        assert_eq!(refused(&[28, 0, 0, 0, 0xB4, 99]), Status::UnknownKind);
        assert_eq!(refused(&[29, 0, 0, 0, 0xB4, 5]), Status::BadLength);
        let mut reserved = READ;
        reserved[6] = 1;
        assert_eq!(refused(&reserved), Status::BadParameter);
    }
}
