//! Cuts the bytes of a stream into frames (RFC 9114, 7), however they come.

use super::varint;
use bakeoff_engine::ErrorClass;

/// Frames that are not data wait for so much, bytes.
pub(super) const PAYLOAD_BYTES_MAX: usize = 64 * 1024;
/// Frames of one stream that bring nothing: empty data, and those that are skipped. A server that sends more keeps its
/// client busy with nothing.
const IDLE_FRAMES_MAX: u32 = 10_000;
/// Type and length of a frame take so much at most, bytes.
const HEAD_BYTES_MAX: usize = 16;

pub(super) mod kind {
    pub const DATA: u64 = 0;
    pub const HEADERS: u64 = 1;
    pub const CANCEL_PUSH: u64 = 3;
    pub const SETTINGS: u64 = 4;
    pub const PUSH_PROMISE: u64 = 5;
    pub const GOAWAY: u64 = 7;
    pub const MAX_PUSH_ID: u64 = 13;

    /// Those of HTTP/2 that HTTP/3 must not have.
    pub const fn is_of_http2(kind: u64) -> bool {
        matches!(kind, 2 | 6 | 8 | 9)
    }
}

/// A frame, or as much of its data as is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Data(&'a [u8]),
    /// Another frame of this type: its payload is in [`Reader::payload`].
    Whole(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Data(u64),
    Skip(u64),
    Payload { kind: u64, left: usize },
}

/// The frames of one stream.
#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    /// What has come of a head or a payload.
    gathered: Vec<u8>,
    idle_frames: u32,
}

impl Reader {
    pub const fn new() -> Self {
        Self { state: State::Head, gathered: Vec::new(), idle_frames: 0 }
    }

    /// Whether a stream may end here.
    pub const fn is_between(&self) -> bool {
        matches!(self.state, State::Head | State::Data(0) | State::Skip(0)) && self.gathered.is_empty()
    }

    /// Takes from `bytes` up to the next piece. `wanted` says which types of frames are, and refuses those that must
    /// not come; all others are skipped.
    #[inline]
    pub fn next<'a>(
        &mut self,
        bytes: &mut &'a [u8],
        mut wanted: impl FnMut(u64) -> Result<bool, ErrorClass>,
    ) -> Result<Option<Piece<'a>>, ErrorClass> {
        loop {
            match self.state {
                State::Head => {
                    let Some((kind, length)) = self.head(bytes) else { return Ok(None) };
                    let is_wanted = wanted(kind)?;
                    self.idle_frames += u32::from(!is_wanted || length == 0);
                    if self.idle_frames > IDLE_FRAMES_MAX {
                        return Err(ErrorClass::Protocol);
                    }
                    self.state = match kind {
                        _ if !is_wanted => State::Skip(length),
                        kind::DATA => State::Data(length),
                        _ if length > PAYLOAD_BYTES_MAX as u64 => return Err(ErrorClass::Protocol),
                        _ => State::Payload { kind, left: length as usize },
                    };
                }
                State::Data(0) | State::Skip(0) => self.state = State::Head,
                State::Payload { kind, left: 0 } => {
                    self.state = State::Head;
                    return Ok(Some(Piece::Whole(kind)));
                }
                _ if bytes.is_empty() => return Ok(None),
                State::Data(left) => {
                    let part = take(bytes, left);
                    self.state = State::Data(left - part.len() as u64);
                    return Ok(Some(Piece::Data(part)));
                }
                State::Skip(left) => self.state = State::Skip(left - take(bytes, left).len() as u64),
                State::Payload { kind, left } => {
                    let part = take(bytes, left as u64);
                    self.gathered.extend_from_slice(part);
                    self.state = State::Payload { kind, left: left - part.len() };
                }
            }
        }
    }

    /// The payload of the frame that [`Reader::next`] has just told of; it is gone from here.
    pub fn payload(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.gathered)
    }

    /// Type and length of the next frame, as soon as both are there.
    #[inline]
    fn head(&mut self, bytes: &mut &[u8]) -> Option<(u64, u64)> {
        if self.gathered.is_empty() {
            let mut rest = *bytes;
            if let (Some(kind), Some(length)) = (varint::take(&mut rest), varint::take(&mut rest)) {
                *bytes = rest;
                return Some((kind, length));
            }
        }
        while self.gathered.len() < HEAD_BYTES_MAX {
            let (&octet, rest) = bytes.split_first()?;
            *bytes = rest;
            self.gathered.push(octet);
            let mut head = self.gathered.as_slice();
            if let (Some(kind), Some(length)) = (varint::take(&mut head), varint::take(&mut head)) {
                self.gathered.clear();
                return Some((kind, length));
            }
        }
        None
    }
}

#[inline]
fn take<'a>(bytes: &mut &'a [u8], most: u64) -> &'a [u8] {
    let (part, rest) = bytes.split_at(usize::try_from(most).unwrap_or(usize::MAX).min(bytes.len()));
    *bytes = rest;
    part
}
