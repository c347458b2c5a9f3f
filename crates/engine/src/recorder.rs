//! What one load-generating thread counts.

use crate::series::{Row, Series};
use crate::{ErrorClass, LatencyHistogram, Nanos, Outcome, Timeline};

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
    /// The first byte of the reply arrived.
    pub first_byte_ns: Option<Nanos>,
}

/// Figures of one operation name.
#[derive(Debug, Clone)]
pub(crate) struct OperationFigures {
    pub operations: u64,
    pub errors: [u64; ErrorClass::COUNT],
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub service: LatencyHistogram,
}

impl OperationFigures {
    pub fn new() -> Self {
        Self {
            operations: 0,
            errors: [0; ErrorClass::COUNT],
            bytes_in: 0,
            bytes_out: 0,
            service: LatencyHistogram::new(),
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.service.add(&other.service);
        for (mine, theirs) in self.errors.iter_mut().zip(other.errors) {
            *mine += theirs;
        }
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
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub connect: LatencyHistogram,
    pub tls: LatencyHistogram,
    pub first_byte: LatencyHistogram,
    pub transfer: LatencyHistogram,
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
        if let Some(first_byte_ns) = stamps.first_byte_ns {
            self.first_byte.record(first_byte_ns.saturating_sub(stamps.sent_ns));
            self.transfer.record(stamps.end_ns.saturating_sub(first_byte_ns));
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.connect.add(&other.connect);
        self.tls.add(&other.tls);
        self.first_byte.add(&other.first_byte);
        self.transfer.add(&other.transfer);
    }

    /// The histograms with their names in results.
    pub fn named(&self) -> [(&'static str, &LatencyHistogram); 4] {
        [("connect", &self.connect), ("tls", &self.tls), ("first_byte", &self.first_byte), ("transfer", &self.transfer)]
    }
}

/// Counts of one thread; merged with the others' after the trial.
#[derive(Debug)]
pub struct Recorder {
    timeline: Timeline,
    pub(crate) operations: Vec<OperationFigures>,
    pub(crate) clients: Vec<ClientFigures>,
    pub(crate) steps: Steps,
    /// Steps of single operations, for those that were asked for.
    pub(crate) split: Vec<Option<Box<Steps>>>,
    pub(crate) statuses: [u64; 6],
    pub(crate) outside_operations: u64,
    pub(crate) outside_errors: u64,
    /// How late planned starts were.
    pub(crate) late_start: LatencyHistogram,
    /// How long a finished operation waited for the generator to look at it.
    pub(crate) lag: LatencyHistogram,
    pub(crate) connections_opened: u64,
    pub(crate) connections_failed: u64,
    pub(crate) series: Series,
    /// Totals with ramps, for live figures.
    pub(crate) live: (u64, u64, u64),
}

impl Recorder {
    /// For `operations` operation names and `clients` clients in all.
    pub fn new(timeline: Timeline, operations: usize, clients: usize) -> Self {
        Self {
            timeline,
            operations: vec![OperationFigures::new(); operations],
            clients: vec![ClientFigures::default(); clients],
            steps: Steps::default(),
            split: Vec::new(),
            statuses: [0; 6],
            outside_operations: 0,
            outside_errors: 0,
            late_start: LatencyHistogram::new(),
            lag: LatencyHistogram::new(),
            connections_opened: 0,
            connections_failed: 0,
            series: Series::new(&timeline),
            live: (0, 0, 0),
        }
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
        if let Some(error) = outcome.error {
            self.record_failure(client, outcome, error, stamps.end_ns);
            return;
        }
        let service_ns = stamps.end_ns - stamps.start_ns;
        self.live.0 += 1;
        self.live.2 += outcome.bytes_in;
        self.series.success(stamps.end_ns, service_ns, outcome.bytes_in);
        if !self.timeline.in_window(stamps.end_ns) {
            self.outside_operations += 1;
            return;
        }
        let figures = &mut self.operations[usize::from(outcome.operation)];
        figures.operations += 1;
        figures.bytes_in += outcome.bytes_in;
        figures.bytes_out += outcome.bytes_out;
        figures.service.record(service_ns);
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

    #[cold]
    fn record_failure(&mut self, client: u32, outcome: &Outcome, error: ErrorClass, end_ns: Nanos) {
        self.live.1 += 1;
        self.series.failure(end_ns);
        if !self.timeline.in_window(end_ns) {
            self.outside_errors += 1;
            return;
        }
        self.operations[usize::from(outcome.operation)].errors[error as usize] += 1;
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
        let empty = Series::new(&self.timeline);
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
    fn failed_operations_carry_no_bytes_and_no_time() {
        let mut recorder = Recorder::new(Timeline::new(0, 0, 1_000, 0), 1, 1);
        recorder.record(0, &outcome(Some(ErrorClass::ShortBody)), &stamps(0, 10));
        let figures = &recorder.operations[0];
        assert_eq!((figures.operations, figures.bytes_in, figures.service.count()), (0, 0, 0));
        assert_eq!(figures.errors[ErrorClass::ShortBody as usize], 1);
        assert_eq!(recorder.clients[0].errors, 1);
    }
}
