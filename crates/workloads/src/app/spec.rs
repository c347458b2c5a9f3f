//! The app workload as it crosses the seam.

use serde::Deserialize;

/// A kind of request and its share of the transactions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// `upload`, `download`, `processor`, `read` or `write`.
    pub name: String,
    /// Share, relative to the other kinds'.
    pub weight: f64,
}

/// Settings of the workload `app`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppSpec {
    /// Always `app`.
    pub kind: String,
    /// Resolved addresses.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Unix socket instead of addresses.
    #[serde(default)]
    pub unix: Option<String>,
    /// Local addresses to connect from, in turn.
    #[serde(default)]
    pub source_addresses: Vec<String>,
    /// What is asked for.
    pub classes: Vec<ClassSpec>,
    /// Payload of an upload.
    pub upload_bytes: u32,
    /// Payload of a download.
    pub download_bytes: u32,
    /// Rounds of processor work.
    pub rounds: u32,
    /// Size of a record that is read or written.
    pub record_bytes: u32,
    /// Records of one read.
    pub read_records: u32,
    /// Records of one write.
    pub write_records: u32,
    /// Share of the segment that is read and written, more than 0 and at most 1.
    #[serde(default = "whole")]
    pub working_set: f64,
    /// Processor work is asked for with so many different seeds; 0: with a fresh one each time.
    #[serde(default)]
    pub seeds: u32,
    /// Whether what was written is read again after the trial, and a sample of answers worked out again.
    #[serde(default = "yes")]
    pub look_again: bool,
}

fn yes() -> bool {
    true
}

fn whole() -> f64 {
    1.0
}
