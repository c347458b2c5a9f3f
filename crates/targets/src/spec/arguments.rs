//! Arguments of the stand-alone program that several kinds share, and how their values are read.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use crate::server::faults::{RefuseSpec, StallSpec};

/// Where to listen, and what the plainest page is.
#[derive(Args)]
pub struct PlaceArguments {
    /// Numeric address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Port; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Listen on a unix socket at this path instead
    #[arg(long, value_name = "PATH")]
    pub unix: Option<PathBuf>,
    /// Worker threads
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Cores of the workers, as in 0,1
    #[arg(long, value_delimiter = ',', value_name = "CORES")]
    pub pin: Option<Vec<usize>>,
    /// Bytes of the built-in page
    #[arg(long, default_value_t = 1024, value_name = "BYTES")]
    pub size: usize,
    /// Close each connection after its reply
    #[arg(long)]
    pub close: bool,
}

pub fn size(text: &str) -> Result<u64, String> {
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

pub fn seconds(text: &str) -> Result<f64, String> {
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

pub fn stall(text: &str) -> Result<StallSpec, String> {
    let (length, period) = text.split_once('/').ok_or("write a stall as 200ms/1s")?;
    Ok(StallSpec { for_s: seconds(length)?, every_s: seconds(period)? })
}

pub fn refuse(text: &str) -> Result<RefuseSpec, String> {
    let (count, of) = text.split_once('/').ok_or("write a share as 1/10")?;
    let number = |part: &str| part.parse().map_err(|_| "write a share as 1/10".to_owned());
    Ok(RefuseSpec { count: number(count)?, of: number(of)? })
}
