//! Connections for loops of their own: opened with httperf's options, each refusal as its error number.

use super::{Moved, last_errno};
use crate::net::socket;
use socket2::SockAddr;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;

const IP_BIND_ADDRESS_NO_PORT: libc::c_int = 24;
/// Ports that a program without rights may use.
const FIRST_PORT: u16 = 1024;

/// What all connections of a loop have in common.
#[derive(Debug, Clone, Default)]
pub struct DialOptions {
    /// `SO_SNDBUF`, bytes.
    pub send_buffer: Option<u32>,
    /// `SO_RCVBUF`, bytes.
    pub receive_buffer: Option<u32>,
    /// Local addresses, taken in turn; the kernel chooses when empty.
    pub sources: Vec<String>,
    /// Local ports are chosen here, from 1024 on, instead of by the kernel.
    pub own_ports: bool,
    /// Connections end with a reset.
    pub close_with_reset: bool,
}

/// A connection that could not be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialError {
    /// As `errno` has it.
    pub errno: i32,
    /// There was a socket, and the kernel was asked to connect it.
    pub attempted: bool,
}

/// Opens connections to some addresses.
#[derive(Debug)]
pub struct Dialer {
    remotes: Vec<SockAddr>,
    options: DialOptions,
    sources: Vec<IpAddr>,
    next_source: usize,
    /// A socket of this family that was made in advance.
    spare: Option<(libc::c_int, Line)>,
    /// One that is to be closed when there is time to wait through.
    leaving: Option<Line>,
    /// Of each source, when ports are chosen here.
    ports: Vec<Ports>,
}

/// The local ports of one source address that are not in use. Who was left longest is used first, so that its
/// `TIME_WAIT` is over if that can be: there is no search.
#[derive(Debug)]
struct Ports(VecDeque<u16>);

/// A socket; it is closed when dropped.
#[derive(Debug)]
pub struct Line {
    fd: RawFd,
    with_reset: bool,
    /// Which port of which source goes back when it is closed.
    held: Option<(usize, u16)>,
}

impl Dialer {
    /// To numeric addresses like `127.0.0.1:80`. The error says what is wrong.
    pub fn new(addresses: &[&str], options: DialOptions) -> Result<Self, String> {
        let remote = |text: &&str| {
            let address: Result<SocketAddr, _> = text.parse();
            address.map_err(|_| format!("`{text}` is not an address of the form 127.0.0.1:80 or [::1]:80"))
        };
        let remotes = addresses.iter().map(remote).collect::<Result<Vec<_>, _>>()?;
        let source =
            |text: &String| text.parse().map_err(|_| format!("the local address `{text}` is not an IP address"));
        let sources = options.sources.iter().map(source).collect::<Result<Vec<IpAddr>, _>>()?;
        for source in &sources {
            if remotes.iter().any(|remote| remote.is_ipv4() != source.is_ipv4()) {
                return Err(format!(
                    "from the local address {source} not all servers can be reached: one is IPv4, one IPv6"
                ));
            }
        }
        let sets = if options.own_ports { sources.len().max(1) } else { 0 };
        let ports = (0..sets).map(|_| Ports((FIRST_PORT..=u16::MAX).collect())).collect();
        Ok(Self {
            remotes: remotes.into_iter().map(SockAddr::from).collect(),
            sources,
            options,
            next_source: 0,
            spare: None,
            leaving: None,
            ports,
        })
    }

    /// Does what can wait until there is time that would be waited through: with `next`, a socket is made ready for a
    /// connection to that address (one that cannot be had is told when it is needed), and what is leaving is closed.
    pub fn settle(&mut self, next: Option<usize>) {
        if let Some(remote) = next {
            self.prepare(remote);
        }
        if let Some(line) = self.leaving.take() {
            self.hang_up(line);
        }
    }

    fn prepare(&mut self, remote: usize) {
        if self.spare.is_none() {
            self.spare = self.socket(remote).ok().map(|line| (self.family(remote), line));
        }
    }

    fn family(&self, remote: usize) -> libc::c_int {
        libc::c_int::from(self.remotes[remote].family())
    }

    /// A socket with all options that is not connected.
    fn socket(&mut self, remote: usize) -> Result<Line, i32> {
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: plain system call.
        let fd = unsafe { libc::socket(self.family(remote), kind, 0) };
        if fd < 0 {
            return Err(last_errno());
        }
        let mut line = Line { fd, with_reset: self.options.close_with_reset, held: None };
        let sizes = [(libc::SO_SNDBUF, self.options.send_buffer), (libc::SO_RCVBUF, self.options.receive_buffer)];
        for (name, bytes) in sizes {
            let Some(bytes) = bytes else { continue };
            let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
            socket::set_option(fd, libc::SOL_SOCKET, name, bytes);
        }
        self.bind(&mut line, remote)?;
        Ok(line)
    }

    /// Begins a connection to the address with this index.
    pub fn dial(&mut self, remote: usize) -> Result<Line, DialError> {
        let family = self.family(remote);
        let line = match self.spare.take() {
            Some((spare, line)) if spare == family => line,
            other => {
                self.spare = other;
                self.socket(remote).map_err(|errno| DialError { errno, attempted: false })?
            }
        };
        let fd = line.fd;
        let address = &self.remotes[remote];
        // SAFETY: `fd` is open, the address and its length belong together.
        if unsafe { libc::connect(fd, address.as_ptr().cast(), address.len()) } != 0 {
            let errno = last_errno();
            if errno != libc::EINPROGRESS {
                self.hang_up(line);
                return Err(DialError { errno, attempted: true });
            }
        }
        Ok(line)
    }

    /// Ends a connection with the next [`Dialer::settle`]: what the other side has to do because of it does not stand
    /// before the request that may follow. At most one waits for that.
    pub fn leave(&mut self, line: Line) {
        if let Some(before) = self.leaving.replace(line) {
            self.hang_up(before);
        }
    }

    /// Ends a connection; its port can be used again.
    pub fn hang_up(&mut self, line: Line) {
        let held = line.held;
        drop(line);
        if let Some((source, port)) = held {
            self.ports[source].0.push_back(port);
        }
    }

    /// Gives the socket its local address, where that is not the kernel's choice.
    fn bind(&mut self, line: &mut Line, remote: usize) -> Result<(), i32> {
        let sources = self.sources.len();
        let source = self.next_source;
        if sources > 0 {
            self.next_source = (source + 1) % sources;
        }
        if self.options.own_ports {
            return self.bind_own(line, remote, source);
        }
        let Some(&address) = self.sources.get(source) else { return Ok(()) };
        socket::set_option(line.fd, libc::SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1);
        bind_to(line.fd, SocketAddr::new(address, 0))
    }

    /// Takes the port that was left longest; those that others use are passed over, each at most once.
    fn bind_own(&mut self, line: &mut Line, remote: usize, source: usize) -> Result<(), i32> {
        let any: IpAddr = if self.remotes[remote].is_ipv6() { [0_u16; 8].into() } else { [0_u8; 4].into() };
        let address = self.sources.get(source).copied().unwrap_or(any);
        // A port whose last connection still lies in TIME_WAIT can be bound; whether it can be connected the kernel says.
        socket::set_option(line.fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1);
        let free = &mut self.ports[source].0;
        for _ in 0..free.len() {
            let Some(port) = free.pop_front() else { break };
            match bind_to(line.fd, SocketAddr::new(address, port)) {
                Ok(()) => {
                    line.held = Some((source, port));
                    return Ok(());
                }
                Err(libc::EADDRINUSE | libc::EACCES) => free.push_back(port),
                Err(errno) => {
                    free.push_back(port);
                    return Err(errno);
                }
            }
        }
        Err(libc::EADDRNOTAVAIL)
    }
}

fn bind_to(fd: RawFd, address: SocketAddr) -> Result<(), i32> {
    let address = SockAddr::from(address);
    // SAFETY: `fd` is open, the address and its length belong together.
    match unsafe { libc::bind(fd, address.as_ptr().cast(), address.len()) } {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

impl Line {
    /// For the poller and for TLS.
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    /// Writes what fits.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> Moved {
        socket::send(self.fd, bytes)
    }

    /// Reads what is there.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> Moved {
        socket::receive(self.fd, buffer)
    }

    /// Drops up to so many bytes that are there, in the kernel.
    #[inline]
    pub fn discard(&self, length: usize) -> Moved {
        socket::discard(self.fd, length)
    }

    /// Sends small writes at once.
    pub fn set_no_delay(&self) {
        socket::set_no_delay(self.fd);
    }

    /// How an attempt to connect ended: 0 is well.
    pub fn pending_error(&self) -> i32 {
        socket::pending_error(self.fd)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        socket::close(self.fd, self.with_reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::TcpListener;

    #[test]
    fn own_ports_are_all_used_before_one_is_used_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let options = DialOptions { own_ports: true, ..DialOptions::default() };
        let mut dialer = Dialer::new(&[&address], options).unwrap();
        let mut seen = HashSet::new();
        for _ in 0..200 {
            let line = dialer.dial(0).unwrap();
            let (stream, peer) = listener.accept().unwrap();
            assert!(peer.port() >= FIRST_PORT && seen.insert(peer.port()), "{peer} was used before");
            assert!(peer.port() < 32_768, "the kernel would have chosen a higher one");
            drop(stream);
            dialer.hang_up(line);
        }
    }

    #[test]
    fn what_leaves_stays_open_until_there_is_time_and_only_one_does() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut dialer = Dialer::new(&[&address], DialOptions::default()).unwrap();
        let lines: Vec<_> = (0..2).map(|_| (dialer.dial(0).unwrap(), listener.accept().unwrap().0)).collect();
        let mut servers = Vec::new();
        for (line, server) in lines {
            servers.push(server);
            dialer.leave(line);
        }
        assert_eq!(servers[0].peek(&mut [0]).unwrap(), 0, "closed when the next one left");
        servers[1].set_nonblocking(true).unwrap();
        assert!(servers[1].peek(&mut [0]).is_err(), "still open");
        dialer.settle(None);
        servers[1].set_nonblocking(false).unwrap();
        assert_eq!(servers[1].peek(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn when_all_ports_are_held_there_is_no_address() {
        let options = DialOptions { own_ports: true, ..DialOptions::default() };
        let mut dialer = Dialer::new(&["127.0.0.1:9"], options).unwrap();
        dialer.ports[0].0.clear();
        let error = dialer.dial(0).unwrap_err();
        assert_eq!(error, DialError { errno: libc::EADDRNOTAVAIL, attempted: false });
    }

    #[test]
    fn families_that_do_not_meet_are_refused() {
        let options = DialOptions { sources: vec!["::1".to_owned()], ..DialOptions::default() };
        assert!(Dialer::new(&["127.0.0.1:80"], options).unwrap_err().contains("IPv6"));
        assert!(Dialer::new(&["localhost"], DialOptions::default()).is_err());
    }
}
