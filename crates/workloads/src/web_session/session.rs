//! One client: its requests follow each other, with values of the replies before. A session is one operation, and each of
//! its steps a part of it.

use super::jar::Jar;
use super::plan::SessionPlan;
use super::spec::CookieScope;
use super::take::{Found, Missing, fields};
use super::template::CLIENT;
use crate::web::{Fault, Reader, WebSession};
use bakeoff_engine::{Actions, ErrorClass, Event, Outcome, Progress, Session, Stage, Stamps, Timeline};
use memchr::memmem;
use std::sync::Arc;

/// As much of a reply is looked at, bytes; more is a fault of its own.
const BODY_BYTES_MAX: usize = 1 << 20;
/// What a client keeps of its buffer between two steps, bytes.
const BODY_BYTES_KEPT: usize = 16 << 10;

/// What is kept of a reply until its values are taken.
#[derive(Debug, Default)]
pub(crate) struct ReplyCopy {
    wants_head: bool,
    wants_body: bool,
    is_cut: bool,
    head: Vec<u8>,
    body: Vec<u8>,
}

impl ReplyCopy {
    fn begin(&mut self, (wants_head, wants_body): (bool, bool)) {
        (self.wants_head, self.wants_body) = (wants_head, wants_body);
        self.is_cut = false;
        self.head.clear();
        self.body.clear();
        self.body.shrink_to(BODY_BYTES_KEPT);
    }
}

impl Reader for ReplyCopy {
    fn head(&mut self, bytes: &[u8]) {
        if self.wants_head {
            self.head.extend_from_slice(bytes);
        }
    }

    fn wants_body(&self) -> bool {
        self.wants_body && !self.is_cut
    }

    fn body(&mut self, bytes: &[u8]) {
        self.is_cut = self.body.len() + bytes.len() > BODY_BYTES_MAX;
        if !self.is_cut {
            self.body.extend_from_slice(bytes);
        }
    }
}

/// Why a session cannot go on, though its server answered as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionFault {
    NotFound(usize),
    TooLong(usize),
    UnfitValue(usize),
    NoText,
    LongReply,
    Cookies,
}

impl SessionFault {
    const SLOTS: usize = 1_000;

    /// As a number, for the table of failures.
    fn number(self) -> u16 {
        let (kind, slot) = match self {
            Self::NoText => (0, 0),
            Self::LongReply => (0, 1),
            Self::Cookies => (0, 2),
            Self::NotFound(slot) => (1, slot),
            Self::TooLong(slot) => (2, slot),
            Self::UnfitValue(slot) => (3, slot),
        };
        (kind * Self::SLOTS + slot) as u16
    }

    /// The words for a number.
    pub fn said(number: u16, values: &[String]) -> String {
        let (kind, slot) = (usize::from(number) / Self::SLOTS, usize::from(number) % Self::SLOTS);
        let value = values.get(slot).map_or("?", String::as_str);
        match (kind, slot) {
            (1, _) => format!("value not found: {value}"),
            (2, _) => format!("value too long: {value}"),
            (3, _) => format!("value does not fit: {value}"),
            (0, 0) => "text not found".to_owned(),
            (0, 1) => "reply too long to look at".to_owned(),
            _ => "too many cookies".to_owned(),
        }
    }
}

/// The state machine of one client.
#[derive(Debug)]
pub struct ClientSession {
    plan: Arc<SessionPlan>,
    web: WebSession<ReplyCopy>,
    step: usize,
    pausing: bool,
    values: Vec<Vec<u8>>,
    jar: Jar,
    target: Vec<u8>,
    out: Vec<u8>,
    status: u16,
    bytes_in: u64,
    bytes_out: u64,
    fault: Fault,
    timeline: Option<Timeline>,
}

impl ClientSession {
    pub(super) fn new(plan: Arc<SessionPlan>, web: WebSession<ReplyCopy>, client: u32) -> Self {
        let mut values = vec![Vec::new(); plan.values.len()];
        values[CLIENT] = (u64::from(client) + 1).to_string().into_bytes();
        Self {
            jar: plan.jar.clone(),
            plan,
            web,
            step: 0,
            pausing: false,
            values,
            target: Vec::new(),
            out: Vec::new(),
            status: 0,
            bytes_in: 0,
            bytes_out: 0,
            fault: Fault::Status(0),
            timeline: None,
        }
    }

    /// Sends the request of the step that it is at.
    fn ask(&mut self, actions: &mut Actions) -> Result<(), SessionFault> {
        self.pausing = false;
        let written = self.plan.write(self.step, &self.values, &self.jar, &mut self.target, &mut self.out);
        written.map_err(|misfit| SessionFault::UnfitValue(misfit.slot))?;
        self.web.reader().begin(self.plan.steps[self.step].reads(self.plan.keep));
        self.web.begin_request(self.step, actions);
        self.bytes_out += self.out.len() as u64;
        Ok(())
    }

    /// Looks at the reply that is complete, and takes from it.
    fn take(&mut self) -> Result<(), SessionFault> {
        let (plan, kept) = (&self.plan, self.web.reader());
        let step = &plan.steps[self.step];
        if plan.keep != CookieScope::Off {
            let (jar, target, mut too_much) = (&mut self.jar, &self.target, false);
            fields(&kept.head, |name, value| {
                too_much |= name.eq_ignore_ascii_case("set-cookie") && jar.set(value, target).is_err();
            });
            if too_much {
                return Err(SessionFault::Cookies);
            }
        }
        if kept.is_cut {
            return Err(SessionFault::LongReply);
        }
        if !step.texts.iter().all(|text| memmem::find(&kept.body, text).is_some()) {
            return Err(SessionFault::NoText);
        }
        let found = Found { head: &kept.head, body: &kept.body, jar: &self.jar };
        for take in &step.take {
            let value = take.value(&found).map_err(|missing| match missing {
                Missing::NotFound => SessionFault::NotFound(take.slot),
                Missing::TooLong => SessionFault::TooLong(take.slot),
            })?;
            let slot = &mut self.values[take.slot];
            slot.clear();
            slot.extend_from_slice(&value);
        }
        Ok(())
    }

    fn outcome(&self, error: Option<ErrorClass>) -> Outcome {
        let (bytes_in, bytes_out) = (self.bytes_in, self.bytes_out);
        Outcome { operation: 0, error, bytes_in, bytes_out, status: self.status }
    }

    /// The session ends here, with the exchange of its step.
    fn broken(&mut self, exchange: &Outcome) -> Outcome {
        self.bytes_in += exchange.bytes_in;
        self.status = exchange.status;
        if let Some(error) = exchange.error {
            self.fault = Fault::of(error, exchange);
        }
        self.outcome(exchange.error)
    }

    /// The server answered, and the session cannot go on with that.
    fn stuck(&mut self, trouble: SessionFault) -> Progress {
        self.fault = Fault::Described(trouble.number());
        Progress::Done(self.outcome(Some(ErrorClass::WrongContent)))
    }
}

impl Session for ClientSession {
    fn begin(&mut self, actions: &mut Actions) {
        (self.step, self.status, self.bytes_in, self.bytes_out) = (0, 0, 0, 0);
        if self.plan.keep == CookieScope::Session {
            self.jar.reset(&self.plan.jar);
        }
        // Only values that replies gave can fail to fit.
        let _ = self.ask(actions);
    }

    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        if self.pausing && event == Event::Timer {
            return self.ask(actions).map_or_else(|trouble| self.stuck(trouble), |()| Progress::Pending);
        }
        match self.web.advance(event, actions) {
            Progress::Done(exchange) if exchange.error.is_some() => Progress::Done(self.broken(&exchange)),
            Progress::Done(exchange) => {
                self.bytes_in += exchange.bytes_in;
                self.status = exchange.status;
                Progress::Part(self.step as u16)
            }
            other => other,
        }
    }

    fn go_on(&mut self, actions: &mut Actions) -> Progress {
        if let Err(trouble) = self.take() {
            return self.stuck(trouble);
        }
        let think_ns = self.plan.steps[self.step].think_ns;
        if self.step + 1 == self.plan.steps.len() {
            return Progress::Done(self.outcome(None));
        }
        self.step += 1;
        if think_ns > 0 {
            self.pausing = true;
            actions.timer_ns = Some(think_ns);
            return Progress::Pending;
        }
        self.ask(actions).map_or_else(|trouble| self.stuck(trouble), |()| Progress::Pending)
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn ask_again(&mut self, actions: &mut Actions) -> bool {
        self.web.ask_again(actions)
    }

    fn fail(&mut self, error: ErrorClass) -> Outcome {
        let exchange = self.web.fail(error);
        let hung = error == ErrorClass::Unfinished;
        let outcome = self.broken(&Outcome { error: Some(error), ..exchange });
        if hung {
            // Found at the trial's end, of which sessions hear no more.
            self.plan.failures.note(self.step, self.fault);
        }
        outcome
    }

    fn finished(&mut self, outcome: &Outcome, stamps: &Stamps) {
        if outcome.error.is_some() && self.timeline.is_none_or(|timeline| timeline.in_window(stamps.end_ns)) {
            self.plan.failures.note(self.step, self.fault);
        }
    }

    fn enter(&mut self, _: Stage, timeline: &Timeline) {
        self.timeline = Some(*timeline);
    }
}
