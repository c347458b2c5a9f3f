//! The loop of a trial, and what begins in it.

mod iteration;
mod period;
mod random;
pub(super) mod run;
mod work;
