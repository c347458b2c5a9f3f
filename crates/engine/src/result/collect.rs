//! From the threads' counts to the result of the trial.

use super::measurement::{Cost, Counted, Counts, Times, share};
use super::merge::Merge;
use crate::recorder::series::Row;
use crate::recorder::{ClientFigures, PlannedFigures, Queue, Steps};
use crate::result::{
    Client, Connections, Disturbances, Generator, OperationResult, OutsideWindow, Second, StartFigures, Starts, Step,
    TrialResult, Unfinished,
};
use crate::{LatencyHistogram, Nanos, Recorder, SECOND_NS, SharedTimes, deserialize};
use serde_json::Value;
use std::ops::Range;

/// What a load-generating thread knows about itself.
#[derive(Debug, Clone, Default)]
pub struct ThreadFigures {
    /// Length of the window as this thread lived it, ns.
    pub window_ns: Nanos,
    /// What the load cost in the window.
    pub cost: Generator,
    /// What its transport knows of connections.
    pub connections: Connections,
    /// What still ran when the trial ended.
    pub unfinished: Unfinished,
    /// Time inside the window that went into filling and checking data, outside all operations, ns.
    pub outside_ns: Nanos,
}

impl Generator {
    /// Of one thread that lived for `window_ns`, ran for `cpu_ns` of them, of which `polled_ns` went into looking for
    /// replies in vain, and waited for a processor for `run_delay_ns`.
    pub fn of_thread(window_ns: Nanos, cpu_ns: Nanos, polled_ns: Nanos, run_delay_ns: Option<Nanos>) -> Self {
        Self {
            cost: Cost::of_thread(window_ns, cpu_ns, run_delay_ns),
            cpu_s: cpu_ns as f64 / 1e9,
            busy_share: share(cpu_ns.saturating_sub(polled_ns), window_ns),
            polled_s: polled_ns as f64 / 1e9,
            threads: 1,
            ..Self::default()
        }
    }
}

/// What the process knows about the trial as a whole.
#[derive(Debug, Clone, Default)]
pub struct GeneratorFigures {
    /// When traffic started; `None` when it never did.
    pub start: Option<StartFigures>,
    /// From first to last moment of traffic, ns.
    pub elapsed_ns: Nanos,
    /// Stopped before its time.
    pub cancelled: bool,
    /// The trial could not be run to its end.
    pub fatal: Option<String>,
    /// Resident memory at the end, bytes.
    pub rss_bytes: u64,
    /// What happened to the process and its machine meanwhile.
    pub disturbances: Option<Disturbances>,
    /// Extra figures of the workload.
    pub workload: Value,
    /// The clients of this machine, when it drives only some: its result can then be merged with the others'.
    pub slice: Option<Range<u32>>,
}

pub(crate) struct ThreadTotals {
    clients: Vec<ClientFigures>,
    steps: Steps,
    split: Vec<(usize, Steps)>,
    session_steps: Vec<(String, LatencyHistogram)>,
    statuses: [u64; 6],
    outside: OutsideWindow,
    pub(crate) late_start: LatencyHistogram,
    lag: LatencyHistogram,
    close: LatencyHistogram,
    connections: Connections,
    pub(crate) planned: Option<PlannedFigures>,
}

/// The first of them are operations without a status, which are not told.
const STATUS_NAMES: [&str; 6] = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];

pub(crate) fn gather(recorders: &[Recorder]) -> ThreadTotals {
    let clients = recorders.first().map_or(0, |recorder| recorder.clients.len());
    let mut all = ThreadTotals {
        clients: vec![ClientFigures::default(); clients],
        steps: Steps::default(),
        split: Vec::new(),
        session_steps: recorders.first().map_or_else(Vec::new, |recorder| {
            recorder.session_steps.iter().map(|(name, _)| (name.clone(), LatencyHistogram::new())).collect()
        }),
        statuses: [0; 6],
        outside: OutsideWindow::default(),
        late_start: LatencyHistogram::new(),
        lag: LatencyHistogram::new(),
        close: LatencyHistogram::lazy(),
        connections: Connections::default(),
        planned: None,
    };
    for recorder in recorders {
        for (total, part) in all.clients.iter_mut().zip(&recorder.clients) {
            total.counts.add(&part.counts);
            total.busy_ns += part.busy_ns;
        }
        all.steps.add(&recorder.steps);
        for (operation, part) in recorder.split.iter().enumerate() {
            let Some(part) = part else { continue };
            if let Some((_, total)) = all.split.iter_mut().find(|(other, _)| *other == operation) {
                total.add(part);
            } else {
                let mut total = Steps::default();
                total.add(part);
                all.split.push((operation, total));
            }
        }
        for (total, part) in all.session_steps.iter_mut().zip(&recorder.session_steps) {
            total.1.add(&part.1);
        }
        for (total, part) in all.statuses.iter_mut().zip(recorder.statuses) {
            *total += part;
        }
        all.outside.operations += recorder.outside_operations;
        all.outside.errors_total += recorder.outside_errors;
        recorder.late_start.add_to(&mut all.late_start);
        all.lag.add(&recorder.lag);
        all.close.add(&recorder.close);
        all.connections.late_closes += recorder.late_closes;
        all.connections.opened += recorder.connections_opened;
        all.connections.failed += recorder.connections_failed;
        if let Some(planned) = &recorder.planned {
            let (operations, queue) = (recorder.operations.len(), planned.queue.as_ref().map(|_| Queue::new()));
            all.planned.get_or_insert_with(|| PlannedFigures::new(operations, queue)).add(planned);
        }
    }
    all
}

/// Times of a slice: of a whole trial only the figures are told.
fn for_merging(is_slice: bool, times: &LatencyHistogram) -> Times {
    if is_slice { Times::of(times) } else { Times::told(times) }
}

/// The second-by-second rows of all threads, added up.
///
/// There are no holes: a second in which nothing ended is a row of zeros. `elapsed_ns` is how long traffic lasted.
fn seconds(recorders: &mut [Recorder], elapsed_ns: Nanos, is_slice: bool) -> Vec<Second> {
    let Some(first) = recorders.first().filter(|first| !first.series.is_none()) else { return Vec::new() };
    let timeline = *first.timeline();
    let planned_ns = timeline.end_ns - timeline.start_ns;
    let lived_ns = if elapsed_ns == 0 { planned_ns } else { elapsed_ns.min(planned_ns) };
    let length_s = lived_ns as f64 / 1e9;
    let count = lived_ns.div_ceil(SECOND_NS).max(1);
    let mut parts: Vec<_> =
        recorders.iter_mut().map(|recorder| recorder.finish_series().into_iter().peekable()).collect();
    // One histogram for all rows, each in its turn: one for each would take a quarter of a MiB for a second.
    let mut histogram = LatencyHistogram::new();
    let row = |second: u64| {
        let mut counts = Counts::default();
        histogram.clear();
        // What ends just after the end belongs to the last row.
        let due = |row: &Row| row.index <= second || second + 1 == count;
        for part in &mut parts {
            while let Some(row) = part.next_if(due) {
                counts.add(&row.counts);
                if let Ok(part) = deserialize(&row.blob) {
                    histogram.add_raw(&part);
                }
            }
        }
        Second {
            counts,
            second,
            width_s: (length_s - second as f64).clamp(0.0, 1.0),
            phase: timeline.phase(timeline.start_ns + second * SECOND_NS).name().to_owned(),
            service: for_merging(is_slice, &histogram),
        }
    };
    (0..count).map(row).collect()
}

/// The steps of all operations together, those that the workload told, and those of the operations whose steps are
/// kept apart.
fn steps(all: &ThreadTotals, operations: &[String]) -> Vec<Step> {
    let own = all.steps.named().map(|(name, step)| (name.to_owned(), step));
    let split = all.split.iter().flat_map(|(operation, steps)| {
        steps.named().map(|(name, step)| (format!("{}/{name}", operations[*operation]), step))
    });
    let told = all.session_steps.iter().map(|(name, step)| (name.clone(), step));
    let close = std::iter::once(("close".to_owned(), &all.close));
    let recorded = own.into_iter().chain(close).chain(told).chain(split).filter(|(_, step)| step.count() > 0);
    recorded.map(|(name, step)| Step { name, summary: Times::of(step) }).collect()
}

/// What a load with planned starts asked for and got.
fn starts(planned: &PlannedFigures) -> Starts {
    Starts {
        offered: planned.offered,
        started: planned.started,
        never_started: planned.offered.saturating_sub(planned.started),
        answered: planned.answered,
        fates: planned.fates,
        late: Times::of(&planned.late),
        ran_out: planned.ran_out,
        connections_used: planned.connections_used,
        queue: planned.queue.as_ref().map(Queue::lengths),
    }
}

/// The response times of one operation over all threads.
fn gather_response(recorders: &[Recorder], all: &mut ThreadTotals, index: usize) -> Option<LatencyHistogram> {
    let planned = all.planned.as_mut()?;
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

/// What was counted of one operation over all threads. One at a time: a matrix has thousands, each with a histogram.
fn gather_operation(recorders: &[Recorder], all: &mut ThreadTotals, index: usize) -> Counted {
    let mut total = Counted::lazy(false);
    recorders.iter().for_each(|recorder| recorder.operations[index].add_to(&mut total));
    if let Some((log, _)) = shared_times(recorders) {
        log.add_to(index, &mut total.service);
    }
    total.response = gather_response(recorders, all, index);
    total
}

/// The clients that are told of: under a rate, of the many connections that it may have, those that did something.
fn clients(all: &ThreadTotals, slice: Option<&Range<u32>>) -> Vec<Client> {
    let own = |client: usize| slice.is_none_or(|own| own.contains(&(client as u32)));
    let told = all.clients.iter().enumerate().filter(|(client, part)| {
        own(*client) && (all.planned.is_none() || part.counts.operations + part.counts.errors > 0)
    });
    let told = told.map(|(client, part)| Client {
        counts: part.counts,
        client: client as u64,
        busy_s: part.busy_ns as f64 / 1e9,
    });
    told.collect()
}

/// What threads know, together.
fn of_all<'a, T: Merge + Default + 'a>(
    threads: impl IntoIterator<Item = &'a ThreadFigures>,
    pick: impl Fn(&'a ThreadFigures) -> &'a T,
) -> T {
    let parts: Vec<_> = threads.into_iter().map(|thread| ("", pick(thread))).collect();
    T::merged(&parts).unwrap_or_default()
}

/// What the threads that lived cost together, with what only the process and the recorders know.
fn generator(all: &ThreadTotals, threads: &[ThreadFigures], figures: &GeneratorFigures) -> Generator {
    let cost = of_all(threads.iter().filter(|thread| thread.window_ns > 0), |thread| &thread.cost);
    let is_slice = figures.slice.is_some();
    Generator {
        cost: Cost { rss_bytes: figures.rss_bytes, ..cost.cost },
        threads: threads.len() as u64,
        late_start: for_merging(is_slice, &all.late_start),
        lag: for_merging(is_slice, &all.lag),
        disturbances: figures.disturbances.clone(),
        ..cost
    }
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
    let mut all = gather(&recorders);
    let mut whole = Counted::lazy(false);
    let mut operation = |(index, name): (usize, &String)| {
        let part = gather_operation(&recorders, &mut all, index);
        whole.add(&part);
        OperationResult { measured: part.told(), name: name.clone() }
    };
    let per_operation = operations.iter().enumerate().map(&mut operation).collect();
    whole.response = all.planned.as_mut().map(|planned| std::mem::take(&mut planned.iterations));
    let window_ns = threads.iter().map(|thread| thread.window_ns).max().unwrap_or(0);
    let statuses = STATUS_NAMES.iter().zip(all.statuses).skip(1).filter(|(_, count)| *count > 0);
    let mut result = TrialResult {
        measured: whole.told(),
        errors_total: whole.failed(),
        window_s: window_ns as f64 / 1e9,
        elapsed_s: figures.elapsed_ns as f64 / 1e9,
        start: figures.start,
        cancelled: figures.cancelled,
        fatal: figures.fatal.clone(),
        outside: all.outside,
        unfinished: of_all(threads, |thread| &thread.unfinished),
        statuses: statuses.map(|(name, count)| ((*name).to_owned(), count)).collect(),
        starts: all.planned.as_ref().map(starts),
        per_operation,
        steps: steps(&all, operations),
        per_second: seconds(&mut recorders, figures.elapsed_ns, figures.slice.is_some()),
        per_client: clients(&all, figures.slice.as_ref()),
        connections: Connections {
            opened: all.connections.opened,
            failed: all.connections.failed,
            late_closes: all.connections.late_closes,
            ..of_all(threads, |thread| &thread.connections)
        },
        generator: generator(&all, threads, figures),
        workload: figures.workload.clone(),
    };
    result.generator.for_operations(result.measured.operations + result.errors_total);
    result
}
