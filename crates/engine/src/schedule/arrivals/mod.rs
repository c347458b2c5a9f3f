//! The moments of a rate, one after the other: pure functions of the load, the seed and the share.

use super::shape::Shape;
use super::steps::Steps;
use crate::spec::nanos;
use crate::{Nanos, Rate, Rng, SECOND_NS};
use std::sync::Arc;

/// A start as it is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    /// Since the first moment of the schedule, ns.
    pub at_ns: Nanos,
    /// Which one it is; no two of all shares are alike.
    pub index: u64,
}

/// What one of several that share a rate begins. Never goes back.
///
/// Of all shapes but Poisson's, each takes every n-th moment of the one whole sequence: together they are exactly it.
/// Poisson processes are drawn for each: together they are one of the sum of their rates.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    moments: Moments,
    next: u64,
    shares: u64,
}

#[derive(Debug, Clone)]
enum Moments {
    /// So many at each point of an even grid.
    Grid { interval_ns: f64, at_once: u64 },
    /// The rate changes evenly: per ns at first, and its change per ns².
    Ramp { first: f64, change: f64 },
    /// Rates by turns.
    Steps(Steps),
    /// A Poisson process of this share alone.
    Poisson { mean_ns: f64, at_ns: f64, rng: Rng },
    /// Gaps are uniform; `drawn` have been drawn so far, of all shares.
    Uniform { longest_ns: f64, at_ns: f64, drawn: u64, rng: Rng },
    /// As they were recorded.
    Recorded(Arc<[Nanos]>),
}

impl Arrivals {
    /// Those of share `share` (from 0) of `shares` in a trial of `length_ns`. `recorded` are the moments that the
    /// workload knows, for a replay that gives none.
    pub fn new(
        rate: &Rate,
        length_ns: Nanos,
        recorded: Option<&Arc<[Nanos]>>,
        (share, shares): (u32, u32),
        seed: u64,
    ) -> Self {
        let interval_ns = SECOND_NS as f64 / rate.per_s;
        let rng = |share| Rng::for_thread(seed ^ 0xA441, share, 0);
        let moments = match &rate.arrivals {
            Shape::Constant {} => Moments::Grid { interval_ns, at_once: 1 },
            Shape::Burst { size } => {
                Moments::Grid { interval_ns: interval_ns * f64::from(*size), at_once: u64::from(*size) }
            }
            Shape::Ramp { from, to } => {
                Moments::Ramp { first: from / interval_ns, change: (to - from) / interval_ns / length_ns as f64 }
            }
            Shape::Steps { steps } => Moments::Steps(Steps::new(steps, interval_ns)),
            Shape::OnOff { on_s, off_s } => {
                let steps = [((on_s + off_s) / on_s, *on_s), (0.0, *off_s)];
                Moments::Steps(Steps::new(&steps, interval_ns))
            }
            Shape::Poisson {} => {
                Moments::Poisson { mean_ns: interval_ns * f64::from(shares), at_ns: 0.0, rng: rng(share) }
            }
            Shape::Uniform {} => Moments::Uniform { longest_ns: 2.0 * interval_ns, at_ns: 0.0, drawn: 0, rng: rng(0) },
            Shape::Replay { at_s } if at_s.is_empty() => {
                Moments::Recorded(recorded.cloned().unwrap_or_else(|| Arc::new([])))
            }
            Shape::Replay { at_s } => Moments::Recorded(at_s.iter().map(|at_s| nanos(*at_s)).collect()),
        };
        Self { moments, next: u64::from(share), shares: u64::from(shares) }
    }

    /// The next one, if there is any.
    pub fn next(&mut self) -> Option<Start> {
        let index = self.next;
        let at_ns = self.moments.at_ns(index)?;
        self.next += self.shares;
        Some(Start { at_ns, index })
    }
}

impl Moments {
    /// The moment of the start `index`; asked for in rising order. What is computed from the index does not drift.
    fn at_ns(&mut self, index: u64) -> Option<Nanos> {
        match self {
            Self::Grid { interval_ns, at_once } => Some(whole_ns((index / *at_once) as f64 * *interval_ns)),
            Self::Ramp { first, change } => {
                // So many starts after t: first · t + change · t² / 2. Solved without the difference of like numbers.
                let count = index as f64;
                let root = (*first * *first + 2.0 * *change * count).sqrt();
                let at_ns = if index == 0 { 0.0 } else { 2.0 * count / (*first + root) };
                (!at_ns.is_nan()).then(|| whole_ns(at_ns))
            }
            Self::Steps(steps) => Some(whole_ns(steps.at_ns(index))),
            Self::Poisson { mean_ns, at_ns, rng } => {
                *at_ns += -(1.0 - rng.unit()).ln() * *mean_ns;
                Some(whole_ns(*at_ns))
            }
            Self::Uniform { longest_ns, at_ns, drawn, rng } => {
                while *drawn <= index {
                    *at_ns += rng.unit() * *longest_ns;
                    *drawn += 1;
                }
                Some(whole_ns(*at_ns))
            }
            Self::Recorded(moments) => moments.get(usize::try_from(index).ok()?).copied(),
        }
    }
}

fn whole_ns(at_ns: f64) -> Nanos {
    at_ns.round() as Nanos
}

#[cfg(test)]
mod tests;
