//! One load-generating thread: an epoll loop that carries out what its sessions ask for.

use super::cpu_meter::CpuMeter;
use super::epoll::{Epoll, READ, READ_WRITE, TICK};
use super::remote::Remote;
use super::socket::{self, Moved};
use super::timers::{Due, Timers};
use super::tls;
use crate::clock::MonotonicClock;
use bakeoff_engine::{
    Actions, Driver, ErrorClass, Event, Live, Nanos, Next, Recorder, Session, ThreadFigures, Timeline,
};
use std::io;
use std::os::fd::RawFd;

/// Read size when the plan does not set one. Small replies fit; the rest of large ones is dropped in the kernel.
const READ_BYTES: usize = 16 * 1024;
/// Most bytes dropped by one call.
const DISCARD_BYTES_MAX: u64 = 1 << 30;
/// Longest wait, so that a cancel is seen and live figures stay fresh, ns.
const TICK_NS: Nanos = 50_000_000;
/// Rounds of operations without I/O between two looks at the sockets.
const READY_ROUNDS: usize = 64;
/// While more than this is still to be dropped, wake-ups wait for as much, so that a large body costs few of them.
const LOW_WATER_BYTES: u64 = 128 * 1024;
/// Readiness after which the end of the stream, or an error, is still to be read.
const CLOSING: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
/// Readiness that can hide a reset, which only a read tells.
const BROKEN: u32 = (libc::EPOLLHUP | libc::EPOLLERR) as u32;
const NO_FD: RawFd = -1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Down,
    Connecting,
    Handshaking,
    Up,
}

/// The connection of one lane.
#[derive(Debug)]
struct Connection {
    fd: RawFd,
    link: Link,
    remote: u8,
    tls: Option<Box<tls::Session>>,
    /// Told apart from its predecessors on the same lane by epoll events that come late.
    generation: u32,
    /// Tells a timer of no length apart from its predecessors.
    timer: u32,
    discard_bytes: u64,
    /// Bytes of the session's outgoing data already written; `None` when nothing is to be written.
    written: Option<usize>,
    /// Sent before: a second small write must not wait for an acknowledgement.
    no_delay: bool,
    sent_once: bool,
    low_water: u64,
}

impl Connection {
    fn new() -> Self {
        Self {
            fd: NO_FD,
            link: Link::Down,
            remote: 0,
            tls: None,
            generation: 0,
            timer: 0,
            discard_bytes: 0,
            written: None,
            no_delay: false,
            sent_once: false,
            low_water: 1,
        }
    }
}

/// Figures of the transport beside the recorder's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LoopFigures {
    pub thread: ThreadFigures,
    pub tls_full: u64,
    pub tls_resumed: u64,
}

/// A thread's loop with all it owns.
pub(crate) struct EventLoop<'a, S: Session> {
    driver: Driver<S, MonotonicClock>,
    live: &'a Live,
    remotes: Vec<Remote>,
    connections: Vec<Connection>,
    epoll: Epoll,
    timers: Timers,
    ready: Vec<(usize, u32)>,
    buffer: Vec<u8>,
    timeline: Timeline,
    /// The last moment: operations that run at the timeline's end may linger until then.
    over_ns: Nanos,
    figures: LoopFigures,
    reason_told: bool,
}

impl<'a, S: Session> EventLoop<'a, S> {
    pub fn new(
        driver: Driver<S, MonotonicClock>,
        live: &'a Live,
        remotes: Vec<Remote>,
        timeline: Timeline,
    ) -> io::Result<Self> {
        let read_bytes = remotes.iter().filter_map(|remote| remote.receive_buffer_bytes).max().unwrap_or(READ_BYTES);
        Ok(Self {
            connections: (0..driver.len()).map(|_| Connection::new()).collect(),
            timers: Timers::new(driver.len()),
            driver,
            live,
            remotes,
            epoll: Epoll::new(TICK_NS)?,
            ready: Vec::new(),
            buffer: vec![0; read_bytes],
            timeline,
            over_ns: timeline.end_ns,
            figures: LoopFigures::default(),
            reason_told: false,
        })
    }

    /// Lets operations that run at the end go on for so long.
    pub fn lingering(mut self, linger_ns: Nanos) -> Self {
        self.over_ns = self.timeline.end_ns.saturating_add(linger_ns);
        self
    }

    /// Runs until the trial's end, its bound, or a cancel. `starts` are the lanes' first moments.
    pub fn run(mut self, starts: Vec<(usize, Nanos)>, bounded: bool) -> (Recorder, Vec<(u32, S)>, LoopFigures) {
        for (lane, at_ns) in starts {
            self.timers.begin(at_ns, lane);
        }
        let mut meter = CpuMeter::new(self.timeline);
        let mut last_scan_ns = 0;
        let now_ns = loop {
            let now_ns = self.driver.now_ns();
            meter.look(now_ns);
            if self.is_over(now_ns, bounded) {
                break now_ns;
            }
            if now_ns.saturating_sub(last_scan_ns) >= TICK_NS {
                last_scan_ns = now_ns;
                self.driver.publish(now_ns);
                self.time_out(now_ns);
            }
            self.turn(now_ns);
        };
        self.figures.thread = meter.finish(now_ns, bounded);
        let (unfinished, oldest) = self.driver.unfinished(now_ns);
        self.figures.thread.unfinished = unfinished;
        self.figures.thread.oldest_unfinished_ns = oldest;
        if !self.live.is_cancelled() {
            self.driver.count_hung(now_ns);
        }
        self.driver.publish(now_ns);
        for lane in 0..self.connections.len() {
            self.close(lane);
        }
        let (recorder, sessions) = self.driver.into_parts();
        (recorder, sessions, self.figures)
    }

    /// A trial by time lives to its end even when no lane has anything left to do: its window is the plan's.
    fn is_over(&self, now_ns: Nanos, bounded: bool) -> bool {
        let finished = (bounded || now_ns >= self.timeline.end_ns) && self.driver.is_finished();
        finished || now_ns >= self.over_ns || self.live.is_cancelled()
    }

    /// One turn: wait, then sockets, timers, and operations without I/O.
    fn turn(&mut self, now_ns: Nanos) {
        let timeout_ns = if self.ready.is_empty() {
            let limit_ns = self.over_ns.min(now_ns + TICK_NS);
            let next_ns = self.timers.next_before(limit_ns).unwrap_or(limit_ns);
            Some(next_ns.saturating_sub(now_ns)).filter(|left_ns| *left_ns < TICK_NS)
        } else {
            Some(0)
        };
        let count = self.epoll.wait(timeout_ns);
        let batch_ns = self.driver.now_ns();
        self.driver.batch(batch_ns);
        for index in 0..count {
            let (token, readiness) = self.epoll.event(index);
            if token == TICK {
                self.epoll.ticked();
            } else {
                self.handle(token, readiness);
            }
        }
        while let Some((at_ns, lane, due)) = self.timers.pop_due(batch_ns) {
            self.fire(at_ns, lane, due);
        }
        for _ in 0..READY_ROUNDS {
            if self.ready.is_empty() {
                break;
            }
            let mut round = std::mem::take(&mut self.ready);
            for &(lane, timer) in &round {
                if timer == self.connections[lane].timer {
                    self.fire(batch_ns, lane, Due::Timer);
                }
            }
            if self.ready.is_empty() {
                round.clear();
                self.ready = round;
            }
        }
    }

    fn fire(&mut self, at_ns: Nanos, lane: usize, due: Due) {
        let mut actions = Actions::NONE;
        let next = match due {
            Due::Begin => self.driver.begin(lane, at_ns, &mut actions),
            Due::Timer => self.driver.event(lane, Event::Timer, &mut actions),
        };
        self.act(lane, next, actions);
    }

    fn time_out(&mut self, now_ns: Nanos) {
        let mut from = 0;
        while let Some((lane, class)) = self.driver.overdue(from, now_ns) {
            self.fail(lane, class);
            from = lane + 1;
        }
    }

    fn fail(&mut self, lane: usize, class: ErrorClass) {
        self.close(lane);
        let mut actions = Actions::NONE;
        let next = self.driver.failure(lane, class, &mut actions);
        self.act(lane, next, actions);
    }

    /// Carries out what a session asked for, as far as the sockets allow.
    #[inline]
    fn act(&mut self, lane: usize, mut next: Next, mut actions: Actions) {
        loop {
            if actions.close {
                self.close(lane);
            }
            if next != Next::Pending {
                self.clear_timer(lane);
            }
            match next {
                Next::Wait(until_ns) => return self.timers.begin(until_ns, lane),
                Next::Stopped => return,
                Next::Pending | Next::Begun => {}
            }
            if let Some(timer_ns) = actions.timer_ns {
                self.set_timer(lane, timer_ns);
            }
            let result = if let Some(remote) = actions.connect {
                self.connect(lane, remote, actions.send)
            } else if actions.secure {
                self.secure(lane)
            } else if actions.send {
                self.connections[lane].written = Some(0);
                self.send(lane).map(|()| false)
            } else {
                return;
            };
            match result {
                Ok(false) => return,
                Ok(true) => {
                    let tls_follows = self.connections[lane].link == Link::Handshaking;
                    actions.clear();
                    next = self.driver.connected(lane, tls_follows, &mut actions);
                }
                Err(class) => {
                    self.close(lane);
                    actions.clear();
                    next = self.driver.failure(lane, class, &mut actions);
                }
            }
        }
    }

    fn set_timer(&mut self, lane: usize, timer_ns: Nanos) {
        self.clear_timer(lane);
        if timer_ns == 0 {
            self.ready.push((lane, self.connections[lane].timer));
        } else {
            self.timers.set(self.driver.now_ns() + timer_ns, lane);
        }
    }

    #[inline]
    fn clear_timer(&mut self, lane: usize) {
        self.connections[lane].timer = self.connections[lane].timer.wrapping_add(1);
        self.timers.clear(lane);
    }

    fn close(&mut self, lane: usize) {
        let connection = &mut self.connections[lane];
        if connection.fd != NO_FD {
            socket::close(connection.fd, self.remotes[usize::from(connection.remote)].close_with_reset);
            connection.fd = NO_FD;
        }
        connection.link = Link::Down;
        connection.tls = None;
        connection.discard_bytes = 0;
        connection.written = None;
        connection.no_delay = false;
        connection.sent_once = false;
        connection.low_water = 1;
        connection.generation = connection.generation.wrapping_add(1);
    }

    fn token(&self, lane: usize) -> u64 {
        u64::from(self.connections[lane].generation) << 32 | lane as u64
    }

    /// Opens a connection; `Ok(true)` when it is open already.
    ///
    /// On loopback the handshake is over when `connect` returns, though it says "in progress": sending at once
    /// saves a wait, and tells.
    fn connect(&mut self, lane: usize, remote: u8, send: bool) -> Result<bool, ErrorClass> {
        self.close(lane);
        let target = &self.remotes[usize::from(remote)];
        let fd = socket::connect(target)?;
        let begins_with_tls = target.tls_on_connect;
        let connection = &mut self.connections[lane];
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
            None if send => self.send_early(lane)?,
            None => socket::is_connected(fd, &self.remotes[usize::from(remote)])?,
        };
        let interest = if early { READ } else { READ_WRITE };
        self.epoll.add(fd, interest, self.token(lane)).map_err(|_| ErrorClass::Other)?;
        if early {
            let connection = &mut self.connections[lane];
            connection.link = if connection.tls.is_some() { Link::Handshaking } else { Link::Up };
        }
        Ok(early)
    }

    /// Tries to send on a connection that may still be opening; `Ok(true)` when all was taken.
    fn send_early(&mut self, lane: usize) -> Result<bool, ErrorClass> {
        let connection = &mut self.connections[lane];
        let bytes = self.driver.session(lane).outgoing();
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
    fn secure(&mut self, lane: usize) -> Result<bool, ErrorClass> {
        let connection = &mut self.connections[lane];
        let connector = self.remotes[usize::from(connection.remote)].tls.as_ref().ok_or(ErrorClass::Tls)?;
        let mut tls = Box::new(connector.session()?);
        tls.flush(connection.fd)?;
        connection.tls = Some(tls);
        connection.link = Link::Handshaking;
        Ok(false)
    }

    /// Writes what is left of the session's outgoing bytes.
    #[inline]
    fn send(&mut self, lane: usize) -> Result<(), ErrorClass> {
        let connection = &mut self.connections[lane];
        if connection.link != Link::Up {
            return Ok(());
        }
        let Some(written) = connection.written else { return Ok(()) };
        if connection.sent_once && !connection.no_delay {
            socket::set_no_delay(connection.fd);
            connection.no_delay = true;
        }
        connection.sent_once = true;
        let bytes = self.driver.session(lane).outgoing();
        if let Some(tls) = &mut connection.tls {
            tls.write(&bytes[written..])?;
            connection.written = None;
            let flushed = tls.flush(connection.fd)?;
            return if flushed { Ok(()) } else { self.want_write(lane) };
        }
        let mut at = written;
        while at < bytes.len() {
            match socket::send(connection.fd, &bytes[at..]) {
                Moved::Bytes(count) => at += count,
                Moved::Blocked => {
                    connection.written = Some(at);
                    return self.want_write(lane);
                }
                Moved::Failed(errno) => return Err(socket::class_of(errno)),
            }
        }
        connection.written = None;
        Ok(())
    }

    /// A connection registered for reading only has to hear of writability from now on.
    #[cold]
    fn want_write(&mut self, lane: usize) -> Result<(), ErrorClass> {
        let fd = self.connections[lane].fd;
        self.epoll.change(fd, READ_WRITE, self.token(lane)).map_err(|_| ErrorClass::Other)
    }

    #[inline]
    fn handle(&mut self, token: u64, readiness: u32) {
        let lane = token as u32 as usize;
        let connection = &self.connections[lane];
        if connection.generation != (token >> 32) as u32 || connection.fd == NO_FD {
            return;
        }
        if connection.link == Link::Connecting && !self.opened(lane, readiness) {
            return;
        }
        if readiness & libc::EPOLLOUT as u32 != 0 && !self.writable(lane) {
            return;
        }
        let arrivals = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        let connection = &self.connections[lane];
        if readiness & arrivals == 0 || connection.generation != (token >> 32) as u32 {
            return;
        }
        if connection.tls.is_some() {
            self.receive_tls(lane, readiness);
        } else {
            self.receive(lane, readiness);
        }
    }

    /// A connection attempt has come to its end; `false` when there is nothing more to do now.
    fn opened(&mut self, lane: usize, readiness: u32) -> bool {
        let ends = (libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP) as u32;
        if readiness & ends == 0 {
            return false;
        }
        let connection = &mut self.connections[lane];
        let errno = socket::pending_error(connection.fd);
        if errno != 0 {
            let class = match socket::class_of(errno) {
                ErrorClass::ResetBeforeFirstByte => ErrorClass::Refused,
                class => class,
            };
            self.fail(lane, class);
            return false;
        }
        let generation = connection.generation;
        let tls_follows = connection.tls.is_some();
        connection.link = if tls_follows { Link::Handshaking } else { Link::Up };
        let mut actions = Actions::NONE;
        let next = self.driver.connected(lane, tls_follows, &mut actions);
        self.act(lane, next, actions);
        self.connections[lane].generation == generation
    }

    /// The socket takes bytes again; `false` when the connection was lost over it.
    fn writable(&mut self, lane: usize) -> bool {
        let connection = &mut self.connections[lane];
        let flushed = match &mut connection.tls {
            Some(tls) if tls.is_blocked() || tls.is_handshaking() => tls.flush(connection.fd).map(|_| ()),
            _ => Ok(()),
        };
        let result = flushed.and_then(|()| self.send(lane));
        if let Err(class) = result {
            self.fail(lane, class);
            return false;
        }
        true
    }

    /// Reads until the socket is empty.
    #[inline]
    fn receive(&mut self, lane: usize, readiness: u32) {
        let generation = self.connections[lane].generation;
        loop {
            let connection = &mut self.connections[lane];
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
                Moved::Bytes(0) => self.driver.event(lane, Event::Closed, &mut actions),
                Moved::Bytes(count) if drops => self.driver.event(lane, Event::Discarded(count as u64), &mut actions),
                Moved::Bytes(count) => self.driver.event(lane, Event::Received(&self.buffer[..count]), &mut actions),
                Moved::Blocked => return,
                Moved::Failed(errno) => return self.fail(lane, socket::class_of_established(errno)),
            };
            self.connections[lane].discard_bytes = actions.discard_bytes;
            if drops {
                self.set_low_water(lane);
            }
            self.act(lane, next, actions);
            let connection = &self.connections[lane];
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
                    let next = self.driver.event(lane, Event::Closed, &mut actions);
                    return self.act(lane, next, actions);
                }
            }
        }
    }

    /// Asks for wake-ups in proportion to what is still to be dropped.
    fn set_low_water(&mut self, lane: usize) {
        let connection = &mut self.connections[lane];
        let wanted = connection.discard_bytes.clamp(1, LOW_WATER_BYTES);
        // A body's last part lowers the mark once; in between it stays.
        let wanted = if wanted >= LOW_WATER_BYTES { LOW_WATER_BYTES } else { 1 };
        if wanted != connection.low_water {
            connection.low_water = wanted;
            socket::set_low_water(connection.fd, wanted as usize);
        }
    }

    /// Reads cipher text until the socket is empty and hands on what it says.
    fn receive_tls(&mut self, lane: usize, readiness: u32) {
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
                    self.fail(lane, class);
                }
                Ok(true) => {
                    let mut actions = Actions::NONE;
                    let next = self.driver.event(lane, Event::Closed, &mut actions);
                    self.act(lane, next, actions);
                }
                Ok(false) => {}
            }
        }
    }

    /// The first reason for which TLS failed goes to the log; the others are counted only.
    #[cold]
    fn tell_reason(&mut self, lane: usize) {
        let reason = self.connections[lane].tls.as_ref().and_then(|tls| tls.reason());
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
        loop {
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
                    // The client's last handshake record leaves together with the first request.
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
    }

    /// The handshake is done; `false` when the session gave the connection up over it.
    fn secured(&mut self, lane: usize, generation: u32, tls: &mut Box<tls::Session>) -> Result<bool, ErrorClass> {
        match tls.resumed() {
            Some(true) => self.figures.tls_resumed += 1,
            _ => self.figures.tls_full += 1,
        }
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
            tls.write(self.driver.session(lane).outgoing())?;
            if !tls.flush(self.connections[lane].fd)? {
                self.want_write(lane)?;
            }
        }
        self.act(lane, next, actions);
        Ok(self.connections[lane].generation == generation)
    }
}
