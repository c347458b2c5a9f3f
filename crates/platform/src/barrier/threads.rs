//! Where the load-generating threads of a trial with stages wait for each other.

use bakeoff_engine::{Live, Nanos, Stage};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};

/// One per trial.
#[derive(Debug)]
pub(crate) struct ThreadBarrier {
    barrier: Barrier,
    end_ns: AtomicU64,
    fatal: Mutex<Option<String>>,
}

impl ThreadBarrier {
    /// For so many threads.
    pub fn new(threads: usize) -> Self {
        Self { barrier: Barrier::new(threads), end_ns: AtomicU64::new(0), fatal: Mutex::new(None) }
    }

    /// Waits for all threads; one of them then says that `stage` begins.
    pub fn pass(&self, live: &Live, stage: Stage) {
        if self.barrier.wait().is_leader() {
            live.publish_stage(stage);
        }
    }

    /// A thread has ended its measured part.
    pub fn ended(&self, now_ns: Nanos) {
        self.end_ns.fetch_max(now_ns, Ordering::Relaxed);
    }

    /// The end of the last thread's measured part; 0 when there was none.
    pub fn end_ns(&self) -> Nanos {
        self.end_ns.load(Ordering::Relaxed)
    }

    /// The trial cannot go on. The first reason is kept.
    pub fn give_up(&self, reason: String) {
        if let Ok(mut fatal) = self.fatal.lock() {
            fatal.get_or_insert(reason);
        }
    }

    /// Why the trial cannot go on.
    pub fn fatal(&self) -> Option<String> {
        self.fatal.lock().ok().and_then(|fatal| fatal.clone())
    }
}
