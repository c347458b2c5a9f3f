//! The trial second by second, however long it is.
//!
//! An interval is small: its times are kept as V2 bytes, which grow with the number of different times and not with
//! that of operations. An hour takes 1.8 MB for a load thread (a session, in file suites) with 200 different times in a
//! second, and 95 MB if every time from 1 µs to a minute occurred in each.

use crate::result::measurement::Counts;
use crate::{LatencyHistogram, Nanos, SECOND_NS, Timeline, serialize};

/// Memory for so many rows is there from the start.
const ROWS_AT_ONCE: u64 = 600;

/// One finished row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub index: u64,
    pub counts: Counts,
    /// V2 histogram of the service times of successful operations; empty when there are none.
    pub blob: Vec<u8>,
}

/// Collects one row at a time.
#[derive(Debug)]
pub(crate) struct Series {
    start_ns: Nanos,
    index: u64,
    row_end_ns: Nanos,
    counts: Counts,
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

    /// One that never begins another row: for trials that have longer ones in its place.
    pub fn none() -> Self {
        let timeline = Timeline::new(0, 0, 0, 0);
        Self { row_end_ns: Nanos::MAX, ..Self::with(&timeline, LatencyHistogram::lazy()) }
    }

    pub const fn is_none(&self) -> bool {
        self.row_end_ns == Nanos::MAX
    }

    fn with(timeline: &Timeline, histogram: LatencyHistogram) -> Self {
        let seconds = (timeline.end_ns - timeline.start_ns).div_ceil(SECOND_NS);
        Self {
            start_ns: timeline.start_ns,
            index: 0,
            row_end_ns: timeline.start_ns + SECOND_NS,
            counts: Counts::default(),
            histogram,
            rows: Vec::with_capacity(seconds.min(ROWS_AT_ONCE) as usize + 2),
        }
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
            self.advance(now_ns);
        }
        self.counts.operations += 1;
        self.counts.bytes_in += bytes_in;
    }

    pub fn failure(&mut self, now_ns: Nanos) {
        if now_ns >= self.row_end_ns {
            self.advance(now_ns);
        }
        self.counts.errors += 1;
    }

    #[cold]
    fn advance(&mut self, now_ns: Nanos) {
        self.finish_interval();
        self.index = (now_ns - self.start_ns) / SECOND_NS;
        self.row_end_ns = self.start_ns + (self.index + 1) * SECOND_NS;
    }

    fn finish_interval(&mut self) {
        if self.counts == Counts::default() {
            return;
        }
        self.rows.push(Row {
            index: self.index,
            counts: std::mem::take(&mut self.counts),
            blob: if self.histogram.count() == 0 { Vec::new() } else { serialize(&self.histogram.to_hdr()) },
        });
        self.histogram.clear();
    }

    pub fn finish(mut self) -> Vec<Row> {
        self.finish_interval();
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
        let seen: Vec<_> = rows.iter().map(|row| (row.index, row.counts.operations, row.counts.errors)).collect();
        assert_eq!(seen, [(0, 2, 0), (1, 1, 0), (4, 0, 1)]);
    }

    #[test]
    fn an_hour_has_a_row_for_each_second_and_takes_little_memory() {
        let hour = 3600;
        let mut series = Series::new(&Timeline::new(0, 0, hour * SECOND_NS, 0));
        for second in 0..hour {
            // Times from 50 µs to 250 µs, and a few long ones.
            (0..200).for_each(|nth| series.success(second * SECOND_NS + nth, 50_000 + nth * 1_000, 1));
            (1..5).for_each(|nth| series.success(second * SECOND_NS + 300, nth * 10_000_000, 1));
        }
        let rows = series.finish();
        assert!(rows.iter().map(|row| (row.index, row.counts.operations)).eq((0..hour).map(|second| (second, 204))));
        let bytes: usize = rows.iter().map(|row| size_of::<Row>() + row.blob.len()).sum();
        assert!(bytes < 4 << 20, "{bytes} bytes");
    }

    #[test]
    fn a_row_with_every_time_there_can_be_is_small_and_one_without_times_smaller() {
        let mut series = Series::new(&Timeline::new(0, 0, 3 * SECOND_NS, 0));
        let mut time_ns = 1_000.0_f64;
        while time_ns < 60e9 {
            series.success(5, time_ns as u64, 1);
            time_ns *= 1.0005;
        }
        series.count(SECOND_NS, 1);
        let rows = series.finish();
        assert!(rows[0].blob.len() <= 27 << 10, "{} bytes", rows[0].blob.len());
        assert!(rows[1].blob.is_empty());
    }
}
