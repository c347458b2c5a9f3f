//! The loop of a trial, and what begins in it.

mod period;
mod random;
pub(super) mod run;
mod visit;
mod work;
