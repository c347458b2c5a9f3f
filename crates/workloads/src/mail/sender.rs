//! What a sending thread knows: the message on its way, and the book of what became of all of them.

use super::ledger::{Sent, SentCopy};
use super::message::Id;
use super::reply::{Capabilities, Replies};
use bakeoff_engine::{ErrorClass, Nanos};

/// What a recipient's reply was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recipient {
    pub mailbox: u32,
    pub taken: bool,
}

/// What a thread knows as a sender.
#[derive(Debug)]
pub(crate) struct Sender {
    pub replies: Replies,
    pub capabilities: Capabilities,
    pub encrypted: bool,
    pub logged_in: bool,
    pub scratch: String,
    pub size_position: u64,
    pub recipients_position: u64,
    pub number: u32,
    pub on_connection: u32,
    /// Recipients of the message that is being sent; empty between messages.
    pub recipients: Vec<Recipient>,
    pub id: Id,
    pub bytes: usize,
    /// Where its copies begin in the book, once MAIL was sent.
    pub copies_at: usize,
    /// The copies of the message that is being sent are in the book.
    pub in_book: bool,
    /// Replies that have come for the step.
    pub replies_seen: usize,
    pub book: Vec<SentCopy>,
    /// Copies that the server took on, counted as the replies come.
    pub accepted: u64,
    pub to_stamp: bool,
}

impl Sender {
    pub fn new(size_position: u64, recipients_position: u64) -> Self {
        Self {
            replies: Replies::default(),
            capabilities: Capabilities::default(),
            encrypted: false,
            logged_in: false,
            scratch: String::new(),
            size_position,
            recipients_position,
            number: 0,
            on_connection: 0,
            recipients: Vec::new(),
            id: Id(0),
            bytes: 0,
            copies_at: 0,
            in_book: false,
            replies_seen: 0,
            book: Vec::new(),
            accepted: 0,
            to_stamp: false,
        }
    }

    /// The final replies of a message came at this moment.
    pub fn stamp(&mut self, now_ns: Nanos) {
        if self.to_stamp {
            self.to_stamp = false;
            self.book[self.copies_at..].iter_mut().for_each(|copy| copy.at_ns = now_ns);
        }
    }

    /// What the server took on: mailbox and id.
    pub fn accepted_copies(&self) -> impl Iterator<Item = (u32, Id)> + '_ {
        self.book.iter().filter(|copy| copy.outcome == Sent::Accepted).map(|copy| (copy.mailbox, copy.id))
    }

    /// Ends the message that is being sent.
    pub fn forget(&mut self) {
        self.recipients.clear();
        self.in_book = false;
    }

    /// The first answer about a copy is the one that counts.
    pub fn settle(&mut self, at: usize, outcome: Sent) {
        let copy = &mut self.book[self.copies_at + at];
        if !self.in_book || copy.outcome != Sent::NotSent {
            return;
        }
        copy.outcome = outcome;
        if outcome == Sent::Accepted {
            self.accepted += 1;
        }
    }

    /// The same outcome for every recipient that was taken.
    pub fn settle_taken(&mut self, outcome: Sent) {
        for at in 0..self.recipients.len() {
            if self.recipients[at].taken {
                self.settle(at, outcome);
            }
        }
    }

    pub fn any_taken(&self) -> bool {
        self.recipients.iter().any(|recipient| recipient.taken)
    }

    /// What refusing some recipients amounts to.
    pub fn refusal(&self) -> ErrorClass {
        let copies = &self.book[self.copies_at..];
        let permanent = copies.iter().any(|copy| copy.outcome == Sent::Permanent);
        if permanent { ErrorClass::WrongStatus } else { ErrorClass::PutOff }
    }

    /// What became of the body for the recipients that were taken before: `None` when it was taken for all of them.
    pub fn refusal_of_taken(&self) -> Option<ErrorClass> {
        let copies = self.book[self.copies_at..].iter().zip(&self.recipients);
        let mut taken = copies.filter(|(_, recipient)| recipient.taken).map(|(copy, _)| copy.outcome).peekable();
        if taken.peek().is_none() {
            // The server asked for a body that nobody was to get.
            return Some(ErrorClass::WrongStatus);
        }
        taken
            .find(|outcome| *outcome != Sent::Accepted)
            .map(|outcome| if outcome == Sent::Permanent { ErrorClass::WrongStatus } else { ErrorClass::PutOff })
    }
}
