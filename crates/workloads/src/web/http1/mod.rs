//! HTTP/1: heads, bodies, and whole replies.

pub(super) mod body;
pub(super) mod head;
pub(super) mod whole;
