//! What the cells of all suites have in common in results.

use bakeoff_engine::{BarrierSpan, TrialResult};
use serde_json::{Value, json};

/// `512`, `4K`, `16M`: short names of sizes.
pub(super) fn size_name(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{}M", b >> 20),
        b if b % 1024 == 0 => format!("{}K", b >> 10),
        b => b.to_string(),
    }
}

/// The share of a cell that each session's thread lacked, see [`BarrierSpan::waited_ns`]; three digits are enough.
pub(super) fn waited_shares(spans: impl Iterator<Item = BarrierSpan>) -> Vec<f64> {
    spans.map(|span| (span.waited_share() * 1e3).round() / 1e3).collect()
}

/// Copies the percentiles of single operations, ns, from the result's operations into the cells that were done.
pub(super) fn add_percentiles(result: &mut TrialResult) {
    for (cell, operation) in cells(&mut result.workload).zip(&result.per_operation) {
        if cell["skipped"].is_null() {
            cell["service"] = json!(operation.measured.service);
        }
    }
}

/// The cells among the kind's own figures.
pub(super) fn cells(figures: &mut Value) -> impl Iterator<Item = &mut Value> {
    figures["cells"].as_array_mut().into_iter().flatten()
}
