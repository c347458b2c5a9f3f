//! Runs one trial on threads of its own and hands out its result.

pub(super) mod completion;
pub(super) mod custom_loop;
pub(super) mod start_line;

use crate::barrier::sessions::SessionBarrier;
use crate::barrier::threads::ThreadBarrier;
use crate::clock::MonotonicClock;
use crate::net::{EventLoop, LoopFigures, Remote, resolve};
use crate::process;
use crate::watch::control::{BackgroundPolicy, Control, ControlFigures, next_sample_ns};
use crate::watch::{Watch, Watched};
use bakeoff_engine::{
    Clock, Driver, GeneratorFigures, Live, Nanos, Recorder, Session, Snapshot, SoakInterval, Stage, Stages, Timeline,
    TrialResult, TrialSpec, Workload, collect,
};
use completion::{Completion, Wake};
use start_line::{Place, StartLine};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
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
    /// Files of an earlier trial were in the way: nobody but the trials themselves put them there.
    #[error("{0}")]
    InTheWay(String),
}

pub(crate) type Outcome = Result<TrialResult, TrialError>;

/// A trial that makes itself ready and then waits for the word. Dropping it cancels it and waits for its threads.
#[derive(Debug)]
pub struct TrialHandle {
    live: Arc<Live>,
    line: Arc<StartLine>,
    control: Arc<Control>,
    spec: TrialSpec,
    sampled_ns: AtomicU64,
    barrier: Option<Arc<SessionBarrier>>,
    over: Arc<Completion>,
    finished: Mutex<Receiver<Outcome>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl TrialHandle {
    /// The same trial, whose sessions meet there.
    pub(crate) fn with_barrier(mut self, barrier: Arc<SessionBarrier>) -> Self {
        self.barrier = Some(barrier);
        self
    }

    /// Whether it is ready to start, or over already, within `timeout`.
    pub fn armed(&self, timeout: Duration) -> bool {
        self.line.armed(timeout)
    }

    /// Starts its traffic at `at_ns` of this machine's `CLOCK_MONOTONIC`: at once when that has passed, as 0 has.
    /// Before it is armed that waits until it is. The first word counts.
    pub fn go(&self, at_ns: Nanos) {
        self.line.go(at_ns);
    }

    /// The number of the barrier at which all sessions of this machine wait for those of others, or of the last one; 0
    /// before the first, and for work that has none.
    pub fn barrier(&self) -> u64 {
        self.barrier.as_ref().map_or(0, |barrier| barrier.called())
    }

    /// The sessions of all machines are at this barrier, and go on at `at_ns` of this machine's `CLOCK_MONOTONIC`: at
    /// once when that has passed. The first word counts.
    pub fn release_barrier(&self, number: u64, at_ns: Nanos) {
        if let Some(barrier) = &self.barrier {
            barrier.release_fleet(number, at_ns);
        }
    }

    /// The figures so far.
    pub fn snapshot(&self) -> Snapshot {
        self.live.snapshot()
    }

    /// Events since the last call, each as JSON text.
    pub fn drain_events(&self) -> Vec<String> {
        self.live.drain_events()
    }

    /// Intervals of a soak that were done since the last call.
    pub fn drain_intervals(&self) -> Vec<SoakInterval> {
        self.live.drain_intervals()
    }

    /// Asks the trial to stop, in whatever state it is; its result then says `cancelled`.
    pub fn cancel(&self) {
        self.line.cancel();
        if let Some(barrier) = &self.barrier {
            barrier.break_up();
        }
    }

    /// The result when it comes within `timeout`; it comes once.
    pub fn wait(&self, timeout: Duration) -> Option<Outcome> {
        self.rest(timeout, None);
        let finished = self.finished.lock().ok()?;
        match finished.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(TrialError::Broken("it ended without a result".to_owned()))),
        }
    }

    /// Sleeps until it is over, `timeout` has passed, or a signal came: one that this thread is interrupted by, or of
    /// which `wake`, a descriptor, can be read.
    pub fn rest(&self, timeout: Duration, wake: Option<RawFd>) -> Wake {
        self.over.wait(timeout, wake)
    }

    /// From the start of traffic to its end the threads of this process that make no load are put behind those that do.
    pub fn run_in_background(&self, background: BackgroundPolicy) {
        self.control.run_in_background(background);
    }

    /// Threads have their own priority again, as when a signal is to be heard; `true` puts them behind again.
    pub fn hush(&self, again: bool) {
        if again { self.control.hush() } else { self.control.restore() }
    }

    /// What threads that make no load took of the window so far.
    pub fn control(&self) -> Option<ControlFigures> {
        self.control.figures()
    }

    /// Sleeps until the trial is to be looked at, about once a second; `false` when it is over. What other threads took
    /// until then is counted. One thread looks.
    pub fn next_sample(&self) -> bool {
        const EVERY: Duration = Duration::from_secs(1);
        let Some(start_ns) = self.line.await_start_for(EVERY) else {
            return self.rest(Duration::ZERO, None) != Wake::Completed;
        };
        self.control.hush_this();
        let timeline = self.spec.timeline(start_ns);
        let now_ns = MonotonicClock.now_ns();
        let due_ns = next_sample_ns(&timeline, now_ns.max(self.sampled_ns.load(Ordering::Relaxed)));
        self.sampled_ns.store(due_ns, Ordering::Relaxed);
        let is_over = self.rest(Duration::from_nanos(due_ns.saturating_sub(now_ns)), None) == Wake::Completed;
        self.control.sample();
        !is_over
    }
}

/// Runs `body` on a thread of its own; its outcome comes by [`TrialHandle::wait`].
pub(crate) fn launch(
    live: Arc<Live>,
    line: Arc<StartLine>,
    spec: &TrialSpec,
    body: impl FnOnce(&Control) -> Outcome + Send + 'static,
) -> Result<TrialHandle, TrialError> {
    let (sender, finished) = channel();
    let (ended, control, over) = (Arc::clone(&line), Arc::new(Control::default()), Arc::new(Completion::new()?));
    let (beside, raised) = (Arc::clone(&control), Arc::clone(&over));
    let thread = std::thread::Builder::new().name("bakeoff-trial".to_owned()).spawn(move || {
        // Also when the body breaks; what it gives is there before.
        let _raise = raised.raised_at_end();
        let outcome = body(&beside);
        beside.end();
        // The receiver is gone when nobody wants the result any more.
        let _ = sender.send(outcome);
        ended.close();
    })?;
    let (finished, thread) = (Mutex::new(finished), Mutex::new(Some(thread)));
    let (spec, sampled_ns) = (spec.clone(), AtomicU64::new(0));
    Ok(TrialHandle { live, line, control, spec, sampled_ns, barrier: None, over, finished, thread })
}

impl Drop for TrialHandle {
    fn drop(&mut self) {
        self.line.cancel();
        if let Ok(mut thread) = self.thread.lock()
            && let Some(thread) = thread.take()
        {
            // The thread reports through the channel; a panic in it was turned into an outcome there.
            let _ = thread.join();
        }
    }
}

/// Begins a trial and returns at once: it makes itself ready and waits for [`TrialHandle::go`].
pub fn start<W: Workload>(workload: W, spec: TrialSpec) -> Result<TrialHandle, TrialError> {
    let streams = workload.streams().map_or(1, |streams| streams.per_connection);
    let remotes = workload.endpoints().iter().map(|endpoint| resolve(endpoint, streams)).collect::<Result<Vec<_>, _>>();
    let remotes = remotes.map_err(TrialError::Endpoint)?;
    process::raise_file_limit();
    let threads = spec.load_threads.min(spec.own_clients().len() as u32) as usize;
    let spec = TrialSpec { load_threads: threads as u32, ..spec };
    let live = Arc::new(Live::new(threads, spec.own_operations()));
    let line = StartLine::new(&live, threads, spec.own_sessions());
    let (watcher, start) = (Arc::clone(&live), Arc::clone(&line));
    let own = spec.clone();
    launch(live, line, &own, move |control| run(workload, spec, &watcher, &start, &remotes, control))
}

type Part<S> = std::io::Result<(Recorder, Vec<(u32, S)>, LoopFigures)>;

/// How many connections of each thread may wait for their close, by the limit of open files: those that carry sessions
/// come first, and some descriptors are for the rest of the process.
fn room_for_leavers(spec: &TrialSpec) -> usize {
    const SPARE_FILES: u64 = 128;
    let room = process::raise_file_limit().saturating_sub(u64::from(spec.own_sessions()) + SPARE_FILES);
    usize::try_from(room / u64::from(spec.load_threads.max(1))).unwrap_or(usize::MAX)
}

/// What all load-generating threads of a trial share.
struct Shared<W> {
    workload: W,
    spec: TrialSpec,
    live: Arc<Live>,
    line: Arc<StartLine>,
    barrier: ThreadBarrier,
    watched: Arc<Watched>,
}

fn run<W: Workload>(
    workload: W,
    spec: TrialSpec,
    live: &Arc<Live>,
    line: &Arc<StartLine>,
    remotes: &[Remote],
    control: &Control,
) -> Outcome {
    let count = spec.load_threads as usize;
    let watch = Watch::start()?;
    let barrier = ThreadBarrier::new(count);
    let shared = Arc::new(Shared {
        workload,
        spec,
        live: Arc::clone(live),
        line: Arc::clone(line),
        barrier,
        watched: watch.watched(),
    });
    let spawn = |thread: usize| {
        let (shared, remotes, place) = (Arc::clone(&shared), remotes.to_vec(), line.place());
        std::thread::Builder::new()
            .name(format!("bakeoff-load-{thread}"))
            .spawn(move || generate(&shared, &remotes, thread, place))
    };
    let threads: Vec<JoinHandle<Part<W::Session>>> = (0..count).map(spawn).collect::<Result<_, _>>()?;
    let start_ns = line.await_start();
    control.begin(shared.spec.timeline(start_ns));
    let mut recorders = Vec::new();
    let mut sessions = Vec::new();
    let mut figures = Vec::new();
    for thread in threads {
        let part = thread.join().map_err(|panic| TrialError::Broken(panic_text(panic.as_ref())))??;
        recorders.push(part.0);
        sessions.extend(part.1);
        figures.push(part.2);
    }
    control.end();
    live.close_intervals();
    let disturbances = watch.finish(&shared.spec.timeline(start_ns));
    let generator = GeneratorFigures {
        start: line.figures(),
        // One that was cancelled before its moment lived for no time, but did end.
        elapsed_ns: shared.barrier.end_ns().saturating_sub(start_ns).max(1),
        cancelled: live.is_cancelled(),
        fatal: shared.barrier.fatal(),
        rss_bytes: process::resident_bytes(),
        disturbances: Some(disturbances),
        workload: shared.workload.figures(sessions.iter().map(|(_, session)| session)),
        slice: (!shared.spec.is_whole()).then(|| shared.spec.own_clients()),
    };
    let threads: Vec<_> = figures.into_iter().map(|part| part.thread).collect();
    Ok(collect(&shared.workload.operations(), recorders, &threads, &generator))
}

/// Binds the calling load thread to its processor, if it has one; a refusal is told.
pub(crate) fn bind(thread: usize, processor: Option<u32>, live: &Live) {
    if let Some(processor) = processor
        && !process::pin_to(processor)
    {
        live.tell("warning", &format!("load thread {thread} could not be bound to processor {processor}"));
    }
}

/// The body of one load-generating thread.
fn generate<W: Workload>(shared: &Shared<W>, remotes: &[Remote], thread: usize, place: Place) -> Part<W::Session> {
    let Shared { workload, spec, live, line, barrier, .. } = shared;
    bind(thread, spec.pinned(thread), live);
    process::wake_on_time();
    let stages = workload.stages();
    let mut sessions = Driver::<_, MonotonicClock>::sessions(workload, spec, thread);
    if let Some(limit_s) = stages.prepare_s {
        barrier.pass(live, Stage::Prepare);
        sessions = shared.untimed_stage(sessions, remotes, thread, Stage::Prepare, limit_s);
    }
    if barrier.fatal().is_some() {
        line.close(); // nobody has to wait for the word any more
    }
    let start_ns = place.ready();
    let measured = shared.measure(sessions, remotes, thread, &stages, start_ns);
    barrier.ended(measured.as_ref().map_or_else(|_| MonotonicClock.now_ns(), |part| part.2.ended_ns));
    let Some(limit_s) = stages.drain_s else { return measured };
    // Every thread must come by here, whatever became of it, or the others would wait for ever.
    barrier.pass(live, Stage::Drain);
    let (recorder, mut sessions, figures) = measured?;
    if barrier.fatal().is_none() && !live.is_cancelled() {
        sessions = shared.untimed_stage(sessions, remotes, thread, Stage::Drain, limit_s);
    }
    Ok((recorder, sessions, figures))
}

impl<W: Workload> Shared<W> {
    /// The measured part; when the trial was given up before, it is over at once.
    fn measure(
        &self,
        mut sessions: Vec<(u32, W::Session)>,
        remotes: &[Remote],
        thread: usize,
        stages: &Stages,
        start_ns: Nanos,
    ) -> Part<W::Session> {
        let spec = &self.spec;
        let timeline = spec.timeline(start_ns);
        self.watched.expect(&timeline);
        sessions.iter_mut().for_each(|(_, session)| session.enter(Stage::Measure, &timeline));
        let live = Arc::clone(&self.live);
        let driver = Driver::resume(&self.workload, sessions, spec, live, thread, timeline, MonotonicClock);
        let mut driver = driver.under_load(&self.workload, spec);
        if self.barrier.fatal().is_some() {
            let (recorder, sessions) = driver.into_parts();
            let figures = LoopFigures { ended_ns: MonotonicClock.now_ns(), ..LoopFigures::default() };
            return Ok((recorder, sessions, figures));
        }
        let starts = driver.first_starts(spec);
        let event_loop = EventLoop::new(driver, &self.live, remotes.to_vec(), timeline)?
            .lingering(nanos(stages.linger_s))
            .with_leaving_limit(room_for_leavers(spec))
            .listening(nanos(stages.listen_s))
            .polling(spec.poll)
            .sharing(self.workload.streams())
            .watched(&self.watched);
        self.line.leave();
        let (recorder, mut sessions, figures) = event_loop.run(starts, spec.max_operations.is_some());
        sessions.iter_mut().for_each(|(_, session)| session.leave(Stage::Measure));
        Ok((recorder, sessions, figures))
    }

    /// An untimed stage: the same sessions on the same loop; what they count there is thrown away.
    fn untimed_stage(
        &self,
        mut sessions: Vec<(u32, W::Session)>,
        remotes: &[Remote],
        thread: usize,
        stage: Stage,
        limit_s: f64,
    ) -> Vec<(u32, W::Session)> {
        let now_ns = MonotonicClock.now_ns();
        let timeline = Timeline::new(now_ns, 0, nanos(limit_s), 0);
        sessions.iter_mut().for_each(|(_, session)| session.enter(stage, &timeline));
        // Its own live figures: neither the watcher's totals nor the trial's bound know of this stage.
        let live = Arc::new(Live::new(thread + 1, None));
        let driver = Driver::resume(&self.workload, sessions, &self.spec, live, thread, timeline, MonotonicClock);
        let starts = (0..driver.len()).map(|vu| (vu, now_ns)).collect();
        let mut sessions = match EventLoop::new(driver, &self.live, remotes.to_vec(), timeline) {
            // The stage is over when every session is done.
            Ok(event_loop) => event_loop.run(starts, true).1,
            Err(error) => {
                self.barrier.give_up(format!("the machine refused to run the trial: {error}"));
                return Vec::new();
            }
        };
        sessions.iter_mut().for_each(|(_, session)| session.leave(stage));
        if let Some(reason) = sessions.iter().find_map(|(_, session)| session.fatal()) {
            self.barrier.give_up(reason);
        }
        sessions
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}
