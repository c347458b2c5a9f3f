//! Where and how a workload's sessions connect; plain data for the transport.

use serde::Deserialize;

/// One address of a contender with the options of its connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// `host:port` with a numeric host, already resolved; the first is used.
    pub addresses: Vec<String>,
    /// Path of a Unix socket, used instead of `addresses`.
    pub unix: Option<String>,
    /// Name for SNI and for the certificate check.
    pub server_name: String,
    /// TLS settings; the handshake follows the connect at once when `tls_on_connect`.
    pub tls: Option<TlsSettings>,
    /// Whether connections begin with a TLS handshake (else the session asks with [`crate::Actions::secure`]).
    pub tls_on_connect: bool,
    /// What the TLS handshake must agree on (ALPN): a server that does not speak it is no server for this.
    pub application: Option<&'static str>,
    /// Connections are those of QUIC over UDP, which have TLS and streams of their own.
    pub is_quic: bool,
    /// Local addresses, taken in turn; the kernel chooses when empty.
    pub source_addresses: Vec<String>,
    /// Receive buffer of the sockets and largest single read, bytes; up to kernel and transport when `None`.
    pub receive_buffer_bytes: Option<usize>,
    /// Close with a reset instead of in order (no `TIME_WAIT`, but servers log it).
    pub close_with_reset: bool,
}

/// How TLS connections are made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// Check the certificate against the system's or `ca_file`'s authorities.
    #[serde(default = "yes")]
    pub verify: bool,
    /// PEM file of authorities to trust in addition.
    #[serde(default)]
    pub ca_file: Option<String>,
    /// Resume sessions; otherwise every handshake is a full one.
    #[serde(default = "yes")]
    pub resumption: bool,
    /// The end of the handshake is written by itself, before what is sent first; else both leave together.
    #[serde(default)]
    pub handshake_apart: bool,
}

fn yes() -> bool {
    true
}
