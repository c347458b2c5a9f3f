//! One connection of a replay: the exchange is that of the web session, the request that of a line of the log.

use super::Shared;
use super::expect;
use super::spec::Statuses;
use crate::web::WebSession;
use bakeoff_engine::{Actions, ErrorClass, Event, Outcome, Progress, Session, Stage, Stamps, Timeline};
use std::sync::Arc;

/// The state machine of one connection.
#[derive(Debug)]
pub struct ReplaySession {
    shared: Arc<Shared>,
    web: WebSession,
    timeline: Option<Timeline>,
    start: u64,
    request: u32,
    logged: u16,
    out: Vec<u8>,
}

impl ReplaySession {
    pub(super) fn new(shared: Arc<Shared>, web: WebSession) -> Self {
        Self { shared, web, timeline: None, start: 0, request: 0, logged: 200, out: Vec::new() }
    }

    /// What the web session says of the exchange, as that of this line.
    fn judged(&self, outcome: Outcome) -> Outcome {
        let wrong = self.shared.statuses == Statuses::Log
            && outcome.error.is_none()
            && !expect::fits(self.logged, outcome.status);
        Outcome {
            operation: self.shared.paths.operation(self.request),
            error: if wrong { Some(ErrorClass::WrongStatus) } else { outcome.error },
            bytes_out: self.out.len() as u64,
            ..outcome
        }
    }

    /// Whether the request may be made twice without harm: those with bodies may not.
    fn is_safe(&self) -> bool {
        self.shared.trace.asked(self.request as usize).body.is_none()
    }
}

impl Session for ReplaySession {
    fn assigned(&mut self, start: u64) {
        self.start = start;
    }

    fn begin(&mut self, actions: &mut Actions) {
        let shared = &self.shared;
        (self.request, self.logged) = shared.trace.lines[(self.start % shared.trace.lines.len() as u64) as usize];
        shared.write(self.request as usize, &mut self.out);
        self.web.begin_request(shared.asked_as[self.request as usize] as usize, actions);
    }

    #[inline]
    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        match self.web.advance(event, actions) {
            Progress::Done(outcome) => Progress::Done(self.judged(outcome)),
            other => other,
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn ask_again(&mut self, actions: &mut Actions) -> bool {
        self.is_safe() && self.web.ask_again(actions)
    }

    fn fail(&mut self, error: ErrorClass) -> Outcome {
        let outcome = self.web.fail(error);
        self.judged(outcome)
    }

    fn finished(&mut self, outcome: &Outcome, stamps: &Stamps) {
        if self.timeline.is_none_or(|timeline| timeline.in_window(stamps.end_ns)) {
            self.shared.ledger.note(self.start, outcome, stamps);
        }
    }

    fn enter(&mut self, _: Stage, timeline: &Timeline) {
        self.timeline = Some(*timeline);
    }
}
