//! Cuts the bytes of a connection into frames, however they come.

use super::frame::{HEAD_BYTES, Head, PAYLOAD_BYTES_MAX, flag, kind};
use bakeoff_engine::ErrorClass;

/// A frame, or as much of a data frame as is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A data frame begins: data and padding of `head.length` bytes follow.
    Begun(Head),
    /// Data of the frame that has begun; with `last` the frame is over.
    Data { head: Head, data: &'a [u8], last: bool },
    /// Another frame with its payload.
    Whole(Head, &'a [u8]),
    /// Another frame, whose payload came in pieces: it is in [`Reader::gathered`].
    Gathered(Head),
}

#[derive(Debug, Clone, Copy)]
enum State {
    Head,
    Payload(Head),
    PadLength(Head),
    Data { head: Head, left: usize, padding: usize },
    Padding { head: Head, left: usize },
}

#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    /// What has come of a frame's head or payload.
    partial: Vec<u8>,
}

impl Reader {
    pub const fn new() -> Self {
        Self { state: State::Head, partial: Vec::new() }
    }

    /// The payload of the frame that was gathered last.
    pub fn gathered(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.partial)
    }

    /// Gives the room of a payload back.
    pub fn reuse(&mut self, mut payload: Vec<u8>) {
        payload.clear();
        self.partial = payload;
    }

    /// The next piece; `None` when more bytes are needed.
    #[inline]
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ErrorClass> {
        loop {
            match self.state {
                State::Head => {
                    let Some(head) = self.head(bytes) else { return Ok(None) };
                    if head.length > PAYLOAD_BYTES_MAX {
                        return Err(ErrorClass::Protocol);
                    }
                    if head.kind != kind::DATA {
                        self.state = State::Payload(head);
                        continue;
                    }
                    self.state = if head.has(flag::PADDED) {
                        State::PadLength(head)
                    } else {
                        State::Data { head, left: head.length, padding: 0 }
                    };
                    return Ok(Some(Piece::Begun(head)));
                }
                State::Payload(head) => {
                    if self.partial.is_empty()
                        && let Some((payload, rest)) = bytes.split_at_checked(head.length)
                    {
                        *bytes = rest;
                        self.state = State::Head;
                        return Ok(Some(Piece::Whole(head, payload)));
                    }
                    if !self.gather(head.length, bytes) {
                        return Ok(None);
                    }
                    self.state = State::Head;
                    return Ok(Some(Piece::Gathered(head)));
                }
                State::PadLength(head) => {
                    let Some((&padding, rest)) = bytes.split_first() else { return Ok(None) };
                    *bytes = rest;
                    let padding = usize::from(padding);
                    // The octet that tells the padding is in front of the data.
                    let left = head.length.checked_sub(1 + padding).ok_or(ErrorClass::Protocol)?;
                    self.state = State::Data { head, left, padding };
                }
                State::Data { head, left, padding } => {
                    if bytes.is_empty() && left > 0 {
                        return Ok(None);
                    }
                    let (data, rest) = bytes.split_at(left.min(bytes.len()));
                    *bytes = rest;
                    let left = left - data.len();
                    self.state = match (left, padding) {
                        (0, 0) => State::Head,
                        (0, padding) => State::Padding { head, left: padding },
                        _ => State::Data { head, left, padding },
                    };
                    return Ok(Some(Piece::Data { head, data, last: left == 0 && padding == 0 }));
                }
                State::Padding { head, left } => {
                    let taken = left.min(bytes.len());
                    *bytes = &bytes[taken..];
                    if taken < left {
                        self.state = State::Padding { head, left: left - taken };
                        return Ok(None);
                    }
                    self.state = State::Head;
                    return Ok(Some(Piece::Data { head, data: &[], last: true }));
                }
            }
        }
    }

    #[inline]
    fn head(&mut self, bytes: &mut &[u8]) -> Option<Head> {
        if self.partial.is_empty()
            && let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>()
        {
            *bytes = rest;
            return Some(Head::parse(head));
        }
        if !self.gather(HEAD_BYTES, bytes) {
            return None;
        }
        let head = self.partial.first_chunk::<HEAD_BYTES>().map(Head::parse);
        self.partial.clear();
        head
    }

    /// Gathers `length` bytes; whether they are all there.
    fn gather(&mut self, length: usize, bytes: &mut &[u8]) -> bool {
        let (taken, rest) = bytes.split_at((length - self.partial.len()).min(bytes.len()));
        self.partial.extend_from_slice(taken);
        *bytes = rest;
        self.partial.len() == length
    }
}
