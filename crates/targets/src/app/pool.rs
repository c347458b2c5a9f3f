//! Service threads on one bounded queue, fed by an epoll reactor that is one of them.
//!
//! There is one thread more than service threads, so that whoever is free looks after the sockets. A thread that finds
//! a request there serves it itself when it can, instead of waking another for it: a queue without a hand-over, as a
//! completion port has. Requests that may take long call another thread to the sockets first, so that what arrives
//! meanwhile gets its true time of arrival. See `docs/explanation/engine.md`.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bakeoff_app_protocol::Status;

use super::connection::{Job, Limits, Slot, Step};
use super::counts::{Tally, bump};
use super::service::{Service, WorkerState};
use super::spec::{AppSpec, processors};
use crate::server::clock::{now_ns, to_ns};
use crate::server::listen::{Listener, Stream, is_shortage, reset_on_close};

const EVENTS: usize = 256;
const ACCEPTED_AT_ONCE: usize = 64;
/// Longest wait for events: the figures of the process are looked at this often.
const TICK_NS: u64 = 100_000_000;
/// With work in the queue the sockets are looked at again after this time, ns: stamps are late by no more.
const LOOK_NS: u64 = 50_000;
/// So many short requests in the queue are worth waking a second thread.
const BACKLOG: usize = 16;
const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

struct State {
    queue: VecDeque<Job>,
    /// Threads that serve a request now.
    serving: usize,
    /// A thread looks after the sockets.
    reacting: bool,
    looked_ns: u64,
    idle: usize,
    /// Idle threads that were called and have not come yet.
    called: usize,
    stopping: bool,
}

/// What only the thread that looks after the sockets uses.
struct Reactor {
    events: Vec<libc::epoll_event>,
    ticked_ns: u64,
    free: Vec<usize>,
    slots_used: usize,
}

pub(super) struct Pool {
    state: Mutex<State>,
    call: Condvar,
    reactor: Mutex<Reactor>,
    slots: Vec<Mutex<Slot>>,
    /// Slots that other threads than the reactor's have freed.
    freed: Mutex<Vec<usize>>,
    epoll: OwnedFd,
    listener: Listener,
    stopped: UnixStream,
    limits: Limits,
    threads: usize,
    short_threads: usize,
    queue_max: usize,
    pub service: Service,
    pub tallies: Vec<Tally>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    pub fn new(spec: &AppSpec, listener: Listener, stopped: UnixStream, service: Service) -> io::Result<Self> {
        // SAFETY: no pointers; the result is checked before it is owned.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was made just above and nobody else has it.
        let epoll = unsafe { OwnedFd::from_raw_fd(epoll) };
        stopped.set_nonblocking(true)?;
        let threads = spec.service_threads();
        let pool = Self {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                serving: 0,
                reacting: false,
                looked_ns: 0,
                idle: 0,
                called: 0,
                stopping: false,
            }),
            call: Condvar::new(),
            reactor: Mutex::new(Reactor {
                events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS],
                ticked_ns: 0,
                free: Vec::new(),
                slots_used: 0,
            }),
            slots: (0..spec.max_connections).map(|_| Mutex::new(Slot::new())).collect(),
            freed: Mutex::default(),
            epoll,
            listener,
            stopped,
            limits: Limits {
                payload_max: spec.payload_max_bytes,
                request_ns: to_ns(spec.request_timeout_s),
                idle_ns: to_ns(spec.idle_timeout_s),
            },
            threads,
            short_threads: threads.min(processors()),
            queue_max: spec.queue,
            service,
            tallies: (0..=threads).map(|_| Tally::default()).collect(),
        };
        pool.watch(pool.listener.as_raw_fd(), libc::EPOLLIN, LISTENER)?;
        pool.watch(pool.stopped.as_raw_fd(), libc::EPOLLIN, STOP)?;
        Ok(pool)
    }

    fn watch(&self, fd: RawFd, events: libc::c_int, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: live descriptors and a pointer to a live event.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn address(&self) -> &str {
        &self.listener.address
    }

    /// Requests that wait now.
    pub fn queued(&self) -> usize {
        lock(&self.state).queue.len()
    }

    /// Requests that are served now.
    pub fn serving(&self) -> usize {
        lock(&self.state).serving
    }

    /// The life of one of its threads.
    pub fn work(&self, number: usize) {
        let (mut hands, tally) = (WorkerState::new(), &self.tallies[number]);
        let (mut jobs, mut seen_ns) = (Vec::new(), 0);
        let mut state = lock(&self.state);
        while !state.stopping {
            let may_serve = state.serving < self.threads && !state.queue.is_empty();
            let may_look = !state.reacting;
            if may_look && (!may_serve || seen_ns > state.looked_ns + LOOK_NS) {
                state.reacting = true;
                drop(state);
                seen_ns = self.look(!may_serve, &mut jobs, tally);
                state = lock(&self.state);
                state.reacting = false;
                state.looked_ns = seen_ns;
                self.enqueue(&mut state, &mut jobs, tally);
            } else if may_serve && let Some(job) = state.queue.pop_front() {
                state.serving += 1;
                self.call_help(&mut state, &job);
                drop(state);
                let (next, done_ns) = self.serve(job, &mut hands, tally);
                seen_ns = done_ns;
                jobs.extend(next);
                state = lock(&self.state);
                state.serving -= 1;
                self.enqueue(&mut state, &mut jobs, tally);
            } else {
                state.idle += 1;
                state = self.call.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                state.called = state.called.saturating_sub(1);
            }
        }
    }

    /// Adds jobs to the queue; those beyond its bound are told that the server is busy.
    fn enqueue(&self, state: &mut State, jobs: &mut Vec<Job>, tally: &Tally) {
        for job in jobs.drain(..) {
            if state.queue.len() < self.queue_max {
                state.queue.push_back(job);
            } else {
                self.turn_down(job, tally);
            }
        }
    }

    /// Answers a job that finds no place in the queue. The client may send the next request.
    fn turn_down(&self, job: Job, tally: &Tally) {
        let (slot, now_ns) = (job.slot, now_ns());
        let mut place = lock(&self.slots[slot]);
        let mut next = Some(job);
        // What a client has sent ahead is turned down as well.
        while let Some(mut job) = next {
            tally.refused(Status::Busy);
            let (request, output) = (job.request, std::mem::take(&mut job.output));
            job.output = self.service.refusal(Status::Busy, Some(request.kind), request.sequence, output);
            let step = place.finish(job, false, &self.limits, now_ns);
            next = self.carry_out(slot, &mut place, step, now_ns, tally);
        }
    }

    /// Calls another thread when this one is about to be busy and nobody looks after the sockets or a long queue.
    fn call_help(&self, state: &mut State, job: &Job) {
        if state.reacting || state.idle == 0 || state.called > 0 {
            return;
        }
        let is_backlog = state.queue.len() >= BACKLOG && state.serving < self.short_threads;
        if is_backlog || self.service.is_long(job) {
            state.called += 1;
            self.call.notify_one();
        }
    }

    /// Serves a request and sends its reply; returns the connection's next request if that has come already.
    fn serve(&self, mut job: Job, hands: &mut WorkerState, tally: &Tally) -> (Option<Job>, u64) {
        let slot = job.slot;
        let (status, done_ns) = self.service.serve(&mut job, hands, tally);
        bump(&tally.bytes_in, job.request.frame_bytes() as u64);
        bump(&tally.bytes_out, job.output.len() as u64);
        let refused = status != Status::Ok;
        if refused {
            tally.refused(status);
        }
        let mut place = lock(&self.slots[slot]);
        let step = place.finish(job, refused, &self.limits, done_ns);
        (self.carry_out(slot, &mut place, step, done_ns, tally), done_ns)
    }

    /// Does what a connection's step asks for; returns its request if it has one.
    fn carry_out(&self, slot: usize, place: &mut Slot, step: Step, now_ns: u64, tally: &Tally) -> Option<Job> {
        match step {
            Step::Wait => {}
            Step::Job(mut job) => {
                job.slot = slot;
                return Some(job);
            }
            Step::End => self.end(slot, place, tally),
            Step::Refuse(status, kind, sequence) => {
                tally.refused(status);
                let output = self.service.refusal(status, kind, sequence, Vec::new());
                bump(&tally.bytes_out, output.len() as u64);
                if let Step::End = place.reply(output, true, &self.limits, now_ns) {
                    self.end(slot, place, tally);
                }
            }
        }
        None
    }

    fn end(&self, slot: usize, place: &mut Slot, tally: &Tally) {
        bump(&tally.closed, 1);
        if let Some(session) = place.close() {
            self.service.release(*session);
        }
        lock(&self.freed).push(slot);
    }

    /// Looks after the sockets: waits when asked to, collects complete requests. Returns the time.
    fn look(&self, wait: bool, jobs: &mut Vec<Job>, tally: &Tally) -> u64 {
        let mut reactor = lock(&self.reactor);
        let timeout_ms = if wait { (TICK_NS / 1_000_000) as libc::c_int } else { 0 };
        // SAFETY: a live epoll descriptor and room for EVENTS events.
        let count = unsafe {
            libc::epoll_wait(self.epoll.as_raw_fd(), reactor.events.as_mut_ptr(), EVENTS as libc::c_int, timeout_ms)
        };
        let mut at_ns = now_ns();
        for index in 0..count.max(0) as usize {
            let token = reactor.events[index].u64;
            match token {
                LISTENER => self.accept(&mut reactor, at_ns, tally),
                STOP => self.stop(),
                _ => jobs.extend(self.ready(token, at_ns, tally)),
            }
            at_ns = now_ns();
        }
        if at_ns - reactor.ticked_ns >= TICK_NS {
            reactor.ticked_ns = at_ns;
            self.tick(reactor.slots_used, at_ns, tally);
        }
        at_ns
    }

    fn ready(&self, token: u64, now_ns: u64, tally: &Tally) -> Option<Job> {
        let slot = token as u32 as usize;
        let mut place = lock(&self.slots[slot]);
        if place.generation != (token >> 32) as u32 {
            return None;
        }
        let step = place.ready(&self.limits, now_ns);
        self.carry_out(slot, &mut place, step, now_ns, tally)
    }

    fn accept(&self, reactor: &mut Reactor, now_ns: u64, tally: &Tally) {
        for _ in 0..ACCEPTED_AT_ONCE {
            let fd: OwnedFd = match self.listener.accept() {
                Ok(Stream::Tcp(stream)) => stream.into(),
                Ok(Stream::Unix(stream)) => stream.into(),
                Err(error) => {
                    if is_shortage(&error) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    return;
                }
            };
            reactor.free.append(&mut lock(&self.freed));
            let slot = reactor.free.pop().unwrap_or_else(|| {
                reactor.slots_used += 1;
                reactor.slots_used - 1
            });
            let Some(place) = self.slots.get(slot) else {
                reactor.slots_used -= 1;
                bump(&tally.connections_refused, 1);
                reset_on_close(std::os::fd::AsFd::as_fd(&fd));
                continue;
            };
            bump(&tally.connections, 1);
            let mut place = lock(place);
            let token = u64::from(place.generation) << 32 | slot as u64;
            let raw = fd.as_raw_fd();
            place.open(fd, now_ns + self.limits.request_ns);
            let events = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
            if self.watch(raw, events, token).is_err() {
                self.end(slot, &mut place, tally);
            }
        }
    }

    /// Ten times a second: what the process has used, and whose time is up.
    fn tick(&self, slots: usize, now_ns: u64, tally: &Tally) {
        self.service.used.look(now_ns.saturating_sub(self.service.started_ns()));
        for slot in 0..slots {
            let mut place = lock(&self.slots[slot]);
            let step = place.overdue(now_ns);
            self.carry_out(slot, &mut place, step, now_ns, tally);
        }
    }

    fn stop(&self) {
        let again = matches!((&self.stopped).read(&mut [0]), Err(e) if e.kind() == io::ErrorKind::WouldBlock);
        if !again {
            lock(&self.state).stopping = true;
            self.call.notify_all();
        }
    }
}
