//! Access specifications: which transfer comes next.

use bakeoff_engine::{Rng, SpecError};
use serde::Deserialize;

/// Offsets are multiples of this where a line asks for none.
pub const SECTOR: u64 = 512;
const SIZE_MAX: u64 = 1 << 30;
const BURST_MAX: u32 = 1_000_000;
const DELAY_MAX_MS: f64 = 3_600_000.0;

/// One line of an access specification.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Bytes of a transfer.
    pub size: u64,
    /// Share of the bursts that are of this line, percent.
    pub share: f64,
    /// Reads among its transfers, percent; the others are writes.
    pub read: f64,
    /// Transfers at random places, percent; the others go on after the last one.
    pub random: f64,
    /// Pause before a burst, ms.
    pub delay_ms: f64,
    /// Transfers of a burst.
    pub burst: u32,
    /// Offsets are multiples of this, bytes; 0: of a sector.
    pub align: u64,
    /// Bytes that then go the other way in the same transaction; 0: none.
    pub reply: u64,
}

impl Line {
    /// Refuses values out of range; `name` says whose line it is.
    pub fn check(&self, name: &str, region: u64) -> Result<(), SpecError> {
        let percent = |value: f64| (0.0..=100.0).contains(&value);
        let refuse = |text: &str| Err(SpecError::Range(format!("access specification {name}: {text}")));
        if self.size == 0 || self.size > SIZE_MAX || self.reply > SIZE_MAX {
            return refuse("a size is 1 byte to 1 GiB");
        }
        if self.size.max(self.reply) + self.align > region {
            return refuse("its largest transfer does not fit into the region: make the region larger");
        }
        if !percent(self.share) || !percent(self.read) || !percent(self.random) {
            return refuse("shares are 0 to 100 percent");
        }
        if self.burst == 0 || self.burst > BURST_MAX || !(0.0..=DELAY_MAX_MS).contains(&self.delay_ms) {
            return refuse("a burst is 1 to 1,000,000 transfers, a delay 0 to 3,600,000 ms");
        }
        Ok(())
    }
}

/// One transfer, still without its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// It reads.
    pub reads: bool,
    /// Where in the file.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
    /// Bytes that go the other way afterwards.
    pub reply: u32,
}

/// Chooses the transfers of one client.
#[derive(Debug, Clone)]
pub struct Chooser {
    rng: Rng,
    region: u64,
    /// What direct I/O asks of offsets; 1 where nothing is asked.
    granule: u64,
    position: u64,
    line: usize,
    left: u32,
}

impl Chooser {
    /// For a file of `region` bytes; sequential transfers begin at `position`.
    pub fn new(rng: Rng, region: u64, granule: u64, position: u64) -> Self {
        Self { rng, region, granule: granule.max(1), position, line: 0, left: 0 }
    }

    /// Begins a new burst when the last one is over: the pause before it, ms.
    #[inline]
    pub fn burst(&mut self, lines: &[Line]) -> f64 {
        if self.left > 0 {
            return 0.0;
        }
        self.line = self.pick(lines);
        self.left = lines[self.line].burst;
        lines[self.line].delay_ms
    }

    fn pick(&mut self, lines: &[Line]) -> usize {
        if lines.len() == 1 {
            return 0;
        }
        let total: f64 = lines.iter().map(|line| line.share).sum();
        let mut at = self.rng.unit() * total;
        for (index, line) in lines.iter().enumerate() {
            at -= line.share;
            if at < 0.0 && line.share > 0.0 {
                return index;
            }
        }
        lines.iter().rposition(|line| line.share > 0.0).unwrap_or(0)
    }

    #[inline]
    fn happens(&mut self, percent: f64) -> bool {
        percent >= 100.0 || (percent > 0.0 && self.rng.unit() * 100.0 < percent)
    }

    /// The next transfer of the burst.
    #[inline]
    pub fn next(&mut self, lines: &[Line]) -> Transfer {
        let line = &lines[self.line];
        self.left = self.left.saturating_sub(1);
        let align = if line.align == 0 { SECTOR } else { line.align }.max(self.granule);
        let size = line.size.max(line.reply);
        let random = self.happens(line.random);
        let offset = if random {
            align * self.rng.below((self.region - size) / align + 1)
        } else {
            let next = self.position.next_multiple_of(if line.align == 0 { self.granule } else { align });
            if next + size > self.region { 0 } else { next }
        };
        self.position = offset + line.size;
        let reads = self.happens(line.read);
        Transfer { reads, offset, size: line.size as u32, reply: line.reply as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(size: u64, share: f64, read: f64, random: f64) -> Line {
        Line { size, share, read, random, delay_ms: 0.0, burst: 1, align: 0, reply: 0 }
    }

    fn chooser(region: u64) -> Chooser {
        Chooser::new(Rng::for_thread(42, 0, 0), region, 1, 0)
    }

    fn draw(chooser: &mut Chooser, lines: &[Line]) -> Transfer {
        chooser.burst(lines);
        chooser.next(lines)
    }

    /// Chi-square of observed counts against shares.
    fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
        let total: u64 = counts.iter().sum();
        counts
            .iter()
            .zip(shares)
            .map(|(&count, share)| {
                let expected = total as f64 * share / 100.0;
                (count as f64 - expected).powi(2) / expected
            })
            .sum()
    }

    #[test]
    fn shares_reads_and_random_places_are_those_of_the_lines() {
        // The file server specification: 80 % reads, all random.
        let parts = [
            (512, 10.0),
            (1024, 5.0),
            (2048, 5.0),
            (4096, 60.0),
            (8192, 2.0),
            (16384, 4.0),
            (32768, 4.0),
            (65536, 10.0),
        ];
        let lines: Vec<Line> = parts.iter().map(|&(size, share)| line(size, share, 80.0, 100.0)).collect();
        let mut chooser = chooser(1 << 30);
        let (mut counts, mut reads, mut halves) = (vec![0; 8], [0, 0], [0, 0]);
        for _ in 0..100_000 {
            let transfer = draw(&mut chooser, &lines);
            counts[parts.iter().position(|part| part.0 == u64::from(transfer.size)).unwrap()] += 1;
            reads[usize::from(!transfer.reads)] += 1;
            halves[usize::from(transfer.offset >= 1 << 29)] += 1;
            assert!(transfer.offset.is_multiple_of(512) && transfer.offset + u64::from(transfer.size) <= 1 << 30);
        }
        let shares: Vec<f64> = parts.iter().map(|part| part.1).collect();
        // Upper 0.1 % points of chi-square with 7 and with 1 degrees of freedom.
        assert!(chi_square(&counts, &shares) < 24.3, "{counts:?}");
        assert!(chi_square(&reads, &[80.0, 20.0]) < 10.8, "{reads:?}");
        assert!(chi_square(&halves, &[50.0, 50.0]) < 10.8, "{halves:?}");
    }

    #[test]
    fn sequential_transfers_go_on_after_the_last_one_and_begin_again_at_the_end() {
        let lines = [line(4096, 100.0, 100.0, 0.0)];
        let mut chooser = Chooser::new(Rng::for_thread(1, 0, 0), 10 * 4096 + 100, 1, 7 * 4096);
        let offsets: Vec<u64> = (0..5).map(|_| draw(&mut chooser, &lines).offset / 4096).collect();
        assert_eq!(offsets, [7, 8, 9, 0, 1]);
    }

    #[test]
    fn a_sequential_transfer_follows_a_random_one() {
        let lines = [line(4096, 100.0, 50.0, 50.0)];
        let mut chooser = chooser(1 << 20);
        let (mut follows, mut last) = (0, None);
        for _ in 0..10_000 {
            let transfer = draw(&mut chooser, &lines);
            follows += u64::from(last == Some(transfer.offset));
            last = Some(transfer.offset + 4096);
        }
        assert!((4_600..5_400).contains(&follows), "{follows}");
    }

    #[test]
    fn bursts_keep_their_line_and_pause_before_each() {
        let lines = [
            Line { burst: 3, delay_ms: 5.0, ..line(512, 50.0, 100.0, 0.0) },
            Line { burst: 3, delay_ms: 5.0, ..line(1024, 50.0, 100.0, 0.0) },
        ];
        let mut chooser = chooser(1 << 20);
        for _ in 0..200 {
            let mut sizes = Vec::new();
            for nth in 0..3 {
                assert_eq!(chooser.burst(&lines) > 0.0, nth == 0);
                sizes.push(chooser.next(&lines).size);
            }
            assert!(sizes.iter().all(|&size| size == sizes[0]), "{sizes:?}");
        }
    }

    #[test]
    fn offsets_keep_the_alignment_that_the_line_or_direct_io_asks_for() {
        let lines = [Line { align: 4096, ..line(1000, 100.0, 50.0, 50.0) }];
        let mut aligned = chooser(1 << 20);
        assert!((0..1_000).all(|_| draw(&mut aligned, &lines).offset.is_multiple_of(4096)));
        let mut direct = Chooser::new(Rng::for_thread(1, 0, 0), 1 << 20, 4096, 0);
        assert!((0..1_000).all(|_| draw(&mut direct, &[line(8192, 100.0, 0.0, 50.0)]).offset.is_multiple_of(4096)));
    }

    #[test]
    fn lines_out_of_range_are_refused() {
        let good = line(4096, 100.0, 50.0, 50.0);
        assert!(good.check("x", 1 << 20).is_ok());
        for bad in [
            Line { size: 0, ..good.clone() },
            Line { size: 1 << 21, ..good.clone() },
            Line { read: 101.0, ..good.clone() },
            Line { burst: 0, ..good.clone() },
            Line { delay_ms: -1.0, ..good.clone() },
            Line { reply: 1 << 31, ..good.clone() },
        ] {
            assert!(bad.check("x", 1 << 20).is_err(), "{bad:?}");
        }
    }
}
