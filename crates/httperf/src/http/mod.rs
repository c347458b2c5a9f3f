//! What is said on a connection.

pub(super) mod conn;
pub(super) mod page;
pub(super) mod page_check;
pub(super) mod pipeline;
pub(super) mod prints;
pub(super) mod reply;
pub(super) mod request;
