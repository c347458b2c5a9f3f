//! HTTP/1 without TLS: one prebuilt reply, sent as often as it is owed, from where it lies.

use std::os::fd::RawFd;
use std::sync::Arc;

use super::heads::count_heads;
use super::lines::{Lines, Next, read, slot, write};
use super::worker::{Tally, bump};

const BUFFER_BYTES: usize = 64 * 1024;

/// What is remembered of an open connection.
#[derive(Default, Clone, Copy)]
struct Slot {
    /// How much of the end of a head the last read ended with: 0 to 3.
    matched: u8,
    /// Bytes of replies that did not fit into the socket.
    owed: u64,
}

pub struct Bare {
    reply: Arc<[u8]>,
    close: bool,
    tally: Arc<Tally>,
    slots: Vec<Slot>,
    buffer: Vec<u8>,
}

impl Bare {
    /// With `close` each connection ends after its reply.
    pub fn new(reply: Arc<[u8]>, close: bool, tally: Arc<Tally>) -> Self {
        Self { reply, close, tally, slots: Vec::new(), buffer: vec![0; BUFFER_BYTES] }
    }

    /// Writes what is owed, as far as the socket takes it.
    fn pay(&mut self, fd: RawFd) -> Next {
        // With more to come, the end of the connection travels in the same segment as the reply.
        let flags = if self.close { libc::MSG_MORE } else { 0 };
        let whole = self.reply.len() as u64;
        let owed = &mut self.slots[fd as usize].owed;
        while *owed > 0 {
            let rest = &self.reply[((whole - *owed % whole) % whole) as usize..];
            match write(fd, rest, flags) {
                Err(next) => return next,
                Ok(sent) => {
                    *owed -= sent as u64;
                    bump(&self.tally.bytes, sent as u64);
                }
            }
        }
        if self.close { Next::End } else { Next::Read }
    }
}

impl Lines for Bare {
    fn open(&mut self, fd: RawFd) {
        *slot(&mut self.slots, fd) = Slot::default();
    }

    fn answer(&mut self, fd: RawFd) -> Next {
        let count = match read(fd, &mut self.buffer) {
            Ok(count) => count,
            Err(next) => return next,
        };
        let slot = &mut self.slots[fd as usize];
        let mut heads = count_heads(&self.buffer[..count], &mut slot.matched);
        if heads == 0 {
            return Next::Read;
        }
        if self.close {
            heads = 1;
        }
        slot.owed = heads * self.reply.len() as u64;
        bump(&self.tally.replies, heads);
        self.pay(fd)
    }

    fn settle(&mut self, fd: RawFd) -> Next {
        self.pay(fd)
    }

    fn forget(&mut self, fd: RawFd) {
        self.slots[fd as usize] = Slot::default();
    }

    /// In close mode the request is there already, and the connection mostly over before it would be watched.
    fn is_eager(&self) -> bool {
        self.close
    }
}
