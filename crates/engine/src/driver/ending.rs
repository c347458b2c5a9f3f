//! What is left when an operation takes too long, and when the trial ends.

use super::{Clock, Driver};
use crate::schedule::Schedule;
use crate::{ErrorClass, Nanos, Outcome, Recorder, SECOND_NS, Session};

/// When an operation that is open at the end of a trial counts as hung.
const HUNG_P99S: u64 = 20;
const HUNG_LEAST_NS: Nanos = SECOND_NS / 2;

impl<S: Session, C: Clock> Driver<S, C> {
    /// The first virtual user at or after `from` whose time-out has passed, with the class of its failure.
    pub fn overdue(&self, from: usize, now_ns: Nanos) -> Option<(usize, ErrorClass)> {
        // Of the many virtual users that a rate may have, those that were never used wait for nothing.
        let used = if self.schedule.is_planned() { self.idle.used() } else { self.vus.len() };
        let found = self.vus[..used].iter().enumerate().skip(from).find(|(_, vu)| vu.deadline_ns <= now_ns)?;
        let class = if found.1.connecting { ErrorClass::ConnectTimeout } else { ErrorClass::ReplyTimeout };
        Some((found.0, class))
    }

    /// Operations that were running when the trial ended, and the age of the oldest, ns.
    pub fn unfinished(&self, now_ns: Nanos) -> (u64, u64) {
        let running = self.vus.iter().filter(|vu| vu.busy);
        running.fold((0, 0), |(count, oldest), vu| (count + 1, oldest.max(now_ns.saturating_sub(vu.stamps.start_ns))))
    }

    /// At the trial's end: counts operations that hang as errors of the window, so that a server that swallows
    /// requests does not pass for a fast one. Hanging means open for longer than 20 times the 99th percentile, and
    /// for half a second at least; the reply time-out, when shorter, has caught it before.
    pub fn count_hung(&mut self, now_ns: Nanos) {
        let limit_ns = (self.recorder.p99_ns() * HUNG_P99S).max(HUNG_LEAST_NS);
        let timeline = *self.recorder.timeline();
        for vu in &mut self.vus {
            let hangs = vu.busy && now_ns.saturating_sub(vu.stamps.start_ns) > limit_ns;
            if hangs && vu.stamps.start_ns < timeline.window_end_ns {
                let outcome = vu.session.fail(ErrorClass::Unfinished);
                let outcome = Outcome { error: Some(ErrorClass::Unfinished), ..outcome };
                self.recorder.record_hung(vu.client, &outcome);
            }
        }
    }

    /// The trial is over: what still ends is counted no more.
    pub fn stop_counting(&mut self, now_ns: Nanos) {
        if let Schedule::Planned(plan) = &self.schedule {
            let starved = self.idle.is_empty() && self.planned > 0;
            let offered = plan.offered(now_ns);
            let open = self.vus.iter().filter(|vu| vu.iteration_ns != Nanos::MAX);
            open.for_each(|vu| self.recorder.record_unfinished(vu.iteration_ns, offered.is_some()));
            if offered.is_some() {
                plan.rest().for_each(|planned_ns| self.recorder.record_unbegun(planned_ns));
            }
            self.recorder.close_plan(
                offered,
                if starved { plan.left() } else { 0 },
                self.idle.used().div_ceil(self.streams),
            );
        }
        self.recorder.stop_counting();
    }

    /// Ends the trial: the counts, and the sessions for a workload's own figures.
    pub fn into_parts(self) -> (Recorder, Vec<(u32, S)>) {
        (self.recorder, self.vus.into_iter().map(|vu| (vu.client, vu.session)).collect())
    }
}
