//! When virtual users begin: asked whenever one is free. Pure: it is told the time.

mod arrivals;
mod pause;
mod plan;
mod shape;
mod steps;
pub(super) mod timeline;

use crate::spec::nanos;
use crate::{Load, Nanos, Rng, Timeline, TrialSpec};
use arrivals::{Arrivals, Start};
pub(crate) use pause::Pause;
pub(crate) use plan::Plan;
pub use shape::Shape;
use std::sync::Arc;

/// The schedule of one load-generating thread (in file suites: of one session).
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Closed loop: a virtual user begins when it is free and has paused.
    AfterPause(Pause),
    /// Open loop: starts are planned; an idle virtual user takes the next.
    Planned(Plan),
}

impl Schedule {
    /// Each virtual user follows itself, as fast as the trial's pauses allow.
    pub fn after_pause(spec: &TrialSpec, thread: usize) -> Self {
        Self::AfterPause(Pause::new(spec, thread))
    }

    /// That of the trial's load, for share `share` of `shares`. Moments that the workload knows are `recorded`.
    pub fn of_load(
        spec: &TrialSpec,
        (share, shares): (u32, u32),
        timeline: Timeline,
        recorded: Option<&Arc<[Nanos]>>,
    ) -> Self {
        match &spec.load {
            Load::Clients(_) => Self::after_pause(spec, share as usize),
            Load::Rate(rate) => {
                let length_ns = nanos(spec.length_s);
                Self::Planned(Plan::new(Arrivals::new(rate, length_ns, recorded, (share, shares), spec.seed), timeline))
            }
        }
    }

    /// Whether starts are planned ahead, so that there is a response time.
    pub const fn is_planned(&self) -> bool {
        matches!(self, Self::Planned(_))
    }

    /// When a virtual user begins next that is free since `now_ns` and is to wait for `back_off_ns` at least; never
    /// where starts are planned: then that is not for the virtual user to say.
    #[inline]
    pub fn due_ns(&mut self, now_ns: Nanos, back_off_ns: Nanos) -> Nanos {
        match self {
            Self::AfterPause(pause) => now_ns + pause.next_ns().max(back_off_ns),
            Self::Planned(_) => Nanos::MAX,
        }
    }

    /// For a session that follows itself: its next start when it is free since `free_ns`. Before that: it is late.
    /// With its `first` operation over, a plan begins.
    #[inline]
    pub fn next_ns(&mut self, free_ns: Nanos, first: bool) -> Nanos {
        match self {
            Self::AfterPause(pause) => free_ns + pause.next_ns(),
            Self::Planned(plan) => {
                if first {
                    plan.begin_at(free_ns);
                }
                plan.take().0
            }
        }
    }

    /// When an operation was planned that was due at `due_ns`, or has begun at `start_ns` without being due (0): that
    /// counts as planned.
    #[inline]
    pub fn planned_of(&mut self, due_ns: Nanos, start_ns: Nanos) -> Nanos {
        match self {
            Self::Planned(plan) if due_ns == 0 => plan.unplanned(start_ns),
            _ if due_ns == 0 => {}
            _ => return due_ns,
        }
        start_ns
    }

    /// How long after the start a session of a closed loop begins: it waits for its random delay. Clients with a random
    /// pause begin with one, so that their starts are spread as they are later on. Both come from the client's number:
    /// whichever machine and thread drives it, the load as a whole begins alike.
    pub fn first_ns(spec: &TrialSpec, client: u32, of_client: u32) -> Nanos {
        first_delay_ns(spec, client, of_client) + Pause::first_ns(spec, client, of_client)
    }
}

/// The random delay before the first start of a client's session.
pub(crate) fn first_delay_ns(spec: &TrialSpec, client: u32, of_client: u32) -> Nanos {
    Rng::for_thread(spec.seed ^ 0xDE1A, client, of_client).below(nanos(spec.delay_s) + 1)
}
