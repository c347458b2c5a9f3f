//! What is due later.

use bakeoff_engine::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What to do when a timer runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// Begin the lane's next operation.
    Begin,
    /// Tell the session, if this is still the timer it asked for.
    Timer(u32),
}

#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, usize, Due)>>,
}

impl Timers {
    pub fn push(&mut self, at_ns: Nanos, lane: usize, due: Due) {
        self.heap.push(Reverse((at_ns, lane, due)));
    }

    /// The earliest moment, if any.
    pub fn next_ns(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at_ns, _, _))| *at_ns)
    }

    /// Takes the earliest entry that is due.
    pub fn pop_due(&mut self, now_ns: Nanos) -> Option<(Nanos, usize, Due)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}
