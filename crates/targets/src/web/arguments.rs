//! The arguments of `bakeoff-targets web`.

use std::path::PathBuf;

use clap::Args;

use super::spec::{StatusSpec, WebSpec};
use crate::server::faults::{RefuseSpec, StallSpec};
use crate::server::tls::TlsSpec;
use crate::spec::arguments::{PlaceArguments, refuse, seconds, stall};

/// Each is one key of the description.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceArguments,
    /// Folder to serve; without it every path answers the built-in page
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Answer 404 at /cgi-bin/bakeoff.cgi instead of the dynamic page
    #[arg(long)]
    no_dynamic: bool,
    /// Close a connection after so many requests
    #[arg(long, value_name = "N")]
    requests_per_connection: Option<u64>,
    /// Chunked bodies without Content-Length
    #[arg(long)]
    chunked: bool,
    /// Serve TLS and write the certificate for clients to this file
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
    /// Do not resume TLS sessions
    #[arg(long, requires = "tls_certificate")]
    no_resumption: bool,
    /// Hold every reply back by exactly this long, as in 5ms
    #[arg(long, value_parser = seconds, default_value = "0s")]
    delay: f64,
    /// Stand still so long in every period, as in 200ms/1s
    #[arg(long, value_parser = stall, value_name = "FOR/EVERY")]
    stall: Option<StallSpec>,
    /// Reset exactly this share of connections, as in 1/10
    #[arg(long, value_parser = refuse, value_name = "N/OF")]
    refuse: Option<RefuseSpec>,
    /// At most so many requests per second
    #[arg(long, value_name = "RATE")]
    limit: Option<f64>,
    /// Answer with this status, always or every n-th time, as in 503 or 503/10
    #[arg(long, value_parser = status, value_name = "CODE[/N]")]
    status: Option<StatusSpec>,
    /// Cut every n-th body in the middle
    #[arg(long, value_name = "N")]
    truncate: Option<u64>,
    /// Make one byte of every n-th body wrong
    #[arg(long, value_name = "N")]
    corrupt: Option<u64>,
    /// Drop the connection after so many bytes of a body
    #[arg(long, value_name = "BYTES")]
    close_after: Option<u64>,
    /// Close instead of answering every n-th request
    #[arg(long, value_name = "N")]
    unanswered: Option<u64>,
    /// Write a chunk size of every n-th reply as 0x…
    #[arg(long, value_name = "N")]
    bad_chunk: Option<u64>,
    /// Send another reply after every n-th, unasked
    #[arg(long, value_name = "N")]
    unsolicited: Option<u64>,
    /// Announce the close of every connection and leave it to the client
    #[arg(long)]
    leave_open: bool,
    /// End cut bodies with a reset instead of a close
    #[arg(long)]
    cut_with_reset: bool,
    /// Close connections that do nothing for so long
    #[arg(long, value_parser = seconds, default_value = "60s")]
    idle_timeout: f64,
    /// Most connections open at once
    #[arg(long, default_value_t = 20_000)]
    max_connections: usize,
    /// Largest folder that is loaded, in bytes
    #[arg(long, default_value_t = 2 << 30, value_name = "BYTES")]
    memory: u64,
}

impl From<Arguments> for WebSpec {
    fn from(web: Arguments) -> Self {
        let resumption = !web.no_resumption;
        Self {
            host: web.place.host,
            port: web.place.port,
            unix: web.place.unix,
            threads: web.place.threads,
            pin: web.place.pin,
            root: web.root,
            page_bytes: web.place.size,
            memory_bytes: web.memory,
            dynamic: !web.no_dynamic,
            keep_alive: !web.place.close,
            requests_per_connection: web.requests_per_connection,
            chunked: web.chunked,
            tls: web.tls_certificate.map(|file| TlsSpec {
                certificate_file: Some(file),
                resumption,
                ..TlsSpec::default()
            }),
            delay_s: web.delay,
            stall: web.stall,
            refuse: web.refuse,
            limit_per_s: web.limit,
            status: web.status,
            truncate_every: web.truncate,
            corrupt_every: web.corrupt,
            close_after_bytes: web.close_after,
            unanswered_every: web.unanswered,
            bad_chunk_every: web.bad_chunk,
            unsolicited_every: web.unsolicited,
            leave_open: web.leave_open,
            cut_with_reset: web.cut_with_reset,
            idle_timeout_s: web.idle_timeout,
            max_connections: web.max_connections,
        }
    }
}

fn status(text: &str) -> Result<StatusSpec, String> {
    let (code, every) = text.split_once('/').unwrap_or((text, "1"));
    let wrong = |_| "write a status as 503 or 503/10".to_owned();
    Ok(StatusSpec { code: code.parse().map_err(wrong)?, every: every.parse().map_err(wrong)? })
}
