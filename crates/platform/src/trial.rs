//! Runs one trial on threads of its own and hands out its result.

use crate::clock::MonotonicClock;
use crate::net::{EventLoop, LoopFigures, Remote, resolve};
use crate::process;
use bakeoff_engine::{
    Clock, Driver, GeneratorFigures, Live, Nanos, Recorder, Snapshot, TrialResult, TrialSpec, Workload, collect,
};
use serde_json::{Map, json};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A trial that could not be started or broke off through the tool's own fault.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The endpoint cannot be used.
    #[error("{0}")]
    Endpoint(String),
    /// The machine refused a thread or a descriptor.
    #[error("the machine refused to run the trial: {0}")]
    Machine(#[from] std::io::Error),
    /// A load-generating thread panicked: a defect.
    #[error("a load-generating thread broke: {0}")]
    Broken(String),
}

/// Head start of the threads before the first operation, ns; more for many sessions.
const HEAD_START_NS: Nanos = 10_000_000;
const HEAD_START_PER_SESSION_NS: Nanos = 2_000;

pub(crate) type Outcome = Result<TrialResult, TrialError>;

/// A trial that runs. Dropping it cancels it and waits for its threads.
#[derive(Debug)]
pub struct TrialHandle {
    live: Arc<Live>,
    finished: Mutex<Receiver<Outcome>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl TrialHandle {
    /// The figures so far.
    pub fn snapshot(&self) -> Snapshot {
        self.live.snapshot()
    }

    /// Events since the last call, each as JSON text.
    pub fn drain_events(&self) -> Vec<String> {
        self.live.drain_events()
    }

    /// Asks the trial to stop; its result then says `cancelled`.
    pub fn cancel(&self) {
        self.live.cancel();
    }

    /// The result when it comes within `timeout`; it comes once.
    pub fn wait(&self, timeout: Duration) -> Option<Outcome> {
        let finished = self.finished.lock().ok()?;
        match finished.recv_timeout(timeout) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(TrialError::Broken("it ended without a result".to_owned())))
            }
        }
    }
}

/// Runs `body` on a thread of its own; its outcome comes by [`TrialHandle::wait`].
pub(crate) fn launch(
    live: Arc<Live>,
    body: impl FnOnce() -> Outcome + Send + 'static,
) -> Result<TrialHandle, TrialError> {
    let (sender, finished) = channel();
    let thread = std::thread::Builder::new().name("bakeoff-trial".to_owned()).spawn(move || {
        // The receiver is gone when nobody wants the result any more.
        let _ = sender.send(body());
    })?;
    Ok(TrialHandle { live, finished: Mutex::new(finished), thread: Mutex::new(Some(thread)) })
}

impl Drop for TrialHandle {
    fn drop(&mut self) {
        self.live.cancel();
        if let Ok(mut thread) = self.thread.lock()
            && let Some(thread) = thread.take()
        {
            // The thread reports through the channel; a panic in it was turned into an outcome there.
            let _ = thread.join();
        }
    }
}

/// Starts a trial and returns at once.
pub fn start<W: Workload>(workload: W, spec: TrialSpec) -> Result<TrialHandle, TrialError> {
    let remotes = workload.endpoints().iter().map(resolve).collect::<Result<Vec<_>, _>>();
    let remotes = remotes.map_err(TrialError::Endpoint)?;
    process::raise_file_limit();
    let threads = spec.cores.min(spec.clients) as usize;
    let spec = TrialSpec { cores: threads as u32, ..spec };
    let live = Arc::new(Live::new(threads, spec.max_operations));
    let watcher = Arc::clone(&live);
    launch(live, move || run(&Arc::new(workload), &Arc::new(spec), &watcher, &remotes))
}

type Part<S> = std::io::Result<(Recorder, Vec<S>, LoopFigures)>;

fn run<W: Workload>(workload: &Arc<W>, spec: &Arc<TrialSpec>, live: &Arc<Live>, remotes: &[Remote]) -> Outcome {
    let clock = MonotonicClock;
    let head_start_ns = HEAD_START_NS + u64::from(spec.sessions()) * HEAD_START_PER_SESSION_NS;
    let start_ns = clock.now_ns() + head_start_ns;
    let spawn = |thread: usize| {
        let (workload, spec, live) = (Arc::clone(workload), Arc::clone(spec), Arc::clone(live));
        let remotes = remotes.to_vec();
        std::thread::Builder::new()
            .name(format!("bakeoff-load-{thread}"))
            .spawn(move || generate(&*workload, &spec, &live, remotes, thread, start_ns))
    };
    let threads: Vec<JoinHandle<Part<W::Session>>> =
        (0..spec.cores as usize).map(spawn).collect::<Result<_, _>>()?;
    let mut recorders = Vec::new();
    let mut sessions = Vec::new();
    let mut figures = Vec::new();
    for thread in threads {
        let part = thread.join().map_err(|panic| TrialError::Broken(panic_text(panic.as_ref())))??;
        recorders.push(part.0);
        sessions.extend(part.1);
        figures.push(part.2);
    }
    let mut transport = Map::new();
    let (full, resumed) = figures.iter().fold((0, 0), |sum, part| (sum.0 + part.tls_full, sum.1 + part.tls_resumed));
    if full + resumed > 0 {
        transport.insert("tls_full".to_owned(), json!(full));
        transport.insert("tls_resumed".to_owned(), json!(resumed));
    }
    let generator = GeneratorFigures {
        elapsed_ns: clock.now_ns().saturating_sub(start_ns),
        cancelled: live.is_cancelled(),
        fatal: None,
        rss_bytes: process::resident_bytes(),
        transport,
        workload: workload.figures(sessions.iter()),
    };
    let threads: Vec<_> = figures.iter().map(|part| part.thread).collect();
    Ok(collect(&workload.operations(), recorders, &threads, &generator))
}

/// The body of one load-generating thread.
fn generate<W: Workload>(
    workload: &W,
    spec: &TrialSpec,
    live: &Arc<Live>,
    remotes: Vec<Remote>,
    thread: usize,
    start_ns: Nanos,
) -> Part<W::Session> {
    if let Some(processors) = &spec.pin
        && !processors.is_empty()
    {
        let processor = processors[thread % processors.len()];
        if !process::pin_to(processor) {
            live.tell("warning", &format!("load thread {thread} could not be bound to processor {processor}"));
        }
    }
    let driver = Driver::new(workload, spec, Arc::clone(live), thread, start_ns, MonotonicClock);
    let starts = driver.first_starts(spec);
    let event_loop = EventLoop::new(driver, live, remotes, spec.timeline(start_ns))?;
    Ok(event_loop.run(starts, spec.max_operations.is_some()))
}

pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}
