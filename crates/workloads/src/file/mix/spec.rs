//! The specification of the mix as it crosses the seam.

use bakeoff_engine::SpecError;
use serde::Deserialize;

/// All of it; sizes in bytes, times in seconds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixSpec {
    kind: String,
    /// The contender's folder.
    pub folder: String,
    /// A dbench loadfile to replay instead of the generator's mix.
    pub loadfile: Option<String>,
    /// Replay the loadfile once, not until the time is over.
    pub once: bool,
    /// Look names up before they are used, as a file server for another system does.
    pub resolve: bool,
    /// Files of a client: the data set is a fifth larger.
    pub workspace_bytes: u64,
    /// Bytes after which a client rests: a stretch of calls that moves so much is an iteration. Null: no iterations, no rests.
    pub iteration_bytes: Option<u64>,
    /// How long it rests.
    pub iteration_pause_s: f64,
    /// `fsync` where the recorded clients asked for it.
    pub flush: bool,
    /// Stamp and check data.
    pub verify: bool,
    /// What the folder that is kept over the trials of this process is called; null: a fresh one each time.
    pub reuse: Option<String>,
    /// Leave the files behind.
    pub keep: bool,
    /// What the link to the server carries, bytes per second; null: not known, or there is none.
    pub link_bytes_per_s: Option<f64>,
    /// A call that takes longer fails the trial.
    pub stall_s: f64,
}

const WORKSPACE_MIN: u64 = 1_000_000;
const PAUSE_MAX_S: f64 = 86_400.0;
const WORKSPACE_MAX: u64 = 100_000_000_000;

impl MixSpec {
    /// Reads and checks it.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, SpecError> {
        let spec: Self = serde_json::from_value(value.clone())?;
        debug_assert_eq!(spec.kind, "file-mix");
        if !(WORKSPACE_MIN..=WORKSPACE_MAX).contains(&spec.workspace_bytes) {
            let text = format!("the workspace must be {WORKSPACE_MIN} to {WORKSPACE_MAX} bytes per client");
            return Err(SpecError::Range(text));
        }
        if spec.iteration_bytes == Some(0) || !(0.0..=PAUSE_MAX_S).contains(&spec.iteration_pause_s) {
            let text = format!("an iteration must move at least 1 byte, and its pause be 0 to {PAUSE_MAX_S} s");
            return Err(SpecError::Range(text));
        }
        if spec.stall_s.is_nan() || spec.stall_s <= 0.0 {
            return Err(SpecError::Range("stall_s must be above 0".to_owned()));
        }
        Ok(spec)
    }
}
