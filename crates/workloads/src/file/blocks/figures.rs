//! What a session keeps of the cells.

use bakeoff_engine::{BarrierSpan, FileResult, Nanos, Observation};
use serde::{Deserialize, Serialize};

/// Upper ends of the classes of response times in Iometer's results, ns; the last class has none.
pub(super) const BINS_NS: [Nanos; 20] = [
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    15_000_000,
    20_000_000,
    30_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    4_700_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Fewer rounds of all outstanding transfers than this are too few for the window.
const WAVES: u64 = 8;

/// Transfers in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Direction {
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    pub sum_ns: u64,
    pub max_ns: u64,
}

/// All operations of a cell, measured or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CellTotals {
    pub from_ns: Nanos,
    pub to_ns: Nanos,
    pub ios: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
}

impl CellTotals {
    /// An operation is over; `moved` are bytes read and written.
    #[inline]
    pub fn add(&mut self, moved: (u64, u64), end_ns: Nanos) {
        self.ios += 1;
        self.read_bytes += moved.0;
        self.written_bytes += moved.1;
        self.to_ns = end_ns;
    }
}

/// What one session keeps of one cell.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CellFigures {
    pub done: bool,
    /// When all machines were to begin it, and how much later this session did; 0 where one machine does all.
    pub released_ns: Nanos,
    pub late_ns: Nanos,
    /// Direct I/O asks for multiples of this, which the cell's sizes are not; 0 when they are.
    pub refused_granule: u64,
    /// Measured time begins and ends; 0: not begun.
    pub from_ns: Nanos,
    pub to_ns: Nanos,
    /// It went on past its time, for want of transfers.
    pub stretched: bool,
    /// Filling and checking buffers inside it (kept where transfers are one at a time).
    pub outside_ns: Nanos,
    pub reads: Direction,
    pub writes: Direction,
    pub transactions: u64,
    pub transaction_sum_ns: u64,
    pub transaction_max_ns: u64,
    pub bins: [u64; BINS_NS.len() + 1],
    /// The cell with its ramp and its last transfers.
    pub whole: CellTotals,
    pub damaged: u64,
    pub damaged_at: u64,
    /// How cold the caches were made, see `cells::LEVELS`.
    pub level: u8,
    pub counters: Option<Box<(Observation, Observation)>>,
    /// Ramp, measured time and last transfers, from barrier to barrier.
    pub span: BarrierSpan,
}

impl CellFigures {
    /// One transfer that succeeded.
    #[inline]
    pub fn step(&mut self, reads: bool, bytes: u64, result: &FileResult) {
        let direction = if reads { &mut self.reads } else { &mut self.writes };
        let elapsed_ns = result.elapsed_ns();
        direction.ios += 1;
        direction.bytes += bytes;
        direction.sum_ns += elapsed_ns;
        direction.max_ns = direction.max_ns.max(elapsed_ns);
        self.bins[BINS_NS.partition_point(|&end_ns| end_ns <= elapsed_ns)] += 1;
    }

    /// A request with its reply is over.
    pub fn transaction(&mut self, elapsed_ns: Nanos) {
        self.transactions += 1;
        self.transaction_sum_ns += elapsed_ns;
        self.transaction_max_ns = self.transaction_max_ns.max(elapsed_ns);
    }

    pub fn failed(&mut self, reads: bool) {
        let direction = if reads { &mut self.reads } else { &mut self.writes };
        direction.errors += 1;
    }

    /// Transfers that succeeded inside the measured time.
    #[inline]
    pub fn ios(&self) -> u64 {
        self.reads.ios + self.writes.ios
    }

    /// Transfers that succeeded or failed inside the measured time.
    #[inline]
    pub fn tried(&self) -> u64 {
        self.ios() + self.reads.errors + self.writes.errors
    }

    pub fn elapsed_ns(&self) -> Nanos {
        self.to_ns.saturating_sub(self.from_ns).saturating_sub(self.outside_ns)
    }

    /// The same with times from the moment on at which all machines were to begin: their clocks are their own.
    pub fn since_release(&self) -> Self {
        let from = |at_ns: Nanos| at_ns.saturating_sub(self.released_ns);
        Self {
            released_ns: 0,
            from_ns: from(self.from_ns),
            to_ns: from(self.to_ns),
            whole: CellTotals { from_ns: from(self.whole.from_ns), to_ns: from(self.whole.to_ns), ..self.whole },
            ..self.clone()
        }
    }

    /// (transfers, bytes) per second of this session. Several at once that all take long end in waves: a window
    /// with few of them says little, so that the whole cell is taken then, from its start to its last end.
    pub fn rates(&self, outstanding: u32) -> (f64, f64) {
        let per_s = |ios: u64, bytes: u64, elapsed_ns: Nanos| {
            let elapsed_s = (elapsed_ns as f64 / 1e9).max(1e-9);
            (ios as f64 / elapsed_s, bytes as f64 / elapsed_s)
        };
        if outstanding > 1 && self.ios() < WAVES * u64::from(outstanding) {
            let whole = &self.whole;
            return per_s(whole.ios, whole.read_bytes + whole.written_bytes, whole.to_ns.saturating_sub(whole.from_ns));
        }
        if self.ios() == 0 {
            (0.0, 0.0)
        } else {
            per_s(self.ios(), self.reads.bytes + self.writes.bytes, self.elapsed_ns())
        }
    }
}
