//! What replies must be, and what became of those that were not.

pub(super) mod agreed;
pub(super) mod failures;
pub(super) mod learnt;
pub(super) mod sampling;
