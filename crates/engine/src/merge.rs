//! From the results of a trial's slices to the result of the trial.
//!
//! What several machines measured comes together as it crossed the seam, JSON and histograms: counts add up, histograms
//! add their counts and their percentiles are computed anew, and of load threads the busiest counts. The result is the
//! one that a single machine with all the threads would have given.

mod figures;

use crate::result::{LAG, LATE, LATE_START, RESPONSE, second_key};
use crate::{HistogramError, LatencyHistogram, TrialResult, deserialize, serialize, summarize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub use figures::add_counts;

/// What one machine measured of a trial.
#[derive(Debug, Clone)]
pub struct SliceResult {
    /// The machine's name.
    pub name: String,
    /// Figures and histograms, as [`crate::collect`] makes them for a slice.
    pub result: TrialResult,
}

/// Results that are none, or do not fit together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There is no slice at all.
    #[error("there is nothing to merge")]
    Nothing,
    /// A figure is missing or of another type.
    #[error("the result of {name} has no figure `{figure}`")]
    Missing {
        /// The machine's name.
        name: String,
        /// Where the figure should be.
        figure: String,
    },
    /// The slices are not of one trial.
    #[error("{name} has done other operations than {first}")]
    Unlike {
        /// The machine that differs.
        name: String,
        /// The one it differs from.
        first: String,
    },
    /// What the machines tell of their sessions does not come together.
    #[error("{0}")]
    Figures(String),
    /// A histogram that cannot be read.
    #[error("a histogram of {name}: {error}")]
    Histogram {
        /// The machine's name.
        name: String,
        /// What is wrong with it.
        error: HistogramError,
    },
}

type Figures<T> = Result<T, MergeError>;
type Blobs = BTreeMap<String, Vec<u8>>;

/// One row of a list in a slice's figures: which machine told it, and the row.
type Told<'a> = (&'a SliceResult, &'a Value);

impl SliceResult {
    fn whole(&self) -> Told<'_> {
        (self, &self.result.json)
    }

    fn list(&self, figure: &str) -> Figures<Vec<Told<'_>>> {
        let list = self.result.json[figure].as_array().ok_or_else(|| self.missing(figure))?;
        Ok(list.iter().map(|row| (self, row)).collect())
    }

    fn missing(&self, figure: &str) -> MergeError {
        MergeError::Missing { name: self.name.clone(), figure: figure.to_owned() }
    }
}

/// The sum of a whole number over all rows.
fn total(rows: &[Told<'_>], pointer: &str) -> Figures<u64> {
    rows.iter().try_fold(0, |sum, (slice, row)| {
        Ok(sum + row.pointer(pointer).and_then(Value::as_u64).ok_or_else(|| slice.missing(pointer))?)
    })
}

/// The sum of seconds, added as whole nanoseconds: so it is the same in any order.
fn total_ns(rows: &[Told<'_>], pointer: &str) -> Figures<u64> {
    rows.iter().try_fold(0, |sum, (slice, row)| {
        let seconds = row.pointer(pointer).and_then(Value::as_f64).ok_or_else(|| slice.missing(pointer))?;
        Ok(sum + (seconds * 1e9).round() as u64)
    })
}

/// The largest of a number over all rows.
fn most(rows: &[Told<'_>], pointer: &str) -> Figures<f64> {
    rows.iter().try_fold(0.0, |most, (slice, row)| {
        Ok(row.pointer(pointer).and_then(Value::as_f64).ok_or_else(|| slice.missing(pointer))?.max(most))
    })
}

/// The same of a number that some machines cannot measure; `None` when one of them did not.
fn most_if_all(rows: &[Told<'_>], pointer: &str) -> Option<f64> {
    let told = rows.iter().map(|(_, row)| row.pointer(pointer).and_then(Value::as_f64));
    told.collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::max)
}

/// Counts by name, added up.
fn counts(rows: &[Told<'_>], figure: &str) -> Value {
    let sums = add_counts(&rows.iter().map(|(_, row)| &row[figure]).collect::<Vec<_>>());
    if sums.is_null() { json!({}) } else { sums }
}

/// Adds all slices' histograms of a name to `total`.
fn add_histograms(slices: &[SliceResult], key: &str, total: &mut LatencyHistogram) -> Figures<()> {
    for slice in slices {
        let Some(blob) = slice.result.histograms.get(key) else { continue };
        let part = deserialize(blob).map_err(|error| MergeError::Histogram { name: slice.name.clone(), error })?;
        total.add_raw(&part);
    }
    Ok(())
}

/// The summary of all slices' histograms of a name.
fn summary(slices: &[SliceResult], key: &str) -> Figures<Value> {
    let mut histogram = LatencyHistogram::lazy();
    add_histograms(slices, key, &mut histogram)?;
    Ok(summarize(&histogram.to_hdr()))
}

/// The same, and the histogram is kept when something is in it.
fn kept_summary(slices: &[SliceResult], key: &str, kept: &mut Blobs) -> Figures<Value> {
    let mut histogram = LatencyHistogram::lazy();
    add_histograms(slices, key, &mut histogram)?;
    if histogram.count() > 0 {
        kept.insert(key.to_owned(), serialize(&histogram));
    }
    Ok(summarize(&histogram.to_hdr()))
}

/// The same of those that are there even when nothing is in them.
fn always_kept(slices: &[SliceResult], key: &str, kept: &mut Blobs) -> Figures<Value> {
    let summary = kept_summary(slices, key, kept)?;
    kept.entry(key.to_owned()).or_insert_with(|| serialize(&LatencyHistogram::lazy()));
    Ok(summary)
}

/// Turns that were due and not over: those of all machines together, where each has told as many moments.
fn queue(rows: &[Told<'_>]) -> Option<Vec<i64>> {
    let lengths =
        |row: &Value| row["starts"]["queue"].as_array()?.iter().map(Value::as_i64).collect::<Option<Vec<_>>>();
    let told = rows.iter().map(|(_, row)| lengths(row)).collect::<Option<Vec<_>>>()?;
    let (first, others) = told.split_first()?;
    if others.iter().any(|other| other.len() != first.len()) {
        return None;
    }
    Some((0..first.len()).map(|at| told.iter().map(|lengths| lengths[at]).sum()).collect())
}

/// What became of the planned starts, where all machines tell it.
fn fates(rows: &[Told<'_>]) -> Figures<Value> {
    if rows.iter().any(|(_, row)| row["starts"]["fates"].is_null()) {
        return Ok(Value::Null);
    }
    Ok(json!({
        "answered": total(rows, "/starts/fates/answered")?,
        "failed": total(rows, "/starts/fates/failed")?,
        "open": total(rows, "/starts/fates/open")?,
    }))
}

/// What a load with planned starts asked for and got: each start is that of one slice.
fn starts(slices: &[SliceResult], rows: &[Told<'_>], kept: &mut Blobs) -> Figures<Value> {
    Ok(json!({
        "offered": total(rows, "/starts/offered")?,
        "started": total(rows, "/starts/started")?,
        "never_started": total(rows, "/starts/never_started")?,
        "answered": total(rows, "/starts/answered")?,
        "fates": fates(rows)?,
        "late": always_kept(slices, LATE, kept)?,
        "late_histogram": LATE,
        "ran_out": total(rows, "/starts/ran_out")?,
        "connections_used": total(rows, "/starts/connections_used")?,
        "queue": queue(rows),
    }))
}

fn per_operation(slices: &[SliceResult], planned: bool, kept: &mut Blobs) -> Figures<Vec<Value>> {
    let lists = slices.iter().map(|slice| slice.list("per_operation")).collect::<Figures<Vec<_>>>()?;
    let names = |list: &[Told<'_>]| list.iter().map(|(_, row)| row["name"].clone()).collect::<Vec<_>>();
    for list in &lists {
        if names(list) != names(&lists[0]) {
            let (name, first) = (list.first().map_or("a slice", |row| &row.0.name), &slices[0].name);
            return Err(MergeError::Unlike { name: name.to_owned(), first: first.clone() });
        }
    }
    (0..lists[0].len())
        .map(|index| {
            let rows: Vec<_> = lists.iter().map(|list| list[index]).collect();
            let name = rows[0].1["name"].as_str().ok_or_else(|| rows[0].0.missing("name"))?;
            let key = format!("op/{name}");
            let response = format!("response/{name}");
            Ok(json!({
                "name": name, "operations": total(&rows, "/operations")?, "errors": counts(&rows, "errors"),
                "bytes_in": total(&rows, "/bytes_in")?, "bytes_out": total(&rows, "/bytes_out")?,
                "service": kept_summary(slices, &key, kept)?, "histogram": key,
                "response": planned.then(|| kept_summary(slices, &response, kept)).transpose()?,
                "response_histogram": planned.then_some(response),
            }))
        })
        .collect()
}

/// The engine's own steps, in the order of results; those of the workload follow.
const OWN_STEPS: [&str; 7] = ["connect", "tls", "stream", "written", "first_byte", "transfer", "close"];

/// Every slice lists the steps that it has seen, in one order.
fn steps(slices: &[SliceResult], kept: &mut Blobs) -> Figures<Vec<Value>> {
    let mut names: Vec<&str> = Vec::new();
    for slice in slices {
        let mut place = names.len();
        for (_, row) in slice.list("steps")?.into_iter().rev() {
            let name = row["name"].as_str().ok_or_else(|| slice.missing("steps"))?;
            match names.iter().position(|other| *other == name) {
                Some(found) => place = found,
                None => names.insert(place, name),
            }
        }
    }
    names.sort_by_key(|name| OWN_STEPS.iter().position(|own| own == name).unwrap_or(OWN_STEPS.len()));
    let step = |name: &str| {
        let key = format!("step/{name}");
        Ok(json!({"name": name, "summary": kept_summary(slices, &key, kept)?, "histogram": key}))
    };
    names.into_iter().map(step).collect()
}

fn per_second(slices: &[SliceResult]) -> Figures<Vec<Value>> {
    let lists = slices.iter().map(|slice| slice.list("per_second")).collect::<Figures<Vec<_>>>()?;
    let seconds = lists.iter().map(Vec::len).max().unwrap_or(0);
    // One histogram for all rows, each in its turn.
    let mut histogram = LatencyHistogram::new();
    let row = |second: usize| {
        let rows: Vec<_> = lists.iter().filter_map(|list| list.get(second).copied()).collect();
        histogram.clear();
        add_histograms(slices, &second_key(second as u64), &mut histogram)?;
        Ok(json!({
            "second": second, "width_s": most(&rows, "/width_s")?, "phase": rows[0].1["phase"],
            "operations": total(&rows, "/operations")?, "errors": total(&rows, "/errors")?,
            "bytes_in": total(&rows, "/bytes_in")?, "service": summarize(&histogram.to_hdr()),
        }))
    };
    (0..seconds).map(row).collect()
}

fn per_client(slices: &[SliceResult]) -> Figures<Vec<Value>> {
    let lists = slices.iter().map(|slice| slice.list("per_client")).collect::<Figures<Vec<_>>>()?;
    let mut clients: Vec<_> = lists.into_iter().flatten().map(|(_, row)| row.clone()).collect();
    clients.sort_by_key(|row| row["client"].as_u64());
    Ok(clients)
}

/// All are counts but the size that the kernel gave a buffer.
fn connections(rows: &[Told<'_>]) -> Value {
    const BUFFER: &str = "receive_buffer_bytes";
    let mut sums = counts(rows, "connections");
    let largest = rows.iter().filter_map(|(_, row)| row["connections"][BUFFER].as_u64()).max();
    if let Some(largest) = largest {
        sums[BUFFER] = json!(largest);
    }
    sums
}

fn generator(slices: &[SliceResult], rows: &[Told<'_>], operations: u64) -> Figures<Value> {
    let cpu_ns = total_ns(rows, "/generator/cpu_s")?;
    Ok(json!({
        "cpu_s": cpu_ns as f64 / 1e9,
        "cpu_share": most(rows, "/generator/cpu_share")?,
        "busy_share": most(rows, "/generator/busy_share")?,
        "polled_s": total_ns(rows, "/generator/polled_s")? as f64 / 1e9,
        "run_delay_share": most_if_all(rows, "/generator/run_delay_share"),
        "cpu_us_per_operation": if operations == 0 { 0.0 } else { cpu_ns as f64 / 1e3 / operations as f64 },
        "threads": total(rows, "/generator/threads")?,
        "late_start": summary(slices, LATE_START)?,
        "lag": summary(slices, LAG)?,
        "rss_bytes": most(rows, "/generator/rss_bytes")? as u64,
        // Each machine has its own.
        "disturbances": null,
    }))
}

/// One result of the slices of a trial; `figures` is how those of its workload come together, or why they do not.
pub fn merge_slices(
    slices: &[SliceResult],
    figures: impl FnOnce(&[&Value]) -> Result<Value, String>,
) -> Result<TrialResult, MergeError> {
    if slices.is_empty() {
        return Err(MergeError::Nothing);
    }
    let rows: Vec<_> = slices.iter().map(SliceResult::whole).collect();
    let mut kept = Blobs::new();
    // All slices of a trial have one load.
    let planned = !rows[0].1["starts"].is_null();
    let (operations, errors) = (total(&rows, "/operations")?, total(&rows, "/errors_total")?);
    let fatal = rows.iter().find_map(|(slice, row)| Some(format!("{}: {}", slice.name, row["fatal"].as_str()?)));
    let json = json!({
        "window_s": most(&rows, "/window_s")?,
        "elapsed_s": most(&rows, "/elapsed_s")?,
        // Each machine has its own, of its own clock.
        "start": null,
        "cancelled": rows.iter().any(|(_, row)| row["cancelled"] == true),
        "fatal": fatal,
        "operations": operations,
        "errors_total": errors,
        "bytes_in": total(&rows, "/bytes_in")?,
        "bytes_out": total(&rows, "/bytes_out")?,
        "errors": counts(&rows, "errors"),
        "outside": {
            "operations": total(&rows, "/outside/operations")?,
            "errors_total": total(&rows, "/outside/errors_total")?,
        },
        "unfinished": {
            "operations": total(&rows, "/unfinished/operations")?,
            "oldest_s": most(&rows, "/unfinished/oldest_s")?,
        },
        "statuses": counts(&rows, "statuses"),
        "starts": if planned { starts(slices, &rows, &mut kept)? } else { Value::Null },
        "response": planned.then(|| always_kept(slices, RESPONSE, &mut kept)).transpose()?,
        "response_histogram": planned.then_some(RESPONSE),
        "per_operation": per_operation(slices, planned, &mut kept)?,
        "steps": steps(slices, &mut kept)?,
        "service": always_kept(slices, "service", &mut kept)?,
        "histogram": "service",
        "per_second": per_second(slices)?,
        "per_client": per_client(slices)?,
        "connections": connections(&rows),
        "generator": generator(slices, &rows, operations + errors)?,
        "workload": figures(&rows.iter().map(|(_, row)| &row["workload"]).collect::<Vec<_>>()).map_err(MergeError::Figures)?,
    });
    Ok(TrialResult { json, histograms: kept })
}

#[cfg(test)]
mod tests;
