//! Connections of every other sort: a dialogue writes its replies into a buffer of the connection, over TLS or not.

use std::io::{BufRead, Write};
use std::os::fd::RawFd;
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};

use super::lines::{Lines, Next, read, slot, write};
use super::worker::{Tally, bump};

const BUFFER_BYTES: usize = 64 * 1024;
/// From here on no reply is begun before the socket has taken what is there.
const OUT_BYTES: usize = 64 * 1024;

/// What the server says on one connection. Clients are trusted to be well-behaved.
pub trait Dialogue: Send {
    /// What it says first.
    fn begin(&mut self, _out: &mut Vec<u8>) {}

    /// Takes what came; returns how many requests were whole with it. Replies may be written at once, or owed.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> u64;

    /// Writes the next reply that is owed; false without any.
    fn pay(&mut self, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Whether the connection ends when all is written.
    fn is_over(&self) -> bool {
        false
    }
}

/// Makes the dialogue of a new connection.
pub type Begin = Arc<dyn Fn() -> Box<dyn Dialogue> + Send + Sync>;

struct Line {
    dialogue: Box<dyn Dialogue>,
    tls: Option<ServerConnection>,
    out: Vec<u8>,
    sent: usize,
}

pub struct DialogueServer {
    begin: Begin,
    tls: Option<Arc<ServerConfig>>,
    tally: Arc<Tally>,
    lines: Vec<Option<Line>>,
    buffer: Vec<u8>,
}

impl DialogueServer {
    pub fn new(begin: Begin, tls: Option<Arc<ServerConfig>>, tally: Arc<Tally>) -> Self {
        Self { begin, tls, tally, lines: Vec::new(), buffer: vec![0; BUFFER_BYTES] }
    }
}

impl Line {
    /// Takes bytes off the wire; `None` when they are no TLS.
    fn take(&mut self, mut bytes: &[u8]) -> Option<u64> {
        let Some(tls) = &mut self.tls else { return Some(self.dialogue.take(bytes, &mut self.out)) };
        let mut requests = 0;
        while !bytes.is_empty() {
            tls.read_tls(&mut bytes).ok()?;
            tls.process_new_packets().ok()?;
            loop {
                let mut reader = tls.reader();
                // An error: nothing is there, or nothing comes any more.
                let Ok(text) = reader.fill_buf() else { break };
                if text.is_empty() {
                    break;
                }
                let count = text.len();
                requests += self.dialogue.take(text, &mut self.out);
                reader.consume(count);
            }
        }
        Some(requests)
    }

    /// Writes all that there is to say, as far as the socket takes it.
    fn settle(&mut self, fd: RawFd, tally: &Tally) -> Next {
        loop {
            while self.out.len() < OUT_BYTES && self.dialogue.pay(&mut self.out) {}
            let is_all = self.out.len() < OUT_BYTES;
            let is_last = is_all && self.dialogue.is_over();
            match self.flush(fd, tally, is_last) {
                Next::Read if is_last => return Next::End,
                Next::Read if !is_all => {}
                next => return next,
            }
        }
    }

    fn flush(&mut self, fd: RawFd, tally: &Tally, is_last: bool) -> Next {
        let Some(tls) = &mut self.tls else {
            // With more to come, the end of the connection travels in the same segment as the reply.
            let flags = if is_last { libc::MSG_MORE } else { 0 };
            while self.sent < self.out.len() {
                match write(fd, &self.out[self.sent..], flags) {
                    Err(next) => return next,
                    Ok(sent) => {
                        self.sent += sent;
                        bump(&tally.bytes, sent as u64);
                    }
                }
            }
            self.out.clear();
            self.sent = 0;
            return Next::Read;
        };
        if !self.out.is_empty() {
            // Its buffer has no limit: all is taken.
            if tls.writer().write_all(&self.out).is_err() {
                return Next::End;
            }
            bump(&tally.bytes, self.out.len() as u64);
            self.out.clear();
        }
        if is_last {
            tls.send_close_notify();
        }
        let mut blocked = Next::Read;
        while tls.wants_write() {
            let mut socket = Socket { fd, blocked: &mut blocked };
            if tls.write_tls(&mut socket).is_err() {
                return blocked;
            }
        }
        Next::Read
    }
}

/// A socket as rustls writes to it; what kept it from writing stays in `blocked`.
struct Socket<'a> {
    fd: RawFd,
    blocked: &'a mut Next,
}

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        write(self.fd, bytes, 0).map_err(|next| {
            *self.blocked = next;
            std::io::ErrorKind::WouldBlock.into()
        })
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines for DialogueServer {
    fn open(&mut self, fd: RawFd) {
        let tls = self.tls.as_ref().and_then(|config| ServerConnection::new(Arc::clone(config)).ok());
        let mut line = Line { dialogue: (self.begin)(), tls, out: Vec::new(), sent: 0 };
        if let Some(tls) = &mut line.tls {
            tls.set_buffer_limit(None);
        }
        line.dialogue.begin(&mut line.out);
        *slot(&mut self.lines, fd) = Some(line);
    }

    fn answer(&mut self, fd: RawFd) -> Next {
        let Some(line) = slot(&mut self.lines, fd) else { return Next::End };
        match read(fd, &mut self.buffer) {
            Ok(count) => match line.take(&self.buffer[..count]) {
                Some(requests) => bump(&self.tally.replies, requests),
                None => return Next::End,
            },
            Err(Next::Read) => {}
            Err(next) => return next,
        }
        line.settle(fd, &self.tally)
    }

    fn settle(&mut self, fd: RawFd) -> Next {
        let Some(line) = slot(&mut self.lines, fd) else { return Next::End };
        line.settle(fd, &self.tally)
    }

    fn forget(&mut self, fd: RawFd) {
        *slot(&mut self.lines, fd) = None;
    }

    /// Who speaks first is not kept waiting; over TLS the first bytes are there already.
    fn is_eager(&self) -> bool {
        true
    }
}
