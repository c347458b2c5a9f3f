//! What one machine of several tells of its part of a trial: its sums, and its entries of the ledger as they are. A
//! message is lost, doubled or damaged by the entries of all machines together only: it is sent by one and may be read
//! by another.
//!
//! A message takes some 80 bytes for each recipient, 110 as text, most of them the hashes of what was sent and what was
//! read.

use super::admission::Admissions;
use super::done::Done;
use super::refusals::Refusals;
use super::response::Response;
use crate::mail::ledger::message::{Hash, Id};
use crate::mail::ledger::{SeenCopy, Sent, SentCopy};
use crate::mail::session::MailSession;
use crate::packed::{self, Reader, Writer};
use bakeoff_engine::{Nanos, Timeline};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// What sessions count, added up.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub send_ns: Nanos,
    pub read_ns: Nanos,
    pub removed: u64,
    pub ours: u64,
    /// Mailboxes with mail that is not Bakeoff's.
    pub foreign: BTreeMap<u32, u64>,
    pub response: Response,
    pub preparing: Refusals,
    pub measured: Refusals,
    pub polls: u64,
    pub empty_polls: u64,
    /// Time spent in each step while measuring.
    pub times_ns: Vec<Nanos>,
    pub messages: Done,
    pub mailbox_visits: Done,
    /// The senders' own count of copies that were taken on.
    pub accepted: u64,
    /// Mailboxes that the drain could not look at to the end, and why.
    pub uninspected: BTreeMap<u32, String>,
}

impl Sums {
    pub fn of(sessions: &[&MailSession]) -> Self {
        let mut sums = Self::default();
        for session in sessions {
            let (reader, thread) = (&session.reader, &session.thread);
            sums.send_ns += session.send_ns;
            sums.read_ns += session.read_ns;
            sums.removed += reader.removed;
            sums.ours += reader.leftovers.ours;
            for (mailbox, count) in &reader.leftovers.foreign {
                sums.foreign.insert(*mailbox, u64::from(*count));
            }
            sums.response.join(&thread.response);
            sums.preparing.add(&thread.preparing);
            sums.measured.add(&thread.measured);
            sums.polls += reader.polls;
            sums.empty_polls += reader.empty_polls;
            add_times(&mut sums.times_ns, &session.times_ns);
            sums.messages.join(&session.messages);
            sums.mailbox_visits.join(&session.mailbox_visits);
            sums.accepted += session.sender.accepted;
            sums.uninspected.extend(reader.uninspected().map(|(mailbox, why)| (mailbox, why.to_owned())));
        }
        sums
    }

    fn add(&mut self, other: Self) {
        self.send_ns += other.send_ns;
        self.read_ns += other.read_ns;
        self.removed += other.removed;
        self.ours += other.ours;
        self.foreign.extend(other.foreign);
        self.response.join(&other.response);
        self.preparing.add(&other.preparing);
        self.measured.add(&other.measured);
        self.polls += other.polls;
        self.empty_polls += other.empty_polls;
        add_times(&mut self.times_ns, &other.times_ns);
        self.messages.join(&other.messages);
        self.mailbox_visits.join(&other.mailbox_visits);
        self.accepted += other.accepted;
        self.uninspected.extend(other.uninspected);
    }
}

fn add_times(sums: &mut Vec<Nanos>, more: &[Nanos]) {
    sums.resize(sums.len().max(more.len()), 0);
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// What a machine tells, and what all of them have told together. Times count from the start of the trial, which is the
/// same moment for all machines.
#[derive(Debug)]
pub(crate) struct Part {
    pub sums: Sums,
    pub timeline: Timeline,
    /// The mark of the messages.
    pub run: String,
    pub sent: Vec<SentCopy>,
    pub seen: Vec<SeenCopy>,
    pub visits: Vec<Admissions>,
}

impl Part {
    /// All parts of a trial together.
    pub fn joined(parts: &[&Value]) -> Result<Self, String> {
        let mut whole: Option<Self> = None;
        for value in parts {
            let part = Self::from_json(value).ok_or("a machine reports no mail ledger")?;
            match &mut whole {
                Some(whole) => whole.add(part),
                None => whole = Some(part),
            }
        }
        whole.ok_or_else(|| "there is no mail ledger".to_owned())
    }

    fn add(&mut self, other: Self) {
        self.sums.add(other.sums);
        self.sent.extend(other.sent);
        self.seen.extend(other.seen);
        self.visits.extend(other.visits);
    }

    fn from_json(value: &Value) -> Option<Self> {
        let [window_start_ns, window_end_ns, end_ns] = Deserialize::deserialize(value.get("window_ns")?).ok()?;
        let bytes = packed::open(value.get("entries")?.as_str()?)?;
        let mut from = Reader(&bytes);
        let part = Self {
            sums: Deserialize::deserialize(value.get("sums")?).ok()?,
            timeline: Timeline { start_ns: 0, window_start_ns, window_end_ns, end_ns },
            run: value.get("run")?.as_str()?.to_owned(),
            sent: read_sent(&mut from)?,
            seen: read_seen(&mut from)?,
            visits: (0..from.count(usize::MAX)?).map(|_| Admissions::read(&mut from)).collect::<Option<_>>()?,
        };
        from.0.is_empty().then_some(part)
    }
}

/// What this machine tells.
pub(crate) fn part_json(run: &str, sessions: &[&MailSession]) -> Value {
    let timeline = sessions.first().map_or(Timeline::new(0, 0, 0, 0), |session| session.timeline);
    let since = |at_ns: Nanos| at_ns.saturating_sub(timeline.start_ns);
    let mut out = Writer::default();
    write_sent(&mut out, sessions.iter().flat_map(|session| &session.sender.entries), since);
    write_seen(&mut out, sessions.iter().flat_map(|session| &session.reader.entries), since);
    out.number(sessions.len() as u64);
    sessions.iter().for_each(|session| session.visits.write(&mut out, since));
    json!({
        "run": run,
        "sums": Sums::of(sessions),
        "window_ns": [since(timeline.window_start_ns), since(timeline.window_end_ns), since(timeline.end_ns)],
        "entries": out.shut(),
    })
}

const OUTCOMES: [Sent; 5] = [Sent::Accepted, Sent::Temporary, Sent::Permanent, Sent::NotSent, Sent::Unknown];

fn write_id(out: &mut Writer, id: Id) {
    let (client, thread, number) = id.parts();
    [client, thread, number].into_iter().for_each(|part| out.number(u64::from(part)));
}

fn read_id(from: &mut Reader<'_>) -> Option<Id> {
    let [client, thread, number] = [from.number()?, from.number()?, from.number()?];
    Id::checked(client, thread, number)
}

fn read_hash(from: &mut Reader<'_>) -> Option<Hash> {
    Some(Hash::from_be_bytes(from.bytes(16)?.try_into().ok()?))
}

fn write_sent<'a>(
    out: &mut Writer,
    copies: impl Iterator<Item = &'a SentCopy> + Clone,
    since: impl Fn(Nanos) -> Nanos,
) {
    out.number(copies.clone().count() as u64);
    for copy in copies {
        write_id(out, copy.id);
        out.number(u64::from(copy.mailbox));
        out.number(u64::from(copy.bytes));
        out.number(OUTCOMES.iter().position(|outcome| *outcome == copy.outcome).unwrap_or(0) as u64);
        out.number(since(copy.at_ns));
        out.0.extend_from_slice(&copy.hash.to_be_bytes());
    }
}

fn read_sent(from: &mut Reader<'_>) -> Option<Vec<SentCopy>> {
    let count = from.count(usize::MAX)?;
    let copy = |_| {
        Some(SentCopy {
            id: read_id(from)?,
            mailbox: u32::try_from(from.number()?).ok()?,
            bytes: u32::try_from(from.number()?).ok()?,
            outcome: OUTCOMES[from.index(OUTCOMES.len())?],
            at_ns: from.number()?,
            hash: read_hash(from)?,
        })
    };
    (0..count).map(copy).collect()
}

const HAS_ID: u64 = 1;
const RESURRECTED: u64 = 2;
const BOUNCE: u64 = 4;
const STALE: u64 = 8;
const KEPT: u64 = 16;

/// Unique ids are numbered: only whether two are the same is of interest.
fn write_seen<'a>(
    out: &mut Writer,
    copies: impl Iterator<Item = &'a SeenCopy> + Clone,
    since: impl Fn(Nanos) -> Nanos,
) {
    // 0 says that it never was.
    let moment = |at_ns: Nanos| if at_ns == 0 { 0 } else { since(at_ns) + 1 };
    let mut numbers: HashMap<u64, u64> = HashMap::new();
    out.number(copies.clone().count() as u64);
    for copy in copies {
        let flags = [
            (copy.id.is_some(), HAS_ID),
            (copy.resurrected, RESURRECTED),
            (copy.bounce_of.is_some(), BOUNCE),
            (copy.stale, STALE),
            (copy.kept.is_some(), KEPT),
        ];
        out.number(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum());
        [copy.id, copy.bounce_of].into_iter().flatten().for_each(|id| write_id(out, id));
        out.number(u64::from(copy.mailbox));
        let fresh = numbers.len() as u64;
        out.number(*numbers.entry(copy.uid).or_insert(fresh));
        [copy.missed_ns, copy.hit_ns, copy.read_ns].into_iter().for_each(|at_ns| out.number(moment(at_ns)));
        out.0.extend_from_slice(&copy.hash.to_be_bytes());
        copy.kept.iter().for_each(|kept| out.text(kept));
    }
}

fn read_seen(from: &mut Reader<'_>) -> Option<Vec<SeenCopy>> {
    let count = from.count(usize::MAX)?;
    let copy = |_| {
        let flags = from.number()?;
        let id = if flags & HAS_ID == 0 { None } else { Some(read_id(from)?) };
        let bounce_of = if flags & BOUNCE == 0 { None } else { Some(read_id(from)?) };
        let moment = |from: &mut Reader<'_>| Some(from.number()?.checked_sub(1).map_or(0, |at_ns| at_ns.max(1)));
        Some(SeenCopy {
            id,
            mailbox: u32::try_from(from.number()?).ok()?,
            uid: from.number()?,
            missed_ns: moment(from)?,
            hit_ns: moment(from)?,
            read_ns: moment(from)?,
            hash: read_hash(from)?,
            resurrected: flags & RESURRECTED != 0,
            bounce_of,
            stale: flags & STALE != 0,
            kept: if flags & KEPT == 0 { None } else { Some(from.text()?.into()) },
        })
    };
    (0..count).map(copy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_engine::Rng;

    const SECOND: Nanos = bakeoff_engine::SECOND_NS;

    fn entries(count: u32) -> (Vec<SentCopy>, Vec<SeenCopy>) {
        let mut rng = Rng::for_thread(3, 0, 0);
        let mut hash = || Hash::from(rng.next_u64()) << 64 | Hash::from(rng.next_u64());
        let sent: Vec<_> = (0..count)
            .map(|number| SentCopy {
                id: Id::new(number % 7, number % 3, number),
                mailbox: number * 7 % 350,
                bytes: 4_096,
                outcome: OUTCOMES[if number % 9 == 0 { number as usize % 5 } else { 0 }],
                hash: hash(),
                at_ns: u64::from(number) * 1_234_567,
            })
            .collect();
        let seen = sent.iter().map(|copy| SeenCopy {
            id: (copy.mailbox != 3).then_some(copy.id),
            mailbox: copy.mailbox,
            uid: copy.at_ns.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            hash: copy.hash,
            missed_ns: copy.at_ns / 2,
            hit_ns: copy.at_ns + 5_000_000,
            read_ns: if copy.mailbox == 5 { 0 } else { copy.at_ns + 9_000_000 },
            resurrected: copy.mailbox == 11,
            bounce_of: (copy.mailbox == 3).then_some(copy.id),
            stale: copy.mailbox == 13,
            kept: (copy.mailbox == 17).then(|| b"begin".as_slice().into()),
        });
        let seen = seen.collect();
        (sent, seen)
    }

    #[test]
    fn books_are_read_as_they_were_written_from_the_start_on_and_are_small() {
        let (sent, seen) = entries(5_000);
        let mut out = Writer::default();
        let later = |at_ns: Nanos| at_ns + 7 * SECOND;
        let moved: Vec<_> = sent.iter().map(|copy| SentCopy { at_ns: later(copy.at_ns), ..*copy }).collect();
        write_sent(&mut out, moved.iter(), |at_ns| at_ns - 7 * SECOND);
        write_seen(&mut out, seen.iter(), |at_ns| at_ns);
        let text = out.shut();
        assert!(text.len() < 5_000 * 100, "{} bytes of text for a message", text.len() / 5_000);
        let bytes = packed::open(&text).unwrap();
        let mut from = Reader(&bytes);
        let (read, read_seen) = (read_sent(&mut from).unwrap(), read_seen(&mut from).unwrap());
        for (one, other) in sent.iter().zip(&read) {
            assert_eq!((one.id, one.mailbox, one.bytes, one.hash), (other.id, other.mailbox, other.bytes, other.hash));
            assert_eq!((one.outcome, one.at_ns), (other.outcome, other.at_ns));
        }
        for (one, other) in seen.iter().zip(&read_seen) {
            assert_eq!((one.id, one.mailbox, one.hash, &one.kept), (other.id, other.mailbox, other.hash, &other.kept));
            assert_eq!((one.missed_ns, one.hit_ns, one.read_ns), (other.missed_ns, other.hit_ns, other.read_ns));
            assert_eq!((one.resurrected, one.bounce_of, one.stale), (other.resurrected, other.bounce_of, other.stale));
        }
        assert_eq!((read.len(), read_seen.len(), from.0.len()), (5_000, 5_000, 0));
    }

    #[test]
    fn foreign_bytes_are_refused_or_books_and_never_a_panic() {
        let (sent, seen) = entries(40);
        let mut out = Writer::default();
        write_sent(&mut out, sent.iter(), |at_ns| at_ns);
        write_seen(&mut out, seen.iter(), |at_ns| at_ns);
        let mut rng = Rng::for_thread(8, 0, 0);
        for _ in 0..20_000 {
            let mut spoilt = out.0.clone();
            for _ in 0..=rng.below(3) {
                let at = rng.below(spoilt.len() as u64) as usize;
                spoilt[at] = rng.next_u64() as u8;
            }
            let mut from = Reader(&spoilt);
            let _ = read_sent(&mut from).and_then(|_| read_seen(&mut from));
        }
        for value in [json!(null), json!({"sums": {}, "window_ns": [1, 2, 3], "entries": "x"}), json!({"entries": 3})] {
            assert!(Part::joined(&[&value]).is_err());
        }
        assert!(Part::joined(&[]).is_err());
    }
}
