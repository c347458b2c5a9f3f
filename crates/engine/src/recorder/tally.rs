//! What one load-generating thread has counted so far, readable by others while it counts.
//!
//! Only that thread writes, so that adding is a relaxed load and a relaxed store, no locked instruction. Whoever reads
//! sees each counter as it was a moment ago.

use crate::Nanos;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps of every doubling, as a power of two: a time is told within 1/32 of itself.
const STEP_BITS: u32 = 4;
/// The longest time that is told, ns: 73 minutes, more than an operation can take.
const LONGEST_NS: Nanos = (1 << 42) - 1;
/// Counters of times.
pub(crate) const STEPS: usize = step_of(LONGEST_NS) + 1;

/// The counter of a time: its leading bits.
const fn step_of(time_ns: Nanos) -> usize {
    let time_ns = if time_ns < LONGEST_NS { time_ns } else { LONGEST_NS };
    let doublings = (time_ns | 1 << STEP_BITS).ilog2() - STEP_BITS;
    ((doublings << STEP_BITS) as u64 + (time_ns >> doublings)) as usize
}

/// The time in the middle of those that share a counter, ns.
pub(crate) const fn time_of(step: usize) -> Nanos {
    let doublings = (step >> STEP_BITS).saturating_sub(1);
    let leading = (step - (doublings << STEP_BITS)) as Nanos;
    (leading << doublings) + ((1 << doublings) >> 1)
}

/// Counters of one thread, on cache lines of their own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Tally {
    bytes_in: AtomicU64,
    /// Successful and failed operations of each name.
    operations: Box<[[AtomicU64; 2]]>,
    /// Successful operations by service time.
    times: Box<[AtomicU64]>,
}

impl Tally {
    /// For so many operation names.
    pub fn new(operations: usize) -> Self {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            bytes_in: AtomicU64::new(0),
            operations: (0..operations).map(|_| <[AtomicU64; 2]>::default()).collect(),
            times: zeros(STEPS),
        }
    }

    /// An operation succeeded.
    #[inline]
    pub fn success(&self, operation: u16, service_ns: Nanos, bytes_in: u64) {
        add(&self.operations[usize::from(operation)][0], 1);
        add(&self.times[step_of(service_ns)], 1);
        add(&self.bytes_in, bytes_in);
    }

    /// An operation failed.
    pub fn failure(&self, operation: u16) {
        add(&self.operations[usize::from(operation)][1], 1);
    }

    /// Bytes received by successful operations.
    pub(crate) fn bytes_in(&self) -> u64 {
        self.bytes_in.load(Ordering::Relaxed)
    }

    /// Successful and failed operations of each name.
    pub(crate) fn operations(&self) -> impl Iterator<Item = [u64; 2]> {
        self.operations.iter().map(|both| [0, 1].map(|which| both[which].load(Ordering::Relaxed)))
    }

    /// Successful operations by service time; see [`time_of`].
    pub(crate) fn times(&self) -> impl Iterator<Item = u64> {
        self.times.iter().map(|counter| counter.load(Ordering::Relaxed))
    }
}

/// Adds as the only writer.
#[inline]
fn add(counter: &AtomicU64, number: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_told_within_a_thirty_second_of_itself() {
        let mut time_ns = 1.0_f64;
        while time_ns < LONGEST_NS as f64 {
            let told = time_of(step_of(time_ns as u64)) as f64;
            assert!((told / time_ns.floor() - 1.0).abs() <= 1.0 / 32.0, "{time_ns} told as {told}");
            time_ns *= 1.003;
        }
        assert!((0..32).all(|time_ns| time_of(step_of(time_ns)) == time_ns));
        assert_eq!((step_of(u64::MAX), step_of(0)), (STEPS - 1, 0));
    }

    #[test]
    fn longer_times_have_later_counters_and_none_is_unused() {
        let times: Vec<_> = (0..STEPS).map(time_of).collect();
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(times.iter().enumerate().all(|(step, &time_ns)| step_of(time_ns) == step));
    }

    #[test]
    fn counters_stay_right_past_two_to_the_32_and_53() {
        for before in [(1_u64 << 32) - 1, (1 << 53) - 1, 1 << 53] {
            let tally = Tally::new(1);
            tally.operations[0][0].store(before, Ordering::Relaxed);
            tally.operations[0][1].store(before, Ordering::Relaxed);
            tally.times[step_of(1_000)].store(before, Ordering::Relaxed);
            tally.bytes_in.store(before, Ordering::Relaxed);
            (0..2).for_each(|_| tally.success(0, 1_000, 1));
            (0..2).for_each(|_| tally.failure(0));
            assert_eq!(tally.operations().collect::<Vec<_>>(), [[before + 2; 2]]);
            assert_eq!((tally.bytes_in(), tally.times().sum::<u64>()), (before + 2, before + 2));
        }
    }

    #[test]
    fn what_one_thread_counts_another_reads() {
        let tally = Tally::new(3);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (0..1_000).for_each(|_| tally.success(2, 1_000_000, 7));
                tally.failure(0);
            });
        });
        assert_eq!(tally.operations().collect::<Vec<_>>(), [[0, 1], [0, 0], [1_000, 0]]);
        assert_eq!((tally.bytes_in(), tally.times().sum::<u64>()), (7_000, 1_000));
    }
}
