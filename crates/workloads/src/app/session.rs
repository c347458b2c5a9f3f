//! One thread of a simulated client of the application server.

use super::answers::Answers;
use super::plan::{AppPlan, STEPS};
use super::read_back::ReadBack;
use super::shadow::{Shadow, Verdict};
use super::tally::{Tally, VerifiedAnswers};
use crate::deck::Deck;
use bakeoff_app_protocol::{
    Figures, HELLO_REPLY_BYTES, Hello, Kind, READ_ENTRY_BYTES, RECORDS_MAX, REPLY_BYTES, REQUEST_BYTES, ReadEntry,
    Reply, Request, Status, VERSION, record_at, seed_of,
};
use bakeoff_engine::{Actions, ErrorClass, Event, Outcome, Progress, Rng, Session, Stage, Stamps, Timeline};
use std::sync::Arc;

/// No processor does so many rounds of work in a nanosecond: each waits for the one before, for ten cycles at least.
const ROUNDS_PER_NS: u64 = 4;

/// The state machine of one connection, request after request.
#[derive(Debug)]
pub struct AppSession {
    plan: Arc<AppPlan>,
    rng: Rng,
    /// The trial's secret makes the seeds of processor work, and chooses what is looked at again.
    seeds: Rng,
    samples: Rng,
    stage: Stage,
    deck: Deck,
    operation: u16,
    /// The request that is out; a hello comes before the operation's own on a new connection.
    request: Request,
    waiting: bool,
    connected: bool,
    /// The operation included a hello: its times are not split.
    greeted: bool,
    out: Vec<u8>,
    out_bytes: usize,
    head: [u8; REPLY_BYTES],
    received: usize,
    reply: Option<Reply>,
    payload: Vec<u8>,
    payload_bad: bool,
    bytes_in: u64,
    bytes_out: u64,
    shadow: Shadow,
    answers: Answers,
    read_back: ReadBack,
    span: u32,
    steps: [(u16, u64); 2 * STEPS.len()],
    /// Of the last reply.
    figures: Figures,
    timeline: Timeline,
    tally: Tally,
}

impl AppSession {
    pub(crate) fn new(plan: Arc<AppPlan>, rng: Rng, seeds: Rng, samples: Rng) -> Self {
        let mut out = vec![0; REQUEST_BYTES];
        if plan.kinds.contains(&Kind::Upload) {
            out.extend_from_slice(&plan.pattern[..plan.upload_bytes as usize]);
        }
        Self {
            deck: plan.deck.clone(),
            answers: Answers::new(plan.answers, plan.sessions),
            plan,
            rng,
            seeds,
            samples,
            stage: Stage::Measure,
            operation: 0,
            request: Request { kind: Kind::Hello, sequence: 0, a: 0, b: 0, c: 0, payload_bytes: 0 },
            waiting: false,
            connected: false,
            greeted: false,
            out,
            out_bytes: 0,
            head: [0; REPLY_BYTES],
            received: 0,
            reply: None,
            payload: Vec::new(),
            payload_bad: false,
            bytes_in: 0,
            bytes_out: 0,
            shadow: Shadow::default(),
            read_back: ReadBack::default(),
            span: 0,
            steps: [(0, 0); 2 * STEPS.len()],
            figures: Figures::default(),
            timeline: Timeline::new(0, 0, 0, 0),
            tally: Tally::default(),
        }
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Makes a request the outgoing one.
    #[inline]
    fn ask(&mut self, kind: Kind, a: u64, b: u32, c: u32) {
        let payload_bytes = if kind == Kind::Upload { self.plan.upload_bytes } else { 0 };
        self.request = Request { kind, sequence: self.request.sequence + 1, a, b, c, payload_bytes };
        self.request.write(&mut self.out);
        self.out_bytes = self.request.frame_bytes();
        self.bytes_out += self.out_bytes as u64;
        self.received = 0;
        self.reply = None;
        self.payload.clear();
        self.payload_bad = false;
        self.waiting = true;
    }

    #[inline]
    fn ask_for_operation(&mut self) {
        let kind = self.plan.kinds[usize::from(self.operation)];
        match kind {
            Kind::Upload | Kind::Hello => self.ask(kind, 0, 0, 0),
            Kind::Download => self.ask(kind, 0, self.plan.download_bytes, 0),
            Kind::Processor => {
                let (few, random) = (u64::from(self.plan.seeds), self.seeds.next_u64());
                self.ask(kind, if few == 0 { random } else { random % few }, self.plan.rounds, 0);
            }
            Kind::Read => {
                let seed = self.rng.next_u64();
                self.ask(kind, seed, self.plan.read_records, self.span);
            }
            Kind::Write => {
                let seed = self.rng.next_u64();
                for nth in 0..self.plan.write_records {
                    self.shadow.asked(record_at(seed, nth, self.shadow.records()));
                }
                self.ask(kind, seed, self.plan.write_records, self.span);
            }
        }
    }

    fn outcome(&self, error: Option<ErrorClass>) -> Outcome {
        Outcome { operation: self.operation, error, bytes_in: self.bytes_in, bytes_out: self.bytes_out, status: 0 }
    }

    /// Gives the connection up and ends the operation with an error.
    fn broken(&mut self, error: ErrorClass, actions: &mut Actions) -> Progress {
        actions.close = true;
        self.connected = false;
        self.waiting = false;
        Progress::Done(self.outcome(Some(error)))
    }

    #[inline]
    fn take(&mut self, mut bytes: &[u8], actions: &mut Actions) -> Progress {
        self.bytes_in += bytes.len() as u64;
        if !self.waiting {
            return self.broken(ErrorClass::Protocol, actions);
        }
        let reply = if let Some(reply) = self.reply {
            reply
        } else {
            let count = bytes.len().min(REPLY_BYTES - self.received);
            self.head[self.received..self.received + count].copy_from_slice(&bytes[..count]);
            self.received += count;
            bytes = &bytes[count..];
            if self.received < REPLY_BYTES {
                return Progress::Pending;
            }
            let Some(reply) = Reply::parse(&self.head).filter(|reply| self.answers(reply)) else {
                return self.broken(ErrorClass::Protocol, actions);
            };
            self.reply = Some(reply);
            reply
        };
        let had = self.received - REPLY_BYTES;
        if had + bytes.len() > reply.payload_bytes as usize {
            return self.broken(ErrorClass::Protocol, actions);
        }
        self.received += bytes.len();
        if self.request.kind == Kind::Download {
            self.payload_bad |= bytes != &self.plan.pattern[had..had + bytes.len()];
        } else {
            self.payload.extend_from_slice(bytes);
        }
        if had + bytes.len() < reply.payload_bytes as usize {
            return Progress::Pending;
        }
        self.waiting = false;
        self.complete(&reply, actions)
    }

    /// Whether a head can be the reply to the request that is out.
    #[inline]
    fn answers(&self, reply: &Reply) -> bool {
        let request = &self.request;
        if reply.status != Status::Ok {
            return reply.payload_bytes == 0;
        }
        let payload_bytes = match request.kind {
            Kind::Hello => HELLO_REPLY_BYTES as u32,
            Kind::Download => request.b,
            Kind::Read => request.b * READ_ENTRY_BYTES as u32,
            Kind::Upload | Kind::Processor | Kind::Write => 0,
        };
        reply.kind == Some(request.kind) && reply.sequence == request.sequence && reply.payload_bytes == payload_bytes
    }

    #[inline]
    fn complete(&mut self, reply: &Reply, actions: &mut Actions) -> Progress {
        if self.stage == Stage::Drain {
            return self.complete_again(reply, actions);
        }
        if reply.status != Status::Ok {
            *self.tally.refusals.entry(reply.status.name().into()).or_default() += 1;
            return match (self.request.kind, reply.status) {
                // A client that is not let in must not come back at once.
                (Kind::Hello, _) => self.broken(ErrorClass::Refused, actions),
                (_, Status::Busy) => Progress::Done(self.outcome(Some(ErrorClass::WrongStatus))),
                _ => self.broken(ErrorClass::WrongStatus, actions),
            };
        }
        if self.request.kind == Kind::Hello {
            return self.welcome(reply, actions);
        }
        self.figures = reply.figures;
        if self.is_right(reply) {
            self.remember_steps(reply);
            return Progress::Done(self.outcome(None));
        }
        Progress::Done(self.outcome(Some(ErrorClass::WrongContent)))
    }

    /// The session is open: now the operation itself.
    fn welcome(&mut self, reply: &Reply, actions: &mut Actions) -> Progress {
        let Some(hello) = Hello::from_bytes(&self.payload) else {
            return self.broken(ErrorClass::Protocol, actions);
        };
        self.tally.server = Some(hello);
        if self.plan.record_bytes > 0 {
            let records = hello.segment_bytes / u64::from(self.plan.record_bytes);
            if records == 0 || records > RECORDS_MAX {
                return self.broken(ErrorClass::Protocol, actions);
            }
            let span = ((records as f64 * self.plan.working_set).ceil() as u64).clamp(1, records);
            self.span = span as u32;
            let fresh = Shadow::new(reply.value, span, self.plan.record_bytes);
            self.read_back.leave(std::mem::replace(&mut self.shadow, fresh));
        }
        self.ask_for_operation();
        actions.send = true;
        Progress::Pending
    }

    /// Checks the reply against what this side knows it must be.
    #[inline]
    fn is_right(&mut self, reply: &Reply) -> bool {
        let request = self.request;
        match request.kind {
            Kind::Hello => true,
            Kind::Upload => self.counted(reply.value == self.plan.upload_checksum),
            Kind::Download => self.counted(!self.payload_bad),
            Kind::Processor => {
                self.answers.take((request.a, reply.value), &mut self.samples);
                true
            }
            Kind::Write => {
                for nth in 0..request.b {
                    let index = record_at(request.a, nth, self.shadow.records());
                    self.shadow.written(index, request.sequence);
                }
                self.counted(reply.value == u64::from(request.b))
            }
            Kind::Read => self.are_right(request.a),
        }
    }

    fn counted(&mut self, right: bool) -> bool {
        self.tally.wrong_results += u64::from(!right);
        right
    }

    fn are_right(&mut self, seed: u64) -> bool {
        let mut right = true;
        for (nth, bytes) in (0_u32..).zip(self.payload.chunks_exact(READ_ENTRY_BYTES)) {
            let index = record_at(seed, nth, self.shadow.records());
            self.tally.records_read += 1;
            let (verdict, is_new) = self.shadow.judge(index, &ReadEntry::from_bytes(bytes));
            match verdict {
                Verdict::Good => continue,
                Verdict::Damaged => self.tally.damaged += u64::from(is_new),
                Verdict::Lost => self.tally.lost += u64::from(is_new),
            }
            right = false;
        }
        right
    }

    #[inline]
    fn remember_steps(&mut self, reply: &Reply) {
        let own = (STEPS.len() * (1 + usize::from(self.operation))) as u16;
        for (at, time_ns) in [(1, reply.queue_ns), (2, reply.service_ns)] {
            self.steps[usize::from(at)] = (at, time_ns);
            self.steps[STEPS.len() + usize::from(at)] = (own + at, time_ns);
        }
        self.steps[STEPS.len()].0 = own;
    }

    /// After the trial: asks for the next record that is to be read again, on a connection to the segment that it is in.
    fn look_again(&mut self, actions: &mut Actions) {
        self.operation = 0;
        let Some((epoch, records, index)) = self.read_back.next() else {
            actions.stop = true;
            return;
        };
        if self.connected {
            let seed = seed_of(index, records, self.samples.next_u64());
            self.ask(Kind::Read, seed, 1, records as u32);
        } else {
            actions.connect = Some(0);
            self.ask(Kind::Hello, epoch, VERSION, self.plan.record_bytes);
        }
        actions.send = true;
    }

    /// The reply to what [`AppSession::look_again`] asked for.
    fn complete_again(&mut self, reply: &Reply, actions: &mut Actions) -> Progress {
        match (self.request.kind, reply.status) {
            (Kind::Hello, Status::Ok) => {
                self.look_again(actions);
                Progress::Pending
            }
            (Kind::Hello, status) => {
                // One that is busy may not have seen yet that the session before has ended.
                if status != Status::Busy {
                    self.read_back.gone();
                }
                self.broken(ErrorClass::Refused, actions)
            }
            (_, Status::Ok) => {
                if !self.read_back.took(&ReadEntry::from_bytes(&self.payload)) {
                    actions.close = true;
                    self.connected = false;
                }
                Progress::Done(self.outcome(None))
            }
            _ => self.broken(ErrorClass::Refused, actions),
        }
    }

    /// Works out again a random sample of the answers to processor work.
    fn work_out(&mut self) -> VerifiedAnswers {
        let (answers, total) = (self.answers.count, self.plan.left.answers());
        let share =
            if total == 0 { 0 } else { (u128::from(self.plan.answers) * u128::from(answers)).div_ceil(total.into()) };
        let (checked, wrong) = self.answers.work_out(share as u64, self.plan.rounds, &mut self.samples);
        VerifiedAnswers { answers, checked, wrong }
    }

    /// Whether a reply's queue and service times can be those of a transaction that took so long.
    #[inline]
    fn can_be(&mut self, elapsed_ns: u64) -> bool {
        let told_ns = self.steps[1].1.saturating_add(self.steps[2].1);
        let times = &mut self.tally.times;
        times.told += 1;
        // Clocks of two machines go alike to far less than a hundredth.
        let too_long = told_ns > elapsed_ns + elapsed_ns / 100;
        let too_short = self.request.kind == Kind::Processor && told_ns < u64::from(self.request.b) / ROUNDS_PER_NS;
        times.too_long += u64::from(too_long);
        times.too_short += u64::from(too_short);
        !too_long && !too_short
    }

    fn closed(&mut self, actions: &mut Actions) -> Progress {
        if !self.waiting {
            actions.close = true;
            self.connected = false;
            return Progress::Pending;
        }
        let early = self.received == 0;
        self.broken(if early { ErrorClass::ClosedEarly } else { ErrorClass::ShortBody }, actions)
    }
}

impl Session for AppSession {
    #[inline]
    fn begin(&mut self, actions: &mut Actions) {
        if self.stage == Stage::Drain {
            self.look_again(actions);
            return;
        }
        self.operation = self.deck.deal(&mut self.rng);
        self.bytes_in = 0;
        self.bytes_out = 0;
        self.greeted = !self.connected;
        if self.connected {
            self.ask_for_operation();
        } else {
            actions.connect = Some(0);
            self.ask(Kind::Hello, 0, VERSION, self.plan.record_bytes);
        }
        actions.send = true;
    }

    #[inline]
    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        match event {
            Event::Received(bytes) => self.take(bytes, actions),
            Event::Connected => {
                self.connected = true;
                Progress::Pending
            }
            Event::Closed => self.closed(actions),
            Event::Sent | Event::Timer | Event::Discarded(_) | Event::Stream(_) => Progress::Pending,
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.out[..self.out_bytes]
    }

    /// Network time is what the server does not account for.
    #[inline]
    fn steps(&mut self, elapsed_ns: u64) -> &[(u16, u64)] {
        if self.greeted || self.stage == Stage::Drain || !self.can_be(elapsed_ns) {
            return &[];
        }
        let network_ns = elapsed_ns.saturating_sub(self.steps[1].1 + self.steps[2].1);
        self.steps[0].1 = network_ns;
        self.steps[STEPS.len()].1 = network_ns;
        &self.steps
    }

    fn fail(&mut self, error: ErrorClass) -> Outcome {
        self.connected = false;
        self.waiting = false;
        self.outcome(Some(error))
    }

    #[inline]
    fn finished(&mut self, outcome: &Outcome, stamps: &Stamps) {
        if self.stage == Stage::Drain {
            self.read_back.heard(outcome.error.is_none(), stamps.end_ns);
        } else if outcome.error.is_none() && self.timeline.in_window(stamps.end_ns) {
            self.tally.used.take(self.figures);
        }
    }

    fn enter(&mut self, stage: Stage, timeline: &Timeline) {
        self.stage = stage;
        if stage == Stage::Drain {
            if self.plan.kinds.contains(&Kind::Processor) {
                self.tally.worked = Some(self.work_out());
            }
            self.read_back.choose(self.plan.left.records(), timeline.start_ns, &mut self.samples);
        } else {
            self.timeline = *timeline;
        }
    }

    /// Connections do not outlive a stage.
    fn leave(&mut self, stage: Stage) {
        self.connected = false;
        self.waiting = false;
        if stage == Stage::Measure {
            self.read_back.leave(std::mem::take(&mut self.shadow));
            self.plan.left.add(self.read_back.records(), self.answers.count);
        } else if self.plan.kinds.contains(&Kind::Write) {
            self.tally.read_back = Some(self.read_back.found);
        }
    }
}
