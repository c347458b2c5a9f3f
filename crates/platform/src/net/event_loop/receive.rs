//! Reading from plain connections.

use super::{EventLoop, READ_BYTES};
use crate::net::socket::{self, Moved};
use bakeoff_engine::{Actions, ErrorClass, Event, Next, Session};

/// Most bytes dropped by one call.
const DISCARD_BYTES_MAX: u64 = 1 << 30;
/// While more than this is still to be dropped, wake-ups wait for as much, so that a large body costs few of them.
const LOW_WATER_BYTES: u64 = 128 * 1024;
/// So often a connection is read for one wake-up: then the clock is looked at, and the others have their turn.
pub(super) const READS_AT_ONCE: u32 = 256;
/// Readiness after which the end of the stream, or an error, is still to be read.
pub(super) const CLOSING: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
/// Readiness that can hide a reset, which only a read tells.
const BROKEN: u32 = (libc::EPOLLHUP | libc::EPOLLERR) as u32;

impl<S: Session> EventLoop<'_, S> {
    /// Reads until the socket is empty.
    #[inline]
    pub(super) fn receive(&mut self, vu: usize, readiness: u32) {
        let generation = self.connections[vu].generation;
        for _ in 0..READS_AT_ONCE {
            let connection = &mut self.connections[vu];
            let remote = &self.remotes[usize::from(connection.remote)];
            let drops = connection.discard_bytes > 0 && !remote.is_unix;
            let (moved, asked) = if drops {
                let limit = remote.receive_buffer_bytes.map_or(DISCARD_BYTES_MAX, |bytes| bytes as u64);
                let length = connection.discard_bytes.min(limit) as usize;
                (socket::discard(connection.fd, length), length)
            } else {
                let length = remote.receive_buffer_bytes.unwrap_or(READ_BYTES).min(self.buffer.len());
                (socket::receive(connection.fd, &mut self.buffer[..length]), length)
            };
            let mut actions = Actions::NONE;
            let next = match moved {
                Moved::Bytes(0) => self.ended(vu, &mut actions),
                Moved::Bytes(count) if drops => self.driver.event(vu, Event::Discarded(count as u64), &mut actions),
                Moved::Bytes(count) => self.driver.event(vu, Event::Received(&self.buffer[..count]), &mut actions),
                Moved::Blocked => return,
                Moved::Failed(errno) => return self.broke(vu, socket::class_of_established(errno)),
            };
            let connection = &mut self.connections[vu];
            connection.discard_bytes = actions.discard_bytes;
            connection.answered = true;
            if drops && self.remotes[usize::from(self.connections[vu].remote)].receive_buffer_bytes.is_none() {
                self.set_low_water(vu);
            }
            self.act(vu, next, actions);
            let connection = &self.connections[vu];
            if connection.generation != generation || moved == Moved::Bytes(0) || connection.tls.is_some() {
                // What follows a switch to TLS is cipher text, and not for here.
                return;
            }
            if let Moved::Bytes(count) = moved
                && count < asked
            {
                // A short read has emptied the socket; only a close that was announced with it is left to tell.
                if readiness & CLOSING == 0 {
                    return;
                }
                if readiness & BROKEN == 0 && !self.remotes[usize::from(connection.remote)].is_unix {
                    // The FIN had come before the read: another one would return 0, for the price of a system call.
                    let mut actions = Actions::NONE;
                    let next = self.ended(vu, &mut actions);
                    return self.act(vu, next, actions);
                }
            }
        }
        self.read_on(vu);
    }

    /// There is more to read, for which there will be no other wake-up.
    pub(super) fn read_on(&mut self, vu: usize) {
        if let Err(class) = self.want_write(vu) {
            self.fail(vu, class);
        }
    }

    /// The connection broke. A request on a kept one that nothing came for may be asked again (RFC 9112, 9.3.1).
    pub(super) fn broke(&mut self, vu: usize, class: ErrorClass) {
        let mut actions = Actions::NONE;
        if !self.connections[vu].answered
            && let Some(next) = self.driver.unheard(vu, &mut actions)
        {
            return self.act(vu, next, actions);
        }
        self.fail(vu, class);
    }

    /// The server has ended its side. A request on a kept connection that nothing came for may be asked again.
    pub(super) fn ended(&mut self, vu: usize, actions: &mut Actions) -> Next {
        if !self.connections[vu].answered
            && let Some(next) = self.driver.unheard(vu, actions)
        {
            return next;
        }
        self.driver.event(vu, Event::Closed, actions)
    }

    /// Asks for wake-ups in proportion to what is still to be dropped.
    fn set_low_water(&mut self, vu: usize) {
        let connection = &mut self.connections[vu];
        let wanted = connection.discard_bytes.clamp(1, LOW_WATER_BYTES);
        // A body's last part lowers the mark once; in between it stays.
        let wanted = if wanted >= LOW_WATER_BYTES { LOW_WATER_BYTES } else { 1 };
        if wanted != connection.low_water {
            connection.low_water = wanted;
            socket::set_low_water(connection.fd, wanted as usize);
        }
    }
}
