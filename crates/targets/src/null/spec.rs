//! The description of the null server: every key and its default.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::ServeError;
use crate::server::tls::TlsSpec;
use crate::spec::check::need;
use crate::spec::place::{LOCALHOST, Place};

/// What it speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum NullProtocol {
    /// HTTP/1.0 and 1.1.
    #[default]
    Http1,
    /// HTTP/2, without TLS to clients that know it.
    Http2,
    /// The app protocol.
    App,
}

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
    pub speaks: NullProtocol,
    pub tls: Option<TlsSpec>,
}

impl Default for NullSpec {
    fn default() -> Self {
        Self {
            host: LOCALHOST,
            port: 0,
            unix: None,
            threads: 1,
            pin: None,
            page_bytes: 1024,
            close: false,
            speaks: NullProtocol::default(),
            tls: None,
        }
    }
}

impl NullSpec {
    pub fn check(&self) -> Result<(), ServeError> {
        need(
            !self.close || self.speaks == NullProtocol::Http1,
            "close is for http1: with others clients end connections",
        )?;
        need(self.tls.is_none() || self.speaks != NullProtocol::App, "the app protocol has no TLS: leave tls out")?;
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
