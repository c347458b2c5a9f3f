//! Reading from connections that speak TLS.

use super::EventLoop;
use super::connection::Link;
use super::receive::{CLOSING, READS_AT_ONCE};
use crate::net::socket::{self, Moved};
use crate::net::tls;
use bakeoff_engine::{Actions, ErrorClass, Event, Next, Session};

impl<S: Session> EventLoop<'_, S> {
    /// Reads cipher text until the socket is empty and hands on what it says.
    pub(super) fn receive_tls(&mut self, vu: usize, readiness: u32) {
        let generation = self.connections[vu].generation;
        // The session is taken out while its clear text is lent to the driver; it comes back unless all is over.
        let Some(mut tls) = self.connections[vu].tls.take() else { return };
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = self.read_tls(vu, generation, readiness, &mut tls, &mut buffer);
        self.buffer = buffer;
        if self.connections[vu].generation == generation {
            self.connections[vu].tls = Some(tls);
            match outcome {
                Err(class) => {
                    self.tell_reason(vu);
                    self.broke(vu, class);
                }
                Ok(true) => {
                    let mut actions = Actions::NONE;
                    let next = self.ended(vu, &mut actions);
                    self.act(vu, next, actions);
                }
                Ok(false) => {}
            }
        }
    }

    /// The first reason for which TLS failed goes to the log; the others are counted only.
    #[cold]
    pub(super) fn tell_reason(&mut self, vu: usize) {
        let connection = &self.connections[vu];
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
        vu: usize,
        generation: u32,
        readiness: u32,
        tls: &mut Box<tls::Session>,
        buffer: &mut [u8],
    ) -> Result<bool, ErrorClass> {
        for _ in 0..READS_AT_ONCE {
            let fd = self.connections[vu].fd;
            let count = match socket::receive(fd, buffer) {
                Moved::Bytes(0) => return Ok(true),
                Moved::Bytes(count) => count,
                Moved::Blocked => return Ok(false),
                Moved::Failed(errno) => return Err(socket::class_of_established(errno)),
            };
            let mut cipher = &buffer[..count];
            while !cipher.is_empty() {
                let ended = tls.take(&mut cipher)?;
                if self.connections[vu].link == Link::Handshaking {
                    // The client's last handshake record leaves together with the first request, unless it is to go
                    // ahead.
                    if tls.apart && !tls.is_handshaking() {
                        tls.flush(fd)?;
                    }
                    let goes_on = tls.is_handshaking() || self.secured(vu, generation, tls)?;
                    if !goes_on {
                        return Ok(false);
                    }
                    tls.flush(fd)?;
                }
                if !self.hand_on(vu, generation, tls)? {
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
        self.want_write(vu)?; // there is more to read, for which there will be no other wake-up
        Ok(false)
    }

    pub(super) fn count_handshake(&mut self, tls: &tls::Session) {
        match tls.resumed() {
            Some(true) => self.figures.thread.connections.tls_resumed += 1,
            _ => self.figures.thread.connections.tls_full += 1,
        }
    }

    /// The handshake is done; `false` when the session gave the connection up over it.
    fn secured(&mut self, vu: usize, generation: u32, tls: &mut Box<tls::Session>) -> Result<bool, ErrorClass> {
        self.count_handshake(tls);
        self.connections[vu].link = Link::Up;
        let mut actions = Actions::NONE;
        let next = self.driver.secured(vu, &mut actions);
        self.act_tls(vu, generation, tls, next, actions)
    }

    /// Gives the clear text to the session; `false` when it gave the connection up.
    fn hand_on(&mut self, vu: usize, generation: u32, tls: &mut Box<tls::Session>) -> Result<bool, ErrorClass> {
        loop {
            let clear = tls.clear_text();
            if clear.is_empty() {
                return Ok(true);
            }
            let mut actions = Actions::NONE;
            let drop_bytes = self.connections[vu].discard_bytes.min(clear.len() as u64);
            let (next, used) = if drop_bytes > 0 {
                (self.driver.event(vu, Event::Discarded(drop_bytes), &mut actions), drop_bytes as usize)
            } else {
                (self.driver.event(vu, Event::Received(clear), &mut actions), clear.len())
            };
            tls.consume(used);
            self.connections[vu].answered = true;
            self.connections[vu].discard_bytes = actions.discard_bytes;
            if !self.act_tls(vu, generation, tls, next, actions)? {
                return Ok(false);
            }
        }
    }

    /// As [`Self::act`], while the TLS session is out of its connection.
    fn act_tls(
        &mut self,
        vu: usize,
        generation: u32,
        tls: &mut Box<tls::Session>,
        next: Next,
        mut actions: Actions,
    ) -> Result<bool, ErrorClass> {
        let sends = actions.send || next == Next::Pending && self.connections[vu].written.is_some();
        let here = actions.connect.is_none() && !actions.close;
        if here && sends {
            actions.send = false;
            self.connections[vu].written = None;
            self.connections[vu].answered = false;
            tls.write(self.driver.session(vu).outgoing())?;
            if !tls.flush(self.connections[vu].fd)? {
                self.want_write(vu)?;
            }
        }
        self.act(vu, next, actions);
        Ok(self.connections[vu].generation == generation)
    }
}
