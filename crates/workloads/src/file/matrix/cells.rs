//! The figures of cells: what the trial says about each, from what its sessions kept.

use super::figures::CellFigures;
use super::session::MatrixSession;
use super::shared::Shared;
use super::spec::MatrixSpec;
use super::test::Test;
use crate::file::cache::{Coldness, with_caches};
use crate::file::cell::waited_shares;
use crate::file::evidence::{CacheVerdict, Evidence, judge};
use serde_json::{Value, json};

/// Names of the rungs of the ladder.
const LEVELS: [&str; 5] = ["warm", "fresh", "dropped", "drop_caches", "command"];

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
    let figures = json!({
        "bytes": bytes,
        "operations": parts.iter().map(|part| part.operations).sum::<u64>(),
        "elapsed_s": parts.iter().map(|part| part.elapsed_ns).max().unwrap_or(0) as f64 / 1e9,
        "rate_kib_s": sum / 1024.0,
        "slowest_kib_s": rates.iter().copied().fold(f64::INFINITY, f64::min) / 1024.0,
        "fastest_kib_s": rates.iter().copied().fold(0.0, f64::max) / 1024.0,
        "slowest_bytes": parts.iter().map(|part| part.bytes).min().unwrap_or(0),
        "per_client": parts.iter().zip(&rates).map(|(part, rate)| json!([part.bytes, rate / 1024.0])).collect::<Vec<_>>(),
        "idle_clients": parts.len() - started().count(),
        "waited_shares": waited_shares(parts.iter().map(|part| part.span)),
        "first_done_s": ends().reduce(f64::min),
        "last_done_s": ends().reduce(f64::max),
        "whole": parts.iter().all(|part| part.whole),
        "damaged": parts.iter().map(|part| part.damaged).sum::<u64>(),
        "verify_s": if spec.verify { json!(outside_ns as f64 / 1e9) } else { Value::Null },
    });
    with_caches(figures, &coldness(spec, test, file, parts), &judgement)
}

fn pages(parts: &[&CellFigures], pick: impl Fn(&CellFigures) -> Option<u64>) -> Option<u64> {
    parts.iter().map(|part| pick(part)).sum()
}

/// How cold the caches were before the clock started, and whether that was seen.
fn coldness(spec: &MatrixSpec, test: Test, file: u64, parts: &[&CellFigures]) -> Coldness {
    let lowest = parts.iter().map(|part| part.level).min().unwrap_or(0);
    let first = parts.first().map_or(0, |part| part.level);
    let level = if test.is_fresh() {
        1
    } else if first >= 3 {
        first
    } else {
        lowest
    };
    Coldness {
        asked: spec.cache,
        level,
        name: LEVELS[usize::from(level).min(LEVELS.len() - 1)],
        resident_pages: pages(parts, |part| part.resident_pages),
        file_bytes: file * parts.len() as u64,
    }
}

fn judgement(
    spec: &MatrixSpec,
    test: Test,
    file: u64,
    parts: &[&CellFigures],
    moved: (u64, u64),
    elapsed_s: f64,
) -> CacheVerdict {
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
