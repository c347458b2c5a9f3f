//! The start of a trial: its load threads make themselves ready, wait for the word, and begin at one moment.
//!
//! The moment is one of `CLOCK_MONOTONIC`: who steers several machines tells each in the time of its own clock.

use crate::clock::{MonotonicClock, offsets, sleep_until};
use crate::process;
use bakeoff_engine::{Clock, Live, Nanos, StartFigures};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Threads that were told to begin at once do so after this time, ns: all are awake then. More for many sessions, whose
/// virtual users are made in it.
const HEAD_START_NS: Nanos = 10_000_000;
const HEAD_START_PER_SESSION_NS: Nanos = 2_000;
/// The last time before the start is slept where a cancel does not wake, ns.
const LAST_SLEEP_NS: Nanos = 2_000_000;

/// One per trial.
#[derive(Debug)]
pub(crate) struct StartLine {
    live: Arc<Live>,
    state: Mutex<State>,
    changed: Condvar,
    head_start_ns: Nanos,
    /// Whether each thread has a processor that it may spin on.
    spins: bool,
    /// The moment at which the last thread was off; 0 before.
    real_ns: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// Threads that are not ready yet.
    awaited: usize,
    /// When to begin, as [`StartLine::go`] was told; 0 is at once.
    told_ns: Option<Nanos>,
    start_ns: Option<Nanos>,
    /// The trial goes on to its end without a word: it was cancelled, broke, or is over.
    closed: bool,
}

impl StartLine {
    /// For so many threads with so many sessions in all.
    pub fn new(live: &Arc<Live>, threads: usize, sessions: u32) -> Arc<Self> {
        Arc::new(Self {
            live: Arc::clone(live),
            state: Mutex::new(State { awaited: threads, told_ns: None, start_ns: None, closed: false }),
            changed: Condvar::new(),
            head_start_ns: HEAD_START_NS + u64::from(sessions) * HEAD_START_PER_SESSION_NS,
            spins: threads <= process::processors().len(),
            real_ns: AtomicU64::new(0),
        })
    }

    /// Waits until all threads are ready; `false` when they are not within `timeout`. One that will never start (it has
    /// ended, with a reason) counts as ready: its outcome is there.
    pub fn armed(&self, timeout: Duration) -> bool {
        let until = Instant::now() + timeout;
        let mut state = self.lock();
        while state.awaited > 0 && !state.closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Traffic is to begin at this moment; at once when it has passed or is 0. The first word counts.
    pub fn go(&self, at_ns: Nanos) {
        let mut state = self.lock();
        if state.told_ns.is_none() {
            state.told_ns = Some(at_ns);
            self.settle(&mut state);
        }
    }

    /// Stops the trial, whether or not it has begun.
    pub fn cancel(&self) {
        self.live.cancel();
        self.close();
    }

    /// Nobody waits any more.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.start_ns.get_or_insert_with(|| MonotonicClock.now_ns());
        self.changed.notify_all();
    }

    /// A thread that will be ready; when it ends before, the trial is over.
    pub fn place(self: &Arc<Self>) -> Place {
        Place { line: Arc::clone(self), ready: false }
    }

    /// Waits until it is known when traffic starts.
    pub fn await_start(&self) -> Nanos {
        let mut state = self.lock();
        loop {
            if let Some(start_ns) = state.start_ns {
                return start_ns;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The same, when it is known within `timeout`.
    pub fn await_start_for(&self, timeout: Duration) -> Option<Nanos> {
        let waits = |state: &mut State| state.start_ns.is_none();
        let waited = self.changed.wait_timeout_while(self.lock(), timeout, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.start_ns
    }

    /// Sleeps until traffic starts; then this thread is off.
    pub fn leave(&self) {
        let start_ns = self.await_start();
        let mut state = self.lock();
        while !state.closed {
            let left_ns = start_ns.saturating_sub(MonotonicClock.now_ns() + LAST_SLEEP_NS);
            if left_ns == 0 {
                break;
            }
            let left = Duration::from_nanos(left_ns);
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let closed = state.closed;
        drop(state);
        if !closed {
            sleep_until(start_ns, self.spins);
            self.real_ns.fetch_max(MonotonicClock.now_ns(), Ordering::Relaxed);
        }
    }

    /// When traffic was to start, and when the last thread did; `None` when it never did.
    pub fn figures(&self) -> Option<StartFigures> {
        let state = self.lock();
        let planned_ns = state.told_ns.filter(|told_ns| *told_ns > 0).or(state.start_ns)?;
        let real_ns = self.real_ns.load(Ordering::Relaxed);
        let (_, _, wall_ns) = offsets();
        let unix_ns = state.start_ns.unwrap_or(planned_ns).saturating_add_signed(wall_ns);
        (real_ns > 0).then_some(StartFigures { planned_ns, real_ns, unix_ns })
    }

    /// With all threads ready and the word given, the start is fixed.
    fn settle(&self, state: &mut State) {
        if state.awaited == 0 && state.start_ns.is_none() {
            if let Some(told_ns) = state.told_ns {
                let now_ns = MonotonicClock.now_ns();
                state.start_ns = Some(if told_ns > now_ns { told_ns } else { now_ns + self.head_start_ns });
                self.live.publish_armed(false);
            } else {
                self.live.publish_armed(true);
            }
        }
        self.changed.notify_all();
    }

    /// A panic elsewhere leaves a whole state behind.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One thread's place at the line.
#[derive(Debug)]
pub(crate) struct Place {
    line: Arc<StartLine>,
    ready: bool,
}

impl Place {
    /// This thread is ready; waits until it is known when traffic starts.
    pub fn ready(mut self) -> Nanos {
        self.ready = true;
        let mut state = self.line.lock();
        state.awaited = state.awaited.saturating_sub(1);
        self.line.settle(&mut state);
        drop(state);
        self.line.await_start()
    }

    /// This thread cannot be ready: the trial is over. Its moment would have been now.
    pub fn broken(self) -> Nanos {
        let line = Arc::clone(&self.line);
        drop(self);
        line.await_start()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.ready {
            // The thread broke before it was ready: the others must not wait for it.
            self.line.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_mins(10);

    fn line(threads: usize) -> Arc<StartLine> {
        StartLine::new(&Arc::new(Live::new(threads, None)), threads, threads as u32)
    }

    /// Threads that make themselves ready and leave; each tells when it was to start and when it was off.
    fn ready(line: &Arc<StartLine>, threads: usize) -> Vec<std::thread::JoinHandle<(Nanos, Nanos)>> {
        let spawn = |_| {
            let (line, place) = (Arc::clone(line), line.place());
            std::thread::spawn(move || {
                let start_ns = place.ready();
                line.leave();
                (start_ns, MonotonicClock.now_ns())
            })
        };
        (0..threads).map(spawn).collect()
    }

    #[test]
    fn all_threads_start_at_the_moment_that_was_told() {
        let line = line(3);
        let threads = ready(&line, 3);
        assert!(line.armed(PATIENCE) && line.figures().is_none());
        let told_ns = MonotonicClock.now_ns() + 30_000_000;
        line.go(told_ns);
        line.go(1); // the first word counts
        for thread in threads {
            let (start_ns, off_ns) = thread.join().unwrap();
            assert!(start_ns == told_ns && off_ns >= told_ns);
        }
        let figures = line.figures().unwrap();
        assert!(figures.planned_ns == told_ns && figures.real_ns >= told_ns);
    }

    #[test]
    fn nobody_starts_before_the_last_one_is_ready() {
        let line = line(2);
        let early = ready(&line, 1);
        line.go(0);
        assert!(!line.armed(Duration::from_millis(20)) && line.lock().start_ns.is_none());
        let late = ready(&line, 1);
        assert!(line.armed(PATIENCE));
        let starts: Vec<_> = early.into_iter().chain(late).map(|thread| thread.join().unwrap().0).collect();
        assert_eq!(starts[0], starts[1]);
        assert_eq!(line.figures().unwrap().planned_ns, starts[0]);
    }

    #[test]
    fn a_moment_that_has_passed_is_at_once_and_told_as_it_was_asked_for() {
        let line = line(1);
        let threads = ready(&line, 1);
        line.go(7);
        for thread in threads {
            assert!(thread.join().unwrap().0 > 7);
        }
        let figures = line.figures().unwrap();
        assert!(figures.planned_ns == 7 && figures.real_ns > 7);
    }

    #[test]
    fn a_cancel_frees_who_waits_for_others_for_the_word_and_for_the_moment() {
        for told_ns in [None, Some(MonotonicClock.now_ns() + 3_600_000_000_000)] {
            let line = line(2);
            let threads = ready(&line, 2);
            assert!(line.armed(PATIENCE));
            told_ns.into_iter().for_each(|at_ns| line.go(at_ns));
            line.cancel();
            threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
            assert!(line.figures().is_none() && line.live.is_cancelled());
        }
        let line = line(2);
        let threads = ready(&line, 1);
        line.cancel();
        threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
    }

    #[test]
    fn a_thread_that_breaks_before_it_is_ready_holds_nobody_up() {
        let line = line(2);
        let threads = ready(&line, 1);
        drop(line.place());
        threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
        assert!(line.armed(PATIENCE) && line.figures().is_none() && line.live.is_cancelled());
    }
}
