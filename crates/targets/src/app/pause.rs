//! Waiting for an exact time without spinning.

use crate::clock::now_ns;

const SECOND: u64 = 1_000_000_000;
/// The lateness of a wake-up is learnt by this share of each new one.
const LEARN: i64 = 16;
/// Lateness beyond this is the machine's load and not the timer's habit, ns.
const HABIT_MAX_NS: i64 = 200_000;

/// Sleeps until a moment and learns how late it wakes, so that it is right in the mean.
#[derive(Debug)]
pub(super) struct Pause {
    lateness_ns: i64,
}

impl Pause {
    /// For the calling thread, whose timers are set to be as fine as the system has them.
    pub fn new() -> Self {
        // SAFETY: no pointers. Without it timers may be 50 us late, which is learnt as well.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0, 0, 0) };
        Self { lateness_ns: 0 }
    }

    /// Returns at `deadline_ns`, now and then some microseconds before or after.
    pub fn until(&mut self, deadline_ns: u64) {
        let wanted_ns = deadline_ns.saturating_sub(self.lateness_ns.max(0) as u64);
        if wanted_ns <= now_ns() {
            return;
        }
        let until = libc::timespec {
            tv_sec: (wanted_ns / SECOND) as libc::time_t,
            tv_nsec: (wanted_ns % SECOND) as libc::c_long,
        };
        // SAFETY: a live timespec; the rest of an interrupted sleep is not asked for.
        while unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const until, std::ptr::null_mut())
        } == libc::EINTR
        {}
        let error_ns = now_ns() as i64 - deadline_ns as i64;
        self.lateness_ns += error_ns.clamp(-HABIT_MAX_NS, HABIT_MAX_NS) / LEARN;
        self.lateness_ns = self.lateness_ns.clamp(0, HABIT_MAX_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_many_pauses_is_the_one_asked_for() {
        let mut pause = Pause::new();
        let mut lengths: Vec<u64> = (0..300)
            .map(|_| {
                let start_ns = now_ns();
                pause.until(start_ns + 1_000_000);
                now_ns() - start_ns
            })
            .collect();
        lengths.sort_unstable();
        let median = lengths[150] as f64;
        assert!((median / 1e6 - 1.0).abs() < 0.03, "{median}");
    }

    #[test]
    fn a_moment_that_has_passed_costs_nothing() {
        let start_ns = now_ns();
        (0..1_000).for_each(|_| Pause { lateness_ns: 0 }.until(start_ns));
        assert!(now_ns() - start_ns < 50_000_000);
    }
}
