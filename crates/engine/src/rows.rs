//! Rows of a soak: what was done in each hour of it, told while the trial goes on.
//!
//! A trial that lasts for days keeps nothing that grows with its seconds. Each load thread counts the row in progress;
//! a row that is over goes to the desk, where those of all threads become one, and from there to whoever asks.

use crate::{ErrorClass, LatencyHistogram, Nanos, Timeline, serialize, summarize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What was counted in one row.
#[derive(Debug)]
pub struct RowCounts {
    operations: u64,
    errors: [u64; ErrorClass::COUNT],
    bytes_in: u64,
    bytes_out: u64,
    service: LatencyHistogram,
    /// From planned starts, where there are any.
    response: Option<LatencyHistogram>,
}

impl RowCounts {
    /// With its memory in place, so that recording faults in no page.
    fn warm(planned: bool) -> Self {
        Self::with(LatencyHistogram::warm(), planned.then(LatencyHistogram::warm))
    }

    fn lazy(planned: bool) -> Self {
        Self::with(LatencyHistogram::lazy(), planned.then(LatencyHistogram::lazy))
    }

    fn with(service: LatencyHistogram, response: Option<LatencyHistogram>) -> Self {
        Self { operations: 0, errors: [0; ErrorClass::COUNT], bytes_in: 0, bytes_out: 0, service, response }
    }

    fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.errors.iter_mut().zip(other.errors).for_each(|(mine, theirs)| *mine += theirs);
        self.service.add(&other.service);
        if let (Some(mine), Some(theirs)) = (&mut self.response, &other.response) {
            mine.add(theirs);
        }
    }
}

/// A row of one load thread that is over.
#[derive(Debug)]
pub struct RowPart {
    index: u64,
    /// From the start of the window, ns.
    start_ns: Nanos,
    length_ns: Nanos,
    counts: RowCounts,
}

/// What a row cost its load thread, and what befell the machine meanwhile; measured between two looks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RowCost {
    /// Between the looks, ns.
    pub span_ns: Nanos,
    /// CPU time of the thread, ns.
    pub cpu_ns: Nanos,
    /// Time that the thread waited for a processor, ns; `None`, as below, where nobody measured it.
    pub run_delay_ns: Option<Nanos>,
    /// Time that the hypervisor gave to others, ns.
    pub stolen_ns: Option<Nanos>,
    /// Time in which the process did not run: it, or its machine, was stopped, ns.
    pub stopped_ns: Option<Nanos>,
    /// Resident memory of the process at the second look, bytes.
    pub rss_bytes: u64,
}

/// The row in progress of one load thread, and those that are over and were not fetched yet.
#[derive(Debug)]
pub(crate) struct RowBook {
    row_ns: Nanos,
    start_ns: Nanos,
    end_ns: Nanos,
    planned: bool,
    index: u64,
    row_end_ns: Nanos,
    counts: RowCounts,
    over: Vec<RowPart>,
}

impl RowBook {
    /// Rows of `row_ns` from the start of the window to its end, where the last one may be shorter.
    pub fn new(timeline: &Timeline, row_ns: Nanos, planned: bool) -> Self {
        Self {
            row_ns,
            start_ns: timeline.window_start_ns,
            end_ns: timeline.window_end_ns,
            planned,
            index: 0,
            row_end_ns: timeline.window_start_ns + row_ns,
            counts: RowCounts::warm(planned),
            over: Vec::new(),
        }
    }

    /// An operation that ended well, within the window.
    #[inline]
    pub fn success(&mut self, now_ns: Nanos, service_ns: u64, response_ns: u64, bytes: (u64, u64)) {
        if now_ns >= self.row_end_ns {
            self.turn(now_ns);
        }
        self.counts.operations += 1;
        self.counts.bytes_in += bytes.0;
        self.counts.bytes_out += bytes.1;
        self.counts.service.record(service_ns);
        if let Some(response) = &mut self.counts.response {
            response.record(response_ns);
        }
    }

    /// One that failed, within the window.
    pub fn failure(&mut self, now_ns: Nanos, error: ErrorClass) {
        if now_ns >= self.row_end_ns {
            self.turn(now_ns);
        }
        self.counts.errors[error as usize] += 1;
    }

    /// Whether a row is over at this moment.
    #[inline]
    pub fn is_due(&self, now_ns: Nanos) -> bool {
        !self.over.is_empty() || (now_ns >= self.row_end_ns && self.row_end_ns < self.end_ns)
    }

    /// Rows that are over at `now_ns`. The last one of the window is kept until [`RowBook::close`]: what hangs at the
    /// end is counted there.
    pub fn fetch(&mut self, now_ns: Nanos) -> Vec<RowPart> {
        if now_ns >= self.row_end_ns {
            self.turn(now_ns);
        }
        std::mem::take(&mut self.over)
    }

    /// The trial ended at `ended_ns`: what is left, with the row in progress as far as it came.
    pub fn close(&mut self, ended_ns: Nanos) -> Vec<RowPart> {
        let ended_ns = ended_ns.min(self.end_ns);
        self.turn(ended_ns.max(self.start_ns));
        let row_start_ns = self.start_ns + self.index * self.row_ns;
        if ended_ns > row_start_ns {
            self.finish_row(ended_ns);
        }
        self.row_end_ns = Nanos::MAX;
        std::mem::take(&mut self.over)
    }

    /// Ends rows, empty ones as well, until the one that holds `now_ns`; the window's last one stays open.
    #[cold]
    fn turn(&mut self, now_ns: Nanos) {
        while now_ns >= self.row_end_ns && self.row_end_ns < self.end_ns {
            let row_end_ns = self.row_end_ns;
            self.finish_row(row_end_ns);
        }
    }

    fn finish_row(&mut self, row_end_ns: Nanos) {
        // A row in which nothing was done leaves its histograms to the next.
        let used = self.counts.operations > 0;
        let fresh = if used { RowCounts::warm(self.planned) } else { RowCounts::lazy(self.planned) };
        let counts = std::mem::replace(&mut self.counts, fresh);
        let start_ns = self.index * self.row_ns;
        let length_ns = row_end_ns - self.start_ns - start_ns;
        self.over.push(RowPart { index: self.index, start_ns, length_ns, counts });
        self.index += 1;
        self.row_end_ns += self.row_ns;
    }
}

/// A row of a trial: its figures as JSON, and its histograms as V2 bytes, empty where nothing was recorded.
#[derive(Debug, Clone)]
pub struct SoakRow {
    /// The figures.
    pub json: Value,
    /// Service times.
    pub service: Vec<u8>,
    /// Response times, where the load plans its starts.
    pub response: Option<Vec<u8>>,
}

/// A row that some threads have handed in.
#[derive(Debug)]
struct OpenRow {
    threads: usize,
    start_ns: Nanos,
    length_ns: Nanos,
    counts: RowCounts,
    cpu_share: f64,
    run_delay_share: Option<f64>,
    stolen_ns: Option<Nanos>,
    stopped_ns: Option<Nanos>,
    rss_bytes: u64,
}

/// The greater one of those that were measured.
fn greater(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

/// Where the threads' rows come together.
#[derive(Debug, Default)]
pub(crate) struct RowDesk {
    open: BTreeMap<u64, OpenRow>,
    done: Vec<SoakRow>,
}

impl RowDesk {
    /// A thread hands in rows that are over; one that all `threads` have handed in is done.
    pub fn hand_in(&mut self, parts: Vec<RowPart>, cost: RowCost, threads: usize) {
        let share = |part_ns: Nanos| if cost.span_ns == 0 { 0.0 } else { part_ns as f64 / cost.span_ns as f64 };
        for part in parts {
            let planned = part.counts.response.is_some();
            let row = self.open.entry(part.index).or_insert_with(|| OpenRow {
                threads: 0,
                start_ns: part.start_ns,
                length_ns: 0,
                counts: RowCounts::lazy(planned),
                cpu_share: 0.0,
                run_delay_share: None,
                stolen_ns: None,
                stopped_ns: None,
                rss_bytes: 0,
            });
            row.threads += 1;
            row.length_ns = row.length_ns.max(part.length_ns);
            row.counts.add(&part.counts);
            // The busiest thread decides: one that is full hides behind the mean of many.
            row.cpu_share = row.cpu_share.max(share(cost.cpu_ns));
            row.run_delay_share = greater(row.run_delay_share, cost.run_delay_ns.map(share));
            row.stolen_ns = row.stolen_ns.max(cost.stolen_ns);
            row.stopped_ns = row.stopped_ns.max(cost.stopped_ns);
            row.rss_bytes = row.rss_bytes.max(cost.rss_bytes);
        }
        while let Some(first) = self.open.first_entry().filter(|first| first.get().threads >= threads) {
            let (index, row) = first.remove_entry();
            self.done.push(row.told(index));
        }
    }

    /// No thread hands in any more: a row that only some had begun is done as well.
    pub fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.done.extend(open.into_iter().map(|(index, row)| row.told(index)));
    }

    /// Rows that were done since the last call, in their order.
    pub fn drain(&mut self) -> Vec<SoakRow> {
        std::mem::take(&mut self.done)
    }
}

impl OpenRow {
    fn told(self, index: u64) -> SoakRow {
        let counts = &self.counts;
        let errors = ErrorClass::ALL.iter().zip(counts.errors).filter(|(_, count)| *count > 0);
        let errors: serde_json::Map<_, _> = errors.map(|(class, n)| (class.name().to_owned(), json!(n))).collect();
        let blob = |histogram: &LatencyHistogram| {
            if histogram.count() == 0 { Vec::new() } else { serialize(histogram) }
        };
        SoakRow {
            json: json!({
                "row": index,
                "start_s": self.start_ns as f64 / 1e9,
                "length_s": self.length_ns as f64 / 1e9,
                "operations": counts.operations,
                "errors": errors,
                "bytes_in": counts.bytes_in,
                "bytes_out": counts.bytes_out,
                "service": summarize(&counts.service.to_hdr()),
                "response": counts.response.as_ref().map(|response| summarize(&response.to_hdr())),
                "cpu_share": self.cpu_share,
                "run_delay_share": self.run_delay_share,
                "stolen_s": self.stolen_ns.map(|ns| ns as f64 / 1e9),
                "stopped_s": self.stopped_ns.map(|ns| ns as f64 / 1e9),
                "rss_bytes": self.rss_bytes,
            }),
            service: blob(&counts.service),
            response: counts.response.as_ref().map(blob),
        }
    }
}

#[cfg(test)]
mod tests;
