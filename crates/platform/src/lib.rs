//! Everything that touches the machine: clocks, processors, sockets, TLS, and the loops that carry out trials.

#![expect(clippy::disallowed_methods, reason = "this is the crate that may")]

mod barrier;
pub mod clock;
mod file;
pub mod net;
pub mod process;
mod trial;
mod watch;

pub use file::{Owner, folder_name, owner_of, read_bounded, start_files};
pub use trial::alone::{Alone, start_alone};
pub use trial::signpost::Met;
pub use trial::{TrialError, TrialHandle, start};
pub use watch::control::{Behind, ControlFigures, can_return};
