//! Why a server could not be started.

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
