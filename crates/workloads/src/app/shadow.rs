//! What a client knows of its data segment, so that every record it reads back can be checked.

use bakeoff_app_protocol::{ReadEntry, checksum, fill_record};

/// The client has not written this record: it holds what someone before has left.
const FOREIGN: u64 = 0;
/// Found wrong and reported: nothing is expected of it until it is written again.
const WRITTEN_OFF: u64 = u64::MAX;

/// What a record that was read turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    /// Bytes that nobody has written there.
    Damaged,
    /// The content before the client's last write.
    Lost,
}

/// The last write of each record by this client.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    epoch: u64,
    sequences: Vec<u64>,
    record: Vec<u8>,
}

impl Shadow {
    /// A new session of `records` records; `epoch` marks what it writes.
    pub fn reset(&mut self, epoch: u64, records: u64, record_bytes: u32) {
        self.epoch = epoch;
        // Zeros come from the system untouched: a record that is never used costs no memory.
        self.sequences = vec![FOREIGN; records as usize];
        self.record.resize(record_bytes as usize, 0);
    }

    pub fn records(&self) -> u64 {
        self.sequences.len() as u64
    }

    /// The server has confirmed a write.
    pub fn written(&mut self, index: u64, sequence: u64) {
        self.sequences[index as usize] = sequence;
    }

    /// Judges a record by its stamp and by the checksum of its bytes. A wrong one is told once.
    pub fn judge(&mut self, index: u64, entry: &ReadEntry) -> Verdict {
        let expected = self.sequences[index as usize];
        if expected == WRITTEN_OFF {
            return Verdict::Good;
        }
        fill_record(&mut self.record, index, entry.epoch, entry.sequence);
        let verdict = if checksum(&self.record) != entry.checksum {
            Verdict::Damaged
        } else if expected == FOREIGN && entry.epoch >= self.epoch {
            // A stamp of this session or a later one, on a record that it never wrote.
            Verdict::Damaged
        } else if expected != FOREIGN && (entry.epoch, entry.sequence) != (self.epoch, expected) {
            Verdict::Lost
        } else {
            Verdict::Good
        };
        if verdict != Verdict::Good {
            self.sequences[index as usize] = WRITTEN_OFF;
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(index: u64, epoch: u64, sequence: u64) -> ReadEntry {
        let mut record = vec![0; 512];
        fill_record(&mut record, index, epoch, sequence);
        ReadEntry { epoch, sequence, checksum: checksum(&record) }
    }

    fn shadow() -> Shadow {
        let mut shadow = Shadow::default();
        shadow.reset(5, 8, 512);
        shadow.written(2, 70);
        shadow
    }

    #[test]
    fn what_was_written_last_must_be_read() {
        let mut shadow = shadow();
        assert_eq!(shadow.judge(2, &entry(2, 5, 70)), Verdict::Good);
        for older in [entry(2, 5, 69), entry(2, 4, 900), entry(2, 0, 0)] {
            shadow.written(2, 70);
            assert_eq!(shadow.judge(2, &older), Verdict::Lost);
        }
    }

    #[test]
    fn what_others_left_must_be_whole_and_older() {
        let mut shadow = shadow();
        assert_eq!(shadow.judge(0, &entry(0, 0, 0)), Verdict::Good);
        assert_eq!(shadow.judge(1, &entry(1, 4, 12)), Verdict::Good);
        assert_eq!(shadow.judge(3, &entry(3, 5, 1)), Verdict::Damaged);
        assert_eq!(shadow.judge(4, &entry(5, 0, 0)), Verdict::Damaged);
    }

    #[test]
    fn a_wrong_record_is_told_once_and_watched_again_after_a_write() {
        let mut shadow = shadow();
        let damaged = ReadEntry { checksum: 1, ..entry(2, 5, 70) };
        assert_eq!(shadow.judge(2, &damaged), Verdict::Damaged);
        assert_eq!(shadow.judge(2, &damaged), Verdict::Good);
        shadow.written(2, 71);
        assert_eq!(shadow.judge(2, &damaged), Verdict::Damaged);
    }
}
