//! Runs one trial of file work: a thread for each session, a watch over them, and the clean-up.

use super::buffers::AlignedBuffers;
use super::calls::Calls;
use super::folder::left_in;
use super::virtual_user::{self, CallCounter, Common, End, VirtualUser};
use super::work_place::WorkPlace;
use super::{server_queue, uring};
use crate::barrier::sessions::SessionBarrier;
use crate::clock::{MonotonicClock, thread_cpu_ns};
use crate::process::{self, spent};
use crate::trial::start_line::{Place, StartLine};
use crate::trial::{Outcome, TrialError, TrialHandle, bind, launch, panic_text};
use crate::watch::control::Control;
use crate::watch::{Watch, Watched};
use bakeoff_engine::{
    Clock, Connections, Executor, FileDriver, FileNeeds, FileWorkload, Generator, GeneratorFigures, Live, Nanos,
    Recorder, ThreadFigures, TrialSpec, Unfinished, collect,
};
use serde_json::json;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Who has cancelled a trial does not wait longer than this for a call to come back; calls of working shares do.
const CANCELLED_STALL_NS: Nanos = 10_000_000_000;
const STACK_BYTES: usize = 512 * 1024;
/// How often it is looked whether a call hangs: beside the load no more than is needed for that.
const WATCH_EVERY: Duration = Duration::from_secs(1);
const WATCHES_IN_PATIENCE: u32 = 4;
/// The same until traffic begins.
const WATCH_START_EVERY: Duration = Duration::from_millis(5);

/// Begins a trial of file work and returns at once: it makes itself ready and waits for [`TrialHandle::go`].
pub fn start_files<W: FileWorkload>(workload: W, spec: TrialSpec) -> Result<TrialHandle, TrialError> {
    process::raise_file_limit();
    // SAFETY: ignoring a signal; a file that grows too far then fails with EFBIG instead of killing the process.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let live = Arc::new(Live::new(spec.own_sessions() as usize, spec.own_operations()));
    let line = StartLine::new(&live, spec.own_sessions() as usize, spec.own_sessions());
    let (watched, start) = (Arc::clone(&live), Arc::clone(&line));
    let barrier = Arc::new(SessionBarrier::new(spec.own_sessions(), !spec.is_whole()));
    let place = Arc::clone(&barrier);
    let own = spec.clone();
    let body = move |control: &Control| run(&Arc::new(workload), &Arc::new(spec), &watched, &start, place, control);
    let trial = launch(live, line, &own, body)?;
    Ok(trial.with_barrier(barrier))
}

/// What a session hands in at its end.
type SessionEnd<S> = (Recorder, S, ThreadFigures, End);
type ThreadEnd<S> = (usize, Result<SessionEnd<S>, String>);

fn run<W: FileWorkload>(
    workload: &Arc<W>,
    spec: &Arc<TrialSpec>,
    live: &Arc<Live>,
    line: &Arc<StartLine>,
    rendezvous: Arc<SessionBarrier>,
    control: &Control,
) -> Outcome {
    let needs = workload.needs();
    let patience = Duration::from_nanos(needs.stall_ns);
    let (made, server) = (needs.clone(), workload.server());
    // A share that hangs must not hang the run: whatever touches it has a thread of its own.
    let opened = within(patience, move || WorkPlace::make(server, &made).map(|place| (place.counters(), place)));
    let not_started = |reason: String| Ok(finish(workload, Vec::new(), &[], &figures(live, 0, Some(reason))));
    let (counters, place) = match opened {
        None => return not_started(hung(&needs, needs.stall_ns)),
        Some(Err(unusable)) => {
            refuse_left(&needs, unusable.full, &unusable.reason)?;
            return not_started(unusable.reason);
        }
        Some(Ok(prepared)) => prepared,
    };
    let sessions = spec.own_sessions() as usize;
    let common = Arc::new(Common {
        live: Arc::clone(live),
        line: Arc::clone(line),
        rendezvous,
        place,
        counters: Mutex::new(counters),
        cold_command: needs.cold_command.clone(),
        command_fault: Mutex::default(),
        beats: (0..sessions).map(|_| CallCounter::default()).collect(),
        times: Arc::default(),
        full: AtomicBool::new(false),
    });
    let watch = Watch::start()?;
    let (sender, parts) = channel();
    let mut started = 0;
    let mut unstarted = None;
    while started < sessions && unstarted.is_none() {
        match spawn(started, &sender, workload, spec, &common, &needs, &watch.watched()) {
            Ok(()) => started += 1,
            Err(error) => unstarted = Some(error),
        }
    }
    drop(sender);
    if unstarted.is_some() {
        stop(&common);
    }
    let begin = |start_ns| control.begin(spec.timeline(start_ns));
    let gathered = gather(&parts, &common, started, &needs, begin);
    control.end();
    let start_ns = line.await_start();
    let disturbances = watch.finish(&spec.timeline(start_ns));
    let elapsed_ns = MonotonicClock.now_ns().saturating_sub(start_ns).max(1);
    let mut fault = gathered.fault;
    if !gathered.hung {
        // In this order: what is taken away cannot be looked for any more.
        fault = fault.or_else(|| vanished(&common, patience));
        // What was left before this trial, not what it leaves itself.
        let in_the_way = match &fault {
            Some(reason) => refuse_left(&needs, common.full.load(Ordering::Relaxed), reason),
            None => Ok(()),
        };
        remove(&common, fault.is_some(), patience);
        in_the_way?;
    }
    if let Some(error) = unstarted {
        return Err(error);
    }
    if let Some(broken) = gathered.broken {
        return Err(TrialError::Broken(broken));
    }
    let mut recorders = Vec::new();
    let mut threads = Vec::new();
    let mut done = Vec::new();
    for (_, part) in gathered.parts {
        recorders.push(part.0);
        done.push(part.1);
        threads.push(part.2);
    }
    let mut generator = figures(live, elapsed_ns, fault);
    generator.start = line.figures();
    generator.disturbances = Some(disturbances);
    generator.workload = workload.figures(&done);
    generator.slice = (!spec.is_whole()).then(|| spec.own_clients());
    Ok(finish(workload, recorders, &threads, &generator))
}

fn finish<W: FileWorkload>(
    workload: &Arc<W>,
    recorders: Vec<Recorder>,
    threads: &[ThreadFigures],
    generator: &GeneratorFigures,
) -> bakeoff_engine::TrialResult {
    let mut result = collect(&workload.operations(), recorders, threads, generator);
    workload.complete(&mut result);
    if let Some(figures) = result.workload.as_object_mut() {
        // What Little's law has to count beside the operations: sessions were not idle in this time.
        let outside_ns: Nanos = threads.iter().map(|thread| thread.outside_ns).sum();
        figures.insert("outside_s".to_owned(), json!(outside_ns as f64 / 1e9));
    }
    result
}

fn figures(live: &Live, elapsed_ns: Nanos, fatal: Option<String>) -> GeneratorFigures {
    GeneratorFigures {
        elapsed_ns,
        cancelled: live.is_cancelled() && fatal.is_none(),
        fatal,
        rss_bytes: process::resident_bytes(),
        ..GeneratorFigures::default()
    }
}

fn hung(needs: &FileNeeds, patience_ns: Nanos) -> String {
    let waited_s = patience_ns as f64 / 1e9;
    format!("{} did not answer for {waited_s} s: is the share still there?", needs.folder)
}

/// The value of `work` when it comes in time; a thread that hangs is left behind.
fn within<T: Send + 'static>(patience: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, result) = channel();
    let spawned = std::thread::Builder::new().name("bakeoff-folder".to_owned()).spawn(move || {
        // Nobody listens any more when the patience was over.
        let _ = sender.send(work());
    });
    spawned.ok()?;
    result.recv_timeout(patience).ok()
}

/// Why what was measured was not in the contender's folder: it was taken away from above the trial, which went on
/// in a folder that has no name any more.
fn vanished(common: &Arc<Common>, patience: Duration) -> Option<String> {
    let shared = Arc::clone(common);
    let is_there = within(patience, move || shared.place.is_there());
    let parent = common.place.parent();
    match is_there {
        Some(true) => None,
        Some(false) => Some(format!("{parent} has vanished while the trial ran: mount the share again")),
        None => Some(format!("{parent} did not answer at the end of the trial: is the share still there?")),
    }
}

/// Removes the trial's folder, where it is not to stay, and tells what could not be removed: that says nothing about
/// how the contender did its work.
fn remove(common: &Arc<Common>, failed: bool, patience: Duration) {
    let shared = Arc::clone(common);
    let reason = match within(patience, move || shared.place.remove(failed)) {
        Some(Ok(())) => return,
        Some(Err(reason)) => reason,
        None => {
            common.place.left_behind();
            let (folder, waited_s) = (common.place.shown(), patience.as_secs_f64());
            format!("{folder} could not be removed in {waited_s} s: remove it yourself")
        }
    };
    common.live.tell("warning", &reason);
}

/// A contender's folder that is full is not to blame for what trials before this one left in it.
fn refuse_left(needs: &FileNeeds, full: bool, reason: &str) -> Result<(), TrialError> {
    let left = if full { left_in(&needs.folder) } else { Vec::new() };
    if left.is_empty() {
        return Ok(());
    }
    let left = left.join(", ");
    Err(TrialError::InTheWay(format!("{reason}; {left} of an earlier trial could not be removed: remove it yourself")))
}

fn spawn<W: FileWorkload>(
    session: usize,
    sender: &Sender<ThreadEnd<W::Session>>,
    workload: &Arc<W>,
    spec: &Arc<TrialSpec>,
    common: &Arc<Common>,
    needs: &FileNeeds,
    watched: &Arc<Watched>,
) -> Result<(), TrialError> {
    let (sender, workload, spec) = (sender.clone(), Arc::clone(workload), Arc::clone(spec));
    let (common, needs, at_line) = (Arc::clone(common), needs.clone(), common.line.place());
    let watched = Arc::clone(watched);
    let body = move || {
        let run = AssertUnwindSafe(|| work(session, &*workload, &spec, &common, &needs, at_line, &watched));
        let part = std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(panic_text(panic.as_ref())));
        common.rendezvous.leave();
        // The trial has given this session up when nobody listens.
        let _ = sender.send((session, part));
    };
    let name = format!("bakeoff-file-{session}");
    std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(body)?;
    Ok(())
}

/// The processor of a session: as the user says, or one of its own for each of several that find room.
///
/// The kernel wakes a thread beside the one that woke it. On 2 idle processors two clients of 64 KiB files ran on one,
/// one after the other, in 23 of 30 trials; placed like this in none.
fn place(session: usize, spec: &TrialSpec) -> Option<u32> {
    let sessions = spec.own_sessions() as usize;
    if sessions == 1 || spec.pinned(session).is_some() {
        return spec.pinned(session);
    }
    let processors = process::processors();
    if sessions <= processors.len() { processors.get(session).copied() } else { None }
}

/// The body of a session's thread.
fn work<W: FileWorkload>(
    session: usize,
    workload: &W,
    spec: &TrialSpec,
    common: &Arc<Common>,
    needs: &FileNeeds,
    at_line: Place,
    watched: &Watched,
) -> Result<SessionEnd<W::Session>, String> {
    process::block_signals();
    bind(session, place(session, spec), &common.live);
    let clock = MonotonicClock;
    common.begin(session);
    // Clients keep the numbers that they have in the whole trial.
    let number = spec.own_clients().start * spec.virtual_users + session as u32;
    let prepared = common.place.calls(needs, number).and_then(|calls| {
        let buffers = AlignedBuffers::new(needs.buffers, needs.buffer_bytes).map_err(|error| error.to_string())?;
        Ok(VirtualUser::new(Arc::clone(common), calls, buffers.register(needs.registered_bytes), session))
    });
    let start_ns = if prepared.is_ok() { at_line.ready() } else { at_line.broken() };
    let timeline = spec.timeline(start_ns);
    watched.expect(&timeline);
    let live = Arc::clone(&common.live);
    let mut driver = FileDriver::new(workload, spec, live, Arc::clone(&common.times), number, start_ns, clock);
    let (end, lived_ns, cpu_ns, run_delay_ns) = match prepared {
        Err(reason) => (End::Aborted(reason), 0, 0, None),
        Ok(mut vu) => {
            let planned_ns = driver.first_start(spec);
            common.line.leave();
            vu.sleep_until(planned_ns, &clock);
            let (cpu_ns, waited_ns, begun_ns) = (thread_cpu_ns(), process::thread_run_delay_ns(), clock.now_ns());
            driver.resumed(Some(planned_ns));
            let end = match (needs.executor, &vu.calls) {
                (Executor::Blocking, _) => virtual_user::run(&mut driver, &mut vu, &clock),
                (Executor::Ring, Calls::Folder(_)) => uring::run(&mut driver, &mut vu, &clock),
                (Executor::Ring, Calls::Server(_)) => server_queue::run(&mut driver, &mut vu, &clock),
            };
            let (lived_ns, cpu_ns) = (clock.now_ns() - begun_ns, thread_cpu_ns() - cpu_ns);
            let run_delay_ns = spent(waited_ns, process::thread_run_delay_ns());
            vu.end();
            (end, lived_ns, cpu_ns, run_delay_ns)
        }
    };
    let (unfinished, oldest_unfinished_ns) = driver.unfinished(clock.now_ns());
    let window_ns = lived_ns.min(timeline.window_end_ns - timeline.window_start_ns);
    // Ramps cost as much CPU per second as the window, and waits are as frequent.
    let of_window = |ns: Nanos| if lived_ns > 0 { (ns as f64 * window_ns as f64 / lived_ns as f64) as u64 } else { 0 };
    let (cpu_ns, run_delay_ns) = (of_window(cpu_ns), run_delay_ns.map(of_window));
    let figures = ThreadFigures {
        window_ns,
        // No call of a file is looked for: the thread sleeps until it ends.
        cost: Generator::of_thread(window_ns, cpu_ns, 0, run_delay_ns),
        connections: Connections::default(),
        unfinished: Unfinished { operations: unfinished, oldest_s: oldest_unfinished_ns as f64 / 1e9 },
        outside_ns: driver.outside_ns(),
    };
    let (recorder, session) = driver.into_parts();
    Ok((recorder, session, figures, end))
}

struct SessionEnds<S> {
    parts: Vec<(usize, SessionEnd<S>)>,
    fault: Option<String>,
    /// The folder does not answer: nothing can be removed from it.
    hung: bool,
    broken: Option<String>,
}

/// Waits for all sessions, but not for one whose call hangs longer than the workload allows. `begin` is told when
/// traffic starts.
fn gather<S>(
    parts: &Receiver<ThreadEnd<S>>,
    common: &Common,
    sessions: usize,
    needs: &FileNeeds,
    begin: impl Fn(Nanos),
) -> SessionEnds<S> {
    let mut gathered = SessionEnds { parts: Vec::with_capacity(sessions), fault: None, hung: false, broken: None };
    let every = WATCH_EVERY.min(Duration::from_nanos(needs.stall_ns) / WATCHES_IN_PATIENCE);
    let mut ended = vec![false; sessions];
    let mut seen: Vec<(u64, Nanos)> = vec![(0, 0); sessions];
    let mut begun = false;
    while ended.iter().any(|ended| !ended) {
        if !begun && let Some(start_ns) = common.line.await_start_for(Duration::ZERO) {
            begun = true;
            begin(start_ns);
        }
        match parts.recv_timeout(if begun { every } else { WATCH_START_EVERY }) {
            Ok((session, Ok(part))) => {
                ended[session] = true;
                if let End::Aborted(reason) = &part.3 {
                    gathered.fault.get_or_insert_with(|| reason.clone());
                    stop(common);
                }
                gathered.parts.push((session, part));
            }
            Ok((session, Err(panic))) => {
                ended[session] = true;
                gathered.broken.get_or_insert(panic);
                stop(common);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let mut patience_ns = needs.stall_ns;
        if common.live.is_cancelled() {
            common.rendezvous.break_up();
            patience_ns = patience_ns.min(CANCELLED_STALL_NS);
        }
        let now_ns = MonotonicClock.now_ns();
        for (session, last) in seen.iter_mut().enumerate() {
            if ended[session] {
                continue;
            }
            let beat = common.beats[session].0.load(Ordering::Relaxed);
            if beat != last.0 || beat.is_multiple_of(2) || last.1 == 0 {
                *last = (beat, now_ns);
            } else if now_ns - last.1 > patience_ns {
                gathered.fault.get_or_insert_with(|| hung(needs, patience_ns));
                gathered.hung = true;
                ended[session] = true;
                stop(common);
            }
        }
    }
    gathered.parts.sort_by_key(|part| part.0);
    gathered
}

/// The trial ends before its time, through no wish of the user.
fn stop(common: &Common) {
    common.line.cancel();
    common.rendezvous.break_up();
}
