//! Live figures, readable while a trial runs, without a lock in the way of those who generate load.

use crate::recorder::intervals::{IntervalCost, IntervalMerger, IntervalPart, SoakInterval};
use crate::recorder::tally::{STEPS, Tally, time_of};
use crate::{Nanos, SECOND_NS};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Figures of the trial so far, ramps included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Snapshot {
    /// Since the start of traffic, s.
    pub elapsed_s: f64,
    /// `starting`, `prepare`, `ramp_up`, `window`, `ramp_down`, `drain` or `done`.
    pub phase: &'static str,
    /// Successful operations.
    pub operations: u64,
    /// Failed operations.
    pub errors: u64,
    /// Bytes received by successful operations.
    pub bytes_in: u64,
    /// The operations that were done so far, in the order of the workload.
    pub per_operation: Vec<OperationCount>,
    /// Service times of the last second.
    pub recent: Recent,
}

/// How often one operation was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperationCount {
    /// Its name.
    pub name: String,
    /// Successful ones.
    pub operations: u64,
    /// Failed ones.
    pub errors: u64,
}

/// Service times of the successful operations that ended within the last `span_s` seconds: one, less at the start.
/// Times are told within 1/32 of themselves; the trial's result has them exactly.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Recent {
    /// How far back it reaches, s.
    pub span_s: f64,
    /// Successful operations.
    pub operations: u64,
    /// Their median, ns; none without operations.
    pub p50_ns: Option<Nanos>,
    /// Their 99th percentile, ns.
    pub p99_ns: Option<Nanos>,
    /// How many took how long, as (ns, count): with those of other machines, counts add up where percentiles do not.
    pub times: Vec<(Nanos, u64)>,
}

/// What the load-generating threads share with whoever watches them.
#[derive(Debug)]
pub struct Live {
    tallies: Vec<OnceLock<Arc<Tally>>>,
    names: OnceLock<Vec<String>>,
    elapsed_ns: AtomicU64,
    phase: AtomicU8,
    cancelled: AtomicBool,
    /// Operations that may still start; `u64::MAX` when unbounded.
    allowance: AtomicU64,
    bounded: bool,
    /// Rare messages for the log; never used in the loop.
    events: Mutex<Vec<String>>,
    /// Intervals of a soak.
    intervals: Mutex<IntervalMerger>,
    /// What the last snapshots saw, oldest first; only used by those who ask for them.
    seen: Mutex<VecDeque<CountsAt>>,
}

/// The counts of times at a moment.
#[derive(Debug)]
struct CountsAt {
    elapsed_ns: Nanos,
    times: Vec<u64>,
}

/// More events than this are not kept.
const EVENTS_MAX: usize = 1_000;
/// Snapshots that follow each other faster are not remembered.
const GRAIN_NS: Nanos = SECOND_NS / 20;

const PHASES: [&str; 8] = ["starting", "ramp_up", "window", "ramp_down", "done", "prepare", "drain", "armed"];

impl Live {
    /// For so many threads; at most `max_operations` operations may start.
    pub fn new(threads: usize, max_operations: Option<u64>) -> Self {
        Self {
            tallies: (0..threads).map(|_| OnceLock::new()).collect(),
            names: OnceLock::new(),
            elapsed_ns: AtomicU64::new(0),
            phase: AtomicU8::new(0),
            cancelled: AtomicBool::new(false),
            allowance: AtomicU64::new(max_operations.unwrap_or(u64::MAX)),
            bounded: max_operations.is_some(),
            events: Mutex::new(Vec::new()),
            intervals: Mutex::default(),
            seen: Mutex::new(VecDeque::from([CountsAt { elapsed_ns: 0, times: vec![0; STEPS] }])),
        }
    }

    /// Leaves a message (`level` is `info`, `warning` or a kind's own) for whoever watches; `false` when there is no
    /// room.
    pub fn tell(&self, level: &str, text: &str) -> bool {
        let at_s = self.elapsed_ns.load(Ordering::Relaxed) as f64 / 1e9;
        let Ok(mut events) = self.events.lock() else { return false };
        let room = events.len() < EVENTS_MAX;
        if room {
            events.push(serde_json::json!({"at_s": at_s, "level": level, "text": text}).to_string());
        }
        room
    }

    /// Messages since the last call, each as JSON text.
    pub fn drain_events(&self) -> Vec<String> {
        self.events.lock().map(|mut events| std::mem::take(&mut *events)).unwrap_or_default()
    }

    /// A thread hands in intervals that are over, with what they cost it.
    pub fn hand_in(&self, parts: Vec<IntervalPart>, cost: IntervalCost) {
        self.desk().hand_in(parts, cost, self.tallies.len());
    }

    /// No thread hands in any more intervals.
    pub fn close_intervals(&self) {
        self.desk().close();
    }

    /// Intervals that were done since the last call, in their order.
    pub fn drain_intervals(&self) -> Vec<SoakInterval> {
        self.desk().drain()
    }

    /// A panic elsewhere leaves whole intervals behind.
    fn desk(&self) -> MutexGuard<'_, IntervalMerger> {
        self.intervals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the threads to stop; they do so within 100 ms.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`Live::cancel`] was called.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Takes the right to start one operation; `false` when the bound is reached.
    #[inline]
    pub fn take_one(&self) -> bool {
        !self.bounded
            || self.allowance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Whether the trial is bounded by a count and the bound is reached.
    pub fn is_exhausted(&self) -> bool {
        self.bounded && self.allowance.load(Ordering::Relaxed) == 0
    }

    /// A thread shows what it counts, once and before it does, with the names of the operations.
    pub fn show(&self, thread: usize, names: Vec<String>, tally: Arc<Tally>) {
        self.names.get_or_init(|| names);
        self.tallies[thread].get_or_init(|| tally);
    }

    /// A thread tells the time; `phase` as in [`crate::Phase`], `None` before the start.
    pub fn publish_time(&self, elapsed_ns: u64, phase: Option<crate::Phase>) {
        self.elapsed_ns.fetch_max(elapsed_ns, Ordering::Relaxed);
        self.phase.store(phase.map_or(0, |phase| phase as u8 + 1), Ordering::Relaxed);
    }

    /// Whether no thread has told that traffic has begun.
    #[inline]
    pub fn is_starting(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == 0
    }

    /// A stage around the measured part begins.
    pub fn publish_stage(&self, stage: crate::Stage) {
        let phase = match stage {
            crate::Stage::Prepare => 5,
            crate::Stage::Measure => 0,
            crate::Stage::Drain => 6,
        };
        self.phase.store(phase, Ordering::Relaxed);
    }

    /// All is ready and waits for the word, or that was given.
    pub fn publish_armed(&self, waits: bool) {
        self.phase.store(if waits { 7 } else { 0 }, Ordering::Relaxed);
    }

    /// The figures of all threads.
    pub fn snapshot(&self) -> Snapshot {
        let per_operation = self.per_operation();
        let (elapsed_ns, recent) = self.recent();
        Snapshot {
            elapsed_s: elapsed_ns as f64 / 1e9,
            phase: PHASES[usize::from(self.phase.load(Ordering::Relaxed)).min(PHASES.len() - 1)],
            operations: per_operation.iter().map(|count| count.operations).sum(),
            errors: per_operation.iter().map(|count| count.errors).sum(),
            bytes_in: self.tallies().map(Tally::bytes_in).sum(),
            per_operation,
            recent,
        }
    }

    fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.tallies.iter().filter_map(|tally| tally.get().map(Arc::as_ref))
    }

    fn per_operation(&self) -> Vec<OperationCount> {
        let names = self.names.get().map_or(&[][..], Vec::as_slice);
        let mut sums = vec![[0; 2]; names.len()];
        for tally in self.tallies() {
            for (sum, [operations, errors]) in sums.iter_mut().zip(tally.operations()) {
                sum[0] += operations;
                sum[1] += errors;
            }
        }
        let counts = names.iter().zip(sums).filter(|(_, sum)| *sum != [0, 0]);
        counts.map(|(name, [operations, errors])| OperationCount { name: name.clone(), operations, errors }).collect()
    }

    /// What was added since the snapshot that is one second old, or the oldest that is remembered.
    fn recent(&self) -> (Nanos, Recent) {
        // Looked at one after the other: what was seen is never ahead of what is.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed_ns = self.elapsed_ns.load(Ordering::Relaxed);
        let mut times = vec![0; STEPS];
        for tally in self.tallies() {
            times.iter_mut().zip(tally.times()).for_each(|(sum, count)| *sum += count);
        }
        while seen.get(1).is_some_and(|next| next.elapsed_ns + SECOND_NS <= elapsed_ns) {
            seen.pop_front();
        }
        let recent = seen.front().map(|before| Recent::between(before, elapsed_ns, &times));
        if seen.back().is_none_or(|last| last.elapsed_ns + GRAIN_NS <= elapsed_ns) {
            seen.push_back(CountsAt { elapsed_ns, times });
        }
        (elapsed_ns, recent.unwrap_or_default())
    }
}

impl Recent {
    fn between(before: &CountsAt, elapsed_ns: Nanos, times: &[u64]) -> Self {
        let counts = times.iter().zip(&before.times).map(|(now, then)| now - then).enumerate();
        let times: Vec<_> =
            counts.filter(|&(_, count)| count > 0).map(|(step, count)| (time_of(step), count)).collect();
        let operations = times.iter().map(|&(_, count)| count).sum();
        Self {
            span_s: (elapsed_ns - before.elapsed_ns) as f64 / 1e9,
            operations,
            p50_ns: quantile(&times, operations, 50),
            p99_ns: quantile(&times, operations, 99),
            times,
        }
    }
}

/// The least time that so many percent of the operations did not exceed.
fn quantile(times: &[(Nanos, u64)], operations: u64, percent: u64) -> Option<Nanos> {
    let rank = (operations * percent).div_ceil(100);
    let mut sum = 0;
    let reaches = |&&(_, count): &&(Nanos, u64)| {
        sum += count;
        sum >= rank
    };
    times.iter().find(reaches).map(|&(time_ns, _)| time_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;

    const MILLISECOND_NS: Nanos = 1_000_000;

    fn watched(threads: usize) -> (Live, Vec<Arc<Tally>>) {
        let live = Live::new(threads, None);
        let tallies: Vec<_> = (0..threads).map(|_| Arc::new(Tally::new(2))).collect();
        for (thread, tally) in tallies.iter().enumerate() {
            live.show(thread, vec!["get".to_owned(), "put".to_owned()], Arc::clone(tally));
        }
        (live, tallies)
    }

    fn at(live: &Live, elapsed_ns: Nanos) -> Snapshot {
        live.publish_time(elapsed_ns, Some(Phase::Window));
        live.snapshot()
    }

    fn near(told: Option<Nanos>, time_ns: Nanos) -> bool {
        told.is_some_and(|told| told.abs_diff(time_ns) <= time_ns / 32)
    }

    #[test]
    fn counts_of_all_threads_come_together_by_operation() {
        let (live, tallies) = watched(2);
        tallies[0].success(0, 5, 10);
        tallies[1].success(0, 5, 10);
        tallies[1].failure(1);
        let seen = at(&live, SECOND_NS);
        assert_eq!((seen.operations, seen.errors, seen.bytes_in), (2, 1, 20));
        let counts: Vec<_> =
            seen.per_operation.iter().map(|count| (count.name.as_str(), count.operations, count.errors)).collect();
        assert_eq!(counts, [("get", 2, 0), ("put", 0, 1)]);
    }

    #[test]
    fn percentiles_are_those_of_the_last_second() {
        let (live, tallies) = watched(2);
        // Two seconds of 1 ms, then one second in which every tenth takes 80 ms, then nothing.
        for tenth in 1..=20 {
            (0..10).for_each(|nth| tallies[nth % 2].success(0, MILLISECOND_NS, 0));
            at(&live, tenth * SECOND_NS / 10);
        }
        let before = live.snapshot().recent;
        assert_eq!((before.span_s, before.operations), (1.0, 100));
        assert!(near(before.p50_ns, MILLISECOND_NS) && near(before.p99_ns, MILLISECOND_NS), "{before:?}");
        for tenth in 21..=30 {
            (0..9).for_each(|nth| tallies[nth % 2].success(0, MILLISECOND_NS, 0));
            tallies[0].success(1, 80 * MILLISECOND_NS, 0);
            at(&live, tenth * SECOND_NS / 10);
        }
        let slow = live.snapshot().recent;
        assert_eq!((slow.span_s, slow.operations, slow.times.len()), (1.0, 100, 2));
        assert!(near(slow.p50_ns, MILLISECOND_NS) && near(slow.p99_ns, 80 * MILLISECOND_NS), "{slow:?}");
        for tenth in 31..=41 {
            at(&live, tenth * SECOND_NS / 10);
        }
        let still = live.snapshot().recent;
        assert_eq!((still.operations, still.p50_ns, still.p99_ns), (0, None, None));
    }

    #[test]
    fn the_first_second_is_told_from_the_start_on() {
        let (live, tallies) = watched(1);
        tallies[0].success(0, MILLISECOND_NS, 0);
        let early = at(&live, SECOND_NS / 5).recent;
        assert_eq!((early.span_s, early.operations), (0.2, 1));
        let again = live.snapshot().recent;
        assert_eq!((again.span_s, again.operations), (0.2, 1), "asking twice changes nothing");
    }

    #[test]
    fn who_asks_without_pause_takes_no_memory() {
        let (live, _) = watched(1);
        for moment in 0..20_000 {
            at(&live, moment * 100_000);
        }
        assert!(live.seen.lock().unwrap().len() <= 22);
    }

    #[test]
    fn before_any_thread_has_begun_there_is_nothing() {
        let seen = Live::new(4, None).snapshot();
        assert_eq!((seen.phase, seen.operations, seen.recent.span_s), ("starting", 0, 0.0));
    }
}
