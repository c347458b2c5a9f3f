//! What is said on a connection.

pub(super) mod conn;
pub(super) mod held;
pub(super) mod page;
pub(super) mod prints;
pub(super) mod reply;
pub(super) mod request;
pub(super) mod talk;
