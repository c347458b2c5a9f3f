//! The arithmetic of misbehaviour: which connection, which reply, which instant. No I/O, no clock.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;

use super::clock::to_ns;

/// So many of each so many connections are reset.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefuseSpec {
    /// Refused connections in each group.
    pub count: u64,
    /// Size of the group.
    pub of: u64,
}

/// The last `for_s` seconds of every `every_s` the server stands still.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StallSpec {
    /// Length of one stall, in seconds.
    pub for_s: f64,
    /// Period, in seconds.
    pub every_s: f64,
}

/// Hits the n-th, 2n-th, 3n-th … of what it is shown, over all threads.
pub struct EveryNth {
    every: Option<u64>,
    seen: AtomicU64,
}

impl EveryNth {
    pub fn new(every: Option<u64>) -> Self {
        Self { every, seen: AtomicU64::new(0) }
    }

    pub fn hit(&self) -> bool {
        self.every.is_some_and(|every| (self.seen.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(every))
    }
}

/// Chooses exactly `count` of each `of` connections, spread evenly, the last of the group always among them.
pub struct Refusal {
    share: Option<RefuseSpec>,
    seen: AtomicU64,
}

impl Refusal {
    pub fn new(share: Option<RefuseSpec>) -> Self {
        Self { share: share.filter(|s| s.count > 0), seen: AtomicU64::new(0) }
    }

    pub fn active(&self) -> bool {
        self.share.is_some()
    }

    pub fn hit(&self) -> bool {
        self.share.is_some_and(|RefuseSpec { count, of }| {
            let place = self.seen.fetch_add(1, Ordering::Relaxed) % of;
            (place + 1) * count / of > place * count / of
        })
    }
}

/// Fractions of a nanosecond in the limiter's schedule, so that odd rates do not drift.
const FRACTIONS: u64 = 256;

/// At most so many requests per second, evenly spaced. Time that passes unused is not made good later: no bursts.
pub struct Limiter {
    gap: Option<u64>,
    /// The earliest start of the next request, in fractions of a nanosecond from the server's start.
    next: AtomicU64,
}

impl Limiter {
    pub fn new(per_s: Option<f64>) -> Self {
        let gap = per_s.map(|rate| (FRACTIONS as f64 * 1e9 / rate).round() as u64);
        Self { gap, next: AtomicU64::new(0) }
    }

    /// The instant at which a request that arrived at `at_ns` may be worked on (both counted from the start).
    pub fn admit(&self, at_ns: u64) -> u64 {
        let Some(gap) = self.gap else { return at_ns };
        let now = at_ns * FRACTIONS;
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            let start = next.max(now);
            match self.next.compare_exchange_weak(next, start + gap, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return start / FRACTIONS,
                Err(other) => next = other,
            }
        }
    }
}

/// The stalls of a server, in nanoseconds from its start.
#[derive(Clone, Copy)]
pub struct Stalls {
    for_ns: u64,
    every_ns: u64,
}

impl Stalls {
    pub fn new(spec: StallSpec) -> Option<Self> {
        let (for_ns, every_ns) = (to_ns(spec.for_s), to_ns(spec.every_s));
        (for_ns > 0 && for_ns < every_ns).then_some(Self { for_ns, every_ns })
    }

    /// Start and end of the stall that is on, or comes next, at `at_ns`.
    pub fn next(&self, at_ns: u64) -> (u64, u64) {
        let end = (at_ns / self.every_ns + 1) * self.every_ns;
        (end - self.for_ns, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_hits_its_multiples_only() {
        let third = EveryNth::new(Some(3));
        let hits: Vec<bool> = (0..7).map(|_| third.hit()).collect();
        assert_eq!(hits, [false, false, true, false, false, true, false]);
        assert!(!EveryNth::new(None).hit());
    }

    #[test]
    fn refusal_is_exact_in_every_group() {
        for (count, of) in [(1, 10), (3, 10), (7, 9), (10, 10), (0, 10)] {
            let refusal = Refusal::new(Some(RefuseSpec { count, of }));
            for _ in 0..5 {
                let hits: Vec<bool> = (0..of).map(|_| refusal.hit()).collect();
                assert_eq!(hits.iter().filter(|hit| **hit).count() as u64, count);
                assert_eq!(hits[of as usize - 1], count > 0);
            }
        }
    }

    #[test]
    fn limiter_spaces_requests_and_saves_nothing() {
        let limiter = Limiter::new(Some(1000.0));
        let busy: Vec<u64> = (0..4).map(|_| limiter.admit(10)).collect();
        assert_eq!(busy, [10, 1_000_010, 2_000_010, 3_000_010]);
        // After a pause the schedule goes on from now: no burst for the time that passed.
        assert_eq!(limiter.admit(50_000_001), 50_000_001);
        assert_eq!(limiter.admit(50_000_002), 51_000_001);
        assert_eq!(Limiter::new(None).admit(77), 77);
    }

    #[test]
    fn limiter_keeps_its_rate_when_the_gap_is_no_whole_number() {
        let limiter = Limiter::new(Some(3.0e5));
        let last = (0..300_000).map(|_| limiter.admit(0)).last();
        assert!(last.is_some_and(|ns| ns.abs_diff(1_000_000_000) < 5_000));
    }

    #[test]
    fn limiter_gives_a_single_prompt_client_its_full_rate() {
        let limiter = Limiter::new(Some(1000.0));
        let (mut at_ns, mut last_ns) = (0, 0);
        for _ in 0..5000 {
            last_ns = limiter.admit(at_ns);
            at_ns = last_ns + 900_000; // its next request comes before its turn
        }
        assert_eq!(last_ns, 4_999_000_000);
    }

    #[test]
    fn stalls_end_on_whole_periods() {
        let stalls = Stalls::new(StallSpec { for_s: 0.2, every_s: 1.0 }).unwrap();
        assert_eq!(stalls.next(0), (800_000_000, 1_000_000_000));
        assert_eq!(stalls.next(900_000_000), (800_000_000, 1_000_000_000));
        assert_eq!(stalls.next(1_000_000_000), (1_800_000_000, 2_000_000_000));
        assert!(Stalls::new(StallSpec { for_s: 0.0, every_s: 1.0 }).is_none());
    }
}
