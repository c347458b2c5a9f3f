//! What a sending thread knows: the message on its way, and the ledger of what became of all of them.

use crate::mail::ledger::message::{Envelope, Id, render};
use crate::mail::ledger::{Sent, SentCopy};
use crate::mail::session::thread::Thread;
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
    scratch: String,
    /// Where it is in the decks of sizes and numbers of recipients.
    size_position: u64,
    recipients_position: u64,
    number: u32,
    /// Recipients of the message that is being sent; empty between messages.
    pub recipients: Vec<Recipient>,
    id: Id,
    pub bytes: usize,
    /// Where its copies begin in the ledger, once MAIL was sent.
    copies_at: usize,
    /// The copies of the message that is being sent are in the ledger.
    pub in_entries: bool,
    /// A message was entered that [`Sender::last_copies`] has not told of.
    is_new: bool,
    pub entries: Vec<SentCopy>,
    /// Copies that the server took on, counted as the replies come.
    pub accepted: u64,
    /// The final replies of a message have just come.
    pub to_stamp: bool,
}

impl Sender {
    pub fn new(size_position: u64, recipients_position: u64) -> Self {
        Self {
            scratch: String::new(),
            size_position,
            recipients_position,
            number: 0,
            recipients: Vec::new(),
            id: Id(0),
            bytes: 0,
            copies_at: 0,
            in_entries: false,
            is_new: false,
            entries: Vec::new(),
            accepted: 0,
            to_stamp: false,
        }
    }

    /// Takes the next message's size and recipients from the decks.
    pub fn deal(&mut self, thread: &mut Thread) {
        let plan = &thread.plan;
        self.id = Id::new(thread.identity.client, thread.identity.vu, self.number);
        self.number = self.number.wrapping_add(1);
        self.bytes = plan.sizes.card(self.size_position) as usize;
        self.size_position += 1;
        let count = plan.recipients.card(self.recipients_position) as usize;
        self.recipients_position += 1;
        let all = plan.mailboxes.len() as u64;
        while self.recipients.len() < count {
            let mailbox = thread.rng.below(all) as u32;
            if self.recipients.iter().all(|recipient| recipient.mailbox != mailbox) {
                self.recipients.push(Recipient { mailbox, taken: false });
            }
        }
    }

    /// Enters the copies of the message in the ledger: it is on its way.
    pub fn enter(&mut self) {
        self.copies_at = self.entries.len();
        let (id, bytes) = (self.id, self.bytes as u32);
        let copy = |recipient: &Recipient| SentCopy {
            id,
            mailbox: recipient.mailbox,
            bytes,
            outcome: Sent::NotSent,
            hash: 0,
            at_ns: 0,
        };
        self.entries.extend(self.recipients.iter().map(copy));
        self.in_entries = true;
        self.is_new = true;
    }

    /// Appends the message as it is sent to `out`.
    pub fn render(&mut self, thread: &mut Thread, out: &mut Vec<u8>) {
        let plan = &thread.plan;
        let to = &plan.mailboxes[self.recipients[0].mailbox as usize].address;
        let from = plan.return_path(thread.identity.client);
        let envelope = Envelope { run: &plan.run, id: self.id, from, to, bytes: self.bytes };
        let hash = render(out, &mut self.scratch, &plan.pool, &mut thread.rng, envelope);
        self.entries[self.copies_at..].iter_mut().for_each(|copy| copy.hash = hash);
    }

    /// The final replies of a message came at this moment.
    pub fn stamp(&mut self, now_ns: Nanos) {
        if self.to_stamp {
            self.to_stamp = false;
            self.entries[self.copies_at..].iter_mut().for_each(|copy| copy.at_ns = now_ns);
        }
    }

    /// What the server took on: mailbox and id.
    pub fn accepted_copies(&self) -> impl Iterator<Item = (u32, Id)> + '_ {
        self.entries.iter().filter(|copy| copy.outcome == Sent::Accepted).map(|copy| (copy.mailbox, copy.id))
    }

    /// The copies of the message that was entered last, once; none where it never came to that.
    pub fn last_copies(&mut self) -> &[SentCopy] {
        if std::mem::take(&mut self.is_new) { &self.entries[self.copies_at..] } else { &[] }
    }

    /// Ends the message that is being sent.
    pub fn forget(&mut self) {
        self.recipients.clear();
        self.in_entries = false;
    }

    /// The first answer about a copy is the one that counts.
    pub fn settle(&mut self, at: usize, outcome: Sent) {
        let copy = &mut self.entries[self.copies_at + at];
        if !self.in_entries || copy.outcome != Sent::NotSent {
            return;
        }
        copy.outcome = outcome;
        if outcome == Sent::Accepted {
            self.accepted += 1;
        }
    }

    /// The same outcome for every recipient.
    pub fn settle_all(&mut self, outcome: Sent) {
        (0..self.recipients.len()).for_each(|at| self.settle(at, outcome));
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
        let copies = &self.entries[self.copies_at..];
        let permanent = copies.iter().any(|copy| copy.outcome == Sent::Permanent);
        if permanent { ErrorClass::WrongStatus } else { ErrorClass::PutOff }
    }

    /// What became of the body for the recipients that were taken before: `None` when it was taken for all of them.
    pub fn refusal_of_taken(&self) -> Option<ErrorClass> {
        let copies = self.entries[self.copies_at..].iter().zip(&self.recipients);
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
