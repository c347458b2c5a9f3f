//! What the sessions of block work share.

use super::spec::BlocksSpec;
use crate::file::cell::size_name;
use crate::file::pattern::Owner;

/// What the sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// With the part of the region that is this machine's.
    pub spec: BlocksSpec,
    /// Sessions of this machine, and the number of the first of them among all.
    pub sessions: u32,
    pub first: u32,
    pub threads: u32,
    /// Other machines have more sessions.
    pub is_divided: bool,
    /// Content of the region; the same in all trials and on all machines, so that one can check what another wrote.
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
