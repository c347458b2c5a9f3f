//! Reading from connections that speak TLS.

use super::EventLoop;
use super::connection::Link;
use super::receive::{CLOSING, READS_AT_ONCE};
use crate::net::socket::{self, Moved};
use crate::net::tls;
use bakeoff_engine::{Actions, ErrorClass, Event, Next, Session};

impl<S: Session> EventLoop<'_, S> {
    /// Reads cipher text until the socket is empty and hands on what it says.
    pub(super) fn receive_tls(&mut self, lane: usize, readiness: u32) {
        let generation = self.connections[lane].generation;
        // The session is taken out while its clear text is lent to the driver; it comes back unless all is over.
        let Some(mut tls) = self.connections[lane].tls.take() else { return };
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = self.read_tls(lane, generation, readiness, &mut tls, &mut buffer);
        self.buffer = buffer;
        if self.connections[lane].generation == generation {
            self.connections[lane].tls = Some(tls);
            match outcome {
                Err(class) => {
                    self.tell_reason(lane);
                    self.broke(lane, class);
                }
                Ok(true) => {
                    let mut actions = Actions::NONE;
                    let next = self.ended(lane, &mut actions);
                    self.act(lane, next, actions);
                }
                Ok(false) => {}
            }
        }
    }

    /// The first reason for which TLS failed goes to the log; the others are counted only.
    #[cold]
    pub(super) fn tell_reason(&mut self, lane: usize) {
        let connection = &self.connections[lane];
        let of_quic = connection.quic.as_ref().and_then(|quic| quic.reason());
        let reason = of_quic.or_else(|| connection.tls.as_ref().and_then(|tls| tls.reason()));
        if let Some(reason) = reason
            && !std::mem::replace(&mut self.reason_told, true)
        {
            self.live.tell("warning", &format!("TLS: {reason}"));
        }
    }

    /// `Ok(true)` when the server has ended the stream.
    fn read_tls(
        &mut self,
        lane: usize,
        generation: u32,
        readiness: u32,
        tls: &mut Box<tls::Session>,
        buffer: &mut [u8],
    ) -> Result<bool, ErrorClass> {
        for _ in 0..READS_AT_ONCE {
            let fd = self.connections[lane].fd;
            let count = match socket::receive(fd, buffer) {
                Moved::Bytes(0) => return Ok(true),
                Moved::Bytes(count) => count,
                Moved::Blocked => return Ok(false),
                Moved::Failed(errno) => return Err(socket::class_of_established(errno)),
            };
            let mut cipher = &buffer[..count];
            while !cipher.is_empty() {
                let ended = tls.take(&mut cipher)?;
                if self.connections[lane].link == Link::Handshaking {
                    // The client's last handshake record leaves together with the first request, unless it is to go ahead.
                    if tls.apart && !tls.is_handshaking() {
                        tls.flush(fd)?;
                    }
                    let goes_on = tls.is_handshaking() || self.secured(lane, generation, tls)?;
                    if !goes_on {
                        return Ok(false);
                    }
                    tls.flush(fd)?;
                }
                if !self.hand_on(lane, generation, tls)? {
                    return Ok(false);
                }
                if ended {
                    return Ok(true);
                }
            }
            if count < buffer.len() && readiness & CLOSING == 0 {
                return Ok(false);
            }
        }
        self.want_write(lane)?; // there is more to read, for which there will be no other wake-up
        Ok(false)
    }

    pub(super) fn count_handshake(&mut self, tls: &tls::Session) {
        match tls.resumed() {
            Some(true) => self.figures.thread.connections.tls_resumed += 1,
            _ => self.figures.thread.connections.tls_full += 1,
        }
    }

    /// The handshake is done; `false` when the session gave the connection up over it.
    fn secured(&mut self, lane: usize, generation: u32, tls: &mut Box<tls::Session>) -> Result<bool, ErrorClass> {
        self.count_handshake(tls);
        self.connections[lane].link = Link::Up;
        let mut actions = Actions::NONE;
        let next = self.driver.secured(lane, &mut actions);
        self.act_tls(lane, generation, tls, next, actions)
    }

    /// Gives the clear text to the session; `false` when it gave the connection up.
    fn hand_on(&mut self, lane: usize, generation: u32, tls: &mut Box<tls::Session>) -> Result<bool, ErrorClass> {
        loop {
            let clear = tls.clear_text();
            if clear.is_empty() {
                return Ok(true);
            }
            let mut actions = Actions::NONE;
            let drop_bytes = self.connections[lane].discard_bytes.min(clear.len() as u64);
            let (next, used) = if drop_bytes > 0 {
                (self.driver.event(lane, Event::Discarded(drop_bytes), &mut actions), drop_bytes as usize)
            } else {
                (self.driver.event(lane, Event::Received(clear), &mut actions), clear.len())
            };
            tls.consume(used);
            self.connections[lane].answered = true;
            self.connections[lane].discard_bytes = actions.discard_bytes;
            if !self.act_tls(lane, generation, tls, next, actions)? {
                return Ok(false);
            }
        }
    }

    /// As [`Self::act`], while the TLS session is out of its connection.
    fn act_tls(
        &mut self,
        lane: usize,
        generation: u32,
        tls: &mut Box<tls::Session>,
        next: Next,
        mut actions: Actions,
    ) -> Result<bool, ErrorClass> {
        let sends = actions.send || next == Next::Pending && self.connections[lane].written.is_some();
        let here = actions.connect.is_none() && !actions.close;
        if here && sends {
            actions.send = false;
            self.connections[lane].written = None;
            self.connections[lane].answered = false;
            tls.write(self.driver.session(lane).outgoing())?;
            if !tls.flush(self.connections[lane].fd)? {
                self.want_write(lane)?;
            }
        }
        self.act(lane, next, actions);
        Ok(self.connections[lane].generation == generation)
    }
}
