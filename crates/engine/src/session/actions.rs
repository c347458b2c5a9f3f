//! What a session asks of its transport.

/// Requests of a session to its transport, carried out in the order of the fields.
///
/// A fixed struct and not a list, because it is filled once per operation and must cost nothing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Actions {
    /// Close the connection, if there is one. No `Closed` event follows.
    pub close: bool,
    /// The connection is not used any more, and the server has said that it will close it: its close is awaited aside,
    /// so that `TIME_WAIT` stays with the server, while the session goes on. No `Closed` event follows.
    pub leave: bool,
    /// Open a new connection to this one of [`crate::Workload::endpoints`]. `Connected` follows, or the operation
    /// fails.
    pub connect: Option<u8>,
    /// Switch the open connection to TLS. `Connected` follows once more when the handshake is done.
    pub secure: bool,
    /// Send [`crate::Session::outgoing`], once the connection is usable.
    pub send: bool,
    /// With `send`: stamp when all of it is written, so that the wait for the reply is told apart from the writing.
    pub stamp_written: bool,
    /// The next so many received bytes need not be seen: they are dropped unread and told as `Discarded`.
    pub discard_bytes: u64,
    /// Tell `Timer` after this many nanoseconds.
    pub timer_ns: Option<u64>,
    /// Asked for in [`crate::Session::begin`] only: there is nothing to begin, the virtual user starts no more
    /// operations.
    pub stop: bool,
}

impl Actions {
    /// Nothing asked.
    pub const NONE: Self = Self {
        close: false,
        leave: false,
        connect: None,
        secure: false,
        send: false,
        stamp_written: false,
        discard_bytes: 0,
        timer_ns: None,
        stop: false,
    };

    /// Forgets what was asked.
    #[inline]
    pub fn clear(&mut self) {
        *self = Self::NONE;
    }
}
