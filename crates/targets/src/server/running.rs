//! What every kind of running server offers.

use serde_json::Value;

/// A running server. It stops when dropped.
pub trait Running: Send + Sync {
    /// Where it listens.
    fn address(&self) -> String;

    /// What it has served so far, as an object.
    fn counts(&self) -> Value;

    /// Ends all connections and threads. A second call does nothing.
    fn stop(&mut self);
}
