//! Where a virtual user is in an operation of several parts, each of which is timed: requests that follow each other,
//! with pauses between them.

use crate::Nanos;

/// Which part of its operation a virtual user is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The first one, which begins with the operation; of most operations it is all.
    First,
    /// A later one, begun at this moment.
    Begun(Nanos),
    /// Between two: nothing is asked of the server.
    Pause,
}

impl Part {
    /// When it began, of a later one.
    pub const fn begun_ns(self) -> Option<Nanos> {
        match self {
            Self::Begun(begun_ns) => Some(begun_ns),
            Self::First | Self::Pause => None,
        }
    }
}
