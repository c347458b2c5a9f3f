//! What a worker needs of the connections that it serves.

use std::io;
use std::os::fd::RawFd;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Read,
    Write,
    End,
}

/// The connections of one worker, by their descriptors. They only read and write: the worker accepts, waits and closes.
pub trait Lines: Send {
    /// A connection begins.
    fn open(&mut self, fd: RawFd);

    /// Bytes have come, or the end.
    fn answer(&mut self, fd: RawFd) -> Next;

    /// There is room for what is owed.
    fn settle(&mut self, fd: RawFd) -> Next;

    /// Nothing is remembered of it.
    fn forget(&mut self, fd: RawFd);

    /// Whether a new connection is served at once, before anything is known to have come.
    fn is_eager(&self) -> bool;
}

/// The entry of a descriptor, made where there is none.
pub fn slot<T: Default>(slots: &mut Vec<T>, fd: RawFd) -> &mut T {
    let place = fd as usize;
    if slots.len() <= place {
        slots.resize_with(place + 1, T::default);
    }
    &mut slots[place]
}

/// Reads; the number of bytes, or what follows where there are none.
pub fn read(fd: RawFd, buffer: &mut [u8]) -> Result<usize, Next> {
    // SAFETY: the buffer is live and as long as said.
    let count = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    match count {
        1.. => Ok(count as usize),
        0 => Err(Next::End),
        _ => Err(if would_block() { Next::Read } else { Next::End }),
    }
}

/// Writes; the number of bytes, or what follows where the socket takes none.
pub fn write(fd: RawFd, bytes: &[u8], flags: libc::c_int) -> Result<usize, Next> {
    // SAFETY: the bytes are live and as many as said.
    let count = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL | flags) };
    if count >= 0 { Ok(count as usize) } else { Err(if would_block() { Next::Write } else { Next::End }) }
}

fn would_block() -> bool {
    io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
}
