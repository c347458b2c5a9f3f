//! The arguments of `bakeoff-targets app`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::spec::{AppSpec, FalseTimes};
use crate::spec::arguments::{seconds, size};

/// Each is one key of the description.
#[derive(Args)]
pub struct Arguments {
    /// Numeric address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Listen on a unix socket at this path instead
    #[arg(long, value_name = "PATH")]
    unix: Option<PathBuf>,
    /// Service threads; 47 and one for each processor unless given
    #[arg(long)]
    threads: Option<usize>,
    /// Cores of the threads, as in 0,1
    #[arg(long, value_delimiter = ',', value_name = "CORES")]
    pin: Option<Vec<usize>>,
    /// Data segment of each client
    #[arg(long, value_parser = size, default_value = "16MiB")]
    segment: u64,
    /// Folder of the data segments; the system's for temporary files unless given
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Most bytes of all segments together
    #[arg(long, value_parser = size, default_value = "64GiB")]
    data_limit: u64,
    /// Read and write segments past the page cache
    #[arg(long)]
    direct: bool,
    /// Flush each write to the device before its reply
    #[arg(long)]
    fsync: bool,
    /// Make so many segments before the first client comes
    #[arg(long, default_value_t = 0, value_name = "N")]
    prepare: u32,
    /// Every request takes at least this long to serve, as in 3ms
    #[arg(long, value_parser = seconds, default_value = "0s")]
    service: f64,
    /// Requests that may wait; more are told that the server is busy
    #[arg(long, default_value_t = 4096)]
    queue: usize,
    /// Most connections open at once
    #[arg(long, default_value_t = 4096)]
    max_connections: usize,
    /// Largest payload of an upload or download
    #[arg(long, value_parser = size, default_value = "4MiB")]
    payload_max: u64,
    /// A request that has begun must have come within this time
    #[arg(long, value_parser = seconds, default_value = "10s")]
    request_timeout: f64,
    /// Close connections that do nothing for so long
    #[arg(long, value_parser = seconds, default_value = "10m")]
    idle_timeout: f64,
    /// Write every n-th record with one byte wrong
    #[arg(long, value_name = "N")]
    damage: Option<u64>,
    /// Do not write every n-th record, but say so
    #[arg(long, value_name = "N")]
    lose: Option<u64>,
    /// Every n-th answer to an upload, a download or processor work is wrong, of the right length
    #[arg(long, value_name = "N")]
    garbage: Option<u64>,
    /// Forget what a session has written when it ends
    #[arg(long)]
    forget: bool,
    /// Answer processor work that was asked for before without doing it again
    #[arg(long)]
    remember: bool,
    /// Tell false queue and service times: none at all, or a second too much
    #[arg(long, value_name = "zero|long")]
    false_times: Option<FalseTimes>,
}

impl From<Arguments> for AppSpec {
    fn from(app: Arguments) -> Self {
        Self {
            host: app.host,
            port: app.port,
            unix: app.unix,
            threads: app.threads,
            pin: app.pin,
            segment_bytes: app.segment,
            data: app.data,
            data_limit_bytes: app.data_limit,
            direct: app.direct,
            fsync: app.fsync,
            prepare: app.prepare,
            service_s: app.service,
            payload_max_bytes: u32::try_from(app.payload_max).unwrap_or(u32::MAX),
            queue: app.queue,
            max_connections: app.max_connections,
            request_timeout_s: app.request_timeout,
            idle_timeout_s: app.idle_timeout,
            damage_every: app.damage,
            lose_every: app.lose,
            garbage_every: app.garbage,
            forget: app.forget,
            remember: app.remember,
            false_times: app.false_times,
            ..Self::default()
        }
    }
}
