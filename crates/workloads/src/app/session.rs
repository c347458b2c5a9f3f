//! One thread of a simulated client of the application server.

use super::plan::{AppPlan, STEPS};
use super::shadow::{Shadow, Verdict};
use super::watch::Watch;
use crate::deck::Deck;
use bakeoff_app_protocol::{
    Figures, HELLO_REPLY_BYTES, Hello, Kind, READ_ENTRY_BYTES, RECORDS_MAX, REPLY_BYTES, REQUEST_BYTES, ReadEntry,
    Reply, Request, Status, VERSION, record_at,
};
use bakeoff_engine::{Actions, ErrorClass, Event, Outcome, Progress, Rng, Session, Stage, Stamps, Timeline};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a session has learnt beside what the engine records.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub server: Option<Hello>,
    /// What the server had used, told inside the window.
    pub used: Watch,
    pub records_read: u64,
    pub damaged: u64,
    pub lost: u64,
    pub wrong_results: u64,
    pub refusals: BTreeMap<Cow<'static, str>, u64>,
}

impl Tally {
    /// As one machine of several tells it.
    pub fn json(&self) -> Value {
        json!({
            "hello": self.server.map(|hello| hello.to_bytes().to_vec()),
            "used": self.used.looks(),
            "counts": [self.records_read, self.damaged, self.lost, self.wrong_results],
            "refusals": self.refusals,
        })
    }

    /// Reads what [`Tally::json`] tells; `None` for anything else.
    pub fn from_json(value: &Value) -> Option<Self> {
        let read = |name: &str| value.get(name).cloned();
        let hello: Option<Vec<u8>> = serde_json::from_value(read("hello")?).ok()?;
        let [records_read, damaged, lost, wrong_results] = serde_json::from_value(read("counts")?).ok()?;
        Some(Self {
            server: hello.map(|bytes| Hello::from_bytes(&bytes).ok_or(())).transpose().ok()?,
            used: Watch::of(serde_json::from_value(read("used")?).ok()?),
            records_read,
            damaged,
            lost,
            wrong_results,
            refusals: serde_json::from_value(read("refusals")?).ok()?,
        })
    }

    /// Adds another session's.
    pub fn add(&mut self, other: &Self) {
        if let Some(server) = other.server {
            // One that asked for a segment knows its size.
            if self.server.is_none_or(|known| known.segment_bytes == 0) {
                self.server = Some(server);
            }
        }
        self.used.add(&other.used);
        self.records_read += other.records_read;
        self.damaged += other.damaged;
        self.lost += other.lost;
        self.wrong_results += other.wrong_results;
        for (name, count) in &other.refusals {
            *self.refusals.entry(name.clone()).or_default() += count;
        }
    }
}

/// The state machine of one connection, request after request.
#[derive(Debug)]
pub struct AppSession {
    plan: Arc<AppPlan>,
    rng: Rng,
    number: u64,
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
    span: u32,
    steps: [(u16, u64); 2 * STEPS.len()],
    /// Of the last reply.
    figures: Figures,
    timeline: Timeline,
    tally: Tally,
}

impl AppSession {
    pub(crate) fn new(plan: Arc<AppPlan>, rng: Rng, number: u64) -> Self {
        let mut out = vec![0; REQUEST_BYTES];
        if plan.kinds.contains(&Kind::Upload) {
            out.extend_from_slice(&plan.pattern[..plan.upload_bytes as usize]);
        }
        Self {
            deck: plan.deck.clone(),
            plan,
            rng,
            number,
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
                let seed = self.rng.below(self.plan.results.len() as u64);
                self.ask(kind, seed, self.plan.rounds, 0);
            }
            Kind::Read => {
                let seed = self.rng.next_u64();
                self.ask(kind, seed, self.plan.read_records, self.span);
            }
            Kind::Write => {
                let seed = self.rng.next_u64();
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
            self.shadow.reset(reply.value, span, self.plan.record_bytes);
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
            Kind::Processor => self.counted(self.plan.results.get(request.a as usize) == Some(&reply.value)),
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
            match self.shadow.judge(index, &ReadEntry::from_bytes(bytes)) {
                Verdict::Good => continue,
                Verdict::Damaged => self.tally.damaged += 1,
                Verdict::Lost => self.tally.lost += 1,
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
        self.operation = self.deck.deal(&mut self.rng);
        self.bytes_in = 0;
        self.bytes_out = 0;
        self.greeted = !self.connected;
        if self.connected {
            self.ask_for_operation();
        } else {
            actions.connect = Some(0);
            self.ask(Kind::Hello, self.number, VERSION, self.plan.record_bytes);
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
        if self.greeted {
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
        if outcome.error.is_none() && self.timeline.in_window(stamps.end_ns) {
            self.tally.used.take(self.figures);
        }
    }

    fn enter(&mut self, _stage: Stage, timeline: &Timeline) {
        self.timeline = *timeline;
    }
}
