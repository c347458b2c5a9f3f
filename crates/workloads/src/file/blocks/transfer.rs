//! One transfer in flight, or a transaction of two.

use super::access::Transfer;
use crate::file::content::Prepared;
use bakeoff_engine::{FileCall, FileResult, FileStep, Nanos};

/// Index of the region in a session's table of open files.
pub(super) const FILE: u16 = 0;
/// The same, open past the cache for reading back.
pub(super) const PAST_CACHE: u16 = 1;

/// One place for a transfer in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub transfer: Transfer,
    /// The second half of a transaction is under way.
    pub is_reply: bool,
    /// The first half of that transaction.
    pub request: Option<FileResult>,
    pub busy: bool,
    pub prepared: Prepared,
    /// The pass of what it writes, and of what it has read back.
    pub pass: Nanos,
    pub found: Option<u64>,
    /// Bytes read and written so far.
    pub moved: (u64, u64),
}

impl Slot {
    pub fn new() -> Self {
        Self {
            transfer: Transfer { reads: true, offset: 0, size: 0, reply: 0 },
            is_reply: false,
            request: None,
            busy: false,
            prepared: Prepared::default(),
            pass: 0,
            found: None,
            moved: (0, 0),
        }
    }

    /// Takes a transfer, without beginning it.
    #[inline]
    pub fn take(&mut self, transfer: Transfer) {
        self.transfer = transfer;
        self.is_reply = false;
    }

    /// Begins a transfer in the slot of this number.
    #[inline]
    pub fn begin(&mut self, number: u32, transfer: Transfer, verify: bool) -> FileStep {
        self.take(transfer);
        self.busy = true;
        self.moved = (0, 0);
        self.step(number, transfer.reads, transfer.size, verify)
    }

    /// Begins the second half of a transaction.
    pub fn reply(&mut self, number: u32, verify: bool) -> FileStep {
        self.is_reply = true;
        self.step(number, !self.transfer.reads, self.transfer.reply, verify)
    }

    /// Whether the half under way reads, and its bytes.
    #[inline]
    pub fn wanted(&self) -> (bool, u32) {
        let Transfer { reads, size, reply, .. } = self.transfer;
        if self.is_reply { (!reads, reply) } else { (reads, size) }
    }

    #[inline]
    fn step(&mut self, number: u32, reads: bool, length: u32, verify: bool) -> FileStep {
        let (buffer, offset) = (number as u16, self.transfer.offset);
        if reads {
            self.prepared = if verify { Prepared::default() } else { self.prepared };
            let call = FileCall::ReadAt { file: FILE, buffer, length, offset };
            return FileStep::Call { call, prepare: false, check: verify };
        }
        let call = FileCall::WriteAt { file: FILE, buffer, length, offset };
        FileStep::Call { call, prepare: verify || !self.prepared.covers(length as usize), check: false }
    }
}
