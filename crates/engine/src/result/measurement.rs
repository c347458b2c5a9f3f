//! What is measured of any work: of a trial, of an operation of it, of an interval of a soak; of a second, of a client.

use super::merge::{Merge, MergeError, Merged, Part, figures, max, max_if_all};
use crate::{ErrorClass, LatencyHistogram, Nanos, Summary, deserialize, serialize, summarize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Times, in figures and as a histogram. In JSON they are their figures: histograms cross the seam beside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times {
    /// In figures.
    pub summary: Summary,
    /// HdrHistogram V2 bytes; empty where only the figures are kept.
    #[serde(skip)]
    pub histogram: Vec<u8>,
}

impl Times {
    /// The figures of these times, and their histogram.
    pub fn of(times: &LatencyHistogram) -> Self {
        let times = times.to_hdr();
        Self { summary: summarize(&times), histogram: serialize(&times) }
    }

    /// Only the figures.
    pub fn told(times: &LatencyHistogram) -> Self {
        Self { summary: summarize(&times.to_hdr()), histogram: Vec::new() }
    }
}

/// The times of all parts in one histogram.
fn added(parts: &[Part<'_, Times>]) -> Merged<LatencyHistogram> {
    let mut total = LatencyHistogram::lazy();
    for (name, times) in parts.iter().filter(|(_, times)| !times.histogram.is_empty()) {
        let part =
            deserialize(&times.histogram).map_err(|error| MergeError::Histogram { name: (*name).to_owned(), error })?;
        total.add_raw(&part);
    }
    Ok(total)
}

impl Merge for Times {
    fn merged(parts: &[Part<'_, Self>]) -> Merged<Self> {
        Ok(Self::of(&added(parts)?))
    }
}

/// Times of which, together, only the figures are kept.
pub(crate) fn told(parts: &[Part<'_, Times>]) -> Merged<Times> {
    Ok(Times::told(&added(parts)?))
}

figures! {
    /// What was done, how long it took, and what failed.
    pub struct Measurement {
        /// Successful operations.
        pub operations: u64,
        /// Failed ones, by the names of their classes.
        pub errors: BTreeMap<String, u64>,
        /// Bytes that successful operations received.
        pub bytes_in: u64,
        /// Bytes that they sent.
        pub bytes_out: u64,
        /// Their times, from start to end.
        pub service: Times,
        /// From the planned start; `None` for loads that plan none.
        pub response: Option<Times>,
    }

    /// What was done, where there is not room for more.
    #[derive(Copy)]
    pub struct Counts {
        /// Successful operations.
        pub operations: u64,
        /// Failed ones.
        pub errors: u64,
        /// Bytes that successful operations received.
        pub bytes_in: u64,
    }

    /// What making the load took. The busiest thread counts: one that is full hides behind the mean of many.
    #[derive(Copy)]
    pub struct Cost {
        /// CPU time of a thread in the time it lived, as a share of that.
        pub cpu_share: f64 => max,
        /// Time that it was ready and waited for a processor, as a share; `None` where one thread could not measure it.
        pub run_delay_share: Option<f64> => max_if_all,
        /// Resident memory of the process, bytes.
        pub rss_bytes: u64 => max,
    }
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.errors += other.errors;
        self.bytes_in += other.bytes_in;
    }
}

impl Cost {
    /// Of a thread that lived for `lived_ns`, of which it ran for `cpu_ns` and waited for a processor for
    /// `run_delay_ns`.
    pub fn of_thread(lived_ns: Nanos, cpu_ns: Nanos, run_delay_ns: Option<Nanos>) -> Self {
        let share = |part_ns| share(part_ns, lived_ns);
        Self { cpu_share: share(cpu_ns), run_delay_share: run_delay_ns.map(share), rss_bytes: 0 }
    }
}

/// A part of a time as a share of it; of no time it is none.
pub(crate) fn share(part_ns: Nanos, of_ns: Nanos) -> f64 {
    if of_ns == 0 { 0.0 } else { part_ns as f64 / of_ns as f64 }
}

/// A measurement that is under way.
#[derive(Debug)]
pub struct Counted {
    pub(crate) operations: u64,
    pub(crate) errors: [u64; ErrorClass::COUNT],
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) service: LatencyHistogram,
    /// From planned starts, where there are any.
    pub(crate) response: Option<LatencyHistogram>,
}

impl Counted {
    /// With its memory in place, so that recording faults in no page.
    pub(crate) fn warm(planned: bool) -> Self {
        Self::with(LatencyHistogram::warm(), planned.then(LatencyHistogram::warm))
    }

    pub(crate) fn lazy(planned: bool) -> Self {
        Self::with(LatencyHistogram::lazy(), planned.then(LatencyHistogram::lazy))
    }

    fn with(service: LatencyHistogram, response: Option<LatencyHistogram>) -> Self {
        Self { operations: 0, errors: [0; ErrorClass::COUNT], bytes_in: 0, bytes_out: 0, service, response }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.add_errors(&other.errors);
        self.service.add(&other.service);
        if let (Some(mine), Some(theirs)) = (&mut self.response, &other.response) {
            mine.add(theirs);
        }
    }

    pub(crate) fn add_errors(&mut self, errors: &[u64; ErrorClass::COUNT]) {
        self.errors.iter_mut().zip(errors).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Failed operations of all classes.
    pub(crate) fn failed(&self) -> u64 {
        self.errors.iter().sum()
    }

    /// The measurement that it is.
    pub(crate) fn told(&self) -> Measurement {
        let named = ErrorClass::ALL.iter().zip(self.errors).filter(|(_, count)| *count > 0);
        Measurement {
            operations: self.operations,
            errors: named.map(|(class, count)| (class.name().to_owned(), count)).collect(),
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            service: Times::of(&self.service),
            response: self.response.as_ref().map(Times::of),
        }
    }
}
