//! Reading: one POP3 session, step by step.

mod mailbox;
pub(super) mod reader;
mod responses;
mod step;

use super::figures::refusals::Refusal;
use super::session::dialogue::{Dialogue, StepExchange};
use super::session::sasl::plain_token;
use super::session::thread::Thread;
use super::spec::{Initialise, Login, Pop3Spec, Security};
use bakeoff_engine::{Actions, ErrorClass, Progress, Stage};
use mailbox::MessageAction;
use reader::{LedgerEvent, Reader};
use responses::{Capabilities, listing};
pub(crate) use responses::{Responses, stat};
pub(crate) use step::{State, Step};

/// Longest listing that is taken, bytes.
const LISTING_BYTES_MAX: usize = 64 << 20;
/// Longest list of capabilities, bytes.
pub(super) const CAPABILITIES_BYTES_MAX: usize = 64 << 10;
/// Lines of a body that are looked at for the id of a message that a report of failed delivery is about.
const HEAD_LINES: u32 = 60;
/// A mailbox that is not empty after so many attempts is kept full by someone.
const CLEANINGS_MAX: u32 = 10;
/// Words of a refusal that say that another try may succeed.
const PASSING: [&str; 6] = ["[IN-USE]", "[SYS/TEMP]", "[LOGIN-DELAY]", "LOCK", "TRY AGAIN", "TEMPORARY"];

/// The state machine, with what it borrows of its session.
pub(crate) struct Pop3<'a> {
    pub state: &'a mut State,
    pub reader: &'a mut Reader,
    pub thread: &'a mut Thread,
    pub exchange: &'a mut StepExchange,
}

impl Dialogue for Pop3<'_> {
    fn open(&mut self) {
        self.state.step = Some(Step::Connect);
    }

    fn is_over(&self) -> bool {
        self.state.step.is_none()
    }

    fn begin(&mut self, actions: &mut Actions) {
        if let Some(step) = self.state.step {
            self.exchange.operation = step.operation();
            self.say(step, actions);
        }
    }

    fn received(&mut self, mut bytes: &[u8], actions: &mut Actions) -> Progress {
        let Some(step) = self.state.step else { return Progress::Pending };
        let plan = &self.thread.plan;
        let State { responses, listing, inspector, .. } = &mut *self.state;
        let answer = match step {
            // Without a ledger there is nothing to compare a message with.
            Step::Retrieve(_) if !plan.inspects() => responses.next(&mut bytes, true, &mut |_| ()),
            Step::Retrieve(_) | Step::Head(_) => {
                responses.next(&mut bytes, true, &mut |part| inspector.feed(&plan.run, part))
            }
            Step::Uidl | Step::List | Step::Capabilities => {
                responses.next(&mut bytes, true, &mut |part| listing.extend_from_slice(part))
            }
            _ => responses.next(&mut bytes, false, &mut |_| ()),
        };
        let most = if step == Step::Capabilities { CAPABILITIES_BYTES_MAX } else { LISTING_BYTES_MAX };
        let answer = if listing.len() > most { Err(ErrorClass::Protocol) } else { answer };
        match answer {
            Ok(None) => Progress::Pending,
            Ok(Some(_)) if !bytes.is_empty() => self.broken(ErrorClass::Protocol, actions),
            Ok(Some(true)) => self.positive(step, actions),
            Ok(Some(false)) => self.negative(step, actions),
            Err(error) => self.broken(error, actions),
        }
    }

    fn connected(&mut self) -> Progress {
        match self.state.step {
            Some(Step::Secure) => {
                let next = self.login_step();
                self.done(next)
            }
            // The banner is still to come.
            _ => Progress::Pending,
        }
    }

    fn lost(&mut self, error: ErrorClass) {
        if self.state.step == Some(Step::Connect) {
            self.thread.refused(Refusal::of(error), "");
        } else if error == ErrorClass::Tls {
            self.thread.refused(Refusal::Tls, "");
        } else if self.thread.stage == Stage::Prepare {
            self.thread.refused(Refusal::Other, "");
        }
        self.inspection_failed(error.name());
        self.state.responses.clear();
        self.state.step = None;
    }

    fn cut(&mut self) {
        self.state.step = None;
    }
}

impl Pop3<'_> {
    fn spec(&self) -> Option<&Pop3Spec> {
        self.thread.plan.pop3.as_ref()
    }

    /// The step succeeded; `next` is what follows.
    fn done(&mut self, next: Step) -> Progress {
        self.state.step = Some(next);
        self.exchange.done(0)
    }

    /// The step failed; `next` is what follows.
    fn failed(&mut self, next: Step, error: ErrorClass) -> Progress {
        self.state.step = Some(next);
        self.exchange.failed(error, 0)
    }

    /// Gives the connection up.
    fn hang_up(&mut self, actions: &mut Actions) {
        actions.close = true;
        self.state.step = None;
    }

    /// Fills `out` with what the step sends.
    fn say(&mut self, step: Step, actions: &mut Actions) {
        let (plan, state, reader, exchange) =
            (&self.thread.plan, &mut *self.state, &mut *self.reader, &mut *self.exchange);
        let account = &plan.mailboxes[reader.mailbox().index as usize];
        let number = |at: u32| reader.items[at as usize].number;
        match step {
            Step::Connect => {
                actions.connect = Some(plan.pop3_endpoint());
                state.responses.clear();
                state.encrypted = plan.pop3.as_ref().is_some_and(|pop3| pop3.security == Security::Tls);
                reader.open();
                self.thread.response.open();
            }
            Step::Capabilities => exchange.say(format_args!("CAPA\r\n")),
            Step::StartTls | Step::Secure => exchange.say(format_args!("STLS\r\n")),
            Step::User => exchange.say(format_args!("USER {}\r\n", account.user)),
            Step::Pass => exchange.say(format_args!("PASS {}\r\n", account.password)),
            Step::Login => {
                let token = plain_token(&account.user, &account.password);
                exchange.say(format_args!("AUTH PLAIN {token}\r\n"));
            }
            Step::Stat => exchange.say(format_args!("STAT\r\n")),
            Step::Uidl => exchange.say(format_args!("UIDL\r\n")),
            Step::List => exchange.say(format_args!("LIST\r\n")),
            Step::Head(at) if state.knows_top() => exchange.say(format_args!("TOP {} {HEAD_LINES}\r\n", number(at))),
            Step::Head(at) | Step::Retrieve(at) => exchange.say(format_args!("RETR {}\r\n", number(at))),
            Step::Delete(at) => exchange.say(format_args!("DELE {}\r\n", number(at))),
            Step::Quit => exchange.say(format_args!("QUIT\r\n")),
        }
        match step {
            Step::Capabilities | Step::Uidl | Step::List => state.listing.clear(),
            Step::Head(_) | Step::Retrieve(_) => state.inspector.clear(),
            _ => {}
        }
    }

    /// The server broke the protocol: nothing more can be done with this connection.
    fn broken(&mut self, error: ErrorClass, actions: &mut Actions) -> Progress {
        if self.thread.plan.initialise == Initialise::Look {
            self.thread.give_up("this is not POP3");
        }
        self.lost(error);
        self.hang_up(actions);
        self.exchange.failed(error, 0)
    }

    /// How this server lets users in.
    fn login_step(&self) -> Step {
        let wanted = self.spec().map_or(Login::User, |pop3| pop3.login);
        let offered = self.state.capabilities.unwrap_or(Capabilities::UNSPOKEN);
        match wanted {
            Login::Plain => Step::Login,
            // CAPA without USER and with SASL PLAIN: the server says which way it wants.
            Login::Auto if !offered.user && offered.sasl_plain => Step::Login,
            Login::Auto | Login::User => Step::User,
        }
    }

    /// What follows the banner, or what CAPA listed.
    fn after_greeting(&mut self, actions: &mut Actions) -> Progress {
        let Some(capabilities) = self.state.capabilities else {
            return self.done(Step::Capabilities);
        };
        let wants_tls = self.spec().is_some_and(|pop3| pop3.security == Security::StartTls);
        if wants_tls && !self.state.encrypted {
            if capabilities.stls {
                return self.done(Step::StartTls);
            }
            self.thread.refused(Refusal::Tls, "the POP3 server does not offer STLS");
            self.hang_up(actions);
            return self.exchange.failed(ErrorClass::Tls, 0);
        }
        let next = self.login_step();
        self.done(next)
    }

    fn positive(&mut self, step: Step, actions: &mut Actions) -> Progress {
        let next = match step {
            Step::Connect => return self.after_greeting(actions),
            Step::Capabilities => {
                self.state.capabilities = Some(Capabilities::from_capa(&self.state.listing));
                return self.after_greeting(actions);
            }
            Step::StartTls => {
                actions.secure = true;
                self.state.encrypted = true;
                self.state.step = Some(Step::Secure);
                return Progress::Pending;
            }
            Step::Secure => return self.broken(ErrorClass::Protocol, actions),
            Step::User => Step::Pass,
            Step::Pass | Step::Login => {
                self.reader.moment = Some(LedgerEvent::LoggedIn);
                Step::Stat
            }
            Step::Stat => return self.counted(actions),
            Step::Uidl => {
                self.reader.moment = Some(LedgerEvent::Listed);
                self.reader.take_listing(listing(&self.state.listing), self.deletes());
                Step::List
            }
            Step::List => {
                self.reader.moment = Some(LedgerEvent::Listed);
                self.after_listing()
            }
            Step::Head(at) => self.after_head(at),
            Step::Retrieve(at) => {
                self.retrieved(at as usize);
                self.message_step(at)
            }
            Step::Delete(at) => self.message_step(at + 1),
            Step::Quit => {
                self.reader.confirmed(self.thread.stage);
                self.hang_up(actions);
                return self.exchange.done(0);
            }
        };
        self.done(next)
    }

    fn negative(&mut self, step: Step, actions: &mut Actions) -> Progress {
        let text = String::from_utf8_lossy(self.state.responses.status()).trim().to_owned();
        match step {
            Step::Capabilities => {
                self.state.capabilities = Some(Capabilities::UNSPOKEN);
                self.after_greeting(actions)
            }
            Step::Connect | Step::User | Step::Pass | Step::Login => {
                let passing = self.not_let_in(step, &text);
                self.inspection_failed(if passing { "refused for the time being" } else { "not let in" });
                self.hang_up(actions);
                // The same mailbox is tried again while preparing: not at once.
                self.thread.waits = self.thread.stage == Stage::Prepare;
                let error = match step {
                    Step::Connect => ErrorClass::Refused,
                    _ if passing => ErrorClass::PutOff,
                    _ => ErrorClass::WrongStatus,
                };
                self.exchange.failed(error, 0)
            }
            Step::Quit => {
                // The server says that it did not delete everything; the next session will see.
                self.thread.measured.sample(&text);
                self.hang_up(actions);
                self.exchange.failed(ErrorClass::WrongStatus, 0)
            }
            Step::Head(at) if self.state.knows_top() => {
                // It does not know TOP: the whole message then.
                let offered = self.state.capabilities.unwrap_or(Capabilities::UNSPOKEN);
                self.state.capabilities = Some(Capabilities { top: false, ..offered });
                self.failed(Step::Head(at), ErrorClass::WrongStatus)
            }
            _ => {
                self.thread.measured.sample(&text);
                self.inspection_failed("answered with -ERR");
                self.failed(Step::Quit, ErrorClass::WrongStatus)
            }
        }
    }

    /// A session of the drain did not see everything.
    fn inspection_failed(&mut self, why: &'static str) {
        if self.thread.stage == Stage::Drain {
            self.reader.broke_off(why);
        }
    }

    /// A banner or a login with `-ERR`. Whether it says that another try may succeed.
    fn not_let_in(&mut self, step: Step, text: &str) -> bool {
        let upper = text.to_ascii_uppercase();
        let passing = PASSING.iter().any(|word| upper.contains(word));
        if upper.contains("[IN-USE]") || step != Step::Connect && upper.contains("LOCK") {
            self.thread.refused(Refusal::InUse, text);
            return passing;
        }
        self.thread.refused(Refusal::Denied, text);
        if step != Step::Connect && !passing && self.thread.stage == Stage::Prepare {
            let user = self.user();
            self.thread.give_up(&format!("the POP3 server did not let `{user}` in: {text}"));
        }
        passing
    }

    /// STAT says how many messages there are.
    fn counted(&mut self, actions: &mut Actions) -> Progress {
        let Some((count, _)) = stat(self.state.responses.status()) else {
            return self.broken(ErrorClass::Protocol, actions);
        };
        self.thread.plan.served(self.thread.identity.client);
        self.reader.count = count;
        self.reader.moment = (count == 0).then_some(LedgerEvent::SeenEmpty);
        if self.thread.stage == Stage::Prepare {
            let next = self.cleaning_step(count);
            return self.done(next);
        }
        self.reader.polls += u64::from(self.thread.stage == Stage::Measure);
        if count == 0 {
            self.nothing_there();
            return self.done(Step::Quit);
        }
        let knows_uidl = self.state.knows_uidl();
        if !knows_uidl {
            self.state.listing.clear();
            self.reader.take_count(count, MessageAction::Read);
        }
        self.done(if knows_uidl { Step::Uidl } else { Step::List })
    }

    fn user(&self) -> String {
        self.thread.plan.mailboxes[self.reader.mailbox().index as usize].user.clone()
    }

    /// What is done with a mailbox of so many messages before the trial.
    fn cleaning_step(&mut self, count: u32) -> Step {
        let all = self.thread.plan.initialise == Initialise::All;
        match self.reader.clean(count, all, CLEANINGS_MAX) {
            Some(MessageAction::Read) => Step::Head(0),
            Some(MessageAction::Delete) => Step::Delete(0),
            Some(MessageAction::LeaveAlone) => Step::Quit,
            None => {
                let user = self.user();
                self.thread.give_up(&format!(
                    "the mailbox of `{user}` still has {count} messages after {CLEANINGS_MAX} attempts to empty it"
                ));
                Step::Quit
            }
        }
    }

    /// The head of a message shows whose it is. After the last one Bakeoff's own are deleted.
    fn after_head(&mut self, at: u32) -> Step {
        let plan = &self.thread.plan;
        let ours = self.state.inspector.finish(&plan.run).is_ours();
        let more = self.reader.sort_out(at as usize, ours, plan.initialise == Initialise::Own);
        if more { Step::Head(at + 1) } else { self.message_step(0) }
    }

    /// A message is complete.
    fn retrieved(&mut self, at: usize) {
        let plan = &self.thread.plan;
        if !plan.inspects() {
            // Without a ledger it is nobody's.
            self.reader.items[at].todo = MessageAction::Delete;
            return;
        }
        let inspected = self.state.inspector.finish(&plan.run);
        let has_uids = self.state.knows_uidl();
        self.reader.retrieved(at, &inspected, self.state.inspector.kept(), has_uids);
    }

    /// UIDL and LIST are in: what is to be fetched.
    fn after_listing(&mut self) -> Step {
        if self.reader.items.iter().all(|item| item.todo == MessageAction::LeaveAlone) {
            self.nothing_there();
        }
        self.message_step(0)
    }

    /// The mailbox has nothing for us.
    fn nothing_there(&mut self) {
        self.reader.empty_polls += u64::from(self.thread.stage == Stage::Measure);
        self.thread.response.was_empty();
    }

    fn deletes(&self) -> bool {
        self.spec().is_some_and(|pop3| pop3.delete)
    }

    /// What is to be done with the message at `at`, or the next one that concerns us.
    fn message_step(&self, at: u32) -> Step {
        let delete = self.thread.stage == Stage::Prepare || self.deletes();
        match self.reader.next_item(at, delete) {
            Some((at, MessageAction::Read)) => Step::Retrieve(at),
            Some((at, _)) => Step::Delete(at),
            None => Step::Quit,
        }
    }
}
