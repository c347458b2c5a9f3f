//! What the intervals of a soak cost a load thread, and what the machine did meanwhile.

use crate::clock::{offsets, thread_cpu_ns};
use crate::process::{resident_bytes, spent, stolen_ns, thread_run_delay_ns};
use crate::watch::{Throttled, Watched};
use bakeoff_engine::{Cost, IntervalCost, Nanos};

/// A smaller step of the wall clock is none: it is set by parts of a second where it is kept right, and a leap.
const STEP_NS: Nanos = 250_000_000;

/// The clocks of a thread and its machine as they were at the last sample.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "units come last in names")]
pub(crate) struct IntervalMeter {
    last_ns: Nanos,
    cpu_ns: Nanos,
    run_delay_ns: Option<Nanos>,
    stolen_ns: Option<Nanos>,
    missed_ns: Option<Nanos>,
    throttled_ns: Option<Nanos>,
    /// How far two clocks are ahead of the monotonic one: that which counts suspended time, and the wall clock.
    suspended_ns: i64,
    wall_ns: i64,
}

impl IntervalMeter {
    pub fn start(now_ns: Nanos, watched: Option<&Watched>) -> Self {
        let (_, suspended_ns, wall_ns) = offsets();
        Self {
            last_ns: now_ns,
            cpu_ns: thread_cpu_ns(),
            run_delay_ns: thread_run_delay_ns(),
            stolen_ns: stolen_ns(),
            missed_ns: watched.map(Watched::missed_ns),
            throttled_ns: Throttled::read().map(|told| told.length_ns),
            suspended_ns,
            wall_ns,
        }
    }

    /// What was spent since the last sample.
    pub fn sample(&mut self, now_ns: Nanos, watched: Option<&Watched>) -> IntervalCost {
        let now = Self::start(now_ns, watched);
        let (span_ns, cpu_ns) = (now.last_ns.saturating_sub(self.last_ns), now.cpu_ns.saturating_sub(self.cpu_ns));
        let cost = Cost::of_thread(span_ns, cpu_ns, spent(self.run_delay_ns, now.run_delay_ns));
        let seconds = |ns: Nanos| ns as f64 / 1e9;
        let cost = IntervalCost {
            cost: Cost { rss_bytes: resident_bytes(), ..cost },
            stolen_s: spent(self.stolen_ns, now.stolen_ns).map(seconds),
            stopped_s: self.stopped_until(&now).map(seconds),
        };
        *self = now;
        cost
    }

    /// For how long the generator did not run: stopped, starved, throttled, or on a machine that was suspended or
    /// paused. A pause shows as a step of the wall clock, as nothing else does. One can be another: the longest of
    /// them.
    fn stopped_until(&self, now: &Self) -> Option<Nanos> {
        let missed_ns = spent(self.missed_ns, now.missed_ns)?;
        let throttled_ns = spent(self.throttled_ns, now.throttled_ns).unwrap_or(0);
        let suspended_ns = now.suspended_ns.saturating_sub(self.suspended_ns).max(0).unsigned_abs();
        let step_ns = now.wall_ns.saturating_sub(self.wall_ns).unsigned_abs();
        let known = [missed_ns, throttled_ns, suspended_ns, if step_ns >= STEP_NS { step_ns } else { 0 }];
        known.into_iter().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn whatever_kept_the_generator_from_running_is_missing_from_the_row() {
        let before =
            IntervalMeter { missed_ns: Some(SECOND), throttled_ns: Some(5), wall_ns: 7, ..IntervalMeter::default() };
        let missing = |now: IntervalMeter| before.stopped_until(&now);
        assert_eq!(missing(before), Some(0));
        assert_eq!(missing(IntervalMeter { missed_ns: Some(3 * SECOND), ..before }), Some(2 * SECOND));
        assert_eq!(missing(IntervalMeter { throttled_ns: Some(5 + SECOND), ..before }), Some(SECOND));
        assert_eq!(missing(IntervalMeter { suspended_ns: 3_600_000_000_000, ..before }), Some(3_600 * SECOND));
        for wall_ns in [7 + 60_000_000_000, 7 - 60_000_000_000] {
            assert_eq!(missing(IntervalMeter { wall_ns, ..before }), Some(60 * SECOND));
        }
        assert_eq!(missing(IntervalMeter { wall_ns: 200_000_000, ..before }), Some(0), "kept right by a daemon");
        // A stop in which the control group's limit ran as well is one stop.
        let both = IntervalMeter { missed_ns: Some(2 * SECOND), throttled_ns: Some(5 + SECOND / 2), ..before };
        assert_eq!(missing(both), Some(SECOND));
    }

    #[test]
    fn what_nobody_measured_is_not_nothing() {
        let nobody = IntervalMeter::default();
        assert_eq!(nobody.stopped_until(&IntervalMeter { throttled_ns: Some(SECOND), ..nobody }), None);
    }
}
