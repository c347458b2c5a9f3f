//! An endpoint made ready for connecting, and the way to it.

use super::{class_of, close, last_errno, set_option};
use crate::net::{quic, tls};
use bakeoff_engine::{Endpoint, ErrorClass};
use socket2::SockAddr;
use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;

/// `IP_BIND_ADDRESS_NO_PORT`: the port is chosen at connect, so that only the 4-tuple must be unique.
const IP_BIND_ADDRESS_NO_PORT: libc::c_int = 24;

/// Address and options of connections, one copy per load-generating thread.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub address: SockAddr,
    pub is_unix: bool,
    sources: Vec<SockAddr>,
    next_source: Cell<usize>,
    pub tls: Option<tls::Connector>,
    pub tls_on_connect: bool,
    /// Connections are these, over UDP.
    pub quic: Option<quic::Connector>,
    pub receive_buffer_bytes: Option<usize>,
    pub close_with_reset: bool,
}

impl Remote {
    /// The local address of the next connection, when any was asked for.
    fn next_source(&self) -> Option<&SockAddr> {
        if self.sources.is_empty() {
            return None;
        }
        let at = self.next_source.get();
        self.next_source.set((at + 1) % self.sources.len());
        Some(&self.sources[at])
    }

    /// Opens a socket and starts to connect it. It may or may not be connected on return.
    pub fn connect(&self) -> Result<RawFd, ErrorClass> {
        let family = libc::c_int::from(self.address.family());
        let kind = if self.quic.is_some() { libc::SOCK_DGRAM } else { libc::SOCK_STREAM };
        // SAFETY: plain system call.
        let fd = unsafe { libc::socket(family, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(class_of(last_errno()));
        }
        if let Some(bytes) = self.receive_buffer_bytes {
            // Before the connect, which tells the server how much it may send.
            set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX));
        }
        if let Some(source) = self.next_source() {
            set_option(fd, libc::SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1);
            // SAFETY: `fd` is open, the address and its length belong together.
            if unsafe { libc::bind(fd, source.as_ptr().cast(), source.len()) } != 0 {
                let class = class_of(last_errno());
                close(fd, false);
                return Err(class);
            }
        }
        // SAFETY: `fd` is open, the address and its length belong together.
        if unsafe { libc::connect(fd, self.address.as_ptr().cast(), self.address.len()) } != 0 {
            let errno = last_errno();
            if errno != libc::EINPROGRESS {
                close(fd, false);
                // A Unix socket with a full backlog answers EAGAIN where TCP would refuse.
                return Err(if errno == libc::EAGAIN { ErrorClass::Refused } else { class_of(errno) });
            }
        }
        Ok(fd)
    }

    /// Whether a connection attempt is over already, as it is on loopback: asked by connecting again, which is cheaper
    /// than to wait for the news. An attempt that failed gives its class.
    pub fn is_connected(&self, fd: RawFd) -> Result<bool, ErrorClass> {
        // SAFETY: `fd` is open, the address and its length belong together.
        if unsafe { libc::connect(fd, self.address.as_ptr().cast(), self.address.len()) } == 0 {
            return Ok(true);
        }
        match last_errno() {
            libc::EISCONN => Ok(true),
            libc::EALREADY | libc::EINPROGRESS | libc::EINTR => Ok(false),
            errno => Err(class_of(errno)),
        }
    }
}

/// Checks an endpoint and prepares its TLS configuration; `streams` of QUIC are to be ready for use. The error says what is wrong with it.
pub(crate) fn resolve(endpoint: &Endpoint, streams: usize) -> Result<Remote, String> {
    let (address, is_unix) = match (&endpoint.unix, endpoint.addresses.first()) {
        (Some(path), _) => (SockAddr::unix(path).map_err(|error| format!("Unix socket `{path}`: {error}"))?, true),
        (None, Some(text)) => {
            let address: SocketAddr =
                text.parse().map_err(|_| format!("`{text}` is not an address of the form 127.0.0.1:80 or [::1]:80"))?;
            (address.into(), false)
        }
        (None, None) => return Err("an endpoint without address".to_owned()),
    };
    let source = |text: &String| {
        let address: IpAddr = text.parse().map_err(|_| format!("source address `{text}` is not an IP address"))?;
        Ok(SocketAddr::new(address, 0).into())
    };
    let tls = match &endpoint.tls {
        Some(settings) => Some(tls::Connector::new(settings, &endpoint.server_name, endpoint.application)?),
        None => None,
    };
    let quic = match (&tls, address.as_socket()) {
        (Some(tls), Some(to)) if endpoint.is_quic => Some(tls.quic(to, &endpoint.server_name, streams)?),
        _ => None,
    };
    Ok(Remote {
        quic,
        address,
        is_unix,
        sources: endpoint.source_addresses.iter().map(source).collect::<Result<_, String>>()?,
        next_source: Cell::new(0),
        tls,
        tls_on_connect: endpoint.tls_on_connect,
        receive_buffer_bytes: endpoint.receive_buffer_bytes,
        close_with_reset: endpoint.close_with_reset,
    })
}
