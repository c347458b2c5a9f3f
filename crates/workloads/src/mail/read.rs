//! Reading: one POP3 session, step by step.

use super::operation::Operation;
use super::pop3::{Capabilities, stat};
use super::reader::{Item, State};
use super::refusals::Refusal;
use super::sasl::plain_token;
use super::session::{MailSession, Work};
use super::spec::{Initialise, Login, Security};
use bakeoff_engine::{Actions, ErrorClass, Progress, Stage};
use std::sync::Arc;

/// Where a reading session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Connect,
    Capabilities,
    StartTls,
    /// The handshake after `STLS`.
    Secure,
    User,
    Pass,
    /// `AUTH PLAIN`.
    Login,
    Stat,
    Uidl,
    List,
    /// The head of a message that is there before the trial: whose is it?
    Head(u32),
    Retrieve(u32),
    Delete(u32),
    Quit,
}

/// Longest listing that is taken, bytes.
const LISTING_BYTES_MAX: usize = 64 << 20;
/// Longest list of capabilities, bytes.
const CAPABILITIES_BYTES_MAX: usize = 64 << 10;
/// Lines of a body that are looked at for the id of a message that a report of failed delivery is about.
const HEAD_LINES: u32 = 60;
/// A mailbox that is not empty after so many attempts is kept full by someone.
const CLEANINGS_MAX: u32 = 10;

impl MailSession {
    /// Fills `out` with what the step sends.
    pub(crate) fn begin_pop3(&mut self, step: Step, actions: &mut Actions) {
        let plan = Arc::clone(&self.plan);
        let Some(pop3) = &plan.pop3 else { return };
        let account = &plan.mailboxes[self.reader.mailboxes[self.reader.current].index as usize];
        self.operation = match step {
            Step::Connect => {
                actions.connect = Some(plan.pop3_endpoint());
                self.reader.responses.clear();
                self.reader.encrypted = pop3.security == Security::Tls;
                self.reader.items.clear();
                self.reader.hit_ns = 0;
                self.response.open();
                Operation::PopConnect
            }
            Step::Capabilities => {
                self.reader.listing.clear();
                self.say(format_args!("CAPA\r\n"));
                Operation::PopCapabilities
            }
            Step::StartTls | Step::Secure => {
                self.say(format_args!("STLS\r\n"));
                Operation::PopStartTls
            }
            Step::User => {
                self.say(format_args!("USER {}\r\n", account.user));
                Operation::PopUser
            }
            Step::Pass => {
                self.say(format_args!("PASS {}\r\n", account.password));
                Operation::PopPass
            }
            Step::Login => {
                let token = plain_token(&account.user, &account.password);
                self.say(format_args!("AUTH PLAIN {token}\r\n"));
                Operation::PopLogin
            }
            Step::Stat => {
                self.say(format_args!("STAT\r\n"));
                Operation::PopStat
            }
            Step::Uidl => {
                self.reader.listing.clear();
                self.say(format_args!("UIDL\r\n"));
                Operation::PopUidl
            }
            Step::List => {
                self.reader.listing.clear();
                self.say(format_args!("LIST\r\n"));
                Operation::PopList
            }
            Step::Head(at) => {
                self.reader.inspector.clear();
                let number = self.reader.items[at as usize].number;
                let top = self.reader.capabilities.is_none_or(|found| found.top);
                if top {
                    self.say(format_args!("TOP {number} {HEAD_LINES}\r\n"));
                } else {
                    self.say(format_args!("RETR {number}\r\n"));
                }
                Operation::PopRetrieve
            }
            Step::Retrieve(at) => {
                self.reader.inspector.clear();
                let number = self.reader.items[at as usize].number;
                self.say(format_args!("RETR {number}\r\n"));
                Operation::PopRetrieve
            }
            Step::Delete(at) => {
                let number = self.reader.items[at as usize].number;
                self.say(format_args!("DELE {number}\r\n"));
                Operation::PopDelete
            }
            Step::Quit => {
                self.say(format_args!("QUIT\r\n"));
                Operation::PopQuit
            }
        };
    }

    /// Takes bytes of the server.
    pub(crate) fn pop3_received(&mut self, mut bytes: &[u8], actions: &mut Actions) -> Progress {
        let Work::Read(step) = self.work else { return Progress::Pending };
        let reader = &mut self.reader;
        let run = &self.plan.run;
        let answer = match step {
            // Without books there is nothing to compare a message with.
            Step::Retrieve(_) if !self.plan.inspects() => reader.responses.next(&mut bytes, true, &mut |_| ()),
            Step::Retrieve(_) | Step::Head(_) => {
                let inspector = &mut reader.inspector;
                reader.responses.next(&mut bytes, true, &mut |part| inspector.feed(run, part))
            }
            Step::Uidl | Step::List | Step::Capabilities => {
                let listing = &mut reader.listing;
                reader.responses.next(&mut bytes, true, &mut |part| listing.extend_from_slice(part))
            }
            _ => reader.responses.next(&mut bytes, false, &mut |_| ()),
        };
        let most = if step == Step::Capabilities { CAPABILITIES_BYTES_MAX } else { LISTING_BYTES_MAX };
        let answer = if reader.listing.len() > most { Err(ErrorClass::Protocol) } else { answer };
        match answer {
            Ok(None) => Progress::Pending,
            Ok(Some(_)) if !bytes.is_empty() => self.pop3_broken(step, ErrorClass::Protocol, actions),
            Ok(Some(true)) => self.pop3_positive(step, actions),
            Ok(Some(false)) => self.pop3_negative(step, actions),
            Err(error) => self.pop3_broken(step, error, actions),
        }
    }

    /// The server broke the protocol: nothing more can be done with this connection.
    fn pop3_broken(&mut self, step: Step, error: ErrorClass, actions: &mut Actions) -> Progress {
        if self.plan.initialise == Initialise::Look {
            self.give_up("this is not POP3");
        }
        self.pop3_lost(step, error);
        self.hang_up(actions);
        self.failed(Work::Idle, error, 0)
    }

    /// How this server lets users in.
    pub(crate) fn login_step(&self) -> Step {
        let wanted = self.plan.pop3.as_ref().map_or(Login::User, |pop3| pop3.login);
        let offered = self.reader.capabilities.unwrap_or(Capabilities::UNSPOKEN);
        match wanted {
            Login::Plain => Step::Login,
            // CAPA without USER and with SASL PLAIN: the server says which way it wants.
            Login::Auto if !offered.user && offered.sasl_plain => Step::Login,
            Login::Auto | Login::User => Step::User,
        }
    }

    /// What follows the banner, or what CAPA told.
    fn after_greeting(&mut self, actions: &mut Actions) -> Progress {
        let Some(capabilities) = self.reader.capabilities else {
            return self.done(Work::Read(Step::Capabilities), 0);
        };
        let wants_tls = self.plan.pop3.as_ref().is_some_and(|pop3| pop3.security == Security::StartTls);
        if wants_tls && !self.reader.encrypted {
            if capabilities.stls {
                return self.done(Work::Read(Step::StartTls), 0);
            }
            self.refused(Refusal::Tls, "the POP3 server does not offer STLS");
            self.hang_up(actions);
            return self.failed(Work::Idle, ErrorClass::Tls, 0);
        }
        let next = self.login_step();
        self.done(Work::Read(next), 0)
    }

    fn pop3_positive(&mut self, step: Step, actions: &mut Actions) -> Progress {
        match step {
            Step::Connect => self.after_greeting(actions),
            Step::Capabilities => {
                self.reader.capabilities = Some(Capabilities::from_capa(&self.reader.listing));
                self.after_greeting(actions)
            }
            Step::StartTls => {
                actions.secure = true;
                self.reader.encrypted = true;
                self.work = Work::Read(Step::Secure);
                Progress::Pending
            }
            Step::Secure => self.pop3_broken(step, ErrorClass::Protocol, actions),
            Step::User => self.done(Work::Read(Step::Pass), 0),
            Step::Pass | Step::Login => self.done(Work::Read(Step::Stat), 0),
            Step::Stat => self.counted(actions),
            Step::Uidl => {
                self.take_uids();
                self.done(Work::Read(Step::List), 0)
            }
            Step::List => {
                let next = self.after_listing();
                self.done(Work::Read(next), 0)
            }
            Step::Head(at) => {
                let next = self.after_head(at);
                self.done(Work::Read(next), 0)
            }
            Step::Retrieve(at) => {
                self.retrieved(at as usize);
                let next = self.message_step(at);
                self.done(Work::Read(next), 0)
            }
            Step::Delete(at) => {
                let next = self.message_step(at + 1);
                self.done(Work::Read(next), 0)
            }
            Step::Quit => {
                self.confirmed();
                self.hang_up(actions);
                self.done(Work::Idle, 0)
            }
        }
    }

    fn pop3_negative(&mut self, step: Step, actions: &mut Actions) -> Progress {
        let text = String::from_utf8_lossy(self.reader.responses.status()).trim().to_owned();
        match step {
            Step::Capabilities => {
                self.reader.capabilities = Some(Capabilities::UNSPOKEN);
                self.after_greeting(actions)
            }
            Step::Connect | Step::User | Step::Pass | Step::Login => {
                let passing = self.not_let_in(step, &text);
                self.look_broken(if passing { "refused for the time being" } else { "not let in" });
                self.hang_up(actions);
                let error = match step {
                    Step::Connect => ErrorClass::Refused,
                    _ if passing => ErrorClass::PutOff,
                    _ => ErrorClass::WrongStatus,
                };
                // The same mailbox is tried again while preparing: not at once.
                let next = if self.stage == Stage::Prepare { Work::Pause } else { Work::Idle };
                self.failed(next, error, 0)
            }
            Step::Quit => {
                // The server says that it did not delete everything; the next session will see.
                self.measured.sample(&text);
                self.hang_up(actions);
                self.failed(Work::Idle, ErrorClass::WrongStatus, 0)
            }
            Step::Head(at) if self.reader.capabilities.is_none_or(|found| found.top) => {
                // It does not know TOP: the whole message then.
                let found = self.reader.capabilities.unwrap_or(Capabilities::UNSPOKEN);
                self.reader.capabilities = Some(Capabilities { top: false, ..found });
                self.failed(Work::Read(Step::Head(at)), ErrorClass::WrongStatus, 0)
            }
            _ => {
                self.measured.sample(&text);
                self.look_broken("answered with -ERR");
                self.failed(Work::Read(Step::Quit), ErrorClass::WrongStatus, 0)
            }
        }
    }

    /// A session of the drain did not see everything.
    fn look_broken(&mut self, why: &'static str) {
        if self.stage == Stage::Drain {
            self.reader.broke_off(why);
            // What is still listed is told of by this.
            self.reader.items.clear();
        }
    }

    /// A banner or a login with `-ERR`. Whether it says that another try may succeed.
    fn not_let_in(&mut self, step: Step, text: &str) -> bool {
        let upper = text.to_ascii_uppercase();
        let words = ["[IN-USE]", "[SYS/TEMP]", "[LOGIN-DELAY]", "LOCK", "TRY AGAIN", "TEMPORARY"];
        let passing = words.iter().any(|word| upper.contains(word));
        if upper.contains("[IN-USE]") || step != Step::Connect && upper.contains("LOCK") {
            self.refused(Refusal::InUse, text);
        } else if step == Step::Connect || passing {
            self.refused(Refusal::Denied, text);
        } else {
            self.refused(Refusal::Denied, text);
            if self.stage == Stage::Prepare {
                let index = self.reader.mailboxes[self.reader.current].index as usize;
                let user = self.plan.mailboxes[index].user.clone();
                self.give_up(&format!("the POP3 server did not let `{user}` in: {text}"));
            }
        }
        passing
    }

    /// STAT told how many messages there are.
    fn counted(&mut self, actions: &mut Actions) -> Progress {
        let Some((count, _)) = stat(self.reader.responses.status()) else {
            return self.pop3_broken(Step::Stat, ErrorClass::Protocol, actions);
        };
        self.plan.served(self.identity.client);
        let reader = &mut self.reader;
        reader.count = count;
        if self.stage == Stage::Prepare {
            return self.counted_to_clean(count);
        }
        reader.polls += u64::from(self.stage == Stage::Measure);
        if count == 0 {
            self.found_nothing();
            return self.done(Work::Read(Step::Quit), 0);
        }
        let knows_uidl = reader.capabilities.is_none_or(|found| found.uidl);
        let next = if knows_uidl { Step::Uidl } else { Step::List };
        if !knows_uidl {
            reader.listing.clear();
            reader.items = (1..=count).map(|number| Item { number, uid: 0, state: State::New }).collect();
        }
        self.done(Work::Read(next), 0)
    }

    fn counted_to_clean(&mut self, count: u32) -> Progress {
        let reader = &mut self.reader;
        let mailbox = &mut reader.mailboxes[reader.current];
        if count == 0 {
            mailbox.settled = true;
            return self.done(Work::Read(Step::Quit), 0);
        }
        mailbox.cleanings += 1;
        if mailbox.cleanings > CLEANINGS_MAX {
            let user = self.plan.mailboxes[mailbox.index as usize].user.clone();
            self.give_up(&format!(
                "the mailbox of `{user}` still has {count} messages after {CLEANINGS_MAX} attempts to empty it"
            ));
            return self.done(Work::Read(Step::Quit), 0);
        }
        let all = self.plan.initialise == Initialise::All;
        let state = if all { State::Delete } else { State::New };
        reader.items = (1..=count).map(|number| Item { number, uid: 0, state }).collect();
        let next = if all { Step::Delete(0) } else { Step::Head(0) };
        reader.removed += if all { u64::from(count) } else { 0 };
        self.done(Work::Read(next), 0)
    }

    /// The head of a message told whose it is. After the last one Bakeoff's own are deleted.
    fn after_head(&mut self, at: u32) -> Step {
        let plan = Arc::clone(&self.plan);
        let reader = &mut self.reader;
        let ours = reader.inspector.finish(&plan.run).is_ours();
        let delete = ours && plan.initialise == Initialise::Own;
        reader.items[at as usize].state = if delete { State::Delete } else { State::LeaveAlone };
        reader.found.ours += u64::from(ours && !delete);
        reader.strangers += u32::from(!ours);
        if at as usize + 1 < reader.items.len() {
            return Step::Head(at + 1);
        }
        let removed = reader.items.iter().filter(|item| item.state == State::Delete).count();
        reader.removed += removed as u64;
        let mailbox = &mut reader.mailboxes[reader.current];
        let strangers = std::mem::take(&mut reader.strangers);
        // What was deleted must be seen to be gone.
        mailbox.settled = removed == 0;
        if mailbox.settled && strangers > 0 {
            reader.found.foreign.push((mailbox.index, strangers));
        }
        self.message_step(0)
    }

    /// UIDL and LIST are in: what is to be fetched.
    fn after_listing(&mut self) -> Step {
        if self.reader.items.iter().all(|item| item.state == State::LeaveAlone) {
            self.found_nothing();
        }
        self.message_step(0)
    }

    /// The mailbox has nothing for us.
    fn found_nothing(&mut self) {
        self.reader.empty_polls += u64::from(self.stage == Stage::Measure);
        self.response.found_nothing();
    }

    /// What is to be done with the message at `at`, or the next one that concerns us.
    fn message_step(&self, at: u32) -> Step {
        let delete = self.stage == Stage::Prepare || self.plan.pop3.as_ref().is_some_and(|pop3| pop3.delete);
        for (at, item) in self.reader.items.iter().enumerate().skip(at as usize) {
            match item.state {
                State::New => return Step::Retrieve(at as u32),
                State::Delete if delete => return Step::Delete(at as u32),
                State::Delete | State::LeaveAlone => {}
            }
        }
        Step::Quit
    }

    /// The connection is gone in the middle of a step.
    pub(crate) fn pop3_lost(&mut self, step: Step, error: ErrorClass) {
        if step == Step::Connect {
            self.refused(Refusal::of(error), "");
        } else if error == ErrorClass::Tls {
            self.refused(Refusal::Tls, "");
        } else if self.stage == Stage::Prepare {
            self.refused(Refusal::Other, "");
        }
        self.look_broken(error.name());
        self.reader.responses.clear();
    }
}
