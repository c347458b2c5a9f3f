//! From the threads' counts to the result of a trial.

use crate::recorder::{ClientFigures, OperationFigures, PlannedFigures, Queue, Steps};
use crate::series::Row;
use crate::{ErrorClass, LatencyHistogram, Recorder, SECOND_NS, SharedTimes, deserialize, serialize, summarize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// What a load-generating thread knows about itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadFigures {
    /// CPU time of the thread inside the window, ns.
    pub cpu_ns: u64,
    /// Time inside the window that the thread was ready and waited for a processor, ns; `None` where nobody measured it.
    pub run_delay_ns: Option<u64>,
    /// Length of the window as this thread lived it, ns.
    pub window_ns: u64,
    /// Of the CPU time, what went into looking for replies in vain, ns.
    pub polled_ns: u64,
    /// Operations still running when the trial ended.
    pub unfinished: u64,
    /// Age of the oldest of them, ns.
    pub oldest_unfinished_ns: u64,
    /// Time inside the window that went into filling and checking data, outside all operations, ns.
    pub outside_ns: u64,
}

/// When traffic was to start and when the last load thread did, ns of the machine's monotonic clock; and by its wall
/// clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartFigures {
    /// As it was told; where that was "at once", as soon as all were ready.
    pub planned_ns: u64,
    /// As it was.
    pub real_ns: u64,
    /// The moment from which the trial counts, since 1970, UTC: logs of servers are read by it.
    pub unix_ns: u64,
}

/// What the process knows about the trial as a whole.
#[derive(Debug, Clone, Default)]
pub struct GeneratorFigures {
    /// When traffic started; `None` when it never did.
    pub start: Option<StartFigures>,
    /// From first to last moment of traffic, ns.
    pub elapsed_ns: u64,
    /// Stopped before its time.
    pub cancelled: bool,
    /// The trial could not be run to its end.
    pub fatal: Option<String>,
    /// Resident memory at the end, bytes.
    pub rss_bytes: u64,
    /// Extra figures of the transport, added under `connections`.
    pub transport: Map<String, Value>,
    /// What happened to the process and its machine meanwhile, added under `generator`.
    pub disturbances: Value,
    /// Extra figures of the workload.
    pub workload: Value,
    /// The clients of this machine, when it drives only some: its result can then be merged with the others'.
    pub slice: Option<Range<u32>>,
}

/// A finished trial: JSON and the histograms it names.
#[derive(Debug, Clone)]
pub struct TrialResult {
    /// The figures, see the reference of the run file.
    pub json: Value,
    /// V2 blobs by the names used in `json`.
    pub histograms: BTreeMap<String, Vec<u8>>,
}

pub(crate) struct Merged {
    clients: Vec<ClientFigures>,
    steps: Steps,
    split: Vec<(usize, Steps)>,
    session_steps: Vec<(String, LatencyHistogram)>,
    statuses: [u64; 6],
    outside: (u64, u64),
    pub(crate) late_start: LatencyHistogram,
    lag: LatencyHistogram,
    close: LatencyHistogram,
    connections: (u64, u64),
    late_closes: u64,
    pub(crate) planned: Option<PlannedFigures>,
}

const STATUS_NAMES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

pub(crate) fn merge_recorders(recorders: &[Recorder]) -> Merged {
    let clients = recorders.first().map_or(0, |recorder| recorder.clients.len());
    let mut merged = Merged {
        clients: vec![ClientFigures::default(); clients],
        steps: Steps::default(),
        split: Vec::new(),
        session_steps: recorders.first().map_or_else(Vec::new, |recorder| {
            recorder.session_steps.iter().map(|(name, _)| (name.clone(), LatencyHistogram::new())).collect()
        }),
        statuses: [0; 6],
        outside: (0, 0),
        late_start: LatencyHistogram::new(),
        lag: LatencyHistogram::new(),
        close: LatencyHistogram::lazy(),
        connections: (0, 0),
        late_closes: 0,
        planned: None,
    };
    for recorder in recorders {
        for (total, part) in merged.clients.iter_mut().zip(&recorder.clients) {
            total.operations += part.operations;
            total.errors += part.errors;
            total.bytes_in += part.bytes_in;
            total.busy_ns += part.busy_ns;
        }
        merged.steps.add(&recorder.steps);
        for (operation, part) in recorder.split.iter().enumerate() {
            let Some(part) = part else { continue };
            if let Some((_, total)) = merged.split.iter_mut().find(|(other, _)| *other == operation) {
                total.add(part);
            } else {
                let mut total = Steps::default();
                total.add(part);
                merged.split.push((operation, total));
            }
        }
        for (total, part) in merged.session_steps.iter_mut().zip(&recorder.session_steps) {
            total.1.add(&part.1);
        }
        for (total, part) in merged.statuses.iter_mut().zip(recorder.statuses) {
            *total += part;
        }
        merged.outside.0 += recorder.outside_operations;
        merged.outside.1 += recorder.outside_errors;
        recorder.late_start.add_to(&mut merged.late_start);
        merged.lag.add(&recorder.lag);
        merged.close.add(&recorder.close);
        merged.late_closes += recorder.late_closes;
        merged.connections.0 += recorder.connections_opened;
        merged.connections.1 += recorder.connections_failed;
        if let Some(planned) = &recorder.planned {
            let (operations, queue) = (recorder.operations.len(), planned.queue.as_ref().map(|_| Queue::new()));
            merged.planned.get_or_insert_with(|| PlannedFigures::new(operations, queue)).add(planned);
        }
    }
    merged
}

fn errors_json(errors: &[u64; ErrorClass::COUNT]) -> Value {
    let named = ErrorClass::ALL.iter().zip(errors).filter(|(_, count)| **count > 0);
    named.map(|(class, &count)| (class.name().to_owned(), json!(count))).collect::<Map<_, _>>().into()
}

/// Histograms that only slices have: their summaries stand in a trial's figures.
pub(crate) const LATE_START: &str = "late_start";
pub(crate) const LAG: &str = "lag";

/// Histograms of loads that plan their starts: times from those, and how late those were that found no free lane.
pub(crate) const RESPONSE: &str = "response";
pub(crate) const LATE: &str = "late";

/// The name of a second's histogram, which only slices have.
pub(crate) fn second_key(second: u64) -> String {
    format!("second/{second}")
}

/// The second-by-second rows of all threads, added up; their histograms go to `kept`, if there is one.
///
/// There are no holes: a second in which nothing ended is a row of zeros. `elapsed_ns` is how long traffic lasted.
fn series_json(recorders: &mut [Recorder], elapsed_ns: u64, mut kept: Option<&mut BTreeMap<String, Vec<u8>>>) -> Value {
    let Some(first) = recorders.first().filter(|first| !first.series.is_none()) else { return json!([]) };
    let timeline = *first.timeline();
    let planned_ns = timeline.end_ns - timeline.start_ns;
    let lived_ns = if elapsed_ns == 0 { planned_ns } else { elapsed_ns.min(planned_ns) };
    let length_s = lived_ns as f64 / 1e9;
    let count = lived_ns.div_ceil(SECOND_NS).max(1);
    let mut parts: Vec<_> =
        recorders.iter_mut().map(|recorder| recorder.finish_series().into_iter().peekable()).collect();
    // One histogram for all rows, each in its turn: one for each would take a quarter of a MiB for a second.
    let mut histogram = LatencyHistogram::new();
    let rows = (0..count).map(|second| {
        let (mut operations, mut errors, mut bytes_in) = (0, 0, 0);
        histogram.clear();
        // What ends just after the end belongs to the last row.
        let due = |row: &Row| row.index <= second || second + 1 == count;
        for part in &mut parts {
            while let Some(row) = part.next_if(due) {
                operations += row.operations;
                errors += row.errors;
                bytes_in += row.bytes_in;
                if let Ok(part) = deserialize(&row.blob) {
                    histogram.add_raw(&part);
                }
            }
        }
        if let Some(kept) = kept.as_mut().filter(|_| histogram.count() > 0) {
            kept.insert(second_key(second), serialize(&histogram));
        }
        json!({
            "second": second,
            // The last row is as narrow as the trial's end makes it.
            "width_s": (length_s - second as f64).clamp(0.0, 1.0),
            "phase": timeline.phase(timeline.start_ns + second * SECOND_NS).name(),
            "operations": operations,
            "errors": errors,
            "bytes_in": bytes_in,
            "service": summarize(&histogram.to_hdr()),
        })
    });
    rows.collect::<Vec<_>>().into()
}

/// The steps of all operations together, those that the workload told, and those of the operations whose steps are
/// kept apart.
fn steps_json(merged: &Merged, operations: &[String], histograms: &mut BTreeMap<String, Vec<u8>>) -> Vec<Value> {
    let all = merged.steps.named().map(|(name, step)| (name.to_owned(), step));
    let split = merged.split.iter().flat_map(|(operation, steps)| {
        steps.named().map(|(name, step)| (format!("{}/{name}", operations[*operation]), step))
    });
    let told = merged.session_steps.iter().map(|(name, step)| (name.clone(), step));
    let close = std::iter::once(("close".to_owned(), &merged.close));
    let recorded = all.into_iter().chain(close).chain(told).chain(split).filter(|(_, step)| step.count() > 0);
    recorded
        .map(|(name, step)| {
            let key = format!("step/{name}");
            histograms.insert(key.clone(), serialize(step));
            json!({"name": name, "summary": summarize(&step.to_hdr()), "histogram": key})
        })
        .collect()
}

/// What a load with planned starts asked for and got; null for a closed loop, which plans none.
fn starts_json(planned: Option<&PlannedFigures>, histograms: &mut BTreeMap<String, Vec<u8>>) -> Value {
    planned.map_or(Value::Null, |planned| {
        histograms.insert(LATE.to_owned(), serialize(&planned.late));
        json!({
            "offered": planned.offered,
            "started": planned.started,
            "never_started": planned.offered.saturating_sub(planned.started),
            "answered": planned.answered,
            "fates": planned.fates.map(|fates| json!({
                "answered": fates.answered, "failed": fates.failed, "open": fates.open,
            })),
            "late": summarize(&planned.late.to_hdr()),
            "late_histogram": LATE,
            "ran_out": planned.ran_out,
            "connections_used": planned.connections_used,
            "queue": planned.queue.as_ref().map(Queue::lengths),
        })
    })
}

/// The response times of one operation over all threads.
fn merge_response(recorders: &[Recorder], merged: &mut Merged, index: usize) -> Option<LatencyHistogram> {
    let planned = merged.planned.as_mut()?;
    let mut total = std::mem::replace(&mut planned.response[index], LatencyHistogram::lazy());
    if let Some((log, operations)) = shared_times(recorders) {
        log.add_to(operations + index, &mut total);
    }
    Some(total)
}

/// The histograms that all threads of a trial share, if they do: service times by operation, then response times.
fn shared_times(recorders: &[Recorder]) -> Option<(&SharedTimes, usize)> {
    let recorder = recorders.first()?;
    recorder.log.as_ref().map(|log| (log.shared(), recorder.operations.len()))
}

/// The figures of one operation over all threads. One at a time: a matrix has thousands, each with a histogram.
fn merge_operation(recorders: &[Recorder], index: usize) -> OperationFigures {
    let mut total = OperationFigures::lazy();
    for recorder in recorders {
        total.add(&recorder.operations[index]);
    }
    if let Some((log, _)) = shared_times(recorders) {
        log.add_to(index, &mut total.service);
    }
    total
}

fn generator_json(merged: &Merged, threads: &[ThreadFigures], figures: &GeneratorFigures, operations: u64) -> Value {
    let cpu_ns: u64 = threads.iter().map(|thread| thread.cpu_ns).sum();
    // The busiest thread decides: one that is full hides behind the mean of many.
    let share = |part: fn(&ThreadFigures) -> u64| {
        let lived = threads.iter().filter(|thread| thread.window_ns > 0);
        lived.map(|thread| part(thread) as f64 / thread.window_ns as f64).fold(0.0, f64::max)
    };
    // What one thread does not tell may be the longest wait of all.
    let waited = || {
        let lived: Vec<_> = threads.iter().filter(|thread| thread.window_ns > 0).collect();
        let shares = lived.iter().map(|thread| Some(thread.run_delay_ns? as f64 / thread.window_ns as f64));
        let shares: Vec<f64> = shares.collect::<Option<_>>()?;
        shares.into_iter().reduce(f64::max)
    };
    json!({
        "cpu_s": cpu_ns as f64 / 1e9,
        "cpu_share": share(|thread| thread.cpu_ns),
        "busy_share": share(|thread| thread.cpu_ns.saturating_sub(thread.polled_ns)),
        "polled_s": threads.iter().map(|thread| thread.polled_ns).sum::<u64>() as f64 / 1e9,
        "run_delay_share": waited(),
        "cpu_us_per_operation": if operations == 0 { 0.0 } else { cpu_ns as f64 / 1e3 / operations as f64 },
        "threads": threads.len(),
        "late_start": summarize(&merged.late_start.to_hdr()),
        "lag": summarize(&merged.lag.to_hdr()),
        "rss_bytes": figures.rss_bytes,
        "disturbances": figures.disturbances,
    })
}

/// Merges what the threads counted into the result of the trial.
///
/// `operations` are the names of the workload's operations.
pub fn collect(
    operations: &[String],
    mut recorders: Vec<Recorder>,
    threads: &[ThreadFigures],
    figures: &GeneratorFigures,
) -> TrialResult {
    let mut merged = merge_recorders(&recorders);
    let mut histograms = BTreeMap::new();
    let mut service = LatencyHistogram::new();
    let mut errors = [0; ErrorClass::COUNT];
    let mut totals = (0_u64, 0_u64, 0_u64);
    let mut per_operation = Vec::with_capacity(operations.len());
    for (index, name) in operations.iter().enumerate() {
        let part = merge_operation(&recorders, index);
        service.add(&part.service);
        totals = (totals.0 + part.operations, totals.1 + part.bytes_in, totals.2 + part.bytes_out);
        for (total, count) in errors.iter_mut().zip(part.errors()) {
            *total += count;
        }
        let part_response = merge_response(&recorders, &mut merged, index);
        let (key, response_key) = (format!("op/{name}"), format!("response/{name}"));
        per_operation.push(json!({
            "name": name, "operations": part.operations, "errors": errors_json(&part.errors()),
            "bytes_in": part.bytes_in, "bytes_out": part.bytes_out,
            "service": summarize(&part.service.to_hdr()), "histogram": key,
            "response": part_response.as_ref().map(|response| summarize(&response.to_hdr())),
            "response_histogram": part_response.as_ref().map(|_| &response_key),
        }));
        if let Some(response) = part_response.filter(|response| response.count() > 0) {
            histograms.insert(response_key, serialize(&response));
        }
        if part.service.count() > 0 {
            histograms.insert(key, serialize(&part.service));
        }
    }
    let steps = steps_json(&merged, operations, &mut histograms);
    histograms.insert("service".to_owned(), serialize(&service));
    let response = merged.planned.as_ref().map(|planned| &planned.turns);
    if let Some(response) = response {
        histograms.insert(RESPONSE.to_owned(), serialize(response));
    }
    if figures.slice.is_some() {
        histograms.insert(LATE_START.to_owned(), serialize(&merged.late_start));
        histograms.insert(LAG.to_owned(), serialize(&merged.lag));
    }
    let per_second =
        series_json(&mut recorders, figures.elapsed_ns, figures.slice.is_some().then_some(&mut histograms));

    let starts = starts_json(merged.planned.as_ref(), &mut histograms);

    let window_ns = threads.iter().map(|thread| thread.window_ns).max().unwrap_or(0);
    let statuses = STATUS_NAMES.iter().zip(merged.statuses).filter(|(name, n)| *n > 0 && **name != "none");
    let mut connections = figures.transport.clone();
    connections.insert("opened".to_owned(), json!(merged.connections.0));
    connections.insert("failed".to_owned(), json!(merged.connections.1));
    if merged.late_closes > 0 {
        connections.insert("late_closes".to_owned(), json!(merged.late_closes));
    }
    let per_client: Vec<_> = merged
        .clients
        .iter()
        .enumerate()
        .filter(|(client, _)| figures.slice.as_ref().is_none_or(|own| own.contains(&(*client as u32))))
        // Of the many connections that a rate may have, those that did something.
        .filter(|(_, part)| merged.planned.is_none() || part.operations + part.errors > 0)
        .map(|(client, part)| {
            json!({"client": client, "operations": part.operations, "errors": part.errors,
               "bytes_in": part.bytes_in, "busy_s": part.busy_ns as f64 / 1e9})
        })
        .collect();
    let json = json!({
        "window_s": window_ns as f64 / 1e9,
        "elapsed_s": figures.elapsed_ns as f64 / 1e9,
        "start": figures.start.map(|start| json!({
            "planned_ns": start.planned_ns, "real_ns": start.real_ns, "unix_ns": start.unix_ns,
        })),
        "cancelled": figures.cancelled,
        "fatal": figures.fatal,
        "operations": totals.0,
        "errors_total": errors.iter().sum::<u64>(),
        "bytes_in": totals.1,
        "bytes_out": totals.2,
        "errors": errors_json(&errors),
        "outside": {"operations": merged.outside.0, "errors_total": merged.outside.1},
        "unfinished": {
            "operations": threads.iter().map(|thread| thread.unfinished).sum::<u64>(),
            "oldest_s": threads.iter().map(|t| t.oldest_unfinished_ns).max().unwrap_or(0) as f64 / 1e9,
        },
        "statuses": statuses.map(|(name, n)| ((*name).to_owned(), json!(n))).collect::<Map<_, _>>(),
        "service": summarize(&service.to_hdr()),
        "histogram": "service",
        "starts": starts,
        "response": response.as_ref().map(|response| summarize(&response.to_hdr())),
        "response_histogram": response.as_ref().map(|_| RESPONSE),
        "per_operation": per_operation,
        "steps": steps,
        "per_second": per_second,
        "per_client": per_client,
        "connections": connections,
        "generator": generator_json(&merged, threads, figures, totals.0 + errors.iter().sum::<u64>()),
        "workload": figures.workload,
    });
    TrialResult { json, histograms }
}
