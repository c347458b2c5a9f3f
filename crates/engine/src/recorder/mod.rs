//! What one load-generating thread counts.

mod figures;
pub(super) mod intervals;
mod lateness;
mod planned;
mod queue;
pub(super) mod series;
mod stamps;
mod steps;
pub(super) mod tally;

use crate::histogram::shared::TimesLog;
use crate::{ErrorClass, LatencyHistogram, Nanos, Outcome, SharedTimes, Timeline};
pub(crate) use figures::{ClientFigures, OperationFigures};
use intervals::{IntervalPart, IntervalRecorder};
use lateness::Lateness;
pub(crate) use planned::PlannedFigures;
pub(crate) use queue::Queue;
use series::{Row, Series};
pub use stamps::Stamps;
use std::sync::Arc;
pub(crate) use steps::Steps;
use tally::Tally;

/// What is written down of an operation that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    /// A closed loop's.
    Plain,
    /// Starts are planned: response times as well.
    Planned,
    /// Nothing is counted any more.
    Closed,
}

/// Counts of one thread; merged with the others' after the trial.
#[derive(Debug)]
pub struct Recorder {
    timeline: Timeline,
    pub(crate) operations: Vec<OperationFigures>,
    pub(crate) clients: Vec<ClientFigures>,
    pub(crate) steps: Steps,
    /// Steps that only the workload knows, with their names.
    pub(crate) session_steps: Vec<(String, LatencyHistogram)>,
    /// Steps of single operations, for those that were asked for.
    pub(crate) split: Vec<Option<Box<Steps>>>,
    pub(crate) statuses: [u64; 6],
    pub(crate) outside_operations: u64,
    pub(crate) outside_errors: u64,
    /// How late virtual users began that had waited for their moment.
    pub(crate) late_start: Lateness,
    /// How long a finished operation waited for the generator to take it.
    pub(crate) lag: LatencyHistogram,
    pub(crate) connections_opened: u64,
    pub(crate) connections_failed: u64,
    /// Waits for closes that servers had announced, each from the end of its operation; no part of any operation.
    pub(crate) close: LatencyHistogram,
    /// Announced closes that were left to the client.
    pub(crate) late_closes: u64,
    counting: Counting,
    pub(crate) series: Series,
    /// Counts with ramps, for live figures.
    tally: Arc<Tally>,
    focus: Option<u16>,
    /// Takes the times while no operation is in focus.
    pub(crate) log: Option<TimesLog>,
    /// There when the load plans its starts.
    pub(crate) planned: Option<Box<PlannedFigures>>,
    /// The only one whose response times count, if those of iterations do not.
    responds: Option<u16>,
    /// There in a soak, which has them in place of seconds.
    intervals: Option<Box<IntervalRecorder>>,
}

impl Recorder {
    /// For `operations` operation names and `clients` clients in all.
    pub fn new(timeline: Timeline, operations: usize, clients: usize) -> Self {
        Self {
            operations: vec![OperationFigures::new(); operations],
            steps: Steps::default(),
            late_start: Lateness::new(),
            lag: LatencyHistogram::new(),
            series: Series::new(&timeline),
            ..Self::lazy(timeline, operations, clients)
        }
    }

    /// Like [`Recorder::new`] for one of many threads with many operation names: memory is taken when it is
    /// needed, so that a thread costs well under 1 MiB.
    pub fn lazy(timeline: Timeline, operations: usize, clients: usize) -> Self {
        Self {
            timeline,
            operations: vec![OperationFigures::lazy(); operations],
            clients: vec![ClientFigures::default(); clients],
            steps: Steps::lazy(),
            session_steps: Vec::new(),
            split: Vec::new(),
            statuses: [0; 6],
            outside_operations: 0,
            outside_errors: 0,
            late_start: Lateness::lazy(),
            lag: LatencyHistogram::lazy(),
            connections_opened: 0,
            connections_failed: 0,
            close: LatencyHistogram::lazy(),
            late_closes: 0,
            counting: Counting::Plain,
            series: Series::warm(&timeline),
            tally: Arc::new(Tally::new(operations)),
            focus: None,
            log: None,
            planned: None,
            responds: None,
            intervals: None,
        }
    }

    /// Also counts what a load with planned starts has: response times, late starts, starts that never were.
    #[must_use]
    pub fn with_plan(mut self) -> Self {
        // Of threads that share their times, the log takes these, too.
        let operations = if self.log.is_some() { 0 } else { self.operations.len() };
        let queue = self.responds.is_none().then(Queue::new);
        self.planned = Some(Box::new(PlannedFigures::new(operations, queue)));
        self.counting = Counting::Planned;
        self
    }

    /// The same of a load that ends with its last iteration, and with the response times of one operation alone: others
    /// contain it, or have other moments.
    #[must_use]
    pub fn with_plan_of(mut self, operation: u16) -> Self {
        self.responds = Some(operation);
        self.with_plan()
    }

    /// Counts intervals of `interval_ns` in place of seconds: nothing that is kept grows with the length of the trial. Last of
    /// those that choose what is counted.
    #[must_use]
    pub fn with_intervals(mut self, interval_ns: Nanos) -> Self {
        self.intervals = Some(Box::new(IntervalRecorder::new(&self.timeline, interval_ns, self.planned.is_some())));
        self.series = Series::none();
        self
    }

    /// Keeps no seconds: nothing grows with the length of the trial.
    #[must_use]
    pub fn without_seconds(mut self) -> Self {
        self.series = Series::none();
        self
    }

    /// Whether an interval is over that was not fetched.
    #[inline]
    pub(crate) fn interval_is_due(&self, now_ns: Nanos) -> bool {
        self.intervals.as_ref().is_some_and(|intervals| intervals.is_due(now_ns))
    }

    /// Intervals that are over.
    pub(crate) fn fetch_intervals(&mut self, now_ns: Nanos) -> Vec<IntervalPart> {
        self.intervals.as_mut().map_or_else(Vec::new, |intervals| intervals.fetch(now_ns))
    }

    /// The trial ended: the intervals that are left.
    pub(crate) fn close_intervals(&mut self, ended_ns: Nanos) -> Vec<IntervalPart> {
        self.intervals.as_mut().map_or_else(Vec::new, |intervals| intervals.close(ended_ns))
    }

    /// Counts a connection that was opened, or failed to.
    pub fn record_connection(&mut self, opened: bool) {
        self.connections_opened += u64::from(opened);
        self.connections_failed += u64::from(!opened);
    }

    /// Counts how late a virtual user began that had waited for its moment, ns.
    pub fn late_start(&mut self, late_ns: Nanos) {
        self.late_start.record(late_ns);
    }

    /// Counts a planned start that has begun.
    #[inline]
    pub fn record_start(&mut self, planned_ns: Nanos) {
        if let Some(planned) = &mut self.planned {
            planned.started += u64::from(self.timeline.in_window(planned_ns));
            if let Some(queue) = &mut planned.queue {
                queue.join(&self.timeline, planned_ns);
            }
        }
    }

    /// Counts an iteration, planned for `planned_ns`, that is over.
    #[inline]
    pub fn record_iteration(&mut self, planned_ns: Nanos, end_ns: Nanos, good: bool) {
        if let Some(planned) = &mut self.planned
            && self.counting == Counting::Planned
        {
            planned.over(&self.timeline, planned_ns, end_ns, good);
        }
    }

    /// At the trial's end: counts an iteration that was planned for `planned_ns` and goes on; with `waited` how long it
    /// has.
    pub fn record_unfinished(&mut self, planned_ns: Nanos, waited: bool) {
        if let Some(planned) = &mut self.planned {
            planned.still_open(&self.timeline, planned_ns);
            if waited {
                planned.unfinished(&self.timeline, planned_ns);
            }
        }
    }

    /// At the trial's end: counts a start of before the window's end that nobody began.
    pub fn record_unbegun(&mut self, planned_ns: Nanos) {
        let Some(planned) = &mut self.planned else { return };
        planned.unfinished(&self.timeline, planned_ns);
        if let Some(queue) = &mut planned.queue {
            queue.join(&self.timeline, planned_ns);
        }
    }

    /// Counts a start that found every session busy when it was due, at `planned_ns`, and has begun `late_ns` later.
    pub fn record_late(&mut self, planned_ns: Nanos, late_ns: Nanos) {
        if let Some(planned) = &mut self.planned
            && self.timeline.in_window(planned_ns)
        {
            planned.ran_out += 1;
            planned.late.record(late_ns);
        }
    }

    /// At the trial's end: the window had `offered` starts; `waiting` of them still wait for a session, of which
    /// `used` were ever used. A trial that ended before its window (`None`) had no more than it began.
    pub fn close_plan(&mut self, offered: Option<u64>, waiting: u64, used: usize) {
        if let Some(planned) = &mut self.planned {
            planned.connections_used = used as u64;
            planned.offered = offered.unwrap_or(planned.started);
            if offered.is_some() {
                planned.ran_out += waiting;
            } else {
                planned.queue = None;
            }
        }
    }

    /// Puts away the histogram of the operation recorded so far and makes that of `operation` ready.
    pub fn focus(&mut self, operation: u16) {
        if self.focus == Some(operation) {
            return;
        }
        let mut histogram = LatencyHistogram::lazy();
        if let Some(last) = self.focus.replace(operation) {
            histogram = self.operations[usize::from(last)].park();
        }
        let next = &mut self.operations[usize::from(operation)];
        if next.service.is_lazy() {
            next.service = if histogram.is_lazy() { LatencyHistogram::warm() } else { histogram };
        }
    }

    /// Keeps the times of operations in histograms that the threads of the trial share, until one is in focus.
    #[must_use]
    pub fn sharing(mut self, times: Arc<SharedTimes>) -> Self {
        self.log = Some(TimesLog::new(times));
        self
    }

    /// Whether [`Recorder::relieve`] is due.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.log.as_ref().is_some_and(TimesLog::is_full)
    }

    /// Passes on the times it has kept, at a moment that belongs to no operation.
    pub fn relieve(&mut self) {
        if let Some(log) = &mut self.log {
            log.relieve();
        }
    }

    /// No more operations follow: nothing is kept back.
    pub fn end(&mut self) {
        if let Some(log) = &mut self.log {
            log.empty();
        }
    }

    /// Also keeps the workload's own steps of these names.
    #[must_use]
    pub fn with_steps(mut self, names: Vec<String>) -> Self {
        self.session_steps = names.into_iter().map(|name| (name, LatencyHistogram::new())).collect();
        self
    }

    /// Keeps the steps of these operations apart, too.
    #[must_use]
    pub fn split(mut self, operations: &[u16]) -> Self {
        if !operations.is_empty() {
            let chosen = |operation| operations.contains(&(operation as u16)).then(Box::default);
            self.split = (0..self.operations.len()).map(chosen).collect();
        }
        self
    }

    /// What it counts, ramps included, for those who watch.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }

    /// The phases this recorder counts by.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Counts one finished operation; in full only when it ended inside the window.
    #[inline]
    pub fn record(&mut self, client: u32, outcome: &Outcome, stamps: &Stamps) {
        match self.counting {
            Counting::Plain => {}
            Counting::Planned => self.record_planned(outcome, stamps),
            Counting::Closed => return,
        }
        if let Some(error) = outcome.error {
            self.record_failure(client, outcome, error, stamps.end_ns);
            return;
        }
        let service_ns = stamps.service_ns();
        self.tally.success(outcome.operation, service_ns, outcome.bytes_in);
        if self.focus.is_none() {
            self.series.success(stamps.end_ns, service_ns, outcome.bytes_in);
        } else {
            // One operation after the other: the times of a second would mix unlike things.
            self.series.count(stamps.end_ns, outcome.bytes_in);
        }
        if !self.timeline.in_window(stamps.end_ns) {
            self.outside_operations += 1;
            return;
        }
        if let Some(intervals) = &mut self.intervals {
            intervals.success(stamps.end_ns, service_ns, stamps.response_ns(), (outcome.bytes_in, outcome.bytes_out));
        }
        let figures = &mut self.operations[usize::from(outcome.operation)];
        figures.operations += 1;
        figures.bytes_in += outcome.bytes_in;
        figures.bytes_out += outcome.bytes_out;
        match &mut self.log {
            Some(log) if self.focus.is_none() => log.push(outcome.operation, service_ns),
            _ => figures.service.record(service_ns),
        }
        let client = &mut self.clients[client as usize];
        client.counts.operations += 1;
        client.counts.bytes_in += outcome.bytes_in;
        client.busy_ns += service_ns;
        self.statuses[usize::from(outcome.status / 100).min(5)] += 1;
        self.steps.record(stamps);
        if let Some(Some(steps)) = self.split.get_mut(usize::from(outcome.operation)) {
            steps.record(stamps);
        }
    }

    /// What there is to count beside the rest when starts are planned. Out of line: a closed loop never comes here.
    #[inline(never)]
    fn record_planned(&mut self, outcome: &Outcome, stamps: &Stamps) {
        let Some(planned) = &mut self.planned else { return };
        let told = self.responds.is_none_or(|operation| operation == outcome.operation);
        if !told || outcome.error.is_some() || !self.timeline.in_window(stamps.end_ns) {
            return;
        }
        if self.responds.is_some() {
            planned.iterations.record(stamps.response_ns());
        }
        match &mut self.log {
            Some(log) => log.push(self.operations.len() as u16 + outcome.operation, stamps.response_ns()),
            None => planned.response[usize::from(outcome.operation)].record(stamps.response_ns()),
        }
    }

    /// A server closed a connection as it had said, `waited_ns` after the last operation on it, or was waited for in
    /// vain and so `late`.
    pub(crate) fn record_close(&mut self, now_ns: Nanos, waited_ns: u64, late: bool) {
        if self.counting == Counting::Closed {
            return;
        }
        self.late_closes += u64::from(late);
        if self.timeline.in_window(now_ns) {
            self.close.record(waited_ns);
        }
    }

    /// The trial is over: what follows is counted no more, but for operations that are found to hang.
    pub(crate) fn stop_counting(&mut self) {
        self.counting = Counting::Closed;
    }

    /// Counts an operation of the window that never ended.
    pub(crate) fn record_hung(&mut self, client: u32, outcome: &Outcome) {
        self.record_failure(client, outcome, ErrorClass::Unfinished, self.timeline.window_end_ns - 1);
    }

    /// Counts the steps that a session told of its operation, as (index, ns), when it ended inside the window.
    #[inline]
    pub fn record_told_steps(&mut self, end_ns: Nanos, steps: &[(u16, u64)]) {
        if steps.is_empty() || !self.timeline.in_window(end_ns) {
            return;
        }
        for &(step, time_ns) in steps {
            self.session_steps[usize::from(step)].1.record(time_ns);
        }
    }

    #[cold]
    fn record_failure(&mut self, client: u32, outcome: &Outcome, error: ErrorClass, end_ns: Nanos) {
        self.tally.failure(outcome.operation);
        self.series.failure(end_ns);
        if !self.timeline.in_window(end_ns) {
            self.outside_errors += 1;
            return;
        }
        if let Some(intervals) = &mut self.intervals {
            intervals.failure(end_ns, error);
        }
        self.operations[usize::from(outcome.operation)].count_error(error);
        self.clients[client as usize].counts.errors += 1;
        if outcome.status != 0 {
            self.statuses[usize::from(outcome.status / 100).min(5)] += 1;
        }
    }

    /// The highest 99th percentile of the operations so far, ns.
    pub(crate) fn p99_ns(&self) -> u64 {
        let histograms = self.operations.iter().map(|figures| figures.service.to_hdr());
        histograms.filter(|histogram| !histogram.is_empty()).map(|h| h.value_at_quantile(0.99)).max().unwrap_or(0)
    }

    pub(crate) fn finish_series(&mut self) -> Vec<Row> {
        let empty = Series::lazy(&self.timeline);
        std::mem::replace(&mut self.series, empty).finish()
    }
}

#[cfg(test)]
mod tests;
