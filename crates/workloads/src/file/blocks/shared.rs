//! What the sessions of block work share.

use super::spec::BlocksSpec;
use crate::file::cell::size_name;
use crate::file::pattern::Owner;

/// What the sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub spec: BlocksSpec,
    pub sessions: u32,
    pub threads: u32,
    /// Content of the region; the same in all trials, so that one can check what another wrote.
    pub owner: Owner,
}

impl Shared {
    pub fn operation(&self, cell: usize) -> String {
        let cell = &self.spec.cells[cell];
        match cell.block_bytes {
            Some(bytes) => format!("{}/{}", cell.pattern, size_name(bytes)),
            None => cell.pattern.clone(),
        }
    }
}
