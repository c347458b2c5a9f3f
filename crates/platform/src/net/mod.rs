//! Sockets, TLS, and the event loop that drives sessions over them.

mod cpu_meter;
mod dial;
mod epoll;
mod event_loop;
mod fetch;
mod pacer;
mod poller;
mod quic;
mod remote;
mod row_meter;
mod socket;
mod timers;
mod tls;
mod tls_options;
mod waiter;
mod wire;

pub use dial::{DialError, DialOptions, Dialer, Line};
pub(crate) use event_loop::{EventLoop, LoopFigures};
pub use fetch::{FetchError, FetchLimits, Fetched, fetch};
pub(crate) use remote::{Remote, resolve};
pub use socket::Moved;
pub use timers::{Due, Timers};
pub use tls::{Connector, Session as TlsSession, TlsFault};
pub use tls_options::{TlsOptions, connector};
pub use waiter::{Ready, Waiter};
pub use wire::{Wire, WireError, WireLimits, words};
