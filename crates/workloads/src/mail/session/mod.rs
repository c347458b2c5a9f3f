//! One thread of a simulated mail client: it divides its time between sending and reading.

pub(super) mod dialogue;
pub(super) mod sasl;
pub(super) mod thread;

use super::figures::admission::Admissions;
use super::figures::done::Done;
use super::operation::Operation;
use super::plan::Plan;
use super::pop3::reader::{Drain, Reader};
use super::pop3::{self, Pop3};
use super::smtp::sender::Sender;
use super::smtp::{self, Smtp};
use super::spec::Initialise;
use bakeoff_engine::{
    Actions, ErrorClass, Event, Identity, Nanos, Outcome, Progress, Rng, Session, Stage, Stamps, Timeline,
};
use dialogue::{Dialogue as _, StepExchange};
use std::sync::Arc;
use thread::Thread;

/// Pause of the drain when a round over the mailboxes brought nothing.
const PAUSE_NS: Nanos = 100_000_000;

/// What the thread is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Between sessions; there is no connection.
    Idle,
    Send,
    Read,
    Pause,
}

/// The state machine of one thread.
#[derive(Debug)]
pub struct MailSession {
    pub(crate) thread: Thread,
    pub(crate) work: Work,
    pub(crate) exchange: StepExchange,
    pub(crate) smtp: smtp::State,
    pub(crate) pop3: pop3::State,
    pub(crate) sender: Sender,
    pub(crate) reader: Reader,
    pub(crate) timeline: Timeline,
    /// The last moment that it was told.
    now_ns: Nanos,
    /// Sessions that servers let in, while measuring.
    pub(crate) visits: Admissions,
    pub(crate) send_ns: Nanos,
    pub(crate) read_ns: Nanos,
    /// Messages and reading sessions while measuring.
    pub(crate) iterations: [u64; 2],
    /// Time spent in each step while measuring.
    pub(crate) times_ns: [Nanos; Operation::COUNT],
    /// Whole messages, and whole visits of a mailbox, in the window.
    pub(crate) messages: Done,
    pub(crate) mailbox_visits: Done,
}

/// Does something with the dialogue at work. Each protocol is one line here.
macro_rules! dialogue {
    ($session:ident, $dialogue:ident => $act:expr, idle => $idle:expr) => {{
        let Self { thread, exchange, smtp, sender, pop3, reader, .. } = $session;
        match $session.work {
            Work::Send => {
                let mut $dialogue = Smtp { state: smtp, sender, thread, exchange };
                $act
            }
            Work::Read => {
                let mut $dialogue = Pop3 { state: pop3, reader, thread, exchange };
                $act
            }
            Work::Idle | Work::Pause => $idle,
        }
    }};
}

impl MailSession {
    pub(crate) fn new(plan: Arc<Plan>, identity: Identity, rng: Rng, player: u64, players: u64) -> Self {
        let sender = Sender::new(plan.sizes.first(player, players), plan.recipients.first(player, players));
        let reader = Reader::new(plan.mailboxes_of(identity), plan.shared && identity.vu > 0);
        Self {
            thread: Thread::new(plan, identity, rng),
            work: Work::Idle,
            exchange: StepExchange::new(),
            smtp: smtp::State::default(),
            pop3: pop3::State::default(),
            sender,
            reader,
            timeline: Timeline::new(0, 0, 0, 0),
            now_ns: 0,
            visits: Admissions::default(),
            send_ns: 0,
            read_ns: 0,
            iterations: [0; 2],
            times_ns: [0; Operation::COUNT],
            messages: Done::default(),
            mailbox_visits: Done::default(),
        }
    }

    /// Chooses the next session.
    fn choose(&mut self) -> Option<Work> {
        match self.thread.stage {
            Stage::Prepare => self.reader.rotate_to_clean().then_some(Work::Read),
            // Mailboxes were looked at; that was all.
            Stage::Measure if self.thread.plan.initialise == Initialise::Look => None,
            Stage::Measure => {
                if self.sends_next() {
                    return Some(Work::Send);
                }
                self.reader.rotate();
                Some(Work::Read)
            }
            Stage::Drain => {
                match self.reader.rotate_to_drain(self.thread.plan.others_are_quiet(self.now_ns, self.timeline.end_ns))
                {
                    Drain::Poll => Some(Work::Read),
                    Drain::Pause => Some(Work::Pause),
                    Drain::Done => None,
                }
            }
        }
    }

    /// Keeps the share of the time that went into sending where the plan wants it. Under a rate that of the iterations:
    /// how the work is made up is then not for the server's speed to say.
    fn sends_next(&mut self) -> bool {
        let plan = &self.thread.plan;
        if plan.smtp.is_none() || plan.pop3.is_none() {
            return plan.smtp.is_some();
        }
        let (sent, total) = if plan.rated {
            (self.iterations[0], self.iterations[0] + self.iterations[1])
        } else {
            (self.send_ns, self.send_ns + self.read_ns)
        };
        if total == 0 {
            // Not all threads at once.
            return self.thread.rng.unit() < plan.sending_share;
        }
        (sent as f64) < plan.sending_share * total as f64
    }

    /// Bytes came, or none with which the connection became usable.
    fn heard(&mut self, bytes: Option<&[u8]>, actions: &mut Actions) -> Progress {
        let (progress, over) = dialogue!(self, dialogue => {
            let progress = match bytes {
                Some(bytes) => dialogue.received(bytes, actions),
                None => dialogue.connected(),
            };
            (progress, dialogue.is_over())
        }, idle => (Progress::Pending, false));
        if over {
            self.work = if std::mem::take(&mut self.thread.waits) { Work::Pause } else { Work::Idle };
        }
        progress
    }

    /// A step is over: whether the message or the visit is that it belongs to. A message ends with its final reply;
    /// QUIT is part of no message.
    fn count_done(&mut self, operation: Operation, failed: bool, stamps: &Stamps) {
        let client = self.thread.identity.client;
        if !operation.sends() {
            self.mailbox_visits.step(stamps.start_ns, failed);
            if matches!(self.work, Work::Idle | Work::Pause) {
                let mailbox = self.reader.mailbox().index;
                self.mailbox_visits.visited(&self.timeline, stamps.end_ns, client, mailbox);
            }
            return;
        }
        if operation == Operation::SmtpQuit {
            return;
        }
        self.messages.step(stamps.start_ns, failed);
        let ends = self.work == Work::Idle || self.smtp.is_leaving() || operation == Operation::SmtpBody;
        if ends && self.messages.is_open() {
            let taken = operation == Operation::SmtpBody && !failed;
            self.messages.sent(&self.timeline, stamps.end_ns, taken, client, self.sender.last_copies());
        }
    }

    /// The operation in progress breaks off.
    fn break_off(&mut self, error: ErrorClass) -> Outcome {
        let outcome = self.exchange.outcome(Some(error), 0);
        dialogue!(self, dialogue => dialogue.lost(error), idle => ());
        self.work = Work::Idle;
        outcome
    }
}

impl Session for MailSession {
    fn begin(&mut self, actions: &mut Actions) {
        self.exchange.clear();
        if self.work == Work::Idle {
            match self.choose() {
                Some(work) if self.thread.fatal.is_none() => self.work = work,
                _ => {
                    actions.stop = true;
                    return;
                }
            }
            dialogue!(self, dialogue => dialogue.open(), idle => ());
        }
        dialogue!(self, dialogue => dialogue.begin(actions), idle => actions.timer_ns = Some(PAUSE_NS));
        actions.send = !self.exchange.out.is_empty();
    }

    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        match event {
            Event::Received(bytes) => {
                self.exchange.bytes_in += bytes.len() as u64;
                if matches!(self.work, Work::Idle | Work::Pause) {
                    // Nobody asked.
                    actions.close = true;
                    self.work = Work::Idle;
                }
                self.heard(Some(bytes), actions)
            }
            Event::Connected => self.heard(None, actions),
            Event::Closed => {
                if self.work == Work::Idle {
                    return Progress::Pending;
                }
                actions.close = true;
                Progress::Done(self.break_off(ErrorClass::ClosedEarly))
            }
            Event::Timer if self.work == Work::Pause => {
                self.work = Work::Idle;
                self.exchange.done(0)
            }
            Event::Timer | Event::Sent | Event::Discarded(_) | Event::Stream(_) => Progress::Pending,
        }
    }

    fn outgoing(&self) -> &[u8] {
        &self.exchange.out
    }

    /// An iteration is a whole message, or a whole session of reading.
    fn goes_on(&self) -> bool {
        match self.work {
            Work::Idle => false,
            Work::Send => !self.smtp.is_between_messages(),
            Work::Read | Work::Pause => true,
        }
    }

    fn fail(&mut self, error: ErrorClass) -> Outcome {
        self.break_off(error)
    }

    fn finished(&mut self, outcome: &Outcome, stamps: &Stamps) {
        let time_ns = stamps.end_ns - stamps.start_ns;
        self.now_ns = stamps.end_ns;
        let operation = self.exchange.operation;
        if self.thread.stage == Stage::Measure {
            let total = if operation.sends() { &mut self.send_ns } else { &mut self.read_ns };
            *total += time_ns;
            self.times_ns[operation as usize] += time_ns;
            if !self.goes_on() {
                self.iterations[usize::from(!operation.sends())] += 1;
            }
            self.count_done(operation, outcome.error.is_some(), stamps);
            self.visits.add(operation, outcome.error.is_none(), self.work == Work::Idle, stamps);
            if self.timeline.in_window(stamps.end_ns) {
                self.thread.response.add(operation, outcome.error, time_ns);
            }
        }
        if operation.connects()
            && let Some(connect_ns) = stamps.connect_ns
        {
            self.thread.refusals().connected(connect_ns);
        }
        // Of several recipients some may have been taken: what was sent has its moment whatever the outcome.
        self.sender.stamp(stamps.end_ns);
        if outcome.error.is_none() {
            let read = self.reader.stamp(stamps);
            if read && self.thread.stage == Stage::Drain {
                self.thread.plan.exchange.note_news(stamps.end_ns);
            }
        }
    }

    fn enter(&mut self, stage: Stage, timeline: &Timeline) {
        self.thread.stage = stage;
        self.work = Work::Idle;
        if stage == Stage::Measure {
            self.timeline = *timeline;
        }
        if stage == Stage::Drain {
            let exchange = &self.thread.plan.exchange;
            self.reader.expect(|mailbox| exchange.outstanding(mailbox));
        }
    }

    fn leave(&mut self, stage: Stage) {
        // The stage's end cuts what is going on; a message without its final reply is in doubt.
        dialogue!(self, dialogue => dialogue.cut(), idle => ());
        self.work = Work::Idle;
        match stage {
            Stage::Prepare => {
                if self.thread.fatal.is_none() && self.reader.rotate_to_clean() {
                    let looked = self.thread.plan.initialise == Initialise::Look;
                    let what = if looked { "looked at" } else { "emptied" };
                    self.thread
                        .give_up(&format!("its mailboxes could not be {what} in the time allowed for initialisation"));
                }
            }
            Stage::Measure => {
                self.messages.cut();
                self.mailbox_visits.cut();
                self.thread.response.close();
                let plan = &self.thread.plan;
                if plan.has_ledger() {
                    plan.exchange.deposit(self.sender.accepted_copies(), self.reader.seen_copies());
                }
            }
            Stage::Drain => self.reader.stop_looking(),
        }
    }

    fn fatal(&self) -> Option<String> {
        self.thread.fatal.clone()
    }
}
