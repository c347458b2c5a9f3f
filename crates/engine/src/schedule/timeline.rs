//! Ramp up, measured window, ramp down.

use crate::Nanos;

/// Where in a trial a moment lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Traffic that is not counted, before the window.
    RampUp,
    /// Operations that end here count.
    Window,
    /// Traffic that is not counted, after the window.
    RampDown,
    /// The trial is over.
    Done,
}

impl Phase {
    /// The name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RampUp => "ramp_up",
            Self::Window => "window",
            Self::RampDown => "ramp_down",
            Self::Done => "done",
        }
    }
}

/// The moments at which phases change, ns on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeline {
    /// First traffic.
    pub start_ns: Nanos,
    /// The measured window begins (included).
    pub window_start_ns: Nanos,
    /// The measured window ends (not included).
    pub window_end_ns: Nanos,
    /// No operation starts from here on.
    pub end_ns: Nanos,
}

impl Timeline {
    /// A trial of `length_ns` in all, ramps included.
    pub fn new(start_ns: Nanos, ramp_up_ns: Nanos, length_ns: Nanos, ramp_down_ns: Nanos) -> Self {
        let end_ns = start_ns + length_ns;
        let window_start_ns = start_ns + ramp_up_ns;
        let window_end_ns = end_ns.saturating_sub(ramp_down_ns).max(window_start_ns);
        Self { start_ns, window_start_ns, window_end_ns, end_ns }
    }

    /// The phase at a moment.
    #[inline]
    pub fn phase(&self, now_ns: Nanos) -> Phase {
        if self.in_window(now_ns) {
            Phase::Window
        } else if now_ns < self.window_start_ns {
            Phase::RampUp
        } else if now_ns < self.end_ns {
            Phase::RampDown
        } else {
            Phase::Done
        }
    }

    /// Whether an operation that ends now counts.
    #[inline]
    pub fn in_window(&self, now_ns: Nanos) -> bool {
        now_ns >= self.window_start_ns && now_ns < self.window_end_ns
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{Done, RampDown, RampUp, Window};
    use super::*;

    #[test]
    fn the_length_includes_both_ramps() {
        let timeline = Timeline::new(100, 30, 300, 30);
        assert_eq!(timeline.window_end_ns - timeline.window_start_ns, 240);
        let phases = [100, 129, 130, 369, 370, 399, 400].map(|now| timeline.phase(now));
        assert_eq!(phases, [RampUp, RampUp, Window, Window, RampDown, RampDown, Done]);
    }
}
