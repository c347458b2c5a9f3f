//! What a reading thread knows of its mailboxes: which comes next, what it has seen, what is still to come.

use super::mailbox::{Inspection, Item, Mailbox, MessageAction};
use crate::mail::ledger::SeenCopy;
use crate::mail::ledger::inspect::Inspected;
use crate::mail::ledger::message::Id;
use bakeoff_engine::{Nanos, Stage, Stamps};
use std::collections::HashSet;

/// What the drain does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drain {
    Poll,
    Pause,
    Done,
}

/// What a step that is just over means for the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LedgerEvent {
    LoggedIn,
    /// The mailbox has no message.
    SeenEmpty,
    /// The mailbox was listed. A second listing of the same session changes nothing.
    Listed,
    /// The last message of the ledger was read.
    Read,
}

/// What mailboxes held before a trial.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leftovers {
    /// Messages of earlier trials.
    pub ours: u64,
    /// Mailboxes with mail that is not Bakeoff's: number and messages.
    pub foreign: Vec<(u32, u32)>,
}

/// What a thread knows as a reader.
#[derive(Debug)]
pub(crate) struct Reader {
    pub mailboxes: Vec<Mailbox>,
    current: usize,
    /// Another thread of the client empties the mailboxes that they share: each would wait for messages that another
    /// one has taken.
    leaves_it_to_another: bool,
    /// Mailboxes that the round of the drain has still to look at, and whether something came in it.
    round_left: usize,
    round_news: bool,
    /// The drain has begun.
    drains: bool,
    /// The round of the drain began when all had long been quiet.
    round_is_last: bool,
    /// The messages of the session in progress.
    pub items: Vec<Item>,
    /// Messages in the mailbox, as the server says.
    pub count: u32,
    /// What [`Reader::stamp`] is to note.
    pub moment: Option<LedgerEvent>,
    login_ns: Nanos,
    hit_ns: Nanos,
    missed_ns: Nanos,
    pub entries: Vec<SeenCopy>,
    pub polls: u64,
    pub empty_polls: u64,
    /// While preparing: messages deleted, and what else was there.
    pub removed: u64,
    pub leftovers: Leftovers,
    /// Foreign messages of the mailbox that is being looked at.
    strangers: u32,
    /// The last try of the drain broke off, for this reason.
    broken: Option<&'static str>,
}

impl Reader {
    pub fn new(mailboxes: std::ops::Range<u32>, leaves_it_to_another: bool) -> Self {
        Self {
            mailboxes: mailboxes.map(Mailbox::new).collect(),
            current: 0,
            leaves_it_to_another,
            round_left: 0,
            round_news: false,
            drains: false,
            round_is_last: false,
            items: Vec::new(),
            count: 0,
            moment: None,
            login_ns: 0,
            hit_ns: 0,
            missed_ns: 0,
            entries: Vec::new(),
            polls: 0,
            empty_polls: 0,
            removed: 0,
            leftovers: Leftovers::default(),
            strangers: 0,
            broken: None,
        }
    }

    /// The mailbox of the session in progress.
    pub fn mailbox(&self) -> &Mailbox {
        &self.mailboxes[self.current]
    }

    fn mailbox_mut(&mut self) -> &mut Mailbox {
        &mut self.mailboxes[self.current]
    }

    /// A session begins.
    pub fn open(&mut self) {
        self.items.clear();
        self.hit_ns = 0;
    }

    /// A step that succeeded is over; whether it was a message that was read.
    pub fn stamp(&mut self, stamps: &Stamps) -> bool {
        let moment = self.moment.take();
        match moment {
            Some(LedgerEvent::LoggedIn) => self.login_ns = stamps.start_ns,
            Some(LedgerEvent::SeenEmpty) => self.listed(),
            Some(LedgerEvent::Listed) if self.hit_ns < self.login_ns => {
                self.hit_ns = stamps.end_ns;
                self.listed();
            }
            Some(LedgerEvent::Read) => {
                if let Some(copy) = self.entries.last_mut() {
                    copy.read_ns = stamps.end_ns;
                }
            }
            Some(LedgerEvent::Listed) | None => {}
        }
        moment == Some(LedgerEvent::Read)
    }

    /// The mailbox was listed: what is not there now was missed.
    fn listed(&mut self) {
        let login_ns = self.login_ns;
        self.missed_ns = std::mem::replace(&mut self.mailbox_mut().listed_ns, login_ns);
    }

    /// The drain begins: what each mailbox is still to show.
    pub fn expect(&mut self, outstanding: impl Fn(u32) -> HashSet<Id>) {
        for mailbox in &mut self.mailboxes {
            mailbox.expected = outstanding(mailbox.index);
            mailbox.settled = false;
            mailbox.inspection = Inspection::Never;
        }
        self.items.clear();
        self.drains = true;
        self.round_left = self.mailboxes.len();
        self.round_news = true;
    }

    /// A session of the drain broke off.
    pub fn broke_off(&mut self, why: &'static str) {
        self.broken = Some(why);
        self.mailbox_mut().inspection = Inspection::Broken(why);
        // What is still listed is accounted for by this.
        self.items.clear();
    }

    /// The drain is over: what it did not see is lost only where it could look until then.
    pub fn stop_looking(&mut self) {
        if self.items.iter().any(|item| item.todo == MessageAction::Read) {
            self.mailbox_mut().inspection = Inspection::Broken("cut off by the end of the drain");
        }
        if let Some(why) = self.broken {
            // The server was not there any more: the looks before are too old.
            let waiting =
                self.mailboxes.iter_mut().filter(|mailbox| !mailbox.settled && mailbox.inspection == Inspection::Whole);
            waiting.for_each(|mailbox| mailbox.inspection = Inspection::Broken(why));
        }
    }

    /// Mailboxes that the drain was to look at and did not to the end, with the reason.
    pub fn uninspected(&self) -> impl Iterator<Item = (u32, &'static str)> + '_ {
        let own = self.mailboxes.iter().filter(|_| self.drains && !self.leaves_it_to_another);
        own.filter_map(|mailbox| match mailbox.inspection {
            Inspection::Never => Some((mailbox.index, "not reached before the end of the drain")),
            Inspection::Broken(why) => Some((mailbox.index, why)),
            Inspection::Whole => None,
        })
    }

    /// Messages that were read: mailbox and id.
    pub fn seen_copies(&self) -> impl Iterator<Item = (u32, Id)> + '_ {
        self.entries.iter().filter_map(|copy| Some((copy.mailbox, copy.id?)))
    }

    /// Chooses the next mailbox in turn.
    pub fn rotate(&mut self) {
        self.current = (self.current + 1) % self.mailboxes.len();
    }

    /// Chooses the next mailbox that is not known to be empty, if there is one.
    pub fn rotate_to_clean(&mut self) -> bool {
        if self.leaves_it_to_another {
            return false;
        }
        let full = self.mailboxes.iter().position(|mailbox| !mailbox.settled);
        self.current = full.unwrap_or(0);
        full.is_some()
    }

    /// Chooses a mailbox that still has to show something, or was not looked at since all had come. Where other
    /// machines send as well, all has come when it has been quiet for long (`others_are_quiet`, None without others)
    /// and every mailbox was found empty once more.
    pub fn rotate_to_drain(&mut self, others_are_quiet: Option<bool>) -> Drain {
        let all_settled = self.mailboxes.iter().all(|mailbox| mailbox.settled);
        if self.leaves_it_to_another || all_settled && others_are_quiet.is_none() {
            return Drain::Done;
        }
        loop {
            if self.round_left == 0 {
                if let Some(quiet) = others_are_quiet {
                    if quiet && self.round_is_last && all_settled {
                        return Drain::Done;
                    }
                    // What others sent may be in any of them by now.
                    self.round_is_last = quiet;
                    self.mailboxes.iter_mut().for_each(|mailbox| mailbox.settled = false);
                }
                let news = std::mem::take(&mut self.round_news);
                self.round_left = self.mailboxes.len();
                if !news {
                    return Drain::Pause;
                }
            }
            self.round_left -= 1;
            self.rotate();
            if !self.mailbox().settled {
                return Drain::Poll;
            }
        }
    }

    /// Messages of which only the number is known.
    pub fn take_count(&mut self, count: u32, todo: MessageAction) {
        self.items = (1..=count).map(|number| Item { number, uid: 0, todo }).collect();
    }

    /// The listing of unique ids is complete.
    pub fn take_listing<'a>(&mut self, lines: impl Iterator<Item = (u32, &'a [u8])>, delete: bool) {
        let mailbox = &self.mailboxes[self.current];
        self.items.clear();
        self.items.extend(lines.map(|(number, uid)| mailbox.item(number, uid, delete)));
    }

    /// The mailbox is to be emptied and has so many messages: what is to be done with them; `None` when it was tried
    /// `most` times.
    pub fn clean(&mut self, count: u32, all: bool, most: u32) -> Option<MessageAction> {
        let mailbox = self.mailbox_mut();
        if count == 0 {
            mailbox.settled = true;
            return Some(MessageAction::LeaveAlone);
        }
        mailbox.cleanings += 1;
        if mailbox.cleanings > most {
            return None;
        }
        self.removed += if all { u64::from(count) } else { 0 };
        let todo = if all { MessageAction::Delete } else { MessageAction::Read };
        self.take_count(count, todo);
        Some(todo)
    }

    /// While emptying: the head of a message shows whose it is. Whether there are more to look at.
    pub fn sort_out(&mut self, at: usize, ours: bool, delete_ours: bool) -> bool {
        let delete = ours && delete_ours;
        self.items[at].todo = if delete { MessageAction::Delete } else { MessageAction::LeaveAlone };
        self.leftovers.ours += u64::from(ours && !delete);
        self.strangers += u32::from(!ours);
        if at + 1 < self.items.len() {
            return true;
        }
        let removed = self.items.iter().filter(|item| item.todo == MessageAction::Delete).count();
        self.removed += removed as u64;
        let strangers = std::mem::take(&mut self.strangers);
        let mailbox = &mut self.mailboxes[self.current];
        // What was deleted must be seen to be gone.
        mailbox.settled = removed == 0;
        if mailbox.settled && strangers > 0 {
            self.leftovers.foreign.push((mailbox.index, strangers));
        }
        false
    }

    /// What is to be done with the message at `at`, or the next one that concerns us.
    pub fn next_item(&self, at: u32, delete: bool) -> Option<(u32, MessageAction)> {
        let items = self.items.iter().enumerate().skip(at as usize);
        let mut todo = items.map(|(at, item)| (at as u32, item.todo));
        todo.find(|(_, todo)| *todo == MessageAction::Read || *todo == MessageAction::Delete && delete)
    }

    /// A message is complete. `kept` is its beginning; `has_uids` whether the server gave it a unique id.
    pub fn retrieved(&mut self, at: usize, message: &Inspected, kept: &[u8], has_uids: bool) {
        self.items[at].todo = if message.is_ours() { MessageAction::Delete } else { MessageAction::LeaveAlone };
        if !has_uids {
            self.items[at].uid = self.made_up_uid(at, message);
        }
        let uid = self.items[at].uid;
        let mailbox = &mut self.mailboxes[self.current];
        if !message.is_ours() && !mailbox.foreign.insert(uid) {
            return;
        }
        let gone = mailbox.known.get(&uid).is_some_and(|(id, gone)| *gone && id.is_some() && *id == message.id);
        mailbox.known.insert(uid, (message.id, false));
        if let Some(id) = message.id
            && mailbox.expected.remove(&id)
        {
            self.round_news = true;
        }
        self.entries.push(SeenCopy {
            id: message.id,
            mailbox: mailbox.index,
            uid,
            hash: message.hash,
            missed_ns: self.missed_ns,
            hit_ns: self.hit_ns,
            read_ns: 0,
            resurrected: gone,
            bounce_of: message.bounce_of,
            stale: message.stale,
            kept: message.is_damaged().then(|| kept.into()),
        });
        self.moment = Some(LedgerEvent::Read);
    }

    /// Without unique ids a copy is the how-manieth of its message in this session.
    fn made_up_uid(&self, at: usize, message: &Inspected) -> u64 {
        let same = |item: &&Item| message.id.is_some_and(|id| item.uid >> 8 == id.0 << 8 >> 8);
        let before = self.items[..at].iter().filter(same).count();
        message.id.map_or(message.hash as u64, |id| id.0 << 8 | before as u64)
    }

    /// The end of a session was confirmed: what was deleted is gone.
    pub fn confirmed(&mut self, stage: Stage) {
        if stage == Stage::Prepare {
            return;
        }
        let mailbox = &mut self.mailboxes[self.current];
        let mut deleted = false;
        for item in self.items.iter().filter(|item| item.todo == MessageAction::Delete) {
            deleted = self.count > 0;
            if let Some((_, gone)) = mailbox.known.get_mut(&item.uid) {
                *gone = true;
            }
        }
        if stage == Stage::Drain {
            self.broken = None;
            mailbox.inspection = Inspection::Whole;
            if deleted {
                // It must be seen empty once more.
                self.round_news = true;
            } else if mailbox.expected.is_empty() {
                mailbox.settled = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the drain of two mailboxes does in so many steps, all of them found empty: numbers of mailboxes, or a word.
    fn drained(outstanding: Option<u32>, quiet: &[Option<bool>]) -> Vec<String> {
        let mut reader = Reader::new(0..2, false);
        reader.expect(|mailbox| if outstanding == Some(mailbox) { HashSet::from([Id(7)]) } else { HashSet::new() });
        let mut step = |quiet: &Option<bool>| match reader.rotate_to_drain(*quiet) {
            Drain::Poll => {
                reader.confirmed(Stage::Drain);
                reader.mailbox().index.to_string()
            }
            other => format!("{other:?}"),
        };
        quiet.iter().map(&mut step).collect()
    }

    #[test]
    fn a_machine_that_knows_all_looks_until_all_has_come() {
        assert_eq!(drained(None, &[None; 4]), ["1", "0", "Done", "Done"]);
        assert_eq!(drained(Some(0), &[None; 5]), ["1", "0", "0", "Pause", "0"]);
    }

    #[test]
    fn mail_of_other_machines_is_looked_for_everywhere_until_it_has_long_been_quiet() {
        let inspections = drained(None, &[Some(false); 7]);
        assert_eq!(inspections, ["1", "0", "1", "0", "Pause", "1", "0"]);
        let inspections = drained(None, &[[Some(false); 3].as_slice(), &[Some(true); 5]].concat());
        assert_eq!(inspections, ["1", "0", "1", "0", "Pause", "1", "0", "Done"]);
        // One that is still waited for keeps none of the others from being looked at.
        assert_eq!(drained(Some(0), &[Some(true); 8]), ["1", "0", "1", "0", "Pause", "1", "0", "Pause"]);
    }
}
