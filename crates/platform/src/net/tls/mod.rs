//! TLS over the loop's sockets, by rustls.

pub(super) mod options;

use super::quic;
use super::socket::{self, Moved};
use bakeoff_engine::{ErrorClass, TlsSettings};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConnection, Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::{Arc, LazyLock};

/// Sessions that can be resumed are kept for so many servers.
const SESSIONS_KEPT: usize = 64;

/// The system's authorities, read once: a check before timing connects hundreds of times.
static SYSTEM: LazyLock<RootCertStore> = LazyLock::new(|| {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    store
});

/// Makes TLS sessions towards one server.
#[derive(Debug, Clone)]
pub struct Connector {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    application: Option<&'static str>,
    apart: bool,
}

impl Connector {
    /// Towards a server of this name, which is asked to speak `application` (ALPN), if any. The error says what is wrong
    /// with the settings.
    pub fn new(settings: &TlsSettings, server_name: &str, application: Option<&'static str>) -> Result<Self, String> {
        let name = ServerName::try_from(server_name.to_owned())
            .map_err(|_| format!("`{server_name}` is not a name that a certificate can have"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS: {error}"))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier::new(settings, &provider)?))
            .with_no_client_auth();
        config.resumption =
            if settings.resumption { Resumption::in_memory_sessions(SESSIONS_KEPT) } else { Resumption::disabled() };
        config.alpn_protocols = application.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Self { config: Arc::new(config), name, application, apart: settings.handshake_apart })
    }

    /// The same over QUIC, with so many streams ready for use.
    pub(super) fn quic(&self, address: SocketAddr, name: &str, streams: usize) -> Result<quic::Connector, String> {
        quic::Connector::new(Arc::clone(&self.config), address, name, streams)
    }

    /// One with a configuration that others share.
    pub(super) const fn of(config: Arc<ClientConfig>, name: ServerName<'static>) -> Self {
        Self { config, name, application: None, apart: false }
    }

    /// A connection's own part.
    pub fn session(&self) -> Result<Session, ErrorClass> {
        let mut inner =
            ClientConnection::new(Arc::clone(&self.config), self.name.clone()).map_err(|_| ErrorClass::Tls)?;
        // A message is written as a whole; what the socket does not take yet waits here.
        inner.set_buffer_limit(None);
        Ok(Session {
            inner,
            application: self.application,
            apart: self.apart,
            blocked: false,
            fault: TlsFault::Other,
            reason: None,
        })
    }
}

/// Decides whether a server is who it says. Signatures are always checked against its certificate.
#[derive(Debug)]
pub(super) struct Verifier {
    /// The system's authorities and those of `ca_file`; `None` takes any certificate (`--insecure`).
    chains: Option<Arc<WebPkiServerVerifier>>,
    /// A certificate that is itself in `ca_file` is trusted, as self-signed servers need it: webpki alone refuses an
    /// authority as a server.
    named: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn new(settings: &TlsSettings, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let named = || settings.ca_file.as_deref().map(read_authorities).transpose().map(Option::unwrap_or_default);
        let origin = settings.ca_file.as_deref().unwrap_or_default();
        Self::trusting(settings.verify.then(named).transpose()?, origin, provider)
    }

    /// Trusts the system's authorities and these, which are from `origin`; without any list every certificate.
    pub(super) fn trusting(
        named: Option<Vec<CertificateDer<'static>>>,
        origin: &str,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let algorithms = provider.signature_verification_algorithms;
        let Some(named) = named else { return Ok(Self { chains: None, named: Vec::new(), algorithms }) };
        let mut store = SYSTEM.clone();
        for certificate in &named {
            store.add(certificate.clone()).map_err(|error| format!("`{origin}`: {error}"))?;
        }
        if store.is_empty() {
            let advice = "name one with --ca-file, or use --insecure";
            return Err(format!("no certificate authorities are installed: {advice}"));
        }
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
            .build()
            .map_err(|error| format!("TLS: {error}"))?;
        Ok(Self { chains: Some(chains), named, algorithms })
    }
}

/// The certificates of a PEM file that was given for them.
fn read_authorities(path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    match read_certificates(path) {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!("ca_file: {path} holds no certificate: give a PEM file")),
        Err(why) => Err(format!("ca_file: {why}: give a PEM file")),
    }
}

/// The certificates of a PEM file.
pub(super) fn read_certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| format!("`{path}`: {error}"))?;
    certificates.collect::<Result<Vec<_>, _>>().map_err(|error| format!("`{path}`: {error}"))
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chains) = &self.chains else { return Ok(ServerCertVerified::assertion()) };
        let checked = chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let is_out_of_time = |error| matches!(TlsFault::of(error), TlsFault::Expired | TlsFault::NotYetValid);
        if checked.as_ref().is_err_and(|error| !is_out_of_time(error)) && self.named.contains(end_entity) {
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        checked
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Why there is no TLS, as far as a user can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFault {
    /// The certificate is over.
    Expired,
    /// The certificate has not begun.
    NotYetValid,
    /// The certificate is that of another name.
    OtherName,
    /// Nobody who is trusted vouches for the certificate.
    Untrusted,
    /// What answers is no TLS.
    ClearText,
    /// The server speaks another protocol (ALPN).
    OtherApplication,
    /// Anything else.
    Other,
}

impl TlsFault {
    fn of(error: &rustls::Error) -> Self {
        use rustls::{AlertDescription, CertificateError as Certificate, InvalidMessage};
        match error {
            rustls::Error::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
                Self::Expired
            }
            rustls::Error::InvalidCertificate(Certificate::NotValidYet | Certificate::NotValidYetContext { .. }) => {
                Self::NotYetValid
            }
            rustls::Error::InvalidCertificate(
                Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
            ) => Self::OtherName,
            rustls::Error::InvalidCertificate(_) => Self::Untrusted,
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::ClearText,
            rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol) => Self::OtherApplication,
            _ => Self::Other,
        }
    }
}

/// One TLS connection.
#[derive(Debug)]
pub struct Session {
    inner: ClientConnection,
    application: Option<&'static str>,
    /// The end of the handshake is written before anything else.
    pub apart: bool,
    /// A write did not fit into the socket; go on when it is writable.
    blocked: bool,
    /// Why it failed, also in words.
    fault: TlsFault,
    reason: Option<String>,
}

/// `TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384` is `ECDHE-RSA-AES256-GCM-SHA384` there; those of TLS 1.3 have their own name.
fn openssl_name(suite: &str) -> String {
    if let Some(rest) = suite.strip_prefix("TLS13_") {
        return format!("TLS_{rest}");
    }
    let bare = suite.strip_prefix("TLS_").unwrap_or(suite).replace("_WITH_", "_").replace("AES_", "AES");
    let name = bare.replace('_', "-");
    name.strip_suffix("-POLY1305-SHA256").map_or_else(|| name.clone(), |rest| format!("{rest}-POLY1305"))
}

fn written(moved: Moved) -> io::Result<usize> {
    match moved {
        Moved::Bytes(count) => Ok(count),
        Moved::Blocked => Err(io::ErrorKind::WouldBlock.into()),
        Moved::Failed(errno) => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// A socket as a writer, for rustls.
struct SocketWriter(RawFd);

impl Write for SocketWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        written(socket::send(self.0, bytes))
    }

    /// Records that are ready together leave together: sent one by one, a peer could wait to acknowledge the first.
    fn write_vectored(&mut self, records: &[io::IoSlice<'_>]) -> io::Result<usize> {
        written(socket::send_gathered(self.0, records))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Session {
    /// Whether nothing can be sent yet.
    pub fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    /// Whether the handshake resumed an earlier session; `None` before its end.
    pub fn resumed(&self) -> Option<bool> {
        self.inner.handshake_kind().map(|kind| kind == rustls::HandshakeKind::Resumed)
    }

    /// After the handshake: whether the server speaks what it was asked for.
    pub fn check_application(&mut self) -> Result<(), ErrorClass> {
        let Some(asked) = self.application else { return Ok(()) };
        if self.inner.alpn_protocol() == Some(asked.as_bytes()) {
            return Ok(());
        }
        self.fault = TlsFault::OtherApplication;
        self.reason = Some(format!("the server does not speak {asked} (ALPN)"));
        Err(ErrorClass::Tls)
    }

    /// Takes clear text to be sent with the next [`Session::flush`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ErrorClass> {
        self.inner.writer().write_all(bytes).map_err(|_| ErrorClass::Tls)
    }

    /// Sends what is ready; `Ok(true)` when nothing is left.
    pub fn flush(&mut self, fd: RawFd) -> Result<bool, ErrorClass> {
        self.blocked = false;
        while self.inner.wants_write() {
            match self.inner.write_tls(&mut SocketWriter(fd)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return Ok(false);
                }
                Err(error) => return Err(socket::class_of(error.raw_os_error().unwrap_or(0))),
            }
        }
        Ok(true)
    }

    /// Whether the socket did not take all of the last write.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Takes cipher text as far as rustls' buffer allows; returns whether the server has ended its stream.
    pub fn take(&mut self, cipher: &mut &[u8]) -> Result<bool, ErrorClass> {
        self.inner.read_tls(cipher).map_err(|_| ErrorClass::Tls)?;
        match self.inner.process_new_packets() {
            Ok(state) => Ok(state.peer_has_closed()),
            Err(error) => {
                self.fault = TlsFault::of(&error);
                self.reason = Some(error.to_string());
                Err(ErrorClass::Tls)
            }
        }
    }

    /// Version and cipher by the names that OpenSSL has for them, once they are agreed on.
    pub fn agreed(&self) -> Option<String> {
        let (version, suite) = (self.inner.protocol_version()?, self.inner.negotiated_cipher_suite()?);
        let version = format!("{version:?}").replace('_', ".");
        Some(format!("{version} {}", openssl_name(&format!("{:?}", suite.suite()))))
    }

    /// Why the session failed.
    pub const fn fault(&self) -> TlsFault {
        self.fault
    }

    /// Why the session failed, in words.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Clear text that has arrived and was not consumed yet.
    pub fn clear_text(&mut self) -> &[u8] {
        self.inner.reader().into_first_chunk().unwrap_or(&[])
    }

    /// Forgets the first bytes of [`Session::clear_text`].
    pub fn consume(&mut self, bytes: usize) {
        self.inner.reader().consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_have_the_names_of_openssl() {
        for (suite, name) in [
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
            ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ] {
            assert_eq!(openssl_name(suite), name);
        }
    }
}
