//! Whole messages and whole visits of a mailbox: how long each took, and which failed.

use crate::mail::ledger::{Sent, SentCopy};
use bakeoff_engine::{LatencyHistogram, Nanos, Timeline, summarize};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// So many mailboxes and clients are told by name at most, of which most failed.
const NAMED_MAX: usize = 1_000;

/// How many were tried, and how many of them failed.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
struct Tally(u64, u64);

impl Tally {
    fn add(&mut self, tried: u64, failed: u64) {
        *self = Self(self.0 + tried, self.1 + failed);
    }
}

/// Those of one sort that ended in the window. Times are of those that succeeded.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Copies of messages, one for each recipient, or visits.
    tried: u64,
    failed: u64,
    times_ns: Vec<Nanos>,
    /// Of each mailbox by itself, where they came to one.
    mailboxes: BTreeMap<u32, Tally>,
    /// Of each client by itself.
    clients: BTreeMap<u32, Tally>,
    /// When the one in progress began.
    #[serde(skip)]
    begun_ns: Option<Nanos>,
    /// A step of it has failed.
    #[serde(skip)]
    broken: bool,
}

impl Done {
    /// A step of it, begun at `start_ns`, is over.
    pub fn step(&mut self, start_ns: Nanos, failed: bool) {
        self.begun_ns.get_or_insert(start_ns);
        self.broken |= failed;
    }

    /// Whether one is in progress.
    pub fn is_open(&self) -> bool {
        self.begun_ns.is_some()
    }

    /// The visit of a mailbox that is in progress is over.
    pub fn visited(&mut self, timeline: &Timeline, end_ns: Nanos, client: u32, mailbox: u32) {
        let failed = self.broken;
        if timeline.in_window(end_ns) {
            self.mailboxes.entry(mailbox).or_default().add(1, u64::from(failed));
        }
        self.over(timeline, end_ns, !failed, client, (1, u64::from(failed)));
    }

    /// The message in progress is over: `taken` when its body had a good final reply. Without `copies` it never came to
    /// its recipients.
    pub fn sent(&mut self, timeline: &Timeline, end_ns: Nanos, taken: bool, client: u32, copies: &[SentCopy]) {
        if timeline.in_window(end_ns) {
            for copy in copies {
                let failed = u64::from(copy.outcome != Sent::Accepted);
                self.mailboxes.entry(copy.mailbox).or_default().add(1, failed);
            }
        }
        let failed = copies.iter().filter(|copy| copy.outcome != Sent::Accepted).count() as u64;
        let counts = if copies.is_empty() { (1, 1) } else { (copies.len() as u64, failed) };
        self.over(timeline, end_ns, taken && failed < counts.0, client, counts);
    }

    /// The stage cut it off: nobody knows how it would have ended.
    pub fn cut(&mut self) {
        (self.begun_ns, self.broken) = (None, false);
    }

    fn over(&mut self, timeline: &Timeline, end_ns: Nanos, good: bool, client: u32, (tried, failed): (u64, u64)) {
        let begun_ns = self.begun_ns.take().unwrap_or(end_ns);
        self.broken = false;
        if !timeline.in_window(end_ns) {
            return;
        }
        (self.tried, self.failed) = (self.tried + tried, self.failed + failed);
        self.clients.entry(client).or_default().add(tried, failed);
        if good {
            self.times_ns.push(end_ns.saturating_sub(begun_ns));
        }
    }

    /// Takes those of another session.
    pub fn join(&mut self, other: &Self) {
        (self.tried, self.failed) = (self.tried + other.tried, self.failed + other.failed);
        self.times_ns.extend_from_slice(&other.times_ns);
        for (own, others) in [(&mut self.mailboxes, &other.mailboxes), (&mut self.clients, &other.clients)] {
            others.iter().for_each(|(at, tally)| own.entry(*at).or_default().add(tally.0, tally.1));
        }
    }

    /// The mailboxes that it tells of.
    pub fn mailboxes(&self) -> impl Iterator<Item = u32> + '_ {
        self.mailboxes.keys().copied()
    }

    /// With the mailboxes, by their `address`, and the clients that had failures.
    pub fn json<'a>(&self, address: impl Fn(u32) -> &'a str) -> Value {
        let mut times = LatencyHistogram::new();
        self.times_ns.iter().for_each(|time_ns| times.record(*time_ns));
        json!({
            "tried": self.tried,
            "failed": self.failed,
            "time": summarize(&times.to_hdr()),
            "failing_mailboxes": failing(&self.mailboxes, |at| address(at).to_owned()),
            "failing_clients": failing(&self.clients, |at| at.to_string()),
        })
    }
}

/// Those that had failures, by name; where they are many those with most.
fn failing(tallies: &BTreeMap<u32, Tally>, name: impl Fn(u32) -> String) -> BTreeMap<String, Value> {
    let mut found: Vec<_> = tallies.iter().filter(|(_, tally)| tally.1 > 0).collect();
    found.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.1));
    found.truncate(NAMED_MAX);
    found.into_iter().map(|(at, tally)| (name(*at), json!({"tried": tally.0, "failed": tally.1}))).collect()
}
