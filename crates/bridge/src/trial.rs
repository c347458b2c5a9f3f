//! Trials: start, arm, go, watch, wait, cancel.

use crate::registry::{StartError, check_trial, merge_trial, start_trial};
use crate::{EngineError, SpecError};
use bakeoff_engine::{Clock, Histograms, Measurement, SliceResult, SoakInterval, Times, TrialResult};
use bakeoff_platform::clock::MonotonicClock;
use bakeoff_platform::process::is_main_thread;
use bakeoff_platform::{BackgroundPolicy, Wake};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// Longest time without a look for signals, where nothing wakes who waits for them.
const SLICE: Duration = Duration::from_millis(100);
/// A descriptor that can be read when a signal came; -1 when there is none.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// From now on whoever waits for a trial in the main thread is woken when `fd` can be read, as by
/// `signal.set_wakeup_fd`; -1 ends that. Gives what was told before.
#[pyfunction]
pub(crate) fn wake_on(fd: i32) -> i32 {
    WAKE.swap(fd, Ordering::Relaxed)
}

/// Whether threads that were put into the idle class can leave it again.
#[pyfunction]
pub(crate) fn can_return() -> bool {
    bakeoff_platform::can_return()
}

/// An interval of a soak as Python gets it.
type IntervalTuple<'py> = (String, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

/// A trial in threads of its own: it makes itself ready and waits for the word to begin.
#[pyclass(frozen, module = "bakeoff._engine")]
pub(crate) struct TrialHandle {
    inner: bakeoff_platform::TrialHandle,
}

/// A finished trial.
#[pyclass(frozen, module = "bakeoff._engine")]
pub(crate) struct TrialOutcome {
    json: String,
    histograms: Histograms,
}

impl TrialOutcome {
    fn of(result: TrialResult) -> Self {
        let (json, histograms) = result.told();
        Self { json, histograms }
    }
}

/// Begins a trial from its JSON specification and returns at once: without [`TrialHandle::go`] it sends nothing.
#[pyfunction]
pub(crate) fn start(py: Python<'_>, spec_json: &str) -> PyResult<TrialHandle> {
    let started = py.detach(|| start_trial(spec_json));
    match started {
        Ok(inner) => Ok(TrialHandle { inner }),
        Err(StartError::Spec(error)) => Err(SpecError::new_err(error.to_string())),
        Err(StartError::Trial(error)) => Err(EngineError::new_err(error.to_string())),
    }
}

/// Reads a trial specification without starting it.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, spec_json: &str) -> PyResult<()> {
    py.detach(|| check_trial(spec_json)).map_err(|error| SpecError::new_err(error.to_string()))
}

/// One outcome of the slices of a trial: of each the machine's name, its figures as JSON and its histograms.
#[pyfunction]
pub(crate) fn merge_slices(
    py: Python<'_>,
    spec_json: &str,
    slices: Vec<(String, String, Histograms)>,
) -> PyResult<TrialOutcome> {
    let merged = py.detach(|| {
        let read = |(name, json, histograms): (String, String, Histograms)| {
            let result = TrialResult::read(&name, &json, histograms).map_err(|error| error.to_string())?;
            Ok(SliceResult { name, result })
        };
        let slices = slices.into_iter().map(read).collect::<Result<Vec<_>, String>>()?;
        merge_trial(spec_json, &slices).map(TrialOutcome::of)
    });
    merged.map_err(EngineError::new_err)
}

/// What `work` gives within `timeout_s`. It is asked for slices of that, with a look for signals between; when one
/// raises, `on_signal` is called first.
fn in_slices<T: Send>(
    py: Python<'_>,
    timeout_s: f64,
    work: impl Fn(Duration) -> Option<T> + Sync,
    on_signal: impl Fn(),
) -> PyResult<Option<T>> {
    let mut left = Duration::try_from_secs_f64(timeout_s.clamp(0.0, 1e9)).unwrap_or_default();
    loop {
        let slice = left.min(SLICE);
        if let Some(value) = py.detach(|| work(slice)) {
            return Ok(Some(value));
        }
        if let Err(signal) = py.check_signals() {
            on_signal();
            return Err(signal);
        }
        left = left.saturating_sub(slice);
        if left.is_zero() {
            return Ok(None);
        }
    }
}

#[pymethods]
impl TrialHandle {
    /// Whether it is ready to start, or over already, within `timeout_s`. Signals are looked for every 100 ms.
    fn armed(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        let ready = |slice| self.inner.armed(slice).then_some(());
        let on_signal = || self.inner.cancel();
        Ok(in_slices(py, timeout_s, ready, on_signal)?.is_some())
    }

    /// Starts its traffic at `at_ns` of `CLOCK_MONOTONIC`, at once when that has passed, and gives the handle back.
    /// Before it is armed that waits until it is. The first word counts.
    #[pyo3(signature = (at_ns = 0))]
    fn go(handle: PyRef<'_, Self>, at_ns: u64) -> PyRef<'_, Self> {
        handle.inner.go(at_ns);
        handle
    }

    /// The number of the barrier at which all sessions of this machine wait for those of others, or of the last one; 0
    /// before the first, and for work that has none.
    fn barrier(&self) -> u64 {
        self.inner.barrier()
    }

    /// The sessions of all machines are at this barrier, and go on at `at_ns` of `CLOCK_MONOTONIC`, at once when that
    /// has passed. The first word counts.
    fn release_barrier(&self, number: u64, at_ns: u64) {
        self.inner.release_barrier(number, at_ns);
    }

    /// Figures of the trial so far, by the names of a snapshot.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let now = self.inner.snapshot();
        let (told, recent) = (PyDict::new(py), PyDict::new(py));
        recent.set_item("span_s", now.recent.span_s)?;
        recent.set_item("operations", now.recent.operations)?;
        recent.set_item("p50_ns", now.recent.p50_ns)?;
        recent.set_item("p99_ns", now.recent.p99_ns)?;
        recent.set_item("times", now.recent.times)?;
        let per_operation = now.per_operation.into_iter().map(|each| {
            let count = PyDict::new(py);
            count.set_item("name", each.name)?;
            count.set_item("operations", each.operations)?;
            count.set_item("errors", each.errors)?;
            Ok(count)
        });
        told.set_item("elapsed_s", now.elapsed_s)?;
        told.set_item("phase", now.phase)?;
        told.set_item("operations", now.operations)?;
        told.set_item("errors", now.errors)?;
        told.set_item("bytes_in", now.bytes_in)?;
        told.set_item("per_operation", per_operation.collect::<PyResult<Vec<_>>>()?)?;
        told.set_item("recent", recent)?;
        Ok(told)
    }

    /// Events since the last call, each as JSON.
    fn drain_events(&self) -> Vec<String> {
        self.inner.drain_events()
    }

    /// Intervals of a soak that were done since the last call: of each its figures as JSON, its service times and, where
    /// starts are planned, its response times as HdrHistogram V2, empty without any.
    fn drain_intervals<'py>(&self, py: Python<'py>) -> Vec<IntervalTuple<'py>> {
        let bytes = |times: &Times| PyBytes::new(py, if times.summary.count == 0 { &[] } else { &times.histogram });
        let told = |interval: SoakInterval| {
            let Measurement { service, response, .. } = &interval.measured;
            (serde_json::to_string(&interval).unwrap_or_default(), bytes(service), response.as_ref().map(bytes))
        };
        self.inner.drain_intervals().into_iter().map(told).collect()
    }

    /// The result when it comes within `timeout_s`, else `None`. It sleeps until then; a signal wakes it at once where
    /// `wake_on` was told, else within 100 ms. When one raises, the trial is cancelled first.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Option<TrialOutcome>> {
        let timeout = Duration::try_from_secs_f64(timeout_s.clamp(0.0, 1e9)).unwrap_or_default();
        let until_ns = MonotonicClock.now_ns() + timeout.as_nanos() as u64;
        let wake = WAKE.load(Ordering::Relaxed);
        let wakes = wake >= 0 || !is_main_thread();
        let outcome = loop {
            let left = Duration::from_nanos(until_ns.saturating_sub(MonotonicClock.now_ns()));
            let woken = py.detach(|| {
                let woken = self.inner.rest(if wakes { left } else { left.min(SLICE) }, (wake >= 0).then_some(wake));
                if woken == Wake::Signal {
                    // Who holds the interpreter must not wait for a processor now.
                    self.inner.hush(false);
                }
                woken
            });
            if woken == Wake::Completed || (woken == Wake::TimedOut && wakes) {
                break py.detach(|| self.inner.wait(Duration::ZERO));
            }
            if let Err(signal) = py.check_signals() {
                self.inner.cancel();
                return Err(signal);
            }
            if woken == Wake::Signal {
                self.inner.hush(true);
            } else if left <= SLICE {
                break py.detach(|| self.inner.wait(Duration::ZERO));
            }
        };
        let result = outcome.transpose().map_err(|error| EngineError::new_err(error.to_string()))?;
        Ok(result.map(|result| py.detach(|| TrialOutcome::of(result))))
    }

    /// From the start of traffic to its end all threads of this process but those that make load or serve it, and the
    /// main thread, which sleeps, are put behind them: into the idle class, or where not `idle` into the one that
    /// interrupts nobody; on these processors, if any are told.
    fn run_in_background(&self, idle: bool, processors: Vec<u32>) {
        self.inner.run_in_background(BackgroundPolicy { idle, processors });
    }

    /// Sleeps until the trial is to be looked at, about once a second; `False` when it is over. One thread looks.
    fn next_sample(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.next_sample())
    }

    /// What threads that make no load took of the window: their processor time, within which time, and the most that
    /// one of them took at once, s; `None` when there was no look.
    fn control(&self) -> Option<(f64, f64, f64)> {
        let seconds = |ns: u64| ns as f64 / 1e9;
        self.inner.control().map(|took| (seconds(took.cpu_ns), seconds(took.span_ns), seconds(took.longest_ns)))
    }

    /// Asks the trial to stop within 100 ms, in whatever state it is; `wait` then gives what was measured.
    fn cancel(&self) {
        self.inner.cancel();
    }
}

#[pymethods]
impl TrialOutcome {
    /// The figures, as JSON.
    fn json(&self) -> &str {
        &self.json
    }

    /// HdrHistogram V2 blobs by the names of `TrialResult::times`.
    fn histograms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let blobs = PyDict::new(py);
        for (name, bytes) in &self.histograms {
            blobs.set_item(name, PyBytes::new(py, bytes))?;
        }
        Ok(blobs)
    }
}
