//! File work: its sessions and their driver.

pub(super) mod call;
pub(super) mod driver;
pub(super) mod server;
pub(super) mod session;
