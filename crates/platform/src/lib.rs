//! Everything that touches the machine: clocks, processors, sockets, TLS, and the loops that carry out trials.

#![expect(clippy::disallowed_methods, reason = "this is the crate that may")]

mod barrier;
pub mod clock;
mod file;
pub mod net;
pub mod process;
mod trial;
mod watch;

pub use file::{Owner, folder_name, owner_of, read_bounded, remove_from_server, start_files, try_server};
pub use trial::completion::Wake;
pub use trial::custom_loop::{CustomLoop, start_custom_loop};
pub use trial::{TrialError, TrialHandle, start};
pub use watch::control::{BackgroundPolicy, ControlFigures, can_return};
