//! Lanes without an operation, when starts are planned.

use std::collections::VecDeque;

/// The idle lanes of a thread.
///
/// The one that became idle last goes first: so no more connections are opened than the load needs, and those that are
/// open stay warm. Only where every lane is somebody, who must not be passed over, they go in turn.
#[derive(Debug)]
pub(super) struct Idle {
    /// The one that became idle last is the last.
    lanes: VecDeque<usize>,
    in_turn: bool,
    /// Lanes that have never been used are all those from here on.
    used: usize,
    /// Nothing begins any more.
    closed: bool,
}

impl Idle {
    /// Where lanes follow themselves there are none.
    pub const fn none() -> Self {
        Self { lanes: VecDeque::new(), in_turn: false, used: 0, closed: true }
    }

    /// All of so many lanes.
    pub fn all(lanes: usize, in_turn: bool) -> Self {
        let lanes = if in_turn { (0..lanes).collect() } else { (0..lanes).rev().collect() };
        Self { lanes, in_turn, used: 0, closed: false }
    }

    /// No lane is given out from now on.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Whether [`Idle::take`] would give one.
    #[inline]
    pub fn has_one(&self) -> bool {
        !self.closed && !self.lanes.is_empty()
    }

    /// The lane that [`Idle::take`] would give.
    pub fn next(&self) -> Option<usize> {
        let lane = if self.in_turn { self.lanes.front() } else { self.lanes.back() };
        lane.copied().filter(|_| !self.closed)
    }

    #[inline]
    pub fn take(&mut self) -> Option<usize> {
        if self.closed {
            return None;
        }
        if self.in_turn { self.lanes.pop_front() } else { self.lanes.pop_back() }
    }

    /// A lane that was taken has begun.
    #[inline]
    pub fn begun(&mut self, lane: usize) {
        self.used = self.used.max(lane + 1);
    }

    #[inline]
    pub fn put(&mut self, lane: usize) {
        self.lanes.push_back(lane);
    }

    /// How many lanes were ever used.
    pub const fn used(&self) -> usize {
        self.used
    }
}
