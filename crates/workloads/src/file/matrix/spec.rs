//! The specification of a matrix as it crosses the seam.

use super::test::Test;
use crate::file::cache::Cache;
use crate::file::evidence::Carrier;
use bakeoff_engine::SpecError;
use serde::Deserialize;

/// All of it; sizes in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixSpec {
    kind: String,
    /// The contender's folder.
    pub folder: String,
    /// (file size, record size) in the order in which they are worked through.
    pub pairs: Vec<(u64, u64)>,
    /// Tests done for each pair, in this order.
    pub tests: Vec<Test>,
    /// Leave the files behind.
    pub keep: bool,
    /// `fsync` inside the clock.
    pub fsync: bool,
    /// `close` inside the clock.
    pub close: bool,
    /// `O_DIRECT`.
    pub direct: bool,
    /// `O_DSYNC`.
    pub dsync: bool,
    /// `O_SYNC`.
    pub sync: bool,
    /// Through memory-mapped files.
    pub mmap: bool,
    /// Stamp and check all data.
    pub verify: bool,
    /// Cold or warm caches.
    pub cache: Cache,
    /// May drop the caches of the whole machine.
    pub drop_caches: bool,
    /// Shell command that makes caches cold.
    pub cold_command: Option<String>,
    /// All clients stop a test when the first one is done.
    pub stonewall: bool,
    /// Share of clients that read in `mixed`, percent; every second one when null.
    pub mixed_read_percent: Option<u32>,
    /// Records between two reads of the stride test.
    pub stride: u64,
    /// Where the bytes come from.
    pub carrier: Carrier,
    /// What the link carries at most, bytes per second.
    pub link_bytes_per_s: Option<f64>,
    /// A call that takes longer fails the trial, s.
    pub stall_s: f64,
}

const OPERATIONS_MAX: usize = 60_000;
const RECORD_MAX: u64 = 1 << 30;

impl MatrixSpec {
    /// Reads and checks it.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, SpecError> {
        let spec: Self = serde_json::from_value(value.clone())?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), SpecError> {
        let refuse = |text: String| Err(SpecError::Range(text));
        debug_assert_eq!(self.kind, "file-matrix");
        if self.pairs.is_empty() || self.tests.is_empty() || self.pairs.len() * self.tests.len() > OPERATIONS_MAX {
            return refuse(format!("a matrix has 1 to {OPERATIONS_MAX} cells"));
        }
        for &(file, record) in &self.pairs {
            if record == 0 || record > RECORD_MAX || record > file || file / record > u64::from(u32::MAX) {
                return refuse(format!("a record of {record} bytes does not fit a file of {file} bytes"));
            }
        }
        if self.direct && self.mmap {
            return refuse("direct and mmap exclude each other".to_owned());
        }
        if self.stride == 0
            || self.stall_s.is_nan()
            || self.stall_s <= 0.0
            || self.mixed_read_percent.is_some_and(|share| share > 100)
        {
            return refuse("stride and stall_s must be above 0, mixed_read_percent at most 100".to_owned());
        }
        Ok(())
    }

    /// Largest record.
    pub fn record_max(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.1).max().unwrap_or(4096)
    }

    /// Largest file.
    pub fn file_max(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.0).max().unwrap_or(4096)
    }
}
