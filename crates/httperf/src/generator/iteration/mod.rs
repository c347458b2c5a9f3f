//! What begins by the clock: a connection with its calls, or a session. Told what happens, it answers with orders. No
//! I/O, no clock.
//!
//! A connection of `--num-conns` sends its calls in bursts, each pipelined. A session sends the first call of a burst
//! alone and the others when it was answered, pipelined on its connections or, where the server closes after each
//! reply, on connections of their own.

use super::work::{Burst, Work};
use crate::http::pipeline::{Call, Flight};
use crate::http::reply::Reply;
use crate::spec::{HttperfSpec, Mode};
use bakeoff_engine::Nanos;
use std::collections::VecDeque;

/// A call that fails again and again is sent so often.
const TRIES_MAX: u32 = 1_000;

/// What all iterations of a trial go by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub mode: Mode,
    /// Connections of one iteration at once.
    pub connections: usize,
    /// Calls on one connection at once.
    pub piped: usize,
    /// Connections are closed after each reply, as httperf's sessions over HTTP/1.0 do.
    pub single: bool,
    pub failure_status: Option<u16>,
    pub retry: bool,
    pub cookies: bool,
}

impl Rules {
    pub fn new(spec: &HttperfSpec) -> Self {
        let mode = spec.mode();
        let single = mode == Mode::Sessions && spec.http_version == "1.0";
        let (connections, piped) = match mode {
            Mode::Connections => (1, spec.burst_length as usize),
            Mode::Sessions if single => (spec.session_connections() as usize, 1),
            Mode::Sessions => (spec.session_connections() as usize, spec.max_piped_calls as usize),
        };
        Self {
            mode,
            connections,
            piped,
            single,
            failure_status: spec.failure_status.filter(|_| mode == Mode::Sessions),
            retry: spec.retry_on_failure,
            cookies: spec.session_cookies && mode == Mode::Sessions,
        }
    }
}

/// What is to be done for an iteration. Links are its connections, counted from 0; a place is used again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Open a connection.
    Open(usize),
    /// Send on it, as soon as it is open.
    Send(usize, Call),
    /// Close it; calls that wait on it come back by [`Iteration::left`].
    Close(usize),
    /// Tell it when so much time has passed.
    Think(Nanos),
    /// It is over; whether all calls were answered.
    Over(bool),
}

/// How a connection came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The server had said so with its last reply, or closed it when nothing was waited for.
    InOrder,
    /// It failed.
    Failed,
    /// A time-out of ours: the whole session fails.
    TimedOut,
}

#[derive(Debug, Clone, Copy, Default)]
struct Link {
    open: bool,
    /// It is to be closed, and its calls come back.
    closing: bool,
    in_flight: usize,
    replies: u64,
}

/// One connection with its calls, or one session.
#[derive(Debug, Default)]
pub(crate) struct Iteration {
    links: Vec<Link>,
    /// Which script, of those there are.
    script: u32,
    /// Bursts that were begun.
    bursts: u64,
    /// Calls that were begun, for loads that count them.
    calls: u64,
    /// Calls of this burst that were not made yet; they follow the one that is alone.
    fresh: u64,
    /// The next call of a script's burst.
    next: u32,
    /// Calls that wait for a place: found in a page, or to be sent again.
    waiting: VecDeque<Call>,
    /// Calls on connections.
    pending: usize,
    /// The first call of a burst is waited for by the others.
    alone: bool,
    think_ns: Nanos,
    thinking: bool,
    /// Connections are closed after a reply: one call on each.
    single: bool,
    over: bool,
    pub cookie: Option<Box<[u8]>>,
    pub replies: u64,
    pub connections: u64,
}

type Orders = VecDeque<Order>;

impl Iteration {
    /// Begins again with the memory that is there.
    pub fn begin(&mut self, nth: u64, rules: &Rules, work: &mut Work, orders: &mut Orders) {
        let (mut links, mut waiting) = (std::mem::take(&mut self.links), std::mem::take(&mut self.waiting));
        links.clear();
        waiting.clear();
        *self = Self { links, waiting, script: work.script(nth), ..Self::default() };
        self.next_burst(rules, work, orders);
    }

    /// A reply is whole.
    pub fn replied(
        &mut self,
        link: usize,
        flight: &Flight,
        reply: &Reply,
        rules: &Rules,
        work: &mut Work,
        orders: &mut Orders,
    ) {
        self.replies += 1;
        self.pending -= 1;
        self.links[link].in_flight -= 1;
        self.links[link].replies += 1;
        if rules.cookies && reply.cookie.is_some() {
            self.cookie.clone_from(&reply.cookie);
        }
        if rules.single || !reply.keeps_open {
            self.single = true;
            self.links[link].open = false;
            self.links[link].closing = true;
            orders.push_back(Order::Close(link));
        }
        if rules.failure_status == Some(reply.status) {
            if !rules.retry || flight.call.tries >= TRIES_MAX {
                return self.end(false, orders);
            }
            self.waiting.push_front(Call { tries: flight.call.tries + 1, ..flight.call.clone() });
        } else {
            self.alone = false;
            self.waiting.extend(work.found_in(&flight.call, reply));
        }
        self.go_on(rules, work, orders);
    }

    /// A connection is gone, and these calls with it.
    pub fn left(
        &mut self,
        link: usize,
        cause: Closed,
        calls: impl Iterator<Item = Call>,
        rules: &Rules,
        work: &mut Work,
        orders: &mut Orders,
    ) {
        if self.over {
            return;
        }
        let replied = self.links[link].replies > 0;
        self.links[link] = Link::default();
        let before = self.waiting.len();
        self.waiting.extend(calls);
        let came_back = self.waiting.len() - before;
        self.pending -= came_back;
        // What was asked for first is asked for first again.
        self.waiting.rotate_right(came_back);
        match (rules.mode, cause) {
            (Mode::Connections, _) => self.end(false, orders),
            (Mode::Sessions, Closed::TimedOut) => self.end(false, orders),
            (Mode::Sessions, Closed::Failed) if !replied => self.end(false, orders),
            (Mode::Sessions, _) => self.go_on(rules, work, orders),
        }
    }

    /// The time to think is over.
    pub fn thought(&mut self, rules: &Rules, work: &mut Work, orders: &mut Orders) {
        if std::mem::take(&mut self.thinking) && !self.over {
            self.next_burst(rules, work, orders);
        }
    }

    /// Whether it has come to its end.
    pub const fn is_over(&self) -> bool {
        self.over
    }

    fn end(&mut self, completed: bool, orders: &mut Orders) {
        if !std::mem::replace(&mut self.over, true) {
            orders.push_back(Order::Over(completed));
        }
    }

    fn next_burst(&mut self, rules: &Rules, work: &mut Work, orders: &mut Orders) {
        let Some(Burst { calls, think_ns }) = work.burst(self.script, self.bursts, self.calls) else {
            return self.end(true, orders);
        };
        self.bursts += 1;
        self.calls += calls;
        (self.fresh, self.think_ns, self.next) = (calls, think_ns, 0);
        self.alone = false;
        self.issue(rules, work, orders);
        self.alone = rules.mode == Mode::Sessions && self.pending > 0;
        if self.pending == 0 {
            // The list of URIs is at its end.
            self.end(true, orders);
        }
    }

    /// After a reply or a loss: further calls of the burst, the next burst, or the end.
    fn go_on(&mut self, rules: &Rules, work: &mut Work, orders: &mut Orders) {
        self.issue(rules, work, orders);
        if self.pending > 0 || self.over || self.thinking {
            return;
        }
        if !work.has_burst(self.script, self.bursts, self.calls) {
            return self.end(true, orders);
        }
        if rules.mode == Mode::Connections && !self.links.iter().any(|link| link.open) {
            // The server closed before all calls were made.
            return self.end(false, orders);
        }
        if self.think_ns > 0 {
            self.thinking = true;
            orders.push_back(Order::Think(self.think_ns));
        } else {
            self.next_burst(rules, work, orders);
        }
    }

    /// Sends what may be sent now.
    fn issue(&mut self, rules: &Rules, work: &mut Work, orders: &mut Orders) {
        let first_alone = rules.mode == Mode::Sessions && self.next == 0;
        while !self.waiting.is_empty() || (self.fresh > 0 && !self.alone) {
            let Some(link) = self.place(rules, orders) else { return };
            let call = if let Some(call) = self.waiting.pop_front() {
                call
            } else {
                let Some(uri) = work.uri(self.script, self.bursts, self.next) else {
                    self.fresh = 0;
                    return;
                };
                self.fresh -= 1;
                self.next = self.next.saturating_add(1);
                Call { uri, serial: work.serial(), tries: 0, due_ns: 0, depth: 0 }
            };
            self.links[link].in_flight += 1;
            self.pending += 1;
            orders.push_back(Order::Send(link, call));
            if first_alone && self.waiting.is_empty() {
                return;
            }
        }
    }

    /// A connection that can take a call; one is opened where that may be.
    fn place(&mut self, rules: &Rules, orders: &mut Orders) -> Option<usize> {
        let piped = if self.single { 1 } else { rules.piped };
        let free = self.links.iter().position(|link| link.open && link.in_flight < piped);
        if free.is_some() {
            return free;
        }
        if self.links.iter().filter(|link| link.open).count() >= rules.connections {
            return None;
        }
        if rules.mode == Mode::Connections && self.connections > 0 {
            return None;
        }
        let closed = self.links.iter().position(|link| !link.open && !link.closing);
        let link = closed.unwrap_or(self.links.len());
        if link == self.links.len() {
            self.links.push(Link::default());
        }
        self.links[link].open = true;
        self.links[link].replies = 0;
        self.connections += 1;
        orders.push_back(Order::Open(link));
        Some(link)
    }
}

#[cfg(test)]
mod tests;
