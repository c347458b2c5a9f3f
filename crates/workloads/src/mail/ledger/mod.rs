//! The ledger of a trial: what was sent to whom, what was seen where, and whether the two agree.

pub(super) mod exchange;
pub(super) mod inspect;
pub(super) mod message;

use bakeoff_engine::{LatencyHistogram, Nanos, Timeline, serialize, summarize};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use message::{Hash, Id};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What became of a message on its way to the server, for one recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The server took it on.
    Accepted,
    /// 4xx.
    Temporary,
    /// 5xx.
    Permanent,
    /// It never came to its final dot.
    NotSent,
    /// The connection was lost after the final dot and before the reply: no, one or more copies are all in order.
    Unknown,
}

/// One message for one recipient, by its sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentCopy {
    pub id: Id,
    pub mailbox: u32,
    /// Of the whole message.
    pub bytes: u32,
    pub outcome: Sent,
    pub hash: Hash,
    pub at_ns: Nanos,
}

/// One message in one mailbox, by its reader.
#[derive(Debug, Clone)]
pub(crate) struct SeenCopy {
    pub id: Option<Id>,
    pub mailbox: u32,
    /// Of the unique id the server gave it.
    pub uid: u64,
    pub hash: Hash,
    /// Begin of the last session that did not show it yet; 0 when there was none.
    pub missed_ns: Nanos,
    /// End of the listing that showed it.
    pub hit_ns: Nanos,
    /// It was read completely.
    pub read_ns: Nanos,
    /// Deleted, confirmed by QUIT, and there again.
    pub resurrected: bool,
    pub bounce_of: Option<Id>,
    /// A message of another trial, which came late.
    pub stale: bool,
    /// The beginning of a message whose body is not what its header says.
    pub kept: Option<Box<[u8]>>,
}

/// Messages listed for each class; of those lost more, for each is one to look for in the server's log.
const LISTED: usize = 1_000;
const LOST_LISTED: usize = 10_000;
/// Damaged messages whose beginnings are shown.
const SAMPLES: usize = 20;

/// By what the ledger is judged.
#[derive(Debug)]
pub(crate) struct Rules {
    pub timeline: Timeline,
    /// A message that was certainly not visible so long after its acceptance is late.
    pub late_ns: Nanos,
    /// Mailboxes that could not be looked at to the end: what they do not show may still be there.
    pub unchecked: HashSet<u32>,
}

/// Classes of messages with their ids.
#[derive(Debug)]
pub(crate) struct Ledger {
    rules: Rules,
    counts: HashMap<&'static str, u64>,
    /// The first messages of each class.
    ids: HashMap<&'static str, Vec<Listed>>,
    samples: Vec<Value>,
    lower: LatencyHistogram,
    upper: LatencyHistogram,
    accepted: u64,
    ids_seen: u64,
    /// Accepted in the window and delivered: read in the window, too, or whenever.
    pub delivered_in_window: u64,
    pub delivered_at_last: u64,
    /// Mailboxes that could not be looked at, and to which messages were still to come.
    pub waited_for: HashSet<u32>,
    /// Mail that is not Bakeoff's: how many messages were seen in which mailboxes.
    strangers: BTreeMap<u32, u64>,
}

/// A message of a class, and in or for which mailbox.
#[derive(Debug)]
struct Listed {
    id: Id,
    mailbox: u32,
    /// When the server took it on, where it did.
    accepted_ns: Option<Nanos>,
}

/// Whose names stand behind the numbers of ids.
pub(crate) struct Names<'a> {
    /// The mark in front of each id of the trial.
    pub run: &'a str,
    /// The address of a mailbox.
    pub mailbox: &'a dyn Fn(u32) -> &'a str,
    /// The envelope sender of a client.
    pub sender: &'a dyn Fn(u32) -> &'a str,
}

const CLASSES: [&str; 19] = [
    "accepted",
    "temporary",
    "permanent",
    "not_sent",
    "unknown",
    "delivered",
    "late",
    "lost",
    "unchecked",
    "duplicate",
    "corrupt",
    "misdelivered",
    "ghost",
    "unknown_seen",
    "unknown_corrupt",
    "stale",
    "foreign",
    "resurrected",
    "bounced",
];

#[derive(Debug)]
struct Entry {
    sent: SentCopy,
    uids: Vec<u64>,
    corrupt: bool,
    missed_ns: Nanos,
    hit_ns: Nanos,
    /// A copy was read completely; `Nanos::MAX` when none was.
    read_ns: Nanos,
}

impl Ledger {
    /// Joins the entries. `accepted` is the senders' own running count, so that the join can be checked against it.
    pub fn join<'a>(
        rules: Rules,
        accepted: u64,
        sent: impl Iterator<Item = &'a SentCopy>,
        seen: impl Iterator<Item = &'a SeenCopy>,
    ) -> Self {
        let mut ledger = Self {
            rules,
            counts: HashMap::new(),
            ids: HashMap::new(),
            samples: Vec::new(),
            lower: LatencyHistogram::default(),
            upper: LatencyHistogram::default(),
            accepted,
            ids_seen: 0,
            delivered_in_window: 0,
            delivered_at_last: 0,
            waited_for: HashSet::new(),
            strangers: BTreeMap::new(),
        };
        let mut entries: HashMap<(u32, Id), Entry> = HashMap::new();
        let mut known = HashSet::new();
        for copy in sent {
            known.insert(copy.id);
            let entry = Entry {
                sent: *copy,
                uids: Vec::new(),
                corrupt: false,
                missed_ns: 0,
                hit_ns: Nanos::MAX,
                read_ns: Nanos::MAX,
            };
            entries.insert((copy.mailbox, copy.id), entry);
        }
        let mut stray = HashSet::new();
        for copy in seen {
            ledger.see(copy, &mut entries, &known, &mut stray);
        }
        let mut places: Vec<_> = entries.into_values().collect();
        places.sort_by_key(|entry| (entry.sent.id, entry.sent.mailbox));
        places.iter().for_each(|entry| ledger.classify(entry));
        ledger.ids_seen += stray.len() as u64;
        ledger
    }

    fn note(&mut self, class: &'static str, id: Id, mailbox: u32, accepted_ns: Option<Nanos>) {
        *self.counts.entry(class).or_default() += 1;
        let ids = self.ids.entry(class).or_default();
        if ids.len() < if class == "lost" { LOST_LISTED } else { LISTED } {
            ids.push(Listed { id, mailbox, accepted_ns });
        }
    }

    fn see(
        &mut self,
        copy: &SeenCopy,
        entries: &mut HashMap<(u32, Id), Entry>,
        known: &HashSet<Id>,
        stray: &mut HashSet<(u32, Id)>,
    ) {
        let known_id = copy.id.filter(|id| known.contains(id));
        let Some(id) = known_id else {
            match copy.bounce_of {
                Some(id) => self.note("bounced", id, copy.mailbox, None),
                None if copy.stale => *self.counts.entry("stale").or_default() += 1,
                None => {
                    *self.counts.entry("foreign").or_default() += 1;
                    *self.strangers.entry(copy.mailbox).or_default() += 1;
                }
            }
            return;
        };
        if copy.resurrected {
            self.note("resurrected", id, copy.mailbox, None);
            return;
        }
        let Some(entry) = entries.get_mut(&(copy.mailbox, id)) else {
            if stray.insert((copy.mailbox, id)) {
                self.note("misdelivered", id, copy.mailbox, None);
            }
            return;
        };
        if entry.uids.is_empty() {
            self.ids_seen += 1;
        }
        if !entry.uids.contains(&copy.uid) {
            entry.uids.push(copy.uid);
        }
        if copy.read_ns > 0 {
            entry.read_ns = entry.read_ns.min(copy.read_ns);
        }
        if copy.hit_ns < entry.hit_ns {
            entry.hit_ns = copy.hit_ns;
            entry.missed_ns = copy.missed_ns;
        }
        if copy.hash != entry.sent.hash {
            entry.corrupt = true;
            if self.samples.len() < SAMPLES {
                let kept = copy.kept.as_deref().unwrap_or_default();
                self.samples.push(json!({"id": id.text(), "begins": String::from_utf8_lossy(kept)}));
            }
        }
    }

    fn classify(&mut self, entry: &Entry) {
        let SentCopy { id, mailbox, outcome, at_ns, .. } = entry.sent;
        let seen = !entry.uids.is_empty();
        let accepted_ns = (outcome == Sent::Accepted).then_some(at_ns);
        let sent = match outcome {
            Sent::Accepted => "accepted",
            Sent::Temporary => "temporary",
            Sent::Permanent => "permanent",
            Sent::NotSent => "not_sent",
            Sent::Unknown => "unknown",
        };
        *self.counts.entry(sent).or_default() += 1;
        match (outcome, seen) {
            (Sent::Accepted, false) if self.rules.unchecked.contains(&mailbox) => {
                self.waited_for.insert(mailbox);
                return self.note("unchecked", id, mailbox, accepted_ns);
            }
            (Sent::Accepted, false) => return self.note("lost", id, mailbox, accepted_ns),
            // No copy, one or several are all in order, a damaged one is not.
            (Sent::Unknown, true) if entry.corrupt => return self.note("unknown_corrupt", id, mailbox, accepted_ns),
            (Sent::Unknown, true) => return self.note("unknown_seen", id, mailbox, accepted_ns),
            (Sent::Temporary | Sent::Permanent | Sent::NotSent, true) => {
                return self.note("ghost", id, mailbox, accepted_ns);
            }
            (_, false) => return,
            (Sent::Accepted, true) => {}
        }
        self.lower.record(entry.missed_ns.saturating_sub(at_ns));
        self.upper.record(entry.hit_ns.saturating_sub(at_ns));
        if entry.corrupt {
            self.note("corrupt", id, mailbox, accepted_ns);
        } else if entry.uids.len() > 1 {
            self.note("duplicate", id, mailbox, accepted_ns);
        } else {
            *self.counts.entry("delivered").or_default() += 1;
            self.delivered(entry);
        }
        if entry.missed_ns.saturating_sub(at_ns) > self.rules.late_ns {
            self.note("late", id, mailbox, accepted_ns);
        }
    }

    /// Of what was accepted in the window. What is read after it counts apart: a server that puts delivery off until
    /// the load is gone must not have the rate of one that delivers under load.
    fn delivered(&mut self, entry: &Entry) {
        let timeline = &self.rules.timeline;
        if timeline.in_window(entry.sent.at_ns) {
            self.delivered_at_last += 1;
            self.delivered_in_window += u64::from(timeline.in_window(entry.read_ns));
        }
    }

    fn of(&self, class: &'static str) -> u64 {
        self.counts.get(class).copied().unwrap_or(0)
    }

    /// Both sums of the ledger; anything but two equalities is a defect of the tool.
    fn balance(&self) -> ((u64, u64), (u64, u64)) {
        let arrived = self.of("delivered") + self.of("duplicate") + self.of("corrupt");
        let doubtful = self.of("unknown_seen") + self.of("unknown_corrupt");
        let strays = doubtful + self.of("ghost") + self.of("misdelivered");
        let missing = self.of("lost") + self.of("unchecked");
        ((self.accepted, arrived + missing), (self.ids_seen, arrived + strays))
    }

    /// Moments are told in seconds from the start of the trial's traffic.
    pub fn json(&self, names: &Names<'_>) -> Value {
        let (sent, seen) = self.balance();
        let counts: Map<_, _> = CLASSES.iter().map(|class| ((*class).to_owned(), json!(self.of(class)))).collect();
        let since_s = |at_ns: Nanos| at_ns.saturating_sub(self.rules.timeline.start_ns) as f64 / 1e9;
        let place = |listed: &Listed| {
            json!({
                "id": listed.id.text(),
                "mailbox": (names.mailbox)(listed.mailbox),
                "sender": (names.sender)(listed.id.parts().0),
                "accepted_s": listed.accepted_ns.map(since_s),
            })
        };
        let ids: HashMap<_, Vec<_>> =
            self.ids.iter().map(|(class, places)| (*class, places.iter().map(place).collect())).collect();
        json!({
            "mark": names.run,
            "counts": counts,
            "ids": ids,
            "corrupt_samples": self.samples,
            "foreign": self.strangers.iter()
                .map(|(mailbox, count)| ((names.mailbox)(*mailbox).to_owned(), json!(count)))
                .collect::<Map<_, _>>(),
            "balanced": sent.0 == sent.1 && seen.0 == seen.1,
            "totals": {"accepted": sent.0, "accounted": sent.1, "ids_seen": seen.0, "classified": seen.1},
        })
    }

    /// Time from acceptance to visibility as an interval: after the last miss, at the latest at the first hit.
    pub fn visible_json(&self) -> Value {
        json!({
            "after": summarize(&self.lower.to_hdr()),
            "by": summarize(&self.upper.to_hdr()),
            "after_histogram": STANDARD.encode(serialize(&self.lower.to_hdr())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(number: u32, outcome: Sent) -> SentCopy {
        SentCopy { id: Id::new(0, 0, number), mailbox: 1, bytes: 600, outcome, hash: 7, at_ns: 100 }
    }

    fn seen(number: u32, mailbox: u32, uid: u64, hash: Hash) -> SeenCopy {
        SeenCopy {
            id: Some(Id::new(0, 0, number)),
            mailbox,
            uid,
            hash,
            missed_ns: 150,
            hit_ns: 300,
            read_ns: 310,
            resurrected: false,
            bounce_of: None,
            stale: false,
            kept: None,
        }
    }

    fn told(ledger: &Ledger) -> Value {
        ledger.json(&Names { run: "00112233445566aa", mailbox: &|_| "u@test", sender: &|_| "s@test" })
    }

    fn one(accepted_s: Option<f64>) -> Value {
        json!([{"id": "0.0.1", "mailbox": "u@test", "sender": "s@test", "accepted_s": accepted_s}])
    }

    fn rules(late_ns: Nanos, unchecked: &[u32]) -> Rules {
        Rules { timeline: Timeline::new(0, 0, 1_000, 0), late_ns, unchecked: unchecked.iter().copied().collect() }
    }

    #[test]
    fn every_class_is_told_apart_and_the_books_balance() {
        use Sent::{Accepted, NotSent, Permanent, Unknown};
        let sent = [
            sent(0, Accepted),
            sent(1, Accepted),
            sent(2, Accepted),
            sent(3, Accepted),
            sent(4, Permanent),
            sent(5, Unknown),
            sent(6, Unknown),
            sent(7, NotSent),
            sent(8, Accepted),
        ];
        let mut risen = seen(0, 1, 10, 7);
        risen.resurrected = true;
        let mut foreign = seen(0, 1, 99, 7);
        foreign.id = None;
        let mut bounce = foreign.clone();
        bounce.bounce_of = Some(Id::new(0, 0, 1));
        let seen = [
            seen(0, 1, 10, 7), // delivered
            seen(0, 1, 10, 7), // the same copy, read again
            risen,
            foreign,
            bounce, // 1 is lost, and a report says so
            seen(2, 1, 12, 7),
            seen(2, 1, 13, 7), // duplicate
            seen(3, 1, 14, 8),
            seen(3, 1, 15, 7), // corrupt goes before duplicate
            seen(4, 1, 16, 7), // ghost
            seen(5, 1, 17, 7), // unknown and seen
            seen(8, 1, 18, 7),
            seen(8, 2, 19, 7), // delivered, and to a stranger too
            seen(6, 1, 20, 8), // in doubt, and damaged
            SeenCopy { id: None, stale: true, ..seen(0, 1, 21, 7) },
        ];
        let ledger = Ledger::join(rules(1_000, &[]), 5, sent.iter(), seen.iter());
        let json = told(&ledger);
        let counts = &json["counts"];
        for (class, count) in [
            ("accepted", 5),
            ("permanent", 1),
            ("unknown", 2),
            ("not_sent", 1),
            ("delivered", 2),
            ("lost", 1),
            ("duplicate", 1),
            ("corrupt", 1),
            ("misdelivered", 1),
            ("ghost", 1),
            ("unknown_seen", 1),
            ("unknown_corrupt", 1),
            ("stale", 1),
            ("foreign", 1),
            ("resurrected", 1),
            ("bounced", 1),
        ] {
            assert_eq!(counts[class], count, "{class}");
        }
        assert_eq!(json["balanced"], true, "{json}");
        assert_eq!(json["ids"]["lost"], one(Some(1e-7)));
        assert_eq!(json["ids"]["bounced"], one(None));
        assert_eq!(json["mark"], "00112233445566aa");
        assert_eq!(ledger.lower.to_hdr().max(), 50);
        assert_eq!(ledger.upper.to_hdr().max(), 200);
    }

    #[test]
    fn books_that_do_not_balance_are_told() {
        let ledger = Ledger::join(rules(1_000, &[]), 2, [sent(0, Sent::Accepted)].iter(), std::iter::empty());
        assert_eq!(told(&ledger)["balanced"], false);
    }

    #[test]
    fn what_could_not_be_looked_at_is_not_lost() {
        let sent = [sent(0, Sent::Accepted), SentCopy { mailbox: 2, ..sent(1, Sent::Accepted) }];
        let json = told(&Ledger::join(rules(1_000, &[2]), 2, sent.iter(), std::iter::empty()));
        let counts = &json["counts"];
        assert_eq!((counts["lost"].as_u64(), counts["unchecked"].as_u64()), (Some(1), Some(1)));
        assert_eq!(json["balanced"], true);
        assert_eq!(json["ids"]["unchecked"], one(Some(1e-7)));
    }

    #[test]
    fn a_message_counts_when_it_was_accepted_and_read_in_the_window() {
        let sent: Vec<_> = (0..4).map(|number| sent(number, Sent::Accepted)).collect();
        let late = SeenCopy { missed_ns: 900, hit_ns: 1_200, read_ns: 1_300, ..seen(1, 1, 11, 7) };
        // Read in time, after the window, twice, damaged.
        let seen = [seen(0, 1, 10, 7), late, seen(2, 1, 12, 7), seen(2, 1, 13, 7), seen(3, 1, 14, 8)];
        let ledger = Ledger::join(rules(600, &[]), 4, sent.iter(), seen.iter());
        assert_eq!((ledger.delivered_in_window, ledger.delivered_at_last), (1, 2));
        assert_eq!(told(&ledger)["ids"]["late"], one(Some(1e-7)));
    }

    #[test]
    fn of_messages_that_are_lost_more_are_listed() {
        let sent: Vec<_> = (0..10_500).map(|number| sent(number, Sent::Accepted)).collect();
        let late = sent[..1_200].iter().map(|copy| SeenCopy { missed_ns: 900, ..seen(copy.id.parts().2, 1, 1, 7) });
        let seen: Vec<_> = late.collect();
        let json = told(&Ledger::join(rules(1, &[]), 10_500, sent.iter(), seen.iter()));
        let listed = |class: &str| json["ids"][class].as_array().map(Vec::len);
        assert_eq!((listed("lost"), listed("late")), (Some(9_300), Some(1_000)));
        let none: Vec<SeenCopy> = Vec::new();
        let all = told(&Ledger::join(rules(1, &[]), 10_500, sent.iter(), none.iter()));
        assert_eq!(all["ids"]["lost"].as_array().map(Vec::len), Some(10_000));
    }
}
