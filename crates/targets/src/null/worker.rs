//! One worker of the null server.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::listen::{Listener, is_shortage};

const EVENTS: usize = 512;
const BUFFER_BYTES: usize = 64 * 1024;
const REQUEST_END: &[u8; 4] = b"\r\n\r\n";

/// One worker's figures. Only the worker writes; plain loads and stores are enough.
#[derive(Default)]
#[repr(align(128))]
pub struct Tally {
    pub connections: AtomicU64,
    pub closed: AtomicU64,
    pub replies: AtomicU64,
    pub bytes: AtomicU64,
}

fn bump(figure: &AtomicU64, by: u64) {
    figure.store(figure.load(Relaxed) + by, Relaxed);
}

/// What is remembered of an open connection, at the index of its descriptor.
#[derive(Default, Clone, Copy)]
struct Slot {
    /// How much of the end of a head the last read ended with: 0 to 3.
    matched: u8,
    /// Bytes of replies that did not fit into the socket.
    owed: u64,
    open: bool,
}

pub struct Worker {
    epoll: OwnedFd,
    listener: Arc<Listener>,
    stopped: UnixStream,
    reply: Arc<[u8]>,
    close: bool,
    tally: Arc<Tally>,
    slots: Vec<Slot>,
    buffer: Vec<u8>,
}

impl Worker {
    pub fn new(
        listener: Arc<Listener>,
        stopped: UnixStream,
        reply: Arc<[u8]>,
        close: bool,
        tally: Arc<Tally>,
    ) -> io::Result<Self> {
        // SAFETY: no pointers; the result is checked before it is owned.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was made just above and nobody else has it.
        let epoll = unsafe { OwnedFd::from_raw_fd(epoll) };
        stopped.set_nonblocking(true)?;
        let buffer = vec![0; BUFFER_BYTES];
        let worker = Self { epoll, listener, stopped, reply, close, tally, slots: Vec::new(), buffer };
        worker.watch(libc::EPOLL_CTL_ADD, worker.listener.as_raw_fd(), libc::EPOLLIN | libc::EPOLLEXCLUSIVE)?;
        worker.watch(libc::EPOLL_CTL_ADD, worker.stopped.as_raw_fd(), libc::EPOLLIN)?;
        Ok(worker)
    }

    fn watch(&self, operation: libc::c_int, fd: RawFd, events: libc::c_int) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: fd as u64 };
        // SAFETY: a live epoll descriptor and a pointer to a live event.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn run(&mut self) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let (door, stopped) = (self.listener.as_raw_fd(), self.stopped.as_raw_fd());
        loop {
            // SAFETY: a live epoll descriptor and room for EVENTS events.
            let count =
                unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), EVENTS as libc::c_int, -1) };
            for event in &events[..count.max(0) as usize] {
                let (flags, fd) = (event.events, event.u64 as RawFd);
                if fd == stopped {
                    if !matches!(self.stopped.read(&mut [0]), Err(e) if e.kind() == io::ErrorKind::WouldBlock) {
                        return;
                    }
                } else if fd == door {
                    self.accept();
                } else if flags & libc::EPOLLOUT as u32 != 0 {
                    self.settle(fd);
                } else {
                    self.answer(fd);
                }
            }
        }
    }

    fn accept(&mut self) {
        loop {
            // SAFETY: a live listening socket; the peer's address is not asked for.
            let fd = unsafe {
                let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
                libc::accept4(self.listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags)
            };
            if fd < 0 {
                if is_shortage(&io::Error::last_os_error()) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                return;
            }
            bump(&self.tally.connections, 1);
            if self.slots.len() <= fd as usize {
                self.slots.resize(fd as usize + 1, Slot::default());
            }
            self.slots[fd as usize] = Slot { open: true, ..Slot::default() };
            // In close mode the request is there already, and the connection mostly over before it would be watched.
            if self.close {
                self.answer(fd);
            }
            let slot = self.slots[fd as usize];
            let events = if slot.owed > 0 { libc::EPOLLOUT } else { libc::EPOLLIN };
            if slot.open && self.watch(libc::EPOLL_CTL_ADD, fd, events).is_err() {
                self.end(fd);
            }
        }
    }

    fn answer(&mut self, fd: RawFd) {
        // SAFETY: the buffer is live and as long as said.
        let count = unsafe { libc::recv(fd, self.buffer.as_mut_ptr().cast(), self.buffer.len(), 0) };
        if count <= 0 {
            if count == 0 || !would_block() {
                self.end(fd);
            }
            return;
        }
        let slot = &mut self.slots[fd as usize];
        let mut heads = count_heads(&self.buffer[..count as usize], &mut slot.matched);
        if heads == 0 {
            return;
        }
        if self.close {
            heads = 1;
        }
        slot.owed = heads * self.reply.len() as u64;
        bump(&self.tally.replies, heads);
        if self.pay(fd) && !self.close {
            return;
        }
        let slot = self.slots[fd as usize];
        if slot.open && slot.owed > 0 {
            // Until it is paid nothing more is read. Not watched yet (see accept) is no error.
            let _ = self.watch(libc::EPOLL_CTL_MOD, fd, libc::EPOLLOUT);
        }
    }

    /// The rest of the replies that did not fit before.
    fn settle(&mut self, fd: RawFd) {
        if self.pay(fd) && self.slots[fd as usize].open && self.watch(libc::EPOLL_CTL_MOD, fd, libc::EPOLLIN).is_err() {
            self.end(fd);
        }
    }

    /// Writes what is owed, as far as the socket takes it; says whether that was all. Ends the connection in close mode.
    fn pay(&mut self, fd: RawFd) -> bool {
        // With more to come, the end of the connection travels in the same segment as the reply.
        let flags = libc::MSG_NOSIGNAL | if self.close { libc::MSG_MORE } else { 0 };
        let whole = self.reply.len() as u64;
        while self.slots[fd as usize].owed > 0 {
            let owed = self.slots[fd as usize].owed;
            let rest = &self.reply[((whole - owed % whole) % whole) as usize..];
            // SAFETY: the rest of the reply is live and as long as said.
            let sent = unsafe { libc::send(fd, rest.as_ptr().cast(), rest.len(), flags) };
            if sent < 0 {
                if !would_block() {
                    self.end(fd);
                }
                return false;
            }
            self.slots[fd as usize].owed -= sent as u64;
            bump(&self.tally.bytes, sent as u64);
        }
        if self.close {
            self.end(fd);
        }
        true
    }

    fn end(&mut self, fd: RawFd) {
        self.slots[fd as usize] = Slot::default();
        bump(&self.tally.closed, 1);
        // SAFETY: the descriptor came from accept and is closed once: its slot is no longer open.
        unsafe { libc::close(fd) };
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let open: Vec<RawFd> = (0..self.slots.len()).filter(|fd| self.slots[*fd].open).map(|fd| fd as RawFd).collect();
        for fd in open {
            self.end(fd);
        }
    }
}

fn would_block() -> bool {
    io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
}

/// Counts the ends of request heads in `bytes`. `matched` carries an end that is split over reads.
fn count_heads(bytes: &[u8], matched: &mut u8) -> u64 {
    let mut heads = 0;
    let mut rest = bytes;
    if *matched > 0 {
        // Byte by byte until the split end is decided.
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            *matched = advance(*matched, *byte);
            if *matched == 4 {
                heads += 1;
                *matched = 0;
            }
            if *matched == 0 {
                break;
            }
        }
        if *matched > 0 {
            return heads;
        }
    }
    let mut place = 3;
    let mut last_end = 0;
    while place < rest.len() {
        // A byte that is no line end cannot be in any of the four places of one.
        if rest[place] == b'\n' && rest[place - 3..=place] == *REQUEST_END {
            heads += 1;
            last_end = place + 1;
            place += 4;
        } else if rest[place] == b'\n' || rest[place] == b'\r' {
            place += 1;
        } else {
            place += 4;
        }
    }
    let tail = &rest[last_end.max(rest.len().saturating_sub(3))..];
    *matched = tail.iter().fold(0, |matched, byte| advance(matched, *byte));
    heads
}

/// How much of the end of a head is there after one more byte.
fn advance(matched: u8, byte: u8) -> u8 {
    match byte {
        _ if byte == REQUEST_END[matched as usize] => matched + 1,
        b'\r' => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found_wherever_the_reads_are_split() {
        let stream = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.0\r\n\r\n\r\r\n\r\nx\n\r\n\r\n";
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let mut matched = 0;
                let parts = [&stream[..first], &stream[first..second], &stream[second..]];
                let heads: u64 = parts.iter().map(|part| count_heads(part, &mut matched)).sum();
                assert_eq!((heads, matched), (4, 0), "split at {first} and {second}");
            }
        }
    }

    #[test]
    fn an_unfinished_head_is_remembered() {
        let mut matched = 0;
        assert_eq!(count_heads(b"GET / HTTP/1.1\r\n\r", &mut matched), 0);
        assert_eq!(matched, 3);
        assert_eq!(count_heads(b"\n", &mut matched), 1);
    }
}
