//! Blocks that need not be decoded, because the one before was the same.
//!
//! A server that sends one page says the same of it each time. Even where it has each field kept, and so changes the table
//! with each block, nothing is new after a while. The table always holds as many of the fields that were inserted last as
//! there is room for. Once equal blocks alone have inserted those, and the next older one, too, which found no room, one
//! more of these blocks shifts a periodic row by its period: the table holds what it held.

use super::super::static_table::FIELDS;

/// What is known of the last block.
#[derive(Debug, Default)]
pub(super) struct Repeat {
    block: Vec<u8>,
    /// Whether it tells the same once more, and changes nothing.
    is_settled: bool,
    /// Fields that it and the equal ones right before it have inserted.
    inserted: usize,
    /// Whether it inserts any.
    pub(super) inserts: bool,
    /// What it says depends on the table, or it changes the table's size.
    is_bound: bool,
}

impl Repeat {
    #[inline]
    pub fn is_of(&self, block: &[u8]) -> bool {
        self.is_settled && self.block == block
    }

    /// A block is about to be decoded; should it be malformed, nothing is settled.
    pub fn begin(&mut self, block: &[u8]) {
        if self.block != block {
            self.block.clear();
            self.block.extend_from_slice(block);
            self.inserted = 0;
        }
        (self.is_settled, self.inserts, self.is_bound) = (false, false, false);
    }

    /// It names an entry; those of the static table never change.
    #[inline]
    pub fn refers(&mut self, index: usize) {
        self.is_bound |= index > FIELDS.len();
    }

    /// It inserts a field, though there may be no room for it.
    #[inline]
    pub fn inserts(&mut self) {
        self.inserts = true;
        self.inserted += 1;
    }

    /// It tells the size of the table.
    #[inline]
    pub fn resized(&mut self) {
        // It was made smaller, perhaps: as if something had been inserted.
        (self.inserts, self.is_bound) = (true, true);
    }

    /// It is decoded; the table holds `entries`.
    pub fn end(&mut self, entries: usize) {
        self.is_settled = !self.inserts || (!self.is_bound && self.inserted > entries);
    }
}
