//! What a server did: totals and a series per second. Each worker has its own, so nothing is shared in the loop.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

const SECOND: u64 = 1_000_000_000;
/// A day; later seconds are only in the totals.
const SECONDS_MAX: usize = 86_400;

#[derive(Default, Clone, Copy)]
pub struct Second {
    pub connections: u64,
    pub requests: u64,
    pub replies: u64,
    pub bytes: u64,
    pub refused: u64,
}

/// Totals of one worker, or after [`Totals::add`] of several. `i64` where a figure can be taken back.
#[derive(Default, Clone)]
pub struct Totals {
    pub connections: i64,
    pub open: i64,
    pub refused: u64,
    pub connections_refused: u64,
    pub timed_out: u64,
    pub tls_failed: u64,
    pub requests: u64,
    pub replies: BTreeMap<u16, u64>,
    pub body_bytes: u64,
    pub bytes: u64,
    pub truncated: u64,
    pub corrupted: u64,
    pub closed_after: u64,
    pub status_forced: u64,
    pub unanswered: u64,
    pub bad_chunks: u64,
    pub unsolicited: u64,
    seconds: Vec<Second>,
}

impl Totals {
    /// The entry for an instant counted from the server's start; `None` after a day.
    pub fn second(&mut self, at_ns: u64) -> Option<&mut Second> {
        let second = (at_ns / SECOND) as usize;
        if second >= SECONDS_MAX {
            return None;
        }
        if second >= self.seconds.len() {
            self.seconds.resize(second + 1, Second::default());
        }
        self.seconds.get_mut(second)
    }

    fn add(&mut self, other: &Totals) {
        self.connections += other.connections;
        self.open += other.open;
        self.refused += other.refused;
        self.connections_refused += other.connections_refused;
        self.timed_out += other.timed_out;
        self.tls_failed += other.tls_failed;
        self.requests += other.requests;
        self.body_bytes += other.body_bytes;
        self.bytes += other.bytes;
        self.truncated += other.truncated;
        self.corrupted += other.corrupted;
        self.closed_after += other.closed_after;
        self.status_forced += other.status_forced;
        self.unanswered += other.unanswered;
        self.bad_chunks += other.bad_chunks;
        self.unsolicited += other.unsolicited;
        for (status, count) in &other.replies {
            *self.replies.entry(*status).or_default() += count;
        }
        if other.seconds.len() > self.seconds.len() {
            self.seconds.resize(other.seconds.len(), Second::default());
        }
        for (mine, theirs) in self.seconds.iter_mut().zip(&other.seconds) {
            mine.connections += theirs.connections;
            mine.requests += theirs.requests;
            mine.replies += theirs.replies;
            mine.bytes += theirs.bytes;
            mine.refused += theirs.refused;
        }
    }

    pub fn to_json(&self, kind: &str, address: &str, elapsed_ns: u64) -> Value {
        let replies: serde_json::Map<String, Value> =
            self.replies.iter().map(|(status, count)| (status.to_string(), json!(count))).collect();
        let per_second: Vec<Value> = self
            .seconds
            .iter()
            .enumerate()
            .map(|(second, s)| {
                json!({"second": second, "connections": s.connections, "requests": s.requests,
                       "replies": s.replies, "bytes": s.bytes, "refused": s.refused})
            })
            .collect();
        json!({
            "kind": kind, "address": address, "elapsed_s": elapsed_ns as f64 / SECOND as f64,
            "connections": self.connections, "open": self.open, "refused": self.refused,
            "connections_refused": self.connections_refused, "timed_out": self.timed_out, "tls_failed": self.tls_failed,
            "requests": self.requests, "replies": replies, "body_bytes": self.body_bytes, "bytes": self.bytes,
            "truncated": self.truncated, "corrupted": self.corrupted, "closed_after": self.closed_after,
            "status_forced": self.status_forced, "unanswered": self.unanswered, "bad_chunks": self.bad_chunks,
            "unsolicited": self.unsolicited, "per_second": per_second,
        })
    }
}

/// The totals of all workers.
pub struct Counts {
    workers: Vec<Mutex<Totals>>,
}

impl Counts {
    pub fn new(workers: usize) -> Self {
        Self { workers: (0..workers).map(|_| Mutex::default()).collect() }
    }

    /// Changes one worker's totals. The lock is only ever contended by a reader of the sum.
    pub fn of<R>(&self, worker: usize, change: impl FnOnce(&mut Totals) -> R) -> R {
        change(&mut self.workers[worker].lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn sum(&self) -> Totals {
        let mut sum = Totals::default();
        for worker in &self.workers {
            sum.add(&worker.lock().unwrap_or_else(PoisonError::into_inner));
        }
        sum
    }
}
