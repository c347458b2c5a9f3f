//! One session with a file server: its connection, on which calls are carried out one after the other.

use super::buffers::AlignedBuffers;
use bakeoff_engine::{CONNECTING, FileBuffers, FileCall, FileClient, FileServer, FileSession, Nanos};
use socket2::{Domain, Protocol, Socket, Type};
use std::ffi::CStr;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// Ports that only root may use, as far as others leave them alone.
const RESERVED: RangeInclusive<u16> = 512..=1023;
/// A socket waits longer than the watch over the trial does, which says what hangs.
const BEYOND: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub(crate) struct ServerSession {
    server: Arc<dyn FileServer>,
    client: Box<dyn FileClient>,
    address: Option<IpAddr>,
    socket: Option<TcpStream>,
    pending: Vec<u8>,
    patience: Duration,
}

/// Why a session cannot be opened.
#[derive(Debug)]
pub(crate) struct NoSession {
    /// One sentence.
    pub reason: String,
    pub errno: i32,
}

impl ServerSession {
    /// Connects and logs in; names are relative to `folder` below the server's address.
    pub fn open(
        server: &Arc<dyn FileServer>,
        folder: &str,
        depth: u32,
        number: u32,
        patience: Duration,
    ) -> Result<Self, NoSession> {
        let client = server.client(folder, depth, number);
        let mut session =
            Self { server: Arc::clone(server), client, address: None, socket: None, pending: Vec::new(), patience };
        session.connect()?;
        Ok(session)
    }

    /// What was agreed with the server.
    pub fn facts(&self) -> serde_json::Value {
        self.client.facts()
    }

    /// The numeric address of the server.
    pub fn peer(&self) -> Option<String> {
        self.address.map(|address| address.to_string())
    }

    /// Copies what the last call has read: the number of bytes.
    pub fn copy_read(&self, to: &mut [u8]) -> usize {
        self.client.data(0, to)
    }

    fn connect(&mut self) -> Result<(), NoSession> {
        while let Some(port) = self.client.port() {
            let socket = self.dial(port)?;
            self.socket = Some(socket);
            self.pending.clear();
            self.client.connected();
            let value = self.pump(CONNECTING);
            if value < 0 {
                self.socket = None;
                let errno = -value as i32;
                let error = std::io::Error::from_raw_os_error(errno);
                let otherwise = || format!("{} ended the session: {error}", self.server.address());
                return Err(NoSession { reason: self.client.refusal().unwrap_or_else(otherwise), errno });
            }
        }
        Ok(())
    }

    fn dial(&mut self, port: u16) -> Result<TcpStream, NoSession> {
        let host = self.server.host().to_owned();
        let failed = |error: &std::io::Error| NoSession {
            reason: format!("{host}, port {port}: {}: is the server up?", plain(error)),
            errno: error.raw_os_error().unwrap_or(libc::EHOSTUNREACH),
        };
        let address = match self.address {
            Some(address) => SocketAddr::new(address, port),
            None => (host.as_str(), port)
                .to_socket_addrs()
                .and_then(|mut all| all.next().ok_or_else(|| ErrorKind::NotFound.into()))
                .map_err(|error| failed(&error))?,
        };
        self.address = Some(address.ip());
        let reserved = self.server.wants_reserved_port();
        let socket = connect(address, reserved, self.patience).map_err(|error| failed(&error))?;
        let prepared = socket
            .set_nodelay(true)
            .and_then(|()| socket.set_read_timeout(Some(self.patience + BEYOND)))
            .and_then(|()| socket.set_write_timeout(Some(self.patience + BEYOND)));
        prepared.map_err(|error| failed(&error))?;
        Ok(socket)
    }

    /// Sends and receives until a slot has ended: its value.
    fn pump(&mut self, slot: u32) -> i64 {
        loop {
            while let Some((ended, value)) = self.client.finished() {
                if ended == slot {
                    return value;
                }
            }
            if let Err(errno) = self.exchange() {
                self.socket = None;
                self.client.lost(errno);
                if let Some((_, value)) = self.client.finished() {
                    return value;
                }
                return -i64::from(errno);
            }
        }
    }

    /// Sends what is to be sent and takes what the server sends next.
    fn exchange(&mut self) -> Result<(), i32> {
        self.send()?;
        self.receive()
    }

    /// Sends all. A server that cannot take more before its own replies are taken gets them taken meanwhile.
    fn send(&mut self) -> Result<(), i32> {
        self.pending.append(self.client.outgoing());
        let mut sent = 0;
        while sent < self.pending.len() {
            let fd = self.socket.as_ref().ok_or(libc::ENOTCONN)?.as_raw_fd();
            let left = &self.pending[sent..];
            // SAFETY: the descriptor is open, the bytes are valid for their length.
            let count =
                unsafe { libc::send(fd, left.as_ptr().cast(), left.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
            if count >= 0 {
                sent += count as usize;
                continue;
            }
            match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN) => match self.poll(libc::POLLIN | libc::POLLOUT, self.patience + BEYOND) {
                    0 => return Err(libc::ETIMEDOUT),
                    ready if ready & libc::POLLIN != 0 => self.receive()?,
                    _ => {}
                },
                errno => return Err(errno.unwrap_or(libc::EIO)),
            }
        }
        self.pending.clear();
        Ok(())
    }

    /// Takes what the server sends next.
    fn receive(&mut self) -> Result<(), i32> {
        let socket = self.socket.as_mut().ok_or(libc::ENOTCONN)?;
        loop {
            return match socket.read(self.client.space()) {
                Ok(0) => Err(libc::ECONNRESET),
                Ok(count) => self.client.received(count).map_err(|_| libc::EREMOTEIO),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(errno_of(&error)),
            };
        }
    }

    /// Waits until the socket can do one of these; 0 when the time is over.
    fn poll(&self, events: libc::c_short, timeout: Duration) -> libc::c_short {
        let Some(socket) = &self.socket else { return events };
        let mut waited = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
        let time = libc::timespec {
            tv_sec: timeout.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(timeout.subsec_nanos()),
        };
        // SAFETY: one valid structure and a valid time.
        let ready = unsafe { libc::ppoll(&raw mut waited, 1, &raw const time, std::ptr::null()) };
        if ready < 0 { libc::POLLIN } else { waited.revents }
    }

    /// Carries out one call: its value, or the negative error number. A connection that was lost is made anew.
    pub fn call(&mut self, call: &FileCall, names: [&CStr; 2], data: &[u8]) -> i64 {
        if self.socket.is_none()
            && let Err(refused) = self.connect()
        {
            return -i64::from(refused.errno);
        }
        self.client.begin(0, call, names, data);
        self.pump(0)
    }

    /// Begins the call of a slot of a session of the workload; it ends in [`ServerSession::finished`].
    pub fn begin(&mut self, slot: u32, call: &FileCall, session: &impl FileSession, buffers: &mut AlignedBuffers) {
        if self.socket.is_none() {
            // What is begun without a connection ends with the error that it was lost by.
            _ = self.connect();
        }
        let (name, other) = call.names();
        let names = [name, other].map(|name| name.map_or(c"", |name| session.path(name)));
        let data = call.transfer().filter(|_| writes(call));
        self.client.begin(
            slot,
            call,
            names,
            data.map_or(&[], |(buffer, length)| buffers.slice(buffer, length as usize)),
        );
    }

    /// The same for a call with nothing beside it, waited for: its value.
    pub fn execute(&mut self, call: &FileCall, session: &impl FileSession, buffers: &mut AlignedBuffers) -> i64 {
        self.begin(0, call, session, buffers);
        let value = self.pump(0);
        self.take_read(0, call, value, buffers);
        value
    }

    /// Sends what was begun and waits until something comes back, at most `timeout_ns`.
    pub fn wait(&mut self, timeout_ns: Option<Nanos>) {
        if self.send().is_ok()
            && timeout_ns.is_some_and(|timeout_ns| self.poll(libc::POLLIN, Duration::from_nanos(timeout_ns)) == 0)
        {
            return;
        }
        if let Err(errno) = self.exchange() {
            self.socket = None;
            self.client.lost(errno);
        }
    }

    /// A slot whose call is over, and its value.
    pub fn finished(&mut self) -> Option<(u32, i64)> {
        self.client.finished()
    }

    /// Copies what a call of a slot has read into its buffer.
    pub fn take_read(&mut self, slot: u32, call: &FileCall, value: i64, buffers: &mut AlignedBuffers) {
        if value > 0
            && !writes(call)
            && let Some((buffer, length)) = call.transfer()
        {
            self.client.data(slot, buffers.slice(buffer, length as usize));
        }
    }
}

/// What an error says, without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

const fn writes(call: &FileCall) -> bool {
    matches!(call, FileCall::WriteAt { .. } | FileCall::Write { .. })
}

fn errno_of(error: &std::io::Error) -> i32 {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => libc::ETIMEDOUT,
        _ => error.raw_os_error().unwrap_or(libc::EIO),
    }
}

fn connect(address: SocketAddr, reserved: bool, patience: Duration) -> std::io::Result<TcpStream> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let ports = *RESERVED.end() - *RESERVED.start() + 1;
    let tries = if reserved { ports } else { 0 };
    for _ in 0..tries {
        let port = RESERVED.start() + NEXT.fetch_add(1, Ordering::Relaxed) % ports;
        let socket = socket_for(address)?;
        socket.set_reuse_address(true)?;
        let any: IpAddr = if address.is_ipv6() { [0_u16; 8].into() } else { [0_u8; 4].into() };
        match socket.bind(&SocketAddr::new(any, port).into()) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => break,
            Err(_) => continue,
            Ok(()) => {}
        }
        match socket.connect_timeout(&address.into(), patience) {
            Ok(()) => return Ok(socket.into()),
            Err(error) if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable) => {}
            Err(error) => return Err(error),
        }
    }
    let socket = socket_for(address)?;
    socket.connect_timeout(&address.into(), patience)?;
    Ok(socket.into())
}

fn socket_for(address: SocketAddr) -> std::io::Result<Socket> {
    Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))
}
