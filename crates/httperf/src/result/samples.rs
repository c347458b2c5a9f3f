//! Rates by samples of 5 s, and how long connections lived.

use super::figures::Spread;
use crate::spec::ClientSpec;
use bakeoff_engine::{Nanos, SECOND_NS};

/// Length of a sample, ns.
const SAMPLE_NS: Nanos = 5 * SECOND_NS;
const BIN_NS: Nanos = 1_000_000;
const BINS: usize = 100_000;

/// Counts things for samples. Those of several clients are taken at different moments.
#[derive(Debug)]
pub(crate) struct Rate {
    pub count: u64,
    since_ns: Nanos,
    due_ns: Nanos,
}

impl Rate {
    pub fn new(client: ClientSpec, start_ns: Nanos) -> Self {
        let first_ns = (u64::from(client.index) + 1) * SAMPLE_NS / u64::from(client.of);
        Self { count: 0, since_ns: start_ns, due_ns: start_ns + first_ns }
    }

    pub const fn due_ns(&self) -> Nanos {
        self.due_ns
    }

    /// Takes the sample when it is due: what was counted in the time that it really lasted, per second.
    pub fn sample(&mut self, now_ns: Nanos, spread: &mut Spread) -> Option<f64> {
        if now_ns < self.due_ns {
            return None;
        }
        let rate = self.count as f64 * SECOND_NS as f64 / (now_ns - self.since_ns).max(1) as f64;
        spread.add(rate);
        self.count = 0;
        self.since_ns = now_ns;
        self.due_ns = (self.due_ns + SAMPLE_NS).max(now_ns + 1);
        Some(rate)
    }
}

/// The middle of the first of these bins with which half of all are reached, s; 0 without any.
pub(crate) fn median_s(bins: &[(u32, u32)]) -> f64 {
    let all: u64 = bins.iter().map(|&(_, count)| u64::from(count)).sum();
    let mut sum = 0;
    let reaches = |&&(_, count): &&(u32, u32)| {
        sum += u64::from(count);
        2 * sum >= all
    };
    bins.iter().find(reaches).map_or(0.0, |&(bin, _)| (f64::from(bin) + 0.5) * 1e-3)
}

/// Lifetimes in bins of 1 ms. What lasted longer than all bins is in the last.
#[derive(Debug, Default)]
pub(crate) struct Lifetimes {
    bins: Vec<u32>,
    count: u64,
}

impl Lifetimes {
    pub fn add(&mut self, lifetime_ns: Nanos) {
        let bin = usize::try_from(lifetime_ns / BIN_NS).unwrap_or(BINS).min(BINS - 1);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] = self.bins[bin].saturating_add(1);
        self.count += 1;
    }

    /// The middle of the first bin with which half of all are reached, s; 0 without any.
    pub fn median_s(&self) -> f64 {
        median_s(&self.bins())
    }

    /// Those that are not empty.
    pub fn bins(&self) -> Vec<(u32, u32)> {
        (0..).zip(&self.bins).filter(|(_, count)| **count > 0).map(|(bin, &count)| (bin, count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_clients_are_taken_at_different_moments() {
        let first = |index, of| Rate::new(ClientSpec { index, of }, 100).due_ns() - 100;
        let expected = [(0, 1, 5_000), (0, 4, 1_250), (1, 4, 2_500), (3, 4, 5_000)];
        assert!(expected.iter().all(|&(index, of, ms)| first(index, of) == ms * 1_000_000));
        let mut rate = Rate::new(ClientSpec { index: 0, of: 2 }, 0);
        let mut spread = Spread::default();
        rate.count = 100;
        assert_eq!(rate.sample(SAMPLE_NS / 2 - 1, &mut spread), None);
        assert_eq!(rate.sample(SAMPLE_NS / 2, &mut spread), Some(40.0));
        rate.count = 60;
        assert_eq!(rate.sample(SAMPLE_NS * 3 / 2 + SECOND_NS, &mut spread), Some(10.0), "by the time it really lasted");
        assert_eq!((spread.count, spread.min, spread.max, spread.sum), (2, 10.0, 40.0, 50.0));
        assert_eq!(rate.due_ns(), SAMPLE_NS * 5 / 2);
    }

    #[test]
    fn the_median_is_the_middle_of_its_bin_and_long_lives_are_in_the_last() {
        let mut lifetimes = Lifetimes::default();
        assert!(lifetimes.median_s() == 0.0);
        for ms in [1, 2, 3, 4] {
            lifetimes.add(ms * BIN_NS + 7);
        }
        assert!((lifetimes.median_s() - 0.0025).abs() < 1e-12);
        lifetimes.add(100 * SECOND_NS);
        lifetimes.add(Nanos::MAX);
        assert_eq!(lifetimes.bins(), [(1, 1), (2, 1), (3, 1), (4, 1), (99_999, 2)]);
    }
}
