//! Everything that touches the machine: clocks, processors, sockets, TLS, and the loops that carry out trials.

#![expect(clippy::disallowed_methods, reason = "this is the crate that may")]

mod alone;
pub mod clock;
mod control;
mod file;
mod gate;
pub mod net;
pub mod process;
mod rendezvous;
mod signpost;
mod start_line;
mod trial;
mod watch;

pub use alone::{Alone, start_alone};
pub use control::{Behind, ControlFigures, can_return};
pub use file::{Owner, folder_name, owner_of, read_bounded, start_files};
pub use signpost::Met;
pub use trial::{TrialError, TrialHandle, start};
