//! The connection of one virtual user: opening it, sending on it, closing it.

use super::EventLoop;
use crate::net::socket::{self, Moved};
use crate::net::wait::epoll::{READ, READ_WRITE};
use crate::net::{quic, tls};
use bakeoff_engine::{Actions, ErrorClass, Session};
use std::os::fd::RawFd;

pub(super) const NO_FD: RawFd = -1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Down,
    Connecting,
    Handshaking,
    Up,
}

/// The connection of one virtual user.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) fd: RawFd,
    pub(super) link: Link,
    pub(super) remote: u8,
    pub(super) tls: Option<Box<tls::Session>>,
    pub(super) quic: Option<Box<quic::Session>>,
    /// Told apart from its predecessors on the same virtual user by epoll events that come late.
    pub(super) generation: u32,
    /// Tells a timer of no length apart from its predecessors.
    pub(super) timer: u32,
    pub(super) discard_bytes: u64,
    /// Bytes of the session's outgoing data already written; `None` when nothing is to be written.
    pub(super) written: Option<usize>,
    /// The session wants to know when all is written.
    pub(super) stamp_written: bool,
    /// Sent before: a second small write must not wait for an acknowledgement.
    pub(super) no_delay: bool,
    pub(super) sent_once: bool,
    pub(super) low_water: u64,
    /// Something came since the session sent last.
    pub(super) answered: bool,
    /// The server has ended its side, as the last readiness said.
    pub(super) ending: bool,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            fd: NO_FD,
            link: Link::Down,
            remote: 0,
            tls: None,
            quic: None,
            generation: 0,
            timer: 0,
            discard_bytes: 0,
            written: None,
            stamp_written: false,
            no_delay: false,
            sent_once: false,
            low_water: 1,
            answered: false,
            ending: false,
        }
    }
}

impl<S: Session> EventLoop<'_, S> {
    pub(super) fn close(&mut self, vu: usize) {
        let connection = &mut self.connections[vu];
        if connection.fd != NO_FD {
            if let Some(mut quic) = connection.quic.take() {
                quic.end(connection.fd);
                self.timers.clear(self.driver.len() + vu);
            }
            socket::close(connection.fd, self.remotes[usize::from(connection.remote)].close_with_reset);
            connection.fd = NO_FD;
        }
        connection.link = Link::Down;
        connection.tls = None;
        connection.discard_bytes = 0;
        connection.written = None;
        connection.no_delay = false;
        connection.sent_once = false;
        connection.stamp_written = false;
        connection.low_water = 1;
        connection.answered = false;
        connection.ending = false;
        connection.generation = connection.generation.wrapping_add(1);
    }

    pub(super) fn token(&self, vu: usize) -> u64 {
        u64::from(self.connections[vu].generation) << 32 | vu as u64
    }

    /// Opens a connection; `Ok(true)` when it is open already.
    ///
    /// On loopback the handshake is over when `connect` returns, though it says "in progress": sending at once
    /// saves a wait, and tells.
    pub(super) fn connect(&mut self, vu: usize, remote: u8, send: bool) -> Result<bool, ErrorClass> {
        self.close(vu);
        let target = &self.remotes[usize::from(remote)];
        let fd = target.connect()?;
        if target.receive_buffer_bytes.is_some() && self.figures.thread.connections.receive_buffer_bytes == 0 {
            self.figures.thread.connections.receive_buffer_bytes = socket::receive_buffer_bytes(fd);
        }
        if let Some(connector) = &target.quic {
            let session = connector.session();
            let connection = &mut self.connections[vu];
            (connection.fd, connection.remote, connection.link) = (fd, remote, Link::Connecting);
            connection.quic = Some(Box::new(session?));
            self.epoll.add(fd, READ, self.token(vu)).map_err(|_| ErrorClass::Other)?;
            return self.flush_quic(vu).map(|()| false);
        }
        let begins_with_tls = target.tls_on_connect;
        let connection = &mut self.connections[vu];
        connection.fd = fd;
        connection.remote = remote;
        connection.link = Link::Connecting;
        connection.no_delay = target.is_unix;
        connection.written = send.then_some(0);
        if begins_with_tls {
            let connector = target.tls.as_ref().ok_or(ErrorClass::Tls)?;
            connection.tls = Some(Box::new(connector.session()?));
            socket::set_no_delay(fd);
            connection.no_delay = true;
        }
        let early = match &mut connection.tls {
            Some(tls) => tls.flush(fd)?,
            None if send => self.send_early(vu)?,
            None => self.remotes[usize::from(remote)].is_connected(fd)?,
        };
        let interest = if early { READ } else { READ_WRITE };
        self.epoll.add(fd, interest, self.token(vu)).map_err(|_| ErrorClass::Other)?;
        if early {
            let connection = &mut self.connections[vu];
            connection.link = if connection.tls.is_some() { Link::Handshaking } else { Link::Up };
        }
        Ok(early)
    }

    /// Tries to send on a connection that may still be opening; `Ok(true)` when all was taken.
    fn send_early(&mut self, vu: usize) -> Result<bool, ErrorClass> {
        let connection = &mut self.connections[vu];
        let bytes = self.driver.session(vu).outgoing();
        match socket::send(connection.fd, bytes) {
            Moved::Bytes(count) if count == bytes.len() => {
                connection.written = None;
                connection.sent_once = true;
                Ok(true)
            }
            Moved::Bytes(count) => {
                connection.written = Some(count);
                Ok(false)
            }
            Moved::Blocked => Ok(false),
            Moved::Failed(errno) => Err(socket::class_of(errno)),
        }
    }

    /// Begins a TLS handshake on an open connection.
    pub(super) fn secure(&mut self, vu: usize) -> Result<bool, ErrorClass> {
        let connection = &mut self.connections[vu];
        let connector = self.remotes[usize::from(connection.remote)].tls.as_ref().ok_or(ErrorClass::Tls)?;
        let mut tls = Box::new(connector.session()?);
        // The end of a handshake is several small writes: held back, the first command after it would wait for them.
        if !std::mem::replace(&mut connection.no_delay, true) {
            socket::set_no_delay(connection.fd);
        }
        tls.flush(connection.fd)?;
        connection.tls = Some(tls);
        connection.link = Link::Handshaking;
        Ok(false)
    }

    /// A connection attempt has come to its end; `false` when there is nothing more to do now.
    pub(super) fn opened(&mut self, vu: usize, readiness: u32) -> bool {
        let ends = (libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP) as u32;
        if readiness & ends == 0 {
            return false;
        }
        let connection = &mut self.connections[vu];
        let errno = socket::pending_error(connection.fd);
        if errno != 0 {
            self.fail(vu, socket::class_of(errno));
            return false;
        }
        let generation = connection.generation;
        let tls_follows = connection.tls.is_some();
        connection.link = if tls_follows { Link::Handshaking } else { Link::Up };
        let mut actions = Actions::NONE;
        let next = self.driver.connected(vu, tls_follows, &mut actions);
        self.act(vu, next, actions);
        self.connections[vu].generation == generation
    }

    /// Writes what is left of the session's outgoing bytes.
    #[inline]
    pub(super) fn send(&mut self, vu: usize) -> Result<(), ErrorClass> {
        let connection = &mut self.connections[vu];
        if connection.link != Link::Up {
            return Ok(());
        }
        let Some(written) = connection.written else { return Ok(()) };
        if connection.sent_once && !connection.no_delay {
            socket::set_no_delay(connection.fd);
            connection.no_delay = true;
        }
        connection.sent_once = true;
        connection.answered = false;
        let bytes = self.driver.session(vu).outgoing();
        if let Some(tls) = &mut connection.tls {
            tls.write(&bytes[written..])?;
            connection.written = None;
            let flushed = tls.flush(connection.fd)?;
            if !flushed {
                return self.want_write(vu);
            }
            self.tell_written(vu);
            return Ok(());
        }
        let mut at = written;
        while at < bytes.len() {
            match socket::send(connection.fd, &bytes[at..]) {
                Moved::Bytes(count) => at += count,
                Moved::Blocked => {
                    connection.written = Some(at);
                    return self.want_write(vu);
                }
                Moved::Failed(errno) => return Err(socket::class_of(errno)),
            }
        }
        connection.written = None;
        self.tell_written(vu);
        Ok(())
    }

    /// The last byte is out: stamps it where that was asked for.
    #[inline]
    fn tell_written(&mut self, vu: usize) {
        if std::mem::take(&mut self.connections[vu].stamp_written) {
            self.driver.written(vu);
        }
    }

    /// A connection registered for reading only has to hear of writability from now on.
    #[cold]
    pub(super) fn want_write(&mut self, vu: usize) -> Result<(), ErrorClass> {
        let fd = self.connections[vu].fd;
        self.epoll.change(fd, READ_WRITE, self.token(vu)).map_err(|_| ErrorClass::Other)
    }

    /// The socket takes bytes again; `false` when the connection was lost over it.
    pub(super) fn writable(&mut self, vu: usize) -> bool {
        let connection = &mut self.connections[vu];
        let flushed = match &mut connection.tls {
            Some(tls) if tls.is_blocked() || tls.is_handshaking() => tls.flush(connection.fd),
            _ => Ok(false),
        };
        if matches!(flushed, Ok(true)) {
            self.tell_written(vu);
        }
        let result = flushed.and_then(|_| self.send(vu));
        if let Err(class) = result {
            self.fail(vu, class);
            return false;
        }
        true
    }
}
