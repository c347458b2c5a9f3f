//! The description of the web target: every key, its default and its check.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::ServeError;
use crate::server::faults::{RefuseSpec, StallSpec};
use crate::server::tls::TlsSpec;
use crate::spec::check::{SECONDS_MAX, at_least_one, need, within};
use crate::spec::place::{LOCALHOST, Place};

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

impl WebSpec {
    pub fn place(&self) -> Place {
        Place {
            host: self.host,
            port: self.port,
            unix: self.unix.clone(),
            threads: self.threads,
            pin: self.pin.clone(),
        }
    }

    pub fn check(&self) -> Result<(), ServeError> {
        self.place().check(self.page_bytes)?;
        within("delay_s", self.delay_s, 0.0, SECONDS_MAX)?;
        within("idle_timeout_s", self.idle_timeout_s, 0.001, SECONDS_MAX)?;
        if let Some(stall) = self.stall {
            within("stall.every_s", stall.every_s, 0.001, SECONDS_MAX)?;
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
        every.into_iter().try_for_each(|(key, value)| at_least_one(key, value))
    }
}
