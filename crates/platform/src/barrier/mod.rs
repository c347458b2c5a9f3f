//! Where threads wait for each other.

pub(super) mod sessions;
pub(super) mod threads;
