//! The histogram in which all times are kept.

use hdrhistogram::Histogram;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Lowest and highest recordable time, ns: 1 ns to one hour, three significant digits (0.1 % of the value).
const LOWEST_NS: u64 = 1;
const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Steps of every doubling, as a power of two: what three digits need.
const STEP_BITS: u32 = 10;
/// Steps in all, those of the doubling that holds the highest time included.
const STEPS: usize = ((HIGHEST_NS.ilog2() - STEP_BITS + 2) as usize) << STEP_BITS;

/// The counter of a time: its leading bits. Where the library has it, too, and in its order.
#[inline]
const fn step_of(time_ns: u64) -> usize {
    let doublings = (time_ns | ((2 << STEP_BITS) - 1)).ilog2() - STEP_BITS;
    ((doublings as usize) << STEP_BITS) + (time_ns >> doublings) as usize
}

/// The lowest time of a counter, ns.
const fn time_of(step: usize) -> u64 {
    let doublings = (step >> STEP_BITS).saturating_sub(1);
    ((step - (doublings << STEP_BITS)) as u64) << doublings
}

/// A latency histogram from 1 ns to 1 h at three significant digits.
///
/// It counts by itself, as that is done several times for each operation, and where HdrHistogram would: to be read, it
/// becomes the library's ([`LatencyHistogram::to_hdr`]). It never resizes: an auto-resizing histogram with saturating
/// records silently reports 2 ns for everything. It takes 264 KiB, so one that may stay empty is made
/// [`LatencyHistogram::lazy`].
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    counts: Option<Box<[u64]>>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

fn make() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS).expect("constant bounds are valid")
}

fn zeros() -> Box<[u64]> {
    vec![0; STEPS].into_boxed_slice()
}

fn empty() -> &'static Histogram<u64> {
    static EMPTY: OnceLock<Histogram<u64>> = OnceLock::new();
    EMPTY.get_or_init(make)
}

impl LatencyHistogram {
    /// An empty histogram with its memory.
    pub fn new() -> Self {
        Self { counts: Some(zeros()) }
    }

    /// An empty histogram that takes memory with its first time.
    pub const fn lazy() -> Self {
        Self { counts: None }
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
        match &mut self.counts {
            Some(counts) => match counts.get_mut(step_of(time_ns)) {
                Some(count) => *count += 1,
                None => counts[step_of(HIGHEST_NS)] += 1,
            },
            None => self.record_first(time_ns),
        }
    }

    #[cold]
    fn record_first(&mut self, time_ns: u64) {
        self.counts = Some(zeros());
        self.record(time_ns);
    }

    /// As the library's histogram, for statistics and serialisation.
    pub fn to_hdr(&self) -> Cow<'static, Histogram<u64>> {
        let Some(counts) = &self.counts else { return Cow::Borrowed(empty()) };
        let mut histogram = make();
        for (step, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let recorded = histogram.record_n(time_of(step), count);
            debug_assert!(recorded.is_ok(), "every counter has a place there");
        }
        Cow::Owned(histogram)
    }

    /// Whether it has memory of its own.
    pub(crate) const fn is_lazy(&self) -> bool {
        self.counts.is_none()
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        let Some(theirs) = &other.counts else { return };
        let mine = self.counts.get_or_insert_with(zeros);
        mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Adds a histogram read back from bytes that this crate wrote.
    pub(crate) fn add_raw(&mut self, other: &Histogram<u64>) {
        let counts = self.counts.get_or_insert_with(zeros);
        for recorded in other.iter_recorded() {
            let step = step_of(recorded.value_iterated_to()).min(STEPS - 1);
            counts[step] = counts[step].saturating_add(recorded.count_at_value());
        }
    }

    /// Forgets all counts, keeps the memory.
    pub fn clear(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.fill(0);
        }
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{deserialize, serialize};

    /// Times of every length, those at the bounds of counters, and beyond the longest.
    fn times() -> Vec<u64> {
        let mut rng = crate::Rng::for_thread(3, 0, 0);
        let mut times = vec![0, 1, 2_047, 2_048, HIGHEST_NS - 1, HIGHEST_NS, HIGHEST_NS + 1, u64::MAX / 2, u64::MAX];
        times.extend((0..42).flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]));
        times.extend((0..20_000).map(|_| rng.below(1 << (1 + rng.clone().below(43)))));
        times
    }

    #[test]
    fn it_counts_as_the_library_does() {
        let (mut own, mut library) = (LatencyHistogram::new(), make());
        for time_ns in times() {
            own.record(time_ns);
            library.saturating_record(time_ns);
        }
        let told = own.to_hdr();
        assert_eq!(library.distinct_values(), STEPS);
        assert!(
            told.iter_all()
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .eq(library.iter_all().map(|step| (step.value_iterated_to(), step.count_at_value())))
        );
        assert_eq!((told.len(), told.min(), told.max()), (library.len(), library.min(), library.max()));
        assert_eq!((told.mean(), own.count()), (library.mean(), library.len()));
    }

    #[test]
    fn what_is_written_is_added_where_it_was() {
        let mut own = LatencyHistogram::new();
        times().into_iter().for_each(|time_ns| own.record(time_ns));
        let mut total = LatencyHistogram::lazy();
        total.add_raw(&deserialize(&serialize(&own.to_hdr())).unwrap());
        assert_eq!(total.counts, own.counts);
        total.add(&own);
        assert_eq!(total.count(), 2 * own.count());
        assert!((0..STEPS).all(|step| step_of(time_of(step)) == step));
    }
}
