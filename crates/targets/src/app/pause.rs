//! Waiting for an exact time without spinning.

use crate::server::clock::now_ns;

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
        let wanted_ns = self.wanted_ns(deadline_ns);
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
        self.learn(now_ns() as i64 - deadline_ns as i64);
    }

    /// What the timer is set to.
    fn wanted_ns(&self, deadline_ns: u64) -> u64 {
        deadline_ns.saturating_sub(self.lateness_ns as u64)
    }

    fn learn(&mut self, error_ns: i64) {
        self.lateness_ns += error_ns.clamp(-HABIT_MAX_NS, HABIT_MAX_NS) / LEARN;
        self.lateness_ns = self.lateness_ns.clamp(0, HABIT_MAX_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a clock: a timer that is late by `late_ns` of the number of the pause.
    fn errors_ns(late_ns: impl Fn(u64) -> u64) -> Vec<i64> {
        let mut pause = Pause { lateness_ns: 0 };
        let once = |number| {
            let deadline_ns = 1_000_000_000 + number * 1_000_000;
            let error_ns = (pause.wanted_ns(deadline_ns) + late_ns(number)) as i64 - deadline_ns as i64;
            pause.learn(error_ns);
            error_ns
        };
        (0..1_000).map(once).collect()
    }

    fn mean(values: &[i64]) -> i64 {
        values.iter().sum::<i64>() / values.len() as i64
    }

    #[test]
    fn the_mean_of_many_pauses_is_the_one_asked_for() {
        let errors = errors_ns(|number| 50_000 + number % 3 * 5_000);
        assert!(mean(&errors[200..]).abs() < 1_000, "{}", mean(&errors[200..]));
    }

    #[test]
    fn what_holds_the_machine_up_is_not_learnt_as_a_habit() {
        // Never earlier than the habit at its most, whatever went before; and back to the mean in a short while.
        let errors = errors_ns(|number| if number < 500 { 30_000_000 } else { 50_000 });
        assert!(errors.iter().all(|&error| error >= -HABIT_MAX_NS));
        assert!(mean(&errors[700..]).abs() < 1_000, "{}", mean(&errors[700..]));
    }

    #[test]
    fn a_pause_is_no_shorter_than_the_habit_allows() {
        let mut pause = Pause::new();
        for _ in 0..20 {
            let start_ns = now_ns();
            pause.until(start_ns + 1_000_000);
            assert!(now_ns() - start_ns >= 1_000_000 - HABIT_MAX_NS as u64);
        }
    }

    #[test]
    fn for_a_moment_that_has_passed_nothing_is_waited_or_learnt() {
        let mut pause = Pause { lateness_ns: 5 };
        pause.until(now_ns());
        assert_eq!(pause.lateness_ns, 5);
    }
}
