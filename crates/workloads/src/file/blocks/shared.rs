//! What the sessions of block work share.

use super::spec::BlocksSpec;
use crate::file::cell::size_name;
use crate::file::pattern::{Owner, STAMP};
use std::sync::atomic::AtomicU64;

/// What the sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// With the part of the region that is this machine's.
    pub spec: BlocksSpec,
    /// Sessions of this machine, and the number of the first of them among all.
    pub sessions: u32,
    pub first: u32,
    pub virtual_users: u32,
    /// Other machines have more sessions.
    pub is_divided: bool,
    /// Content of the region; the same in all trials and on all machines, so that one can check what another wrote.
    pub owner: Owner,
    /// By which the sample is drawn that is read back at the end.
    pub secret: u64,
    /// Whether one is: data are stamped, and every piece has whole stamps or none of them.
    pub reads_back: bool,
    /// The longest write of any session, ns.
    pub longest_ns: AtomicU64,
}

impl Shared {
    /// See [`Shared::reads_back`]. Direct transfers of more than a page could not read one.
    pub fn can_read_back(spec: &BlocksSpec) -> bool {
        let whole = |bytes: u64| bytes.is_multiple_of(STAMP as u64);
        let lines = || spec.cells.iter().flat_map(super::spec::Cell::used);
        spec.verify && lines().all(|line| whole(line.size) && whole(line.reply) && whole(line.align))
    }

    pub fn operation(&self, cell: usize) -> String {
        let cell = &self.spec.cells[cell];
        match cell.block_bytes {
            Some(bytes) => format!("{}/{}", cell.pattern, size_name(bytes)),
            None => cell.pattern.clone(),
        }
    }
}
