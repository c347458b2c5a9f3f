//! When lanes begin: asked whenever one is free. Pure: it is told the time.

mod arrivals;
mod pause;

use crate::spec::nanos;
use crate::{Load, Nanos, Rng, Timeline, TrialSpec};
use arrivals::Arrivals;
use pause::Pause;

/// The schedule of one load-generating thread (in file suites: of one session).
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Closed loop: a lane begins when it is free and has paused.
    AfterPause(Pause),
    /// Open loop: starts are planned; whichever lane is free takes the next.
    Planned(Plan),
}

impl Schedule {
    /// Each lane follows itself, as fast as the trial's pauses allow.
    pub fn after_pause(spec: &TrialSpec, thread: usize) -> Self {
        Self::AfterPause(Pause::new(spec, thread, 0))
    }

    /// That of the trial's load, for thread `thread` of `threads` which share it.
    pub fn of_load(spec: &TrialSpec, thread: usize, threads: u32, timeline: Timeline) -> Self {
        match &spec.load {
            Load::Clients(_) => Self::after_pause(spec, thread),
            Load::Rate(rate) => {
                Self::Planned(Plan::new(Arrivals::new(rate, thread as u32, threads, spec.seed), timeline))
            }
        }
    }

    /// Whether starts are planned ahead, so that there is a response time.
    pub const fn is_planned(&self) -> bool {
        matches!(self, Self::Planned(_))
    }

    /// How many starts were planned for the window; none is known when the trial ended before it, at `ended_ns`.
    pub fn offered(&self, ended_ns: Nanos) -> Option<u64> {
        match self {
            Self::Planned(plan) if ended_ns >= plan.timeline.window_end_ns => Some(plan.offered()),
            _ => None,
        }
    }

    /// The next start of a lane that is free since `free_ns`. Before that: it is late.
    #[inline]
    pub fn next_ns(&mut self, free_ns: Nanos) -> Nanos {
        match self {
            Self::AfterPause(pause) => free_ns + pause.next_ns(),
            Self::Planned(plan) => plan.next_ns(free_ns),
        }
    }

    /// A lane has begun at `now_ns` without asking: that counts as planned.
    pub fn unplanned(&mut self, now_ns: Nanos) -> Nanos {
        if let Self::Planned(plan) = self {
            plan.taken += u64::from(plan.timeline.in_window(now_ns));
        }
        now_ns
    }

    /// As [`Schedule::next_ns`] after a failure: a closed loop waits for `back_off_ns` at least, a plan is kept.
    pub fn next_after_failure_ns(&mut self, free_ns: Nanos, back_off_ns: Nanos) -> Nanos {
        match self {
            Self::AfterPause(pause) => free_ns + pause.next_ns().max(back_off_ns),
            Self::Planned(plan) => plan.next_ns(free_ns),
        }
    }

    /// When `lanes` lanes begin that are free from `start_ns` on. In a closed loop each waits for its random delay.
    /// Clients with a random pause begin with one, so that their starts are spread as they are later on.
    pub fn first_starts(&mut self, spec: &TrialSpec, thread: usize, lanes: usize, start_ns: Nanos) -> Vec<Nanos> {
        if let Self::Planned(plan) = self {
            return (0..lanes).map(|_| plan.next_ns(start_ns)).collect();
        }
        let mut delay = Delay::new(spec, thread);
        let mut pause = Pause::new(spec, thread, 1);
        let mut first_ns = || delay.next_ns() + if pause.is_random() { pause.next_ns() } else { 0 };
        (0..lanes).map(|_| start_ns + first_ns()).collect()
    }
}

/// Random delays before first starts.
#[derive(Debug)]
pub(crate) struct Delay {
    longest_ns: Nanos,
    rng: Rng,
}

impl Delay {
    pub fn new(spec: &TrialSpec, thread: usize) -> Self {
        Self { longest_ns: nanos(spec.delay_s), rng: Rng::for_thread(spec.thread_seed() ^ 0xDE1A, thread as u32, 0) }
    }

    pub fn next_ns(&mut self) -> Nanos {
        self.rng.below(self.longest_ns + 1)
    }
}

/// Starts that are planned ahead, handed out in their order.
///
/// A lane that becomes free takes the earliest that nobody has. So those that are due go to the lanes that are free
/// first, as customers go to several counters from one queue, and a lane that waits has a start that is still to come.
#[derive(Debug)]
pub(crate) struct Plan {
    arrivals: Arrivals,
    timeline: Timeline,
    /// The first start; when the first lane asked.
    origin_ns: Option<Nanos>,
    /// Starts in the window that were handed out.
    taken: u64,
}

impl Plan {
    const fn new(arrivals: Arrivals, timeline: Timeline) -> Self {
        Self { arrivals, timeline, origin_ns: None, taken: 0 }
    }

    fn next_ns(&mut self, free_ns: Nanos) -> Nanos {
        let origin_ns = *self.origin_ns.get_or_insert(free_ns);
        let at_ns = origin_ns + self.arrivals.next_ns();
        self.taken += u64::from(self.timeline.in_window(at_ns));
        at_ns
    }

    /// How many starts the window has, those included that no lane has taken.
    fn offered(&self) -> u64 {
        let Some(origin_ns) = self.origin_ns else { return 0 };
        let mut rest = self.arrivals.clone();
        let left = std::iter::from_fn(|| Some(origin_ns + rest.next_ns()));
        let left = left.take_while(|at_ns| *at_ns < self.timeline.window_end_ns);
        self.taken + left.filter(|at_ns| self.timeline.in_window(*at_ns)).count() as u64
    }
}
