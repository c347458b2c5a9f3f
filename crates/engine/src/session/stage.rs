//! Work around the measured part of a trial.

/// The parts of a trial that a workload may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Before any traffic is timed: put the contender into its first state.
    Prepare,
    /// Ramps and window.
    Measure,
    /// Afterwards: see what became of what was left behind.
    Drain,
}

/// Which untimed stages a trial has, and for how long at most, s.
///
/// A stage ends when every session has asked to [`crate::Actions::stop`], or at its limit. Nothing in it is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stages {
    /// Longest preparation; `None` for no such stage.
    pub prepare_s: Option<f64>,
    /// Operations that run when the measured part ends may go on for so long.
    pub linger_s: f64,
    /// After the measured part, connections are listened to for so long: what still comes was not asked for.
    pub listen_s: f64,
    /// Longest drain; `None` for no such stage.
    pub drain_s: Option<f64>,
}
