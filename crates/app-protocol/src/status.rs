//! How requests go.

/// How a request went. All but `Ok` and `Busy` end the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The length does not fit the kind.
    BadLength = 1,
    /// No such kind of request.
    UnknownKind = 2,
    /// More bytes than the server takes or gives.
    TooLarge = 3,
    /// Not this protocol, or another version of it.
    NotOurs = 4,
    /// The first request must be a hello, and only the first.
    NoHello = 5,
    /// A value out of its range.
    BadParameter = 6,
    /// The queue is full.
    Busy = 7,
    /// No room for another data segment.
    NoSpace = 8,
    /// Reading or writing the data segment failed.
    Storage = 9,
    /// The request did not arrive in time.
    TooSlow = 10,
}

impl Status {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Ok,
        Self::BadLength,
        Self::UnknownKind,
        Self::TooLarge,
        Self::NotOurs,
        Self::NoHello,
        Self::BadParameter,
        Self::Busy,
        Self::NoSpace,
        Self::Storage,
        Self::TooSlow,
    ];

    /// The name used in counts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::BadLength => "bad_length",
            Self::UnknownKind => "unknown_kind",
            Self::TooLarge => "too_large",
            Self::NotOurs => "not_ours",
            Self::NoHello => "no_hello",
            Self::BadParameter => "bad_parameter",
            Self::Busy => "busy",
            Self::NoSpace => "no_space",
            Self::Storage => "storage",
            Self::TooSlow => "too_slow",
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }
}
