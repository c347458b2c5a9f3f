//! What was written is read again when the trial is over: from the segments of the sessions that wrote it, on new
//! connections.

use super::shadow::{Shadow, Verdict};
use bakeoff_app_protocol::ReadEntry;
use bakeoff_engine::{Nanos, Rng};

/// So many records of a trial are read again, where there are more: one lost in 300 is then missed once in 10¹¹ trials.
const SAMPLE: u64 = 8_192;
/// Of each segment the records that were written first, and those that were last.
const ENDS: usize = 8;
/// Who has answered nothing for so long is asked no more, ns.
const PATIENCE_NS: Nanos = 15_000_000_000;
/// Segments of broken connections that a session reads again; of more the last ones.
const SEGMENTS: usize = 8;

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Records whose writing was confirmed, each time again.
    pub writes: u64,
    /// Different records that must hold what was written last.
    pub records: u64,
    /// Those of them that were to be read again.
    pub asked: u64,
    /// Those that were.
    pub read: u64,
    pub damaged: u64,
    pub lost: u64,
}

impl Found {
    pub fn numbers(&self) -> [u64; 6] {
        [self.writes, self.records, self.asked, self.read, self.damaged, self.lost]
    }

    pub fn of([writes, records, asked, read, damaged, lost]: [u64; 6]) -> Self {
        Self { writes, records, asked, read, damaged, lost }
    }

    pub fn add(&mut self, other: &Self) {
        let (mine, theirs) = (self.numbers(), other.numbers());
        *self = Self::of(std::array::from_fn(|at| mine[at] + theirs[at]));
    }
}

/// A segment, and which of its records are still to be read.
#[derive(Debug)]
struct Lookup {
    shadow: Shadow,
    left: Vec<u64>,
}

/// The segments that a session has left behind, and then what is read of them.
#[derive(Debug, Default)]
pub(crate) struct ReadBack {
    segments: Vec<Shadow>,
    lookups: Vec<Lookup>,
    heard_ns: Nanos,
    pub found: Found,
}

impl ReadBack {
    /// A session has ended.
    pub fn leave(&mut self, shadow: Shadow) {
        self.found.writes += shadow.writes;
        if shadow.writes > 0 {
            self.segments.push(shadow);
        }
        if self.segments.len() > SEGMENTS {
            self.segments.remove(0);
        }
    }

    /// Different records that it could read again.
    pub fn records(&self) -> u64 {
        self.segments.iter().map(|shadow| shadow.kept().count() as u64).sum()
    }

    /// Chooses what is read again, where all sessions together have `total` records.
    pub fn choose(&mut self, total: u64, now_ns: Nanos, rng: &mut Rng) {
        self.heard_ns = now_ns;
        for shadow in std::mem::take(&mut self.segments) {
            let records = shadow.kept().count() as u64;
            self.found.records += records;
            let share = if total <= SAMPLE { records } else { (SAMPLE * records).div_ceil(total) };
            let left = chosen(shadow.kept(), share as usize, rng);
            self.found.asked += left.len() as u64;
            if !left.is_empty() {
                self.lookups.push(Lookup { shadow, left });
            }
        }
    }

    /// What is to be read next: the epoch of its segment, how many records that has, and the record's index.
    pub fn next(&self) -> Option<(u64, u64, u64)> {
        let lookup = self.lookups.last()?;
        Some((lookup.shadow.epoch, lookup.shadow.records(), *lookup.left.last()?))
    }

    /// What [`ReadBack::next`] told was read; whether more is to be read of its segment.
    pub fn took(&mut self, entry: &ReadEntry) -> bool {
        let Some(lookup) = self.lookups.last_mut() else { return false };
        let Some(index) = lookup.left.pop() else { return false };
        self.found.read += 1;
        match lookup.shadow.judge(index, entry).0 {
            Verdict::Good => (),
            Verdict::Damaged => self.found.damaged += 1,
            Verdict::Lost => self.found.lost += 1,
        }
        let more = !lookup.left.is_empty();
        if !more {
            self.lookups.pop();
        }
        more
    }

    /// The segment that is read cannot be had.
    pub fn gone(&mut self) {
        self.lookups.pop();
    }

    /// Something was asked, with or without success; who is silent for too long is asked no more.
    pub fn heard(&mut self, success: bool, now_ns: Nanos) {
        if success {
            self.heard_ns = now_ns;
        } else if now_ns > self.heard_ns + PATIENCE_NS {
            self.lookups.clear();
        }
    }
}

/// `share` records at random, and those that were written first and last, in random order.
fn chosen(kept: impl Iterator<Item = (u64, u64)>, share: usize, rng: &mut Rng) -> Vec<u64> {
    let (mut drawn, mut seen) = (Vec::with_capacity(share), 0);
    let (mut first, mut last) = (Vec::with_capacity(ENDS + 1), Vec::with_capacity(ENDS + 1));
    for record in kept {
        seen += 1;
        if drawn.len() < share {
            drawn.push(record);
        } else {
            let place = rng.below(seen) as usize;
            if let Some(drawn) = drawn.get_mut(place) {
                *drawn = record;
            }
        }
        insert(&mut first, record, |new, old| new < old);
        insert(&mut last, record, |new, old| new > old);
    }
    drawn.extend(first);
    drawn.extend(last);
    drawn.sort_unstable();
    drawn.dedup();
    let mut indices: Vec<u64> = drawn.into_iter().map(|(_, index)| index).collect();
    rng.shuffle(&mut indices);
    indices
}

/// Keeps the [`ENDS`] records that come `before` all others.
fn insert(ends: &mut Vec<(u64, u64)>, record: (u64, u64), before: impl Fn(u64, u64) -> bool) {
    let place = ends.iter().position(|old| before(record.0, old.0)).unwrap_or(ends.len());
    if place < ENDS {
        ends.insert(place, record);
        ends.truncate(ENDS);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::entry;
    use super::*;

    /// A segment of so many records, each written once in the order of their indices.
    fn written(records: u64) -> Shadow {
        let mut shadow = Shadow::new(5, records, 512);
        (0..records).for_each(|index| shadow.written(index, 10 + index));
        shadow
    }

    /// Reads all that is asked for of a server that has lost what `lost` says.
    fn read(read_back: &mut ReadBack, lost: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut indices = Vec::new();
        while let Some((epoch, _, index)) = read_back.next() {
            indices.push(index);
            let found = if lost(index) { entry(index, 0, 0) } else { entry(index, epoch, 10 + index) };
            read_back.took(&found);
        }
        indices
    }

    #[test]
    fn few_records_are_all_read_and_each_that_was_lost_is_found() {
        let (mut read_back, mut rng) = (ReadBack::default(), Rng::for_thread(1, 0, 0));
        read_back.leave(written(3000));
        read_back.leave(Shadow::new(6, 3000, 512));
        read_back.choose(read_back.records(), 0, &mut rng);
        let mut indices = read(&mut read_back, |index| index % 300 == 7);
        indices.sort_unstable();
        assert!(indices.into_iter().eq(0..3000));
        assert_eq!(
            read_back.found,
            Found { writes: 3000, records: 3000, asked: 3000, read: 3000, damaged: 0, lost: 10 }
        );
    }

    #[test]
    fn of_many_a_secret_sample_with_both_ends_is_read() {
        let sample = |secret: u64| {
            let (mut read_back, mut rng) = (ReadBack::default(), Rng::for_thread(secret, 0, 0));
            read_back.leave(written(100_000));
            read_back.choose(100_000, 0, &mut rng);
            let indices = read(&mut read_back, |index| index % 300 == 7);
            assert!(read_back.found.asked >= SAMPLE && read_back.found.asked <= SAMPLE + 16, "{:?}", read_back.found);
            assert!(read_back.found.lost > 5, "{:?}", read_back.found);
            for end in (0..8).chain(99_992..100_000) {
                assert!(indices.contains(&end), "{end}");
            }
            indices
        };
        assert_ne!(sample(1), sample(2));
    }

    #[test]
    fn each_session_reads_its_share_of_what_all_have() {
        let (mut read_back, mut rng) = (ReadBack::default(), Rng::for_thread(1, 0, 0));
        read_back.leave(written(1000));
        read_back.choose(10 * SAMPLE, 0, &mut rng);
        assert!((100..=116).contains(&read_back.found.asked), "{:?}", read_back.found);
    }

    #[test]
    fn what_is_silent_or_gone_is_not_read() {
        let (mut read_back, mut rng) = (ReadBack::default(), Rng::for_thread(1, 0, 0));
        (0..9).for_each(|_| read_back.leave(written(10)));
        read_back.choose(read_back.records(), 0, &mut rng);
        assert_eq!((read_back.found.writes, read_back.found.records), (90, 80), "the last eight segments");
        read_back.gone();
        read_back.heard(true, PATIENCE_NS);
        read_back.heard(false, 2 * PATIENCE_NS);
        assert!(read_back.next().is_some());
        read_back.heard(false, 2 * PATIENCE_NS + 1);
        assert_eq!((read_back.next(), read_back.found.asked, read_back.found.read), (None, 80, 0));
    }
}
