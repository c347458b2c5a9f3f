//! What is said on one connection: requests that go out, replies that come back in their order. No I/O.

use super::reply::{End, Reply, ReplyParts, ReplyReader};
use super::request::RequestSize;
use crate::spec::uris::Uri;
use bakeoff_engine::Nanos;
use std::collections::VecDeque;

/// A call as an iteration asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub uri: Uri,
    /// Counted over the trial, for what is printed.
    pub serial: u64,
    /// How often it was sent before, after a reply with the status that stands for failure.
    pub tries: u32,
    /// When it was asked for first; 0 until it is. What is sent again was due when it was sent first.
    pub due_ns: Nanos,
    /// Redirects on the way to it; what a page embeds is the deepest.
    pub depth: u8,
}

/// What a call says of its reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReplyForm {
    /// It has no body, whatever it says.
    pub to_head: bool,
    /// Its body is to be hashed.
    pub hash: bool,
}

/// A call that was queued on a connection and not answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flight {
    pub call: Call,
    pub size: RequestSize,
    pub asked: ReplyForm,
    /// Its bytes in the stream of all that was queued.
    begin: u64,
    end: u64,
    /// The first byte was about to be written.
    pub sent_ns: Option<Nanos>,
    /// The last byte was written.
    pub written: bool,
    /// The first byte of the reply came.
    pub first_byte_ns: Option<Nanos>,
}

/// One connection's requests and replies.
#[derive(Debug)]
pub(crate) struct Pipeline {
    flights: VecDeque<Flight>,
    /// Bytes that were not written yet, from `at` on.
    out: Vec<u8>,
    at: usize,
    /// Bytes that were queued and written since the connection began.
    queued: u64,
    written: u64,
    reader: ReplyReader,
}

/// What came of bytes that were read.
pub(crate) enum Received {
    /// All was taken, and more has to come.
    More,
    /// A reply is whole.
    Reply(Box<(Flight, Reply)>),
}

/// The connection is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    /// What came is no HTTP, or was not asked for.
    Garbage,
    /// It ended between replies, when none was waited for.
    Idle,
    /// It ended before anything of the reply that was waited for.
    Before,
    /// It ended within a reply.
    Within,
}

impl Pipeline {
    pub fn new() -> Self {
        Self { flights: VecDeque::new(), out: Vec::new(), at: 0, queued: 0, written: 0, reader: ReplyReader::default() }
    }

    /// Before a new connection; the memory stays.
    pub fn reset(&mut self) {
        self.flights.clear();
        self.out.clear();
        self.out.shrink_to(64 * 1024);
        (self.at, self.queued, self.written) = (0, 0, 0);
        self.reader.reset();
    }

    /// Queues a call; `write` appends its bytes.
    pub fn queue(&mut self, call: Call, asked: ReplyForm, write: impl FnOnce(&mut Vec<u8>) -> RequestSize) {
        if self.at == self.out.len() {
            self.out.clear();
            self.at = 0;
        }
        let begin = self.queued;
        let size = write(&mut self.out);
        self.queued += size.header_bytes + size.content_bytes;
        let end = self.queued;
        let (sent_ns, written, first_byte_ns) = (None, false, None);
        self.flights.push_back(Flight { call, size, asked, begin, end, sent_ns, written, first_byte_ns });
    }

    /// What is to be written.
    pub fn outgoing(&self) -> &[u8] {
        &self.out[self.at..]
    }

    /// So much of it was written, from `sent_ns` on. Tells each request that is out as a whole now.
    pub fn wrote(&mut self, bytes: usize, sent_ns: Nanos, mut whole: impl FnMut(&Flight)) {
        self.at += bytes;
        let before = self.written;
        self.written += bytes as u64;
        for flight in &mut self.flights {
            if flight.begin >= self.written {
                break;
            }
            if flight.end > before {
                flight.sent_ns.get_or_insert(sent_ns);
                if flight.end <= self.written && !flight.written {
                    flight.written = true;
                    whole(flight);
                }
            }
        }
    }

    /// Calls without their whole reply.
    pub fn in_flight(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter()
    }

    /// Takes them all.
    pub fn abandon(&mut self) -> VecDeque<Flight> {
        std::mem::take(&mut self.flights)
    }

    /// Whether a reply is waited for of which nothing is there.
    pub fn awaits_first_byte(&self) -> bool {
        self.flights.front().is_some_and(|flight| flight.first_byte_ns.is_none())
    }

    pub fn is_idle(&self) -> bool {
        self.flights.is_empty()
    }

    /// So many bytes to come can be dropped unread.
    pub fn droppable_bytes(&self, wanted: ReplyParts) -> u64 {
        self.reader.droppable_bytes(wanted)
    }

    /// So many were.
    pub fn dropped(&mut self, bytes: u64) -> Received {
        match self.reader.dropped(bytes) {
            Some(reply) => self.answered(reply),
            None => Received::More,
        }
    }

    /// Takes bytes up to the end of a reply; `bytes` is then what is left.
    pub fn take(&mut self, bytes: &mut &[u8], wanted: ReplyParts, now_ns: Nanos) -> Result<Received, Broken> {
        if bytes.is_empty() {
            return Ok(Received::More);
        }
        // A reply before its request is out answers something else.
        let Some(flight) = self.flights.front_mut().filter(|flight| flight.sent_ns.is_some()) else {
            return Err(Broken::Garbage);
        };
        flight.first_byte_ns.get_or_insert(now_ns);
        let wanted = ReplyParts { hash: flight.asked.hash, ..wanted };
        let (used, reply) = self.reader.take(bytes, wanted, flight.asked.to_head).map_err(|_| Broken::Garbage)?;
        *bytes = &bytes[used..];
        Ok(reply.map_or(Received::More, |reply| self.answered(reply)))
    }

    /// The server has ended its side.
    pub fn end(&mut self) -> Result<Received, Broken> {
        match self.reader.end() {
            Ok(reply) => Ok(self.answered(reply)),
            Err(End::Before) if self.flights.is_empty() => Err(Broken::Idle),
            Err(End::Before) => Err(Broken::Before),
            Err(End::Within) => Err(Broken::Within),
        }
    }

    fn answered(&mut self, reply: Reply) -> Received {
        // Nothing is read without a flight.
        self.flights.pop_front().map_or(Received::More, |flight| Received::Reply(Box::new((flight, reply))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(calls: u64) -> Pipeline {
        let mut pipeline = Pipeline::new();
        for serial in 0..calls {
            pipeline.queue(
                Call { uri: Uri::Fixed, serial, tries: 0, due_ns: 0, depth: 0 },
                ReplyForm::default(),
                |out| {
                    out.extend_from_slice(b"0123456789");
                    RequestSize { header_bytes: 10, content_bytes: 0 }
                },
            );
        }
        pipeline
    }

    #[test]
    fn a_request_counts_when_its_last_byte_is_out() {
        let mut pipeline = pipeline(3);
        let mut whole = Vec::new();
        for (bytes, now_ns) in [(5, 1), (5, 2), (15, 3), (5, 4)] {
            assert_eq!(pipeline.outgoing().len(), 30 - [0, 5, 10, 25][now_ns as usize - 1]);
            pipeline.wrote(bytes, now_ns, |flight| whole.push((flight.call.serial, flight.sent_ns, now_ns)));
        }
        assert_eq!(whole, [(0, Some(1), 2), (1, Some(3), 3), (2, Some(3), 4)]);
    }

    #[test]
    fn replies_belong_to_requests_in_their_order() {
        let mut pipeline = pipeline(2);
        pipeline.wrote(20, 1, |_| ());
        let mut bytes = &b"HTTP/1.1 204 A\r\n\r\nHTTP/1.1 204 B\r\n\r\nmore"[..];
        for serial in 0..2 {
            let Ok(Received::Reply(heard)) = pipeline.take(&mut bytes, ReplyParts::default(), 7) else {
                panic!("no reply")
            };
            assert_eq!((heard.0.call.serial, heard.0.first_byte_ns), (serial, Some(7)));
        }
        assert!(matches!(pipeline.take(&mut bytes, ReplyParts::default(), 8), Err(Broken::Garbage)), "nobody asked");
        assert!(matches!(pipeline.end(), Err(Broken::Idle)));
    }

    #[test]
    fn a_reply_to_what_was_not_sent_is_garbage() {
        let mut bytes = &b"HTTP/1.1 204 A\r\n\r\n"[..];
        assert!(matches!(pipeline(1).take(&mut bytes, ReplyParts::default(), 7), Err(Broken::Garbage)));
        assert!(matches!(pipeline(1).end(), Err(Broken::Before)));
    }
}
