//! What the descriptions of all kinds share.

#[cfg(feature = "cli")]
pub(super) mod arguments;
pub(super) mod check;
pub(super) mod place;
