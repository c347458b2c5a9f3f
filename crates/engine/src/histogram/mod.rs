//! Times in histograms, and their percentiles.

pub(super) mod latency;
pub(super) mod shared;
pub(super) mod summary;
