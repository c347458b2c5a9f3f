//! Looking for replies instead of sleeping until they come.
//!
//! A thread that sleeps must be woken by whoever sends to it. On one machine that is the server, which pays for it with
//! its own time; over a network it is an interrupt. A thread with a processor to itself need not sleep.

use bakeoff_engine::Nanos;

/// Longest look without a find, ns: several times what a fast server takes to answer.
const POLL_NS: Nanos = 250_000;
/// A look takes a microsecond; one that took longer than this was interrupted by another thread, ns.
pub(crate) const SHARED_NS: Nanos = 50_000;
/// After so many looks in vain in a row …
const PATIENCE: u32 = 8;
/// … so many waits are slept through.
const REST: u32 = 32;

/// Decides when to look and when to sleep; made only for threads that may look.
#[derive(Debug, Default)]
pub(crate) struct Poller {
    in_vain: u32,
    rest: u32,
    /// Time spent looking without a find inside the window, ns.
    pub polled_ns: Nanos,
}

impl Poller {
    /// How long to look before a wait; `None` to sleep at once.
    #[inline]
    pub fn poll_ns(&mut self) -> Option<Nanos> {
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        Some(POLL_NS)
    }

    /// The look was not in vain.
    #[inline]
    pub fn saw_events(&mut self) {
        self.in_vain = 0;
    }

    /// The processor is not this thread's own.
    pub fn give_way(&mut self) {
        self.in_vain = 0;
        self.rest = REST;
    }

    /// Nothing was. Where replies are rare, looking for them costs much and gains little.
    pub fn missed(&mut self) {
        self.in_vain += 1;
        if self.in_vain >= PATIENCE {
            self.in_vain = 0;
            self.rest = REST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_in_vain_sleeps_most_of_the_time_and_who_finds_never() {
        let mut poller = Poller::default();
        let polls = (0..1_000).filter(|_| poller.poll_ns().map(|_| poller.missed()).is_some()).count();
        assert_eq!(polls, 1_000 * PATIENCE as usize / (PATIENCE + REST) as usize);
        let mut poller = Poller::default();
        assert!((0..1_000).all(|_| poller.poll_ns().map(|_| poller.saw_events()).is_some()));
    }
}
