//! Starts that are planned ahead, handed out in their order.

use super::{Arrivals, Start};
use crate::{Nanos, Timeline};

/// After the last start.
const NEVER: Nanos = Nanos::MAX;

/// The starts of one load-generating thread: the next one, and those after it.
///
/// A start that nobody is free for stays the next one, and those after it wait behind it, in their order, as customers
/// wait for several counters in one queue.
#[derive(Debug)]
pub(crate) struct Plan {
    arrivals: Arrivals,
    timeline: Timeline,
    /// The first moment of the schedule.
    origin_ns: Nanos,
    moved: bool,
    next: Start,
    /// Starts in the window that were handed out.
    taken: u64,
}

impl Plan {
    pub fn new(mut arrivals: Arrivals, timeline: Timeline) -> Self {
        let origin_ns = timeline.start_ns;
        let next = from_origin(arrivals.next(), origin_ns);
        Self { arrivals, timeline, origin_ns, moved: false, next, taken: 0 }
    }

    /// Nothing is to begin before `origin_ns`: the whole plan moves there, unless it has moved before.
    pub fn begin_at(&mut self, origin_ns: Nanos) {
        if self.moved {
            return;
        }
        self.moved = true;
        let later_ns = origin_ns - self.origin_ns;
        self.origin_ns = origin_ns;
        self.next.at_ns = self.next.at_ns.saturating_add(later_ns);
    }

    /// The moment of the next start; `Nanos::MAX` after the last one.
    #[inline]
    pub const fn next_ns(&self) -> Nanos {
        self.next.at_ns
    }

    /// Hands out the next start: its moment, and which one it is. After the last one again and again `Nanos::MAX`.
    pub fn take(&mut self) -> (Nanos, u64) {
        let Start { at_ns, index } = self.next;
        if at_ns != NEVER {
            self.taken += u64::from(self.timeline.in_window(at_ns));
            self.next = from_origin(self.arrivals.next(), self.origin_ns);
        }
        (at_ns, index)
    }

    /// A virtual user has begun at `now_ns` without asking: that counts as planned.
    pub fn unplanned(&mut self, now_ns: Nanos) {
        self.taken += u64::from(self.timeline.in_window(now_ns));
    }

    /// The moments before the window's end that nobody has taken.
    pub fn rest(&self) -> impl Iterator<Item = Nanos> {
        let (mut rest, origin_ns, end_ns) = (self.arrivals.clone(), self.origin_ns, self.timeline.window_end_ns);
        let later = std::iter::from_fn(move || Some(from_origin(rest.next(), origin_ns)));
        std::iter::once(self.next).chain(later).map(|start| start.at_ns).take_while(move |at_ns| *at_ns < end_ns)
    }

    /// Starts of the window that nobody has taken.
    pub fn left(&self) -> u64 {
        self.rest().filter(|at_ns| self.timeline.in_window(*at_ns)).count() as u64
    }

    /// How many starts the window has, those included that nobody has taken; none is known when the trial ended before
    /// the window did, at `ended_ns`.
    pub fn offered(&self, ended_ns: Nanos) -> Option<u64> {
        (ended_ns >= self.timeline.window_end_ns).then(|| self.taken + self.left())
    }
}

fn from_origin(start: Option<Start>, origin_ns: Nanos) -> Start {
    match start {
        Some(Start { at_ns, index }) => Start { at_ns: origin_ns.saturating_add(at_ns), index },
        None => Start { at_ns: NEVER, index: u64::MAX },
    }
}
