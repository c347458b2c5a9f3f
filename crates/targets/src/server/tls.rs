//! TLS for the targets, with a certificate that is made at start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring as provider;
use rustls::pki_types::PrivateKeyDer;
use serde::Deserialize;
use tokio_rustls::TlsAcceptor;

use crate::ServeError;

/// TLS with a certificate that is made at start.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsSpec {
    /// The certificate is written here (PEM), so that clients can trust it.
    pub certificate_file: Option<PathBuf>,
    /// Names and addresses the certificate is valid for.
    pub names: Vec<String>,
    /// Whether sessions can be resumed.
    pub resumption: bool,
}

impl Default for TlsSpec {
    fn default() -> Self {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        Self { certificate_file: None, names, resumption: true }
    }
}

/// Sessions remembered for TLS 1.2; TLS 1.3 uses tickets.
const SESSIONS: usize = 16_384;

/// `protocols` are those offered by ALPN.
pub fn acceptor(spec: &TlsSpec, protocols: &[&[u8]]) -> Result<TlsAcceptor, ServeError> {
    config(spec, protocols).map(TlsAcceptor::from)
}

/// The same for who moves the bytes itself.
pub fn config(spec: &TlsSpec, protocols: &[&[u8]]) -> Result<Arc<ServerConfig>, ServeError> {
    let made = rcgen::generate_simple_self_signed(spec.names.clone())
        .map_err(|e| ServeError::Spec(format!("tls.names: no certificate can be made for {:?}: {e}", spec.names)))?;
    if let Some(path) = &spec.certificate_file {
        write_certificate(path, &made.cert.pem())?;
    }
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let broken = |e: rustls::Error| ServeError::Start(format!("TLS cannot be set up: {e}"));
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(broken)?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(broken)?;
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    if spec.resumption {
        config.session_storage = rustls::server::ServerSessionMemoryCache::new(SESSIONS);
        config.ticketer = provider::Ticketer::new().map_err(broken)?;
    } else {
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    Ok(Arc::new(config))
}

fn write_certificate(path: &Path, pem: &str) -> Result<(), ServeError> {
    std::fs::write(path, pem).map_err(|e| {
        ServeError::Start(format!(
            "cannot write the certificate to {}: {e}; choose another certificate_file",
            path.display()
        ))
    })
}
