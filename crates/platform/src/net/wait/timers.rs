//! What is due later.

use bakeoff_engine::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NEVER: Nanos = Nanos::MAX;

/// What to do when a timer runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// Begin the virtual user's next operation.
    Begin,
    /// Tell the session.
    Timer,
}

/// A virtual user's timer, and the entry of the heap that looks after it.
#[derive(Debug, Clone, Copy)]
struct Timer {
    due_ns: Nanos,
    entry_ns: Nanos,
}

/// The timers of all virtual users.
///
/// Nearly every session's timer is put off or taken back before it is due, once an operation: the heap has one entry
/// for it, which is moved when its moment comes, not when the timer is.
#[derive(Debug)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, usize, Due)>>,
    of_vus: Vec<Timer>,
}

impl Timers {
    /// For so many virtual users.
    pub fn new(vus: usize) -> Self {
        Self { heap: BinaryHeap::new(), of_vus: vec![Timer { due_ns: NEVER, entry_ns: NEVER }; vus] }
    }

    /// Makes room for so many virtual users.
    pub fn grow(&mut self, vus: usize) {
        if self.of_vus.len() < vus {
            self.of_vus.resize(vus, Timer { due_ns: NEVER, entry_ns: NEVER });
        }
    }

    /// Begins the virtual user's next operation then.
    pub fn begin(&mut self, at_ns: Nanos, vu: usize) {
        self.heap.push(Reverse((at_ns, vu, Due::Begin)));
    }

    /// Sets the virtual user's timer, instead of the one that it may have.
    #[inline]
    pub fn set(&mut self, at_ns: Nanos, vu: usize) {
        let timer = &mut self.of_vus[vu];
        timer.due_ns = at_ns;
        if at_ns < timer.entry_ns {
            timer.entry_ns = at_ns;
            self.heap.push(Reverse((at_ns, vu, Due::Timer)));
        }
    }

    /// Takes the virtual user's timer back.
    #[inline]
    pub fn clear(&mut self, vu: usize) {
        self.of_vus[vu].due_ns = NEVER;
    }

    /// The earliest moment before `limit_ns` at which something is due.
    pub fn next_before(&mut self, limit_ns: Nanos) -> Option<Nanos> {
        while let Some(&Reverse((at_ns, vu, due))) = self.heap.peek() {
            if at_ns >= limit_ns {
                return None;
            }
            let Timer { due_ns, entry_ns } = self.of_vus[vu];
            if due == Due::Begin || (entry_ns == at_ns && due_ns == at_ns) {
                return Some(at_ns);
            }
            self.heap.pop();
            if entry_ns == at_ns {
                self.of_vus[vu].entry_ns = NEVER;
                if due_ns != NEVER {
                    self.set(due_ns, vu);
                }
            }
        }
        None
    }

    /// Takes the earliest that is due.
    pub fn pop_due(&mut self, now_ns: Nanos) -> Option<(Nanos, usize, Due)> {
        self.next_before(now_ns + 1)?;
        let Reverse(entry) = self.heap.pop()?;
        if entry.2 == Due::Timer {
            self.of_vus[entry.1] = Timer { due_ns: NEVER, entry_ns: NEVER };
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn popped(timers: &mut Timers, now_ns: Nanos) -> Vec<(Nanos, usize, Due)> {
        std::iter::from_fn(|| timers.pop_due(now_ns)).collect()
    }

    #[test]
    fn what_is_due_comes_in_order_and_no_sooner() {
        let mut timers = Timers::new(2);
        timers.begin(30, 0);
        timers.set(20, 1);
        timers.begin(10, 1);
        assert_eq!((timers.next_before(10), timers.next_before(11)), (None, Some(10)));
        assert_eq!(popped(&mut timers, 9), []);
        assert_eq!(popped(&mut timers, 30), [(10, 1, Due::Begin), (20, 1, Due::Timer), (30, 0, Due::Begin)]);
        assert_eq!(timers.next_before(NEVER), None);
    }

    #[test]
    fn a_timer_that_is_put_off_runs_out_once_at_its_last_moment() {
        let mut timers = Timers::new(1);
        for at_ns in [10, 40, 25, 50] {
            timers.set(at_ns, 0);
        }
        assert_eq!((timers.next_before(50), popped(&mut timers, 49)), (None, vec![]));
        assert_eq!(popped(&mut timers, 100), [(50, 0, Due::Timer)]);
        assert_eq!((popped(&mut timers, 1000), timers.next_before(NEVER)), (vec![], None));
    }

    #[test]
    fn a_timer_that_is_brought_forward_runs_out_once_at_the_earlier_moment() {
        let mut timers = Timers::new(1);
        timers.set(50, 0);
        timers.set(20, 0);
        assert_eq!(popped(&mut timers, 20), [(20, 0, Due::Timer)]);
        timers.set(60, 0);
        assert_eq!(popped(&mut timers, 59), []);
        assert_eq!(popped(&mut timers, 60), [(60, 0, Due::Timer)]);
    }

    #[test]
    fn a_timer_that_is_taken_back_never_runs_out_and_can_be_set_again() {
        let mut timers = Timers::new(1);
        timers.set(10, 0);
        timers.clear(0);
        assert_eq!((popped(&mut timers, 10), timers.next_before(NEVER)), (vec![], None));
        timers.set(20, 0);
        timers.clear(0);
        timers.set(30, 0);
        assert_eq!(popped(&mut timers, 100), [(30, 0, Due::Timer)]);
    }

    #[test]
    fn a_timer_that_is_set_once_an_operation_has_one_entry() {
        let mut timers = Timers::new(1);
        for now_ns in 0..1000 {
            timers.set(now_ns + 100, 0);
            timers.clear(0);
            assert!(timers.pop_due(now_ns).is_none() && timers.heap.len() <= 1);
        }
    }
}
