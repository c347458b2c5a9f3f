//! The description of the app server: every key, its default and its check.

use std::net::IpAddr;
use std::path::PathBuf;

use bakeoff_app_protocol::{PAYLOAD_BYTES_MAX, RECORD_BYTES_MAX};
use serde::Deserialize;

use crate::ServeError;
use crate::spec::check::{SECONDS_MAX, at_least_one, need, within};
use crate::spec::place::{LOCALHOST, Place};

/// Service threads besides the one for each processor.
const THREADS_BESIDE_PROCESSORS: usize = 47;
const SEGMENT_BYTES_MAX: u64 = 1 << 40;

/// The app target. Times are in seconds, sizes in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)] // One line per key in docs/reference/targets.md.
pub struct AppSpec {
    pub host: IpAddr,
    pub port: u16,
    pub unix: Option<PathBuf>,
    pub threads: Option<usize>,
    pub pin: Option<Vec<usize>>,
    pub segment_bytes: u64,
    pub data: Option<PathBuf>,
    pub data_limit_bytes: u64,
    pub direct: bool,
    pub fsync: bool,
    pub prepare: u32,
    pub service_s: f64,
    pub payload_max_bytes: u32,
    pub records_max: u32,
    pub rounds_max: u32,
    pub queue: usize,
    pub max_connections: usize,
    pub request_timeout_s: f64,
    pub idle_timeout_s: f64,
    pub damage_every: Option<u64>,
    pub lose_every: Option<u64>,
    pub garbage_every: Option<u64>,
    pub forget: bool,
    pub remember: bool,
    pub false_times: Option<FalseTimes>,
}

/// What replies tell of queue and service times instead of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum FalseTimes {
    /// No time at all.
    Zero,
    /// A second more than it was.
    Long,
}

impl Default for AppSpec {
    fn default() -> Self {
        Self {
            host: LOCALHOST,
            port: 0,
            unix: None,
            threads: None,
            pin: None,
            segment_bytes: 16 << 20,
            data: None,
            data_limit_bytes: 64 << 30,
            direct: false,
            fsync: false,
            prepare: 0,
            service_s: 0.0,
            payload_max_bytes: 4 << 20,
            records_max: 256,
            rounds_max: 100_000_000,
            queue: 4096,
            max_connections: 4096,
            request_timeout_s: 10.0,
            idle_timeout_s: 600.0,
            damage_every: None,
            lose_every: None,
            garbage_every: None,
            forget: false,
            remember: false,
            false_times: None,
        }
    }
}

/// Processors that this process may use.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl AppSpec {
    /// Service threads: as set, or 47 and one for each processor.
    pub(super) fn service_threads(&self) -> usize {
        self.threads.unwrap_or_else(|| THREADS_BESIDE_PROCESSORS + processors())
    }

    pub(super) fn place(&self) -> Place {
        Place {
            host: self.host,
            port: self.port,
            unix: self.unix.clone(),
            threads: self.service_threads(),
            pin: self.pin.clone(),
        }
    }

    pub fn check(&self) -> Result<(), ServeError> {
        self.place().check(0)?;
        let least = u64::from(RECORD_BYTES_MAX);
        need(
            (least..=SEGMENT_BYTES_MAX).contains(&self.segment_bytes) && self.segment_bytes.is_multiple_of(least),
            "segment_bytes must be a multiple of 1 MiB, up to 1 TiB",
        )?;
        need(
            u64::from(self.prepare).saturating_mul(self.segment_bytes) <= self.data_limit_bytes,
            "prepare asks for more segments than data_limit_bytes allows: raise it or prepare fewer",
        )?;
        need(self.payload_max_bytes <= PAYLOAD_BYTES_MAX, "payload_max_bytes must be at most 64 MiB")?;
        need((1..=65_536).contains(&self.records_max), "records_max must be 1 to 65536")?;
        need((1..=1_000_000).contains(&self.max_connections), "max_connections must be 1 to 1000000")?;
        for (key, value) in [("queue", self.queue as u64), ("rounds_max", u64::from(self.rounds_max))] {
            at_least_one(key, Some(value))?;
        }
        let every = [
            ("damage_every", self.damage_every),
            ("lose_every", self.lose_every),
            ("garbage_every", self.garbage_every),
        ];
        for (key, value) in every {
            at_least_one(key, value)?;
        }
        within("service_s", self.service_s, 0.0, SECONDS_MAX)?;
        within("request_timeout_s", self.request_timeout_s, 0.001, SECONDS_MAX)?;
        within("idle_timeout_s", self.idle_timeout_s, 0.001, SECONDS_MAX)
    }
}
