//! The result of a trial, or of the slice of it that one machine had: what crosses the seam.
//!
//! A figure stands here once, with its unit and with how those of several machines become one, and is filled in where
//! it is measured: by a load thread, in `collect.rs`, or by the platform.

pub(super) mod collect;
pub(super) mod measurement;
pub(super) mod merge;
pub(super) mod snapshot;

use measurement::{Cost, Counts, Measurement, Times, told};
use merge::{Merge, MergeError, Merged, Part, afterwards, figures, first, max, of_each, seconds};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

figures! {
    /// A finished trial.
    pub struct TrialResult {
        flat
        /// What was done in the window.
        pub measured: Measurement,
        /// Failed operations of all classes.
        pub errors_total: u64,
        /// Length of the window as it was lived, s.
        pub window_s: f64 => max,
        /// From the first moment of traffic to the last, s.
        pub elapsed_s: f64 => max,
        /// When traffic started; `None` when it never did, and for several machines: each has a clock of its own.
        pub start: Option<StartFigures> => of_each,
        /// Stopped before its time.
        pub cancelled: bool,
        /// Why the trial could not be run to its end.
        pub fatal: Option<String> => first_fatal,
        /// What ended before or after the window.
        pub outside: OutsideWindow,
        /// What still ran when the trial ended.
        pub unfinished: Unfinished,
        /// Replies by the hundreds of their status, `1xx` to `5xx`.
        pub statuses: BTreeMap<String, u64>,
        /// What a load with planned starts asked for and got; `None` for a closed loop.
        pub starts: Option<Starts>,
        /// By operation, in the order of the workload.
        pub per_operation: Vec<OperationResult> => operations,
        /// The parts of operations that were seen, the engine's own first.
        pub steps: Vec<Step> => steps,
        /// Second by second, without holes; empty in a soak.
        pub per_second: Vec<Second> => by_second,
        /// By client; under a rate those that did something.
        pub per_client: Vec<Client> => clients,
        /// Connections of the trial.
        pub connections: Connections,
        /// What the trial cost the generator.
        pub generator: Generator,
        /// The kind's own figures.
        pub workload: Value => afterwards,
    }

    /// Operations that ended before or after the window.
    #[derive(Copy)]
    pub struct OutsideWindow {
        /// Successful ones.
        pub operations: u64,
        /// Failed ones.
        pub errors_total: u64,
    }

    /// Operations that still ran when the trial ended.
    #[derive(Copy)]
    pub struct Unfinished {
        /// How many.
        pub operations: u64,
        /// Age of the oldest of them, s.
        pub oldest_s: f64 => max,
    }

    /// Starts that the load planned for the window.
    pub struct Starts {
        /// All of them.
        pub offered: u64,
        /// Those that began.
        pub started: u64,
        /// Those that did not.
        pub never_started: u64,
        /// Iterations that ended well in the window.
        pub answered: u64,
        /// What became of the starts; counted where a start is an iteration.
        pub fates: Option<Fates>,
        /// How late those began that found no free virtual user.
        pub late: Times,
        /// Starts that found every session busy, whether or not they began later.
        pub ran_out: u64,
        /// Connections that were used, ramps included.
        pub connections_used: u64,
        /// Iterations that were due and not over, at the begin of the window and at the end of each of its 50
        /// stretches.
        pub queue: Option<Vec<i64>> => queues,
    }

    /// What became of the starts that were planned for the window, at its end. With those that never began they are
    /// all.
    #[derive(Copy, Eq)]
    pub struct Fates {
        /// Over, and well.
        pub answered: u64,
        /// Over, and not well.
        pub failed: u64,
        /// Begun, and not over.
        pub open: u64,
    }

    /// One operation of the workload in the window.
    pub struct OperationResult {
        flat
        /// What was done of it; its response times are those of single operations, where the trial's are of iterations.
        pub measured: Measurement,
        /// Its name.
        pub name: String => first,
    }

    /// A part of operations.
    pub struct Step {
        /// Its name; `OPERATION/PART` where those of an operation are kept apart.
        pub name: String => first,
        /// Its times.
        pub summary: Times,
    }

    /// One second of the trial, ramps included.
    pub struct Second {
        flat
        /// What ended in it.
        pub counts: Counts,
        /// Its number, from the start of traffic.
        pub second: u64 => max,
        /// How long it was: the last one is as narrow as the trial's end makes it, s.
        pub width_s: f64 => max,
        /// `ramp_up`, `window` or `ramp_down`.
        pub phase: String => first,
        /// Service times.
        pub service: Times => told,
    }

    /// One client in the window.
    #[derive(Copy)]
    pub struct Client {
        flat
        /// What it did.
        pub counts: Counts,
        /// Its number.
        pub client: u64 => max,
        /// Time in which its operations were under way, added up, s.
        pub busy_s: f64 => seconds,
    }

    /// Connections, as far as the transport tells of them.
    #[derive(Copy)]
    pub struct Connections {
        /// Opened.
        pub opened: u64,
        /// Failed to open.
        pub failed: u64,
        /// TLS handshakes in full.
        pub tls_full: u64,
        /// TLS handshakes that resumed an earlier session.
        pub tls_resumed: u64,
        /// Announced closes that were left to the client.
        pub late_closes: u64,
        /// What came on connections after their last reply.
        pub unsolicited: u64,
        /// The receive buffer that the kernel made of the one asked for, bytes; 0 when none was.
        pub receive_buffer_bytes: u64 => max,
    }

    /// What the trial cost the generator, inside the window.
    pub struct Generator {
        flat
        /// Of its busiest thread.
        pub cost: Cost,
        /// CPU time of all load threads, s.
        pub cpu_s: f64 => seconds,
        /// CPU time of a thread without what went into polling for replies in vain, as a share of the time it lived.
        pub busy_share: f64 => max,
        /// What went into polling for replies in vain, all threads, s.
        pub polled_s: f64 => seconds,
        /// CPU time for one operation, failed ones included, µs.
        pub cpu_us_per_operation: f64 => afterwards,
        /// Load threads.
        pub threads: u64,
        /// How late virtual users began that had waited for their moment.
        pub late_start: Times => told,
        /// How long a finished operation waited for the generator to take it.
        pub lag: Times => told,
        /// What happened to the process and its machine meanwhile; of several machines each has its own.
        pub disturbances: Option<Disturbances> => of_each,
    }
}

/// When traffic was to start and when the last load thread did, ns of the machine's monotonic clock; and by its wall
/// clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartFigures {
    /// As it was told; where that was "at once", as soon as all were ready.
    pub planned_ns: u64,
    /// As it was.
    pub real_ns: u64,
    /// The moment from which the trial counts, since 1970, UTC: logs of servers are read by it.
    pub unix_ns: u64,
}

/// What happened to the generator's process and machine during a trial; `None` is what nobody measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbances {
    /// The long stops, waits for a processor among them.
    pub stops: Vec<Stop>,
    /// All time of the window in which the process was stopped, in stops of any length, s.
    pub stopped_s: Option<f64>,
    /// How many of those the kernel told.
    pub interrupted: Option<u64>,
    /// What a control group's limit took in the window, over all processors, s.
    pub throttled_s: Option<f64>,
    /// In how many periods.
    pub throttled: Option<u64>,
    /// Time in which the machine was suspended, s.
    pub suspended_s: f64,
    /// By how much the wall clock went further than the monotonic one, s.
    pub clock_step_s: f64,
    /// Time that the hypervisor gave to others, a mean over the processors, s.
    pub stolen_s: Option<f64>,
    /// That of the whole trial.
    pub stolen_share: Option<f64>,
}

/// A time in which the process did not run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// After the start of traffic, s.
    pub at_s: f64,
    /// How long, s.
    pub length_s: f64,
    /// What of it lies in the window, s.
    pub window_s: f64,
}

impl Generator {
    /// For so many operations, failed ones included.
    pub(crate) fn for_operations(&mut self, operations: u64) {
        self.cpu_us_per_operation = if operations == 0 { 0.0 } else { self.cpu_s * 1e6 / operations as f64 };
    }
}

/// Histograms by their names.
pub type Histograms = BTreeMap<String, Vec<u8>>;

impl TrialResult {
    /// All times that have a histogram, with its name; that of a part of the trial has a `/`.
    fn times(&mut self) -> Vec<(String, &mut Times)> {
        let whole = [
            ("service", Some(&mut self.measured.service)),
            ("response", self.measured.response.as_mut()),
            ("late", self.starts.as_mut().map(|starts| &mut starts.late)),
            ("late_start", Some(&mut self.generator.late_start)),
            ("lag", Some(&mut self.generator.lag)),
        ];
        let mut all: Vec<_> = whole.into_iter().filter_map(|(name, times)| Some((name.to_owned(), times?))).collect();
        for OperationResult { name, measured } in &mut self.per_operation {
            all.push((format!("op/{name}"), &mut measured.service));
            all.extend(measured.response.as_mut().map(|times| (format!("response/{name}"), times)));
        }
        all.extend(self.steps.iter_mut().map(|step| (format!("step/{}", step.name), &mut step.summary)));
        all.extend(self.per_second.iter_mut().map(|row| (format!("second/{}", row.second), &mut row.service)));
        all
    }

    /// As it crosses the seam: its figures as JSON, and its histograms, without those of parts in which nothing was
    /// recorded.
    pub fn told(mut self) -> (String, Histograms) {
        let json = serde_json::to_string(&self).unwrap_or_default();
        let kept = |(name, times): (String, &mut Times)| {
            let is_kept = !times.histogram.is_empty() && (times.summary.count > 0 || !name.contains('/'));
            is_kept.then(|| (name, std::mem::take(&mut times.histogram)))
        };
        (json, self.times().into_iter().filter_map(kept).collect())
    }

    /// What a machine of this name told, read back.
    pub fn read(name: &str, json: &str, mut histograms: Histograms) -> Result<Self, MergeError> {
        let told: Result<Map<String, Value>, _> = serde_json::from_str(json);
        let mut told = told.map_err(|error| MergeError::Malformed { name: name.to_owned(), error })?;
        let missing = |figure| MergeError::Missing { name: name.to_owned(), figure };
        let mut result = Self::take(&mut told).map_err(missing)?;
        let planned = result.starts.is_some();
        if planned && result.measured.response.is_none() {
            return Err(missing("/response".to_owned()));
        }
        if (0..).zip(&result.per_second).any(|(second, row)| row.second != second) {
            return Err(missing("/per_second/second".to_owned()));
        }
        for OperationResult { measured, .. } in &mut result.per_operation {
            // Its figures follow from the histogram: who hands a result on may leave them out.
            measured.response = planned.then(|| measured.response.take().unwrap_or_default());
        }
        for (name, times) in result.times() {
            times.histogram = histograms.remove(&name).unwrap_or_default();
        }
        Ok(result)
    }
}

/// What one machine measured of a trial.
#[derive(Debug, Clone)]
pub struct SliceResult {
    /// The machine's name.
    pub name: String,
    /// Figures and histograms, as [`self::collect`] makes them for a slice.
    pub result: TrialResult,
}

/// One result of the slices of a trial: the one that a single machine with all the threads would have given. `figures`
/// is how those of its workload come together, or why they do not.
pub fn merge_slices(
    slices: &[SliceResult],
    figures: impl FnOnce(&[&Value]) -> Result<Value, String>,
) -> Result<TrialResult, MergeError> {
    if slices.is_empty() {
        return Err(MergeError::Nothing);
    }
    alike_planned(slices)?;
    let parts: Vec<_> = slices.iter().map(|slice| (slice.name.as_str(), &slice.result)).collect();
    let mut whole = TrialResult::merged(&parts)?;
    whole.generator.for_operations(whole.measured.operations.saturating_add(whole.errors_total));
    let told: Vec<_> = slices.iter().map(|slice| &slice.result.workload).collect();
    whole.workload = figures(&told).map_err(MergeError::Figures)?;
    Ok(whole)
}

/// All have planned starts, or none has; one that failed may have had no time to.
fn alike_planned(slices: &[SliceResult]) -> Result<(), MergeError> {
    let sound = || slices.iter().filter(|slice| slice.result.fatal.is_none());
    let without = sound().find(|slice| slice.result.starts.is_none());
    match without.filter(|_| sound().any(|slice| slice.result.starts.is_some())) {
        Some(slice) => Err(MergeError::Missing { name: slice.name.clone(), figure: "/starts".to_owned() }),
        None => Ok(()),
    }
}

/// One that failed speaks for all, and is named.
fn first_fatal(parts: &[Part<'_, Option<String>>]) -> Merged<Option<String>> {
    Ok(parts.iter().find_map(|(name, fatal)| Some(format!("{name}: {}", fatal.as_ref()?))))
}

/// Iterations that were due and not over: those of all machines together, where each has told as many moments.
fn queues(parts: &[Part<'_, Option<Vec<i64>>>]) -> Merged<Option<Vec<i64>>> {
    let told: Option<Vec<&Vec<i64>>> = parts.iter().map(|(_, lengths)| lengths.as_ref()).collect();
    let alike = told.filter(|told| told.windows(2).all(|pair| pair[0].len() == pair[1].len()));
    let sums = |told: Vec<&Vec<i64>>| {
        let at = |at: usize| told.iter().fold(0_i64, |sum, lengths| sum.saturating_add(lengths[at]));
        (0..told.first().map_or(0, |first| first.len())).map(at).collect()
    };
    Ok(alike.map(sums))
}

/// The rows of all that are at this place of their lists.
fn row<'a, T>(lists: &[Part<'a, Vec<T>>], at: usize) -> Vec<Part<'a, T>> {
    lists.iter().filter_map(|(name, list)| Some((*name, list.get(at)?))).collect()
}

/// As many rows as the longest list has.
fn rows<T: Merge>(lists: &[Part<'_, Vec<T>>]) -> Merged<Vec<T>> {
    let longest = lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0);
    (0..longest).map(|at| T::merged(&row(lists, at))).collect()
}

/// All have the same operations.
fn operations(lists: &[Part<'_, Vec<OperationResult>>]) -> Merged<Vec<OperationResult>> {
    let names = |list: &'_ Vec<OperationResult>| list.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    if let Some((first, others)) = lists.split_first()
        && let Some(unlike) = others.iter().find(|other| names(other.1) != names(first.1))
    {
        return Err(MergeError::Unlike { name: unlike.0.to_owned(), first: first.0.to_owned() });
    }
    rows(lists)
}

fn by_second(lists: &[Part<'_, Vec<Second>>]) -> Merged<Vec<Second>> {
    rows(lists)
}

/// The engine's own steps, in the order of results; those of the workload follow.
const OWN_STEPS: [&str; 7] = ["connect", "tls", "stream", "written", "first_byte", "transfer", "close"];

/// Every machine lists the steps that it has seen, in one order.
fn steps(lists: &[Part<'_, Vec<Step>>]) -> Merged<Vec<Step>> {
    let mut names: Vec<&str> = Vec::new();
    for (_, list) in lists {
        let mut place = names.len();
        for Step { name, .. } in list.iter().rev() {
            match names.iter().position(|other| other == name) {
                Some(found) => place = found,
                None => names.insert(place, name),
            }
        }
    }
    names.sort_by_key(|name| OWN_STEPS.iter().position(|own| own == name).unwrap_or(OWN_STEPS.len()));
    let step = |name: &str| {
        let seen =
            lists.iter().filter_map(|(machine, list)| Some((*machine, list.iter().find(|step| step.name == name)?)));
        Step::merged(&seen.collect::<Vec<_>>())
    };
    names.into_iter().map(step).collect()
}

/// A client of which several tell did what all of them tell.
fn clients(lists: &[Part<'_, Vec<Client>>]) -> Merged<Vec<Client>> {
    let mut told: Vec<_> = lists.iter().flat_map(|(name, list)| list.iter().map(|row| (*name, row))).collect();
    told.sort_by_key(|(_, row)| row.client);
    told.chunk_by(|one, other| one.1.client == other.1.client).map(Client::merged).collect()
}

#[cfg(test)]
impl TrialResult {
    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap()
    }
}

#[cfg(test)]
mod tests;
