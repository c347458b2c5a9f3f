//! Sending: one SMTP or LMTP session, step by step.

use super::ledger::{Sent, SentCopy};
use super::message::{Envelope, Id, render};
use super::operation::Operation;
use super::refusals::Refusal;
use super::reply::{Capabilities, Reply};
use super::sender::Recipient;
use super::session::{MailSession, Work};
use super::spec::{Protocol, Security};
use bakeoff_engine::{Actions, ErrorClass, Progress};
use std::io::Write as _;
use std::sync::Arc;

/// Where a sending session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Connect,
    Hello,
    StartTls,
    /// The handshake after `STARTTLS`.
    Secure,
    Login,
    Mail,
    Recipient(u32),
    Data,
    /// MAIL, RCPT and DATA in one go.
    Envelope,
    Body,
    Quit,
}

/// The outcome that a refusing reply means.
fn refused(code: u16) -> Sent {
    if code < 500 { Sent::Temporary } else { Sent::Permanent }
}

/// 4xx is an honest answer: not now. 5xx to what a server was set up to take is a wrong one.
fn class_of(code: u16) -> ErrorClass {
    if (400..500).contains(&code) { ErrorClass::PutOff } else { ErrorClass::WrongStatus }
}

impl MailSession {
    fn is_lmtp(&self) -> bool {
        self.plan.smtp.as_ref().is_some_and(|smtp| smtp.protocol == Protocol::Lmtp)
    }

    /// Fills `out` with what the step sends.
    pub(crate) fn begin_smtp(&mut self, step: Step, actions: &mut Actions) {
        let plan = Arc::clone(&self.plan);
        let Some(smtp) = &plan.smtp else { return };
        self.sender.replies_seen = 0;
        self.operation = match step {
            Step::Connect => {
                actions.connect = Some(plan.smtp_endpoint());
                self.sender.replies.clear();
                self.sender.encrypted = smtp.security == Security::Tls;
                self.sender.logged_in = false;
                self.sender.on_connection = 0;
                Operation::SmtpConnect
            }
            Step::Hello => {
                let verb = if smtp.protocol == Protocol::Lmtp { "LHLO" } else { "EHLO" };
                self.say(format_args!("{verb} {}\r\n", smtp.hello));
                Operation::SmtpHello
            }
            Step::StartTls | Step::Secure => {
                self.say(format_args!("STARTTLS\r\n"));
                Operation::SmtpStartTls
            }
            Step::Login => {
                let account = &plan.mailboxes[self.first_mailbox()];
                let token = super::sasl::plain_token(&account.user, &account.password);
                self.say(format_args!("AUTH PLAIN {token}\r\n"));
                Operation::SmtpLogin
            }
            Step::Mail => {
                self.say_mail();
                Operation::SmtpMail
            }
            Step::Recipient(at) => {
                self.say_recipient(at as usize);
                Operation::SmtpRecipient
            }
            Step::Data => {
                self.say(format_args!("DATA\r\n"));
                Operation::SmtpData
            }
            Step::Envelope => {
                self.say_mail();
                (0..self.sender.recipients.len()).for_each(|at| self.say_recipient(at));
                self.say(format_args!("DATA\r\n"));
                Operation::SmtpEnvelope
            }
            Step::Body => {
                self.say_body();
                actions.stamp_written = true;
                Operation::SmtpBody
            }
            Step::Quit => {
                self.say(format_args!("QUIT\r\n"));
                Operation::SmtpQuit
            }
        };
    }

    pub(crate) fn say(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to memory cannot fail.
        let _ = self.out.write_fmt(text);
    }

    pub(crate) fn first_mailbox(&self) -> usize {
        (self.identity.client * self.plan.per_client) as usize
    }

    fn say_mail(&mut self) {
        if self.sender.recipients.is_empty() {
            self.deal();
        }
        let sender = &mut self.sender;
        sender.copies_at = sender.book.len();
        let copy = |recipient: &Recipient| SentCopy {
            id: sender.id,
            mailbox: recipient.mailbox,
            bytes: sender.bytes as u32,
            outcome: Sent::NotSent,
            hash: 0,
            at_ns: 0,
        };
        let copies: Vec<_> = sender.recipients.iter().map(copy).collect();
        sender.book.extend(copies);
        sender.in_book = true;
        let plan = Arc::clone(&self.plan);
        let from = plan.sender.as_deref().unwrap_or(&plan.mailboxes[self.first_mailbox()].address);
        if self.sender.capabilities.size {
            let bytes = self.sender.bytes;
            self.say(format_args!("MAIL FROM:<{from}> SIZE={bytes}\r\n"));
        } else {
            self.say(format_args!("MAIL FROM:<{from}>\r\n"));
        }
    }

    fn say_recipient(&mut self, at: usize) {
        let plan = Arc::clone(&self.plan);
        let mailbox = self.sender.recipients[at].mailbox as usize;
        self.say(format_args!("RCPT TO:<{}>\r\n", plan.mailboxes[mailbox].address));
    }

    /// Takes the next message's size and recipients from the decks.
    fn deal(&mut self) {
        let (plan, sender) = (&self.plan, &mut self.sender);
        sender.id = Id::new(self.identity.client, self.identity.thread, sender.number);
        sender.number = sender.number.wrapping_add(1);
        sender.bytes = plan.sizes.card(sender.size_position) as usize;
        sender.size_position += 1;
        let count = plan.recipients.card(sender.recipients_position) as usize;
        sender.recipients_position += 1;
        let all = plan.mailboxes.len() as u64;
        while sender.recipients.len() < count {
            let mailbox = self.rng.below(all) as u32;
            if sender.recipients.iter().all(|recipient| recipient.mailbox != mailbox) {
                sender.recipients.push(Recipient { mailbox, taken: false });
            }
        }
    }

    fn say_body(&mut self) {
        if !self.sender.any_taken() {
            // The server asked for a body that nobody is to get: an empty one ends the transaction.
            self.out.extend_from_slice(b".\r\n");
            return;
        }
        let plan = Arc::clone(&self.plan);
        let from = plan.sender.as_deref().unwrap_or(&plan.mailboxes[self.first_mailbox()].address);
        let sender = &mut self.sender;
        let to = &plan.mailboxes[sender.recipients[0].mailbox as usize].address;
        let envelope = Envelope { run: &plan.run, id: sender.id, from, to, bytes: sender.bytes };
        let hash = render(&mut self.out, &mut sender.scratch, &plan.pool, &mut self.rng, envelope);
        sender.book[sender.copies_at..].iter_mut().for_each(|copy| copy.hash = hash);
    }

    /// Takes bytes of the server.
    pub(crate) fn smtp_received(&mut self, mut bytes: &[u8], actions: &mut Actions) -> Progress {
        loop {
            let Work::Send(step) = self.work else { return Progress::Pending };
            match self.sender.replies.next(&mut bytes, step == Step::Hello) {
                Ok(None) => return Progress::Pending,
                Err(error) => return self.smtp_broken(step, error, actions),
                Ok(Some(reply)) => {
                    if let Some(progress) = self.smtp_reply(step, &reply, actions) {
                        let over = self.work == Work::Idle;
                        return if bytes.is_empty() || over {
                            progress
                        } else {
                            self.smtp_broken(step, ErrorClass::Protocol, actions)
                        };
                    }
                    if actions.secure && !bytes.is_empty() {
                        // Clear text behind the answer to STARTTLS would be taken for protected.
                        return self.smtp_broken(step, ErrorClass::Protocol, actions);
                    }
                }
            }
        }
    }

    /// The server broke the protocol: nothing more can be done with this connection.
    fn smtp_broken(&mut self, step: Step, error: ErrorClass, actions: &mut Actions) -> Progress {
        self.smtp_lost(step, error);
        self.hang_up(actions);
        self.failed(Work::Idle, error, 0)
    }

    /// One reply; `None` when the step needs more.
    fn smtp_reply(&mut self, step: Step, reply: &Reply, actions: &mut Actions) -> Option<Progress> {
        let code = reply.code;
        if code == 421 && !matches!(step, Step::Connect | Step::Quit) {
            return Some(self.smtp_closing(reply, actions));
        }
        let progress = match step {
            Step::Connect if code == 220 => self.done(Work::Send(Step::Hello), code),
            Step::Connect => {
                self.refused(if code < 500 { Refusal::Busy } else { Refusal::Denied }, &said(reply));
                self.hang_up(actions);
                // Not a wrong answer but none: as with a refused connection, the next try comes later.
                self.failed(Work::Idle, ErrorClass::Refused, code)
            }
            Step::Hello => self.hello_reply(reply, actions),
            Step::StartTls if code == 220 => {
                actions.secure = true;
                self.sender.encrypted = true;
                self.work = Work::Send(Step::Secure);
                return None;
            }
            Step::Login if code == 235 => {
                self.sender.logged_in = true;
                let next = self.transaction();
                self.done(Work::Send(next), code)
            }
            Step::StartTls | Step::Secure | Step::Login => {
                self.measured.sample(&said(reply));
                self.failed(Work::Send(Step::Quit), class_of(code), code)
            }
            Step::Mail if code < 300 => self.done(Work::Send(Step::Recipient(0)), code),
            Step::Mail => self.message_refused(reply),
            Step::Recipient(at) => self.recipient_reply(at as usize, reply),
            Step::Data if code == 354 => self.done(Work::Send(Step::Body), code),
            Step::Data => self.message_refused(reply),
            Step::Envelope => return self.envelope_reply(reply),
            Step::Body => return self.body_reply(reply),
            Step::Quit => {
                self.hang_up(actions);
                self.done(Work::Idle, code)
            }
        };
        Some(progress)
    }

    /// 421: the server goes away. What it did not confirm it did not take.
    fn smtp_closing(&mut self, reply: &Reply, actions: &mut Actions) -> Progress {
        self.refused(Refusal::Busy, &said(reply));
        if self.sender.in_book {
            for at in 0..self.sender.recipients.len() {
                self.sender.settle(at, Sent::Temporary);
            }
            self.sender.forget();
        }
        self.hang_up(actions);
        self.failed(Work::Idle, ErrorClass::PutOff, 421)
    }

    fn hello_reply(&mut self, reply: &Reply, actions: &mut Actions) -> Progress {
        if reply.code != 250 {
            self.measured.sample(&said(reply));
            return self.failed(Work::Send(Step::Quit), class_of(reply.code), reply.code);
        }
        self.sender.capabilities = Capabilities::from_ehlo(&reply.text);
        let Some(smtp) = &self.plan.smtp else { return Progress::Pending };
        let (wants_tls, wants_login) = (smtp.security == Security::StartTls, smtp.auth);
        if wants_tls && !self.sender.encrypted {
            if self.sender.capabilities.starttls {
                return self.done(Work::Send(Step::StartTls), reply.code);
            }
            self.refused(Refusal::Tls, "the SMTP server does not offer STARTTLS");
            self.hang_up(actions);
            return self.failed(Work::Idle, ErrorClass::Tls, reply.code);
        }
        if wants_login && !self.sender.logged_in {
            return self.done(Work::Send(Step::Login), reply.code);
        }
        let next = self.transaction();
        self.done(Work::Send(next), reply.code)
    }

    /// How the next message begins.
    fn transaction(&mut self) -> Step {
        let wanted = self.plan.smtp.as_ref().is_some_and(|smtp| smtp.pipelining);
        if wanted && self.sender.capabilities.pipelining {
            if self.sender.recipients.is_empty() {
                self.deal();
            }
            return Step::Envelope;
        }
        Step::Mail
    }

    /// MAIL or DATA was refused: no recipient gets the message.
    fn message_refused(&mut self, reply: &Reply) -> Progress {
        self.measured.sample(&said(reply));
        let outcome = refused(reply.code);
        for at in 0..self.sender.recipients.len() {
            self.sender.settle(at, outcome);
        }
        self.sender.forget();
        self.failed(Work::Send(Step::Quit), class_of(reply.code), reply.code)
    }

    fn recipient_answer(&mut self, at: usize, reply: &Reply) -> bool {
        let taken = reply.code < 300;
        self.sender.recipients[at].taken = taken;
        if !taken {
            self.measured.sample(&said(reply));
            self.sender.settle(at, refused(reply.code));
        }
        taken
    }

    fn recipient_reply(&mut self, at: usize, reply: &Reply) -> Progress {
        let taken = self.recipient_answer(at, reply);
        let next = if at + 1 < self.sender.recipients.len() {
            Step::Recipient(at as u32 + 1)
        } else if self.sender.any_taken() {
            Step::Data
        } else {
            self.sender.forget();
            Step::Quit
        };
        if taken {
            return self.done(Work::Send(next), reply.code);
        }
        self.failed(Work::Send(next), class_of(reply.code), reply.code)
    }

    /// The replies to MAIL, each RCPT and DATA, in this order.
    fn envelope_reply(&mut self, reply: &Reply) -> Option<Progress> {
        let at = self.sender.replies_seen;
        self.sender.replies_seen += 1;
        let recipients = self.sender.recipients.len();
        if at == 0 {
            if reply.code >= 300 {
                self.measured.sample(&said(reply));
                (0..recipients).for_each(|at| self.sender.settle(at, refused(reply.code)));
            }
            return None;
        }
        if at <= recipients {
            self.recipient_answer(at - 1, reply);
            return None;
        }
        let refused_some = self.sender.recipients.iter().any(|recipient| !recipient.taken);
        if reply.code != 354 {
            return Some(self.message_refused(reply));
        }
        if refused_some {
            let error = self.sender.refusal();
            return Some(self.failed(Work::Send(Step::Body), error, reply.code));
        }
        Some(self.done(Work::Send(Step::Body), reply.code))
    }

    /// The final replies: one, or with LMTP one for each recipient that was taken.
    fn body_reply(&mut self, reply: &Reply) -> Option<Progress> {
        let outcome = if reply.code < 300 { Sent::Accepted } else { refused(reply.code) };
        if reply.code >= 300 {
            self.measured.sample(&said(reply));
        }
        if self.is_lmtp() && self.sender.any_taken() {
            let mut taken = (0..self.sender.recipients.len()).filter(|at| self.sender.recipients[*at].taken);
            let at = taken.nth(self.sender.replies_seen);
            let more = taken.next().is_some();
            if let Some(at) = at {
                self.sender.settle(at, outcome);
            }
            self.sender.replies_seen += 1;
            if more {
                return None;
            }
        } else {
            self.sender.settle_taken(outcome);
        }
        self.sender.to_stamp = true;
        // Recipients that were refused before have had their error.
        let refusal = self.sender.refusal_of_taken();
        self.sender.forget();
        self.sender.on_connection += 1;
        let most = self.plan.smtp.as_ref().map_or(1, |smtp| smtp.messages_per_connection);
        let next = if self.sender.on_connection < most { self.transaction() } else { Step::Quit };
        match refusal {
            None => Some(self.done(Work::Send(next), reply.code)),
            Some(error) => Some(self.failed(Work::Send(next), error, reply.code)),
        }
    }

    /// The connection is gone in the middle of a step.
    pub(crate) fn smtp_lost(&mut self, step: Step, error: ErrorClass) {
        if step == Step::Connect {
            self.refused(Refusal::of(error), "");
        } else if error == ErrorClass::Tls {
            self.refused(Refusal::Tls, "");
        }
        self.smtp_cut(step);
    }

    /// What the books say about a message that was cut off: in doubt once its body was out, else not sent.
    pub(crate) fn smtp_cut(&mut self, step: Step) {
        let begun =
            !matches!(step, Step::Connect | Step::Hello | Step::StartTls | Step::Secure | Step::Login | Step::Quit);
        // The step may not have begun when the stage ends.
        if step == Step::Body && self.operation == Operation::SmtpBody {
            for at in 0..self.sender.recipients.len() {
                if self.sender.recipients[at].taken {
                    self.sender.settle(at, Sent::Unknown);
                }
            }
        }
        if begun {
            // A message whose MAIL is still to be sent keeps its place.
            self.sender.forget();
        }
        self.sender.replies.clear();
    }
}

/// A reply as the server said it, when its text was kept.
fn said(reply: &Reply) -> String {
    format!("{} {}", reply.code, reply.text.lines().next().unwrap_or_default())
}
