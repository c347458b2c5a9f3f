//! The raw sums from which every line of httperf's report is computed; in a trial's result under `workload`.

use serde::{Deserialize, Serialize};

/// Count, sum, sum of squares, least and greatest of some values; 0 where there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub sum_of_squares: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// Takes one more.
    pub fn add(&mut self, value: f64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = if self.count == 0 { value } else { self.max.max(value) };
        self.count += 1;
        self.sum += value;
        self.sum_of_squares += value * value;
    }
}

/// How many times something was measured, and the sum of the times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// How many.
    pub count: u64,
    /// s.
    pub sum_s: f64,
}

impl Sum {
    /// Takes one more.
    pub fn add(&mut self, value_s: f64) {
        self.count += 1;
        self.sum_s += value_s;
    }
}

/// Errors by httperf's classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// No progress within `--timeout` (and `--think-timeout`).
    pub client_timo: u64,
    /// `ETIMEDOUT`.
    pub socket_timo: u64,
    /// `ECONNREFUSED`.
    pub connrefused: u64,
    /// `EPIPE`, `ECONNRESET`, and an end before the whole reply was there.
    pub connreset: u64,
    /// `EMFILE`.
    pub fd_unavail: u64,
    /// `EADDRNOTAVAIL`, or no local port left for `--hog`.
    pub addrunavail: u64,
    /// `ENFILE`.
    pub ftab_full: u64,
    /// All else: replies that are no HTTP, TLS that fails, unreachable hosts.
    pub other: u64,
}

/// Replies by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statuses {
    /// 101; other 1xx are no replies of their own.
    pub s1xx: u64,
    /// 200 to 299.
    pub s2xx: u64,
    /// 300 to 399.
    pub s3xx: u64,
    /// 400 to 499.
    pub s4xx: u64,
    /// 500 to 599.
    pub s5xx: u64,
    /// Below 100 and from 600 on: httperf breaks off there.
    pub other: u64,
    /// Replies 200 (`--periodic-stats`).
    pub s200: u64,
    /// Replies 302.
    pub s302: u64,
    /// 1xx on the way to a reply.
    pub interim: u64,
}

/// What session loads have beside the rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionFigures {
    /// All calls were answered.
    pub completed: u64,
    /// Not all were.
    pub failed: u64,
    /// Begun, and not over at the end of the trial.
    pub unfinished: u64,
    /// Samples of 5 s: completed sessions a second.
    pub rate: Spread,
    /// Connections of the completed ones.
    pub connections: u64,
    /// From start to end of the completed ones.
    pub lifetime: Sum,
    /// … of the failed ones.
    pub failtime: Sum,
    /// How many sessions, completed or failed, got 0, 1, 2 … replies; what is longer is in the last of 100,001.
    pub lengths: Vec<u64>,
}

/// What a trial of the kind `httperf` tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HttperfFigures {
    /// From the first start to the end of all work, s.
    pub test_duration_s: f64,
    /// Connections that were attempted, from `connect` on.
    pub connections: u64,
    /// … that are open at the end: the trial was stopped.
    pub connections_unfinished: u64,
    /// Requests that were written in full.
    pub requests: u64,
    /// … that were not answered when the trial was stopped.
    pub requests_unfinished: u64,
    /// … whose connection failed or ended before the whole reply.
    pub requests_failed: u64,
    /// Whole replies.
    pub replies: u64,
    /// Most connections at once.
    pub concurrent_max: u64,
    /// Most starts in one catching up.
    pub connect_burst_max: u64,
    /// Connections or sessions that were begun; `starts_planned` less these were never.
    pub starts: u64,
    /// … that the schedule had until the end of the trial.
    pub starts_planned: u64,
    /// From `connect` to readiness, TLS included.
    pub connect: Sum,
    /// From `connect` to close of connections with at least one reply, s.
    pub lifetime: Spread,
    /// Their median, s: the middle of its bin of 1 ms.
    pub lifetime_median_s: f64,
    /// Bins of 1 ms that are not empty, as (bin, count); what lasted 100 s or more is in bin 99,999.
    pub lifetimes: Vec<(u32, u32)>,
    /// Of requests that were written, whole or in part.
    pub request_bytes: u64,
    /// Samples of 5 s: replies a second.
    pub reply_rate: Spread,
    /// From the send to the first byte of the reply.
    pub response: Sum,
    /// From the first byte to the last.
    pub transfer: Sum,
    /// Heads of replies, with their empty line.
    pub reply_header_bytes: u64,
    /// Bodies, chunks put together.
    pub reply_content_bytes: u64,
    /// Trailers of chunked bodies.
    pub reply_footer_bytes: u64,
    /// Replies by status.
    pub statuses: Statuses,
    /// CPU time of the load thread in user mode, s.
    pub cpu_user_s: f64,
    /// … in the kernel.
    pub cpu_system_s: f64,
    /// Errors by class.
    pub errors: Errors,
    /// Descriptors that the process may have.
    pub descriptors_max: u64,
    /// Events of level `print` that found no room.
    pub prints_lost: u64,
    /// TLS handshakes in full.
    pub tls_full: u64,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: u64,
    /// Bodies that were held to the hash of the page.
    #[serde(default)]
    pub hashed: u64,
    /// Of session loads.
    pub sessions: Option<SessionFigures>,
    /// Of one of several machines: its samples of 5 s, replies and completed sessions a second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<(f64, f64)>,
}
