//! The specification of block work as it crosses the seam.

use super::access::Line;
use crate::file::cache::Cache;
use crate::file::evidence::Carrier;
use bakeoff_engine::{SpecError, TrialSpec};
use serde::Deserialize;

/// One cell: an access specification that is timed on its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Name of the pattern or of the access specification.
    pub pattern: String,
    /// Size of its transfers where they all have one, bytes.
    pub block_bytes: Option<u64>,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// All of it; sizes in bytes, times in seconds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlocksSpec {
    kind: String,
    /// The contender's folder.
    pub folder: String,
    /// Size of the file that all clients work on.
    pub region_bytes: u64,
    /// Transfers in flight per client; 1 uses blocking calls.
    pub outstanding: u32,
    /// What is timed, in this order.
    pub cells: Vec<Cell>,
    /// Measured time of a cell.
    pub cell_s: f64,
    /// A cell goes on past its time until each client has so many transfers.
    pub min_transfers: u64,
    /// But no longer than this.
    pub cell_limit_s: f64,
    /// Time before it that runs but is not counted.
    pub ramp_up_s: f64,
    /// `O_DIRECT`.
    pub direct: bool,
    /// `O_DSYNC`.
    pub dsync: bool,
    /// Check what is read.
    pub verify: bool,
    /// Cold or warm caches at the start of a cell.
    pub cache: Cache,
    /// May drop the caches of the whole machine.
    pub drop_caches: bool,
    /// Shell command that makes caches cold.
    pub cold_command: Option<String>,
    /// What the folder that is kept over the trials of this process is called; null: a fresh one each time.
    pub reuse: Option<String>,
    /// Leave the file behind.
    pub keep: bool,
    /// Where the bytes come from.
    pub carrier: Carrier,
    /// What the link carries at most, bytes per second.
    pub link_bytes_per_s: Option<f64>,
    /// A call that takes longer fails the trial.
    pub stall_s: f64,
}

/// Most transfers in flight per client.
const OUTSTANDING_MAX: u32 = 256;
/// Parts of the region begin at multiples of this, bytes.
const PART_ALIGN: u64 = 1 << 20;
const CELLS_MAX: usize = 10_000;
const LINES_MAX: usize = 1_000;
const CELL_MAX_S: f64 = 7.0 * 24.0 * 3600.0;

impl BlocksSpec {
    /// Reads and checks it.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, SpecError> {
        let spec: Self = serde_json::from_value(value.clone())?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), SpecError> {
        let refuse = |text: String| Err(SpecError::Range(text));
        debug_assert_eq!(self.kind, "file-blocks");
        if self.cells.is_empty() || self.cells.len() > CELLS_MAX {
            return refuse(format!("block work has 1 to {CELLS_MAX} cells"));
        }
        if self.outstanding == 0 || self.outstanding > OUTSTANDING_MAX {
            return refuse(format!("outstanding must be 1 to {OUTSTANDING_MAX}, not {}", self.outstanding));
        }
        if !(self.cell_s > 0.0
            && self.cell_s <= CELL_MAX_S
            && (0.0..=CELL_MAX_S).contains(&self.ramp_up_s)
            && (0.0..=CELL_MAX_S).contains(&self.cell_limit_s))
        {
            return refuse("the time of a cell must be above 0, its ramp 0 or more, both at most a week".to_owned());
        }
        if self.stall_s.is_nan() || self.stall_s <= 0.0 {
            return refuse("stall_s must be above 0".to_owned());
        }
        for cell in &self.cells {
            if cell.lines.is_empty() || cell.lines.len() > LINES_MAX || cell.lines.iter().all(|line| line.share <= 0.0)
            {
                return refuse(format!("access specification {}: 1 to {LINES_MAX} lines with a share", cell.pattern));
            }
            for line in &cell.lines {
                line.check(&cell.pattern, self.region_bytes)?;
            }
        }
        Ok(())
    }

    /// The same with the part of the region that is this machine's: as large as the part of the clients that it drives.
    /// Nothing of it is another machine's, and all parts together are the region.
    pub fn of_slice(mut self, trial: &TrialSpec) -> Result<Self, SpecError> {
        let (own, clients) = (trial.own_clients(), u128::from(trial.clients()));
        let until = |client: u32| match (u128::from(self.region_bytes) * u128::from(client) / clients) as u64 {
            all if client == trial.clients() => all,
            part => part - part % PART_ALIGN,
        };
        self.region_bytes = until(own.end) - until(own.start);
        let (bytes, largest) =
            (self.region_bytes, self.lines().map(|line| line.size.max(line.reply) + line.align).max());
        if !trial.is_whole() && bytes < 2 * largest.unwrap_or(0) {
            return Err(SpecError::Range(format!(
                "the part of the region that is this machine's, {bytes} bytes, is less than twice its largest transfer: \
                 make region larger, or use fewer agents"
            )));
        }
        Ok(self)
    }

    /// Largest transfer.
    pub fn transfer_max(&self) -> u64 {
        self.lines().map(|line| line.size.max(line.reply)).max().unwrap_or(4096)
    }

    /// The lines of all cells.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.cells.iter().flat_map(|cell| &cell.lines)
    }
}

impl Cell {
    /// Lines with a share.
    pub fn used(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.share > 0.0)
    }
}
