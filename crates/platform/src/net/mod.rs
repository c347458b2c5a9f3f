//! Sockets, TLS, and the event loop that drives sessions over them.

mod event_loop;
mod meter;
mod quic;
mod socket;
mod tls;
mod wait;

pub(crate) use event_loop::{EventLoop, LoopFigures};
pub use quic::fetch::{FetchError, FetchLimits, Fetched, fetch};
pub use socket::Moved;
pub use socket::dial::{DialError, DialOptions, Dialer, Line};
pub use socket::probe::{ProbeConnection, ProbeError, ProbeLimits, words};
pub(crate) use socket::remote::{Remote, resolve};
pub use tls::options::{TlsOptions, connector};
pub use tls::{Connector, Session as TlsSession, TlsFault};
pub use wait::timers::{Due, Timers};
pub use wait::waiter::{Ready, Waiter};
