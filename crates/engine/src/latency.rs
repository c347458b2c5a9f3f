//! The histogram in which all times are kept.

use hdrhistogram::Histogram;
use std::sync::OnceLock;

/// Lowest and highest recordable time, ns: 1 ns to one hour, three significant digits (0.1 % of the value).
const LOWEST_NS: u64 = 1;
const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A latency histogram from 1 ns to 1 h at three significant digits.
///
/// It never resizes: an auto-resizing histogram with saturating records silently reports 2 ns for everything.
/// It takes 264 KiB, so one that may stay empty is made [`LatencyHistogram::lazy`].
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    inner: Option<Histogram<u64>>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

fn make() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS).expect("constant bounds are valid")
}

fn empty() -> &'static Histogram<u64> {
    static EMPTY: OnceLock<Histogram<u64>> = OnceLock::new();
    EMPTY.get_or_init(make)
}

impl LatencyHistogram {
    /// An empty histogram with its memory.
    pub fn new() -> Self {
        Self { inner: Some(make()) }
    }

    /// An empty histogram that takes memory with its first time.
    pub const fn lazy() -> Self {
        Self { inner: None }
    }

    /// An empty histogram whose memory was written to, so that recording faults in no page.
    pub fn warm() -> Self {
        let mut histogram = Self::new();
        histogram.clear();
        histogram
    }

    /// Counts one time, ns. Times over one hour count as one hour.
    #[inline]
    pub fn record(&mut self, time_ns: u64) {
        match &mut self.inner {
            Some(histogram) => histogram.saturating_record(time_ns),
            None => self.record_first(time_ns),
        }
    }

    #[cold]
    fn record_first(&mut self, time_ns: u64) {
        self.inner.get_or_insert_with(make).saturating_record(time_ns);
    }

    /// The library's histogram, for statistics and serialisation.
    pub fn inner(&self) -> &Histogram<u64> {
        self.inner.as_ref().unwrap_or_else(|| empty())
    }

    /// Whether it has memory of its own.
    pub(crate) const fn is_lazy(&self) -> bool {
        self.inner.is_none()
    }

    /// Adds the counts of another histogram of the same bounds.
    pub fn add(&mut self, other: &Self) {
        if let Some(other) = &other.inner {
            self.add_raw(other);
        }
    }

    /// Adds a histogram read back from bytes that this crate wrote.
    pub(crate) fn add_raw(&mut self, other: &Histogram<u64>) {
        let added = self.inner.get_or_insert_with(make).add(other);
        debug_assert!(added.is_ok(), "histograms of this crate share their bounds");
    }

    /// Forgets all counts, keeps the memory.
    pub fn clear(&mut self) {
        if let Some(histogram) = &mut self.inner {
            histogram.reset();
        }
    }

    /// How many times were counted.
    #[inline]
    pub fn count(&self) -> u64 {
        self.inner.as_ref().map_or(0, Histogram::len)
    }
}
