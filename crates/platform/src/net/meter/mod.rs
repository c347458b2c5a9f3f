//! What a load thread cost.

pub(super) mod cpu;
pub(super) mod rows;
