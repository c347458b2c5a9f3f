//! Intervals of a soak: what was done in each hour of it, told while the trial goes on.
//!
//! A trial that lasts for days keeps nothing that grows with its seconds. Each load thread counts the interval in progress;
//! an interval that is over goes to the desk, where those of all threads become one, and from there to whoever asks.

use crate::result::measurement::{Cost, Counted, Measurement};
use crate::result::merge::{Merge, figures, max, max_if_all};
use crate::{ErrorClass, Nanos, Timeline};
use std::collections::BTreeMap;

/// An interval of one load thread that is over.
#[derive(Debug)]
pub struct IntervalPart {
    index: u64,
    /// From the start of the window, ns.
    start_ns: Nanos,
    length_ns: Nanos,
    counts: Counted,
}

figures! {
    /// What an interval cost its load thread, and what befell the machine meanwhile; measured between two looks.
    #[derive(Copy)]
    pub struct IntervalCost {
        flat
        /// Of its busiest thread.
        pub cost: Cost,
        /// Time that the hypervisor gave to others, s; `None`, as below, where nobody measured it.
        pub stolen_s: Option<f64> => max_if_all,
        /// Time in which the process did not run: it, or its machine, was stopped, s.
        pub stopped_s: Option<f64> => max_if_all,
    }

    /// An interval of a trial.
    pub struct SoakInterval {
        flat
        /// What was done in it.
        pub measured: Measurement,
        flat
        /// What that took.
        pub cost: IntervalCost,
        /// Its number.
        pub number: u64 => max,
        /// From the start of the window, s.
        pub start_s: f64 => max,
        /// How long it was, s.
        pub length_s: f64 => max,
    }
}

/// The interval in progress of one load thread, and those that are over and were not fetched yet.
#[derive(Debug)]
pub(crate) struct IntervalRecorder {
    interval_ns: Nanos,
    start_ns: Nanos,
    end_ns: Nanos,
    planned: bool,
    index: u64,
    interval_end_ns: Nanos,
    counts: Counted,
    over: Vec<IntervalPart>,
}

impl IntervalRecorder {
    /// Intervals of `interval_ns` from the start of the window to its end, where the last one may be shorter.
    pub fn new(timeline: &Timeline, interval_ns: Nanos, planned: bool) -> Self {
        Self {
            interval_ns,
            start_ns: timeline.window_start_ns,
            end_ns: timeline.window_end_ns,
            planned,
            index: 0,
            interval_end_ns: timeline.window_start_ns + interval_ns,
            counts: Counted::warm(planned),
            over: Vec::new(),
        }
    }

    /// An operation that ended well, within the window.
    #[inline]
    pub fn success(&mut self, now_ns: Nanos, service_ns: u64, response_ns: u64, bytes: (u64, u64)) {
        if now_ns >= self.interval_end_ns {
            self.advance(now_ns);
        }
        self.counts.operations += 1;
        self.counts.bytes_in += bytes.0;
        self.counts.bytes_out += bytes.1;
        self.counts.service.record(service_ns);
        if let Some(response) = &mut self.counts.response {
            response.record(response_ns);
        }
    }

    /// One that failed, within the window.
    pub fn failure(&mut self, now_ns: Nanos, error: ErrorClass) {
        if now_ns >= self.interval_end_ns {
            self.advance(now_ns);
        }
        self.counts.errors[error as usize] += 1;
    }

    /// Whether an interval is over at this moment.
    #[inline]
    pub fn is_due(&self, now_ns: Nanos) -> bool {
        !self.over.is_empty() || (now_ns >= self.interval_end_ns && self.interval_end_ns < self.end_ns)
    }

    /// Intervals that are over at `now_ns`. The last one of the window is kept until [`IntervalRecorder::close`]: what hangs
    /// at the end is counted there.
    pub fn fetch(&mut self, now_ns: Nanos) -> Vec<IntervalPart> {
        if now_ns >= self.interval_end_ns {
            self.advance(now_ns);
        }
        std::mem::take(&mut self.over)
    }

    /// The trial ended at `ended_ns`: what is left, with the interval in progress as far as it came.
    pub fn close(&mut self, ended_ns: Nanos) -> Vec<IntervalPart> {
        let ended_ns = ended_ns.min(self.end_ns);
        self.advance(ended_ns.max(self.start_ns));
        let interval_start_ns = self.start_ns + self.index * self.interval_ns;
        if ended_ns > interval_start_ns {
            self.finish_interval(ended_ns);
        }
        self.interval_end_ns = Nanos::MAX;
        std::mem::take(&mut self.over)
    }

    /// Ends intervals, empty ones as well, until the one that holds `now_ns`; the window's last one stays open.
    #[cold]
    fn advance(&mut self, now_ns: Nanos) {
        while now_ns >= self.interval_end_ns && self.interval_end_ns < self.end_ns {
            let interval_end_ns = self.interval_end_ns;
            self.finish_interval(interval_end_ns);
        }
    }

    fn finish_interval(&mut self, interval_end_ns: Nanos) {
        // An interval in which nothing was done leaves its histograms to the next.
        let used = self.counts.operations > 0;
        let fresh = if used { Counted::warm(self.planned) } else { Counted::lazy(self.planned) };
        let counts = std::mem::replace(&mut self.counts, fresh);
        let start_ns = self.index * self.interval_ns;
        let length_ns = interval_end_ns - self.start_ns - start_ns;
        self.over.push(IntervalPart { index: self.index, start_ns, length_ns, counts });
        self.index += 1;
        self.interval_end_ns += self.interval_ns;
    }
}

/// An interval that some threads have handed in.
#[derive(Debug)]
struct OpenInterval {
    costs: Vec<IntervalCost>,
    start_ns: Nanos,
    length_ns: Nanos,
    counts: Counted,
}

/// Where the threads' intervals come together.
#[derive(Debug, Default)]
pub(crate) struct IntervalMerger {
    open: BTreeMap<u64, OpenInterval>,
    done: Vec<SoakInterval>,
}

impl IntervalMerger {
    /// A thread hands in intervals that are over; one that all `threads` have handed in is done.
    pub fn hand_in(&mut self, parts: Vec<IntervalPart>, cost: IntervalCost, threads: usize) {
        for part in parts {
            let planned = part.counts.response.is_some();
            let interval = self.open.entry(part.index).or_insert_with(|| OpenInterval {
                costs: Vec::new(),
                start_ns: part.start_ns,
                length_ns: 0,
                counts: Counted::lazy(planned),
            });
            interval.costs.push(cost);
            interval.length_ns = interval.length_ns.max(part.length_ns);
            interval.counts.add(&part.counts);
        }
        while let Some(first) = self.open.first_entry().filter(|first| first.get().costs.len() >= threads) {
            let (index, interval) = first.remove_entry();
            self.done.push(interval.told(index));
        }
    }

    /// No thread hands in any more: an interval that only some had begun is done as well.
    pub fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.done.extend(open.into_iter().map(|(index, interval)| interval.told(index)));
    }

    /// Intervals that were done since the last call, in their order.
    pub fn drain(&mut self) -> Vec<SoakInterval> {
        std::mem::take(&mut self.done)
    }
}

impl OpenInterval {
    fn told(self, number: u64) -> SoakInterval {
        let costs: Vec<_> = self.costs.iter().map(|cost| ("", cost)).collect();
        SoakInterval {
            measured: self.counts.told(),
            cost: IntervalCost::merged(&costs).unwrap_or_default(),
            number,
            start_s: self.start_ns as f64 / 1e9,
            length_s: self.length_ns as f64 / 1e9,
        }
    }
}

#[cfg(test)]
mod tests;
