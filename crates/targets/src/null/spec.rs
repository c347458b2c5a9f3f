//! The description of the null server: every key and its default.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::ServeError;
use crate::place::{LOCALHOST, Place};

/// The null server.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)] // One line per key in docs/reference/targets.md.
pub struct NullSpec {
    pub host: IpAddr,
    pub port: u16,
    pub unix: Option<PathBuf>,
    pub threads: usize,
    pub pin: Option<Vec<usize>>,
    pub page_bytes: usize,
    pub close: bool,
}

impl Default for NullSpec {
    fn default() -> Self {
        Self { host: LOCALHOST, port: 0, unix: None, threads: 1, pin: None, page_bytes: 1024, close: false }
    }
}

impl NullSpec {
    pub fn check(&self) -> Result<(), ServeError> {
        self.place().check(self.page_bytes)
    }

    pub fn place(&self) -> Place {
        Place {
            host: self.host,
            port: self.port,
            unix: self.unix.clone(),
            threads: self.threads,
            pin: self.pin.clone(),
        }
    }
}
