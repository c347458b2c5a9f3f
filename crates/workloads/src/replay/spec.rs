//! The replay of an access log as it crosses the seam.

use super::moments::Spread;
use crate::web::WebSpec;
use serde::Deserialize;

/// Which statuses of replies are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statuses {
    /// Those that fit the log's.
    Log,
    /// All; those that do not fit the log's are counted all the same.
    Any,
}

/// A request of the log of whose reply something is known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearntSpec {
    /// Of the log.
    pub method: String,
    /// The virtual host, where hosts of the log are kept.
    pub host: Option<String>,
    /// As the log has it.
    pub path: String,
}

/// Settings of the workload `replay`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySpec {
    /// Always `replay`.
    pub kind: String,
    /// How connections are made and requests sent. Its first two classes are patterns: a GET, whose reply has a body, and a
    /// HEAD. A third one has a request for each of `learnt`.
    pub web: WebSpec,
    /// In the order of the third class, which is there when there are any.
    #[serde(default)]
    pub learnt: Vec<LearntSpec>,
    /// What stands before each path of the log.
    pub prefix: String,
    /// File with the trace.
    pub trace: String,
    /// SHA-256 of that file, hexadecimal.
    pub sha256: String,
    /// How lines of one second are spread over it.
    pub spread: Spread,
    /// The log begins again until the trial is over.
    pub loops: bool,
    /// Which statuses of replies are right.
    pub statuses: Statuses,
}
