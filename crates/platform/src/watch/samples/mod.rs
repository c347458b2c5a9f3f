//! From samples that came late to the time in which the process did not run: no clock, no machine.

use bakeoff_engine::Nanos;

/// Between two samples, ns; and for a while after one of them saw a stop, so that short ones are measured well.
const EVERY_NS: Nanos = 20_000_000;
const CLOSELY_NS: Nanos = 2_000_000;
const CLOSELY_FOR_NS: Nanos = 2_000_000_000;
/// A wake-up may be so late by the clock alone, ns. What the kernel says it waited for a processor is no part of it.
const OWN_NS: Nanos = 5_000_000;
/// A wake-up that is later than this is kept by itself, ns, whatever it was late by.
const LONG_NS: Nanos = 100_000_000;
/// A wake-up that is later than this was stopped, or starved by more work than the machine has processors for, ns.
const STARVED_NS: Nanos = 250_000_000;
/// At most so many are kept.
const KEPT: usize = 1_000;

/// A time in which this process did not run: from, to.
pub type Gap = (Nanos, Nanos);

/// The part of a gap that lies in the window, ns.
pub fn inside(gap: Gap, window: Option<(Nanos, Nanos)>) -> Nanos {
    window.map_or(0, |(start, end)| gap.1.min(end).saturating_sub(gap.0.max(start)))
}

/// One sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub now_ns: Nanos,
    /// What this thread has waited for a processor in its life, ns; `None` when the kernel does not tell.
    pub run_delay_ns: Option<Nanos>,
    /// The kernel ended the sleep: the process was stopped in it.
    pub interrupted: bool,
}

/// What all samples came to.
#[derive(Debug)]
pub struct Samples {
    every_ns: Nanos,
    closely_until_ns: Nanos,
    due_ns: Nanos,
    run_delay_ns: Option<Nanos>,
    /// Times of 100 ms and more.
    pub long: Vec<Gap>,
    /// Time in which the process was stopped, ns.
    pub stopped_ns: Nanos,
    /// The same with the waits for a processor that no load explains, ns: what is missing from a row.
    pub missed_ns: Nanos,
    pub stopped_in_window_ns: Nanos,
    pub interrupted_in_window: u64,
}

impl Samples {
    pub fn new(now_ns: Nanos, run_delay_ns: Option<Nanos>) -> Self {
        Self {
            every_ns: EVERY_NS,
            closely_until_ns: 0,
            due_ns: now_ns + EVERY_NS,
            run_delay_ns,
            long: Vec::new(),
            stopped_ns: 0,
            missed_ns: 0,
            stopped_in_window_ns: 0,
            interrupted_in_window: 0,
        }
    }

    /// When the next sample is due.
    pub fn due_ns(&self) -> Nanos {
        self.due_ns
    }

    /// Takes one sample into account.
    pub fn add(&mut self, sample: Sample, window: Option<(Nanos, Nanos)>) {
        let late_ns = sample.now_ns.saturating_sub(self.due_ns);
        let waited_ns = sample.run_delay_ns.zip(self.run_delay_ns).map_or(0, |(now, then)| now.saturating_sub(then));
        if late_ns > LONG_NS && self.long.len() < KEPT {
            self.long.push((self.due_ns, sample.now_ns));
        }
        let lost_ns = self.lost_ns(late_ns.saturating_sub(waited_ns), sample.interrupted);
        if lost_ns > 0 {
            let ended_ns = sample.now_ns.saturating_sub(waited_ns.min(late_ns));
            self.stopped_ns += lost_ns;
            self.stopped_in_window_ns += inside((ended_ns.saturating_sub(lost_ns), ended_ns), window);
        }
        self.missed_ns += if late_ns >= STARVED_NS { late_ns.max(lost_ns) } else { lost_ns };
        if sample.interrupted {
            self.interrupted_in_window +=
                u64::from(window.is_some_and(|(from, to)| (from..to).contains(&sample.now_ns)));
        }
        if sample.interrupted || lost_ns > 0 {
            self.closely_until_ns = sample.now_ns + CLOSELY_FOR_NS;
        }
        self.run_delay_ns = sample.run_delay_ns;
        self.every_ns = if sample.now_ns < self.closely_until_ns { CLOSELY_NS } else { EVERY_NS };
        let next_ns = sample.now_ns + self.every_ns;
        // A sleep that was broken off goes on, or a stopper could keep every sample out of its stops.
        self.due_ns = if self.due_ns > sample.now_ns { self.due_ns.min(next_ns) } else { next_ns };
    }

    /// For how long the process stood still, when a sample was late by `stood_ns` for no want of a processor.
    ///
    /// Of samples that are due at regular moments the share that falls into stops is the share of time that these take:
    /// a look that a stop hit stands for the time to the next.
    fn lost_ns(&self, stood_ns: Nanos, interrupted: bool) -> Nanos {
        match (interrupted, stood_ns) {
            (_, 0) => 0,
            (true, _) => self.every_ns * (1 + stood_ns / self.every_ns),
            (false, _) if stood_ns > OWN_NS => stood_ns,
            (false, _) => 0,
        }
    }
}

#[cfg(test)]
mod tests;
