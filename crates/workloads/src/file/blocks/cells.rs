//! The figures of cells: what each session kept, and what the trial says about a cell.

use super::Shared;
use super::session::BlocksSession;
use super::spec::BlocksSpec;
use crate::file::matrix::{Cache, Evidence, judge};
use bakeoff_engine::{FileResult, Nanos, Observation};
use serde_json::{Value, json};

/// Upper ends of the classes of response times in Iometer's results, ns; the last class has none.
const BINS_NS: [Nanos; 20] = [
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

/// Transfers in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Direction {
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    pub sum_ns: u64,
    pub max_ns: u64,
}

/// All operations of a cell, measured or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Whole {
    pub from_ns: Nanos,
    to_ns: Nanos,
    ios: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl Whole {
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
#[derive(Debug, Clone, Default)]
pub(super) struct CellFigures {
    pub done: bool,
    /// Direct I/O asks for multiples of this, which the cell's sizes are not; 0 when they are.
    pub refused_granule: u64,
    /// Measured time begins and ends; 0: not begun.
    pub from_ns: Nanos,
    pub to_ns: Nanos,
    /// It went on past its time, for want of transfers.
    pub stretched: bool,
    /// Filling and checking buffers inside it (kept where transfers are one at a time).
    pub outside_ns: Nanos,
    reads: Direction,
    writes: Direction,
    transactions: u64,
    transaction_sum_ns: u64,
    transaction_max_ns: u64,
    bins: [u64; BINS_NS.len() + 1],
    /// The cell with its ramp and its last transfers.
    pub whole: Whole,
    pub damaged: u64,
    pub damaged_at: u64,
    /// How cold the caches were made, see [`LEVELS`].
    pub level: u8,
    pub counters: Option<Box<(Observation, Observation)>>,
}

/// Fewer rounds of all outstanding transfers than this are too few for the window.
const WAVES: u64 = 8;

/// Names of the rungs of the ladder, and their numbers in results.
const LEVELS: [(&str, u8); 4] = [("warm", 0), ("dropped", 2), ("drop_caches", 3), ("command", 4)];

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

    fn elapsed_ns(&self) -> Nanos {
        self.to_ns.saturating_sub(self.from_ns).saturating_sub(self.outside_ns)
    }

    /// (transfers, bytes) per second of this session. Several at once that all take long end in waves: a window
    /// with few of them says little, so that the whole cell is taken then, from its start to its last end.
    fn rates(&self, outstanding: u32) -> (f64, f64) {
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
pub(super) fn cells(shared: &Shared, sessions: &[BlocksSession]) -> Vec<Value> {
    (0..shared.spec.cells.len()).map(|index| cell_json(shared, index, sessions)).collect()
}

fn cell_json(shared: &Shared, index: usize, sessions: &[BlocksSession]) -> Value {
    let (spec, cell) = (&shared.spec, &shared.spec.cells[index]);
    let parts: Vec<&CellFigures> = sessions.iter().map(|session| &session.figures[index]).collect();
    let mut json = json!({
        "operation": shared.operation(index),
        "test": cell.pattern,
        "file_bytes": spec.region_bytes,
        "record_bytes": cell.block_bytes,
        "file_kib": spec.region_bytes as f64 / 1024.0,
        "record_kib": cell.block_bytes.map(|bytes| bytes as f64 / 1024.0),
        "clients": parts.len(),
        "outstanding": spec.outstanding,
        "skipped": skipped(&parts),
    });
    if json["skipped"].is_null()
        && let (Some(all), Value::Object(figures)) = (json.as_object_mut(), figures(spec, &parts))
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

fn figures(spec: &BlocksSpec, parts: &[&CellFigures]) -> Value {
    let rates: Vec<(f64, f64)> = parts.iter().map(|part| part.rates(spec.outstanding)).collect();
    let (ios_per_s, rate) = rates.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    let reads = sum_direction(parts, |part| part.reads);
    let writes = sum_direction(parts, |part| part.writes);
    let started_ns = parts.iter().map(|part| part.from_ns).min().unwrap_or(0);
    let ends = || parts.iter().map(|part| part.to_ns.saturating_sub(started_ns) as f64 / 1e9);
    let per_part = |part: &CellFigures| part.reads.bytes + part.writes.bytes;
    let outside_ns: u64 = parts.iter().map(|part| part.outside_ns).sum();
    let total = |pick: fn(&CellFigures) -> u64| parts.iter().map(|part| pick(part)).sum::<u64>();
    let mut json = json!({
        "empty": reads.ios + writes.ios == 0,
        "stretched": parts.iter().any(|part| part.stretched),
        "bytes": reads.bytes + writes.bytes,
        "operations": reads.ios + writes.ios,
        "elapsed_s": parts.iter().map(|part| part.elapsed_ns()).max().unwrap_or(0) as f64 / 1e9,
        "rate_kib_s": rate / 1024.0,
        "rate_mb_s": rate / 1e6,
        "ios_per_s": ios_per_s,
        "slowest_kib_s": rates.iter().map(|rate| rate.1).fold(f64::INFINITY, f64::min) / 1024.0,
        "fastest_kib_s": rates.iter().map(|rate| rate.1).fold(0.0, f64::max) / 1024.0,
        "slowest_bytes": parts.iter().map(|part| per_part(part)).min().unwrap_or(0),
        "per_client": parts.iter().zip(&rates).map(|(part, rate)| json!([per_part(part), rate.1 / 1024.0])).collect::<Vec<_>>(),
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
        "cpu_us_per_io": cpu_us_per_io(parts, total(|part| part.whole.ios)),
    });
    if let (Some(all), Value::Object(cache)) = (json.as_object_mut(), cache(spec, parts)) {
        all.extend(cache);
    }
    json
}

fn counters(parts: &[&CellFigures]) -> Option<(Observation, Observation)> {
    parts.iter().find_map(|part| part.counters.as_deref().copied())
}

/// CPU time of this process for one transfer, µs: ramp and measured time together.
fn cpu_us_per_io(parts: &[&CellFigures], ios: u64) -> Option<f64> {
    let (before, after) = counters(parts)?;
    let used_ns = after.process_cpu_ns?.saturating_sub(before.process_cpu_ns?);
    (ios > 0).then(|| used_ns as f64 / 1e3 / ios as f64)
}

/// How cold the caches were, and whether a cache served the cell.
fn cache(spec: &BlocksSpec, parts: &[&CellFigures]) -> Value {
    let (before, after) = counters(parts).unwrap_or_default();
    let (name, level) =
        LEVELS[usize::from(parts.iter().map(|part| part.level).max().unwrap_or(0)).min(LEVELS.len() - 1)];
    let moved = |pick: fn(&Whole) -> u64| parts.iter().map(|part| pick(&part.whole)).sum();
    let from_ns = parts.iter().map(|part| part.whole.from_ns).min().unwrap_or(0);
    let to_ns = parts.iter().map(|part| part.whole.to_ns).max().unwrap_or(0);
    let judgement = judge(&Evidence {
        read_bytes: moved(|whole| whole.read_bytes),
        written_bytes: moved(|whole| whole.written_bytes),
        elapsed_s: to_ns.saturating_sub(from_ns) as f64 / 1e9,
        direct: spec.direct,
        carrier: spec.carrier,
        link: spec.link_bytes_per_s,
        before,
        after,
        resident_pages: before.cached_pages,
        dirty_pages: after.dirty_pages,
        file_bytes: spec.region_bytes,
    });
    json!({
        "cache": {
            "asked": if spec.cache == Cache::Cold { "cold" } else { "warm" },
            "level": level,
            "name": name,
            "resident_pages": before.cached_pages,
            "resident_share": before.cached_pages.map(|pages| pages as f64 * 4096.0 / spec.region_bytes as f64),
            "proved": level >= 2 && before.cached_pages == Some(0),
        },
        "cached": judgement.cached,
        "cached_reason": judgement.reason,
        "carried_bytes": judgement.carried_bytes,
    })
}

/// Copies the percentiles of single operations, ns, into the cells, and makes the trial's window the sum of the
/// cells' measured times: preparing the region and ramps are no part of it.
pub(super) fn complete(result: &mut Value) {
    let services: Vec<Value> = result["per_operation"]
        .as_array()
        .map(|operations| operations.iter().map(|operation| operation["service"].clone()).collect())
        .unwrap_or_default();
    let mut window_s = 0.0;
    if let Some(cells) = result["workload"]["cells"].as_array_mut() {
        for (cell, service) in cells.iter_mut().zip(services) {
            if cell["skipped"].is_null() {
                cell["service"] = service;
                window_s += cell["elapsed_s"].as_f64().unwrap_or(0.0);
            }
        }
    }
    if window_s > 0.0 {
        result["window_s"] = json!(window_s);
    }
}
