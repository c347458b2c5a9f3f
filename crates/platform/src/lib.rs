//! Everything that touches the machine: clocks, processors, sockets, TLS, and the loops that carry out trials.

#![expect(clippy::disallowed_methods, reason = "this is the crate that may")]

pub mod clock;
mod file;
mod gate;
mod net;
pub mod process;
mod trial;
mod watch;

pub use file::{Owner, folder_name, owner_of, read_bounded, start_files};
pub use trial::{TrialError, TrialHandle, start};
