//! How many iterations are due and not over, over the window: a queue that grows is told from a pause.

use crate::{Nanos, Timeline};

/// The window has so many stretches of one length.
const STRETCHES: usize = 50;

/// What came and went before the window, and in each of its stretches.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    changes: [i64; STRETCHES + 1],
}

impl Queue {
    pub const fn new() -> Self {
        Self { changes: [0; STRETCHES + 1] }
    }

    /// An iteration is due.
    #[inline]
    pub fn join(&mut self, timeline: &Timeline, planned_ns: Nanos) {
        self.change(timeline, planned_ns, 1);
    }

    /// An iteration is over, well or not.
    #[inline]
    pub fn leave(&mut self, timeline: &Timeline, end_ns: Nanos) {
        self.change(timeline, end_ns, -1);
    }

    #[inline]
    fn change(&mut self, timeline: &Timeline, at_ns: Nanos, by: i64) {
        if at_ns >= timeline.window_end_ns {
            return;
        }
        let place = match at_ns.checked_sub(timeline.window_start_ns) {
            None => 0,
            Some(since_ns) => {
                let window_ns = timeline.window_end_ns - timeline.window_start_ns;
                1 + (u128::from(since_ns) * STRETCHES as u128 / u128::from(window_ns)) as usize
            }
        };
        self.changes[place] += by;
    }

    pub fn add(&mut self, other: &Self) {
        self.changes.iter_mut().zip(other.changes).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Iterations that were due and not over at the begin of the window, and at the end of each stretch.
    pub fn lengths(&self) -> Vec<i64> {
        let mut length = 0;
        self.changes
            .iter()
            .map(|change| {
                length += change;
                length
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_what_is_due_and_not_over() {
        let timeline = Timeline::new(0, 100, 700, 100);
        let mut queue = Queue::new();
        // Due before the window and over in its third stretch; due in the first and never over; due and over after it.
        queue.join(&timeline, 50);
        queue.leave(&timeline, 129);
        queue.join(&timeline, 100);
        queue.join(&timeline, 600);
        queue.leave(&timeline, 650);
        let mut other = Queue::new();
        other.join(&timeline, 599);
        queue.add(&other);
        let mut expected = vec![1; STRETCHES + 1];
        (expected[1], expected[2], expected[STRETCHES]) = (2, 2, 2);
        assert_eq!(queue.lengths(), expected);
    }
}
