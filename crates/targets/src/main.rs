//! The built-in servers as a program of their own, for tests and benchmarks.
//!
//! Prints one line of JSON with the address when it is ready, and one with the counts when SIGTERM or SIGINT ends it.
#![allow(clippy::print_stdout)]

use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use bakeoff_targets::{AppSpec, MailSpec, NullSpec, RefuseSpec, Spec, StallSpec, StatusSpec, TlsSpec, WebSpec};
use clap::{Args, Parser, Subcommand};

/// Built-in servers with exact, programmable misbehaviour
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Subcommand)]
enum Kind {
    /// HTTP/1.0 and 1.1, a corpus or a built-in page, with faults on request
    Web(Box<Web>),
    /// A bare epoll loop that answers everything with one prebuilt reply
    Null(Null),
    /// The application server: service threads on one queue, a data segment per client
    App(Box<App>),
    /// SMTP and POP3 with faults on request, described in JSON as for the library
    Mail(Box<Mail>),
}

#[derive(Args)]
struct Place {
    /// Numeric address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Listen on a unix socket at this path instead
    #[arg(long, value_name = "PATH")]
    unix: Option<PathBuf>,
    /// Worker threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Cores of the workers, as in 0,1
    #[arg(long, value_delimiter = ',', value_name = "CORES")]
    pin: Option<Vec<usize>>,
    /// Bytes of the built-in page
    #[arg(long, default_value_t = 1024, value_name = "BYTES")]
    size: usize,
    /// Close each connection after its reply
    #[arg(long)]
    close: bool,
}

#[derive(Args)]
struct Mail {
    /// Keys and values, as in '{"lose":{"count":1,"of":100}}'
    #[arg(default_value = "{}", value_parser = mail)]
    settings: MailSpec,
}

fn mail(text: &str) -> Result<MailSpec, String> {
    serde_json::from_str(text).map_err(|e| e.to_string())
}

#[derive(Args)]
struct Null {
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
struct Web {
    #[command(flatten)]
    place: Place,
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

#[derive(Args)]
struct App {
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
}

fn describe_app(app: App) -> AppSpec {
    AppSpec {
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
        ..AppSpec::default()
    }
}

fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" | "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        unit => return Err(format!("unknown unit {unit:?}: write a size as 4096, 64KiB or 16MiB")),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(scale));
    number.ok_or_else(|| "write a size as 4096, 64KiB or 16MiB".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        unit => return Err(format!("unknown unit {unit:?}: write a time as 5ms, 1.5s or 2m")),
    };
    digits.parse::<f64>().map(|number| number * scale).map_err(|_| "write a time as 5ms, 1.5s or 2m".to_owned())
}

fn stall(text: &str) -> Result<StallSpec, String> {
    let (length, period) = text.split_once('/').ok_or("write a stall as 200ms/1s")?;
    Ok(StallSpec { for_s: seconds(length)?, every_s: seconds(period)? })
}

fn refuse(text: &str) -> Result<RefuseSpec, String> {
    let (count, of) = text.split_once('/').ok_or("write a share as 1/10")?;
    let number = |part: &str| part.parse().map_err(|_| "write a share as 1/10".to_owned());
    Ok(RefuseSpec { count: number(count)?, of: number(of)? })
}

fn status(text: &str) -> Result<StatusSpec, String> {
    let (code, every) = text.split_once('/').unwrap_or((text, "1"));
    let wrong = |_| "write a status as 503 or 503/10".to_owned();
    Ok(StatusSpec { code: code.parse().map_err(wrong)?, every: every.parse().map_err(wrong)? })
}

fn describe(kind: Kind) -> Spec {
    match kind {
        Kind::Null(Null { place }) => Spec::Null(NullSpec {
            host: place.host,
            port: place.port,
            unix: place.unix,
            threads: place.threads,
            pin: place.pin,
            page_bytes: place.size,
            close: place.close,
        }),
        Kind::App(app) => Spec::App(Box::new(describe_app(*app))),
        Kind::Mail(mail) => Spec::Mail(Box::new(mail.settings)),
        Kind::Web(web) => Spec::Web(Box::new(describe_web(*web))),
    }
}

fn describe_web(web: Web) -> WebSpec {
    let resumption = !web.no_resumption;
    WebSpec {
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
        tls: web.tls_certificate.map(|file| TlsSpec { certificate_file: Some(file), resumption, ..TlsSpec::default() }),
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

/// The signals that end the program, blocked in this thread and all it starts, so that they can be waited for.
fn block_signals() -> libc::sigset_t {
    // SAFETY: sigset_t is plain bits and initialised by sigemptyset before use; all pointers are to live values.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        set
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let signals = block_signals();
    let mut server = match bakeoff_targets::start(describe(cli.kind)) {
        Ok(server) => server,
        Err(e) => {
            eprintln!("bakeoff-targets: {e}");
            return ExitCode::from(2);
        }
    };
    println!("{}", serde_json::json!({"address": server.address()}));
    // A reader that has gone does not matter: the server is what is wanted.
    let _ = std::io::stdout().flush();
    let mut signal = 0;
    // SAFETY: both pointers are to live values.
    unsafe { libc::sigwait(&raw const signals, &raw mut signal) };
    server.stop();
    println!("{}", server.counts());
    ExitCode::SUCCESS
}
