//! The moments of a rate, drawn one after the other.

use crate::{Distribution, Nanos, Rate, Rng, SECOND_NS};

/// What one of several that share a rate begins, as times since the first start, ns. Never ends, never goes back.
#[derive(Debug, Clone)]
pub(crate) enum Arrivals {
    /// Every `of`-th point of an even grid.
    Even { interval_ns: f64, next: u64, of: u64 },
    /// A Poisson process. Several together are one again, of the sum of their rates.
    Poisson { mean_ns: f64, at_ns: f64, rng: Rng },
}

impl Arrivals {
    /// Those of share `share` (from 0) of `shares`.
    pub fn new(rate: &Rate, share: u32, shares: u32, seed: u64) -> Self {
        let interval_ns = SECOND_NS as f64 / rate.per_s;
        match rate.arrivals {
            Distribution::Fixed => Self::Even { interval_ns, next: u64::from(share), of: u64::from(shares) },
            Distribution::Exponential => Self::Poisson {
                mean_ns: interval_ns * f64::from(shares),
                at_ns: 0.0,
                rng: Rng::for_thread(seed ^ 0xA441, share, 0),
            },
        }
    }

    /// The next one. A grid does not drift: each point is computed from the first.
    pub fn next_ns(&mut self) -> Nanos {
        match self {
            Self::Even { interval_ns, next, of } => {
                let at_ns = *next as f64 * *interval_ns;
                *next += *of;
                at_ns.round() as Nanos
            }
            Self::Poisson { mean_ns, at_ns, rng } => {
                *at_ns += -(1.0 - rng.unit()).ln() * *mean_ns;
                at_ns.round() as Nanos
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(rate: &Rate, share: u32, shares: u32, end_ns: Nanos) -> Vec<Nanos> {
        let mut arrivals = Arrivals::new(rate, share, shares, 7);
        std::iter::from_fn(|| Some(arrivals.next_ns())).take_while(|at_ns| *at_ns < end_ns).collect()
    }

    fn rate(per_s: f64, arrivals: Distribution) -> Rate {
        Rate { per_s, arrivals, most_clients: 1 }
    }

    #[test]
    fn an_even_rate_is_a_grid_that_does_not_drift() {
        for (per_s, seconds, count) in [(4.0, 1, 4), (3.0, 1_000, 3_000), (0.5, 10, 5), (1e7, 1, 10_000_000)] {
            let grid = until(&rate(per_s, Distribution::Fixed), 0, 1, seconds * SECOND_NS);
            assert_eq!((grid.len(), grid[0]), (count, 0), "{per_s}");
            let last_ns = ((count - 1) as f64 / per_s * 1e9).round() as Nanos;
            assert_eq!(grid[count - 1], last_ns, "{per_s}");
        }
    }

    #[test]
    fn shares_of_a_grid_are_the_whole_grid() {
        let even = rate(1_000.0, Distribution::Fixed);
        let mut shared: Vec<_> = (0..3).flat_map(|share| until(&even, share, 3, SECOND_NS)).collect();
        shared.sort_unstable();
        assert_eq!(shared, until(&even, 0, 1, SECOND_NS));
    }

    #[test]
    fn a_poisson_rate_has_the_mean_and_the_spread_of_one_however_it_is_shared() {
        for shares in [1, 4] {
            let poisson = rate(10_000.0, Distribution::Exponential);
            let mut all: Vec<_> =
                (0..shares).flat_map(|share| until(&poisson, share, shares, 20 * SECOND_NS)).collect();
            all.sort_unstable();
            let gaps: Vec<_> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean / 1e5 - 1.0).abs() < 0.02, "{mean}");
            assert!((square.sqrt() / mean - 1.0).abs() < 0.02, "{square}");
        }
    }
}
