//! Mail as a stream: what was accepted and read in each second, and what waited in between.

use crate::mail::ledger::message::Id;
use crate::mail::ledger::{Ledger, SeenCopy, Sent, SentCopy};
use bakeoff_engine::{Nanos, Timeline};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Copies and their bytes.
#[derive(Debug, Default)]
struct Load {
    copies: u64,
    bytes: u64,
}

impl Load {
    fn add(&mut self, copy: &SentCopy) {
        self.copies += 1;
        self.bytes += u64::from(copy.bytes);
    }

    fn json(&self) -> Value {
        json!({"messages": self.copies, "bytes": self.bytes})
    }
}

/// Messages that were certainly inside the server, accepted and not shown yet, during the window.
#[derive(Debug)]
struct Inside {
    window: (Nanos, Nanos),
    /// Moments at which one came in (+1) or was still missed for the last time (-1).
    changes: Vec<(Nanos, i64)>,
    total_ns: u128,
    /// Those that were inside at the end of the window.
    at_end: u64,
}

impl Inside {
    fn new(timeline: &Timeline) -> Self {
        Self { window: (timeline.window_start_ns, timeline.window_end_ns), changes: Vec::new(), total_ns: 0, at_end: 0 }
    }

    fn add(&mut self, accepted_ns: Nanos, missed_ns: Nanos) {
        let (from, to) = (accepted_ns.max(self.window.0), missed_ns.min(self.window.1));
        if from < to {
            self.changes.extend([(from, 1), (to, -1)]);
            self.total_ns += u128::from(to - from);
            self.at_end += u64::from(to == self.window.1);
        }
    }

    fn json(mut self) -> Value {
        self.changes.sort_unstable();
        let (mut now, mut peak, mut at_start) = (0, 0, 0);
        for (at_ns, change) in &self.changes {
            now += change;
            peak = peak.max(now);
            if *at_ns <= self.window.0 {
                at_start = now;
            }
        }
        let window_ns = (self.window.1 - self.window.0).max(1);
        json!({
            "mean": self.total_ns as f64 / window_ns as f64, "peak": peak, "at_start": at_start, "at_end": self.at_end,
        })
    }
}

/// Acceptances and first readings, second by second from the start of traffic, and what was left over.
pub(crate) fn flow_json<'a>(
    timeline: &Timeline,
    ledger: Option<&Ledger>,
    sent: impl Iterator<Item = &'a SentCopy>,
    seen: impl Iterator<Item = &'a SeenCopy>,
) -> Value {
    let mut accepted_at: HashMap<(u32, Id), Nanos> = HashMap::new();
    let mut seconds: Vec<(u64, u64)> = Vec::new();
    let mut window = (0_u64, 0_u64);
    let mut add = |at_ns: Nanos, read: bool| {
        let second = (at_ns.saturating_sub(timeline.start_ns) / bakeoff_engine::SECOND_NS) as usize;
        if second >= seconds.len() {
            seconds.resize(second + 1, (0, 0));
        }
        let counted = u64::from(timeline.in_window(at_ns));
        if read {
            seconds[second].1 += 1;
            window.1 += counted;
        } else {
            seconds[second].0 += 1;
            window.0 += counted;
        }
    };
    let mut offered = Load::default();
    let mut put_off = Load::default();
    for copy in sent {
        offered.add(copy);
        if copy.outcome == Sent::Temporary {
            put_off.add(copy);
        }
        if copy.outcome != Sent::Accepted {
            continue;
        }
        add(copy.at_ns, false);
        accepted_at.insert((copy.mailbox, copy.id), copy.at_ns);
    }
    let before = |at_ns: Nanos| at_ns < timeline.window_end_ns;
    let mut waiting = accepted_at.values().filter(|at_ns| before(**at_ns)).count() as i64;
    let mut drained = 0_u64;
    let mut last_read_ns = timeline.end_ns;
    let mut firsts: HashMap<(u32, Id), Nanos> = HashMap::new();
    let mut inside = Inside::new(timeline);
    for copy in seen {
        let Some(id) = copy.id else { continue };
        if copy.read_ns == 0 || copy.resurrected {
            continue;
        }
        add(copy.read_ns, true);
        let first = firsts.entry((copy.mailbox, id)).or_insert(Nanos::MAX);
        if *first == Nanos::MAX
            && let Some(at_ns) = accepted_at.get(&(copy.mailbox, id))
        {
            inside.add(*at_ns, copy.missed_ns);
        }
        *first = (*first).min(copy.read_ns);
    }
    let mut oldest_ns = Nanos::MAX;
    for (key, at_ns) in &accepted_at {
        let read_ns = firsts.get(key).copied().unwrap_or(Nanos::MAX);
        if before(*at_ns) && before(read_ns) {
            waiting -= 1;
        } else if before(*at_ns) {
            oldest_ns = oldest_ns.min(*at_ns);
        }
        if read_ns != Nanos::MAX && read_ns >= timeline.end_ns {
            drained += 1;
            last_read_ns = last_read_ns.max(read_ns);
        }
    }
    let window_s = (timeline.window_end_ns - timeline.window_start_ns) as f64 / 1e9;
    let drain_s = (last_read_ns - timeline.end_ns) as f64 / 1e9;
    let rows: Vec<_> = seconds
        .iter()
        .enumerate()
        .map(|(second, (accepted, read))| json!({"second": second, "accepted": accepted, "read": read}))
        .collect();
    let per_s = |count: u64| if window_s > 0.0 { count as f64 / window_s } else { 0.0 };
    let delivered = ledger.map_or((0, 0), |ledger| (ledger.delivered_in_window, ledger.delivered_at_last));
    json!({
        "delivered": delivered.0,
        "delivered_at_last": delivered.1,
        "delivered_per_s": ledger.map(|_| per_s(delivered.0)),
        "delivered_at_last_per_s": ledger.map(|_| per_s(delivered.1)),
        "offered": offered.json(),
        "put_off": put_off.json(),
        "in_delivery": inside.json(),
        "accepted": window.0,
        "read": window.1,
        "accepted_per_s": per_s(window.0),
        "read_per_s": per_s(window.1),
        "per_second": rows,
        "backlog": {
            "messages": waiting.max(0),
            "oldest_s": timeline.window_end_ns.saturating_sub(oldest_ns.min(timeline.window_end_ns)) as f64 / 1e9,
        },
        "drain": {
            "messages": drained,
            "length_s": drain_s,
            "per_s": if drain_s > 0.0 { drained as f64 / drain_s } else { 0.0 },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(number: u32, at_ns: Nanos) -> SentCopy {
        SentCopy { id: Id::new(0, 0, number), mailbox: 1, bytes: 600, outcome: Sent::Accepted, hash: 7, at_ns }
    }

    fn seen(number: u32, missed_ns: Nanos, read_ns: Nanos) -> SeenCopy {
        SeenCopy {
            id: Some(Id::new(0, 0, number)),
            mailbox: 1,
            uid: u64::from(number),
            hash: 7,
            missed_ns,
            hit_ns: read_ns,
            read_ns,
            resurrected: false,
            bounce_of: None,
            stale: false,
            kept: None,
        }
    }

    const SECOND: Nanos = bakeoff_engine::SECOND_NS;

    #[test]
    fn the_backlog_is_what_was_accepted_and_not_read_at_the_end_of_the_window() {
        let timeline = Timeline::new(0, 0, 4 * SECOND, SECOND);
        let sent = [sent(0, SECOND), sent(1, SECOND), sent(2, 2 * SECOND), sent(3, 3 * SECOND + 1)];
        let seen = [seen(0, 0, 2 * SECOND), seen(1, 0, 5 * SECOND), seen(3, 0, 6 * SECOND)];
        let flow = flow_json(&timeline, None, sent.iter(), seen.iter());
        assert_eq!((flow["accepted"].as_u64(), flow["read"].as_u64()), (Some(3), Some(1)));
        assert_eq!(flow["backlog"]["messages"], 2);
        assert_eq!(flow["backlog"]["oldest_s"], 2.0);
        assert_eq!((flow["drain"]["messages"].as_u64(), flow["drain"]["length_s"].as_f64()), (Some(2), Some(2.0)));
        assert_eq!(flow["delivered_per_s"], Value::Null);
    }

    #[test]
    fn messages_inside_the_server_are_those_that_a_later_session_missed() {
        let timeline = Timeline::new(0, 0, 4 * SECOND, 0);
        let sent = [sent(0, 0), sent(1, SECOND), sent(2, SECOND)];
        let seen = [seen(0, 2 * SECOND, 3 * SECOND), seen(1, 3 * SECOND, 4 * SECOND), seen(2, 0, 2 * SECOND)];
        let flow = flow_json(&timeline, None, sent.iter(), seen.iter());
        assert_eq!(flow["in_delivery"], json!({"mean": 1.0, "peak": 2, "at_start": 1, "at_end": 0}));
    }

    #[test]
    fn what_was_put_off_is_told_with_its_bytes() {
        let timeline = Timeline::new(0, 0, SECOND, 0);
        let large = SentCopy { bytes: 5_000, outcome: Sent::Temporary, ..sent(0, 0) };
        let flow = flow_json(&timeline, None, [sent(1, 5), large].iter(), std::iter::empty());
        assert_eq!(flow["offered"], json!({"messages": 2, "bytes": 5_600}));
        assert_eq!(flow["put_off"], json!({"messages": 1, "bytes": 5_000}));
    }
}
