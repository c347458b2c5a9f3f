//! What is counted where the load plans its starts.

use crate::LatencyHistogram;

/// Figures of planned starts. Starts count by their planned moment, response times, like all times, by the end.
#[derive(Debug, Default)]
pub(crate) struct PlannedFigures {
    /// From the planned start to the end, by operation; empty where the times are kept elsewhere.
    pub response: Vec<LatencyHistogram>,
    /// Starts that found every session busy: how late they began.
    pub late: LatencyHistogram,
    /// Starts that were planned.
    pub offered: u64,
    /// Those of them that began.
    pub started: u64,
    /// Turns that ended well in the window.
    pub answered: u64,
    /// Those that found every session busy, whether or not they began later.
    pub ran_out: u64,
    /// Connections that were used, ramps included.
    pub connections_used: u64,
}

impl PlannedFigures {
    pub fn new(operations: usize) -> Self {
        Self {
            response: (0..operations).map(|_| LatencyHistogram::lazy()).collect(),
            late: LatencyHistogram::lazy(),
            offered: 0,
            started: 0,
            answered: 0,
            ran_out: 0,
            connections_used: 0,
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (total, part) in self.response.iter_mut().zip(&other.response) {
            total.add(part);
        }
        self.late.add(&other.late);
        self.offered += other.offered;
        self.started += other.started;
        self.answered += other.answered;
        self.ran_out += other.ran_out;
        self.connections_used += other.connections_used;
    }
}
