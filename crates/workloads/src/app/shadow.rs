//! What a client knows of its data segment, so that every record it reads back can be checked.

use bakeoff_app_protocol::{ReadEntry, checksum, fill_record};

/// The client has not written this record: it holds what someone before has left.
const FOREIGN: u64 = 0;
/// A write of it was asked for and not confirmed: it holds what it held before, or that.
const IN_DOUBT: u64 = u64::MAX;
/// Beside what is expected: it was found wrong, and is counted.
const COUNTED: u64 = 1 << 63;

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
    pub epoch: u64,
    /// Records whose writing was confirmed, each time again.
    pub writes: u64,
    sequences: Vec<u64>,
    record: Vec<u8>,
}

impl Shadow {
    /// Of a new session with `records` records; `epoch` marks what it writes.
    pub fn new(epoch: u64, records: u64, record_bytes: u32) -> Self {
        // Zeros come from the system untouched: a record that is never used costs no memory.
        let (sequences, record) = (vec![FOREIGN; records as usize], vec![0; record_bytes as usize]);
        Self { epoch, writes: 0, sequences, record }
    }

    pub fn records(&self) -> u64 {
        self.sequences.len() as u64
    }

    /// A write is asked for.
    #[inline]
    pub fn asked(&mut self, index: u64) {
        self.sequences[index as usize] = IN_DOUBT;
    }

    /// The server has confirmed a write.
    #[inline]
    pub fn written(&mut self, index: u64, sequence: u64) {
        self.sequences[index as usize] = sequence;
        self.writes += 1;
    }

    /// The records that must hold what was written last, and were not found wrong before: sequence number and index.
    pub fn kept(&self) -> impl Iterator<Item = (u64, u64)> {
        let all = (0_u64..).zip(&self.sequences);
        all.filter(|&(_, &expected)| expected != FOREIGN && expected < COUNTED)
            .map(|(index, &expected)| (expected, index))
    }

    /// Judges a record by its stamp and by the checksum of its bytes, and says whether it is the first time that it is
    /// found wrong since it was written.
    pub fn judge(&mut self, index: u64, entry: &ReadEntry) -> (Verdict, bool) {
        let known = self.sequences[index as usize];
        let (expected, counted) = (known & !COUNTED, known & COUNTED != 0);
        fill_record(&mut self.record, index, entry.epoch, entry.sequence);
        let verdict = if checksum(&self.record) != entry.checksum {
            Verdict::Damaged
        } else if known == IN_DOUBT {
            return (Verdict::Good, false);
        } else if expected == FOREIGN && entry.epoch >= self.epoch {
            // A stamp of this session or a later one, on a record that it never wrote.
            Verdict::Damaged
        } else if expected != FOREIGN && (entry.epoch, entry.sequence) != (self.epoch, expected) {
            Verdict::Lost
        } else {
            return (Verdict::Good, false);
        };
        self.sequences[index as usize] |= COUNTED;
        (verdict, !counted || known == IN_DOUBT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::entry;
    use super::*;

    fn shadow() -> Shadow {
        let mut shadow = Shadow::new(5, 8, 512);
        shadow.written(2, 70);
        shadow
    }

    #[test]
    fn what_was_written_last_must_be_read() {
        let mut shadow = shadow();
        assert_eq!(shadow.judge(2, &entry(2, 5, 70)), (Verdict::Good, false));
        for older in [entry(2, 5, 69), entry(2, 4, 900), entry(2, 0, 0)] {
            shadow.written(2, 70);
            assert_eq!(shadow.judge(2, &older), (Verdict::Lost, true));
        }
    }

    #[test]
    fn what_others_left_must_be_whole_and_older() {
        let mut shadow = shadow();
        assert_eq!(shadow.judge(0, &entry(0, 0, 0)), (Verdict::Good, false));
        assert_eq!(shadow.judge(1, &entry(1, 4, 12)), (Verdict::Good, false));
        assert_eq!(shadow.judge(3, &entry(3, 5, 1)), (Verdict::Damaged, true));
        assert_eq!(shadow.judge(4, &entry(5, 0, 0)), (Verdict::Damaged, true));
    }

    #[test]
    fn a_wrong_record_is_counted_once_and_never_passes_until_it_is_right_or_written_again() {
        let mut shadow = shadow();
        let damaged = ReadEntry { checksum: 1, ..entry(2, 5, 70) };
        assert_eq!(shadow.judge(2, &damaged), (Verdict::Damaged, true));
        for wrong in [damaged, entry(2, 5, 69), entry(2, 4, 70)] {
            let (verdict, first) = shadow.judge(2, &wrong);
            assert!(verdict != Verdict::Good && !first, "{wrong:?}");
        }
        assert_eq!(shadow.judge(2, &entry(2, 5, 70)), (Verdict::Good, false));
        shadow.written(2, 71);
        assert_eq!(shadow.judge(2, &damaged), (Verdict::Damaged, true));
        assert_eq!(shadow.judge(3, &entry(3, 5, 9)), (Verdict::Damaged, true));
        assert_eq!(shadow.judge(3, &entry(3, 5, 9)), (Verdict::Damaged, false));
    }

    #[test]
    fn a_write_that_was_not_confirmed_may_be_there_or_not() {
        let mut shadow = shadow();
        shadow.asked(2);
        assert_eq!(shadow.kept().count(), 0);
        for either in [entry(2, 5, 70), entry(2, 5, 71)] {
            assert_eq!(shadow.judge(2, &either), (Verdict::Good, false));
        }
        assert_eq!(shadow.judge(2, &ReadEntry { checksum: 1, ..entry(2, 5, 71) }), (Verdict::Damaged, true));
        shadow.written(2, 71);
        assert_eq!(shadow.kept().collect::<Vec<_>>(), [(71, 2)]);
    }
}
