//! The description of a server: every key, its default and its check.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::ServeError;
use crate::app::AppSpec;
use crate::mail::MailSpec;

/// Which server to run, by its `kind`.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Spec {
    /// The HTTP server with programmable faults.
    Web(Box<WebSpec>),
    /// SMTP in, POP3 out.
    Mail(Box<MailSpec>),
    /// The bare epoll loop that answers everything with one prebuilt reply.
    Null(NullSpec),
    /// The application server: service threads on one queue, a data segment per client.
    App(Box<AppSpec>),
}

/// Where a server listens and on how many threads.
#[derive(Debug, Clone)]
pub struct Place {
    /// Numeric address; not used with `unix`.
    pub host: IpAddr,
    /// 0 = the system chooses.
    pub port: u16,
    /// Path of a unix socket instead of an address.
    pub unix: Option<PathBuf>,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// Cores of the workers, in turn.
    pub pin: Option<Vec<usize>>,
}

/// So many of each so many connections are reset.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefuseSpec {
    /// Refused connections in each group.
    pub count: u64,
    /// Size of the group.
    pub of: u64,
}

/// The last `for_s` seconds of every `every_s` the server stands still.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StallSpec {
    /// Length of one stall, in seconds.
    pub for_s: f64,
    /// Period, in seconds.
    pub every_s: f64,
}

/// Every `every`-th reply carries `code` instead of its own status.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusSpec {
    /// 200 to 599.
    pub code: u16,
    /// 1 = every reply.
    #[serde(default = "one")]
    pub every: u64,
}

/// TLS with a certificate that is made at start.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsSpec {
    /// The certificate is written here (PEM), so that clients can trust it.
    pub certificate_file: Option<PathBuf>,
    /// Names and addresses the certificate is valid for.
    pub names: Vec<String>,
    /// Whether sessions can be resumed.
    pub resumption: bool,
}

impl Default for TlsSpec {
    fn default() -> Self {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        Self { certificate_file: None, names, resumption: true }
    }
}

/// The web target. Times are in seconds, sizes in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)] // One line per key in docs/reference/targets.md.
pub struct WebSpec {
    pub host: IpAddr,
    pub port: u16,
    pub unix: Option<PathBuf>,
    pub threads: usize,
    pub pin: Option<Vec<usize>>,
    pub root: Option<PathBuf>,
    pub page_bytes: usize,
    pub memory_bytes: u64,
    pub dynamic: bool,
    pub keep_alive: bool,
    pub requests_per_connection: Option<u64>,
    pub chunked: bool,
    pub tls: Option<TlsSpec>,
    pub delay_s: f64,
    pub stall: Option<StallSpec>,
    pub refuse: Option<RefuseSpec>,
    pub limit_per_s: Option<f64>,
    pub status: Option<StatusSpec>,
    pub truncate_every: Option<u64>,
    pub corrupt_every: Option<u64>,
    pub close_after_bytes: Option<u64>,
    pub unanswered_every: Option<u64>,
    pub bad_chunk_every: Option<u64>,
    pub unsolicited_every: Option<u64>,
    pub leave_open: bool,
    pub cut_with_reset: bool,
    pub idle_timeout_s: f64,
    pub max_connections: usize,
}

/// The null server.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)] // As above.
pub struct NullSpec {
    pub host: IpAddr,
    pub port: u16,
    pub unix: Option<PathBuf>,
    pub threads: usize,
    pub pin: Option<Vec<usize>>,
    pub page_bytes: usize,
    pub close: bool,
}

pub(crate) const LOCALHOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
/// Largest prebuilt page: enough for any wire, small enough to hold.
const MOST_PAGE_BYTES: usize = 1 << 30;
const MOST_THREADS: usize = 1024;
/// Longest time in a description (a day): anything longer is a slip of the pen.
pub(crate) const MOST_SECONDS: f64 = 86_400.0;

fn one() -> u64 {
    1
}

impl Default for WebSpec {
    fn default() -> Self {
        Self {
            host: LOCALHOST,
            port: 0,
            unix: None,
            threads: 1,
            pin: None,
            root: None,
            page_bytes: 1024,
            memory_bytes: 2 << 30,
            dynamic: true,
            keep_alive: true,
            requests_per_connection: None,
            chunked: false,
            tls: None,
            delay_s: 0.0,
            stall: None,
            refuse: None,
            limit_per_s: None,
            status: None,
            truncate_every: None,
            corrupt_every: None,
            close_after_bytes: None,
            unanswered_every: None,
            bad_chunk_every: None,
            unsolicited_every: None,
            leave_open: false,
            cut_with_reset: false,
            idle_timeout_s: 60.0,
            max_connections: 20_000,
        }
    }
}

impl Default for NullSpec {
    fn default() -> Self {
        Self { host: LOCALHOST, port: 0, unix: None, threads: 1, pin: None, page_bytes: 1024, close: false }
    }
}

impl WebSpec {
    pub(crate) fn place(&self) -> Place {
        Place {
            host: self.host,
            port: self.port,
            unix: self.unix.clone(),
            threads: self.threads,
            pin: self.pin.clone(),
        }
    }

    fn check(&self) -> Result<(), ServeError> {
        self.place().check(self.page_bytes)?;
        within("delay_s", self.delay_s, 0.0, MOST_SECONDS)?;
        within("idle_timeout_s", self.idle_timeout_s, 0.001, MOST_SECONDS)?;
        if let Some(stall) = self.stall {
            within("stall.every_s", stall.every_s, 0.001, MOST_SECONDS)?;
            within("stall.for_s", stall.for_s, 0.0, stall.every_s)?;
            need(
                stall.for_s < stall.every_s,
                "stall.for_s must be shorter than stall.every_s, or the server never answers",
            )?;
        }
        if let Some(refuse) = self.refuse {
            need(refuse.of >= 1 && refuse.count <= refuse.of, "refuse needs count <= of and of >= 1, as in 1 of 10")?;
            need(refuse.of <= 1_000_000_000, "refuse.of must be at most 1000000000")?;
        }
        need(self.tls.is_none() || self.bad_chunk_every.is_none(), "bad_chunk_every does not go with tls")?;
        if let Some(rate) = self.limit_per_s {
            within("limit_per_s", rate, 0.001, 1e9)?;
        }
        if let Some(status) = self.status {
            need((200..=599).contains(&status.code), "status.code must be 200 to 599")?;
        }
        let every = [
            ("status.every", self.status.map(|s| s.every)),
            ("truncate_every", self.truncate_every),
            ("corrupt_every", self.corrupt_every),
            ("unanswered_every", self.unanswered_every),
            ("bad_chunk_every", self.bad_chunk_every),
            ("unsolicited_every", self.unsolicited_every),
            ("requests_per_connection", self.requests_per_connection),
            ("max_connections", Some(self.max_connections as u64)),
        ];
        for (key, value) in every {
            need(value != Some(0), &format!("{key} must be at least 1"))?;
        }
        Ok(())
    }
}

impl NullSpec {
    pub(crate) fn place(&self) -> Place {
        Place {
            host: self.host,
            port: self.port,
            unix: self.unix.clone(),
            threads: self.threads,
            pin: self.pin.clone(),
        }
    }
}

impl Spec {
    pub(crate) fn check(&self) -> Result<(), ServeError> {
        match self {
            Spec::Web(web) => web.check(),
            Spec::Mail(mail) => mail.check(),
            Spec::Null(null) => null.place().check(null.page_bytes),
            Spec::App(app) => app.check(),
        }
    }
}

impl Place {
    pub(crate) fn check(&self, page_bytes: usize) -> Result<(), ServeError> {
        need((1..=MOST_THREADS).contains(&self.threads), "threads must be 1 to 1024")?;
        need(page_bytes <= MOST_PAGE_BYTES, "page_bytes must be at most 1 GiB")?;
        need(self.pin.as_ref().is_none_or(|cores| !cores.is_empty()), "pin needs at least one core number, or null")
    }
}

pub(crate) fn need(good: bool, text: &str) -> Result<(), ServeError> {
    if good { Ok(()) } else { Err(ServeError::Spec(text.to_owned())) }
}

/// NaN fails too.
pub(crate) fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), ServeError> {
    need(value >= least && value <= most, &format!("{key} must be {least} to {most}, not {value}"))
}
