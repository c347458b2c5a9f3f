//! What is counted, and how it becomes a trial's figures.

pub(super) mod counters;
pub(super) mod figures;
pub(super) mod merge;
mod samples;
