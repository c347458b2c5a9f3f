//! One connection for checks before timing: whatever the other side sends, it ends in time and in memory.

use super::remote::resolve;
use super::{Moved, last_errno};
use crate::net::socket;
use crate::net::tls;
use crate::net::tls::TlsFault;
use bakeoff_engine::Endpoint;
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// The largest single read.
const PART_BYTES: usize = 64 * 1024;

/// What an exchange may take.
#[derive(Debug, Clone, Copy)]
pub struct ProbeLimits {
    /// For the connection.
    pub connect: Duration,
    /// For all that follows, the TLS handshake included.
    pub reply: Duration,
    /// Received bytes.
    pub most_bytes: usize,
}

/// Why an exchange failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeError {
    /// What was to be connected to, or trusted, cannot be had; in words.
    Setting(String),
    /// Nobody listens there.
    Refused,
    /// No connection in time.
    NotConnected,
    /// No connection, with this error number.
    Unreachable(i32),
    /// There is no TLS to agree on, with what is known of it in words.
    Tls(TlsFault, String),
    /// The handshake took too long.
    SlowTls,
    /// Time ran out.
    Slow,
    /// More bytes came than may.
    Long,
    /// The connection broke; in words.
    Broken(String),
}

/// A connection; what it reads is counted, and every wait ends.
#[derive(Debug)]
pub struct ProbeConnection {
    socket: Socket,
    connector: Option<tls::Connector>,
    tls: Option<tls::Session>,
    until: Instant,
    most_bytes: usize,
    received: usize,
    has_ended: bool,
    buffer: Vec<u8>,
    /// Clear text that TLS has given, and that nobody has taken yet.
    clear: Vec<u8>,
}

impl ProbeConnection {
    /// Connects, and agrees on TLS where the endpoint begins with it.
    ///
    /// # Errors
    /// There is no connection, or none that can be trusted.
    pub fn open(endpoint: &Endpoint, limits: ProbeLimits) -> Result<Self, ProbeError> {
        let remote = resolve(endpoint, 0).map_err(ProbeError::Setting)?;
        let kind = Type::STREAM.cloexec();
        let domain = Domain::from(i32::from(remote.address.family()));
        let socket = Socket::new(domain, kind, None).map_err(|error| ProbeError::Unreachable(number(&error)))?;
        match socket.connect_timeout(&remote.address, limits.connect.max(Duration::from_millis(1))) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Err(ProbeError::Refused),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(ProbeError::NotConnected),
            Err(error) => return Err(ProbeError::Unreachable(number(&error))),
        }
        socket.set_nonblocking(true).map_err(|error| ProbeError::Unreachable(number(&error)))?;
        let mut connection = Self {
            socket,
            connector: remote.tls,
            tls: None,
            until: Instant::now() + limits.reply,
            most_bytes: limits.most_bytes,
            received: 0,
            has_ended: false,
            buffer: vec![0; PART_BYTES],
            clear: Vec::new(),
        };
        if remote.tls_on_connect {
            connection.secure()?;
        }
        Ok(connection)
    }

    /// Agrees on TLS, where the endpoint has it.
    ///
    /// # Errors
    /// There is none to agree on, or none that can be trusted.
    pub fn secure(&mut self) -> Result<(), ProbeError> {
        let Some(connector) = &self.connector else { return Ok(()) };
        self.tls = Some(connector.session().map_err(|_| ProbeError::Tls(TlsFault::Other, String::new()))?);
        self.shake_hands().map_err(|error| if error == ProbeError::Slow { ProbeError::SlowTls } else { error })
    }

    /// Version and cipher of TLS.
    pub fn agreed(&self) -> Option<String> {
        self.tls.as_ref().and_then(tls::Session::agreed)
    }

    /// Bytes that came.
    pub const fn received(&self) -> usize {
        self.received
    }

    /// Sends all of it.
    ///
    /// # Errors
    /// It cannot be sent, or not in time.
    pub fn send(&mut self, mut bytes: &[u8]) -> Result<(), ProbeError> {
        if let Some(tls) = &mut self.tls {
            tls.write(bytes).map_err(|_| ProbeError::Broken(String::new()))?;
            return self.flush();
        }
        while !bytes.is_empty() {
            match socket::send(self.socket.as_raw_fd(), bytes) {
                Moved::Bytes(count) => bytes = &bytes[count..],
                Moved::Blocked => self.wait(libc::POLLOUT)?,
                Moved::Failed(errno) => return Err(ProbeError::Broken(words(errno))),
            }
        }
        Ok(())
    }

    /// Appends some bytes; `false` when the other side has ended.
    ///
    /// # Errors
    /// The connection broke, time ran out, or it is too much.
    pub fn receive(&mut self, into: &mut Vec<u8>) -> Result<bool, ProbeError> {
        loop {
            if !self.clear.is_empty() {
                into.append(&mut self.clear);
                return Ok(true);
            }
            let count = if self.has_ended { 0 } else { self.read()? };
            if count == 0 {
                return Ok(false);
            }
            if self.tls.is_none() {
                into.extend_from_slice(&self.buffer[..count]);
                return Ok(true);
            }
            self.take(count).map_err(|error| match error {
                ProbeError::Tls(_, why) => ProbeError::Broken(why),
                other => other,
            })?;
        }
    }

    fn shake_hands(&mut self) -> Result<(), ProbeError> {
        while self.tls.as_ref().is_some_and(tls::Session::is_handshaking) {
            self.flush()?;
            let count = match self.read() {
                Err(ProbeError::Broken(why)) => return Err(ProbeError::Tls(TlsFault::Other, why)),
                count => count?,
            };
            if count == 0 {
                return Err(ProbeError::Tls(TlsFault::Other, "it closes the connection".to_owned()));
            }
            if let Err(error) = self.take(count) {
                let _ = self.flush(); // the alert that tells the server why
                return Err(error);
            }
        }
        self.flush()?;
        let Some(tls) = &mut self.tls else { return Ok(()) };
        tls.check_application().map_err(|_| fault_of(tls))
    }

    /// Hands cipher text to TLS, and takes what it says.
    fn take(&mut self, count: usize) -> Result<(), ProbeError> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let mut cipher = &self.buffer[..count];
        while !cipher.is_empty() && !self.has_ended {
            self.has_ended = tls.take(&mut cipher).map_err(|_| fault_of(tls))?;
            loop {
                let part = tls.clear_text();
                let count = part.len();
                if count == 0 {
                    break;
                }
                self.clear.extend_from_slice(part);
                tls.consume(count);
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ProbeError> {
        let fd = self.socket.as_raw_fd();
        while let Some(tls) = &mut self.tls {
            match tls.flush(fd) {
                Ok(true) => break,
                Ok(false) => self.wait(libc::POLLOUT)?,
                Err(_) => return Err(ProbeError::Broken(words(last_errno()))),
            }
        }
        Ok(())
    }

    /// Some bytes into the buffer; 0 at the end of the stream.
    fn read(&mut self) -> Result<usize, ProbeError> {
        loop {
            self.left()?;
            match socket::receive(self.socket.as_raw_fd(), &mut self.buffer) {
                Moved::Bytes(count) => {
                    self.received += count;
                    return if self.received > self.most_bytes { Err(ProbeError::Long) } else { Ok(count) };
                }
                Moved::Blocked => self.wait(libc::POLLIN)?,
                Moved::Failed(errno) => return Err(ProbeError::Broken(words(errno))),
            }
        }
    }

    fn wait(&self, events: libc::c_short) -> Result<(), ProbeError> {
        let wait_ms = self.left()?.as_nanos().div_ceil(1_000_000).min(60_000) as libc::c_int;
        let mut polled = libc::pollfd { fd: self.socket.as_raw_fd(), events, revents: 0 };
        // SAFETY: one descriptor, which is open. What it tells, the next call tells as well.
        unsafe { libc::poll(&raw mut polled, 1, wait_ms) };
        Ok(())
    }

    /// Time that is left; an error when there is none.
    fn left(&self) -> Result<Duration, ProbeError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ProbeError::Slow) } else { Ok(left) }
    }
}

fn fault_of(tls: &tls::Session) -> ProbeError {
    ProbeError::Tls(tls.fault(), tls.reason().unwrap_or_default().to_owned())
}

fn number(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

/// What the system says of an error number.
pub fn words(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_owned()
}
