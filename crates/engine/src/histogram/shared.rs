//! Times of many sessions with many operations, in histograms that they share.
//!
//! A histogram takes 264 KiB. Sixty file clients with sixteen operations each would need a thousand of them; so each
//! keeps a short log and empties it into one histogram per operation now and then.

use crate::LatencyHistogram;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// A log with so many times asks to be emptied.
const FULL: usize = 2_048;
/// One with so many waits for its turn: a session that was suspended in the middle must not hold up the others sooner.
const BURSTING: usize = 4 * FULL;
/// A time takes the low bits of an entry (the longest is one hour, 42 bits), its operation those above.
const TIME_BITS: u32 = 48;
const LONGEST_NS: u64 = (1 << TIME_BITS) - 1;

/// One histogram for each operation of a trial.
#[derive(Debug, Default)]
pub struct SharedTimes {
    histograms: Mutex<Vec<LatencyHistogram>>,
}

impl SharedTimes {
    /// Adds the times of an operation to `total`.
    pub(crate) fn add_to(&self, operation: usize, total: &mut LatencyHistogram) {
        if let Some(histogram) = self.lock().get(operation) {
            total.add(histogram);
        }
    }

    /// A panic elsewhere leaves whole histograms behind.
    fn lock(&self) -> MutexGuard<'_, Vec<LatencyHistogram>> {
        self.histograms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` when another session is at it.
    fn try_lock(&self) -> Option<MutexGuard<'_, Vec<LatencyHistogram>>> {
        match self.histograms.try_lock() {
            Ok(histograms) => Some(histograms),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// The latest times of one session.
#[derive(Debug)]
pub(crate) struct TimesLog {
    shared: Arc<SharedTimes>,
    waiting: Vec<u64>,
    /// With so many times it asks to be emptied.
    full: usize,
}

impl TimesLog {
    /// Its memory is in place, so that no operation pays for it.
    pub fn new(shared: Arc<SharedTimes>) -> Self {
        let mut waiting = vec![1; FULL];
        waiting.clear();
        Self { shared, waiting, full: FULL }
    }

    /// Where it is emptied to.
    pub fn shared(&self) -> &SharedTimes {
        &self.shared
    }

    #[inline]
    pub fn push(&mut self, operation: u16, time_ns: u64) {
        self.waiting.push(u64::from(operation) << TIME_BITS | time_ns.min(LONGEST_NS));
    }

    /// Whether it asks to be emptied: each time it has grown by [`FULL`].
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.waiting.len() >= self.full
    }

    /// Empties it, unless another session is just doing so and there is room to wait.
    pub fn relieve(&mut self) {
        if self.waiting.len() >= BURSTING {
            self.empty();
        } else if let Some(mut histograms) = self.shared.try_lock() {
            drain(&mut self.waiting, &mut histograms);
            self.full = FULL;
        } else {
            self.full += FULL;
        }
    }

    /// Empties it, however long that takes.
    pub fn empty(&mut self) {
        drain(&mut self.waiting, &mut self.shared.lock());
        self.full = FULL;
    }
}

fn drain(waiting: &mut Vec<u64>, histograms: &mut Vec<LatencyHistogram>) {
    for entry in waiting.drain(..) {
        let operation = (entry >> TIME_BITS) as usize;
        if histograms.len() <= operation {
            histograms.resize_with(operation + 1, LatencyHistogram::lazy);
        }
        histograms[operation].record(entry & LONGEST_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_of(shared: &SharedTimes, operation: usize) -> u64 {
        let mut total = LatencyHistogram::lazy();
        shared.add_to(operation, &mut total);
        total.count()
    }

    #[test]
    fn times_of_many_sessions_come_together_by_operation() {
        let shared = Arc::new(SharedTimes::default());
        let sessions = (0..4_u64).map(|session| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || {
                let mut log = TimesLog::new(shared);
                for index in 0..10_000 {
                    log.push((index % 2) as u16 * 300, 1_000 + session);
                    if log.is_full() {
                        log.relieve();
                    }
                }
                log.empty();
            })
        });
        let running: Vec<_> = sessions.collect();
        running.into_iter().for_each(|session| session.join().unwrap());
        assert_eq!((count_of(&shared, 0), count_of(&shared, 300), count_of(&shared, 1)), (20_000, 20_000, 0));
        let mut total = LatencyHistogram::lazy();
        shared.add_to(300, &mut total);
        assert_eq!((total.to_hdr().min(), total.to_hdr().max()), (1_000, 1_003));
    }

    #[test]
    fn a_session_waits_for_another_only_when_its_log_bursts() {
        let shared = Arc::new(SharedTimes::default());
        let mut log = TimesLog::new(Arc::clone(&shared));
        let held = shared.lock();
        for _ in 0..BURSTING - 1 {
            log.push(0, 5);
            if log.is_full() {
                log.relieve();
            }
        }
        drop(held);
        assert_eq!((log.waiting.len(), count_of(&shared, 0)), (BURSTING - 1, 0));
        log.push(0, 5);
        log.relieve();
        assert_eq!((log.waiting.len(), count_of(&shared, 0)), (0, BURSTING as u64));
    }

    #[test]
    fn the_longest_time_does_not_run_into_the_operation() {
        let shared = Arc::new(SharedTimes::default());
        let mut log = TimesLog::new(Arc::clone(&shared));
        log.push(u16::MAX, u64::MAX);
        log.empty();
        assert_eq!(count_of(&shared, usize::from(u16::MAX)), 1);
    }
}
