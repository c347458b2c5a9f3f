//! When connections or sessions begin: pure, asked for one moment after the other.

use super::random::Random;
use crate::spec::{Part, PeriodSpec};
use bakeoff_engine::Nanos;

/// The moments of all starts, counted from the first, which is at 0. Never goes back, never ends.
#[derive(Debug, Clone)]
pub(crate) struct Starts {
    period: PeriodSpec,
    random: Random,
    /// Starts so far.
    count: u64,
    at_s: f64,
    /// Of a variable period: which step, since when, and starts in it.
    step: usize,
    step_began_s: f64,
    in_step: u64,
    /// Which of them are asked for.
    part: Part,
}

impl Starts {
    pub fn new(period: PeriodSpec, random: Random) -> Self {
        Self { period, random, count: 0, at_s: 0.0, step: 0, step_began_s: 0.0, in_step: 0, part: Part::default() }
    }

    /// The same, of which only these are told: several machines go by one sequence.
    pub fn of_part(self, part: Part) -> Self {
        Self { part, ..self }
    }

    /// The next one, ns.
    pub fn next_ns(&mut self) -> Nanos {
        let others = if self.count == 0 { self.part.index } else { self.part.of - 1 };
        for _ in 0..others {
            self.any_ns();
        }
        self.any_ns()
    }

    /// The next one, whosever it is. Even ones are computed from the first (of their step): they do not drift.
    fn any_ns(&mut self) -> Nanos {
        if self.count > 0 {
            self.at_s = match &self.period {
                PeriodSpec::Fixed { period_s } => self.count as f64 * period_s,
                PeriodSpec::Uniform { from_s, to_s } => self.at_s + from_s + (to_s - from_s) * self.random.unit(),
                PeriodSpec::Exponential { mean_s } => self.at_s - mean_s * (1.0 - self.random.unit()).ln(),
                PeriodSpec::Variable { steps } => {
                    let (period_s, duration_s) = steps[self.step];
                    self.in_step += 1;
                    let at_s = self.step_began_s + self.in_step as f64 * period_s;
                    let end_s = self.step_began_s + duration_s;
                    // Sums of decimal fractions: what falls on the end belongs to the next step.
                    if at_s < end_s - period_s * 1e-9 {
                        at_s
                    } else {
                        self.step = (self.step + 1) % steps.len();
                        self.step_began_s = end_s;
                        self.in_step = 0;
                        end_s
                    }
                }
            };
        }
        self.count += 1;
        (self.at_s * 1e9).round() as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(period: PeriodSpec, count: usize) -> Vec<u64> {
        let mut starts = Starts::new(period, Random::of_client(0));
        (0..count).map(|_| starts.next_ns() / 1_000_000).collect()
    }

    #[test]
    fn a_fixed_period_is_a_grid_that_does_not_drift() {
        assert_eq!(first(PeriodSpec::Fixed { period_s: 0.1 }, 4), [0, 100, 200, 300]);
        let mut starts = Starts::new(PeriodSpec::Fixed { period_s: 0.1 }, Random::of_client(0));
        let last = (0..=1_000_000).map(|_| starts.next_ns()).last();
        assert_eq!(last, Some(100_000 * 1_000_000_000), "28 hours at 10 a second");
    }

    #[test]
    fn parts_of_a_sequence_are_together_all_of_it() {
        let variable = PeriodSpec::Variable { steps: vec![(1.0, 3.0), (0.5, 1.0)] };
        for period in [PeriodSpec::Fixed { period_s: 0.1 }, PeriodSpec::Exponential { mean_s: 0.02 }, variable] {
            let all = || Starts::new(period.clone(), Random::of_client(3));
            let (mut whole, of) = (all(), 3);
            let mut parts: Vec<Starts> = (0..of).map(|index| all().of_part(Part { index, of })).collect();
            for nth in 0..300 {
                assert_eq!(parts[nth % 3].next_ns(), whole.next_ns(), "{period:?}");
            }
        }
        let shares = |all| (0..3).map(|index| Part { index, of: 3 }.share(all)).collect::<Vec<_>>();
        assert_eq!((shares(7), shares(2), Part::default().share(7)), (vec![3, 2, 2], vec![1, 1, 0], 7));
    }

    #[test]
    fn a_variable_period_begins_each_step_with_a_start_and_wraps_round() {
        let variable = PeriodSpec::Variable { steps: vec![(1.0, 3.0), (0.5, 1.0), (2.0, 3.0)] };
        let expected = [0, 1000, 2000, 3000, 3500, 4000, 6000, 7000, 8000, 9000, 10_000, 10_500, 11_000];
        assert_eq!(first(variable, 13), expected);
        let tenths = PeriodSpec::Variable { steps: vec![(0.1, 0.3), (0.1, 0.3)] };
        assert_eq!(first(tenths, 7), [0, 100, 200, 300, 400, 500, 600]);
    }

    #[test]
    fn the_mean_is_what_many_starts_come_to() {
        let variable = PeriodSpec::Variable { steps: vec![(1.0, 3.0), (0.5, 1.0), (2.0, 6.0)] };
        let uniform = PeriodSpec::Uniform { from_s: 0.01, to_s: 0.03 };
        let exponential = PeriodSpec::Exponential { mean_s: 0.02 };
        for period in [PeriodSpec::Fixed { period_s: 0.1 }, uniform, exponential, variable] {
            let mean_s = period.mean_s();
            let last_ms = first(period.clone(), 20_001)[20_000];
            assert!((last_ms as f64 / 20_000.0 / mean_s / 1e3 - 1.0).abs() < 0.03, "{period:?}: {mean_s} s");
        }
    }

    #[test]
    fn random_periods_have_their_mean_and_bounds_and_come_again() {
        let uniform = PeriodSpec::Uniform { from_s: 0.010, to_s: 0.030 };
        let times = first(uniform.clone(), 20_001);
        assert!((times[20_000] as f64 / 20_000.0 - 20.0).abs() < 0.2);
        assert!(times.windows(2).all(|pair| (9..=31).contains(&(pair[1] - pair[0]))));
        assert_eq!(times, first(uniform, 20_001));
        let times = first(PeriodSpec::Exponential { mean_s: 0.02 }, 20_001);
        assert!((times[20_000] as f64 / 20_000.0 - 20.0).abs() < 0.6);
    }
}
