//! Did the bytes of a cell come from where they should, or from a cache? Counted, not guessed.

use bakeoff_engine::Observation;
use serde::{Deserialize, Serialize};

/// Where the bytes of a folder come from, which decides what proves a cached read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carrier {
    /// A local disk.
    Disk,
    /// A network, with counters for this mount alone.
    Mount,
    /// A network, seen by the interfaces' counters.
    Wire,
    /// Memory itself (tmpfs).
    Memory,
    /// Not known.
    Unknown,
}

/// Less than this share of the bytes carried means that a cache served the rest.
const CARRIED_SHARE: f64 = 0.95;
/// Faster than this share of the link's speed is not possible over the link.
pub const LINK_SHARE: f64 = 0.97;
/// More of the file than this in the page cache before a test counts as cached.
const RESIDENT_SHARE: f64 = 0.05;
const PAGE: f64 = 4096.0;
const MIB: f64 = 1_048_576.0;

/// What is known of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// Bytes delivered to all clients.
    pub read_bytes: u64,
    /// Bytes taken from them.
    pub written_bytes: u64,
    /// From the first client's start to the last one's end, with what lay between their transfers, s.
    pub elapsed_s: f64,
    /// Whether it bypasses the page cache.
    pub direct: bool,
    /// Where bytes come from.
    pub carrier: Carrier,
    /// What the link carries, bytes per second.
    pub link: Option<f64>,
    /// Counters before the clock started.
    pub before: Observation,
    /// Counters after it stopped.
    pub after: Observation,
    /// Pages of all clients' files in the cache before the clock started.
    pub resident_pages: Option<u64>,
    /// Pages not yet written when it stopped.
    pub dirty_pages: Option<u64>,
    /// Size of all clients' files.
    pub file_bytes: u64,
}

/// `cached` is `None` when nothing tells; the reason is one sentence in any case.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheVerdict {
    /// Whether a cache served some of it.
    pub cached: Option<bool>,
    /// Why.
    pub reason: String,
    /// Bytes that disk or wire carried.
    pub carried_bytes: Option<u64>,
}

/// Judges a cell: each direction by its own counter, as a link carries both at once.
pub fn judge(evidence: &Evidence) -> CacheVerdict {
    let directions = directions(evidence);
    let carried: Option<u64> = directions.iter().map(|direction| direction.carried).sum();
    let verdict = |cached, reason| CacheVerdict { cached, reason, carried_bytes: carried };
    if evidence.carrier == Carrier::Memory {
        return verdict(None, "a memory file system: there is no disk or wire behind it".to_owned());
    }
    let bytes: u64 = directions.iter().map(|direction| direction.bytes).sum();
    if bytes == 0 {
        return verdict(None, "nothing was transferred".to_owned());
    }
    let fastest =
        directions.iter().map(|direction| direction.bytes).max().unwrap_or(0) as f64 / evidence.elapsed_s.max(1e-9);
    if let Some(link) = evidence.link
        && fastest > LINK_SHARE * link
    {
        let (rate, link) = (fastest / MIB, link / MIB);
        return verdict(Some(true), format!("{rate:.1} MiB/s is more than the link carries ({link:.1} MiB/s)"));
    }
    if carried.is_some() {
        let served: u64 = directions.iter().map(Direction::served).sum();
        let reasons: Vec<_> = directions.iter().map(|direction| direction.reason(evidence.carrier)).collect();
        return verdict(Some((served as f64) < CARRIED_SHARE * bytes as f64), reasons.join(", "));
    }
    if evidence.direct {
        return verdict(Some(false), "direct I/O bypasses the page cache".to_owned());
    }
    // Without a counter only the page cache can be seen; a file system may have a cache of its own (ZFS, FUSE).
    let seen = |cached: bool| (cached || evidence.carrier != Carrier::Unknown).then_some(cached);
    // What is read tells more than what is written beside it.
    match (evidence.read_bytes > 0, evidence.resident_pages, evidence.dirty_pages) {
        (true, Some(pages), _) => {
            let share = pages as f64 * PAGE / evidence.file_bytes.max(1) as f64;
            let reason = format!("{:.0} % of the file was in the page cache before", 100.0 * share.min(1.0));
            verdict(seen(share > RESIDENT_SHARE), reason)
        }
        (false, _, Some(pages)) => {
            let reason = format!("{pages} pages were not written yet when the clock stopped");
            verdict(seen(pages > 0), reason)
        }
        _ => verdict(None, "no counter of this machine tells".to_owned()),
    }
}

/// What moved in one direction, and how much of it disk or wire carried.
struct Direction {
    reads: bool,
    bytes: u64,
    carried: Option<u64>,
}

impl Direction {
    /// Carried bytes that explain what moved: what was read ahead, or is of others, explains nothing else.
    fn served(&self) -> u64 {
        self.carried.unwrap_or(0).min(self.bytes)
    }

    fn reason(&self, carrier: Carrier) -> String {
        let place = if matches!(carrier, Carrier::Disk | Carrier::Unknown) { "the disk" } else { "the wire" };
        let verb = if self.reads { "came from" } else { "went to" };
        let share = 100.0 * self.served() as f64 / self.bytes as f64;
        format!("{share:.0} % of {:.2} MiB {verb} {place}", self.bytes as f64 / MIB)
    }
}

/// The directions in which something moved.
fn directions(evidence: &Evidence) -> Vec<Direction> {
    let moved = [(true, evidence.read_bytes), (false, evidence.written_bytes)];
    let moved = moved.into_iter().filter(|(_, bytes)| *bytes > 0);
    moved.map(|(reads, bytes)| Direction { reads, bytes, carried: carried(evidence, reads) }).collect()
}

fn carried(evidence: &Evidence, reads: bool) -> Option<u64> {
    let difference =
        |pick: fn(&Observation) -> Option<u64>| Some(pick(&evidence.after)?.saturating_sub(pick(&evidence.before)?));
    match (evidence.carrier, reads) {
        (Carrier::Disk, true) => difference(|counters| counters.disk_read_bytes),
        (Carrier::Disk, false) => difference(|counters| counters.disk_write_bytes),
        (Carrier::Mount, true) => difference(|counters| counters.mount_read_bytes),
        (Carrier::Mount, false) => difference(|counters| counters.mount_write_bytes),
        (Carrier::Wire, true) => difference(|counters| counters.wire_in_bytes),
        (Carrier::Wire, false) => difference(|counters| counters.wire_out_bytes),
        (Carrier::Memory | Carrier::Unknown, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(carrier: Carrier, read_bytes: u64) -> Evidence {
        let before = Observation { disk_read_bytes: Some(100), wire_in_bytes: Some(5), ..Observation::default() };
        let after = Observation {
            disk_read_bytes: Some(100 + read_bytes),
            wire_in_bytes: Some(5 + read_bytes),
            ..Observation::default()
        };
        Evidence {
            read_bytes: 1 << 20,
            written_bytes: 0,
            elapsed_s: 1e-3,
            direct: false,
            carrier,
            link: None,
            before,
            after,
            resident_pages: Some(256),
            dirty_pages: None,
            file_bytes: 1 << 20,
        }
    }

    /// The same on a disk of which this machine counts nothing.
    fn without_counters(of: &Evidence) -> Evidence {
        let nothing = Observation::default();
        Evidence { carrier: Carrier::Disk, before: nothing, after: nothing, ..*of }
    }

    #[test]
    fn what_no_disk_or_wire_carried_was_cached() {
        for carrier in [Carrier::Disk, Carrier::Wire] {
            assert_eq!(judge(&evidence(carrier, 0)).cached, Some(true));
            assert_eq!(judge(&evidence(carrier, 500_000)).cached, Some(true));
            assert_eq!(judge(&evidence(carrier, 1_100_000)).cached, Some(false));
        }
        assert!(judge(&evidence(Carrier::Disk, 524_288)).reason.starts_with("50 % of 1.00 MiB came from the disk"));
    }

    #[test]
    fn faster_than_the_link_is_cached_whatever_the_counters_say() {
        let at = |rate: f64| Evidence {
            link: Some(125e6),
            elapsed_s: f64::from(1 << 20) / rate,
            ..evidence(Carrier::Wire, 1 << 21)
        };
        assert_eq!(judge(&at(122e6)).cached, Some(true));
        assert_eq!(judge(&at(110e6)).cached, Some(false));
        // A link carries as much the other way at the same time.
        let both = Evidence { written_bytes: 1 << 20, ..at(110e6) };
        let sent = Observation { wire_out_bytes: Some(1 << 21), ..both.after };
        let none_sent = Observation { wire_out_bytes: Some(0), ..both.before };
        assert_eq!(judge(&Evidence { before: none_sent, after: sent, ..both }).cached, Some(false));
    }

    #[test]
    fn what_is_read_and_what_is_written_are_counted_apart() {
        let counted = |read: u64, written: u64| {
            let of = evidence(Carrier::Disk, read);
            let before = Observation { disk_write_bytes: Some(7), ..of.before };
            let after = Observation { disk_write_bytes: Some(7 + written), ..of.after };
            judge(&Evidence { written_bytes: 1 << 20, before, after, ..of })
        };
        let whole = counted(1 << 20, 1 << 20);
        assert_eq!((whole.cached, whole.carried_bytes), (Some(false), Some(1 << 21)));
        let half = counted(1 << 20, 0);
        assert_eq!(half.cached, Some(true));
        assert_eq!(half.reason, "100 % of 1.00 MiB came from the disk, 0 % of 1.00 MiB went to the disk");
        assert_eq!(counted(1 << 30, 0).cached, Some(true), "what was read ahead was not written");
    }

    #[test]
    fn without_a_counter_the_page_cache_tells() {
        let unknown = evidence(Carrier::Unknown, 0);
        assert_eq!(judge(&unknown).cached, Some(true));
        let none = Evidence { resident_pages: Some(0), ..unknown };
        assert_eq!(judge(&none).cached, None, "a file system may have a cache of its own");
        assert_eq!(judge(&without_counters(&none)).cached, Some(false));
        assert_eq!(judge(&Evidence { resident_pages: None, ..unknown }).cached, None);
        assert_eq!(judge(&Evidence { direct: true, resident_pages: None, ..unknown }).cached, Some(false));
        assert_eq!(judge(&evidence(Carrier::Memory, 0)).cached, None);
        let written = Evidence { read_bytes: 0, written_bytes: 1 << 20, dirty_pages: Some(3), ..unknown };
        assert_eq!(judge(&written).cached, Some(true));
        assert_eq!(judge(&Evidence { dirty_pages: Some(0), ..written }).cached, None);
        assert_eq!(judge(&Evidence { dirty_pages: Some(0), ..without_counters(&written) }).cached, Some(false));
    }
}
