//! Sending: one SMTP or LMTP session, step by step.

mod replies;
pub(super) mod sender;
mod step;

use super::figures::refusals::Refusal;
use super::ledger::Sent;
use super::operation::Operation;
use super::session::dialogue::{Dialogue, StepExchange};
use super::session::sasl::plain_token;
use super::session::thread::Thread;
use super::spec::{Security, SmtpSpec};
use bakeoff_engine::{Actions, ErrorClass, Progress};
pub(crate) use replies::Replies;
use replies::{Capabilities, Reply};
use sender::Sender;
pub(crate) use step::{State, Step};

/// The state machine, with what it borrows of its session.
pub(crate) struct Smtp<'a> {
    pub state: &'a mut State,
    pub sender: &'a mut Sender,
    pub thread: &'a mut Thread,
    pub exchange: &'a mut StepExchange,
}

impl Dialogue for Smtp<'_> {
    fn open(&mut self) {
        self.state.step = Some(Step::Connect);
    }

    fn is_over(&self) -> bool {
        self.state.step.is_none()
    }

    fn begin(&mut self, actions: &mut Actions) {
        if let Some(step) = self.state.step {
            self.state.replies_seen = 0;
            self.exchange.operation = step.operation();
            self.say(step, actions);
        }
    }

    fn received(&mut self, mut bytes: &[u8], actions: &mut Actions) -> Progress {
        loop {
            let Some(step) = self.state.step else { return Progress::Pending };
            match self.state.replies.next(&mut bytes, step == Step::Hello) {
                Ok(None) => return Progress::Pending,
                Err(error) => return self.broken(error, actions),
                Ok(Some(reply)) => {
                    if let Some(progress) = self.reply(step, &reply, actions) {
                        return if bytes.is_empty() || self.is_over() {
                            progress
                        } else {
                            self.state.step = Some(step);
                            self.broken(ErrorClass::Protocol, actions)
                        };
                    }
                    if actions.secure && !bytes.is_empty() {
                        // Clear text behind the answer to STARTTLS would be taken for protected.
                        return self.broken(ErrorClass::Protocol, actions);
                    }
                }
            }
        }
    }

    fn connected(&mut self) -> Progress {
        match self.state.step {
            Some(Step::Secure) => self.done(Step::Hello, 220),
            // The banner is still to come.
            _ => Progress::Pending,
        }
    }

    fn lost(&mut self, error: ErrorClass) {
        if self.state.step == Some(Step::Connect) {
            self.thread.refused(Refusal::of(error), "");
        } else if error == ErrorClass::Tls {
            self.thread.refused(Refusal::Tls, "");
        }
        self.cut();
    }

    /// What the ledger says about a message that was cut off: in doubt once its body was out, else not sent.
    fn cut(&mut self) {
        match self.state.step.take() {
            None | Some(Step::Connect | Step::Hello | Step::StartTls | Step::Secure | Step::Login | Step::Quit) => {}
            Some(step) => {
                // The step may not have begun when the stage ends.
                if step == Step::Body && self.exchange.operation == Operation::SmtpBody {
                    self.sender.settle_taken(Sent::Unknown);
                }
                // A message whose MAIL is still to be sent keeps its place.
                self.sender.forget();
            }
        }
        self.state.replies.clear();
    }
}

impl Smtp<'_> {
    fn spec(&self) -> Option<&SmtpSpec> {
        self.thread.plan.smtp.as_ref()
    }

    /// The step succeeded; `next` is what follows.
    fn done(&mut self, next: Step, code: u16) -> Progress {
        self.state.step = Some(next);
        self.exchange.done(code)
    }

    /// The step failed; `next` is what follows.
    fn failed(&mut self, next: Step, error: ErrorClass, code: u16) -> Progress {
        self.state.step = Some(next);
        self.exchange.failed(error, code)
    }

    /// Gives the connection up.
    fn hang_up(&mut self, actions: &mut Actions) {
        actions.close = true;
        self.state.step = None;
    }

    /// Fills `out` with what the step sends.
    fn say(&mut self, step: Step, actions: &mut Actions) {
        let (plan, state, exchange) = (&self.thread.plan, &mut *self.state, &mut *self.exchange);
        match step {
            Step::Connect => {
                actions.connect = Some(plan.smtp_endpoint());
                state.replies.clear();
                state.encrypted = plan.smtp.as_ref().is_some_and(|smtp| smtp.security == Security::Tls);
                state.logged_in = false;
                state.messages = 0;
            }
            Step::Hello => {
                let name = plan.smtp.as_ref().map_or("", |smtp| &smtp.hello);
                let verb = if plan.is_lmtp() { "LHLO" } else { "EHLO" };
                exchange.say(format_args!("{verb} {name}\r\n"));
            }
            Step::StartTls | Step::Secure => exchange.say(format_args!("STARTTLS\r\n")),
            Step::Login => {
                let account = plan.account(self.thread.identity.client);
                let token = plain_token(&account.user, &account.password);
                exchange.say(format_args!("AUTH PLAIN {token}\r\n"));
            }
            Step::Mail => self.say_mail(),
            Step::Recipient(at) => self.say_recipient(at as usize),
            Step::Data => exchange.say(format_args!("DATA\r\n")),
            Step::Envelope => {
                self.say_mail();
                (0..self.sender.recipients.len()).for_each(|at| self.say_recipient(at));
                self.exchange.say(format_args!("DATA\r\n"));
            }
            Step::Body => {
                actions.stamp_written = true;
                if self.sender.any_taken() {
                    self.sender.render(self.thread, &mut exchange.out);
                } else {
                    // The server asked for a body that nobody is to get: an empty one ends the transaction.
                    exchange.say(format_args!(".\r\n"));
                }
            }
            Step::Quit => exchange.say(format_args!("QUIT\r\n")),
        }
    }

    fn say_mail(&mut self) {
        if self.sender.recipients.is_empty() {
            self.sender.deal(self.thread);
        }
        self.sender.enter();
        let from = self.thread.plan.return_path(self.thread.identity.client);
        if self.state.capabilities.size {
            let bytes = self.sender.bytes;
            self.exchange.say(format_args!("MAIL FROM:<{from}> SIZE={bytes}\r\n"));
        } else {
            self.exchange.say(format_args!("MAIL FROM:<{from}>\r\n"));
        }
    }

    fn say_recipient(&mut self, at: usize) {
        let mailbox = self.sender.recipients[at].mailbox as usize;
        self.exchange.say(format_args!("RCPT TO:<{}>\r\n", self.thread.plan.mailboxes[mailbox].address));
    }

    /// The server broke the protocol: nothing more can be done with this connection.
    fn broken(&mut self, error: ErrorClass, actions: &mut Actions) -> Progress {
        self.lost(error);
        self.hang_up(actions);
        self.exchange.failed(error, 0)
    }

    /// One reply; `None` when the step needs more.
    fn reply(&mut self, step: Step, reply: &Reply, actions: &mut Actions) -> Option<Progress> {
        let code = reply.code;
        if code == 421 && !matches!(step, Step::Connect | Step::Quit) {
            return Some(self.closing(reply, actions));
        }
        let progress = match step {
            Step::Connect if code == 220 => self.done(Step::Hello, code),
            Step::Connect => {
                self.thread.refused(if code < 500 { Refusal::Busy } else { Refusal::Denied }, &reply.quoted());
                self.hang_up(actions);
                // Not a wrong answer but none: as with a refused connection, the next try comes later.
                self.exchange.failed(ErrorClass::Refused, code)
            }
            Step::Hello => self.hello_reply(reply, actions),
            Step::StartTls if code == 220 => {
                actions.secure = true;
                self.state.encrypted = true;
                self.state.step = Some(Step::Secure);
                return None;
            }
            Step::Login if code == 235 => {
                self.state.logged_in = true;
                let next = self.transaction();
                self.done(next, code)
            }
            Step::StartTls | Step::Secure | Step::Login => {
                self.thread.measured.sample(&reply.quoted());
                self.failed(Step::Quit, reply.class(), code)
            }
            Step::Mail if code < 300 => self.done(Step::Recipient(0), code),
            Step::Mail => self.message_refused(reply),
            Step::Recipient(at) => self.recipient_reply(at as usize, reply),
            Step::Data if code == 354 => self.done(Step::Body, code),
            Step::Data => self.message_refused(reply),
            Step::Envelope => return self.envelope_reply(reply),
            Step::Body => return self.body_reply(reply),
            Step::Quit => {
                self.hang_up(actions);
                self.exchange.done(code)
            }
        };
        Some(progress)
    }

    /// 421: the server goes away. What it did not confirm it did not take.
    fn closing(&mut self, reply: &Reply, actions: &mut Actions) -> Progress {
        self.thread.refused(Refusal::Busy, &reply.quoted());
        if self.sender.in_entries {
            self.sender.settle_all(Sent::Temporary);
            self.sender.forget();
        }
        self.hang_up(actions);
        self.exchange.failed(ErrorClass::PutOff, 421)
    }

    fn hello_reply(&mut self, reply: &Reply, actions: &mut Actions) -> Progress {
        if reply.code != 250 {
            self.thread.measured.sample(&reply.quoted());
            return self.failed(Step::Quit, reply.class(), reply.code);
        }
        self.state.capabilities = Capabilities::from_ehlo(&reply.text);
        let Some(smtp) = self.spec() else { return Progress::Pending };
        let (wants_tls, wants_login) = (smtp.security == Security::StartTls, smtp.auth);
        if wants_tls && !self.state.encrypted {
            if self.state.capabilities.starttls {
                return self.done(Step::StartTls, reply.code);
            }
            self.thread.refused(Refusal::Tls, "the SMTP server does not offer STARTTLS");
            self.hang_up(actions);
            return self.exchange.failed(ErrorClass::Tls, reply.code);
        }
        if wants_login && !self.state.logged_in {
            return self.done(Step::Login, reply.code);
        }
        let next = self.transaction();
        self.done(next, reply.code)
    }

    /// How the next message begins.
    fn transaction(&mut self) -> Step {
        let wanted = self.spec().is_some_and(|smtp| smtp.pipelining);
        if wanted && self.state.capabilities.pipelining {
            if self.sender.recipients.is_empty() {
                self.sender.deal(self.thread);
            }
            return Step::Envelope;
        }
        Step::Mail
    }

    /// MAIL or DATA was refused: no recipient gets the message.
    fn message_refused(&mut self, reply: &Reply) -> Progress {
        self.thread.measured.sample(&reply.quoted());
        self.sender.settle_all(reply.refused());
        self.sender.forget();
        self.failed(Step::Quit, reply.class(), reply.code)
    }

    fn recipient_answer(&mut self, at: usize, reply: &Reply) -> bool {
        let taken = reply.code < 300;
        self.sender.recipients[at].taken = taken;
        if !taken {
            self.thread.measured.sample(&reply.quoted());
            self.sender.settle(at, reply.refused());
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
            return self.done(next, reply.code);
        }
        self.failed(next, reply.class(), reply.code)
    }

    /// The replies to MAIL, each RCPT and DATA, in this order.
    fn envelope_reply(&mut self, reply: &Reply) -> Option<Progress> {
        let at = self.state.replies_seen;
        self.state.replies_seen += 1;
        if at == 0 {
            if reply.code >= 300 {
                self.thread.measured.sample(&reply.quoted());
                self.sender.settle_all(reply.refused());
            }
            return None;
        }
        if at <= self.sender.recipients.len() {
            self.recipient_answer(at - 1, reply);
            return None;
        }
        let refused_some = self.sender.recipients.iter().any(|recipient| !recipient.taken);
        if reply.code != 354 {
            return Some(self.message_refused(reply));
        }
        if refused_some {
            let error = self.sender.refusal();
            return Some(self.failed(Step::Body, error, reply.code));
        }
        Some(self.done(Step::Body, reply.code))
    }

    /// The final replies: one, or with LMTP one for each recipient that was taken.
    fn body_reply(&mut self, reply: &Reply) -> Option<Progress> {
        let outcome = if reply.code < 300 { Sent::Accepted } else { reply.refused() };
        if reply.code >= 300 {
            self.thread.measured.sample(&reply.quoted());
        }
        if self.thread.plan.is_lmtp() && self.sender.any_taken() {
            let mut taken = (0..self.sender.recipients.len()).filter(|at| self.sender.recipients[*at].taken);
            let at = taken.nth(self.state.replies_seen);
            let more = taken.next().is_some();
            if let Some(at) = at {
                self.sender.settle(at, outcome);
            }
            self.state.replies_seen += 1;
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
        self.state.messages += 1;
        let most = self.spec().map_or(1, |smtp| smtp.messages_per_connection);
        let next = if self.state.messages < most { self.transaction() } else { Step::Quit };
        match refusal {
            None => Some(self.done(next, reply.code)),
            Some(error) => Some(self.failed(next, error, reply.code)),
        }
    }
}
