//! Raw socket calls of the hot path, each with its result as data.

pub(super) mod dial;
pub(super) mod probe;
pub(super) mod remote;

use bakeoff_engine::ErrorClass;
use std::io;
use std::os::fd::RawFd;

/// The class of an error number.
pub(crate) fn class_of(errno: i32) -> ErrorClass {
    match errno {
        libc::ECONNREFUSED | libc::ENOENT => ErrorClass::Refused,
        libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => ErrorClass::ResetBeforeFirstByte,
        libc::ETIMEDOUT => ErrorClass::ConnectTimeout,
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EHOSTDOWN | libc::ENETDOWN => ErrorClass::Unreachable,
        libc::EADDRNOTAVAIL | libc::EADDRINUSE => ErrorClass::PortsExhausted,
        libc::EMFILE | libc::ENFILE => ErrorClass::TooManyFiles,
        _ => ErrorClass::Other,
    }
}

/// The class of an error on a connection that was open.
pub(crate) fn class_of_established(errno: i32) -> ErrorClass {
    match class_of(errno) {
        ErrorClass::ConnectTimeout => ErrorClass::ReplyTimeout,
        class => class,
    }
}

/// The error number of the last call of this thread.
pub(crate) fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Sets an option that is an int. A refused one only costs speed.
pub(crate) fn set_option(fd: RawFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
    // SAFETY: `value` is an int of the given length. A refused option only costs speed, so the result is not needed.
    unsafe {
        libc::setsockopt(fd, level, name, (&raw const value).cast(), size_of::<libc::c_int>() as libc::socklen_t);
    }
}

/// Sends small writes at once.
pub(crate) fn set_no_delay(fd: RawFd) {
    set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1);
}

/// Wakes the reader only when so many bytes are there; the kernel makes room for them.
pub(crate) fn set_low_water(fd: RawFd, bytes: usize) {
    set_option(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes as libc::c_int);
}

fn option_of(fd: RawFd, name: libc::c_int) -> Result<libc::c_int, i32> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` has the length given.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length) };
    if result == 0 { Ok(value) } else { Err(last_errno()) }
}

/// The pending error of a socket, 0 when there is none.
pub(crate) fn pending_error(fd: RawFd) -> i32 {
    option_of(fd, libc::SO_ERROR).unwrap_or_else(|errno| errno)
}

/// What the kernel made of the receive buffer that was asked for: it doubles, and cuts at `net.core.rmem_max`.
pub(crate) fn receive_buffer_bytes(fd: RawFd) -> u64 {
    option_of(fd, libc::SO_RCVBUF).ok().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// Whether the other side has not received all that was sent.
pub(crate) fn has_unacknowledged(fd: RawFd) -> bool {
    let mut bytes: libc::c_int = 0;
    // SAFETY: SIOCOUTQ (TIOCOUTQ) writes one int.
    unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &raw mut bytes) == 0 && bytes > 0 }
}

/// Closes a socket; with a reset when asked to.
pub(crate) fn close(fd: RawFd, with_reset: bool) {
    // SAFETY: `fd` is open and owned by the caller, who forgets it.
    unsafe {
        if with_reset {
            let linger = libc::linger { l_onoff: 1, l_linger: 0 };
            let length = size_of::<libc::linger>() as libc::socklen_t;
            libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, (&raw const linger).cast(), length);
        }
        libc::close(fd);
    }
}

/// What a read or write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// So many bytes; of a read, 0 is the end of the stream.
    Bytes(usize),
    /// Try again when the socket is ready.
    Blocked,
    /// With this error number.
    Failed(i32),
}

fn moved(result: isize) -> Moved {
    match usize::try_from(result) {
        Ok(bytes) => Moved::Bytes(bytes),
        Err(_) => match last_errno() {
            libc::EAGAIN | libc::EINTR | libc::ENOTCONN => Moved::Blocked,
            errno => Moved::Failed(errno),
        },
    }
}

/// Writes without raising `SIGPIPE`. A socket that still connects is `Blocked`.
#[inline]
pub(crate) fn send(fd: RawFd, bytes: &[u8]) -> Moved {
    // SAFETY: pointer and length describe `bytes`.
    moved(unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) })
}

/// The same of several parts, which leave together.
#[inline]
pub(crate) fn send_gathered(fd: RawFd, parts: &[io::IoSlice<'_>]) -> Moved {
    // SAFETY: all zeros are a `msghdr`; an `IoSlice` is an `iovec` to readable memory, which the kernel does not write
    // to.
    moved(unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = parts.as_ptr().cast_mut().cast();
        message.msg_iovlen = parts.len();
        libc::sendmsg(fd, &raw const message, libc::MSG_NOSIGNAL)
    })
}

/// Goes the way of a send as far as no packet leaves: a stream takes no bytes by sending none.
pub(crate) fn warm(fd: RawFd) {
    // SAFETY: an empty buffer is not read. What is wrong with the socket its next read or send tells.
    unsafe { libc::send(fd, std::ptr::null(), 0, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
}

/// Reads into `buffer`; `Bytes(0)` is the end of the stream.
#[inline]
pub(crate) fn receive(fd: RawFd, buffer: &mut [u8]) -> Moved {
    // SAFETY: pointer and length describe `buffer`.
    moved(unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) })
}

/// Drops up to `length` received bytes in the kernel, without copying them (TCP only).
#[inline]
pub(crate) fn discard(fd: RawFd, length: usize) -> Moved {
    // SAFETY: with MSG_TRUNC a TCP socket copies nothing, so that no buffer is needed.
    moved(unsafe { libc::recv(fd, std::ptr::null_mut(), length, libc::MSG_TRUNC) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    /// Packets that a connection has sent.
    fn segments_out(stream: &TcpStream) -> u32 {
        // SAFETY: all zeros are a `tcp_info`; the kernel fills in what it has of it.
        unsafe {
            let mut info: libc::tcp_info = std::mem::zeroed();
            let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
            let (fd, level) = (stream.as_raw_fd(), libc::IPPROTO_TCP);
            let got = libc::getsockopt(fd, level, libc::TCP_INFO, (&raw mut info).cast(), &raw mut length);
            assert_eq!(got, 0);
            info.tcpi_segs_out
        }
    }

    #[test]
    fn a_warm_way_sends_no_packet() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let before = segments_out(&client);
        (0..100).for_each(|_| warm(client.as_raw_fd()));
        assert_eq!(segments_out(&client), before);
        client.write_all(b"x").unwrap();
        assert_eq!(segments_out(&client), before + 1, "the count counts");
        let mut bytes = [0; 2];
        assert_eq!((server.read(&mut bytes).unwrap(), bytes[0]), (1, b'x'));
    }
}
