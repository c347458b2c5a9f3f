//! Small servers of the laboratory's own: fast, counted, and able to misbehave in exact ways.
//!
//! They serve demos, the calibration of the load generator, and tests whose right answer is known beforehand.
//! On purpose this crate shares no code with the engine that measures it: an error common to both would not show.
//!
//! One call, [`serve`], starts a server from a JSON description (`docs/reference/targets.md` lists every key).
//! A new kind is one module and one line in [`start`].
// A server owns its sockets, files and clock; the rule that only `platform` does holds for the measuring half.
#![allow(clippy::disallowed_methods)]

mod app;
mod clock;
mod counts;
mod faults;
mod listen;
mod mail;
mod null;
mod spec;
mod tls;
mod web;

pub use app::AppSpec;
pub use mail::{DeferSpec, FillSpec, MailSpec, RejectSpec};
pub use spec::{NullSpec, Place, RefuseSpec, Spec, StallSpec, StatusSpec, TlsSpec, WebSpec};

/// Why a server could not be started. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The description is wrong: unknown key, wrong type, value out of range.
    #[error("{0}")]
    Spec(String),
    /// The system refused something: address in use, unreadable folder, no rights.
    #[error("{0}")]
    Start(String),
}

/// What every kind of running server offers.
trait Running: Send + Sync {
    fn address(&self) -> String;
    fn counts(&self) -> serde_json::Value;
    fn stop(&mut self);
}

/// A running server on threads of its own. Dropping it stops the server.
pub struct ServerHandle {
    server: Box<dyn Running>,
}

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerHandle").field("address", &self.address()).finish()
    }
}

impl ServerHandle {
    /// Where it listens: `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`.
    pub fn address(&self) -> String {
        self.server.address()
    }

    /// What it has served so far, as a JSON object.
    pub fn counts(&self) -> String {
        self.server.counts().to_string()
    }

    /// Ends all connections and threads; the counts stay readable. A second call does nothing.
    pub fn stop(&mut self) {
        self.server.stop();
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts the server that `spec_json` describes; it accepts connections when this returns.
///
/// # Errors
/// [`ServeError::Spec`] for a wrong description, [`ServeError::Start`] when the system says no.
pub fn serve(spec_json: &str) -> Result<ServerHandle, ServeError> {
    let spec: Spec =
        serde_json::from_str(spec_json).map_err(|e| ServeError::Spec(format!("server description: {e}")))?;
    start(spec)
}

/// As [`serve`], from a description that is already parsed.
///
/// # Errors
/// As [`serve`].
pub fn start(spec: Spec) -> Result<ServerHandle, ServeError> {
    spec.check()?;
    listen::raise_file_limit();
    let server: Box<dyn Running> = match spec {
        Spec::Web(web) => Box::new(web::start(*web)?),
        Spec::Mail(mail) => Box::new(mail::start(*mail)?),
        Spec::Null(null) => Box::new(null::start(&null)?),
        Spec::App(app) => Box::new(app::start(&app)?),
    };
    Ok(ServerHandle { server })
}

/// The kinds of server that [`serve`] knows.
pub fn kinds() -> &'static [&'static str] {
    &["web", "mail", "null", "app"]
}
