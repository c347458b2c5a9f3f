//! What a load thread cost: its CPU time and the time it waited for a core, inside the window.

use crate::clock::thread_cpu_ns;
use crate::process::{spent, thread_run_delay_ns};
use bakeoff_engine::{Generator, Nanos, Timeline};

/// CPU time of this thread inside the window.
pub(crate) struct CpuMeter {
    timeline: Timeline,
    at_start: Option<Meter>,
    at_end: Option<Meter>,
}

/// The thread's clocks at one moment.
#[derive(Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "units come last in names")]
struct Meter {
    now_ns: Nanos,
    cpu_ns: Nanos,
    run_delay_ns: Option<Nanos>,
}

impl Meter {
    fn read(now_ns: Nanos) -> Self {
        Self { now_ns, cpu_ns: thread_cpu_ns(), run_delay_ns: thread_run_delay_ns() }
    }
}

impl CpuMeter {
    pub fn new(timeline: Timeline) -> Self {
        Self { timeline, at_start: None, at_end: None }
    }

    #[inline]
    pub fn sample(&mut self, now_ns: Nanos) {
        if self.at_start.is_none() && now_ns >= self.timeline.window_start_ns {
            self.at_start = Some(Meter::read(now_ns));
        }
        if self.at_end.is_none() && now_ns >= self.timeline.window_end_ns {
            self.at_end = Some(Meter::read(now_ns));
        }
    }

    /// The window, ns, and what it cost, of which `polled_ns` went into polling for replies in vain. A bounded or
    /// broken-off trial has the window it lived; any other the window of the plan.
    pub fn finish(mut self, now_ns: Nanos, bounded: bool, polled_ns: Nanos) -> (Nanos, Generator) {
        let complete = self.at_end.is_some() && !bounded;
        let Some(start) = self.at_start else { return (0, Generator::default()) };
        let end = *self.at_end.get_or_insert_with(|| Meter::read(now_ns));
        let window_ns = if complete {
            self.timeline.window_end_ns - self.timeline.window_start_ns
        } else {
            end.now_ns.min(self.timeline.window_end_ns).saturating_sub(start.now_ns)
        };
        let run_delay_ns = spent(start.run_delay_ns, end.run_delay_ns);
        (window_ns, Generator::of_thread(window_ns, end.cpu_ns - start.cpu_ns, polled_ns, run_delay_ns))
    }
}
