//! Where a server listens and on how many threads.

use std::net::IpAddr;
use std::path::PathBuf;

use super::check::need;
use crate::ServeError;

pub const LOCALHOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
/// Largest prebuilt page: enough for any wire, small enough to hold.
const PAGE_BYTES_MAX: usize = 1 << 30;
const THREADS_MAX: usize = 1024;

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

impl Place {
    pub fn check(&self, page_bytes: usize) -> Result<(), ServeError> {
        need((1..=THREADS_MAX).contains(&self.threads), "threads must be 1 to 1024")?;
        need(page_bytes <= PAGE_BYTES_MAX, "page_bytes must be at most 1 GiB")?;
        need(self.pin.as_ref().is_none_or(|cores| !cores.is_empty()), "pin needs at least one core number, or null")
    }
}
