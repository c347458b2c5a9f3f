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

/// What is known of one mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub index: u32,
    /// Unique ids that were read: whose message, and whether its deletion was confirmed.
    pub known: HashMap<u64, (Option<Id>, bool)>,
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
    /// Read in an earlier session that could not delete it.
    pub known: bool,
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
    /// Messages deleted while preparing.
    pub removed: u64,
}

impl Reader {
    pub fn new(mailboxes: std::ops::Range<u32>) -> Self {
        let mailbox = |index| Mailbox {
            index,
            known: HashMap::new(),
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
        }
        self.round_left = self.mailboxes.len();
        self.round_news = true;
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
            let known = delete && mailbox.known.get(&uid).is_some_and(|(_, gone)| !gone);
            Item { number, uid, known }
        };
        reader.items = listing(&reader.listing).map(item).collect();
    }

    /// A message is complete.
    pub(super) fn retrieved(&mut self, at: usize) {
        let plan = &self.plan;
        if !plan.keeps_books() {
            return;
        }
        let reader = &mut self.reader;
        let found = reader.inspector.finish(&plan.run);
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
            uid = found.id.map_or(0, |id| id.0 << 8 | before as u64);
            reader.items[at].uid = uid;
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
            kept,
        });
        reader.to_stamp = true;
    }

    /// QUIT was confirmed: what was deleted is gone.
    pub(super) fn confirmed(&mut self) {
        let reader = &mut self.reader;
        let mailbox = &mut reader.mailboxes[reader.current];
        if self.stage == Stage::Prepare {
            return;
        }
        for item in &reader.items {
            if let Some((_, gone)) = mailbox.known.get_mut(&item.uid) {
                *gone = true;
            }
        }
        if self.stage == Stage::Drain && reader.count == 0 && mailbox.expected.is_empty() {
            mailbox.settled = true;
        }
        if self.stage == Stage::Drain && reader.count > 0 {
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
