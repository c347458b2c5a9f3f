//! The trial second by second.

use crate::{LatencyHistogram, Nanos, SECOND_NS, Timeline, serialize};

/// At most so many rows are kept, however long the trial: longer ones get wider rows.
const ROWS_MAX: u64 = 600;

/// One finished row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub index: u64,
    pub operations: u64,
    pub errors: u64,
    pub bytes_in: u64,
    /// V2 histogram of the service times of successful operations.
    pub blob: Vec<u8>,
}

/// Collects one row at a time.
#[derive(Debug)]
pub(crate) struct Series {
    start_ns: Nanos,
    step_ns: Nanos,
    index: u64,
    row_end_ns: Nanos,
    operations: u64,
    errors: u64,
    bytes_in: u64,
    histogram: LatencyHistogram,
    rows: Vec<Row>,
}

impl Series {
    pub fn new(timeline: &Timeline) -> Self {
        Self::with(timeline, LatencyHistogram::new())
    }

    /// One whose memory is in place, so that recording faults in no page.
    pub fn warm(timeline: &Timeline) -> Self {
        Self::with(timeline, LatencyHistogram::warm())
    }

    /// One that takes memory with its first time.
    pub fn lazy(timeline: &Timeline) -> Self {
        Self::with(timeline, LatencyHistogram::lazy())
    }

    fn with(timeline: &Timeline, histogram: LatencyHistogram) -> Self {
        let length_ns = timeline.end_ns - timeline.start_ns;
        let step_s = length_ns.div_ceil(SECOND_NS).div_ceil(ROWS_MAX).max(1);
        let step_ns = step_s * SECOND_NS;
        Self {
            start_ns: timeline.start_ns,
            step_ns,
            index: 0,
            row_end_ns: timeline.start_ns + step_ns,
            operations: 0,
            errors: 0,
            bytes_in: 0,
            histogram,
            rows: Vec::with_capacity(ROWS_MAX as usize + 2),
        }
    }

    /// Width of a row, s.
    pub fn step_s(&self) -> u64 {
        self.step_ns / SECOND_NS
    }

    #[inline]
    pub fn success(&mut self, now_ns: Nanos, service_ns: u64, bytes_in: u64) {
        self.count(now_ns, bytes_in);
        self.histogram.record(service_ns);
    }

    /// A success whose time is not wanted.
    #[inline]
    pub fn count(&mut self, now_ns: Nanos, bytes_in: u64) {
        if now_ns >= self.row_end_ns {
            self.turn(now_ns);
        }
        self.operations += 1;
        self.bytes_in += bytes_in;
    }

    pub fn failure(&mut self, now_ns: Nanos) {
        if now_ns >= self.row_end_ns {
            self.turn(now_ns);
        }
        self.errors += 1;
    }

    #[cold]
    fn turn(&mut self, now_ns: Nanos) {
        self.finish_row();
        self.index = (now_ns - self.start_ns) / self.step_ns;
        self.row_end_ns = self.start_ns + (self.index + 1) * self.step_ns;
    }

    fn finish_row(&mut self) {
        if self.operations == 0 && self.errors == 0 {
            return;
        }
        self.rows.push(Row {
            index: self.index,
            operations: std::mem::take(&mut self.operations),
            errors: std::mem::take(&mut self.errors),
            bytes_in: std::mem::take(&mut self.bytes_in),
            blob: serialize(&self.histogram),
        });
        self.histogram.clear();
    }

    pub fn finish(mut self) -> Vec<Row> {
        self.finish_row();
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_fall_into_the_second_in_which_they_end() {
        let mut series = Series::new(&Timeline::new(0, 0, 5 * SECOND_NS, 0));
        series.success(100, 10, 1);
        series.success(SECOND_NS - 1, 10, 1);
        series.success(SECOND_NS, 10, 1);
        series.failure(4 * SECOND_NS + 1);
        let rows = series.finish();
        let seen: Vec<_> = rows.iter().map(|row| (row.index, row.operations, row.errors)).collect();
        assert_eq!(seen, [(0, 2, 0), (1, 1, 0), (4, 0, 1)]);
    }

    #[test]
    fn a_day_long_trial_keeps_a_bounded_number_of_rows() {
        let day = 24 * 3600 * SECOND_NS;
        let mut series = Series::new(&Timeline::new(0, 0, day, 0));
        (0..day).step_by(SECOND_NS as usize * 7).for_each(|now| series.success(now, 1_000, 1));
        assert!(series.finish().len() <= ROWS_MAX as usize + 1);
    }
}
