//! What a session keeps of the cells.

use bakeoff_engine::{BarrierSpan, Nanos, Observation};

/// What one session keeps of one cell.
#[derive(Debug, Clone, Default)]
pub(super) struct CellFigures {
    pub done: bool,
    /// All records were visited inside the clock.
    pub whole: bool,
    pub start_ns: Nanos,
    pub end_ns: Nanos,
    /// Sum of the stamped times: without filling and checking.
    pub elapsed_ns: Nanos,
    /// Filling and checking between them.
    pub outside_ns: Nanos,
    pub bytes: u64,
    pub operations: u64,
    pub damaged: u64,
    pub damaged_at: u64,
    /// How cold the caches were made, see `cells::LEVELS`.
    pub level: u8,
    /// Pages that stayed after dropping; -1 when the kernel cannot count them.
    pub left_pages: i64,
    pub resident_pages: Option<u64>,
    pub dirty_pages: Option<u64>,
    pub counters: Option<Box<(Observation, Observation)>>,
    /// The timed loop, from barrier to barrier.
    pub span: BarrierSpan,
}

impl CellFigures {
    pub fn observe(&mut self, observation: &Observation, after: bool, keep_counters: bool) {
        if after {
            self.dirty_pages = observation.dirty_pages;
        } else {
            self.resident_pages = observation.cached_pages;
        }
        if keep_counters {
            let counters = self.counters.get_or_insert_with(Box::default);
            *(if after { &mut counters.1 } else { &mut counters.0 }) = *observation;
        }
    }

    pub fn has_started(&self) -> bool {
        self.start_ns > 0
    }

    pub fn rate(&self) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { self.bytes as f64 * 1e9 / self.elapsed_ns as f64 }
    }
}
