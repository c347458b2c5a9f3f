//! A watch over the generator itself: what happens to this process and this machine while a trial runs.
//!
//! One thread that sleeps and looks how late it wakes. Neither the threads that make the load nor the server under
//! test can tell that the whole process was stopped.

pub(super) mod control;
mod samples;
mod throttled;

use crate::clock::{self, MonotonicClock};
use crate::process;
use bakeoff_engine::{Clock, Disturbances, Nanos, Stop, Timeline};
use samples::{Sample, Samples};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
pub(crate) use throttled::Throttled;

/// The clocks and the stolen time at one moment.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "units come last in names")]
struct ClockReading {
    now_ns: Nanos,
    suspended_ns: i64,
    wall_ns: i64,
    stolen_ns: Option<Nanos>,
}

impl ClockReading {
    fn now() -> Self {
        let (now_ns, suspended_ns, wall_ns) = clock::offsets();
        Self { now_ns, suspended_ns, wall_ns, stolen_ns: process::stolen_ns() }
    }
}

/// What the watch and the trial that it watches tell each other.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    window: Mutex<Option<(Nanos, Nanos)>>,
    missed_ns: AtomicU64,
}

impl Watched {
    /// The measured window is known; the first word counts.
    pub fn expect(&self, timeline: &Timeline) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.get_or_insert((timeline.window_start_ns, timeline.window_end_ns));
    }

    /// For how long the process did not run since the watch began, ns: it was stopped, or starved of processors.
    pub fn missed_ns(&self) -> Nanos {
        self.missed_ns.load(Ordering::Relaxed)
    }

    fn window(&self) -> Option<(Nanos, Nanos)> {
        *self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread saw.
#[derive(Debug)]
struct WatchResult {
    samples: Samples,
    /// From the first look in the window to the last one.
    throttled: Option<Throttled>,
}

/// Runs from [`Watch::start`] to [`Watch::finish`].
#[derive(Debug)]
pub(crate) struct Watch {
    began: ClockReading,
    watched: Arc<Watched>,
    over: OwnedFd,
    thread: Option<JoinHandle<WatchResult>>,
}

impl Watch {
    pub fn start() -> io::Result<Self> {
        let (over, bell) = (event()?, WakeEvent::new()?);
        bell.listen(&over)?;
        let watched = Arc::new(Watched::default());
        let told = Arc::clone(&watched);
        let body = move || {
            process::block_signals();
            process::wake_on_time();
            sample(&bell, &told)
        };
        let thread = std::thread::Builder::new().name("bakeoff-watch".to_owned()).stack_size(64 * 1024).spawn(body)?;
        Ok(Self { began: ClockReading::now(), watched, over, thread: Some(thread) })
    }

    /// What load threads tell it, and may ask.
    pub fn watched(&self) -> Arc<Watched> {
        Arc::clone(&self.watched)
    }

    fn end(&mut self) -> Option<WatchResult> {
        let one = 1_u64;
        // SAFETY: eight bytes of a number that lives. A full counter is as good as one that was added to.
        unsafe { libc::write(self.over.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
        self.thread.take()?.join().ok()
    }

    /// What was seen; where a stop lies is told from the timeline's start.
    pub fn finish(mut self, timeline: &Timeline) -> Disturbances {
        let seen = self.end();
        let ended = ClockReading::now();
        let seconds = |ns: i64| ns as f64 / 1e9;
        let window = (timeline.window_start_ns, timeline.window_end_ns);
        let stop = |&(from, to): &samples::Gap| Stop {
            at_s: seconds(from as i64 - timeline.start_ns as i64),
            length_s: seconds((to - from) as i64),
            window_s: seconds(samples::inside((from, to), Some(window)) as i64),
        };
        let stolen_ns = ended.stolen_ns.zip(self.began.stolen_ns).map(|(now, then)| now.saturating_sub(then));
        let lived_ns = ended.now_ns.saturating_sub(self.began.now_ns).max(1);
        let samples = seen.as_ref().map(|seen| &seen.samples);
        let throttled = seen.as_ref().and_then(|seen| seen.throttled.as_ref());
        Disturbances {
            stops: samples.map_or_else(Vec::new, |samples| samples.long.iter().map(stop).collect()),
            stopped_s: samples.map(|samples| seconds(samples.stopped_in_window_ns as i64)),
            interrupted: samples.map(|samples| samples.interrupted_in_window),
            throttled_s: throttled.map(|each| seconds(each.length_ns as i64)),
            throttled: throttled.map(|each| each.periods),
            suspended_s: seconds(ended.suspended_ns - self.began.suspended_ns).max(0.0),
            clock_step_s: seconds(ended.wall_ns - self.began.wall_ns),
            stolen_s: stolen_ns.map(|ns| seconds(ns as i64)),
            stolen_share: stolen_ns.map(|ns| share(ns, lived_ns)),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Stolen time is told in whole ticks: in a moment that is shorter than one there is not more of it than of time.
fn share(stolen_ns: Nanos, lived_ns: Nanos) -> f64 {
    (stolen_ns as f64 / lived_ns as f64).min(1.0)
}

fn event() -> io::Result<OwnedFd> {
    // SAFETY: a descriptor that is not negative is ours.
    unsafe { owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }
}

/// # Safety
/// Nobody else may own the descriptor.
unsafe fn owned(descriptor: i32) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as the caller says.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// How a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SleepEnd {
    InTime,
    /// The process was stopped and goes on, or a debugger came: the kernel ends no other sleep of a thread that blocks
    /// its signals.
    Interrupted,
    Over,
}

/// Sleeps that end early when the process was stopped: those on epoll do, those on a lock begin again unseen.
#[derive(Debug)]
struct WakeEvent(OwnedFd);

impl WakeEvent {
    fn new() -> io::Result<Self> {
        // SAFETY: a descriptor that is not negative is ours.
        unsafe { owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)) }.map(Self)
    }

    fn listen(&self, descriptor: &OwnedFd) -> io::Result<()> {
        let mut wish = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        let (bell, other) = (self.0.as_raw_fd(), descriptor.as_raw_fd());
        // SAFETY: both descriptors live, and `wish` is a valid event.
        match unsafe { libc::epoll_ctl(bell, libc::EPOLL_CTL_ADD, other, &raw mut wish) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn sleep(&self, until_ns: Nanos) -> SleepEnd {
        let left_ns = until_ns.saturating_sub(MonotonicClock.now_ns());
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: one event fits where one is asked for.
        match unsafe { libc::epoll_wait(self.0.as_raw_fd(), &raw mut event, 1, left_ns.div_ceil(1_000_000) as i32) } {
            0 => SleepEnd::InTime,
            1 => SleepEnd::Over,
            _ => SleepEnd::Interrupted,
        }
    }
}

/// Sleeps and samples until it hears that it is over.
fn sample(bell: &WakeEvent, watched: &Watched) -> WatchResult {
    let run_delay = process::RunDelay::of_this_thread();
    let mut samples = Samples::new(MonotonicClock.now_ns(), run_delay.read_ns());
    let (mut at_start, mut at_end) = (None, None);
    loop {
        let woken = bell.sleep(samples.due_ns());
        let now_ns = MonotonicClock.now_ns();
        let window = watched.window();
        let interrupted = woken == SleepEnd::Interrupted;
        samples.add(Sample { now_ns, run_delay_ns: run_delay.read_ns(), interrupted }, window);
        watched.missed_ns.store(samples.missed_ns, Ordering::Relaxed);
        let passed = |edge: fn((Nanos, Nanos)) -> Nanos| window.is_some_and(|window| now_ns >= edge(window));
        if at_start.is_none() && passed(|window| window.0) {
            at_start = Some(Throttled::read());
        }
        let over = woken == SleepEnd::Over;
        if at_end.is_none() && at_start.is_some() && (over || passed(|window| window.1)) {
            at_end = Some(Throttled::read());
        }
        if over {
            let throttled = at_end.flatten().zip(at_start.flatten()).map(|(end, start)| end.since(start));
            return WatchResult { samples, throttled };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_of_stolen_time_is_no_more_than_the_moment_in_which_it_was_told() {
        assert!((share(10_000_000, 100_000_000) - 0.1).abs() < 1e-12);
        assert!((share(10_000_000, 50_000) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_watch_that_saw_nothing_says_so() {
        let watch = Watch::start().unwrap();
        let timeline = Timeline::new(MonotonicClock.now_ns(), 0, 1_000_000_000, 0);
        watch.watched().expect(&timeline);
        let seen = watch.finish(&timeline);
        assert!(seen.suspended_s < 0.001, "{seen:?}");
        assert!(seen.clock_step_s.abs() < 0.01, "{seen:?}");
        assert!(seen.stolen_share.is_none_or(|share| share <= 1.0), "{seen:?}");
        assert_eq!(seen.interrupted, Some(0), "{seen:?}");
    }
}
