//! Where the sessions of a trial wait for each other, and from which they start together.
//!
//! Those of other machines meet them where whoever steers all machines says so: here it is only known that all sessions
//! of this one are there, and when they were told to go on.

use crate::clock::{MonotonicClock, sleep_until};
use bakeoff_engine::{Clock, Nanos};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Debug)]
struct State {
    parties: u32,
    waiting: u32,
    round: u64,
    broken: bool,
    /// The round that gathers ends with a word from elsewhere.
    is_fleet: bool,
    /// Barriers at which all of this machine were, and how many of them were ended.
    called: u64,
    told: u64,
    /// When those of the last one go on, by the clock here.
    released_ns: Nanos,
    /// When the last round ended.
    opened_ns: Nanos,
}

/// The end of a wait, by the clock here, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    /// From then on everybody could go on.
    pub at_ns: Nanos,
    /// When all machines were to go on from a barrier; 0 without others.
    pub released_ns: Nanos,
}

/// A barrier that can be left and broken up.
///
/// Nobody goes on before everybody is awake: a short file would be done with before the last sleeper has
/// woken up, and a client that never had a chance would count as idle.
#[derive(Debug)]
pub(crate) struct SessionBarrier {
    state: Mutex<State>,
    changed: Condvar,
    waiting: AtomicU32,
    /// Parties of the last round that still sleep, and its number above them.
    asleep: AtomicU64,
    patience: Duration,
    /// Sessions of other machines are in the trial.
    is_divided: bool,
}

/// Nobody stands longer than this for one that does not wake up.
const WAKING_MAX: Duration = Duration::from_millis(20);
const ROUND_SHIFT: u32 = 32;
/// The last time before a barrier ends is slept where nothing wakes.
const LAST_SLEEP_NS: Nanos = 2_000_000;

impl SessionBarrier {
    /// For so many sessions of this machine; `is_divided` when others have more of them.
    pub fn new(parties: u32, is_divided: bool) -> Self {
        let state = State {
            parties,
            waiting: 0,
            round: 0,
            broken: false,
            is_fleet: false,
            called: 0,
            told: 0,
            released_ns: 0,
            opened_ns: 0,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            waiting: AtomicU32::new(0),
            asleep: AtomicU64::new(0),
            patience: WAKING_MAX,
            is_divided,
        }
    }

    /// Whether somebody waits already.
    #[inline]
    pub fn someone_waits(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits for all parties; `None` when the barrier was broken up.
    pub fn wait(&self) -> Option<Opened> {
        let (round, opened) = self.gather(false)?;
        self.rise(round + 1);
        Some(Opened { released_ns: 0, ..opened })
    }

    /// Waits for all parties of all machines; `None` when it was broken up.
    pub fn wait_for_fleet(&self) -> Option<Opened> {
        if !self.is_divided {
            return self.wait();
        }
        let (_, Opened { released_ns, .. }) = self.gather(true)?;
        let mut state = self.lock();
        while !state.broken {
            let left_ns = released_ns.saturating_sub(MonotonicClock.now_ns() + LAST_SLEEP_NS);
            if left_ns == 0 {
                break;
            }
            let left = Duration::from_nanos(left_ns);
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let broken = state.broken;
        drop(state);
        if broken {
            return None;
        }
        sleep_until(released_ns, false);
        Some(Opened { at_ns: released_ns, released_ns })
    }

    /// The number of the barrier that all parties came to last; 0 before the first.
    pub fn called(&self) -> u64 {
        self.lock().called
    }

    /// The parties of all machines are at this barrier, and go on at `at_ns`. The first word counts.
    pub fn release_fleet(&self, number: u64, at_ns: Nanos) {
        let mut state = self.lock();
        if number == state.called && state.told < number {
            state.told = number;
            state.released_ns = at_ns;
            self.release(&mut state);
        }
    }

    /// Waits for all parties of this machine, at a barrier of the fleet also for its release: the round, and when it ended.
    fn gather(&self, is_fleet: bool) -> Option<(u64, Opened)> {
        let mut state = self.lock();
        if state.broken {
            return None;
        }
        state.is_fleet = is_fleet;
        state.waiting += 1;
        self.waiting.store(state.waiting, Ordering::Relaxed);
        let round = state.round;
        self.release_when_complete(&mut state);
        while state.round == round && !state.broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (state.round != round).then_some((round, Opened { at_ns: state.opened_ns, released_ns: state.released_ns }))
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
        let mut state = self.lock();
        state.parties = state.parties.saturating_sub(1);
        self.release_when_complete(&mut state);
    }

    /// Nobody waits here any more.
    pub fn break_up(&self) {
        let mut state = self.lock();
        state.broken = true;
        self.changed.notify_all();
    }

    fn release_when_complete(&self, state: &mut State) {
        if state.waiting == 0 || state.waiting < state.parties {
            return;
        }
        if !state.is_fleet {
            self.release(state);
        } else if state.called == state.told {
            state.called += 1;
        }
    }

    fn release(&self, state: &mut State) {
        state.round += 1;
        state.opened_ns = MonotonicClock.now_ns();
        let round = state.round & u64::from(u32::MAX);
        self.asleep.store(round << ROUND_SHIFT | u64::from(state.waiting), Ordering::Release);
        state.waiting = 0;
        self.waiting.store(0, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// A panic elsewhere leaves a whole state behind.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn everybody_waits_for_the_last_and_leavers_are_not_waited_for() {
        let barrier = Arc::new(SessionBarrier::new(3, false));
        let other = Arc::clone(&barrier);
        let waiter = std::thread::spawn(move || (other.wait(), other.wait()));
        while !barrier.someone_waits() {
            std::thread::yield_now();
        }
        barrier.leave();
        assert!(barrier.wait().is_some());
        assert!(barrier.wait().is_some());
        let (first, second) = waiter.join().unwrap();
        assert!(first.unwrap().at_ns < second.unwrap().at_ns);
    }

    #[test]
    fn nobody_goes_on_before_everybody_is_awake() {
        let (parties, rounds) = (4, 300);
        // However long one gets no processor, it is waited for here.
        let barrier =
            Arc::new(SessionBarrier { patience: Duration::from_hours(1), ..SessionBarrier::new(parties, false) });
        let threads: Vec<_> = (0..parties)
            .map(|_| {
                let barrier = Arc::clone(&barrier);
                let went_alone =
                    move |_: &u32| barrier.wait().is_none() || barrier.asleep.load(Ordering::Acquire) as u32 > 0;
                std::thread::spawn(move || (0..rounds).filter(went_alone).count())
            })
            .collect();
        let alone: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(alone, 0);
    }

    #[test]
    fn a_broken_barrier_lets_everybody_go() {
        let barrier = Arc::new(SessionBarrier::new(2, false));
        let other = Arc::clone(&barrier);
        let waiter = std::thread::spawn(move || other.wait());
        while !barrier.someone_waits() {
            std::thread::yield_now();
        }
        barrier.break_up();
        assert!(waiter.join().unwrap().is_none());
        assert!(barrier.wait().is_none());
    }

    /// Threads that each go to so many barriers, and when each went on from each, with the moment that was told.
    fn barrier(
        place: &Arc<SessionBarrier>,
        sessions: u32,
        times: u32,
    ) -> Vec<std::thread::JoinHandle<Vec<(Nanos, Nanos)>>> {
        let go = |_| {
            let place = Arc::clone(place);
            let wait = move |_| place.wait_for_fleet().map(|opened| (opened.released_ns, MonotonicClock.now_ns()));
            std::thread::spawn(move || (0..times).filter_map(wait).collect())
        };
        (0..sessions).map(go).collect()
    }

    fn until_called(place: &SessionBarrier, number: u64) {
        while place.called() < number {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_meeting_ends_at_the_moment_that_was_told_and_not_before() {
        let place = Arc::new(SessionBarrier::new(2, true));
        place.release_fleet(1, 5); // nobody is there yet
        let threads = barrier(&place, 2, 2);
        until_called(&place, 1);
        let first_ns = MonotonicClock.now_ns() + 5_000_000;
        place.release_fleet(2, 1); // of a barrier that is to come
        place.release_fleet(1, first_ns);
        place.release_fleet(1, 1); // the first word counts
        until_called(&place, 2);
        place.release_fleet(2, 7); // it has passed: at once
        for thread in threads {
            let met = thread.join().unwrap();
            assert_eq!(met.iter().map(|one| one.0).collect::<Vec<_>>(), [first_ns, 7]);
            assert!(met[0].1 >= first_ns);
        }
    }

    #[test]
    fn who_has_left_is_not_waited_for_at_a_meeting_and_who_is_stopped_goes() {
        let place = Arc::new(SessionBarrier::new(2, true));
        let threads = barrier(&place, 1, 1);
        while !place.someone_waits() {
            std::thread::yield_now();
        }
        assert_eq!(place.called(), 0);
        place.leave();
        assert_eq!(place.called(), 1);
        place.release_fleet(1, MonotonicClock.now_ns() + 3_600_000_000_000);
        place.break_up();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), []);
        }
        let alone = SessionBarrier::new(1, false);
        let released_ns = alone.wait_for_fleet().map(|opened| opened.released_ns);
        assert_eq!((released_ns, alone.called()), (Some(0), 0), "one machine waits for nobody's word");
    }
}
