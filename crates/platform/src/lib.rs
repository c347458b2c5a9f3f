//! Everything that touches the machine: clocks, processors, sockets, TLS, and the loops that carry out trials.

pub mod clock;
mod gate;
mod net;
pub mod process;
mod trial;

pub use trial::{TrialError, TrialHandle, start};
