//! The histogram in which all times are kept.

use hdrhistogram::Histogram;

/// Lowest and highest recordable time, ns: 1 ns to one hour, three significant digits (0.1 % of the value).
const LOWEST_NS: u64 = 1;
const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A latency histogram from 1 ns to 1 h at three significant digits.
///
/// It never resizes: an auto-resizing histogram with saturating records silently reports 2 ns for everything.
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    inner: Histogram<u64>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram.
    ///
    /// # Panics
    /// Never: the bounds are constants that the library accepts.
    pub fn new() -> Self {
        let inner =
            Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS).expect("constant bounds are valid");
        Self { inner }
    }

    /// Counts one time, ns. Times over one hour count as one hour.
    #[inline]
    pub fn record(&mut self, time_ns: u64) {
        self.inner.saturating_record(time_ns);
    }

    /// The library's histogram, for statistics and serialisation.
    pub fn inner(&self) -> &Histogram<u64> {
        &self.inner
    }

    /// Adds the counts of another histogram of the same bounds.
    pub fn add(&mut self, other: &Self) {
        self.add_raw(&other.inner);
    }

    /// Adds a histogram read back from bytes that this crate wrote.
    pub(crate) fn add_raw(&mut self, other: &Histogram<u64>) {
        let added = self.inner.add(other);
        debug_assert!(added.is_ok(), "histograms of this crate share their bounds");
    }

    /// Forgets all counts, keeps the memory.
    pub fn clear(&mut self) {
        self.inner.reset();
    }

    /// How many times were counted.
    #[inline]
    pub fn count(&self) -> u64 {
        self.inner.len()
    }
}
