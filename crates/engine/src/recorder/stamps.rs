//! The moments of an operation.

use crate::Nanos;

/// The moments of one operation, as the driver stamped them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stamps {
    /// It was to begin, by the load's schedule: of a closed loop when its client was free and had paused.
    pub planned_ns: Nanos,
    /// The operation began.
    pub start_ns: Nanos,
    /// It was over.
    pub end_ns: Nanos,
    /// Time to open the connection, when it opened one.
    pub connect_ns: Option<u64>,
    /// Time of the TLS handshake, when there was one.
    pub tls_ns: Option<u64>,
    /// Time until there was a stream for it, when it shares a connection and had to wait.
    pub waited_ns: Option<u64>,
    /// The request could be sent: the start, or the readiness of connection or stream.
    pub sent_ns: Nanos,
    /// Time until the request was written, where the session asked for it.
    pub written_ns: Option<u64>,
    /// The first byte of the reply arrived.
    pub first_byte_ns: Option<Nanos>,
    /// Of the time of TLS, what came behind that byte.
    pub turned_ns: u64,
}

impl Stamps {
    /// From the start to the end: what the contender took, ns.
    #[inline]
    pub const fn service_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    /// From the planned start to the end: what a user would have waited, ns.
    #[inline]
    pub const fn response_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.planned_ns)
    }
}
