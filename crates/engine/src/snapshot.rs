//! Live figures, readable while a trial runs, without a lock.

use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Figures of the trial so far, ramps included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
}

/// Counters of one load-generating thread, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot {
    operations: AtomicU64,
    errors: AtomicU64,
    bytes_in: AtomicU64,
}

/// What the load-generating threads share with whoever watches them.
#[derive(Debug)]
pub struct Live {
    slots: Vec<Slot>,
    elapsed_ns: AtomicU64,
    phase: AtomicU8,
    cancelled: AtomicBool,
    /// Operations that may still start; `u64::MAX` when unbounded.
    allowance: AtomicU64,
    bounded: bool,
    /// Rare messages for the log; never used in the loop.
    events: Mutex<Vec<String>>,
}

/// More events than this are not kept.
const EVENTS_MAX: usize = 1_000;

const PHASES: [&str; 7] = ["starting", "ramp_up", "window", "ramp_down", "done", "prepare", "drain"];

impl Live {
    /// For so many threads; at most `max_operations` operations may start.
    pub fn new(threads: usize, max_operations: Option<u64>) -> Self {
        Self {
            slots: (0..threads).map(|_| Slot::default()).collect(),
            elapsed_ns: AtomicU64::new(0),
            phase: AtomicU8::new(0),
            cancelled: AtomicBool::new(false),
            allowance: AtomicU64::new(max_operations.unwrap_or(u64::MAX)),
            bounded: max_operations.is_some(),
            events: Mutex::new(Vec::new()),
        }
    }

    /// Leaves a message (`level` is `info` or `warning`) for whoever watches.
    pub fn tell(&self, level: &str, text: &str) {
        let at_s = self.elapsed_ns.load(Ordering::Relaxed) as f64 / 1e9;
        if let Ok(mut events) = self.events.lock()
            && events.len() < EVENTS_MAX
        {
            events.push(serde_json::json!({"at_s": at_s, "level": level, "text": text}).to_string());
        }
    }

    /// Messages since the last call, each as JSON text.
    pub fn drain_events(&self) -> Vec<String> {
        self.events.lock().map(|mut events| std::mem::take(&mut *events)).unwrap_or_default()
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

    /// A thread tells its totals.
    #[inline]
    pub fn publish(&self, thread: usize, operations: u64, errors: u64, bytes_in: u64) {
        let slot = &self.slots[thread];
        slot.operations.store(operations, Ordering::Relaxed);
        slot.errors.store(errors, Ordering::Relaxed);
        slot.bytes_in.store(bytes_in, Ordering::Relaxed);
    }

    /// A thread tells the time; `phase` as in [`crate::Phase`], `None` before the start.
    pub fn publish_time(&self, elapsed_ns: u64, phase: Option<crate::Phase>) {
        self.elapsed_ns.fetch_max(elapsed_ns, Ordering::Relaxed);
        self.phase.store(phase.map_or(0, |phase| phase as u8 + 1), Ordering::Relaxed);
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

    /// The totals of all threads.
    pub fn snapshot(&self) -> Snapshot {
        let sum =
            |pick: fn(&Slot) -> &AtomicU64| self.slots.iter().map(|slot| pick(slot).load(Ordering::Relaxed)).sum();
        Snapshot {
            elapsed_s: self.elapsed_ns.load(Ordering::Relaxed) as f64 / 1e9,
            phase: PHASES[usize::from(self.phase.load(Ordering::Relaxed)).min(PHASES.len() - 1)],
            operations: sum(|slot| &slot.operations),
            errors: sum(|slot| &slot.errors),
            bytes_in: sum(|slot| &slot.bytes_in),
        }
    }
}
