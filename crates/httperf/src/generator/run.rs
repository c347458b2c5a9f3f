//! The loop: starts what is due, carries out what iterations order, and waits.

use super::iteration::{Closed, Iteration, Order, Rules};
use super::period::Starts;
use super::random::Random;
use super::work::Work;
use crate::http::conn::{Answer, Conn, Found, State};
use crate::http::page_check::PageCheck;
use crate::http::pipeline::{Call, Flight, ReplyForm};
use crate::http::prints;
use crate::http::reply::{Reply, ReplyParts};
use crate::http::request::Requests;
use crate::result::counters::{CALL, Counters, Failure, OPERATIONS, seconds};
use crate::result::figures::HttperfFigures;
use crate::spec::uris::Uri;
use crate::spec::{HttperfSpec, Mode};
use bakeoff_engine::{Clock, Connections, Live, Nanos, Recorder, SECOND_NS, Stamps, Timeline, Unfinished};
use bakeoff_platform::CustomLoop;
use bakeoff_platform::clock::MonotonicClock;
use bakeoff_platform::net::{Connector, Dialer, Due, Ready, Timers, Waiter};
use bakeoff_platform::process::{raise_file_limit, thread_usage_ns};
use serde_json::json;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// Between two looks at what only has to be seen soon, ns.
const TICK_NS: Nanos = 50_000_000;
/// Loads that are to last longer have no seconds in their result, whose memory would grow with them.
const LONG_S: f64 = 2.0 * 3_600.0;
/// Figures are told so long after those before, and this share of the trial so far: a long one tells some hundred
/// times.
const TELL_NS: Nanos = SECOND_NS;
const TELL_SHARE: Nanos = 100;
const READ_BYTES: usize = 64 * 1024;
/// Starts that are made up for before sockets are looked at again.
const BURST_MAX: u64 = 1_000;

/// What is made ready before a trial starts, so that what is wrong is told at once.
pub(crate) struct Prepared {
    pub spec: Arc<HttperfSpec>,
    pub page_check: Option<PageCheck>,
    pub dialer: Dialer,
    /// By server, when connections are to speak TLS.
    pub connectors: Vec<Connector>,
    pub poll: bool,
    pub length_ns: Nanos,
}

/// A place for iterations, used by one after the other.
#[derive(Default)]
struct Place {
    iteration: Iteration,
    /// The places of its connections, by link.
    conns: Vec<Option<usize>>,
    planned_ns: Nanos,
    start_ns: Nanos,
    busy: bool,
}

impl Place {
    const fn late_ns(&self) -> Nanos {
        self.start_ns - self.planned_ns
    }
}

/// The load thread with all it owns.
pub(crate) struct Run<'a> {
    spec: Arc<HttperfSpec>,
    live: &'a Live,
    dialer: Dialer,
    connectors: Vec<Connector>,
    waiter: Waiter,
    timers: Timers,
    rules: Rules,
    work: Work,
    requests: Requests,
    page_check: Option<PageCheck>,
    counters: Counters,
    wanted: ReplyParts,
    conns: Vec<Conn>,
    free_conns: Vec<usize>,
    /// All that are open.
    open: Vec<usize>,
    /// Those among them that epoll does not know yet, as far as it matters.
    unregistered: Vec<(usize, u32)>,
    places: Vec<Place>,
    free_places: Vec<usize>,
    active: u64,
    orders: VecDeque<Order>,
    heard: Vec<Answer>,
    /// Connections with something to write.
    dirty: Vec<usize>,
    buffer: Vec<u8>,
    next_server: usize,
    /// When iterations begin; `None` when one follows the other.
    starts: Option<Starts>,
    next_start_ns: Nanos,
    /// When last one of all allowed connections became free: starts that were due before had to wait.
    freed_ns: Nanos,
    started: u64,
    to_start: u64,
    timeout_ns: Option<Nanos>,
    think_timeout_ns: Nanos,
    start_ns: Nanos,
    end_ns: Nanos,
    next_tick_ns: Nanos,
    next_second_ns: Nanos,
    next_figures_ns: Nanos,
    told: (u64, u64),
    now_ns: Nanos,
    timeline: Timeline,
}

impl<'a> Run<'a> {
    pub fn new(prepared: Prepared, live: &'a Arc<Live>, timeline: Timeline) -> io::Result<Self> {
        let Prepared { spec, page_check, dialer, connectors, poll, length_ns } = prepared;
        let recorder = Recorder::new(timeline, OPERATIONS.len(), 1);
        let recorder = if spec.period.is_some() { recorder.with_plan_of(CALL) } else { recorder };
        let recorder = if spec.planned_s() > LONG_S { recorder.without_seconds() } else { recorder };
        live.show(0, OPERATIONS.map(str::to_owned).to_vec(), recorder.tally());
        let start_ns = timeline.start_ns;
        let counters = Counters::new(recorder, spec.mode(), (spec.client, spec.part), start_ns);
        let mut starts = spec
            .period
            .clone()
            .map(|period| Starts::new(period, Random::of_client(spec.client.index)).of_part(spec.part));
        let first_ns = starts.as_mut().map_or(0, Starts::next_ns);
        let print = spec.print_reply;
        Ok(Self {
            live,
            dialer,
            connectors,
            // Who wants one connection after the other as fast as can be has the processor; else as the trial says.
            waiter: Waiter::new(poll || spec.period.is_none())?,
            timers: Timers::new(0),
            rules: Rules::new(&spec),
            work: Work::new(&spec),
            requests: Requests::new(&spec),
            page_check,
            counters,
            wanted: ReplyParts {
                cookie: spec.session_cookies,
                page: spec.wsesspage.is_some(),
                head: print.header,
                body: print.body,
                hash: false,
            },
            conns: Vec::new(),
            free_conns: Vec::new(),
            open: Vec::new(),
            unregistered: Vec::new(),
            places: Vec::new(),
            free_places: Vec::new(),
            active: 0,
            orders: VecDeque::new(),
            heard: Vec::new(),
            dirty: Vec::new(),
            buffer: vec![0; READ_BYTES],
            next_server: spec.part.index as usize % spec.servers.len(),
            starts,
            next_start_ns: start_ns + first_ns,
            freed_ns: 0,
            started: 0,
            to_start: spec.own_starts(),
            timeout_ns: spec.timeout_s.map(nanos),
            think_timeout_ns: nanos(spec.think_timeout_s),
            start_ns,
            end_ns: start_ns + spec.runtime_s.map_or(length_ns, |runtime_s| nanos(runtime_s).min(length_ns)),
            next_tick_ns: start_ns,
            next_second_ns: start_ns + SECOND_NS,
            next_figures_ns: if spec.tell_figures { start_ns + TELL_NS } else { Nanos::MAX },
            told: (0, 0),
            now_ns: start_ns,
            timeline,
            spec,
        })
    }

    /// Runs to the end of all work, of the time, or a cancel.
    pub fn run(mut self) -> CustomLoop {
        let usage = thread_usage_ns();
        loop {
            self.now_ns = MonotonicClock.now_ns();
            if self.now_ns >= self.next_tick_ns {
                self.tick();
            }
            if self.is_over() {
                break;
            }
            self.begin_due();
            self.fire();
            self.wait();
        }
        self.finish(usage)
    }

    fn is_over(&self) -> bool {
        let done = self.active == 0 && (self.started == self.to_start || self.work.is_exhausted());
        done || self.now_ns >= self.end_ns || self.live.is_cancelled()
    }

    /// What only has to be done now and then.
    fn tick(&mut self) {
        self.next_tick_ns = self.now_ns + TICK_NS;
        self.live.publish_time(self.now_ns - self.start_ns, Some(self.timeline.phase(self.now_ns)));
        if self.spec.periodic_stats && self.now_ns >= self.next_second_ns {
            self.next_second_ns += SECOND_NS;
            let statuses = self.counters.figures.statuses;
            let before = std::mem::replace(&mut self.told, (statuses.s200, statuses.s302));
            let told = json!({"200": statuses.s200 - before.0, "302": statuses.s302 - before.1});
            self.live.tell("periodic", &told.to_string());
        }
        if self.now_ns >= self.next_figures_ns {
            self.next_figures_ns = self.now_ns + TELL_NS + (self.now_ns - self.start_ns) / TELL_SHARE;
            let figures = self.counters.so_far(self.start_ns, self.now_ns);
            let figures = HttperfFigures { starts: self.started, ..figures };
            self.live.tell("figures", &serde_json::to_string(&figures).unwrap_or_default());
        }
        self.sample();
    }

    fn sample(&mut self) {
        if self.now_ns < self.counters.sample_due_ns() {
            return;
        }
        if let Some((replies, sessions)) = self.counters.sample(self.now_ns)
            && self.spec.verbose
        {
            let told = json!({"replies_per_s": replies, "sessions_per_s": sessions});
            self.live.tell("rate", &told.to_string());
        }
    }

    /// Begins the iterations that are due.
    fn begin_due(&mut self) {
        if self.starts.is_none() {
            if self.active == 0 && self.started < self.to_start && !self.work.is_exhausted() {
                self.counters.figures.connect_burst_max = 1;
                self.begin(self.now_ns, self.now_ns);
            }
            return;
        }
        let mut burst = 0;
        while self.next_start_ns <= self.now_ns && self.may_begin() && burst < BURST_MAX {
            if self.is_full() {
                break;
            }
            burst += 1;
            let planned_ns = self.next_start_ns;
            let starts = self.starts.as_mut().map_or(0, Starts::next_ns);
            self.next_start_ns = self.start_ns + starts;
            let now_ns = MonotonicClock.now_ns();
            let late_ns = now_ns.saturating_sub(planned_ns);
            self.counters.recorder.record_start(planned_ns);
            if planned_ns < self.freed_ns {
                self.counters.recorder.record_late(planned_ns, late_ns);
            } else {
                self.counters.recorder.late_start(late_ns);
            }
            self.begin(planned_ns, now_ns);
        }
        self.counters.figures.connect_burst_max = self.counters.figures.connect_burst_max.max(burst);
    }

    fn may_begin(&self) -> bool {
        self.started < self.to_start && !self.work.is_exhausted()
    }

    /// Whether there are as many connections as there may be: only loads without sessions bound all together.
    fn is_full(&self) -> bool {
        let most = self.spec.own_connections().filter(|_| self.rules.mode == Mode::Connections);
        most.is_some_and(|most| self.open.len() >= most as usize)
    }

    fn begin(&mut self, planned_ns: Nanos, start_ns: Nanos) {
        let at = self.free_places.pop().unwrap_or(self.places.len());
        if at == self.places.len() {
            self.places.push(Place::default());
            self.grow_timers();
        }
        let nth = self.started * u64::from(self.spec.part.of) + u64::from(self.spec.part.index);
        self.started += 1;
        self.active += 1;
        let place = &mut self.places[at];
        (place.planned_ns, place.start_ns, place.busy) = (planned_ns, start_ns.max(planned_ns), true);
        place.iteration.begin(nth, &self.rules, &mut self.work, &mut self.orders);
        self.obey(at);
    }

    fn grow_timers(&mut self) {
        self.timers.grow(2 * self.conns.len().max(self.places.len()));
    }

    /// Carries out what the iteration in this place has ordered, and what it orders because of that.
    fn obey(&mut self, at: usize) {
        loop {
            while let Some(order) = self.orders.pop_front() {
                match order {
                    Order::Open(link) => self.open(at, link),
                    Order::Send(link, call) => self.queue(at, link, call),
                    Order::Close(link) => self.close_link(at, link),
                    Order::Think(think_ns) => {
                        self.now_ns = MonotonicClock.now_ns();
                        self.timers.set(self.now_ns + think_ns, 2 * at + 1);
                    }
                    Order::Over(completed) => self.over(at, completed),
                }
            }
            // Connections that were given something to say; a failure brings new orders.
            match self.dirty.pop() {
                Some(conn) => self.write(conn),
                None => return,
            }
        }
    }

    fn open(&mut self, at: usize, link: usize) {
        let server = self.next_server;
        self.next_server = (server + self.spec.part.of as usize) % self.spec.servers.len();
        let began_ns = MonotonicClock.now_ns();
        let line = match self.dialer.dial(server) {
            Ok(line) => line,
            Err(error) => {
                if error.attempted {
                    self.counters.attempted();
                }
                return self.not_opened(at, link, Failure::Errno(error.errno), began_ns);
            }
        };
        self.counters.attempted();
        let tls = match self.connectors.get(server).map(Connector::session) {
            Some(Ok(session)) => Some(Box::new(session)),
            Some(Err(_)) => {
                self.dialer.hang_up(line);
                return self.not_opened(at, link, Failure::Tls, began_ns);
            }
            None => None,
        };
        self.counters.exists();
        let index = self.free_conns.pop().unwrap_or(self.conns.len());
        if index == self.conns.len() {
            self.conns.push(Conn::new());
            self.grow_timers();
        }
        let place = &mut self.places[at];
        let conn = &mut self.conns[index];
        (conn.iteration, conn.link, conn.server) = (at, link, server);
        (conn.planned_ns, conn.began_ns) = (began_ns - place.late_ns().min(began_ns), began_ns);
        conn.take(line, tls);
        conn.rank = self.open.len();
        self.open.push(index);
        self.unregistered.push((index, conn.generation));
        if place.conns.len() <= link {
            place.conns.resize(link + 1, None);
        }
        place.conns[link] = Some(index);
        if let Some(timeout_ns) = self.timeout_ns {
            self.timers.set(began_ns + timeout_ns, 2 * index);
        }
        self.dirty.push(index);
    }

    /// A connection could not even be begun: the calls that were to go over it come back.
    fn not_opened(&mut self, at: usize, link: usize, failure: Failure, began_ns: Nanos) {
        self.dialer.settle(None);
        self.counters.failed(failure);
        self.counters.recorder.record_connection(false);
        let late_ns = self.places[at].late_ns();
        let end_ns = MonotonicClock.now_ns();
        let planned_ns = began_ns - late_ns.min(began_ns);
        self.counters.unopened(&Stamps { planned_ns, start_ns: began_ns, end_ns, ..Stamps::default() }, failure);
        let mut calls = Vec::new();
        self.orders.retain_mut(|order| match order {
            Order::Send(other, call) if *other == link => {
                calls.push(call.clone());
                false
            }
            _ => true,
        });
        let iteration = &mut self.places[at].iteration;
        iteration.left(link, Closed::Failed, calls.into_iter(), &self.rules, &mut self.work, &mut self.orders);
    }

    fn queue(&mut self, at: usize, link: usize, mut call: Call) {
        let place = &self.places[at];
        let Some(index) = place.conns.get(link).copied().flatten() else { return };
        if call.due_ns == 0 {
            // What an iteration begins with was due when the iteration was: it waits for its connection as well.
            call.due_ns = if place.iteration.replies == 0 { place.planned_ns } else { self.now_ns };
        }
        let conn = &mut self.conns[index];
        let hash = call.uri == Uri::Fixed && self.page_check.as_mut().is_some_and(PageCheck::is_due);
        let asked = ReplyForm { to_head: self.requests.is_head(&call.uri), hash };
        let (uri, serial) = (call.uri.clone(), call.serial);
        let (requests, server, cookie) = (&self.requests, conn.server, place.iteration.cookie.as_deref());
        let mut told = None;
        let print = self.spec.print_request;
        conn.pipeline.queue(call, asked, |out| {
            let begin = out.len();
            let size = requests.write(&uri, server, cookie, out);
            if print.header || print.body {
                told = Some(prints::of_request(serial, &out[begin..], size, print));
            }
            size
        });
        if let Some(told) = told {
            self.print(&told);
        }
        if self.dirty.last() != Some(&index) {
            self.dirty.push(index);
        }
    }

    fn print(&mut self, text: &str) {
        if !self.live.tell("print", text) {
            self.counters.figures.prints_lost += 1;
        }
    }

    /// Writes what a connection has to say.
    fn write(&mut self, index: usize) {
        let now_ns = MonotonicClock.now_ns();
        self.now_ns = now_ns;
        let conn = &mut self.conns[index];
        if conn.line.is_none() {
            return;
        }
        let before = conn.state;
        let wanted_write = conn.wants_write;
        let mut whole = 0;
        let result = conn.write(now_ns, |_| whole += 1);
        self.counters.figures.requests += whole;
        match result {
            Ok(0) => {}
            Ok(bytes) => {
                self.counters.wrote(bytes);
                self.set_deadline(index);
            }
            Err(failure) => return self.lose(index, failure),
        }
        self.note_state(index, before);
        let conn = &self.conns[index];
        if conn.wants_write && !wanted_write && conn.registered {
            self.watch(index, true);
        }
    }

    /// Has epoll look for room to write, too.
    fn watch(&mut self, index: usize, write: bool) {
        let conn = &self.conns[index];
        let token = u64::from(conn.generation) << 32 | index as u64;
        if let Some(line) = &conn.line
            && self.waiter.change(line.fd(), write, token).is_err()
        {
            self.lose(index, Failure::Errno(0));
        }
    }

    /// Counts a connection that has come up.
    fn note_state(&mut self, index: usize, before: State) {
        let conn = &self.conns[index];
        if before != State::Up
            && conn.state == State::Up
            && let Some(connect_ns) = conn.connect_ns
        {
            self.counters.connected(connect_ns);
            match conn.tls.as_ref().and_then(|tls| tls.resumed()) {
                Some(true) => self.counters.figures.tls_resumed += 1,
                Some(false) => self.counters.figures.tls_full += 1,
                None => {}
            }
        }
    }

    /// Something moved: the time-out begins again.
    fn set_deadline(&mut self, index: usize) {
        let Some(timeout_ns) = self.timeout_ns else { return };
        let conn = &self.conns[index];
        if conn.pipeline.is_idle() {
            return self.timers.clear(2 * index);
        }
        let all_out = conn.pipeline.outgoing().is_empty() && conn.state == State::Up;
        let think_ns = if all_out && conn.pipeline.awaits_first_byte() { self.think_timeout_ns } else { 0 };
        self.timers.set(self.now_ns + timeout_ns + think_ns, 2 * index);
    }

    /// Reads from a connection and tells its iteration; whether there was anything.
    fn read(&mut self, index: usize, ending: bool) -> bool {
        let mut heard = std::mem::take(&mut self.heard);
        let conn = &mut self.conns[index];
        let before = conn.state;
        let result = conn.read(&mut self.buffer, self.wanted, self.now_ns, ending, &mut heard);
        if result == Ok(Found::Nothing) {
            self.heard = heard;
            return false;
        }
        let (generation, at, link) = (conn.generation, conn.iteration, conn.link);
        self.note_state(index, before);
        for answer in heard.drain(..) {
            self.answered(at, link, &answer.0, &answer.1);
        }
        self.heard = heard;
        // What TLS has to say, and calls that waited for the end of its handshake, go out before what iterations order.
        if self.conns[index].tls.is_some() && self.conns[index].wants_write {
            self.dirty.push(index);
        }
        self.obey(at);
        if self.conns[index].generation != generation {
            return true;
        }
        match result {
            // A server that closes without a word has the next request on its way to it.
            Ok(Found::End) if !self.conns[index].pipeline.is_idle() => self.lose(index, Failure::ClosedBefore),
            Ok(Found::End) => self.leave(index, Closed::InOrder, None),
            Ok(_) => self.set_deadline(index),
            Err(failure) => self.lose(index, failure),
        }
        self.obey(at);
        true
    }

    fn answered(&mut self, at: usize, link: usize, flight: &Flight, reply: &Reply) {
        let place = &mut self.places[at];
        if !place.busy || place.iteration.is_over() {
            return;
        }
        let page_check = self.page_check.as_mut().filter(|_| flight.call.uri == Uri::Fixed);
        let fault = page_check.and_then(|page_check| page_check.fault(reply));
        self.counters.replied(flight, reply, (self.spec.failure_status, fault), self.now_ns);
        let (rules, work, orders) = (&self.rules, &mut self.work, &mut self.orders);
        place.iteration.replied(link, flight, reply, rules, work, orders);
        let print = self.spec.print_reply;
        if print.header || print.body {
            self.print(&prints::of_reply(flight.call.serial, reply, print));
        }
    }

    /// A connection failed: it is counted, and its iteration is told.
    fn lose(&mut self, index: usize, failure: Failure) {
        self.counters.failed(failure);
        if self.conns[index].state != State::Up {
            self.counters.recorder.record_connection(false);
        }
        let timed_out = matches!(failure, Failure::ConnectTimeout | Failure::ReplyTimeout);
        self.leave(index, if timed_out { Closed::TimedOut } else { Closed::Failed }, Some(failure));
    }

    /// A connection is over; its iteration gets the calls back that it had.
    fn leave(&mut self, index: usize, cause: Closed, failure: Option<Failure>) {
        let (at, link) = (self.conns[index].iteration, self.conns[index].link);
        let flights = self.close(index, failure);
        let sent_again = self.rules.mode == Mode::Sessions && failure.is_none();
        for flight in &flights {
            self.counters.unanswered(flight, failure, sent_again, self.now_ns);
        }
        let place = &mut self.places[at];
        if let Some(slot) = place.conns.get_mut(link) {
            *slot = None;
        }
        let calls = flights.into_iter().map(|flight| flight.call);
        place.iteration.left(link, cause, calls, &self.rules, &mut self.work, &mut self.orders);
    }

    fn close_link(&mut self, at: usize, link: usize) {
        if let Some(index) = self.places[at].conns.get(link).copied().flatten() {
            self.leave(index, Closed::InOrder, None);
        }
    }

    /// Closes a socket and gives its place back.
    fn close(&mut self, index: usize, failure: Option<Failure>) -> VecDeque<Flight> {
        if self.is_full() {
            self.freed_ns = self.now_ns;
        }
        let conn = &mut self.conns[index];
        let flights = conn.pipeline.abandon();
        let Some(line) = conn.release() else { return flights };
        self.dialer.leave(line);
        self.timers.clear(2 * index);
        let stamps = Stamps {
            planned_ns: conn.planned_ns,
            start_ns: conn.began_ns,
            end_ns: self.now_ns.max(conn.began_ns),
            connect_ns: conn.connect_ns,
            tls_ns: conn.tls_ns,
            sent_ns: conn.began_ns,
            ..Stamps::default()
        };
        self.counters.gone(&stamps, conn.replies, (conn.bytes_in, conn.bytes_out), failure);
        let rank = conn.rank;
        self.open.swap_remove(rank);
        if let Some(&moved) = self.open.get(rank) {
            self.conns[moved].rank = rank;
        }
        self.free_conns.push(index);
        flights
    }

    /// An iteration is over: what it has open is closed.
    fn over(&mut self, at: usize, completed: bool) {
        for link in 0..self.places[at].conns.len() {
            if let Some(index) = self.places[at].conns[link].take() {
                for flight in self.close(index, None) {
                    self.counters.unanswered(&flight, None, true, self.now_ns);
                }
            }
        }
        self.orders.clear();
        let place = &mut self.places[at];
        place.busy = false;
        self.timers.clear(2 * at + 1);
        let stamps = Stamps {
            planned_ns: place.planned_ns,
            start_ns: place.start_ns,
            end_ns: self.now_ns.max(place.start_ns),
            ..Stamps::default()
        };
        self.counters.session_over(&stamps, completed, place.iteration.replies, place.iteration.connections);
        self.active -= 1;
        self.free_places.push(at);
    }

    /// Time-outs and thoughts that are over.
    fn fire(&mut self) {
        while let Some((_, vu, due)) = self.timers.pop_due(self.now_ns) {
            if due != Due::Timer {
                continue;
            }
            let at = vu / 2;
            if vu % 2 == 1 {
                let iteration = &mut self.places[at].iteration;
                iteration.thought(&self.rules, &mut self.work, &mut self.orders);
                self.obey(at);
            } else if self.conns[at].line.is_some() {
                let iteration = self.conns[at].iteration;
                let up = self.conns[at].state == State::Up;
                self.lose(at, if up { Failure::ReplyTimeout } else { Failure::ConnectTimeout });
                self.obey(iteration);
            }
        }
    }

    /// Waits for sockets, the next start, or whatever else is due.
    fn wait(&mut self) {
        if self.starts.is_none() && self.active == 0 {
            return;
        }
        let mut until_ns = self.end_ns.min(self.next_tick_ns).min(self.counters.sample_due_ns());
        let mut start = false;
        if self.starts.is_some() && self.may_begin() && !self.is_full() && self.next_start_ns < until_ns {
            (until_ns, start) = (self.next_start_ns, true);
        }
        if let Some(due_ns) = self.timers.next_before(until_ns) {
            (until_ns, start) = (due_ns, false);
        }
        // The reply is on its way: time for what the next connection needs, and for what the last one left behind.
        let follows = self.starts.is_none() && self.open.len() == 1 && self.started < self.to_start;
        self.dialer.settle(follows.then_some(self.next_server));
        match self.open.as_slice() {
            &[index] => self.wait_for_one(index, until_ns, start),
            _ => self.wait_for_many(until_ns, start),
        }
        self.sample();
    }

    fn wait_for_one(&mut self, index: usize, until_ns: Nanos, start: bool) {
        let conn = &self.conns[index];
        self.unregistered.clear();
        if !conn.registered {
            self.unregistered.push((index, conn.generation));
        }
        let write = conn.wants_write;
        if !write
            && until_ns > self.now_ns
            && let Some(poll_ns) = self.waiter.poll_ns()
        {
            let until_ns = until_ns.min(self.now_ns + poll_ns);
            let mut last_ns = self.now_ns;
            loop {
                self.now_ns = MonotonicClock.now_ns();
                let found = self.read(index, false);
                let over = self.waiter.polled(&mut last_ns, until_ns, found);
                if found {
                    return;
                }
                if over {
                    break;
                }
            }
        }
        let Some(line) = &self.conns[index].line else { return };
        let ready = self.waiter.wait_one(line.fd(), write, until_ns, start);
        self.now_ns = MonotonicClock.now_ns();
        self.handle(index, ready);
    }

    fn wait_for_many(&mut self, until_ns: Nanos, start: bool) {
        while let Some((index, generation)) = self.unregistered.pop() {
            let conn = &mut self.conns[index];
            let (Some(line), true) = (&conn.line, conn.generation == generation) else { continue };
            let token = u64::from(generation) << 32 | index as u64;
            let added = self.waiter.add(line.fd(), conn.wants_write, token);
            conn.registered = true;
            if added.is_err() {
                let at = conn.iteration;
                self.lose(index, Failure::Errno(0));
                self.obey(at);
            }
        }
        let now_ns = MonotonicClock.now_ns();
        let count = self.waiter.wait(now_ns, until_ns, start);
        self.now_ns = MonotonicClock.now_ns();
        for event in 0..count {
            let Some((token, ready)) = self.waiter.event(event) else { continue };
            let index = token as u32 as usize;
            if self.conns.get(index).is_some_and(|conn| conn.generation == (token >> 32) as u32) {
                self.handle(index, ready);
            }
        }
    }

    fn handle(&mut self, index: usize, ready: Ready) {
        let conn = &mut self.conns[index];
        let (generation, at) = (conn.generation, conn.iteration);
        if ready.write && conn.wants_write {
            let before = conn.state;
            if let Err(failure) = conn.reached(self.now_ns) {
                self.lose(index, failure);
                return self.obey(at);
            }
            self.note_state(index, before);
            self.write(index);
            self.obey(at);
        }
        if ready.read && self.conns[index].generation == generation {
            self.read(index, ready.ending);
        }
    }

    /// The trial is over: what is open is counted as such, and all figures are drawn up.
    fn finish(mut self, usage: (u64, u64)) -> CustomLoop {
        let now_ns = MonotonicClock.now_ns();
        let oldest_ns = self.open.iter().map(|&index| self.conns[index].began_ns).min().unwrap_or(now_ns);
        let open = self.open.len() as u64;
        let waiting: u64 = self
            .open
            .iter()
            .map(|&index| self.conns[index].pipeline.in_flight().filter(|f| f.written).count() as u64)
            .sum();
        self.open.clear();
        for conn in &mut self.conns {
            if let Some(line) = conn.release() {
                self.dialer.hang_up(line);
            }
        }
        let after = thread_usage_ns();
        let planned = self.planned_until(now_ns);
        self.counters.close(self.start_ns, now_ns);
        if let Some(sessions) = &mut self.counters.figures.sessions {
            sessions.unfinished = self.active;
        }
        let figures = HttperfFigures {
            connections_unfinished: open,
            requests_unfinished: waiting,
            starts: self.started,
            starts_planned: planned,
            cpu_user_s: seconds(after.0 - usage.0),
            cpu_system_s: seconds(after.1 - usage.1),
            descriptors_max: raise_file_limit(),
            hashed: self.page_check.as_ref().map_or(0, |page_check| page_check.hashed),
            ..std::mem::take(&mut self.counters.figures)
        };
        let mut recorder = self.counters.recorder;
        recorder.close_plan(Some(planned), planned - self.started.min(planned), figures.concurrent_max as usize);
        self.live.publish_time(now_ns - self.start_ns, Some(bakeoff_engine::Phase::Done));
        let connections =
            Connections { tls_full: figures.tls_full, tls_resumed: figures.tls_resumed, ..Connections::default() };
        let oldest_s = if open > 0 { seconds(now_ns - oldest_ns) } else { 0.0 };
        CustomLoop {
            recorder,
            unfinished: Unfinished { operations: open, oldest_s },
            polled_ns: self.waiter.idle_ns(),
            ended_ns: now_ns,
            connections,
            workload: serde_json::to_value(&figures).unwrap_or_default(),
        }
    }

    /// How many starts the schedule had until then.
    fn planned_until(&self, now_ns: Nanos) -> u64 {
        let Some(mut starts) = self.starts.clone() else { return self.started };
        let (mut planned, mut at_ns) = (self.started, self.next_start_ns);
        while planned < self.to_start && at_ns <= now_ns && !self.work.is_exhausted() {
            planned += 1;
            at_ns = self.start_ns + starts.next_ns();
        }
        planned
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}
