//! Where the sessions of a trial wait for each other.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Debug)]
struct State {
    parties: u32,
    waiting: u32,
    round: u64,
    broken: bool,
}

/// A barrier that can be left and broken up.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    state: Mutex<State>,
    changed: Condvar,
    waiting: AtomicU32,
}

impl Rendezvous {
    pub fn new(parties: u32) -> Self {
        let state = State { parties, waiting: 0, round: 0, broken: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), waiting: AtomicU32::new(0) }
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
        state.round != round
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
            state.waiting = 0;
            state.round += 1;
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
