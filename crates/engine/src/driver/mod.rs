//! Drives sessions through their operations and stamps every step: the engine measures, not the workload.

mod ending;
mod idle;
mod making;
mod parts;
mod streams;

use crate::schedule::Schedule;
use crate::{
    Actions, ErrorClass, Event, IntervalCost, Live, Nanos, Outcome, Phase, Progress, Recorder, SECOND_NS, Session,
    Stamps,
};
use idle::Idle;
use parts::Part;
use std::sync::Arc;

/// A monotonic clock. The platform has the real one, tests a virtual one.
pub trait Clock {
    /// Now, ns.
    fn now_ns(&self) -> Nanos;
}

/// What a virtual user does next; the transport acts on it together with the [`Actions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The operation goes on.
    Pending,
    /// An operation was finished and the next one has begun; the actions are the new one's.
    Begun,
    /// Nothing to do until this moment; then call [`Driver::begin`].
    Wait(Nanos),
    /// The iteration is over, and no start is due: [`Driver::begin_planned`] says when the virtual user goes on.
    Idle,
    /// This virtual user starts no more operations.
    Stopped,
}

/// Pauses after repeated connection failures: they double from the first to the second value, ns.
const BACK_OFF_FIRST_NS: Nanos = 1_000_000;
const BACK_OFF_LAST_NS: Nanos = 100_000_000;

#[derive(Debug)]
struct VirtualUser<S> {
    session: S,
    client: u32,
    busy: bool,
    connecting: bool,
    stamps: Stamps,
    deadline_ns: Nanos,
    part: Part,
    failures: u32,
    /// How late the iteration began, for all of its operations.
    late_ns: Nanos,
    /// When the operation in progress began to turn its connection to TLS.
    turned_ns: Option<Nanos>,
    /// For when the iteration was planned that goes on; `Nanos::MAX` where none does.
    iteration_ns: Nanos,
}

/// All virtual users (threads or streams of clients) of one load-generating thread.
#[derive(Debug)]
pub struct Driver<S, C> {
    vus: Vec<VirtualUser<S>>,
    clock: C,
    recorder: Recorder,
    live: Arc<Live>,
    thread: usize,
    schedule: Schedule,
    idle: Idle,
    connect_timeout_ns: Nanos,
    reply_timeout_ns: Nanos,
    end_ns: Nanos,
    batch_ns: Nanos,
    busy: usize,
    planned: usize,
    /// Virtual users that share a connection.
    streams: usize,
}

impl<S: Session, C: Clock> Driver<S, C> {
    /// Virtual users of this thread.
    pub fn len(&self) -> usize {
        self.vus.len()
    }

    /// Whether this thread has nothing to do at all.
    pub fn is_empty(&self) -> bool {
        self.vus.is_empty()
    }

    /// Whether no operation runs and none is planned.
    pub fn is_finished(&self) -> bool {
        let nothing_left = match &self.schedule {
            Schedule::AfterPause(_) => false,
            Schedule::Planned(plan) => {
                self.idle.is_closed() || plan.next_ns() >= self.end_ns || self.live.is_exhausted()
            }
        };
        self.busy == 0 && (self.planned == 0 || nothing_left)
    }

    /// The session of a virtual user, for [`Session::outgoing`].
    #[inline]
    pub fn session(&self, vu: usize) -> &S {
        &self.vus[vu].session
    }

    /// Now, ns.
    #[inline]
    pub fn now_ns(&self) -> Nanos {
        self.clock.now_ns()
    }

    /// The transport has just learnt of a batch of events.
    #[inline]
    pub fn batch(&mut self, now_ns: Nanos) {
        self.batch_ns = now_ns;
    }

    /// Tells the watcher the time; returns the phase.
    pub fn publish(&self, now_ns: Nanos) -> Phase {
        let timeline = self.recorder.timeline();
        let phase = timeline.phase(now_ns);
        let started = now_ns >= timeline.start_ns;
        self.live.publish_time(now_ns.saturating_sub(timeline.start_ns), started.then_some(phase));
        phase
    }

    /// Begins the operation of a virtual user that was to begin at `due_ns`.
    pub fn begin(&mut self, vu: usize, due_ns: Nanos, actions: &mut Actions) -> Next {
        let now_ns = self.clock.now_ns();
        if self.live.is_starting() {
            self.publish(now_ns); // what is counted from here on has a time
        }
        self.recorder.late_start(now_ns.saturating_sub(due_ns));
        self.begin_now(vu, due_ns - self.vus[vu].late_ns, now_ns, actions)
    }

    /// The moment of the next planned start, when a virtual user is idle to take it; else `Nanos::MAX`.
    #[inline]
    pub fn next_start_ns(&self) -> Nanos {
        match &self.schedule {
            Schedule::Planned(plan) if self.idle.has_one() => plan.next_ns(),
            _ => Nanos::MAX,
        }
    }

    /// The idle virtual user whose turn it is.
    pub fn next_idle(&self) -> Option<usize> {
        self.idle.next()
    }

    /// Begins the next planned start on the idle virtual user whose turn it is, unless it is still to come or there is
    /// no such virtual user; says which virtual user that was.
    pub fn begin_planned(&mut self, actions: &mut Actions) -> Option<(usize, Next)> {
        let now_ns = self.clock.now_ns();
        let Schedule::Planned(plan) = &mut self.schedule else { return None };
        if now_ns >= self.end_ns {
            self.idle.close();
        } else if plan.next_ns() > now_ns {
            return None;
        }
        let vu = self.idle.take()?;
        if self.live.is_starting() {
            self.publish(now_ns);
        }
        let next = self.begin_iteration(vu, now_ns, actions);
        if next == Next::Begun {
            self.recorder.late_start(self.vus[vu].late_ns);
        }
        Some((vu, next))
    }

    /// Begins the next planned start, which is due, on a virtual user that is free.
    fn begin_iteration(&mut self, vu: usize, now_ns: Nanos, actions: &mut Actions) -> Next {
        let Schedule::Planned(plan) = &mut self.schedule else { return Next::Stopped };
        let (planned_ns, index) = plan.take();
        let state = &mut self.vus[vu];
        state.late_ns = now_ns.saturating_sub(planned_ns);
        state.session.assigned(index);
        let next = self.begin_now(vu, planned_ns, now_ns, actions);
        if next == Next::Begun {
            self.vus[vu].iteration_ns = planned_ns;
            self.idle.begun(vu);
            self.recorder.record_start(planned_ns);
        }
        next
    }

    #[inline]
    fn begin_now(&mut self, vu: usize, planned_ns: Nanos, now_ns: Nanos, actions: &mut Actions) -> Next {
        if now_ns >= self.end_ns || !self.live.take_one() {
            self.planned -= 1;
            return Next::Stopped;
        }
        let vu = &mut self.vus[vu];
        vu.busy = true;
        self.busy += 1;
        vu.stamps = Stamps { planned_ns, start_ns: now_ns, sent_ns: now_ns, ..Stamps::default() };
        vu.session.begin(actions);
        if actions.stop {
            vu.busy = false;
            self.busy -= 1;
            self.planned -= 1;
            return Next::Stopped;
        }
        vu.connecting = actions.connect.is_some();
        vu.deadline_ns = now_ns + if vu.connecting { self.connect_timeout_ns } else { self.reply_timeout_ns };
        Next::Begun
    }

    /// The transport connection of a virtual user is open. With TLS to come, `secured` follows later.
    pub fn connected(&mut self, vu: usize, tls_follows: bool, actions: &mut Actions) -> Next {
        let now_ns = self.clock.now_ns();
        self.recorder.connections_opened += 1;
        let state = &mut self.vus[vu];
        let asked_ns = state.part.begun_ns().unwrap_or(state.stamps.start_ns);
        state.stamps.connect_ns = Some(state.stamps.connect_ns.unwrap_or(0) + now_ns - asked_ns);
        state.stamps.sent_ns = now_ns;
        if tls_follows {
            return Next::Pending;
        }
        self.ready(vu, now_ns, actions)
    }

    /// The TLS handshake of a virtual user is done.
    pub fn secured(&mut self, vu: usize, actions: &mut Actions) -> Next {
        let now_ns = self.clock.now_ns();
        let state = &mut self.vus[vu];
        let stamps = &mut state.stamps;
        if let Some(asked_ns) = state.turned_ns.take() {
            // Within an operation, behind the reply that allowed it: it is neither the wait for that nor the rest.
            stamps.tls_ns = Some(stamps.tls_ns.unwrap_or(0) + now_ns - asked_ns);
            stamps.turned_ns += now_ns - asked_ns;
        } else {
            stamps.tls_ns = Some(stamps.tls_ns.unwrap_or(0) + now_ns - stamps.sent_ns);
            stamps.sent_ns = now_ns;
        }
        self.ready(vu, now_ns, actions)
    }

    fn ready(&mut self, vu: usize, now_ns: Nanos, actions: &mut Actions) -> Next {
        let state = &mut self.vus[vu];
        state.connecting = false;
        state.deadline_ns = now_ns + self.reply_timeout_ns;
        match state.session.advance(Event::Connected, actions) {
            Progress::Pending | Progress::Part(_) => Next::Pending,
            Progress::Done(outcome) => self.finish(vu, &outcome, now_ns, actions),
        }
    }

    /// All that a virtual user had to send is written: the wait for the reply begins.
    pub fn written(&mut self, vu: usize) {
        let now_ns = self.clock.now_ns();
        let stamps = &mut self.vus[vu].stamps;
        stamps.written_ns = Some(stamps.written_ns.unwrap_or(0) + now_ns - stamps.sent_ns);
        stamps.sent_ns = now_ns;
    }

    /// Something happened on the connection of a virtual user.
    #[inline]
    pub fn event(&mut self, vu: usize, event: Event<'_>, actions: &mut Actions) -> Next {
        let state = &mut self.vus[vu];
        let progress = state.session.advance(event, actions);
        if !state.busy {
            // Between operations: only a session that keeps track of its connection cares.
            return Next::Pending;
        }
        match progress {
            Progress::Pending => {
                if state.part == Part::Pause && actions.send {
                    let now_ns = self.clock.now_ns();
                    return self.part_begins(vu, now_ns, actions);
                }
                if state.stamps.first_byte_ns.is_none() && event.is_arrival() {
                    state.stamps.first_byte_ns = Some(self.clock.now_ns());
                }
                if actions.secure {
                    // The handshake is timed from here, not from the command that asked for it.
                    state.turned_ns = Some(self.clock.now_ns());
                }
                if actions.connect.is_some() {
                    let now_ns = self.clock.now_ns();
                    return self.reconnecting(vu, now_ns);
                }
                Next::Pending
            }
            Progress::Part(step) => self.part_over(vu, step, actions),
            Progress::Done(outcome) => {
                let now_ns = self.clock.now_ns();
                if state.stamps.first_byte_ns.is_none() && event.is_arrival() {
                    state.stamps.first_byte_ns = Some(now_ns);
                }
                self.finish(vu, &outcome, now_ns, actions)
            }
        }
    }

    /// A part of a virtual user's operation is over now. What the session does with the reply comes after the stamp; an
    /// operation that ends with this part ended at that moment.
    fn part_over(&mut self, vu: usize, step: u16, actions: &mut Actions) -> Next {
        let now_ns = self.clock.now_ns();
        let state = &mut self.vus[vu];
        let begun_ns = state.part.begun_ns().unwrap_or(state.stamps.start_ns);
        self.recorder.record_told_steps(now_ns, &[(step, now_ns - begun_ns)]);
        // The first byte of one reply of several says nothing of the operation.
        state.stamps.first_byte_ns = None;
        state.part = Part::Pause;
        match state.session.go_on(actions) {
            Progress::Done(outcome) => self.finish(vu, &outcome, now_ns, actions),
            Progress::Pending | Progress::Part(_) if actions.send => {
                let begins_ns = self.clock.now_ns();
                self.part_begins(vu, begins_ns, actions)
            }
            Progress::Pending | Progress::Part(_) => {
                state.deadline_ns = now_ns + actions.timer_ns.unwrap_or(0) + self.reply_timeout_ns;
                Next::Pending
            }
        }
    }

    /// A later part of a virtual user's operation is sent now.
    fn part_begins(&mut self, vu: usize, now_ns: Nanos, actions: &Actions) -> Next {
        let state = &mut self.vus[vu];
        state.part = Part::Begun(now_ns);
        state.stamps.sent_ns = now_ns;
        state.stamps.first_byte_ns = None;
        if actions.connect.is_some() {
            return self.reconnecting(vu, now_ns);
        }
        state.deadline_ns = now_ns + self.reply_timeout_ns;
        Next::Pending
    }

    /// A session opens another connection within its operation.
    #[cold]
    fn reconnecting(&mut self, vu: usize, now_ns: Nanos) -> Next {
        let state = &mut self.vus[vu];
        state.connecting = true;
        state.deadline_ns = now_ns + self.connect_timeout_ns;
        Next::Pending
    }

    /// The operation of a virtual user failed below its protocol; its connection is gone.
    pub fn failure(&mut self, vu: usize, error: ErrorClass, actions: &mut Actions) -> Next {
        let now_ns = self.clock.now_ns();
        let state = &mut self.vus[vu];
        if state.part == Part::Pause {
            // Nothing was asked of it: as if the server had closed it in order.
            return self.event(vu, Event::Closed, actions);
        }
        if state.connecting {
            self.recorder.connections_failed += 1;
        }
        let error = match error {
            ErrorClass::ResetBeforeFirstByte if state.stamps.first_byte_ns.is_some() => ErrorClass::ResetAfterFirstByte,
            other => other,
        };
        let outcome = state.session.fail(error);
        if !state.busy {
            return Next::Pending;
        }
        self.finish(vu, &outcome, now_ns, actions)
    }

    /// The server of a virtual user had closed the connection before the request reached it; `None` when the session
    /// does not ask again.
    pub fn unheard(&mut self, vu: usize, actions: &mut Actions) -> Option<Next> {
        let now_ns = self.clock.now_ns();
        let state = &mut self.vus[vu];
        let again = state.busy && !state.connecting && state.session.ask_again(actions);
        again.then(|| self.reconnecting(vu, now_ns))
    }

    /// A connection that a session had left was closed by its server, `waited_ns` after it was left, or `late` by us.
    pub fn left(&mut self, waited_ns: u64, late: bool) {
        let now_ns = self.clock.now_ns();
        self.recorder.record_close(now_ns, waited_ns, late);
    }

    /// Whether an interval of a soak is over: [`Driver::hand_in`] is due.
    #[inline]
    pub fn interval_is_due(&self, now_ns: Nanos) -> bool {
        self.recorder.interval_is_due(now_ns)
    }

    /// Hands in the intervals that are over; this thread spent `cost` since it did so before.
    pub fn hand_in(&mut self, now_ns: Nanos, cost: IntervalCost) {
        self.live.hand_in(self.recorder.fetch_intervals(now_ns), cost);
    }

    /// The trial ended: hands in the intervals that are left.
    pub fn hand_in_rest(&mut self, ended_ns: Nanos, cost: IntervalCost) {
        self.live.hand_in(self.recorder.close_intervals(ended_ns), cost);
    }

    /// Whether any operation runs.
    pub fn is_busy(&self) -> bool {
        self.busy > 0
    }

    #[inline]
    fn finish(&mut self, vu: usize, outcome: &Outcome, now_ns: Nanos, actions: &mut Actions) -> Next {
        let state = &mut self.vus[vu];
        state.busy = false;
        state.connecting = false;
        state.part = Part::First;
        state.turned_ns = None;
        state.deadline_ns = Nanos::MAX;
        state.stamps.end_ns = now_ns;
        self.busy -= 1;
        self.recorder.record(state.client, outcome, &state.stamps);
        let due_ns = if outcome.error.is_none() {
            self.recorder.record_told_steps(now_ns, state.session.steps(now_ns - state.stamps.start_ns));
            state.failures = 0;
            self.schedule.due_ns(now_ns, 0)
        } else {
            state.failures = state.failures.saturating_add(1);
            self.schedule.due_ns(now_ns, pause_after(outcome.error, state.failures))
        };
        state.session.finished(outcome, &state.stamps);
        self.recorder.lag.record(now_ns.saturating_sub(self.batch_ns));
        if due_ns == now_ns {
            return self.begin_now(vu, now_ns, now_ns, actions);
        }
        if self.schedule.is_planned() {
            return self.follow_plan(vu, outcome.error, now_ns, actions);
        }
        self.begin_later(due_ns)
    }

    fn begin_later(&mut self, due_ns: Nanos) -> Next {
        if due_ns >= self.end_ns || self.live.is_exhausted() {
            self.planned -= 1;
            return Next::Stopped;
        }
        Next::Wait(due_ns)
    }

    /// A virtual user of a load with planned starts has ended an operation: its iteration goes on, or is over.
    #[inline(never)]
    fn follow_plan(&mut self, vu: usize, error: Option<ErrorClass>, now_ns: Nanos, actions: &mut Actions) -> Next {
        let VirtualUser { session, failures, late_ns, .. } = &self.vus[vu];
        if !session.goes_on() {
            let iteration_ns = std::mem::replace(&mut self.vus[vu].iteration_ns, Nanos::MAX);
            self.recorder.record_iteration(iteration_ns, now_ns, error.is_none());
            return self.end_iteration(vu, now_ns, actions);
        }
        let (late_ns, back_off_ns) = (*late_ns, pause_after(error, *failures));
        if back_off_ns > 0 {
            return self.begin_later(now_ns + back_off_ns);
        }
        self.begin_now(vu, now_ns - late_ns, now_ns, actions)
    }

    /// The iteration of a virtual user is over: it takes the next start when that is due, and waits for it idly when
    /// not.
    fn end_iteration(&mut self, vu: usize, now_ns: Nanos, actions: &mut Actions) -> Next {
        let Schedule::Planned(plan) = &self.schedule else { return Next::Stopped };
        if plan.next_ns() > now_ns || now_ns >= self.end_ns {
            self.idle.put(vu);
            return Next::Idle;
        }
        let waited = self.idle.is_empty();
        let next = self.begin_iteration(vu, now_ns, actions);
        if next == Next::Begun {
            let late_ns = self.vus[vu].late_ns;
            if waited {
                self.recorder.record_late(now_ns - late_ns, late_ns);
            } else {
                // Another virtual user was idle when it was due: the generator itself was late.
                self.recorder.late_start(late_ns);
            }
        }
        next
    }
}

/// How long a virtual user waits after a failure: not at all when the server has answered.
fn pause_after(error: Option<ErrorClass>, failures: u32) -> Nanos {
    match error {
        None | Some(ErrorClass::WrongStatus | ErrorClass::WrongContent | ErrorClass::PutOff) => 0,
        Some(_) => back_off_ns(failures),
    }
}

/// No pause after a first failure, then 1 ms, doubled up to 100 ms: a dead server is not hammered.
fn back_off_ns(failures: u32) -> Nanos {
    if failures < 2 {
        return 0;
    }
    let doubled = BACK_OFF_FIRST_NS.saturating_mul(1 << (failures - 2).min(10));
    doubled.min(BACK_OFF_LAST_NS).min(SECOND_NS)
}

#[cfg(test)]
mod tests;
