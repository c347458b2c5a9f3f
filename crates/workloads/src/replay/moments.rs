//! When the lines of a log are asked for: their stamps at a pace, spread within seconds, again and again.

use super::trace::Trace;
use bakeoff_engine::{Nanos, Rng};
use serde::Deserialize;

/// The most requests that a trial may make, whose moments and replies are kept.
pub(crate) const STARTS_MAX: usize = 20_000_000;

/// How lines that are stamped with the same whole second are spread over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// At even distances, the first at the second's beginning.
    Even,
    /// As a Poisson process that has so many arrivals in this second: each anywhere.
    Poisson,
}

/// What becomes of the log's own time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Seconds of the log in a second of the trial.
    pub speed: f64,
    pub spread: Spread,
    /// The log begins again until the trial is over.
    pub loops: bool,
    pub length_ns: Nanos,
    pub seed: u64,
}

/// The planned starts of a trial in ns from its own, rising. `None` when there are more than [`STARTS_MAX`].
pub(crate) fn moments(trace: &Trace, pace: Pace) -> Option<Vec<Nanos>> {
    let mut rng = Rng::for_thread(pace.seed ^ 0x5E_C0DD, 0, 0);
    let mut starts = Vec::new();
    let mut second = Vec::new();
    for round in 0_u64.. {
        let origin_us = round as f64 * trace.period_us as f64;
        let mut from = 0;
        while from < trace.at_us.len() {
            let until = if trace.exact { from + 1 } else { from + same(&trace.at_us[from..]) };
            let base_us = origin_us + trace.at_us[from] as f64;
            if trace.exact {
                second.splice(.., [0.0]);
            } else {
                spread(&mut second, until - from, pace.spread, &mut rng);
            }
            for within_us in &second {
                let at_ns = (base_us + within_us) * 1_000.0 / pace.speed;
                if at_ns >= pace.length_ns as f64 {
                    return Some(starts);
                }
                if starts.len() == STARTS_MAX {
                    return None;
                }
                starts.push(at_ns as Nanos);
            }
            from = until;
        }
        if !pace.loops {
            break;
        }
    }
    Some(starts)
}

/// How many of the first are alike.
fn same(at_us: &[u64]) -> usize {
    at_us.iter().take_while(|at| **at == at_us[0]).count()
}

fn spread(within_us: &mut Vec<f64>, count: usize, how: Spread, rng: &mut Rng) {
    within_us.clear();
    match how {
        Spread::Even => within_us.extend((0..count).map(|at| at as f64 * 1e6 / count as f64)),
        Spread::Poisson => {
            within_us.extend((0..count).map(|_| rng.unit() * 1e6));
            within_us.sort_by(f64::total_cmp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(at_s: &[u64], period_s: u64, exact: bool) -> Trace {
        Trace {
            exact,
            period_us: period_s * 1_000_000,
            at_us: at_s.iter().map(|at| at * 1_000_000).collect(),
            lines: vec![(0, 200); at_s.len()],
            ..Trace::default()
        }
    }

    fn pace(speed: f64, length_s: u64) -> Pace {
        Pace { speed, spread: Spread::Even, loops: false, length_ns: length_s * 1_000_000_000, seed: 1 }
    }

    fn millis(trace: &Trace, pace: Pace) -> Vec<u64> {
        moments(trace, pace).unwrap().iter().map(|at| at / 1_000_000).collect()
    }

    #[test]
    fn lines_of_a_second_are_spread_evenly_at_any_speed() {
        let log = trace(&[0, 0, 0, 0, 2, 3, 3], 4, false);
        assert_eq!(millis(&log, pace(1.0, 4)), [0, 250, 500, 750, 2_000, 3_000, 3_500]);
        assert_eq!(millis(&log, pace(2.0, 4)), [0, 125, 250, 375, 1_000, 1_500, 1_750]);
        assert_eq!(millis(&log, pace(2.0, 1)), [0, 125, 250, 375]);
        let exact = Trace { at_us: vec![0, 250_001, 1_000_000], ..trace(&[0, 0, 0], 2, true) };
        assert_eq!(millis(&exact, Pace { spread: Spread::Poisson, ..pace(1.0, 4) }), [0, 250, 1_000]);
    }

    #[test]
    fn a_log_that_loops_begins_anew_after_its_period() {
        let log = trace(&[0, 0, 2], 3, false);
        let looped = Pace { loops: true, ..pace(1.0, 7) };
        assert_eq!(millis(&log, looped), [0, 500, 2_000, 3_000, 3_500, 5_000, 6_000, 6_500]);
    }

    #[test]
    fn poisson_starts_stay_in_their_second_and_differ_by_seed() {
        let at_s: Vec<u64> = (0..1_000).map(|line| line / 100).collect();
        let log = trace(&at_s, 10, false);
        let drawn = |seed| moments(&log, Pace { spread: Spread::Poisson, seed, ..pace(1.0, 10) }).unwrap();
        let one = drawn(1);
        assert!(one.is_sorted() && one == drawn(1) && one != drawn(2));
        assert!(one.iter().zip(&at_s).all(|(at, second)| at / 1_000_000_000 == *second));
        // Gaps of a Poisson process vary as much as their mean; those of an even grid do not.
        let gaps: Vec<f64> = one.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.8..1.2).contains(&(variance.sqrt() / mean)));
    }
}
