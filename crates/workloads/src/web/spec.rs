//! The web workload as it crosses the seam.

use bakeoff_engine::TlsSettings;
use serde::Deserialize;

/// A class of requests that share a name, a weight and the statuses they accept.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// Name of the operation in results.
    pub name: String,
    /// Share of the requests, relative to the other classes'.
    pub weight: f64,
    /// Statuses that are a success; any when empty.
    #[serde(default)]
    pub expect: Vec<u16>,
    /// One of these is chosen at random each time.
    pub requests: Vec<RequestSpec>,
}

/// What the reply to a request must be beside length and hash of its body.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplySpec {
    /// The status of the reply whose body is known.
    pub status: u16,
    /// Any other status is a failure, whatever the class takes.
    pub exact: bool,
    /// The length of a body that changes, bytes.
    #[serde(default)]
    pub least_bytes: Option<u64>,
    /// The same at most.
    #[serde(default)]
    pub most_bytes: Option<u64>,
    /// Content type without parameters; HTTP/1 alone.
    #[serde(default)]
    pub content_type: Option<String>,
}

/// One request and what is known of its reply.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// Any token but `CONNECT`.
    #[serde(default = "get")]
    pub method: String,
    /// Path and query, starting with `/`.
    pub path: String,
    /// Length of the body of a successful reply, bytes.
    #[serde(default)]
    pub length: Option<u64>,
    /// SHA-256 of that body, hexadecimal.
    #[serde(default)]
    pub sha256: Option<String>,
    /// What else is known of the reply.
    #[serde(default)]
    pub reply: Option<ReplySpec>,
    /// Which of the workload's bodies goes with the request; HTTP/1 alone.
    #[serde(default)]
    pub body: Option<usize>,
    /// Its content type, where the shared headers do not say it.
    #[serde(default)]
    pub content_type: Option<String>,
}

fn get() -> String {
    "GET".to_owned()
}

/// Settings of the workload `web`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSpec {
    /// Always `web`.
    pub kind: String,
    /// `http` or `https`.
    pub scheme: String,
    /// For the `Host` header, SNI and the certificate check; may carry a port.
    pub host: String,
    /// Resolved addresses.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Unix socket instead of addresses.
    #[serde(default)]
    pub unix: Option<String>,
    /// `1.0`, `1.1`, `2` or `3`.
    #[serde(default = "http11")]
    pub http: String,
    /// Keep the connection for the next request.
    #[serde(default)]
    pub keep_alive: bool,
    /// Receive buffer of the sockets, and largest single read, bytes.
    #[serde(default)]
    pub receive_buffer_bytes: Option<usize>,
    /// Close with RST.
    #[serde(default)]
    pub close_with_reset: bool,
    /// Local addresses to connect from, in turn.
    #[serde(default)]
    pub source_addresses: Vec<String>,
    /// Give up a kept connection after so many requests.
    #[serde(default)]
    pub requests_per_connection: Option<u32>,
    /// TLS settings of `https`.
    #[serde(default)]
    pub tls: Option<TlsSettings>,
    /// Hash the first bodies of a trial, the first of each request, and one in so many of the others; 0 is never.
    #[serde(default)]
    pub check_every: u32,
    /// Tell what replies were.
    #[serde(default)]
    pub learn: bool,
    /// Further request headers.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// What requests carry, hexadecimal.
    #[serde(default)]
    pub bodies: Vec<String>,
    /// What is requested.
    pub classes: Vec<ClassSpec>,
}

fn http11() -> String {
    "1.1".to_owned()
}
