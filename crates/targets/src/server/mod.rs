//! What all servers are made of.

pub(super) mod clock;
pub(super) mod counts;
pub(super) mod faults;
pub(super) mod listen;
pub(super) mod running;
pub(super) mod tls;
