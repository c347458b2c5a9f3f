//! What a reading thread knows of its mailboxes: which comes next, what it has seen, what is still to come.

use super::inspect::Inspector;
use super::ledger::SeenCopy;
use super::message::Id;
use super::operation::Operation;
use super::pop3::{Capabilities, Responses, listing};
use super::session::MailSession;
use bakeoff_engine::{Nanos, Stage, Stamps};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What the drain does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drain {
    Poll,
    Pause,
    Done,
}

/// How the last look into a mailbox ended that the drain took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// There was none.
    Never,
    /// Everything that was listed was read.
    Whole,
    /// It broke off.
    Broken(&'static str),
}

/// What is known of one mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub index: u32,
    /// Unique ids that were read: whose message, and whether its deletion was confirmed.
    pub known: HashMap<u64, (Option<Id>, bool)>,
    /// Unique ids of mail that is not Bakeoff's.
    pub foreign: HashSet<u64>,
    pub look: Look,
    /// Begin of the last session that listed the mailbox.
    pub listed_ns: Nanos,
    /// While preparing: found empty. While draining: polled once more after all had come.
    pub settled: bool,
    pub cleanings: u32,
    pub expected: HashSet<Id>,
}

/// One line of the listing of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub number: u32,
    pub uid: u64,
    pub state: State,
}

/// What is to be done with a message of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It is to be read.
    New,
    /// It is to be deleted: read in an earlier session that could not delete it, or not wanted.
    Delete,
    /// It is nobody's business.
    LeaveAlone,
}

/// What a thread knows as a reader.
#[derive(Debug)]
pub(crate) struct Reader {
    pub mailboxes: Vec<Mailbox>,
    pub current: usize,
    /// Messages that came since the drain last began a round.
    pub round_left: usize,
    pub round_news: bool,
    pub responses: Responses,
    pub capabilities: Option<Capabilities>,
    pub encrypted: bool,
    pub listing: Vec<u8>,
    pub items: Vec<Item>,
    /// Messages in the mailbox, by STAT.
    pub count: u32,
    pub inspector: Inspector,
    pub login_ns: Nanos,
    pub hit_ns: Nanos,
    pub missed_ns: Nanos,
    /// The last entry of the book was just read.
    pub to_stamp: bool,
    pub book: Vec<SeenCopy>,
    pub polls: u64,
    pub empty_polls: u64,
    /// While preparing: messages deleted, and what of other people was found.
    pub removed: u64,
    pub found: Found,
    /// Foreign messages of the mailbox that is being looked at.
    pub strangers: u32,
    /// The last try of the drain broke off, for this reason.
    broken: Option<&'static str>,
}

/// What mailboxes held before a trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// Messages of earlier trials.
    pub ours: u64,
    /// Mailboxes with mail that is not Bakeoff's: number and messages.
    pub foreign: Vec<(u32, u32)>,
}

impl Reader {
    pub fn new(mailboxes: std::ops::Range<u32>) -> Self {
        let mailbox = |index| Mailbox {
            index,
            known: HashMap::new(),
            foreign: HashSet::new(),
            look: Look::Never,
            listed_ns: 0,
            settled: false,
            cleanings: 0,
            expected: HashSet::new(),
        };
        Self {
            mailboxes: mailboxes.map(mailbox).collect(),
            current: 0,
            round_left: 0,
            round_news: false,
            responses: Responses::default(),
            capabilities: None,
            encrypted: false,
            listing: Vec::new(),
            items: Vec::new(),
            count: 0,
            inspector: Inspector::new(),
            login_ns: 0,
            hit_ns: 0,
            missed_ns: 0,
            to_stamp: false,
            book: Vec::new(),
            polls: 0,
            empty_polls: 0,
            removed: 0,
            found: Found::default(),
            strangers: 0,
            broken: None,
        }
    }

    /// Takes the moments of a step that succeeded.
    pub fn stamp(&mut self, operation: Operation, stamps: &Stamps) {
        match operation {
            Operation::PopPass | Operation::PopLogin => self.login_ns = stamps.start_ns,
            Operation::PopStat if self.count == 0 => self.listed(),
            Operation::PopUidl => {
                self.hit_ns = stamps.end_ns;
                self.listed();
            }
            Operation::PopList if self.hit_ns < self.login_ns => {
                self.hit_ns = stamps.end_ns;
                self.listed();
            }
            Operation::PopRetrieve if self.to_stamp => {
                self.to_stamp = false;
                if let Some(copy) = self.book.last_mut() {
                    copy.read_ns = stamps.end_ns;
                }
            }
            _ => {}
        }
    }

    /// The mailbox was listed: what is not there now was missed.
    fn listed(&mut self) {
        let mailbox = &mut self.mailboxes[self.current];
        self.missed_ns = mailbox.listed_ns;
        mailbox.listed_ns = self.login_ns;
    }

    /// The drain begins: what each mailbox is still to show.
    pub fn expect(&mut self, outstanding: impl Fn(u32) -> HashSet<Id>) {
        for mailbox in &mut self.mailboxes {
            mailbox.expected = outstanding(mailbox.index);
            mailbox.settled = false;
            mailbox.look = Look::Never;
        }
        self.items.clear();
        self.round_left = self.mailboxes.len();
        self.round_news = true;
    }

    /// A session of the drain broke off.
    pub fn broke_off(&mut self, why: &'static str) {
        self.broken = Some(why);
        self.mailboxes[self.current].look = Look::Broken(why);
    }

    /// A session of the drain saw and read all that there was.
    pub fn looked(&mut self) {
        self.broken = None;
        self.mailboxes[self.current].look = Look::Whole;
    }

    /// The drain is over: what it did not see is lost only where it could look until then.
    pub fn stop_looking(&mut self) {
        if self.items.iter().any(|item| item.state == State::New) {
            self.mailboxes[self.current].look = Look::Broken("cut off by the end of the drain");
        }
        if let Some(why) = self.broken {
            // The server was not there any more: the looks before are too old.
            let waiting = self.mailboxes.iter_mut().filter(|mailbox| !mailbox.settled && mailbox.look == Look::Whole);
            waiting.for_each(|mailbox| mailbox.look = Look::Broken(why));
        }
    }

    /// Mailboxes that were not looked at to the end although messages were to come, with the reason.
    pub fn unchecked(&self) -> impl Iterator<Item = (u32, &'static str)> + '_ {
        let waiting = self.mailboxes.iter().filter(|mailbox| !mailbox.expected.is_empty());
        waiting.filter_map(|mailbox| match mailbox.look {
            Look::Never => Some((mailbox.index, "not reached before the end of the drain")),
            Look::Broken(why) => Some((mailbox.index, why)),
            Look::Whole => None,
        })
    }

    /// Messages that were read: mailbox and id.
    pub fn seen_copies(&self) -> impl Iterator<Item = (u32, Id)> + '_ {
        self.book.iter().filter_map(|copy| Some((copy.mailbox, copy.id?)))
    }

    fn turn(&mut self) {
        self.current = (self.current + 1) % self.mailboxes.len();
    }
}

impl MailSession {
    /// Whether another thread of the client empties the mailboxes that they share: each would wait for messages that
    /// another one has taken.
    fn leaves_it_to_the_first(&self) -> bool {
        self.plan.shared && self.identity.thread > 0
    }

    /// Chooses the next mailbox that is not known to be empty.
    pub(crate) fn next_to_clean(&mut self) -> bool {
        if self.leaves_it_to_the_first() {
            return false;
        }
        let reader = &mut self.reader;
        let found = reader.mailboxes.iter().position(|mailbox| !mailbox.settled);
        reader.current = found.unwrap_or(0);
        found.is_some()
    }

    /// Chooses the next mailbox in turn.
    pub(crate) fn next_in_turn(&mut self) {
        self.reader.turn();
    }

    /// Chooses a mailbox that still has to show something, or was not looked at since all had come.
    pub(crate) fn next_to_drain(&mut self) -> Drain {
        if self.leaves_it_to_the_first() {
            return Drain::Done;
        }
        let reader = &mut self.reader;
        if reader.mailboxes.iter().all(|mailbox| mailbox.settled) {
            return Drain::Done;
        }
        loop {
            if reader.round_left == 0 {
                reader.round_left = reader.mailboxes.len();
                if !std::mem::take(&mut reader.round_news) {
                    return Drain::Pause;
                }
            }
            reader.round_left -= 1;
            reader.turn();
            if !reader.mailboxes[reader.current].settled {
                return Drain::Poll;
            }
        }
    }

    /// The listing of unique ids is complete: keeps what is needed of it before LIST overwrites it.
    pub(super) fn take_uids(&mut self) {
        let reader = &mut self.reader;
        let mailbox = &reader.mailboxes[reader.current];
        let delete = self.plan.pop3.as_ref().is_some_and(|pop3| pop3.delete);
        let item = |(number, word): (u32, &[u8])| {
            let uid = short(word);
            let state = if mailbox.foreign.contains(&uid) {
                State::LeaveAlone
            } else if delete && mailbox.known.get(&uid).is_some_and(|(_, gone)| !gone) {
                State::Delete
            } else {
                State::New
            };
            Item { number, uid, state }
        };
        reader.items = listing(&reader.listing).map(item).collect();
    }

    /// A message is complete. Without books it is nobody's.
    pub(super) fn retrieved(&mut self, at: usize) {
        let plan = &self.plan;
        let reader = &mut self.reader;
        if !plan.inspects() {
            reader.items[at].state = State::Delete;
            return;
        }
        let found = reader.inspector.finish(&plan.run);
        reader.items[at].state = if found.is_ours() { State::Delete } else { State::LeaveAlone };
        let damaged = found.id.is_some() && found.announced != Some(found.hash);
        let kept = damaged.then(|| reader.inspector.kept().into());
        let mailbox = &mut reader.mailboxes[reader.current];
        let mut uid = reader.items[at].uid;
        if reader.capabilities.is_some_and(|capabilities| !capabilities.uidl) {
            // Without unique ids a copy is the how-manieth of its message in this session.
            let before = reader.items[..at]
                .iter()
                .filter(|item| found.id.is_some_and(|id| item.uid >> 8 == id.0 << 8 >> 8))
                .count();
            uid = found.id.map_or(found.hash as u64, |id| id.0 << 8 | before as u64);
            reader.items[at].uid = uid;
        }
        if !found.is_ours() && !mailbox.foreign.insert(uid) {
            return;
        }
        let gone = mailbox.known.get(&uid).is_some_and(|(id, gone)| *gone && id.is_some() && *id == found.id);
        mailbox.known.insert(uid, (found.id, false));
        if let Some(id) = found.id
            && mailbox.expected.remove(&id)
        {
            reader.round_news = true;
        }
        reader.book.push(SeenCopy {
            id: found.id,
            mailbox: mailbox.index,
            uid,
            hash: found.hash,
            missed_ns: reader.missed_ns,
            hit_ns: reader.hit_ns,
            read_ns: 0,
            resurrected: gone,
            bounce_of: found.bounce_of,
            stale: found.stale,
            kept,
        });
        reader.to_stamp = true;
    }

    /// QUIT was confirmed: what was deleted is gone.
    pub(super) fn confirmed(&mut self) {
        let reader = &mut self.reader;
        if self.stage == Stage::Prepare {
            return;
        }
        if self.stage == Stage::Drain {
            reader.looked();
        }
        let reader = &mut self.reader;
        let mailbox = &mut reader.mailboxes[reader.current];
        let deleted = reader.items.iter().filter(|item| item.state == State::Delete);
        let ours = reader.count > 0 && deleted.clone().next().is_some();
        for item in deleted {
            if let Some((_, gone)) = mailbox.known.get_mut(&item.uid) {
                *gone = true;
            }
        }
        if self.stage == Stage::Drain && !ours && mailbox.expected.is_empty() {
            mailbox.settled = true;
        }
        if self.stage == Stage::Drain && ours {
            // It must be seen empty once more.
            reader.round_news = true;
        }
    }
}

/// A unique id of up to 70 characters in one word.
fn short(uid: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    uid.hash(&mut hasher);
    hasher.finish()
}
