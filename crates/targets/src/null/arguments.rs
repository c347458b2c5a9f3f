//! The arguments of `bakeoff-targets null`.

use std::path::PathBuf;

use clap::Args;

use super::spec::{NullProtocol, NullSpec};
use crate::server::tls::TlsSpec;
use crate::spec::arguments::PlaceArguments;

/// Each is one key of the description.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceArguments,
    /// What it speaks
    #[arg(long, value_enum, default_value_t)]
    speaks: NullProtocol,
    /// Speak TLS with a certificate that is made at start and written to this file
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
    /// Do not resume TLS sessions
    #[arg(long, requires = "tls_certificate")]
    no_resumption: bool,
}

impl From<Arguments> for NullSpec {
    fn from(Arguments { place, speaks, tls_certificate, no_resumption }: Arguments) -> Self {
        Self {
            host: place.host,
            port: place.port,
            unix: place.unix,
            threads: place.threads,
            pin: place.pin,
            page_bytes: place.size,
            close: place.close,
            speaks,
            tls: tls_certificate.map(|file| TlsSpec {
                certificate_file: Some(file),
                resumption: !no_resumption,
                ..TlsSpec::default()
            }),
        }
    }
}
