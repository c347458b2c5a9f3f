//! Sockets, TLS, and the event loop that drives sessions over them.

mod cpu_meter;
mod epoll;
mod event_loop;
mod pacer;
mod poller;
mod remote;
mod row_meter;
mod socket;
mod timers;
mod tls;

pub(crate) use event_loop::{EventLoop, LoopFigures};
pub(crate) use remote::{Remote, resolve};
