//! One thread of a simulated mail client: it divides its time between sending and reading.

use super::doors::Visits;
use super::operation::Operation;
use super::plan::Plan;
use super::reader::{Drain, Reader};
use super::refusals::{Refusal, Refusals};
use super::response::Response;
use super::sender::Sender;
use super::spec::Initialise;
use super::{read, send};
use bakeoff_engine::{
    Actions, ErrorClass, Event, Identity, Nanos, Outcome, Progress, Rng, Session, Stage, Stamps, Timeline,
};
use std::sync::Arc;

/// Pause of the drain when a round over the mailboxes brought nothing.
const PAUSE_NS: Nanos = 100_000_000;

/// What the thread is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Between sessions; there is no connection.
    Idle,
    Send(send::Step),
    Read(read::Step),
    Pause,
}

/// The state machine of one thread.
#[derive(Debug)]
pub struct MailSession {
    pub(crate) plan: Arc<Plan>,
    pub(crate) identity: Identity,
    pub(crate) rng: Rng,
    pub(crate) stage: Stage,
    pub(crate) timeline: Timeline,
    pub(crate) work: Work,
    pub(crate) operation: Operation,
    pub(crate) out: Vec<u8>,
    pub(crate) bytes_in: u64,
    pub(crate) sender: Sender,
    pub(crate) reader: Reader,
    /// Sessions at the doors of the servers, while measuring.
    pub(crate) visits: Visits,
    pub(crate) response: Response,
    pub(crate) fatal: Option<String>,
    pub(crate) preparing: Refusals,
    pub(crate) measured: Refusals,
    pub(crate) send_ns: Nanos,
    pub(crate) read_ns: Nanos,
    /// Time spent in each step while measuring.
    pub(crate) times_ns: [Nanos; Operation::COUNT],
}

impl MailSession {
    pub(crate) fn new(plan: Arc<Plan>, identity: Identity, rng: Rng, player: u64, players: u64) -> Self {
        let sender = Sender::new(plan.sizes.first(player, players), plan.recipients.first(player, players));
        let reader = Reader::new(plan.mailboxes_of(identity));
        Self {
            plan,
            identity,
            rng,
            stage: Stage::Measure,
            timeline: Timeline::new(0, 0, 0, 0),
            work: Work::Idle,
            operation: Operation::SmtpConnect,
            out: Vec::new(),
            bytes_in: 0,
            sender,
            reader,
            visits: Visits::default(),
            response: Response::default(),
            fatal: None,
            preparing: Refusals::default(),
            measured: Refusals::default(),
            send_ns: 0,
            read_ns: 0,
            times_ns: [0; Operation::COUNT],
        }
    }

    /// Chooses the next session.
    fn choose(&mut self) -> Option<Work> {
        match self.stage {
            Stage::Prepare => self.next_to_clean().then_some(Work::Read(read::Step::Connect)),
            // Mailboxes were looked at; that was all.
            Stage::Measure if self.plan.initialise == Initialise::Look => None,
            Stage::Measure => {
                if self.sends_next() {
                    return Some(Work::Send(send::Step::Connect));
                }
                self.next_in_turn();
                Some(Work::Read(read::Step::Connect))
            }
            Stage::Drain => match self.next_to_drain() {
                Drain::Poll => Some(Work::Read(read::Step::Connect)),
                Drain::Pause => Some(Work::Pause),
                Drain::Done => None,
            },
        }
    }

    /// Keeps the share of the time that went into sending where the plan wants it.
    fn sends_next(&mut self) -> bool {
        if self.plan.smtp.is_none() || self.plan.pop3.is_none() {
            return self.plan.smtp.is_some();
        }
        let total_ns = self.send_ns + self.read_ns;
        if total_ns == 0 {
            // Not all threads at once.
            return self.rng.unit() < self.plan.sending_share;
        }
        (self.send_ns as f64) < self.plan.sending_share * total_ns as f64
    }

    pub(crate) fn outcome(&self, error: Option<ErrorClass>, status: u16) -> Outcome {
        Outcome {
            operation: self.operation as u16,
            error,
            bytes_in: self.bytes_in,
            bytes_out: self.out.len() as u64,
            status,
        }
    }

    /// The step succeeded; `next` is what follows.
    pub(crate) fn done(&mut self, next: Work, status: u16) -> Progress {
        self.work = next;
        Progress::Done(self.outcome(None, status))
    }

    /// The step failed; `next` is what follows.
    pub(crate) fn failed(&mut self, next: Work, error: ErrorClass, status: u16) -> Progress {
        self.work = next;
        Progress::Done(self.outcome(Some(error), status))
    }

    /// Gives the connection up.
    pub(crate) fn hang_up(&mut self, actions: &mut Actions) {
        actions.close = true;
        self.disconnected();
    }

    /// The connection is gone.
    pub(crate) fn disconnected(&mut self) {
        self.work = Work::Idle;
    }

    /// A session was not served. While preparing, too many of these in a row are fatal.
    pub(crate) fn refused(&mut self, refusal: Refusal, text: &str) {
        let refusals = if self.stage == Stage::Prepare { &mut self.preparing } else { &mut self.measured };
        refusals.count(refusal);
        if !text.is_empty() {
            refusals.sample(text);
        }
        if self.stage != Stage::Prepare {
            return;
        }
        let refusals = self.plan.refused(self.identity.client);
        if refusals > self.plan.retries {
            let said = if text.trim().is_empty() { String::new() } else { format!(": {}", text.trim()) };
            let name = refusal.name();
            self.give_up(&format!("could not open a POP3 session in {refusals} tries ({name}{said})"));
        }
    }

    /// This client cannot take part.
    pub(crate) fn give_up(&mut self, reason: &str) {
        self.fatal.get_or_insert_with(|| format!("client {}: {reason}", self.identity.client));
    }

    fn received(&mut self, bytes: &[u8], actions: &mut Actions) -> Progress {
        self.bytes_in += bytes.len() as u64;
        match self.work {
            Work::Send(_) => self.smtp_received(bytes, actions),
            Work::Read(_) => self.pop3_received(bytes, actions),
            Work::Idle | Work::Pause => {
                self.hang_up(actions);
                Progress::Pending
            }
        }
    }

    /// The operation in progress breaks off.
    fn break_off(&mut self, error: ErrorClass) -> Outcome {
        let outcome = self.outcome(Some(error), 0);
        match self.work {
            Work::Send(step) => self.smtp_lost(step, error),
            Work::Read(step) => self.pop3_lost(step, error),
            Work::Idle | Work::Pause => {}
        }
        self.disconnected();
        outcome
    }
}

impl Session for MailSession {
    fn begin(&mut self, actions: &mut Actions) {
        self.bytes_in = 0;
        self.out.clear();
        if self.work == Work::Idle {
            match self.choose() {
                Some(work) if self.fatal.is_none() => self.work = work,
                _ => {
                    actions.stop = true;
                    return;
                }
            }
        }
        match self.work {
            Work::Send(step) => self.begin_smtp(step, actions),
            Work::Read(step) => self.begin_pop3(step, actions),
            Work::Pause | Work::Idle => actions.timer_ns = Some(PAUSE_NS),
        }
        actions.send = !self.out.is_empty();
    }

    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        match event {
            Event::Received(bytes) => self.received(bytes, actions),
            Event::Connected => match self.work {
                Work::Send(send::Step::Secure) => self.done(Work::Send(send::Step::Hello), 220),
                Work::Read(read::Step::Secure) => {
                    let next = self.login_step();
                    self.done(Work::Read(next), 0)
                }
                // The banner is still to come.
                _ => Progress::Pending,
            },
            Event::Closed => {
                if self.work == Work::Idle {
                    return Progress::Pending;
                }
                actions.close = true;
                Progress::Done(self.break_off(ErrorClass::ClosedEarly))
            }
            Event::Timer if self.work == Work::Pause => self.done(Work::Idle, 0),
            Event::Timer | Event::Sent | Event::Discarded(_) => Progress::Pending,
        }
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn fail(&mut self, error: ErrorClass) -> Outcome {
        self.break_off(error)
    }

    fn finished(&mut self, outcome: &Outcome, stamps: &Stamps) {
        let time_ns = stamps.end_ns - stamps.start_ns;
        if self.stage == Stage::Measure {
            let total = if self.operation.sends() { &mut self.send_ns } else { &mut self.read_ns };
            *total += time_ns;
            self.times_ns[self.operation as usize] += time_ns;
            self.visits.add(self.operation, outcome.error.is_none(), self.work == Work::Idle, stamps);
            if self.timeline.in_window(stamps.end_ns) {
                self.response.add(self.operation, outcome.error, time_ns);
            }
        }
        if self.operation.connects()
            && let Some(connect_ns) = stamps.connect_ns
        {
            let refusals = if self.stage == Stage::Prepare { &mut self.preparing } else { &mut self.measured };
            refusals.connected(connect_ns);
        }
        if outcome.error.is_none() {
            match self.operation {
                Operation::SmtpBody => self.sender.stamp(stamps.end_ns),
                operation => self.reader.stamp(operation, stamps),
            }
        } else if self.operation == Operation::SmtpBody {
            // Of several recipients some may have been taken.
            self.sender.stamp(stamps.end_ns);
        }
    }

    fn enter(&mut self, stage: Stage, timeline: &Timeline) {
        self.stage = stage;
        self.disconnected();
        if stage == Stage::Measure {
            self.timeline = *timeline;
        }
        if stage == Stage::Drain {
            let plan = Arc::clone(&self.plan);
            self.reader.expect(|mailbox| plan.books.outstanding(mailbox));
        }
    }

    fn leave(&mut self, stage: Stage) {
        // The stage's end cuts what is going on; a message without its final reply is in doubt.
        if let Work::Send(step) = self.work {
            self.smtp_cut(step);
        }
        self.disconnected();
        if stage == Stage::Prepare && self.fatal.is_none() && self.next_to_clean() {
            let what = if self.plan.initialise == Initialise::Look { "looked at" } else { "emptied" };
            self.give_up(&format!("its mailboxes could not be {what} in the time allowed for initialisation"));
        }
        if stage == Stage::Measure {
            self.response.close();
        }
        if stage == Stage::Drain {
            self.reader.stop_looking();
        }
        if stage == Stage::Measure && self.plan.keeps_books() {
            let accepted = self.sender.accepted_copies();
            self.plan.books.deposit(accepted, self.reader.seen_copies());
        }
    }

    fn fatal(&self) -> Option<String> {
        self.fatal.clone()
    }
}
