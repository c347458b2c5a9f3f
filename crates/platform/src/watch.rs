//! A watch over the generator itself: what happens to this process and this machine while a trial runs.
//!
//! One thread that sleeps and looks how late it wakes. Neither the threads that make the load nor the server under
//! test can tell that the whole process was stopped.

use crate::clock::{self, MonotonicClock};
use crate::process;
use bakeoff_engine::{Clock, Nanos, Timeline};
use serde_json::{Value, json};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(20);
/// A wake-up that is later than this is kept, ns: a loaded machine is late by less.
const LATE_NS: Nanos = 100_000_000;
/// At most so many are kept.
const KEPT: usize = 1_000;

/// The clocks and the stolen time at one moment.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "units come last in names")]
struct Moment {
    now_ns: Nanos,
    suspended_ns: i64,
    wall_ns: i64,
    stolen_ns: Nanos,
}

impl Moment {
    fn now() -> Self {
        let (now_ns, suspended_ns, wall_ns) = clock::offsets();
        Self { now_ns, suspended_ns, wall_ns, stolen_ns: process::stolen_ns() }
    }
}

/// A time in which this process did not run: from, to.
type Gap = (Nanos, Nanos);

/// Runs from [`Watch::start`] to [`Watch::finish`].
#[derive(Debug)]
pub(crate) struct Watch {
    began: Moment,
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<Vec<Gap>>>,
}

impl Watch {
    pub fn start() -> std::io::Result<Self> {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let ended = Arc::clone(&over);
        let body = move || {
            process::block_signals();
            look(&ended)
        };
        let thread = std::thread::Builder::new().name("bakeoff-watch".to_owned()).stack_size(64 * 1024).spawn(body)?;
        Ok(Self { began: Moment::now(), over, thread: Some(thread) })
    }

    fn end(&mut self) -> Vec<Gap> {
        *self.over.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.1.notify_all();
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }

    /// What was seen, as JSON: times in seconds; where a stop lies is told from the timeline's start.
    pub fn finish(mut self, timeline: &Timeline) -> Value {
        let gaps = self.end();
        let ended = Moment::now();
        let seconds = |ns: i64| ns as f64 / 1e9;
        let stop = |&(from, to): &Gap| {
            let inside = to.min(timeline.window_end_ns).saturating_sub(from.max(timeline.window_start_ns));
            json!({
                "at_s": seconds(from as i64 - timeline.start_ns as i64),
                "length_s": seconds((to - from) as i64),
                "window_s": seconds(inside as i64),
            })
        };
        let lived_ns = ended.now_ns.saturating_sub(self.began.now_ns).max(1);
        json!({
            "stops": gaps.iter().map(stop).collect::<Vec<_>>(),
            "suspended_s": seconds(ended.suspended_ns - self.began.suspended_ns).max(0.0),
            "clock_step_s": seconds(ended.wall_ns - self.began.wall_ns),
            "stolen_s": seconds(ended.stolen_ns.saturating_sub(self.began.stolen_ns) as i64),
            "stolen_share": share(ended.stolen_ns.saturating_sub(self.began.stolen_ns), lived_ns),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Stolen time is told in whole ticks: in a moment that is shorter than one there is not more of it than of time.
fn share(stolen_ns: Nanos, lived_ns: Nanos) -> f64 {
    (stolen_ns as f64 / lived_ns as f64).min(1.0)
}

/// Sleeps and looks until it hears that it is over.
fn look(ended: &(Mutex<bool>, Condvar)) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut over = ended.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut last_ns = MonotonicClock.now_ns();
    while !*over {
        over = ended.1.wait_timeout(over, EVERY).unwrap_or_else(PoisonError::into_inner).0;
        let now_ns = MonotonicClock.now_ns();
        let due_ns = last_ns + EVERY.as_nanos() as Nanos;
        if now_ns.saturating_sub(due_ns) > LATE_NS && gaps.len() < KEPT {
            gaps.push((due_ns, now_ns));
        }
        last_ns = now_ns;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_of_stolen_time_is_no_more_than_the_moment_in_which_it_was_told() {
        assert!((share(10_000_000, 100_000_000) - 0.1).abs() < 1e-12);
        assert!((share(10_000_000, 50_000) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_watch_that_saw_nothing_says_so() {
        let watch = Watch::start().unwrap();
        let seen = watch.finish(&Timeline::new(MonotonicClock.now_ns(), 0, 1_000_000_000, 0));
        assert!(seen["suspended_s"].as_f64().unwrap() < 0.001, "{seen}");
        assert!(seen["clock_step_s"].as_f64().unwrap().abs() < 0.01, "{seen}");
        assert!(seen["stolen_share"].as_f64().unwrap() <= 1.0, "{seen}");
    }
}
