//! Lanes without an operation, when starts are planned.

/// The idle lanes of a thread. The one that became idle last goes first: so no more connections are opened than the
/// load needs, and those that are open stay warm.
#[derive(Debug)]
pub(super) struct Idle {
    lanes: Vec<usize>,
    /// Lanes that have never been used are all those from here on.
    used: usize,
    /// Nothing begins any more.
    closed: bool,
}

impl Idle {
    /// Where lanes follow themselves there are none.
    pub const fn none() -> Self {
        Self { lanes: Vec::new(), used: 0, closed: true }
    }

    /// All of so many lanes.
    pub fn all(lanes: usize) -> Self {
        Self { lanes: (0..lanes).rev().collect(), used: 0, closed: false }
    }

    /// No lane is given out from now on.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether [`Idle::take`] would give one.
    #[inline]
    pub fn has_one(&self) -> bool {
        !self.closed && !self.lanes.is_empty()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// How many lanes were ever used.
    pub const fn used(&self) -> usize {
        self.used
    }

    #[inline]
    pub fn take(&mut self) -> Option<usize> {
        if self.closed {
            return None;
        }
        let lane = self.lanes.pop()?;
        self.used = self.used.max(lane + 1);
        Some(lane)
    }

    #[inline]
    pub fn put(&mut self, lane: usize) {
        self.lanes.push(lane);
    }
}
