//! The threads of this process beside those of the load: put behind them while traffic runs, and what they took then.
//!
//! A thread is told by its name: those that make load, that serve, and that watch over the process keep their priority.
//! The main thread does, too: it sleeps meanwhile, and hears signals at once.

use crate::clock::MonotonicClock;
use bakeoff_engine::{Clock, Nanos, Timeline};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Threads with names that begin so make load or serve it, or run calls of files for those that do.
const LOAD: [&str; 5] = ["bakeoff-load", "bakeoff-file", "bakeoff-folder", "target-", "iou-"];
/// The same of those that wait for the load and watch over it: what they take is counted, their priority stays.
const OVERSEERS: [&str; 2] = ["bakeoff-watch", "bakeoff-trial"];

/// How the other threads are put behind the load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackgroundPolicy {
    /// They run when nobody else wants to (`SCHED_IDLE`); else they only interrupt nobody (`SCHED_BATCH`).
    pub idle: bool,
    /// Where they may run; anywhere when empty.
    pub processors: Vec<u32>,
}

impl BackgroundPolicy {
    fn policy(&self) -> i32 {
        if self.idle { libc::SCHED_IDLE } else { libc::SCHED_BATCH }
    }
}

/// What the other threads took of the window, or of as much of it as was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlFigures {
    /// Their processor time, ns.
    pub cpu_ns: Nanos,
    /// Within this time, ns.
    pub span_ns: Nanos,
    /// The most that one of them took between two samples, ns: no piece of work was longer.
    pub longest_ns: Nanos,
}

/// A thread's scheduling as it was.
#[derive(Debug)]
struct Before {
    tid: i32,
    policy: i32,
    processors: Option<libc::cpu_set_t>,
}

#[derive(Default)]
struct State {
    background: Option<BackgroundPolicy>,
    before: Vec<Before>,
    timeline: Option<Timeline>,
    seen: HashMap<i32, u64>,
    since_ns: Nanos,
    figures: ControlFigures,
    closed: bool,
}

impl State {
    /// Puts a thread behind the load, where that was asked for, unless somebody has chosen another priority for it.
    fn run_in_background(&mut self, tid: i32) {
        let Some(background) = self.background.as_ref().filter(|_| !self.closed && scheduler(tid) == libc::SCHED_OTHER)
        else {
            return;
        };
        let processors = (!background.processors.is_empty()).then(|| processors_of(tid)).flatten();
        if set_scheduler(tid, background.policy()) {
            if processors.is_some() {
                set_processors(tid, &set_of(&background.processors));
            }
            self.before.push(Before { tid, policy: libc::SCHED_OTHER, processors });
        }
    }
}

/// One per trial.
#[derive(Default)]
pub(crate) struct Control {
    state: Mutex<State>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Control")
    }
}

impl Control {
    /// From the start of traffic on the other threads are put behind it so.
    pub fn run_in_background(&self, background: BackgroundPolicy) {
        self.lock().background = Some(background);
    }

    /// Traffic begins.
    pub fn begin(&self, timeline: Timeline) {
        self.hush();
        let mut state = self.lock();
        state.timeline = Some(timeline);
        drop(state);
        self.sample();
    }

    /// Traffic is over.
    pub fn end(&self) {
        self.sample();
        self.lock().closed = true;
        self.restore();
    }

    /// Counts what the other threads took. Samples before the window only begin the count again.
    pub fn sample(&self) {
        let mut state = self.lock();
        let Some(timeline) = state.timeline.filter(|_| !state.closed) else { return };
        let now_ns = MonotonicClock.now_ns();
        let taken: HashMap<i32, u64> = others().into_iter().map(|tid| (tid, run_ns(tid))).collect();
        if state.since_ns > 0 {
            let grown = |(tid, ns): (&i32, &u64)| ns.saturating_sub(state.seen.get(tid).copied().unwrap_or(0));
            let (mut sum_ns, mut most_ns) = (0, 0);
            for ns in taken.iter().map(grown) {
                sum_ns += ns;
                most_ns = ns.max(most_ns);
            }
            let longest_ns = state.figures.longest_ns.max(most_ns);
            let (cpu_ns, span_ns) = (state.figures.cpu_ns + sum_ns, state.figures.span_ns + now_ns - state.since_ns);
            state.figures = ControlFigures { cpu_ns, span_ns, longest_ns };
        }
        if now_ns < timeline.window_start_ns {
            state.figures = ControlFigures::default();
        }
        state.closed = now_ns >= timeline.window_end_ns;
        state.seen = taken;
        state.since_ns = now_ns;
    }

    /// What was counted so far; `None` before anything was.
    pub fn figures(&self) -> Option<ControlFigures> {
        Some(self.lock().figures).filter(|figures| figures.span_ns > 0)
    }

    /// Puts the other threads behind the load, where that was asked for.
    pub fn hush(&self) {
        let mut state = self.lock();
        let own = std::process::id() as i32;
        for (tid, name) in threads() {
            if tid != own && !is(&name, &LOAD) && !is(&name, &OVERSEERS) {
                state.run_in_background(tid);
            }
        }
    }

    /// The same for the calling thread alone, which may have begun when the others were put behind already.
    pub fn hush_this(&self) {
        let mut state = self.lock();
        if state.timeline.is_some() {
            // SAFETY: the call has no preconditions.
            state.run_in_background(unsafe { libc::gettid() });
        }
    }

    /// Gives all threads back what they had.
    pub fn restore(&self) {
        let mut state = self.lock();
        let before = std::mem::take(&mut state.before);
        let Some(policy) = state.background.as_ref().map(BackgroundPolicy::policy) else { return };
        let made = before.first().map(|first| (first.policy, first.processors));
        for each in &before {
            give_back(each.tid, each.policy, each.processors.as_ref());
        }
        // Threads that were begun meanwhile have what those that began them had.
        if let Some((was, processors)) = made {
            for (tid, name) in threads() {
                if !is(&name, &LOAD) && before.iter().all(|each| each.tid != tid) && scheduler(tid) == policy {
                    give_back(tid, was, processors.as_ref());
                }
            }
        }
    }

    /// A panic elsewhere leaves a whole state behind.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Whether threads that were put into the idle class can leave it again: the kernel asks for the right to be nicer.
pub fn can_return() -> bool {
    // SAFETY: `limit` is a valid rlimit; geteuid has no preconditions.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        let told = libc::getrlimit(libc::RLIMIT_NICE, &raw mut limit) == 0;
        (told && limit.rlim_cur >= 20) || may_be_nicer()
    }
}

/// Whether this process has `CAP_SYS_NICE`.
fn may_be_nicer() -> bool {
    const CAP_SYS_NICE: u64 = 23;
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else { return false };
    let mask = text.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> CAP_SYS_NICE & 1 == 1)
}

fn is(name: &str, of: &[&str]) -> bool {
    of.iter().any(|begin| name.starts_with(begin))
}

/// Numbers and names of the threads of this process.
fn threads() -> Vec<(i32, String)> {
    let Ok(entries) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let tids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let named = |tid| Some((tid, std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")).ok()?));
    tids.filter_map(named).collect()
}

/// All threads that neither make load nor serve it.
fn others() -> Vec<i32> {
    threads().into_iter().filter(|(_, name)| !is(name, &LOAD)).map(|(tid, _)| tid).collect()
}

/// Time that a thread has run, ns; 0 when it has ended or the kernel does not tell.
fn run_ns(tid: i32) -> u64 {
    let Ok(text) = std::fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")) else { return 0 };
    text.split_whitespace().next().and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn scheduler(tid: i32) -> i32 {
    // SAFETY: a system call that takes one number.
    unsafe { libc::sched_getscheduler(tid) }
}

fn set_scheduler(tid: i32, policy: i32) -> bool {
    let no_priority = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameter is valid for the call.
    unsafe { libc::sched_setscheduler(tid, policy, &raw const no_priority) == 0 }
}

fn give_back(tid: i32, policy: i32, processors: Option<&libc::cpu_set_t>) {
    set_scheduler(tid, policy);
    if let Some(processors) = processors {
        set_processors(tid, processors);
    }
}

fn processors_of(tid: i32) -> Option<libc::cpu_set_t> {
    // SAFETY: an all-zero cpu_set_t is the empty set, and the call gets its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (libc::sched_getaffinity(tid, size_of::<libc::cpu_set_t>(), &raw mut set) == 0).then_some(set)
    }
}

fn set_processors(tid: i32, set: &libc::cpu_set_t) {
    // SAFETY: the set is valid for the call, which gets its size; a refusal leaves the thread where it may run now.
    unsafe { libc::sched_setaffinity(tid, size_of::<libc::cpu_set_t>(), &raw const *set) };
}

fn set_of(processors: &[u32]) -> libc::cpu_set_t {
    // SAFETY: an all-zero cpu_set_t is the empty set; indices are checked against its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &processor in processors.iter().filter(|&&processor| (processor as i32) < libc::CPU_SETSIZE) {
            libc::CPU_SET(processor as usize, &mut set);
        }
        set
    }
}

/// When the trial is looked at next, after a look at `last_ns` or now: a moment before its window, each second from
/// there on and at its end; never twice within half a second.
pub(crate) fn next_sample_ns(timeline: &Timeline, last_ns: Nanos) -> Nanos {
    const SECOND_NS: Nanos = 1_000_000_000;
    const EARLY_NS: Nanos = 30_000_000;
    let (begin_ns, end_ns) = (timeline.window_start_ns.saturating_sub(EARLY_NS), timeline.window_end_ns);
    let next = |from_ns: Nanos| from_ns + ((last_ns - from_ns) / SECOND_NS + 1) * SECOND_NS;
    if last_ns < begin_ns {
        return begin_ns - (begin_ns - last_ns - 1) / SECOND_NS * SECOND_NS;
    }
    if last_ns >= end_ns {
        return next(end_ns);
    }
    let next_ns = next(begin_ns);
    if next_ns + SECOND_NS / 2 > end_ns { end_ns } else { next_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = 1_000_000_000;

    fn samples(timeline: &Timeline, until_ns: Nanos) -> Vec<Nanos> {
        let mut found = vec![];
        let mut last_ns = timeline.start_ns;
        while last_ns < until_ns {
            last_ns = next_sample_ns(timeline, last_ns);
            found.push((last_ns - timeline.start_ns) / 10_000_000);
        }
        found
    }

    #[test]
    fn a_window_is_looked_at_once_a_second_and_at_its_ends() {
        let timeline = Timeline::new(10 * S, S / 2, 5 * S / 2 + S / 2, 0);
        assert_eq!(samples(&timeline, timeline.end_ns + S), [47, 147, 247, 300, 400]);
        let short = Timeline::new(10 * S, 0, S, 0);
        assert_eq!(samples(&short, short.end_ns), [100]);
        let ramped = Timeline::new(10 * S, 3 * S, 5 * S, 0);
        assert_eq!(samples(&ramped, ramped.end_ns), [97, 197, 297, 397, 500]);
    }

    #[test]
    fn what_other_threads_take_is_counted_and_what_load_threads_take_is_not() {
        use std::sync::mpsc::channel;
        let control = Control::default();
        control.begin(Timeline::new(MonotonicClock.now_ns(), 0, 3_600 * S, 0));
        let busy = |name: &str| {
            let ((tell, told), (stop, stopped)) = (channel(), channel::<()>());
            let begun = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                while crate::clock::thread_cpu_ns() < 50_000_000 {}
                // SAFETY: the call has no preconditions.
                tell.send(unsafe { libc::gettid() }).unwrap();
                let _ = stopped.recv();
            });
            (told.recv().unwrap(), stop, begun.unwrap())
        };
        let (load, other) = (busy("bakeoff-load-7"), busy("other"));
        let counted = others();
        assert!(counted.contains(&other.0) && !counted.contains(&load.0));
        control.sample();
        let figures = control.figures().unwrap();
        assert!(figures.cpu_ns >= 50_000_000 && figures.longest_ns >= 50_000_000 && figures.span_ns > 0);
        drop((load.1, other.1));
        load.2.join().unwrap();
        other.2.join().unwrap();
    }
}
