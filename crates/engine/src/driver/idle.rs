//! Virtual users without an operation, when starts are planned.

use std::collections::VecDeque;

/// The idle virtual users of a thread.
///
/// The one that became idle last goes first: so no more connections are opened than the load needs, and those that are
/// open stay warm. Only where every virtual user is somebody, who must not be passed over, they go in turn.
#[derive(Debug)]
pub(super) struct Idle {
    /// The one that became idle last is the last.
    vus: VecDeque<usize>,
    in_turn: bool,
    /// Virtual users that have never been used are all those from here on.
    used: usize,
    /// Nothing begins any more.
    closed: bool,
}

impl Idle {
    /// Where virtual users follow themselves there are none.
    pub const fn none() -> Self {
        Self { vus: VecDeque::new(), in_turn: false, used: 0, closed: true }
    }

    /// All of so many virtual users.
    pub fn all(vus: usize, in_turn: bool) -> Self {
        let vus = if in_turn { (0..vus).collect() } else { (0..vus).rev().collect() };
        Self { vus, in_turn, used: 0, closed: false }
    }

    /// No virtual user is given out from now on.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.vus.is_empty()
    }

    /// Whether [`Idle::take`] would give one.
    #[inline]
    pub fn has_one(&self) -> bool {
        !self.closed && !self.vus.is_empty()
    }

    /// The virtual user that [`Idle::take`] would give.
    pub fn next(&self) -> Option<usize> {
        let vu = if self.in_turn { self.vus.front() } else { self.vus.back() };
        vu.copied().filter(|_| !self.closed)
    }

    #[inline]
    pub fn take(&mut self) -> Option<usize> {
        if self.closed {
            return None;
        }
        if self.in_turn { self.vus.pop_front() } else { self.vus.pop_back() }
    }

    /// A virtual user that was taken has begun.
    #[inline]
    pub fn begun(&mut self, vu: usize) {
        self.used = self.used.max(vu + 1);
    }

    #[inline]
    pub fn put(&mut self, vu: usize) {
        self.vus.push_back(vu);
    }

    /// How many virtual users were ever used.
    pub const fn used(&self) -> usize {
        self.used
    }
}
