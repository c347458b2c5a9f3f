//! Reading from connections that virtual users share.

use super::EventLoop;
use super::connection::Link;
use super::receive::{CLOSING, READS_AT_ONCE};
use crate::net::socket::{self, Moved};
use crate::net::tls;
use bakeoff_engine::{Actions, ErrorClass, Event, MuxEvent, Session, StreamEvent};

/// So often an empty socket is looked at again when a reply has begun: a server writes head and body one after the
/// other, and so many looks take less than to fall asleep and be woken for the rest.
const POLLS: u32 = 12;

impl<S: Session> EventLoop<'_, S> {
    /// Something happened on a shared connection.
    #[inline]
    pub(super) fn handle_shared(&mut self, place: usize, readiness: u32) {
        if self.connections[place].quic.is_some() {
            return self.quic_ready(place);
        }
        let generation = self.connections[place].generation;
        if self.connections[place].link == Link::Connecting && !self.shared_connects(place, readiness) {
            return;
        }
        if readiness & libc::EPOLLOUT as u32 != 0 {
            let connection = &mut self.connections[place];
            if let (Link::Handshaking, Some(tls)) = (connection.link, &mut connection.tls)
                && let Err(class) = tls.flush(connection.fd)
            {
                return self.fail_shared(place, class);
            }
            self.flush(place);
        }
        let arrivals = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        if readiness & arrivals != 0 && self.connections[place].generation == generation {
            self.receive_shared(place, readiness);
        }
    }

    fn receive_shared(&mut self, place: usize, readiness: u32) {
        let generation = self.connections[place].generation;
        // Taken out while what they hold is lent to the driver; TLS comes back unless all is over.
        let mut tls = self.connections[place].tls.take();
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = self.read_shared(place, generation, readiness, &mut tls, &mut buffer);
        self.buffer = buffer;
        if self.connections[place].generation != generation {
            return;
        }
        self.connections[place].tls = tls;
        match outcome {
            Err(class) => {
                self.tell_reason(place);
                return self.fail_shared(place, class);
            }
            Ok(true) => return self.shared_ended(place),
            Ok(false) => self.settle(place),
        }
        if self.connections[place].generation == generation {
            self.flush(place);
        }
    }

    /// Reads until the socket is empty; `Ok(true)` when the server has ended the connection.
    fn read_shared(
        &mut self,
        place: usize,
        generation: u32,
        readiness: u32,
        tls: &mut Option<Box<tls::Session>>,
        buffer: &mut [u8],
    ) -> Result<bool, ErrorClass> {
        let mut polls_left = POLLS;
        for _ in 0..READS_AT_ONCE {
            let fd = self.connections[place].fd;
            let count = match socket::receive(fd, buffer) {
                Moved::Bytes(0) => return Ok(true),
                Moved::Bytes(count) => count,
                Moved::Blocked if polls_left > 0 && self.traffic.shared[place].is_amid => {
                    polls_left -= 1;
                    continue;
                }
                Moved::Blocked => return Ok(false),
                Moved::Failed(errno) => return Err(socket::class_of_established(errno)),
            };
            let goes_on = match tls {
                None => self.hear(place, generation, &buffer[..count])?,
                Some(tls) => match self.decipher(place, generation, tls, &buffer[..count])? {
                    Some(goes_on) => goes_on,
                    None => return Ok(true),
                },
            };
            // A short read has emptied the socket; but while more replies are under way, another look costs less than
            // what is written for each of them alone.
            let is_empty = count < buffer.len() && readiness & CLOSING == 0;
            if !goes_on || (is_empty && !self.traffic.shared[place].awaits_more()) {
                return Ok(false);
            }
        }
        self.want_write(place)?; // there is more to read, for which there will be no other wake-up
        Ok(false)
    }

    /// Takes cipher text and hears what it says; `None` when the server has ended the stream.
    fn decipher(
        &mut self,
        place: usize,
        generation: u32,
        tls: &mut Box<tls::Session>,
        mut cipher: &[u8],
    ) -> Result<Option<bool>, ErrorClass> {
        while !cipher.is_empty() {
            let has_ended = tls.take(&mut cipher)?;
            if self.connections[place].link == Link::Handshaking {
                if tls.is_handshaking() {
                    tls.flush(self.connections[place].fd)?;
                } else {
                    self.count_handshake(tls);
                    tls.check_application()?;
                    // The last record of the handshake leaves together with the first request.
                    self.shared_secured(place);
                }
            }
            loop {
                let clear = tls.clear_text();
                let length = clear.len();
                if length == 0 {
                    break;
                }
                if !self.hear(place, generation, clear)? {
                    return Ok(Some(false));
                }
                tls.consume(length);
            }
            if has_ended {
                return Ok(None);
            }
        }
        Ok(Some(true))
    }

    /// Hands what the mux finds to the sessions; `false` when the connection is gone.
    #[inline]
    pub(super) fn hear(&mut self, place: usize, generation: u32, mut bytes: &[u8]) -> Result<bool, ErrorClass> {
        self.connections[place].answered = true;
        loop {
            let shared = &mut self.traffic.shared[place];
            let Some(mux) = &mut shared.mux else { return Ok(false) };
            let Some(event) = mux.next(&mut bytes, &mut shared.out)? else { return Ok(true) };
            let mut actions = Actions::NONE;
            let (vu, next) = match event {
                MuxEvent::Stream(vu, event) => {
                    let is_over =
                        matches!(event, StreamEvent::End { .. } | StreamEvent::Reset | StreamEvent::Malformed);
                    shared.is_amid = !is_over;
                    if is_over {
                        self.traffic.of_vus[vu] = None;
                    }
                    (vu, self.driver.event(vu, Event::Stream(event), &mut actions))
                }
                MuxEvent::Unheard(vu) => {
                    self.traffic.of_vus[vu] = None;
                    (vu, self.driver.put_back(vu, &mut actions))
                }
            };
            self.act(vu, next, actions);
            if self.connections[place].generation != generation {
                return Ok(false);
            }
        }
    }
}
