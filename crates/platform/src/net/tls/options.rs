//! TLS as httperf's options ask for it, as far as rustls has it; what it has not is refused in words.

use super::{Connector, Verifier, read_certificates};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, SupportedCipherSuite, SupportedProtocolVersion};
use std::sync::Arc;

/// Sessions that can be resumed are kept for so many servers.
const SESSIONS_KEPT: usize = 64;

type Versions = &'static [&'static SupportedProtocolVersion];
const TLS12: Versions = &[&rustls::version::TLS12];
const TLS13: Versions = &[&rustls::version::TLS13];

/// What TLS connections are to be like.
#[derive(Debug, Clone, Default)]
pub struct TlsOptions {
    /// `auto` or a version as httperf names it, `TLSv1.2`.
    pub protocol: String,
    /// Names as OpenSSL, IANA or rustls has them; all when empty.
    pub ciphers: Vec<String>,
    /// Resume sessions.
    pub resumption: bool,
    /// PEM files of the client's certificate and key.
    pub identity: Option<(String, String)>,
    /// Check the server's certificate.
    pub verify: bool,
    /// PEM file of authorities to trust in addition to the system's.
    pub ca_file: Option<String>,
    /// Folder of such files.
    pub ca_path: Option<String>,
}

impl TlsOptions {
    /// The configuration of all connections. The error says what cannot be had.
    pub fn configure(&self) -> Result<Arc<ClientConfig>, String> {
        let versions = self.versions()?;
        let provider = rustls::crypto::ring::default_provider();
        let cipher_suites = self.suites(&provider)?;
        let provider = Arc::new(CryptoProvider { cipher_suites, ..provider });
        let verifier =
            Verifier::trusting(self.verify.then(|| self.authorities()).transpose()?, self.origin(), &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|_| "--ssl-ciphers leaves no cipher for the version of --ssl-protocol".to_owned())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let private = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("`{key}`: {error}"))?;
                let chain = read_certificates(certificate)?;
                builder.with_client_auth_cert(chain, private).map_err(|error| format!("`{certificate}`: {error}"))?
            }
        };
        config.resumption =
            if self.resumption { Resumption::in_memory_sessions(SESSIONS_KEPT) } else { Resumption::disabled() };
        Ok(Arc::new(config))
    }

    fn versions(&self) -> Result<Versions, String> {
        match self.protocol.to_ascii_lowercase().as_str() {
            "auto" => Ok(rustls::DEFAULT_VERSIONS),
            "tlsv1.2" => Ok(TLS12),
            "tlsv1.3" => Ok(TLS13),
            _ => Err(format!("--ssl-protocol {} cannot be had: choose auto, TLSv1.2 or TLSv1.3", self.protocol)),
        }
    }

    fn suites(&self, provider: &CryptoProvider) -> Result<Vec<SupportedCipherSuite>, String> {
        if self.ciphers.is_empty() {
            return Ok(provider.cipher_suites.clone());
        }
        let find = |wanted: &String| {
            let found = provider.cipher_suites.iter().find(|suite| plain(&name_of(suite)) == plain(wanted));
            found.copied().ok_or_else(|| {
                let known: Vec<_> = provider.cipher_suites.iter().map(name_of).collect();
                format!("--ssl-ciphers: `{wanted}` cannot be had; there are {}", known.join(", "))
            })
        };
        self.ciphers.iter().map(find).collect()
    }

    fn origin(&self) -> &str {
        self.ca_file.as_deref().or(self.ca_path.as_deref()).unwrap_or_default()
    }

    fn authorities(&self) -> Result<Vec<CertificateDer<'static>>, String> {
        let mut found = self.ca_file.as_deref().map(read_certificates).transpose()?.unwrap_or_default();
        let Some(folder) = &self.ca_path else { return Ok(found) };
        let told = |error: std::io::Error| format!("`{folder}`: {error}");
        for entry in std::fs::read_dir(folder).map_err(told)? {
            let path = entry.map_err(told)?.path();
            // Folders of authorities hold other files, too: those without a certificate add none.
            if let Some(path) = path.to_str().filter(|_| path.is_file()) {
                found.extend(read_certificates(path).unwrap_or_default());
            }
        }
        if found.is_empty() {
            return Err(format!("`{folder}` has no certificate in PEM form"));
        }
        Ok(found)
    }
}

/// Connections to the server of this name, with what all have in common.
pub fn connector(config: &Arc<ClientConfig>, server_name: &str) -> Result<Connector, String> {
    let name = ServerName::try_from(server_name.to_owned())
        .map_err(|_| format!("`{server_name}` is not a name that a certificate can have"))?;
    Ok(Connector::of(Arc::clone(config), name))
}

fn name_of(suite: &SupportedCipherSuite) -> String {
    format!("{:?}", suite.suite())
}

/// A cipher's name without what the three ways of writing it differ in: `ECDHE-RSA-AES128-GCM-SHA256` is
/// `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`.
fn plain(name: &str) -> String {
    let bare: String = name.to_ascii_uppercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let bare = bare.strip_prefix("TLS13").or_else(|| bare.strip_prefix("TLS")).unwrap_or(&bare).replace("WITH", "");
    // OpenSSL leaves out the hash of this one.
    if bare.ends_with("CHACHA20POLY1305") { format!("{bare}SHA256") } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(protocol: &str, ciphers: &[&str]) -> Result<usize, String> {
        let ciphers = ciphers.iter().map(|&name| name.to_owned()).collect();
        let options = TlsOptions { protocol: protocol.to_owned(), ciphers, ..TlsOptions::default() };
        options.configure().map(|config| config.crypto_provider().cipher_suites.len())
    }

    #[test]
    fn ciphers_are_known_by_each_of_their_names() {
        let names = [
            "ECDHE-RSA-AES128-GCM-SHA256",
            "TLS_AES_256_GCM_SHA384",
            "TLS13_AES_128_GCM_SHA256",
            "ECDHE-RSA-CHACHA20-POLY1305",
        ];
        assert_eq!(asked("auto", &names), Ok(4));
        assert_eq!(asked("TLSv1.3", &names[1..2]), Ok(1));
    }

    #[test]
    fn what_cannot_be_had_is_refused_in_words() {
        assert!(asked("SSLv3", &[]).unwrap_err().contains("choose auto, TLSv1.2 or TLSv1.3"));
        assert!(asked("auto", &["RC4-MD5"]).unwrap_err().contains("`RC4-MD5` cannot be had; there are"));
        assert!(asked("TLSv1.3", &["ECDHE-RSA-AES128-GCM-SHA256"]).unwrap_err().contains("leaves no cipher"));
        let options = TlsOptions { protocol: "auto".to_owned(), verify: true, ..TlsOptions::default() };
        let missing = TlsOptions { ca_file: Some("/nowhere".to_owned()), ..options.clone() };
        assert!(missing.configure().unwrap_err().contains("/nowhere"));
        let missing = TlsOptions { identity: Some(("/none".to_owned(), "/key".to_owned())), ..options };
        assert!(missing.configure().unwrap_err().contains("/key"));
    }
}
