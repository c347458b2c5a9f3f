//! The slots of a session with several calls in flight, by what they wait for.

use bakeoff_engine::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// See the module.
pub(super) struct Slots {
    pub ready: Vec<u32>,
    pub idle: Vec<u32>,
    timers: BinaryHeap<Reverse<(Nanos, u32)>>,
}

impl Slots {
    /// All are ready.
    pub fn new(depth: usize) -> Self {
        Self {
            ready: (0..depth as u32).rev().collect(),
            idle: Vec::with_capacity(depth),
            timers: BinaryHeap::with_capacity(depth),
        }
    }

    /// Something has ended: whoever had nothing to do may have now.
    pub fn ended(&mut self, slot: u32) {
        self.ready.push(slot);
        self.ready.append(&mut self.idle);
    }

    /// A slot waits until a moment.
    pub fn wait(&mut self, until_ns: Nanos, slot: u32) {
        self.timers.push(Reverse((until_ns, slot)));
    }

    /// The next moment that a slot waits for.
    pub fn timer_ns(&self) -> Option<Nanos> {
        self.timers.peek().map(|Reverse((until_ns, _))| *until_ns)
    }

    /// Makes the slots ready whose time has come.
    pub fn wake(&mut self, now_ns: Nanos) {
        while let Some(&Reverse((until_ns, slot))) = self.timers.peek() {
            if until_ns > now_ns {
                return;
            }
            self.timers.pop();
            self.ready.push(slot);
        }
    }
}
