//! Small servers of the laboratory's own: fast, counted, and able to misbehave in exact ways.
//!
//! They serve demos, the calibration of the load generator, and tests whose right answer is known beforehand.
//! On purpose this crate shares no code with the engine that measures it: an error common to both would not show.
//!
//! One call, [`serve`], starts a server from a JSON description (`docs/reference/targets.md` lists every key).
//! A new kind is one folder and one line in `kinds!`.
// A server owns its sockets, files and clock; the rule that only `platform` does holds for the measuring half.
#![allow(clippy::disallowed_methods)]

mod app;
mod error;
mod mail;
mod null;
mod server;
mod spec;
mod web;

pub use error::ServeError;
use serde::Deserialize;
use server::running::Running;

macro_rules! kinds {
    ($($(#[doc = $about:literal])+ $Kind:ident = $folder:ident,)+) => {
        /// Which server to run, by its `kind`.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(tag = "kind", rename_all = "lowercase")]
        pub enum Spec { $($(#[doc = $about])+ $Kind(Box<$folder::Spec>),)+ }

        /// The same as arguments of the stand-alone program.
        #[cfg(feature = "cli")]
        #[derive(clap::Subcommand)]
        pub enum Arguments { $($(#[doc = $about])+ $Kind(Box<$folder::Arguments>),)+ }

        #[cfg(feature = "cli")]
        impl From<Arguments> for Spec {
            fn from(arguments: Arguments) -> Self {
                match arguments { $(Arguments::$Kind(arguments) => Self::$Kind(Box::new((*arguments).into())),)+ }
            }
        }

        impl Spec {
            fn check(&self) -> Result<(), ServeError> {
                match self { $(Self::$Kind(spec) => spec.check(),)+ }
            }

            fn start(&self) -> Result<Box<dyn Running>, ServeError> {
                Ok(match self { $(Self::$Kind(spec) => Box::new($folder::start(spec)?),)+ })
            }
        }
    };
}

// A kind is its folder, which offers `Spec`, `Arguments` and `start`, and a line here.
kinds! {
    /// HTTP/1.0 and 1.1, a corpus or a built-in page, with faults on request
    Web = web,
    /// A bare epoll loop that answers everything with one prebuilt reply
    Null = null,
    /// The application server: service threads on one queue, a data segment per client
    App = app,
    /// SMTP and POP3 with faults on request, described in JSON as for the library
    Mail = mail,
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
    start(&spec)
}

/// As [`serve`], from a description that is already parsed.
///
/// # Errors
/// As [`serve`].
pub fn start(spec: &Spec) -> Result<ServerHandle, ServeError> {
    spec.check()?;
    server::listen::raise_file_limit();
    Ok(ServerHandle { server: spec.start()? })
}
