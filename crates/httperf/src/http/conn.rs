//! One connection with its socket: what its pipeline says is written, what comes is read into it.

use super::pipeline::{Broken, Flight, Pipeline, Received};
use super::reply::{Reply, ReplyParts};
use crate::result::counters::Failure;
use bakeoff_engine::{ErrorClass, Nanos};
use bakeoff_platform::net::{Line, Moved, TlsSession};

/// So much of a body is dropped by one call, bytes.
const DROP_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Down,
    Connecting,
    Handshaking,
    Up,
}

/// A place for connections, used by one after the other.
pub(crate) struct Conn {
    pub line: Option<Line>,
    pub tls: Option<Box<TlsSession>>,
    pub state: State,
    /// Tells it from its predecessors in this place.
    pub generation: u32,
    pub registered: bool,
    /// Where it stands in the list of all that are open.
    pub rank: usize,
    pub pipeline: Pipeline,
    /// Whose it is: an iteration's place, and which of its links.
    pub iteration: usize,
    pub link: usize,
    pub server: usize,
    pub planned_ns: Nanos,
    pub began_ns: Nanos,
    /// When the network's part of connecting was over.
    reached_ns: Nanos,
    pub connect_ns: Option<u64>,
    pub tls_ns: Option<u64>,
    pub replies: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// The socket did not take all, or is not connected yet.
    pub wants_write: bool,
    sent_before: bool,
    no_delay: bool,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    /// Bytes came.
    Some,
    /// The server has ended its side when nothing was waited for, or as the end of a reply.
    End,
}

/// A reply and the call that it answers.
pub(crate) type Answer = Box<(Flight, Reply)>;

impl Conn {
    pub fn new() -> Self {
        Self {
            line: None,
            tls: None,
            state: State::Down,
            generation: 0,
            registered: false,
            rank: 0,
            pipeline: Pipeline::new(),
            iteration: 0,
            link: 0,
            server: 0,
            planned_ns: 0,
            began_ns: 0,
            reached_ns: 0,
            connect_ns: None,
            tls_ns: None,
            replies: 0,
            bytes_in: 0,
            bytes_out: 0,
            wants_write: false,
            sent_before: false,
            no_delay: false,
        }
    }

    /// Takes a socket that connects; with TLS a session that has said nothing yet.
    pub fn take(&mut self, line: Line, tls: Option<Box<TlsSession>>) {
        self.line = Some(line);
        self.tls = tls;
        self.state = State::Connecting;
        self.registered = false;
        (self.connect_ns, self.tls_ns) = (None, None);
        (self.replies, self.bytes_in, self.bytes_out) = (0, 0, 0);
        self.wants_write = true;
        (self.sent_before, self.no_delay) = (false, false);
        self.pipeline.reset();
    }

    /// Gives its socket up; what is told of it later finds another generation.
    pub fn release(&mut self) -> Option<Line> {
        self.generation = self.generation.wrapping_add(1);
        self.state = State::Down;
        self.tls = None;
        self.wants_write = false;
        self.line.take()
    }

    /// The socket became writable: an attempt to connect may be over.
    pub fn reached(&mut self, now_ns: Nanos) -> Result<(), Failure> {
        if self.state != State::Connecting {
            return Ok(());
        }
        match self.line.as_ref().map_or(0, Line::pending_error) {
            0 => {
                self.open(now_ns);
                Ok(())
            }
            errno => Err(Failure::Errno(errno)),
        }
    }

    fn open(&mut self, now_ns: Nanos) {
        self.reached_ns = now_ns;
        if self.tls.is_some() {
            self.state = State::Handshaking;
        } else {
            self.state = State::Up;
            self.connect_ns = Some(now_ns.saturating_sub(self.began_ns));
        }
    }

    /// Writes what there is, as far as the socket takes it; `whole` is told each request that is out.
    pub fn write(&mut self, now_ns: Nanos, whole: impl FnMut(&Flight)) -> Result<usize, Failure> {
        if self.tls.is_some() { self.write_tls(now_ns, whole) } else { self.write_plain(now_ns, whole) }
    }

    fn write_plain(&mut self, now_ns: Nanos, mut whole: impl FnMut(&Flight)) -> Result<usize, Failure> {
        let mut total = 0;
        loop {
            let Some(line) = &self.line else { return Ok(total) };
            let bytes = self.pipeline.outgoing();
            if bytes.is_empty() {
                self.wants_write = self.state == State::Connecting;
                return Ok(total);
            }
            if self.sent_before && !self.no_delay {
                // A second small write must not wait for the acknowledgement of the first.
                line.set_no_delay();
                self.no_delay = true;
            }
            match line.send(bytes) {
                Moved::Bytes(count) => {
                    // On loopback the connection is there when `connect` returns, though it says "in progress".
                    if self.state == State::Connecting {
                        self.open(now_ns);
                    }
                    self.sent_before = true;
                    self.bytes_out += count as u64;
                    total += count;
                    self.pipeline.wrote(count, now_ns, &mut whole);
                }
                Moved::Blocked => {
                    self.wants_write = true;
                    return Ok(total);
                }
                Moved::Failed(errno) => return Err(Failure::Errno(errno)),
            }
        }
    }

    fn write_tls(&mut self, now_ns: Nanos, whole: impl FnMut(&Flight)) -> Result<usize, Failure> {
        let (Some(line), Some(tls)) = (&self.line, &mut self.tls) else { return Ok(0) };
        if !self.no_delay {
            line.set_no_delay();
            self.no_delay = true;
        }
        let bytes = if self.state == State::Up { self.pipeline.outgoing() } else { &[] };
        let count = bytes.len();
        if count > 0 {
            tls.write(bytes).map_err(|_| Failure::Tls)?;
        }
        let flushed = tls.flush(line.fd()).map_err(failure_of)?;
        self.wants_write = !flushed;
        if flushed && self.state == State::Connecting {
            self.open(now_ns);
        }
        self.bytes_out += count as u64;
        if count > 0 {
            // What rustls has taken goes out by itself.
            self.pipeline.wrote(count, now_ns, whole);
        }
        Ok(count)
    }

    /// Reads what is there. `ending` says that nothing more will come. Answers are put at the end of `heard`.
    pub fn read(
        &mut self,
        buffer: &mut [u8],
        wanted: ReplyParts,
        now_ns: Nanos,
        ending: bool,
        heard: &mut Vec<Answer>,
    ) -> Result<Found, Failure> {
        let mut found = Found::Nothing;
        loop {
            let Some(line) = &self.line else { return Ok(found) };
            let droppable = if self.tls.is_none() { self.pipeline.droppable_bytes(wanted) } else { 0 };
            let dropping = droppable > buffer.len() as u64;
            let moved = if dropping { line.discard(droppable.min(DROP_BYTES) as usize) } else { line.receive(buffer) };
            let count = match moved {
                Moved::Bytes(0) => return self.ended(heard),
                Moved::Bytes(count) => count,
                Moved::Blocked => return Ok(found),
                Moved::Failed(errno) => return Err(Failure::Errno(errno)),
            };
            found = Found::Some;
            self.bytes_in += count as u64;
            if dropping {
                if let Received::Reply(answer) = self.pipeline.dropped(count as u64) {
                    let stays = self.answered(answer, heard);
                    if !stays {
                        return Ok(found);
                    }
                }
                continue;
            }
            let goes_on = if self.tls.is_some() {
                self.take_cipher(&buffer[..count], wanted, now_ns, heard)?
            } else {
                self.take_clear(&buffer[..count], wanted, now_ns, heard)?
            };
            match goes_on {
                Found::Nothing => return Ok(Found::Some),
                Found::End => return self.ended(heard),
                Found::Some if count < buffer.len() && !ending => return Ok(Found::Some),
                Found::Some => {}
            }
        }
    }

    /// Whether more is to be read on this connection.
    fn answered(&mut self, answer: Answer, heard: &mut Vec<Answer>) -> bool {
        let stays = answer.1.keeps_open;
        self.replies += 1;
        heard.push(answer);
        stays
    }

    /// `Some` to go on, `Nothing` when the server has said that it closes: the rest is not ours.
    fn take_clear(
        &mut self,
        mut bytes: &[u8],
        wanted: ReplyParts,
        now_ns: Nanos,
        heard: &mut Vec<Answer>,
    ) -> Result<Found, Failure> {
        while !bytes.is_empty() {
            match self.pipeline.take(&mut bytes, wanted, now_ns) {
                Ok(Received::More) => break,
                Ok(Received::Reply(answer)) => {
                    if !self.answered(answer, heard) {
                        return Ok(Found::Nothing);
                    }
                }
                Err(_) => return Err(Failure::Garbage),
            }
        }
        Ok(Found::Some)
    }

    fn take_cipher(
        &mut self,
        mut cipher: &[u8],
        wanted: ReplyParts,
        now_ns: Nanos,
        heard: &mut Vec<Answer>,
    ) -> Result<Found, Failure> {
        // Taken out while its clear text is lent.
        let Some(mut tls) = self.tls.take() else { return Ok(Found::Some) };
        let result = self.decipher(&mut tls, &mut cipher, wanted, now_ns, heard);
        self.tls = Some(tls);
        result
    }

    fn decipher(
        &mut self,
        tls: &mut TlsSession,
        cipher: &mut &[u8],
        wanted: ReplyParts,
        now_ns: Nanos,
        heard: &mut Vec<Answer>,
    ) -> Result<Found, Failure> {
        while !cipher.is_empty() {
            let ended = tls.take(cipher).map_err(|_| Failure::Tls)?;
            if self.state == State::Handshaking && !tls.is_handshaking() {
                self.state = State::Up;
                self.tls_ns = Some(now_ns.saturating_sub(self.reached_ns));
                self.connect_ns = Some(now_ns.saturating_sub(self.began_ns));
            }
            // What the handshake has to say, and later answers of the protocol.
            self.wants_write = true;
            loop {
                let clear = tls.clear_text();
                if clear.is_empty() {
                    break;
                }
                let count = clear.len();
                let goes_on = self.take_clear(clear, wanted, now_ns, heard)?;
                tls.consume(count);
                if goes_on == Found::Nothing {
                    return Ok(Found::Nothing);
                }
            }
            if ended {
                return Ok(Found::End);
            }
        }
        Ok(Found::Some)
    }

    fn ended(&mut self, heard: &mut Vec<Answer>) -> Result<Found, Failure> {
        if self.state == State::Handshaking {
            return Err(Failure::Tls);
        }
        match self.pipeline.end() {
            Ok(Received::Reply(answer)) => {
                self.answered(answer, heard);
                Ok(Found::End)
            }
            Ok(Received::More) | Err(Broken::Idle) => Ok(Found::End),
            Err(Broken::Within) => Err(Failure::ClosedWithin),
            Err(Broken::Before | Broken::Garbage) => Err(Failure::ClosedBefore),
        }
    }
}

/// A failure of a write below TLS, whose class stands for the error number.
fn failure_of(class: ErrorClass) -> Failure {
    match class {
        ErrorClass::Refused => Failure::Errno(111),
        ErrorClass::ResetBeforeFirstByte => Failure::Errno(104),
        ErrorClass::ConnectTimeout => Failure::Errno(110),
        ErrorClass::Unreachable => Failure::Errno(113),
        ErrorClass::PortsExhausted => Failure::Errno(99),
        _ => Failure::Tls,
    }
}
