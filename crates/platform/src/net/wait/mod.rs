//! Waiting for sockets and for a moment.

pub(super) mod epoll;
pub(super) mod pacer;
pub(super) mod poller;
pub(super) mod timers;
pub(super) mod waiter;
