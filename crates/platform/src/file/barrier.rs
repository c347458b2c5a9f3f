//! Where the sessions of a trial wait for each other, and from which they start together.

use crate::clock::MonotonicClock;
use bakeoff_engine::Clock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug)]
struct State {
    parties: u32,
    waiting: u32,
    round: u64,
    broken: bool,
}

/// A barrier that can be left and broken up.
///
/// Nobody goes on before everybody is awake: a short file would be done with before the last sleeper has
/// woken up, and a client that never had a chance would count as idle.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    state: Mutex<State>,
    changed: Condvar,
    waiting: AtomicU32,
    /// Parties of the last round that still sleep, and its number above them.
    asleep: AtomicU64,
    patience: Duration,
}

/// Nobody stands longer than this for one that does not wake up.
const WAKING_MAX: Duration = Duration::from_millis(20);
const ROUND_SHIFT: u32 = 32;

impl Rendezvous {
    pub fn new(parties: u32) -> Self {
        let state = State { parties, waiting: 0, round: 0, broken: false };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            waiting: AtomicU32::new(0),
            asleep: AtomicU64::new(0),
            patience: WAKING_MAX,
        }
    }

    /// Whether somebody waits already.
    #[inline]
    pub fn someone_waits(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits for all parties; `false` when the barrier was broken up.
    pub fn wait(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken {
            return false;
        }
        state.waiting += 1;
        self.waiting.store(state.waiting, Ordering::Relaxed);
        let round = state.round;
        self.release_when_complete(&mut state);
        while state.round == round && !state.broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let met = state.round != round;
        drop(state);
        if met {
            self.rise(round + 1);
        }
        met
    }

    /// Stands until all parties of the round are awake. Who is on a processor gives it to those who are not.
    fn rise(&self, round: u64) {
        self.asleep.fetch_sub(1, Ordering::AcqRel);
        let until = MonotonicClock.now_ns() + self.patience.as_nanos() as u64;
        loop {
            let asleep = self.asleep.load(Ordering::Acquire);
            // Another round has begun when its number differs: everybody was awake then.
            if asleep >> ROUND_SHIFT != round & u64::from(u32::MAX) || asleep as u32 == 0 {
                return;
            }
            if MonotonicClock.now_ns() > until {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// One party less: its session has ended.
    pub fn leave(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.parties = state.parties.saturating_sub(1);
        self.release_when_complete(&mut state);
    }

    /// Nobody waits here any more.
    pub fn break_up(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.broken = true;
        self.changed.notify_all();
    }

    fn release_when_complete(&self, state: &mut State) {
        if state.waiting > 0 && state.waiting >= state.parties {
            state.round += 1;
            let round = state.round & u64::from(u32::MAX);
            self.asleep.store(round << ROUND_SHIFT | u64::from(state.waiting), Ordering::Release);
            state.waiting = 0;
            self.waiting.store(0, Ordering::Relaxed);
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn everybody_waits_for_the_last_and_leavers_are_not_waited_for() {
        let meeting = Arc::new(Rendezvous::new(3));
        let other = Arc::clone(&meeting);
        let waiter = std::thread::spawn(move || (other.wait(), other.wait()));
        while !meeting.someone_waits() {
            std::thread::yield_now();
        }
        meeting.leave();
        assert!(meeting.wait());
        assert!(meeting.wait());
        assert_eq!(waiter.join().unwrap(), (true, true));
    }

    #[test]
    fn nobody_goes_on_before_everybody_is_awake() {
        let (parties, rounds) = (4, 300);
        // However long one gets no processor, it is waited for here.
        let meeting = Arc::new(Rendezvous { patience: Duration::from_secs(3600), ..Rendezvous::new(parties) });
        let threads: Vec<_> = (0..parties)
            .map(|_| {
                let meeting = Arc::clone(&meeting);
                let went_alone = move |_: &u32| !meeting.wait() || meeting.asleep.load(Ordering::Acquire) as u32 > 0;
                std::thread::spawn(move || (0..rounds).filter(went_alone).count())
            })
            .collect();
        let alone: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(alone, 0);
    }

    #[test]
    fn a_broken_barrier_lets_everybody_go() {
        let meeting = Arc::new(Rendezvous::new(2));
        let other = Arc::clone(&meeting);
        let waiter = std::thread::spawn(move || other.wait());
        while !meeting.someone_waits() {
            std::thread::yield_now();
        }
        meeting.break_up();
        assert!(!waiter.join().unwrap());
        assert!(!meeting.wait());
    }
}
