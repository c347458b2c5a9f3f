//! What one load-generating thread counts.

use crate::series::{Row, Series};
use crate::times::TimesLog;
use crate::{ErrorClass, LatencyHistogram, Nanos, Outcome, SharedTimes, Timeline, deserialize, serialize};
use std::sync::Arc;

/// The moments of one operation, as the driver stamped them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stamps {
    /// The operation began.
    pub start_ns: Nanos,
    /// It was over.
    pub end_ns: Nanos,
    /// Time to open the connection, when it opened one.
    pub connect_ns: Option<u64>,
    /// Time of the TLS handshake, when there was one.
    pub tls_ns: Option<u64>,
    /// The request could be sent: the start, or the connection's readiness.
    pub sent_ns: Nanos,
    /// Time until the request was written, where the session asked for it.
    pub written_ns: Option<u64>,
    /// The first byte of the reply arrived.
    pub first_byte_ns: Option<Nanos>,
}

/// Figures of one operation name.
#[derive(Debug, Clone)]
pub(crate) struct OperationFigures {
    pub operations: u64,
    errors: Option<Box<[u64; ErrorClass::COUNT]>>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub service: LatencyHistogram,
    /// Times that were put away: V2 bytes, empty when there are none.
    parked: Box<[u8]>,
}

impl OperationFigures {
    pub fn new() -> Self {
        Self { service: LatencyHistogram::new(), ..Self::lazy() }
    }

    pub fn lazy() -> Self {
        Self {
            operations: 0,
            errors: None,
            bytes_in: 0,
            bytes_out: 0,
            service: LatencyHistogram::lazy(),
            parked: Box::new([]),
        }
    }

    pub fn errors(&self) -> [u64; ErrorClass::COUNT] {
        self.errors.as_deref().copied().unwrap_or([0; ErrorClass::COUNT])
    }

    fn count_error(&mut self, error: ErrorClass) {
        self.errors.get_or_insert_with(|| Box::new([0; ErrorClass::COUNT]))[error as usize] += 1;
    }

    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.service.add(&other.service);
        if let Ok(parked) = deserialize(&other.parked) {
            self.service.add_raw(&parked);
        }
        if let Some(theirs) = &other.errors {
            let mine = self.errors.get_or_insert_with(|| Box::new([0; ErrorClass::COUNT]));
            mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Puts the times away in small form; returns the histogram, emptied.
    fn park(&mut self) -> LatencyHistogram {
        let mut service = std::mem::replace(&mut self.service, LatencyHistogram::lazy());
        if service.count() > 0 {
            if let Ok(parked) = deserialize(&self.parked) {
                service.add_raw(&parked);
            }
            self.parked = serialize(&service).into_boxed_slice();
        }
        service.clear();
        service
    }
}

/// Figures of one client.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClientFigures {
    pub operations: u64,
    pub errors: u64,
    pub bytes_in: u64,
    pub busy_ns: u64,
}

/// Times of the parts of an operation that the driver itself can see.
#[derive(Debug)]
pub(crate) struct Steps {
    pub connect: LatencyHistogram,
    pub tls: LatencyHistogram,
    pub written: LatencyHistogram,
    pub first_byte: LatencyHistogram,
    pub transfer: LatencyHistogram,
}

impl Default for Steps {
    fn default() -> Self {
        let new = LatencyHistogram::new;
        // Hardly any operation tells when it was written.
        Self { connect: new(), tls: new(), written: LatencyHistogram::lazy(), first_byte: new(), transfer: new() }
    }
}

impl Steps {
    #[inline]
    fn record(&mut self, stamps: &Stamps) {
        if let Some(connect_ns) = stamps.connect_ns {
            self.connect.record(connect_ns);
        }
        if let Some(tls_ns) = stamps.tls_ns {
            self.tls.record(tls_ns);
        }
        if let Some(written_ns) = stamps.written_ns {
            self.written.record(written_ns);
        }
        if let Some(first_byte_ns) = stamps.first_byte_ns {
            self.first_byte.record(first_byte_ns.saturating_sub(stamps.sent_ns));
            self.transfer.record(stamps.end_ns.saturating_sub(first_byte_ns));
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.connect.add(&other.connect);
        self.tls.add(&other.tls);
        self.written.add(&other.written);
        self.first_byte.add(&other.first_byte);
        self.transfer.add(&other.transfer);
    }

    /// The histograms with their names in results.
    pub fn named(&self) -> [(&'static str, &LatencyHistogram); 5] {
        [
            ("connect", &self.connect),
            ("tls", &self.tls),
            ("written", &self.written),
            ("first_byte", &self.first_byte),
            ("transfer", &self.transfer),
        ]
    }
}

/// Late starts that a lazy recorder keeps one by one: a client of a file suite often has one only, not worth the memory
/// of a histogram.
const FEW: usize = 16;

/// Counts of one thread; merged with the others' after the trial.
#[derive(Debug)]
pub struct Recorder {
    timeline: Timeline,
    pub(crate) operations: Vec<OperationFigures>,
    pub(crate) clients: Vec<ClientFigures>,
    pub(crate) steps: Steps,
    /// Steps that only the workload knows, with their names.
    pub(crate) told_steps: Vec<(String, LatencyHistogram)>,
    /// Steps of single operations, for those that were asked for.
    pub(crate) split: Vec<Option<Box<Steps>>>,
    pub(crate) statuses: [u64; 6],
    pub(crate) outside_operations: u64,
    pub(crate) outside_errors: u64,
    /// How late planned starts were; of a thread that starts only now and then, only those after the first few.
    pub(crate) late_start: LatencyHistogram,
    pub(crate) first_late_starts_ns: Vec<Nanos>,
    /// How long a finished operation waited for the generator to look at it.
    pub(crate) lag: LatencyHistogram,
    pub(crate) connections_opened: u64,
    pub(crate) connections_failed: u64,
    /// Waits for closes that servers had announced, each from the end of its operation; no part of any operation.
    pub(crate) close: LatencyHistogram,
    /// Announced closes that were left to the client.
    pub(crate) late_closes: u64,
    /// Nothing is counted any more.
    over: bool,
    pub(crate) series: Series,
    /// Totals with ramps, for live figures.
    pub(crate) live: (u64, u64, u64),
    focus: Option<u16>,
    /// Takes the times while no operation is in focus.
    pub(crate) log: Option<TimesLog>,
}

impl Recorder {
    /// For `operations` operation names and `clients` clients in all.
    pub fn new(timeline: Timeline, operations: usize, clients: usize) -> Self {
        Self {
            timeline,
            operations: vec![OperationFigures::new(); operations],
            clients: vec![ClientFigures::default(); clients],
            steps: Steps::default(),
            told_steps: Vec::new(),
            split: Vec::new(),
            statuses: [0; 6],
            outside_operations: 0,
            outside_errors: 0,
            late_start: LatencyHistogram::new(),
            first_late_starts_ns: Vec::new(),
            lag: LatencyHistogram::new(),
            connections_opened: 0,
            connections_failed: 0,
            close: LatencyHistogram::lazy(),
            late_closes: 0,
            over: false,
            series: Series::new(&timeline),
            live: (0, 0, 0),
            focus: None,
            log: None,
        }
    }

    /// Like [`Recorder::new`] for one of many threads with many operation names: memory is taken when it is
    /// needed, so that a thread costs well under 1 MiB.
    pub fn lazy(timeline: Timeline, operations: usize, clients: usize) -> Self {
        Self {
            timeline,
            operations: vec![OperationFigures::lazy(); operations],
            clients: vec![ClientFigures::default(); clients],
            steps: Steps {
                connect: LatencyHistogram::lazy(),
                written: LatencyHistogram::lazy(),
                tls: LatencyHistogram::lazy(),
                first_byte: LatencyHistogram::lazy(),
                transfer: LatencyHistogram::lazy(),
            },
            told_steps: Vec::new(),
            split: Vec::new(),
            statuses: [0; 6],
            outside_operations: 0,
            outside_errors: 0,
            late_start: LatencyHistogram::lazy(),
            first_late_starts_ns: Vec::new(),
            lag: LatencyHistogram::lazy(),
            connections_opened: 0,
            connections_failed: 0,
            close: LatencyHistogram::lazy(),
            late_closes: 0,
            over: false,
            series: Series::warm(&timeline),
            live: (0, 0, 0),
            focus: None,
            log: None,
        }
    }

    /// Counts how late something planned began, ns.
    pub fn late_start(&mut self, late_ns: Nanos) {
        if self.late_start.is_lazy() && self.first_late_starts_ns.len() < FEW {
            self.first_late_starts_ns.push(late_ns);
        } else {
            self.late_start.record(late_ns);
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
        self.told_steps = names.into_iter().map(|name| (name, LatencyHistogram::new())).collect();
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

    /// The phases this recorder counts by.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Counts one finished operation; in full only when it ended inside the window.
    #[inline]
    pub fn record(&mut self, client: u32, outcome: &Outcome, stamps: &Stamps) {
        if self.over {
            return;
        }
        if let Some(error) = outcome.error {
            self.record_failure(client, outcome, error, stamps.end_ns);
            return;
        }
        let service_ns = stamps.end_ns - stamps.start_ns;
        self.live.0 += 1;
        self.live.2 += outcome.bytes_in;
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
        let figures = &mut self.operations[usize::from(outcome.operation)];
        figures.operations += 1;
        figures.bytes_in += outcome.bytes_in;
        figures.bytes_out += outcome.bytes_out;
        match &mut self.log {
            Some(log) if self.focus.is_none() => log.push(outcome.operation, service_ns),
            _ => figures.service.record(service_ns),
        }
        let client = &mut self.clients[client as usize];
        client.operations += 1;
        client.bytes_in += outcome.bytes_in;
        client.busy_ns += service_ns;
        self.statuses[usize::from(outcome.status / 100).min(5)] += 1;
        self.steps.record(stamps);
        if let Some(Some(steps)) = self.split.get_mut(usize::from(outcome.operation)) {
            steps.record(stamps);
        }
    }

    /// A server closed a connection as it had said, `waited_ns` after the last operation on it, or was waited for in
    /// vain and so `late`.
    pub(crate) fn record_close(&mut self, now_ns: Nanos, waited_ns: u64, late: bool) {
        if self.over {
            return;
        }
        self.late_closes += u64::from(late);
        if self.timeline.in_window(now_ns) {
            self.close.record(waited_ns);
        }
    }

    /// The trial is over: what follows is counted no more, but for operations that are found to hang.
    pub(crate) fn close_books(&mut self) {
        self.over = true;
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
            self.told_steps[usize::from(step)].1.record(time_ns);
        }
    }

    #[cold]
    fn record_failure(&mut self, client: u32, outcome: &Outcome, error: ErrorClass, end_ns: Nanos) {
        self.live.1 += 1;
        self.series.failure(end_ns);
        if !self.timeline.in_window(end_ns) {
            self.outside_errors += 1;
            return;
        }
        self.operations[usize::from(outcome.operation)].count_error(error);
        self.clients[client as usize].errors += 1;
        if outcome.status != 0 {
            self.statuses[usize::from(outcome.status / 100).min(5)] += 1;
        }
    }

    /// The highest 99th percentile of the operations so far, ns.
    pub(crate) fn p99_ns(&self) -> u64 {
        let histograms = self.operations.iter().map(|figures| figures.service.inner());
        histograms.filter(|histogram| !histogram.is_empty()).map(|h| h.value_at_quantile(0.99)).max().unwrap_or(0)
    }

    pub(crate) fn finish_series(&mut self) -> Vec<Row> {
        let empty = Series::lazy(&self.timeline);
        std::mem::replace(&mut self.series, empty).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(error: Option<ErrorClass>) -> Outcome {
        Outcome { operation: 0, error, bytes_in: 100, bytes_out: 10, status: 200 }
    }

    fn stamps(start_ns: Nanos, end_ns: Nanos) -> Stamps {
        Stamps { start_ns, end_ns, sent_ns: start_ns, first_byte_ns: Some(end_ns), ..Stamps::default() }
    }

    #[test]
    fn only_operations_that_end_in_the_window_count() {
        let mut recorder = Recorder::new(Timeline::new(0, 100, 1_000, 100), 1, 1);
        recorder.record(0, &outcome(None), &stamps(0, 99));
        recorder.record(0, &outcome(None), &stamps(50, 100));
        recorder.record(0, &outcome(None), &stamps(800, 899));
        recorder.record(0, &outcome(None), &stamps(800, 900));
        assert_eq!(recorder.operations[0].operations, 2);
        assert_eq!(recorder.outside_operations, 2);
        assert_eq!(recorder.clients[0].busy_ns, 50 + 99);
    }

    #[test]
    fn a_lazy_recorder_takes_a_histogram_for_late_starts_when_there_are_many() {
        let mut recorder = Recorder::lazy(Timeline::new(0, 0, 1_000, 0), 1, 1);
        recorder.late_start(7);
        assert!(recorder.late_start.is_lazy());
        for late_ns in 0..1_000 {
            recorder.late_start(late_ns);
        }
        assert_eq!(recorder.late_start.count() + recorder.first_late_starts_ns.len() as u64, 1_001);
        let merged = crate::result::merge_recorders(&[recorder]);
        assert_eq!((merged.late_start.count(), merged.late_start.inner().max()), (1_001, 999));
    }

    #[test]
    fn failed_operations_carry_no_bytes_and_no_time() {
        let mut recorder = Recorder::new(Timeline::new(0, 0, 1_000, 0), 1, 1);
        recorder.record(0, &outcome(Some(ErrorClass::ShortBody)), &stamps(0, 10));
        let figures = &recorder.operations[0];
        assert_eq!((figures.operations, figures.bytes_in, figures.service.count()), (0, 0, 0));
        assert_eq!(figures.errors()[ErrorClass::ShortBody as usize], 1);
        assert_eq!(recorder.clients[0].errors, 1);
    }

    #[test]
    fn told_steps_count_by_the_same_window() {
        let mut recorder = Recorder::new(Timeline::new(0, 100, 1_000, 100), 1, 1).with_steps(vec!["queue".into()]);
        for end_ns in [99, 100, 899, 900] {
            recorder.record_told_steps(end_ns, &[(0, 7)]);
        }
        assert_eq!(recorder.told_steps[0].1.count(), 2);
    }

    #[test]
    fn times_that_were_put_away_come_back_when_recorders_are_merged() {
        let mut recorder = Recorder::lazy(Timeline::new(0, 0, 1_000_000, 0), 2, 1);
        let timed = |operation, end_ns| (Outcome { operation, ..outcome(None) }, stamps(0, end_ns));
        for (operation, end_ns) in [(0, 100), (1, 200), (0, 300), (1, 400)] {
            recorder.focus(operation);
            let (outcome, stamps) = timed(operation, end_ns);
            recorder.record(0, &outcome, &stamps);
        }
        let mut total = OperationFigures::lazy();
        total.add(&recorder.operations[0]);
        total.add(&recorder.operations[1]);
        assert_eq!((total.operations, total.service.count()), (4, 4));
        assert_eq!((total.service.inner().min(), total.service.inner().max()), (100, 400));
    }

    #[test]
    fn a_lazy_recorder_of_a_whole_matrix_is_small() {
        let mut recorder = Recorder::lazy(Timeline::new(0, 0, 1_000_000_000, 0), 1638, 60);
        for operation in 0..1638_u16 {
            recorder.focus(operation);
            for step in 0..100_u64 {
                let end_ns = 1_000 + step * step * 37;
                recorder.record(0, &Outcome { operation, ..outcome(None) }, &stamps(0, end_ns));
            }
        }
        let parked: usize = recorder.operations.iter().map(|figures| figures.parked.len()).sum();
        let fixed = 1638 * size_of::<OperationFigures>();
        assert!(parked + fixed < 750_000, "{parked} + {fixed}");
    }
}
