//! What the rows of a soak cost a load thread, and what the machine did meanwhile.

use crate::clock::thread_cpu_ns;
use crate::process::{resident_bytes, stolen_ns, thread_run_delay_ns};
use bakeoff_engine::{Nanos, RowCost};

/// The clocks of a thread and its machine as they were at the last look.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "units come last in names")]
pub(super) struct RowMeter {
    last_ns: Nanos,
    cpu_ns: Nanos,
    run_delay_ns: Nanos,
    stolen_ns: Nanos,
}

impl RowMeter {
    pub fn start(now_ns: Nanos) -> Self {
        Self { last_ns: now_ns, cpu_ns: thread_cpu_ns(), run_delay_ns: thread_run_delay_ns(), stolen_ns: stolen_ns() }
    }

    /// What was spent since the last look.
    pub fn look(&mut self, now_ns: Nanos) -> RowCost {
        let now = Self::start(now_ns);
        let cost = RowCost {
            span_ns: now.last_ns.saturating_sub(self.last_ns),
            cpu_ns: now.cpu_ns.saturating_sub(self.cpu_ns),
            run_delay_ns: now.run_delay_ns.saturating_sub(self.run_delay_ns),
            stolen_ns: now.stolen_ns.saturating_sub(self.stolen_ns),
            rss_bytes: resident_bytes(),
        };
        *self = now;
        cost
    }
}
