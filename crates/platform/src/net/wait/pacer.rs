//! Waits that end at the moment of the next planned start.
//!
//! A thread that asks the kernel to be woken is woken late: by microseconds when its processor is awake, by hundreds
//! after a long sleep. So it asks for an earlier moment, as much earlier as it was late so far after sleeps of that
//! length, and looks at the clock for the rest.

use bakeoff_engine::Nanos;

/// Classes of waits by their length: those shorter than so many ns, and how early to wake at first.
const CLASSES: [(Nanos, Nanos); 5] =
    [(60_000, 15_000), (250_000, 25_000), (1_000_000, 60_000), (10_000_000, 150_000), (Nanos::MAX, 300_000)];
/// The earliest wake-up before a start, ns: so much of a processor a start may cost at most.
const EARLIEST_NS: Nanos = 500_000;
/// What is left is never slept, ns: going to sleep and being woken takes as long.
const LEAST_NS: Nanos = 5_000;
/// After a wake-up that was too late the margin rises by this share, after others it falls by a 32nd of that: so about
/// one in 32 is late.
const RISE: Nanos = 8;
const FALL: Nanos = 32 * RISE;
/// Who was interrupted while spinning sleeps through so many waits, and twice as many each time again …
const REST: u32 = 32;
const REST_MAX: u32 = 1_024;
/// … until so many waits in a row were left alone.
const QUIET: u32 = 128;

/// Decides how long to sleep before a start, and learns from how late the thread woke.
#[derive(Debug)]
pub(crate) struct Pacer {
    margins_ns: [Nanos; CLASSES.len()],
    rest: u32,
    next_rest: u32,
    quiet: u32,
    /// Time spent spinning inside the window, ns.
    pub spun_ns: Nanos,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { margins_ns: CLASSES.map(|class| class.1), rest: 0, next_rest: REST, quiet: 0, spun_ns: 0 }
    }
}

/// How to wait for a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Sleep for so long, then ask again.
    Sleep(Nanos),
    /// Look at the clock until it is there.
    Spin,
}

impl Pacer {
    /// How to begin a wait for a start that is `gap_ns` away.
    pub fn pace(&mut self, gap_ns: Nanos) -> Pace {
        if self.rest > 0 {
            self.rest -= 1;
            return Pace::Sleep(gap_ns);
        }
        let margin_ns = self.margins_ns[class(gap_ns)];
        if gap_ns <= margin_ns + LEAST_NS { Pace::Spin } else { Pace::Sleep(gap_ns - margin_ns) }
    }

    /// The thread was to wake `asked_ns` after it began to wait for a start that was `gap_ns` away, and nothing came
    /// before; it was woken after `slept_ns`.
    pub fn woke(&mut self, gap_ns: Nanos, asked_ns: Nanos, slept_ns: Nanos) {
        let margin_ns = &mut self.margins_ns[class(gap_ns)];
        let late_ns = slept_ns.saturating_sub(asked_ns);
        if late_ns > *margin_ns {
            *margin_ns = (*margin_ns + *margin_ns / RISE + 1).min(EARLIEST_NS);
        } else {
            *margin_ns = (*margin_ns - *margin_ns / FALL).max(LEAST_NS);
        }
    }

    /// A start was spun for and nobody else wanted the processor.
    pub fn undisturbed(&mut self) {
        self.quiet += 1;
        if self.quiet >= QUIET {
            self.next_rest = REST;
        }
    }

    /// Another thread had the processor meanwhile: who shares one does not burn it.
    pub fn give_way(&mut self) {
        self.quiet = 0;
        self.rest = self.next_rest;
        self.next_rest = (2 * self.next_rest).min(REST_MAX);
    }
}

fn class(gap_ns: Nanos) -> usize {
    CLASSES.iter().position(|class| gap_ns < class.0).unwrap_or(CLASSES.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Nanos = 1_000;

    /// Waits for starts that are `gap_us` away, woken late by what `late_us` says; how many came too late, and the mean
    /// time that was spun, µs.
    fn waits(pacer: &mut Pacer, gap_us: u64, late_us: impl Fn(u64) -> u64) -> (u64, u64) {
        let (mut too_late, mut spun_us) = (0, 0);
        for nth in 0..10_000 {
            let Pace::Sleep(asked_ns) = pacer.pace(gap_us * US) else {
                spun_us += gap_us;
                continue;
            };
            let slept_ns = asked_ns + late_us(nth) * US;
            pacer.woke(gap_us * US, asked_ns, slept_ns);
            too_late += u64::from(slept_ns > gap_us * US);
            spun_us += (gap_us * US).saturating_sub(slept_ns) / US;
        }
        (too_late, spun_us / 10_000)
    }

    #[test]
    fn who_is_woken_late_asks_for_so_much_earlier_and_spins_only_for_the_rest() {
        for (gap_us, late_us) in [(100_000, 210), (100_000, 20), (5_000, 90), (200, 40)] {
            let (too_late, spun_us) = waits(&mut Pacer::default(), gap_us, |nth| late_us + nth * 7 % 11);
            assert!(too_late < 500, "{gap_us} {late_us}: {too_late}");
            assert!(spun_us < 20 + late_us / 8, "{gap_us} {late_us}: {spun_us}");
        }
    }

    #[test]
    fn waits_of_other_lengths_are_learnt_apart() {
        let mut pacer = Pacer::default();
        waits(&mut pacer, 100_000, |_| 400);
        assert!(waits(&mut pacer, 200, |_| 8).0 < 500);
        assert!(matches!(pacer.pace(200 * US), Pace::Sleep(asked_ns) if asked_ns > 185 * US));
    }

    #[test]
    fn no_start_costs_more_than_the_earliest_wake_up() {
        let mut pacer = Pacer::default();
        waits(&mut pacer, 100_000, |_| 5_000);
        assert_eq!(pacer.pace(100_000 * US), Pace::Sleep(100_000 * US - EARLIEST_NS));
    }

    #[test]
    fn starts_that_follow_each_other_closely_are_not_slept_for() {
        assert_eq!(Pacer::default().pace(10 * US), Pace::Spin);
    }

    #[test]
    fn who_is_interrupted_sleeps_longer_each_time_and_recovers_when_left_alone() {
        let mut pacer = Pacer::default();
        let mut rests = Vec::new();
        for _ in 0..12 {
            pacer.give_way();
            rests.push((0..=2 * REST_MAX).take_while(|_| pacer.pace(10 * US) != Pace::Spin).count() as u32);
        }
        assert!(rests.starts_with(&[32, 64, 128]) && rests.ends_with(&[REST_MAX, REST_MAX]), "{rests:?}");
        (0..QUIET).for_each(|_| pacer.undisturbed());
        pacer.give_way();
        assert_eq!(pacer.rest, REST);
    }
}
