//! Drives one file session and stamps its calls. One reading of the clock per call: the end of one is the start
//! of the next, unless something that must not be counted (filling, checking, waiting) lies between.

use crate::schedule::{Schedule, first_delay_ns};
use crate::{
    BarrierSpan, Clock, FileBuffers, FileCall, FileContext, FileProgress, FileResult, FileSession, FileStep,
    FileWorkload, Identity, Live, Nanos, Recorder, SharedTimes, Stamps, TrialSpec,
};
use std::sync::Arc;

/// What the executor does next for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileNext {
    /// Carry this call out, then tell [`FileDriver::done`].
    Call(FileCall),
    /// Call [`FileDriver::arrived`], wait for all sessions, then call [`FileDriver::released`].
    Barrier,
    /// The same with all sessions of all machines.
    FleetBarrier,
    /// Wait until this moment, then call [`FileDriver::resumed`].
    Wait(Nanos),
    /// Nothing until another slot has finished.
    Idle,
    /// The session asks to end the whole trial; [`FileSession::fault`] says why.
    Abort,
    /// The session ends; calls in flight are still waited for.
    Stopped,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    operation_start_ns: Nanos,
    call_start_ns: Nanos,
    call: Option<FileCall>,
    check: bool,
    inside: bool,
    /// Holds the right to start one operation of a trial that is bounded by a count.
    allowed: bool,
    /// Its next operation is to begin then; 0 when nobody has said so yet.
    due_ns: Nanos,
}

const FREE: Slot = Slot {
    operation_start_ns: 0,
    call_start_ns: 0,
    call: None,
    check: false,
    inside: false,
    allowed: false,
    due_ns: 0,
};

/// When a barrier has let a session go.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "units come last in names")]
struct Released {
    opened_ns: Nanos,
    /// How much later the session's thread went on.
    late_ns: Nanos,
    /// What the thread had waited for processors until then; `None` when the kernel does not tell.
    run_delay_ns: Option<Nanos>,
}

/// The time is published at most so often, ns.
const PUBLISH_NS: Nanos = 10_000_000;

/// One session with its stamps and counts.
#[derive(Debug)]
pub struct FileDriver<S, C> {
    session: S,
    clock: C,
    recorder: Recorder,
    live: Arc<Live>,
    client: u32,
    thread: usize,
    slots: Vec<Slot>,
    mark_ns: Nanos,
    end_ns: Nanos,
    schedule: Schedule,
    published_ns: Nanos,
    outside_ns: Nanos,
    released_ns: Nanos,
    released: Option<Released>,
    /// All operations of a trial that is bounded by a count were begun.
    over: bool,
}

impl<S: FileSession, C: Clock> FileDriver<S, C> {
    /// The driver of session `thread` (from 0, over all clients of the trial, whoever drives them), one of those that
    /// share `times`.
    pub fn new<W: FileWorkload<Session = S>>(
        workload: &W,
        spec: &TrialSpec,
        live: Arc<Live>,
        times: Arc<SharedTimes>,
        thread: u32,
        start_ns: Nanos,
        clock: C,
    ) -> Self {
        let timeline = spec.timeline(start_ns);
        let client = thread / spec.virtual_users;
        let identity = Identity { client, vu: thread % spec.virtual_users, seed: spec.seed };
        let depth = workload.needs().depth.max(1) as usize;
        let schedule = Schedule::of_load(spec, (thread, spec.sessions()), timeline, None);
        let names = workload.operations();
        let recorder =
            Recorder::lazy(timeline, names.len(), spec.clients() as usize).sharing(times).with_steps(workload.steps());
        let first = spec.own_clients().start * spec.virtual_users;
        live.show((thread - first) as usize, names, recorder.tally());
        Self {
            session: workload.session(identity),
            clock,
            recorder: if schedule.is_planned() { recorder.with_plan() } else { recorder },
            live,
            client,
            thread: thread as usize,
            slots: vec![FREE; depth],
            mark_ns: start_ns,
            end_ns: timeline.end_ns,
            schedule,
            published_ns: start_ns,
            outside_ns: 0,
            released_ns: 0,
            released: None,
            over: false,
        }
    }

    /// When the session is to begin: the start plus its random delay. What it begins with is no operation as a rule:
    /// a plan of starts counts from the end of the first one.
    pub fn first_start(&self, spec: &TrialSpec) -> Nanos {
        self.recorder.timeline().start_ns + first_delay_ns(spec, self.client, self.thread as u32 % spec.virtual_users)
    }

    /// The session waited (for its start or a pause) and goes on now.
    pub fn resumed(&mut self, planned_ns: Option<Nanos>) {
        self.mark_ns = self.clock.now_ns();
        if let Some(planned_ns) = planned_ns {
            self.recorder.late_start(self.mark_ns.saturating_sub(planned_ns));
        }
        self.publish();
    }

    /// The session comes to a barrier; its thread has waited `run_delay_ns` for processors since it began.
    pub fn arrived(&mut self, run_delay_ns: Option<Nanos>) {
        let Some(released) = self.released.take() else { return };
        let length_ns = self.clock.now_ns().saturating_sub(released.opened_ns);
        let ready_ns = run_delay_ns.zip(released.run_delay_ns).map_or(0, |(now, then)| now.saturating_sub(then));
        self.session.passed_barrier(BarrierSpan { length_ns, waited_ns: (released.late_ns + ready_ns).min(length_ns) });
    }

    /// The session goes on from a barrier that opened at `opened_ns`. `released_ns` is the moment at which all machines
    /// were to go on, 0 without others.
    pub fn released(&mut self, opened_ns: Nanos, released_ns: Nanos, run_delay_ns: Option<Nanos>) {
        self.released_ns = released_ns;
        self.resumed(None);
        let late_ns = self.mark_ns.saturating_sub(opened_ns);
        self.released = Some(Released { opened_ns, late_ns, run_delay_ns });
    }

    /// The session, for its names.
    #[inline]
    pub fn session(&self) -> &S {
        &self.session
    }

    /// The session, to hand it observations.
    pub fn session_mut(&mut self) -> &mut S {
        &mut self.session
    }

    /// The last stamp, ns.
    #[inline]
    pub fn mark_ns(&self) -> Nanos {
        self.mark_ns
    }

    /// Slots.
    pub fn depth(&self) -> usize {
        self.slots.len()
    }

    /// Time inside the window that was spent on buffers and counts, outside all stamped times, ns.
    pub fn outside_ns(&self) -> Nanos {
        self.outside_ns
    }

    /// Filling, checking or counting is over: what follows is stamped from here.
    fn step_outside(&mut self) {
        let now_ns = self.clock.now_ns();
        if self.recorder.timeline().in_window(now_ns) {
            self.outside_ns += now_ns - self.mark_ns;
        }
        self.mark_ns = now_ns;
    }

    /// What a free slot does next.
    #[inline]
    pub fn next(&mut self, slot: u32, others_wait: bool, buffers: &mut impl FileBuffers) -> FileNext {
        let index = slot as usize;
        let inside = self.slots[index].inside;
        if !inside && self.live.is_cancelled() {
            return FileNext::Stopped;
        }
        if !inside && (self.over || self.mark_ns >= self.end_ns) {
            return self.after(slot, buffers);
        }
        if self.slots[index].due_ns > self.mark_ns {
            return FileNext::Wait(self.slots[index].due_ns.min(self.end_ns));
        }
        let context = FileContext { now_ns: self.mark_ns, others_wait, released_ns: self.released_ns };
        loop {
            match self.session.next(slot, &context) {
                FileStep::Call { call, prepare, check } => {
                    if !self.slots[index].allowed {
                        if !self.live.take_one() {
                            self.over = true;
                            return self.after(slot, buffers);
                        }
                        self.slots[index].allowed = true;
                    }
                    if prepare {
                        self.prepare(slot, &call, buffers);
                    }
                    let state = &mut self.slots[index];
                    state.call = Some(call);
                    state.check = check;
                    state.call_start_ns = self.mark_ns;
                    if !inside {
                        state.operation_start_ns = self.mark_ns;
                    }
                    return FileNext::Call(call);
                }
                FileStep::Focus(operation) => {
                    self.recorder.focus(operation);
                    self.mark_ns = self.clock.now_ns();
                }
                FileStep::Barrier => {
                    self.publish();
                    return FileNext::Barrier;
                }
                FileStep::FleetBarrier => {
                    self.publish();
                    return FileNext::FleetBarrier;
                }
                // No pause outlasts the trial.
                FileStep::Pause(pause_ns) => {
                    return FileNext::Wait(self.mark_ns.saturating_add(pause_ns).min(self.end_ns));
                }
                FileStep::Idle => return FileNext::Idle,
                FileStep::Abort => return FileNext::Abort,
                FileStep::Finished => return FileNext::Stopped,
            }
        }
    }

    /// What a slot does when the measured part is over.
    #[cold]
    fn after(&mut self, slot: u32, buffers: &mut impl FileBuffers) -> FileNext {
        let context = FileContext { now_ns: self.mark_ns, others_wait: false, released_ns: self.released_ns };
        match self.session.after(slot, &context) {
            Some(FileStep::Call { call, prepare, check }) => {
                if prepare {
                    self.prepare(slot, &call, buffers);
                }
                let state = &mut self.slots[slot as usize];
                (state.call, state.check, state.call_start_ns) = (Some(call), check, self.mark_ns);
                FileNext::Call(call)
            }
            Some(FileStep::Abort) => FileNext::Abort,
            _ => FileNext::Stopped,
        }
    }

    fn prepare(&mut self, slot: u32, call: &FileCall, buffers: &mut impl FileBuffers) {
        if let Some((buffer, length)) = call.transfer() {
            self.session.fill(slot, buffers.slice(buffer, length as usize));
            self.step_outside();
        }
    }

    /// The call of a slot has returned `value` (bytes, or the negative error number) just now.
    #[inline]
    pub fn done(&mut self, slot: u32, value: i64, buffers: &mut impl FileBuffers) {
        self.done_at(self.clock.now_ns(), slot, value, buffers);
    }

    /// As [`FileDriver::done`] for a call that was over at `end_ns`: several may be, and checking the first ones is no
    /// time of the others.
    #[inline]
    pub fn done_at(&mut self, end_ns: Nanos, slot: u32, value: i64, buffers: &mut impl FileBuffers) {
        self.mark_ns = self.mark_ns.max(end_ns);
        let state = self.slots[slot as usize];
        let damaged = state.check && value > 0 && self.damaged(slot, value, buffers);
        let result = FileResult { value, start_ns: state.call_start_ns, end_ns, damaged };
        let progress = self.session.done(slot, &result);
        let state = &mut self.slots[slot as usize];
        state.call = None;
        match progress {
            FileProgress::Pending => state.inside = true,
            FileProgress::Untimed => {
                state.inside = false;
                self.mark_ns = self.clock.now_ns();
            }
            FileProgress::Done(outcome) => {
                state.inside = false;
                state.allowed = false;
                let start_ns = state.operation_start_ns;
                let planned_ns = self.schedule.planned_of(state.due_ns, start_ns);
                let stamps = Stamps { planned_ns, start_ns, end_ns, sent_ns: start_ns, ..Stamps::default() };
                self.recorder.record_start(planned_ns);
                self.recorder.record_iteration(planned_ns, end_ns, outcome.error.is_none());
                state.due_ns = self.schedule.next_ns(end_ns, state.due_ns == 0);
                if state.due_ns < end_ns && end_ns < self.end_ns {
                    self.recorder.record_late(state.due_ns, end_ns - state.due_ns);
                }
                self.recorder.record(self.client, &outcome, &stamps);
                self.recorder.record_told_steps(end_ns, self.session.steps());
                if self.recorder.is_full() {
                    self.recorder.relieve();
                    self.step_outside();
                }
            }
        }
        if end_ns.wrapping_sub(self.published_ns) > PUBLISH_NS {
            self.publish();
        }
    }

    fn damaged(&mut self, slot: u32, value: i64, buffers: &mut impl FileBuffers) -> bool {
        let Some((buffer, length)) = self.slots[slot as usize].call.and_then(|call| call.transfer()) else {
            return false;
        };
        let read = (value as usize).min(length as usize);
        let right = self.session.check(slot, buffers.slice(buffer, read));
        self.step_outside();
        !right
    }

    fn publish(&mut self) {
        self.published_ns = self.mark_ns;
        let timeline = self.recorder.timeline();
        let started = self.mark_ns >= timeline.start_ns;
        let phase = timeline.phase(self.mark_ns);
        self.live.publish_time(self.mark_ns.saturating_sub(timeline.start_ns), started.then_some(phase));
    }

    /// Calls in flight and the age of the oldest, ns.
    pub fn unfinished(&self, now_ns: Nanos) -> (u64, u64) {
        let running = self.slots.iter().filter(|slot| slot.inside || slot.call.is_some());
        running.fold((0, 0), |(count, oldest), slot| {
            (count + 1, oldest.max(now_ns.saturating_sub(slot.operation_start_ns)))
        })
    }

    /// Ends the session: its counts and the session itself.
    pub fn into_parts(mut self) -> (Recorder, S) {
        self.publish();
        if let Schedule::Planned(plan) = &self.schedule {
            for slot in self.slots.iter().filter(|slot| slot.inside || slot.call.is_some()) {
                self.recorder.record_start(slot.due_ns);
                self.recorder.record_unfinished(slot.due_ns, true);
            }
            plan.rest().for_each(|planned_ns| self.recorder.record_unbegun(planned_ns));
            self.recorder.close_plan(plan.offered(self.mark_ns), plan.left(), 1);
        }
        self.recorder.end();
        (self.recorder, self.session)
    }
}

#[cfg(test)]
mod tests;
