//! What is counted where the load plans its starts.

use super::queue::Queue;
use crate::result::Fates;
use crate::{LatencyHistogram, Nanos, Timeline};

/// Figures of planned starts. Starts count by their planned moment, response times, like all times, by the end.
#[derive(Debug)]
pub(crate) struct PlannedFigures {
    /// From the planned start to the end, by operation; empty where the times are kept elsewhere.
    pub response: Vec<LatencyHistogram>,
    /// From the planned start to the end of the iteration; of iterations that were not over at the window's end, until
    /// then. Where one operation's alone count, those.
    pub iterations: LatencyHistogram,
    /// Starts that found every session busy: how late they began.
    pub late: LatencyHistogram,
    /// Starts that were planned.
    pub offered: u64,
    /// Those of them that began.
    pub started: u64,
    /// Iterations that ended well in the window.
    pub answered: u64,
    /// Counted where a start is an iteration.
    pub fates: Option<Fates>,
    /// Those that found every session busy, whether or not they began later.
    pub ran_out: u64,
    /// Connections that were used, ramps included.
    pub connections_used: u64,
    /// Iterations that were due and not over, over time; where response times are of iterations.
    pub queue: Option<Queue>,
}

impl PlannedFigures {
    pub fn new(operations: usize, queue: Option<Queue>) -> Self {
        Self {
            response: (0..operations).map(|_| LatencyHistogram::lazy()).collect(),
            iterations: LatencyHistogram::lazy(),
            late: LatencyHistogram::lazy(),
            offered: 0,
            started: 0,
            answered: 0,
            fates: queue.as_ref().map(|_| Fates::default()),
            ran_out: 0,
            connections_used: 0,
            queue,
        }
    }

    /// An iteration that was planned for `planned_ns` is over.
    pub fn over(&mut self, timeline: &Timeline, planned_ns: Nanos, end_ns: Nanos, good: bool) {
        if let Some(fates) = self.fates.as_mut().filter(|_| timeline.in_window(planned_ns)) {
            let is_open = end_ns >= timeline.window_end_ns;
            fates.open += u64::from(is_open);
            fates.answered += u64::from(good && !is_open);
            fates.failed += u64::from(!good && !is_open);
        }
        let good = good && timeline.in_window(end_ns);
        self.answered += u64::from(good);
        let Some(queue) = &mut self.queue else { return };
        queue.leave(timeline, end_ns);
        if good {
            self.iterations.record(end_ns.saturating_sub(planned_ns));
        } else if end_ns >= timeline.window_end_ns {
            self.unfinished(timeline, planned_ns);
        }
    }

    /// At the trial's end: one that was begun and is not over.
    pub fn still_open(&mut self, timeline: &Timeline, planned_ns: Nanos) {
        if let Some(fates) = self.fates.as_mut().filter(|_| timeline.in_window(planned_ns)) {
            fates.open += 1;
        }
    }

    /// One that was not over at the window's end: it has waited as long as that, and nobody knows how much longer.
    pub fn unfinished(&mut self, timeline: &Timeline, planned_ns: Nanos) {
        if planned_ns < timeline.window_end_ns {
            self.iterations.record(timeline.window_end_ns - planned_ns);
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (total, part) in self.response.iter_mut().zip(&other.response) {
            total.add(part);
        }
        self.iterations.add(&other.iterations);
        self.late.add(&other.late);
        self.offered += other.offered;
        self.started += other.started;
        self.answered += other.answered;
        self.ran_out += other.ran_out;
        self.connections_used += other.connections_used;
        if let (Some(mine), Some(theirs)) = (&mut self.fates, &other.fates) {
            mine.answered += theirs.answered;
            mine.failed += theirs.failed;
            mine.open += theirs.open;
        }
        if let (Some(mine), Some(theirs)) = (&mut self.queue, &other.queue) {
            mine.add(theirs);
        }
    }
}
