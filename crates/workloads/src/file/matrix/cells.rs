//! The figures of cells: what each session kept, and what the trial says about a cell.

use super::Shared;
use super::cached::{Evidence, Judgement, judge};
use super::session::MatrixSession;
use super::spec::{Cache, MatrixSpec};
use super::tests_of::Test;
use bakeoff_engine::{Nanos, Observation};
use serde_json::{Value, json};

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
    /// How cold the caches were made, see [`LEVELS`].
    pub level: u8,
    /// Pages that stayed after dropping; -1 when the kernel cannot count them.
    pub left_pages: i64,
    resident_pages: Option<u64>,
    dirty_pages: Option<u64>,
    counters: Option<Box<(Observation, Observation)>>,
}

/// Names of the rungs of the ladder.
pub(super) const LEVELS: [&str; 5] = ["warm", "fresh", "dropped", "drop_caches", "command"];

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

    fn has_started(&self) -> bool {
        self.start_ns > 0
    }

    fn rate(&self) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { self.bytes as f64 * 1e9 / self.elapsed_ns as f64 }
    }
}

/// The cells of a trial as JSON, in their order.
pub(super) fn cells(shared: &Shared, sessions: &[MatrixSession]) -> Vec<Value> {
    (0..shared.cells()).map(|cell| cell_json(shared, cell, sessions)).collect()
}

fn cell_json(shared: &Shared, cell: usize, sessions: &[MatrixSession]) -> Value {
    let spec = &shared.spec;
    let (file, record) = spec.pairs[cell / spec.tests.len()];
    let test = spec.tests[cell % spec.tests.len()];
    let parts: Vec<&CellFigures> = sessions.iter().map(|session| &session.figures[cell]).collect();
    let mut json = json!({
        "operation": shared.operation(cell),
        "test": test.name(),
        "file_bytes": file,
        "record_bytes": record,
        "file_kib": file as f64 / 1024.0,
        "record_kib": record as f64 / 1024.0,
        "clients": parts.len(),
        "skipped": skipped(shared, cell, &parts),
    });
    let moved = |reads: bool| {
        let those = sessions.iter().filter(|session| shared.reads(cell, session.index) == reads);
        those.map(|session| session.figures[cell].bytes).sum()
    };
    if json["skipped"].is_null()
        && let (Some(all), Value::Object(figures)) =
            (json.as_object_mut(), figures(spec, test, file, &parts, (moved(true), moved(false))))
    {
        all.extend(figures);
    }
    json
}

fn skipped(shared: &Shared, cell: usize, parts: &[&CellFigures]) -> Option<&'static str> {
    if !shared.runs(cell) {
        return Some("mixed needs at least two clients");
    }
    (parts.is_empty() || parts.iter().any(|part| !part.done)).then_some("the trial ended before this cell was done")
}

fn figures(spec: &MatrixSpec, test: Test, file: u64, parts: &[&CellFigures], moved: (u64, u64)) -> Value {
    let rates: Vec<f64> = parts.iter().map(|part| part.rate()).collect();
    let sum: f64 = rates.iter().sum();
    // With `stonewall`, a client may be stopped before its first record: it has neither start nor end.
    let started = || parts.iter().filter(|part| part.has_started());
    let start_ns = started().map(|part| part.start_ns).min().unwrap_or(0);
    let ends = || started().map(|part| part.end_ns.saturating_sub(start_ns) as f64 / 1e9);
    let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
    let outside_ns: u64 = parts.iter().map(|part| part.outside_ns).sum();
    let elapsed_s = ends().fold(0.0, f64::max);
    let judgement = judgement(spec, test, file, parts, moved, elapsed_s);
    json!({
        "bytes": bytes,
        "operations": parts.iter().map(|part| part.operations).sum::<u64>(),
        "elapsed_s": parts.iter().map(|part| part.elapsed_ns).max().unwrap_or(0) as f64 / 1e9,
        "rate_kib_s": sum / 1024.0,
        "slowest_kib_s": rates.iter().copied().fold(f64::INFINITY, f64::min) / 1024.0,
        "fastest_kib_s": rates.iter().copied().fold(0.0, f64::max) / 1024.0,
        "slowest_bytes": parts.iter().map(|part| part.bytes).min().unwrap_or(0),
        "per_client": parts.iter().zip(&rates).map(|(part, rate)| json!([part.bytes, rate / 1024.0])).collect::<Vec<_>>(),
        "idle_clients": parts.len() - started().count(),
        "first_done_s": ends().reduce(f64::min),
        "last_done_s": ends().reduce(f64::max),
        "whole": parts.iter().all(|part| part.whole),
        "damaged": parts.iter().map(|part| part.damaged).sum::<u64>(),
        "verify_s": if spec.verify { json!(outside_ns as f64 / 1e9) } else { Value::Null },
        "cache": cache(spec, test, file, parts),
        "cached": judgement.cached,
        "cached_reason": judgement.reason,
        "carried_bytes": judgement.carried_bytes,
    })
}

fn pages(parts: &[&CellFigures], pick: impl Fn(&CellFigures) -> Option<u64>) -> Option<u64> {
    parts.iter().map(|part| pick(part)).sum()
}

/// How cold the caches were before the clock started, and whether that was seen.
fn cache(spec: &MatrixSpec, test: Test, file: u64, parts: &[&CellFigures]) -> Value {
    let lowest = parts.iter().map(|part| part.level).min().unwrap_or(0);
    let first = parts.first().map_or(0, |part| part.level);
    let level = if test.is_fresh() {
        1
    } else if first >= 3 {
        first
    } else {
        lowest
    };
    let resident = pages(parts, |part| part.resident_pages);
    let asked = if spec.cache == Cache::Cold { "cold" } else { "warm" };
    json!({
        "asked": asked,
        "level": level,
        "name": LEVELS[usize::from(level).min(LEVELS.len() - 1)],
        "resident_pages": resident,
        "resident_share": resident.map(|pages| pages as f64 * 4096.0 / (file as f64 * parts.len() as f64)),
        "proved": level >= 2 && resident == Some(0),
    })
}

fn judgement(
    spec: &MatrixSpec,
    test: Test,
    file: u64,
    parts: &[&CellFigures],
    moved: (u64, u64),
    elapsed_s: f64,
) -> Judgement {
    let (before, after) = parts.iter().find_map(|part| part.counters.as_deref().copied()).unwrap_or_default();
    judge(&Evidence {
        read_bytes: moved.0,
        written_bytes: moved.1,
        elapsed_s,
        direct: spec.direct && !test.is_stream(),
        carrier: spec.carrier,
        link: spec.link_bytes_per_s,
        before,
        after,
        resident_pages: pages(parts, |part| part.resident_pages),
        dirty_pages: pages(parts, |part| part.dirty_pages),
        file_bytes: file * parts.len() as u64,
    })
}

/// Copies the percentiles of single operations, ns, from the result's operations into the cells.
pub(super) fn add_percentiles(result: &mut Value) {
    let services: Vec<Value> = result["per_operation"]
        .as_array()
        .map(|operations| operations.iter().map(|operation| operation["service"].clone()).collect())
        .unwrap_or_default();
    let Some(cells) = result["workload"]["cells"].as_array_mut() else { return };
    for (cell, service) in cells.iter_mut().zip(services) {
        if cell["skipped"].is_null() {
            cell["service"] = service;
        }
    }
}
