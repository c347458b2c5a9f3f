//! One load-generating thread: an epoll loop that carries out what its sessions ask for.

mod connection;
mod leaving;
mod quic;
mod receive;
mod receive_shared;
mod receive_tls;
mod streams;
mod waiting;

use super::meter::cpu::CpuMeter;
use super::meter::rows::IntervalMeter;
use super::socket::remote::Remote;
use super::wait::epoll::{Epoll, TICK};
use super::wait::pacer::Pacer;
use super::wait::poller::Poller;
use super::wait::timers::{Due, Timers};
use crate::clock::MonotonicClock;
use crate::watch::Watched;
use bakeoff_engine::{
    Actions, Driver, ErrorClass, Event, Live, Nanos, Next, Recorder, Session, Streams, ThreadFigures, Timeline,
};
use connection::{Connection, Link, NO_FD};
use leaving::ClosingConnections;
use std::io;
use std::sync::Arc;
use streams::Traffic;

/// Read size when the plan does not set one. Small replies fit; the rest of large ones is dropped in the kernel.
const READ_BYTES: usize = 16 * 1024;
/// The same where replies share a connection: several come at once.
const READ_SHARED_BYTES: usize = 64 * 1024;
/// Longest wait, so that a cancel is seen and live figures stay fresh, ns.
const TICK_NS: Nanos = 50_000_000;
/// Rounds of operations without I/O between two looks at the sockets.
const READY_ROUNDS: usize = 64;
/// So many planned starts begin at once, and so many events are handled: then the other is looked after, so that
/// neither a burst of starts keeps replies from being stamped nor many replies a start from its moment.
const AT_ONCE: usize = 16;
/// A thread that did not run for so long was stopped: what happened meanwhile is heard before anybody is blamed, ns.
const STOPPED_NS: Nanos = 2 * TICK_NS;
/// Operations that run at the end get so long for their end when connections are listened to afterwards, ns.
const LAST_WAIT_NS: Nanos = 250_000_000;
/// Longest wait while listening, ns.
const LISTEN_TURN_NS: Nanos = 5_000_000;

/// What the loop of a thread knows beside its recorder.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoopFigures {
    pub thread: ThreadFigures,
    /// The end of the measured part.
    pub ended_ns: Nanos,
}

/// A thread's loop with all it owns.
pub(crate) struct EventLoop<'a, S: Session> {
    driver: Driver<S, MonotonicClock>,
    live: &'a Live,
    remotes: Vec<Remote>,
    connections: Vec<Connection>,
    traffic: Traffic,
    epoll: Epoll,
    timers: Timers,
    leaving: ClosingConnections,
    /// There when this thread polls for replies instead of sleeping.
    poller: Option<Poller>,
    pacer: Pacer,
    /// It has slept for long, and nothing was sent since.
    cold: bool,
    ready: Vec<(usize, u32)>,
    buffer: Vec<u8>,
    /// What the streams of a connection of QUIC brought.
    inbox: Vec<u8>,
    timeline: Timeline,
    /// The last moment: operations that run at the timeline's end may linger until then.
    over_ns: Nanos,
    listen_ns: Nanos,
    figures: LoopFigures,
    reason_told: bool,
    /// There from the start of the window on.
    interval_meter: Option<IntervalMeter>,
    /// The watch over the process, where there is one.
    watched: Option<Arc<Watched>>,
}

impl<'a, S: Session> EventLoop<'a, S> {
    pub fn new(
        driver: Driver<S, MonotonicClock>,
        live: &'a Live,
        remotes: Vec<Remote>,
        timeline: Timeline,
    ) -> io::Result<Self> {
        let read_bytes = remotes.iter().filter_map(|remote| remote.receive_buffer_bytes).max().unwrap_or(READ_BYTES);
        let traffic = Traffic::new(None, 0);
        Ok(Self {
            connections: (0..driver.len()).map(|_| Connection::new()).collect(),
            traffic,
            timers: Timers::new(driver.len()),
            leaving: ClosingConnections::new(driver.len()),
            poller: None,
            pacer: Pacer::default(),
            cold: false,
            driver,
            live,
            remotes,
            epoll: Epoll::new(TICK_NS)?,
            ready: Vec::new(),
            buffer: vec![0; read_bytes],
            inbox: Vec::new(),
            timeline,
            over_ns: timeline.end_ns,
            listen_ns: 0,
            figures: LoopFigures::default(),
            reason_told: false,
            interval_meter: None,
            watched: None,
        })
    }

    /// The watch whose figures belong to intervals of a soak.
    pub fn watched(mut self, watched: &Arc<Watched>) -> Self {
        self.watched = Some(Arc::clone(watched));
        self
    }

    /// Lets operations that run at the end go on for so long.
    pub fn lingering(mut self, linger_ns: Nanos) -> Self {
        self.over_ns = self.timeline.end_ns.saturating_add(linger_ns);
        self
    }

    /// Lets so many connections wait for their close at once, at the most.
    pub fn with_leaving_limit(mut self, most: usize) -> Self {
        self.leaving.limit(most);
        self
    }

    /// Polls for replies instead of sleeping until they come, if asked to.
    pub fn polling(mut self, poll: bool) -> Self {
        self.poller = poll.then(Poller::default);
        self
    }

    /// Listens to the connections for so long when all is over: what then comes was not asked for.
    pub fn listening(mut self, listen_ns: Nanos) -> Self {
        self.listen_ns = listen_ns;
        self
    }

    /// Lets virtual users share connections, if they are to.
    pub fn sharing(mut self, streams: Option<Streams>) -> Self {
        // A datagram that is larger than the buffer would be cut off.
        let is_quic = self.remotes.iter().any(|remote| remote.quic.is_some());
        if streams.is_some() && (is_quic || self.buffer.len() == READ_BYTES) {
            self.buffer = vec![0; READ_SHARED_BYTES];
        }
        // Behind those of the virtual users stand the timers of the protocol, one for each connection.
        self.timers.grow(2 * self.driver.len());
        self.traffic = Traffic::new(streams, self.driver.len());
        self
    }

    /// Runs until the trial's end, its bound, or a cancel. `starts` are the virtual users' first moments.
    pub fn run(mut self, starts: Vec<(usize, Nanos)>, bounded: bool) -> (Recorder, Vec<(u32, S)>, LoopFigures) {
        for (vu, at_ns) in starts {
            self.timers.begin(at_ns, vu);
        }
        let mut meter = CpuMeter::new(self.timeline);
        let mut last_scan_ns = 0;
        let mut last_ns = self.driver.now_ns();
        let (now_ns, stopped) = loop {
            let now_ns = self.driver.now_ns();
            let stopped = now_ns.saturating_sub(last_ns) > STOPPED_NS;
            last_ns = now_ns;
            meter.sample(now_ns);
            if self.is_over(now_ns, bounded) {
                break (now_ns, stopped);
            }
            if now_ns.saturating_sub(last_scan_ns) >= TICK_NS {
                last_scan_ns = now_ns;
                self.driver.publish(now_ns);
                self.check_intervals(now_ns);
                if !stopped {
                    self.time_out(now_ns);
                }
                self.close_late(now_ns);
            }
            self.run_once(now_ns);
        };
        self.figures.ended_ns = now_ns;
        let polled_ns = self.pacer.spun_ns + self.poller.as_ref().map_or(0, |poller| poller.polled_ns);
        (self.figures.thread.window_ns, self.figures.thread.cost) = meter.finish(now_ns, bounded, polled_ns);
        self.poller = None;
        self.figures.thread.unfinished.operations = self.driver.unfinished(now_ns).0;
        self.driver.publish(now_ns);
        self.listen(now_ns, stopped);
        self.figures.thread.unfinished.oldest_s = self.driver.unfinished(now_ns).1 as f64 / 1e9;
        if !self.live.is_cancelled() {
            self.driver.count_hung(now_ns);
        }
        let cost = {
            let watched = self.watched.as_deref();
            self.interval_meter.as_mut().map(|meter| meter.sample(now_ns, watched)).unwrap_or_default()
        };
        self.driver.hand_in_rest(now_ns, cost);
        self.driver.publish(now_ns);
        self.close_leavers();
        for vu in 0..self.connections.len() {
            self.close(vu);
        }
        let (recorder, sessions) = self.driver.into_parts();
        (recorder, sessions, self.figures)
    }

    /// In a soak: hands in the intervals that are over.
    fn check_intervals(&mut self, now_ns: Nanos) {
        if now_ns < self.timeline.window_start_ns {
            return;
        }
        let watched = self.watched.as_deref();
        let meter = self.interval_meter.get_or_insert_with(|| IntervalMeter::start(now_ns, watched));
        if self.driver.interval_is_due(now_ns) {
            let cost = meter.sample(now_ns, watched);
            self.driver.hand_in(now_ns, cost);
        }
    }

    /// After the end: operations that run may end, and what nobody asked for is heard. Nothing of it is counted.
    fn listen(&mut self, ended_ns: Nanos, stopped: bool) {
        self.driver.stop_counting(ended_ns);
        if self.live.is_cancelled() || (self.listen_ns == 0 && !stopped) {
            return;
        }
        let mut quiet_ns = ended_ns;
        loop {
            let now_ns = self.driver.now_ns();
            if self.driver.is_busy() {
                quiet_ns = now_ns;
            }
            let silent = self.connections.iter().all(|connection| connection.fd == NO_FD) && self.leaving.is_empty();
            if silent || now_ns >= quiet_ns + self.listen_ns || now_ns >= ended_ns + LAST_WAIT_NS {
                return;
            }
            self.over_ns = now_ns + LISTEN_TURN_NS;
            self.run_once(now_ns);
        }
    }

    /// A trial by time lives to its end even when no virtual user has anything left to do: its window is the plan's.
    fn is_over(&self, now_ns: Nanos, bounded: bool) -> bool {
        let finished = (bounded || now_ns >= self.timeline.end_ns) && self.driver.is_finished();
        finished || now_ns >= self.over_ns || self.live.is_cancelled()
    }

    /// One iteration: wait, then sockets, timers, and operations without I/O.
    fn run_once(&mut self, now_ns: Nanos) {
        let count = self.wait_for_next(now_ns);
        let batch_ns = self.driver.now_ns();
        self.driver.batch(batch_ns);
        for index in 0..count {
            let (token, readiness) = self.epoll.event(index);
            if token == TICK {
                self.epoll.ticked();
            } else {
                self.handle(token, readiness);
            }
            if index % AT_ONCE == AT_ONCE - 1 {
                self.begin_planned();
            }
        }
        while let Some((at_ns, vu, due)) = self.timers.pop_due(batch_ns) {
            self.fire(at_ns, vu, due);
        }
        self.begin_planned();
        for _ in 0..READY_ROUNDS {
            if self.ready.is_empty() {
                break;
            }
            let mut round = std::mem::take(&mut self.ready);
            for &(vu, timer) in &round {
                if timer == self.connections[vu].timer {
                    self.fire(batch_ns, vu, Due::Timer);
                }
            }
            if self.ready.is_empty() {
                round.clear();
                self.ready = round;
            }
        }
        self.flush_shared();
    }

    /// Begins planned starts that are due, as far as there are idle virtual users.
    fn begin_planned(&mut self) {
        for _ in 0..AT_ONCE {
            if self.driver.next_start_ns() == Nanos::MAX {
                return;
            }
            let mut actions = Actions::NONE;
            let Some((vu, next)) = self.driver.begin_planned(&mut actions) else { return };
            self.act(vu, next, actions);
        }
    }

    fn fire(&mut self, at_ns: Nanos, vu: usize, due: Due) {
        if vu >= self.driver.len() {
            return self.quic_due(vu - self.driver.len());
        }
        let mut actions = Actions::NONE;
        let next = match due {
            Due::Begin => self.driver.begin(vu, at_ns, &mut actions),
            Due::Timer => self.driver.event(vu, Event::Timer, &mut actions),
        };
        self.act(vu, next, actions);
    }

    fn time_out(&mut self, now_ns: Nanos) {
        let mut from = 0;
        while let Some((vu, class)) = self.driver.overdue(from, now_ns) {
            self.fail(vu, class);
            from = vu + 1;
        }
    }

    fn fail(&mut self, vu: usize, class: ErrorClass) {
        if self.traffic.is_on() {
            return self.fail_on_stream(vu, class);
        }
        self.close(vu);
        let mut actions = Actions::NONE;
        let next = self.driver.failure(vu, class, &mut actions);
        self.act(vu, next, actions);
    }

    /// Carries out what a session asked for, as far as the sockets allow.
    #[inline]
    fn act(&mut self, vu: usize, mut next: Next, mut actions: Actions) {
        loop {
            if self.traffic.is_on() {
                if actions.close || actions.leave {
                    self.give_up(vu);
                }
            } else if actions.close {
                self.close(vu);
            } else if actions.leave {
                self.leave(vu);
            }
            if next != Next::Pending {
                self.clear_timer(vu);
            }
            match next {
                Next::Wait(until_ns) => return self.timers.begin(until_ns, vu),
                Next::Idle | Next::Stopped => return,
                Next::Pending | Next::Begun => {}
            }
            if let Some(timer_ns) = actions.timer_ns {
                self.set_timer(vu, timer_ns);
            }
            if self.traffic.is_on() {
                if actions.send {
                    self.ask(vu);
                }
                return;
            }
            let result = if let Some(remote) = actions.connect {
                self.connect(vu, remote, actions.send)
            } else if actions.secure {
                self.secure(vu)
            } else if actions.send {
                self.connections[vu].written = Some(0);
                self.connections[vu].stamp_written = actions.stamp_written;
                self.send(vu).map(|()| false)
            } else {
                return;
            };
            match result {
                Ok(false) => return,
                Ok(true) => {
                    let tls_follows = self.connections[vu].link == Link::Handshaking;
                    actions.clear();
                    next = self.driver.connected(vu, tls_follows, &mut actions);
                }
                Err(class) => {
                    // Nothing of the request was taken: the connection had ended before.
                    let unheard = actions.connect.is_none() && self.connections[vu].written == Some(0);
                    self.close(vu);
                    actions.clear();
                    let again = if unheard { self.driver.unheard(vu, &mut actions) } else { None };
                    next = again.unwrap_or_else(|| self.driver.failure(vu, class, &mut actions));
                }
            }
        }
    }

    fn set_timer(&mut self, vu: usize, timer_ns: Nanos) {
        self.clear_timer(vu);
        if timer_ns == 0 {
            self.ready.push((vu, self.connections[vu].timer));
        } else {
            self.timers.set(self.driver.now_ns() + timer_ns, vu);
        }
    }

    #[inline]
    fn clear_timer(&mut self, vu: usize) {
        self.connections[vu].timer = self.connections[vu].timer.wrapping_add(1);
        self.timers.clear(vu);
    }

    #[inline]
    fn handle(&mut self, token: u64, readiness: u32) {
        let vu = token as u32 as usize;
        let connection = &self.connections[vu];
        if connection.generation != (token >> 32) as u32 {
            return self.leaver_ready(vu, (token >> 32) as u32, readiness);
        }
        if connection.fd == NO_FD {
            return;
        }
        self.connections[vu].ending = readiness & receive::CLOSING != 0;
        if self.traffic.is_on() {
            return self.handle_shared(vu, readiness);
        }
        let connection = &self.connections[vu];
        if connection.link == Link::Connecting && !self.opened(vu, readiness) {
            return;
        }
        if readiness & libc::EPOLLOUT as u32 != 0 && !self.writable(vu) {
            return;
        }
        let arrivals = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        let connection = &self.connections[vu];
        if readiness & arrivals == 0 || connection.generation != (token >> 32) as u32 {
            return;
        }
        if connection.tls.is_some() {
            self.receive_tls(vu, readiness);
        } else {
            self.receive(vu, readiness);
        }
    }
}
