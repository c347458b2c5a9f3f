//! Shared connections that are those of QUIC: datagrams, the protocol's own timer, and its streams as records.

use super::EventLoop;
use super::connection::Link;
use super::receive::READS_AT_ONCE;
use crate::net::quic::{QuicEvent, nanos_until};
use crate::net::socket::{self, Moved};
use bakeoff_engine::{ErrorClass, Session};
use std::time::Instant;

/// So many datagrams are read before their replies are stamped.
const DATAGRAMS_AT_ONCE: usize = 16;

impl<S: Session> EventLoop<'_, S> {
    /// Something happened on the socket.
    pub(super) fn quic_ready(&mut self, place: usize) {
        let generation = self.connections[place].generation;
        for _ in 0..READS_AT_ONCE {
            let is_empty = match self.read_datagrams(place) {
                Ok(is_empty) => is_empty,
                Err(class) => return self.fail_shared(place, class),
            };
            self.quic_turn(place);
            if is_empty || self.connections[place].generation != generation {
                return;
            }
        }
        if let Err(class) = self.want_write(place) {
            self.fail_shared(place, class);
        }
    }

    /// Reads some datagrams; `Ok(true)` when there are no more.
    fn read_datagrams(&mut self, place: usize) -> Result<bool, ErrorClass> {
        let connection = &mut self.connections[place];
        let Some(quic) = &mut connection.quic else { return Ok(true) };
        let now = Instant::now();
        for _ in 0..DATAGRAMS_AT_ONCE {
            match socket::receive(connection.fd, &mut self.buffer) {
                Moved::Bytes(count) => quic.take(now, &self.buffer[..count]),
                Moved::Blocked => return Ok(true),
                Moved::Failed(errno) => return Err(quic.refused(errno)),
            }
        }
        Ok(false)
    }

    /// The protocol's timer has run out.
    pub(super) fn quic_due(&mut self, place: usize) {
        if let Some(quic) = &mut self.connections[place].quic {
            quic.time_out(Instant::now());
            self.quic_turn(place);
        }
    }

    /// Hands on what has happened, and sends what that brings.
    fn quic_turn(&mut self, place: usize) {
        let generation = self.connections[place].generation;
        let Some(quic) = &mut self.connections[place].quic else { return };
        let mut inbox = std::mem::take(&mut self.inbox);
        inbox.clear();
        let news = quic.read_news(&mut inbox);
        // Replies that came before the end count; streams that may be used are known before the first request.
        let heard = if inbox.is_empty() { Ok(true) } else { self.hear(place, generation, &inbox) };
        self.inbox = inbox;
        if self.connections[place].generation != generation {
            return;
        }
        match heard.and(news) {
            Err(class) => {
                self.tell_reason(place);
                return self.fail_shared(place, class);
            }
            Ok(QuicEvent::Ended) => return self.shared_ended(place),
            Ok(QuicEvent::Up) => {
                self.connections[place].link = Link::Up;
                self.shared_opened(place);
            }
            Ok(QuicEvent::None) => {}
        }
        if self.connections[place].generation == generation {
            self.settle(place);
        }
        if self.connections[place].generation == generation {
            self.flush(place);
        }
    }

    /// Writes what the mux has for the streams, and sends.
    pub(super) fn flush_streams(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        if let Some(quic) = connection.quic.as_mut().filter(|_| connection.link == Link::Up) {
            connection.answered = false;
            self.traffic.shared[place].hand_over(|records| quic.write(records));
        }
        if let Err(class) = self.flush_quic(place) {
            self.fail_shared(place, class);
        }
    }

    /// Sends what a connection has to say, and sets its timer.
    pub(super) fn flush_quic(&mut self, place: usize) -> Result<(), ErrorClass> {
        let connection = &mut self.connections[place];
        let Some(quic) = &mut connection.quic else { return Ok(()) };
        let now = Instant::now();
        let is_done = quic.flush(now, connection.fd)?;
        let due = quic.due();
        let timer = self.driver.len() + place;
        match due {
            Some(due) => self.timers.set(self.driver.now_ns().saturating_add(nanos_until(now, due)), timer),
            None => self.timers.clear(timer),
        }
        if is_done { Ok(()) } else { self.want_write(place) }
    }
}
