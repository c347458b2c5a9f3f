//! The figures of cells: what the trial says about each, from what its sessions kept.

use super::figures::{BINS_NS, CellFigures, Direction};
use super::machine::{Machine, coldness, counters, judgement};
use super::shared::Shared;
use super::spec::BlocksSpec;
use crate::file::cache::with_caches;
use crate::file::cell::{add_percentiles, cells as cells_of, waited_shares};
use bakeoff_engine::TrialResult;
use serde_json::{Value, json};

fn sum_direction(parts: &[&CellFigures], pick: impl Fn(&CellFigures) -> Direction) -> Direction {
    parts.iter().map(|part| pick(part)).fold(Direction::default(), |sum, part| Direction {
        ios: sum.ios + part.ios,
        bytes: sum.bytes + part.bytes,
        errors: sum.errors + part.errors,
        sum_ns: sum.sum_ns + part.sum_ns,
        max_ns: sum.max_ns.max(part.max_ns),
    })
}

fn direction_json(direction: &Direction) -> Value {
    json!({
        "ios": direction.ios, "bytes": direction.bytes, "errors": direction.errors,
        "total_ns": direction.sum_ns, "max_ns": direction.max_ns,
    })
}

/// The cells of a trial as JSON, in their order.
pub(super) fn cells(shared: &Shared, machines: &[Machine]) -> Vec<Value> {
    (0..shared.spec.cells.len()).map(|index| cell_json(shared, index, machines)).collect()
}

/// Measured time of all cells of one machine that are no longer under way, s.
pub(super) fn measured_s(shared: &Shared, machine: &Machine) -> f64 {
    let cells = (0..shared.spec.cells.len()).map(|index| machine.cell(index));
    cells.filter(|parts| skipped(parts).is_none()).map(|parts| elapsed_s(&parts)).sum()
}

fn elapsed_s(parts: &[&CellFigures]) -> f64 {
    parts.iter().map(|part| part.elapsed_ns()).max().unwrap_or(0) as f64 / 1e9
}

fn cell_json(shared: &Shared, index: usize, machines: &[Machine]) -> Value {
    let (spec, cell) = (&shared.spec, &shared.spec.cells[index]);
    let parts: Vec<&CellFigures> = machines.iter().flat_map(|machine| machine.cell(index)).collect();
    let region_bytes: u64 = machines.iter().map(|machine| machine.region_bytes).sum();
    let mut json = json!({
        "operation": shared.operation(index),
        "test": cell.pattern,
        "file_bytes": region_bytes,
        "record_bytes": cell.block_bytes,
        "file_kib": region_bytes as f64 / 1024.0,
        "record_kib": cell.block_bytes.map(|bytes| bytes as f64 / 1024.0),
        "clients": parts.len(),
        "outstanding": spec.outstanding,
        "skipped": skipped(&parts),
    });
    if json["skipped"].is_null()
        && let (Some(all), Value::Object(figures)) = (json.as_object_mut(), figures(spec, index, machines, &parts))
    {
        all.extend(figures);
    }
    json
}

fn skipped(parts: &[&CellFigures]) -> Option<String> {
    let granule = parts.iter().map(|part| part.refused_granule).max().unwrap_or(0);
    if granule > 0 {
        return Some(format!("direct I/O here needs multiples of {granule} bytes"));
    }
    // A cell that was done without a transfer is no cell that was left out: nothing moved, and that is its result.
    (parts.is_empty() || parts.iter().any(|part| !part.done))
        .then(|| "the trial ended before this cell was done".to_owned())
}

fn figures(spec: &BlocksSpec, index: usize, machines: &[Machine], parts: &[&CellFigures]) -> Value {
    let rates: Vec<(f64, f64)> = parts.iter().map(|part| part.rates(spec.outstanding)).collect();
    let (ios_per_s, rate) = rates.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    let reads = sum_direction(parts, |part| part.reads);
    let writes = sum_direction(parts, |part| part.writes);
    let started_ns = parts.iter().map(|part| part.from_ns).min().unwrap_or(0);
    let ends = || parts.iter().map(|part| part.to_ns.saturating_sub(started_ns) as f64 / 1e9);
    let per_part = |part: &CellFigures| part.reads.bytes + part.writes.bytes;
    let outside_ns: u64 = parts.iter().map(|part| part.outside_ns).sum();
    let total = |pick: fn(&CellFigures) -> u64| parts.iter().map(|part| pick(part)).sum::<u64>();
    let figures = json!({
        "empty": reads.ios + writes.ios == 0,
        "stretched": parts.iter().any(|part| part.stretched),
        "bytes": reads.bytes + writes.bytes,
        "operations": reads.ios + writes.ios,
        "elapsed_s": elapsed_s(parts),
        // In its ramp nothing is counted.
        "late_s": (machines.len() > 1).then(|| (latest_ns(parts) as f64 / 1e9 - spec.ramp_up_s).max(0.0)),
        "rate_kib_s": rate / 1024.0,
        "rate_mb_s": rate / 1e6,
        "ios_per_s": ios_per_s,
        "slowest_kib_s": rates.iter().map(|rate| rate.1).fold(f64::INFINITY, f64::min) / 1024.0,
        "fastest_kib_s": rates.iter().map(|rate| rate.1).fold(0.0, f64::max) / 1024.0,
        "slowest_bytes": parts.iter().map(|part| per_part(part)).min().unwrap_or(0),
        "per_client": parts.iter().zip(&rates).map(|(part, rate)| json!([per_part(part), rate.1 / 1024.0])).collect::<Vec<_>>(),
        "waited_shares": waited_shares(parts.iter().map(|part| part.span)),
        "first_done_s": ends().fold(f64::INFINITY, f64::min),
        "last_done_s": ends().fold(0.0, f64::max),
        "whole": true,
        "damaged": total(|part| part.damaged),
        "verify_s": if spec.verify && spec.outstanding == 1 { json!(outside_ns as f64 / 1e9) } else { Value::Null },
        "reads": direction_json(&reads),
        "writes": direction_json(&writes),
        "transactions": {
            "count": total(|part| part.transactions),
            "total_ns": total(|part| part.transaction_sum_ns),
            "max_ns": parts.iter().map(|part| part.transaction_max_ns).max().unwrap_or(0),
        },
        "bins": (0..=BINS_NS.len()).map(|bin| parts.iter().map(|part| part.bins[bin]).sum::<u64>()).collect::<Vec<_>>(),
        "cpu_us_per_io": cpu_us_per_io(index, machines, total(|part| part.whole.ios)),
    });
    with_caches(figures, &coldness(spec, index, machines), &judgement(spec, index, machines))
}

/// How much later than all were to begin it the last session did, ns.
fn latest_ns(parts: &[&CellFigures]) -> u64 {
    parts.iter().map(|part| part.late_ns).max().unwrap_or(0)
}

/// CPU time of the processes that sent the load for one transfer, µs: ramp and measured time together.
fn cpu_us_per_io(index: usize, machines: &[Machine], ios: u64) -> Option<f64> {
    let used = |machine: &Machine| {
        let (before, after) = counters(&machine.cell(index))?;
        Some(after.process_cpu_ns?.saturating_sub(before.process_cpu_ns?))
    };
    let used_ns: u64 = machines.iter().map(used).sum::<Option<u64>>()?;
    (ios > 0).then(|| used_ns as f64 / 1e3 / ios as f64)
}

/// Copies the percentiles of single operations, ns, into the cells, and makes the trial's window the sum of the
/// cells' measured times: preparing the region and ramps are no part of it.
pub(super) fn complete(result: &mut TrialResult) {
    add_percentiles(result);
    let done = cells_of(&mut result.workload).filter(|cell| cell["skipped"].is_null());
    let all_s: f64 = done.map(|cell| cell["elapsed_s"].as_f64().unwrap_or(0.0)).sum();
    // One of several machines has no cells, which are those of all.
    let window_s = result.workload["measured_s"].as_f64().unwrap_or(all_s);
    if window_s > 0.0 {
        result.window_s = window_s;
    }
}
