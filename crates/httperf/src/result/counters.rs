//! What is counted: httperf's raw sums, and the operations of a trial like any other.

use super::figures::{Errors, HttperfFigures, SessionFigures, Spread};
use super::samples::{Lifetimes, Rate};
use crate::http::pipeline::Flight;
use crate::http::reply::Reply;
use crate::spec::{ClientSpec, Mode, Part};
use bakeoff_engine::{ErrorClass, Nanos, Outcome, Recorder, Stamps};

/// The operations of a trial.
pub(crate) const OPERATIONS: [&str; 3] = ["connection", "call", "session"];
const CONNECTION: u16 = 0;
pub(crate) const CALL: u16 = 1;
const SESSION: u16 = 2;
/// So many bins of a histogram are told while the trial goes on.
const TOLD_MAX: usize = 2_000;
/// Sessions with more replies are counted in the last place.
const LENGTH_MAX: usize = 100_000;

/// Why a connection is over before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A call of the kernel failed with this number.
    Errno(i32),
    /// The server ended a reply, or the stream before it.
    ClosedBefore,
    ClosedWithin,
    /// What came is no HTTP, or nobody asked for it.
    Garbage,
    /// TLS failed.
    Tls,
    /// Our time-out while connecting, or later.
    ConnectTimeout,
    ReplyTimeout,
}

/// All that one trial counts.
pub(crate) struct Counters {
    pub figures: HttperfFigures,
    pub recorder: Recorder,
    lifetimes: Lifetimes,
    replies: Rate,
    sessions: Rate,
    mode: Mode,
    part: Part,
    concurrent: u64,
}

impl Counters {
    pub fn new(recorder: Recorder, mode: Mode, (client, part): (ClientSpec, Part), start_ns: Nanos) -> Self {
        let sessions = (mode == Mode::Sessions).then(SessionFigures::default);
        Self {
            figures: HttperfFigures { sessions, ..HttperfFigures::default() },
            recorder,
            lifetimes: Lifetimes::default(),
            replies: Rate::new(client, start_ns),
            sessions: Rate::new(client, start_ns),
            mode,
            part,
            concurrent: 0,
        }
    }

    /// A connection is attempted.
    pub fn attempted(&mut self) {
        self.figures.connections += 1;
    }

    /// A connection exists.
    pub fn exists(&mut self) {
        self.concurrent += 1;
        self.figures.concurrent_max = self.figures.concurrent_max.max(self.concurrent);
    }

    /// It can be used, so many ns after the attempt.
    pub fn connected(&mut self, connect_ns: u64) {
        self.figures.connect.add(seconds(connect_ns));
        self.recorder.record_connection(true);
    }

    /// It is gone, after so many replies; with the failure, when one ended it.
    pub fn gone(&mut self, stamps: &Stamps, replies: u64, bytes: (u64, u64), failure: Option<Failure>) {
        self.concurrent = self.concurrent.saturating_sub(1);
        if replies > 0 {
            let lifetime_ns = stamps.end_ns.saturating_sub(stamps.start_ns);
            self.figures.lifetime.add(seconds(lifetime_ns));
            self.lifetimes.add(lifetime_ns);
        }
        self.operation(CONNECTION, stamps, bytes, failure.map(Failure::class));
    }

    /// A connection could not be begun.
    pub fn unopened(&mut self, stamps: &Stamps, failure: Failure) {
        self.operation(CONNECTION, stamps, (0, 0), Some(failure.class()));
    }

    /// A connection failed: httperf's count of it.
    pub fn failed(&mut self, failure: Failure) {
        *failure.counter(&mut self.figures.errors) += 1;
    }

    /// Bytes of requests are out.
    pub fn wrote(&mut self, bytes: usize) {
        self.figures.request_bytes += bytes as u64;
    }

    /// A call has its whole reply. httperf counts any; one that says that the server failed, or that has a fault, is a
    /// failed operation.
    pub fn replied(
        &mut self,
        flight: &Flight,
        reply: &Reply,
        (failure_status, fault): (Option<u16>, Option<ErrorClass>),
        now_ns: Nanos,
    ) {
        let sent_ns = flight.sent_ns.unwrap_or(now_ns);
        let first_byte_ns = flight.first_byte_ns.unwrap_or(now_ns);
        let figures = &mut self.figures;
        figures.replies += 1;
        figures.response.add(seconds(first_byte_ns.saturating_sub(sent_ns)));
        figures.transfer.add(seconds(now_ns.saturating_sub(first_byte_ns)));
        figures.reply_header_bytes += reply.header_bytes;
        figures.reply_content_bytes += reply.content_bytes;
        figures.reply_footer_bytes += reply.footer_bytes;
        let statuses = &mut figures.statuses;
        match reply.status / 100 {
            1 => statuses.s1xx += 1,
            2 => statuses.s2xx += 1,
            3 => statuses.s3xx += 1,
            4 => statuses.s4xx += 1,
            5 => statuses.s5xx += 1,
            _ => statuses.other += 1,
        }
        statuses.s200 += u64::from(reply.status == 200);
        statuses.s302 += u64::from(reply.status == 302);
        statuses.interim += reply.interim;
        self.replies.count += 1;
        let stamps = Stamps {
            planned_ns: flight.call.due_ns.min(sent_ns),
            start_ns: sent_ns,
            end_ns: now_ns.max(sent_ns),
            sent_ns,
            first_byte_ns: Some(first_byte_ns),
            ..Stamps::default()
        };
        let bytes_in = reply.header_bytes + reply.content_bytes + reply.footer_bytes;
        let bytes_out = flight.size.header_bytes + flight.size.content_bytes;
        let wrong = !(100..500).contains(&reply.status) || failure_status == Some(reply.status);
        let error = if wrong { Some(ErrorClass::WrongStatus) } else { fault };
        let outcome = Outcome { operation: CALL, error, bytes_in, bytes_out, status: reply.status };
        self.recorder.record(0, &outcome, &stamps);
    }

    /// A call will have no reply on its connection.
    /// One that was not sent, is sent again, or that nobody waits for any more, is no failed operation.
    pub fn unanswered(&mut self, flight: &Flight, failure: Option<Failure>, forgiven: bool, now_ns: Nanos) {
        self.figures.requests_failed += u64::from(flight.written);
        let Some(start_ns) = flight.sent_ns.filter(|_| !forgiven) else { return };
        let end_ns = now_ns.max(start_ns);
        let stamps = Stamps { planned_ns: start_ns, start_ns, sent_ns: start_ns, end_ns, ..Stamps::default() };
        let class = failure.map_or(ErrorClass::ClosedEarly, Failure::class);
        self.operation(CALL, &stamps, (0, 0), Some(class));
    }

    /// A session is over.
    pub fn session_over(&mut self, stamps: &Stamps, completed: bool, replies: u64, connections: u64) {
        let Some(sessions) = &mut self.figures.sessions else { return };
        let lifetime_s = seconds(stamps.end_ns.saturating_sub(stamps.start_ns));
        if completed {
            sessions.completed += 1;
            sessions.connections += connections;
            sessions.lifetime.add(lifetime_s);
            self.sessions.count += 1;
        } else {
            sessions.failed += 1;
            sessions.failtime.add(lifetime_s);
        }
        let place = usize::try_from(replies).unwrap_or(LENGTH_MAX).min(LENGTH_MAX);
        if sessions.lengths.len() <= place {
            sessions.lengths.resize(place + 1, 0);
        }
        sessions.lengths[place] += 1;
        self.operation(SESSION, stamps, (0, 0), (!completed).then_some(ErrorClass::Other));
    }

    /// When the next sample is due.
    pub fn sample_due_ns(&self) -> Nanos {
        self.replies.due_ns()
    }

    /// Takes the samples that are due; the rates, when there are any.
    pub fn sample(&mut self, now_ns: Nanos) -> Option<(f64, Option<f64>)> {
        let replies = self.replies.sample(now_ns, &mut self.figures.reply_rate)?;
        let mut nowhere = Spread::default();
        let spread = self.figures.sessions.as_mut().map_or(&mut nowhere, |sessions| &mut sessions.rate);
        let sessions = self.sessions.sample(now_ns, spread);
        if self.part.is_divided() {
            self.figures.samples.push((replies, sessions.unwrap_or(0.0)));
        }
        Some((replies, sessions.filter(|_| self.mode == Mode::Sessions)))
    }

    /// What was counted so far; without lifetimes and lengths of sessions where they are very many.
    pub fn so_far(&self, start_ns: Nanos, now_ns: Nanos) -> HttperfFigures {
        let mut figures = self.figures.clone();
        figures.test_duration_s = seconds(now_ns.saturating_sub(start_ns));
        figures.lifetime_median_s = self.lifetimes.median_s();
        figures.lifetimes = self.lifetimes.bins();
        if figures.lifetimes.len() > TOLD_MAX {
            figures.lifetimes.clear();
        }
        if let Some(sessions) = figures.sessions.as_mut().filter(|sessions| sessions.lengths.len() > TOLD_MAX) {
            sessions.lengths.clear();
        }
        figures
    }

    /// The trial is over: what is computed from many is.
    pub fn close(&mut self, start_ns: Nanos, now_ns: Nanos) {
        self.figures.test_duration_s = seconds(now_ns.saturating_sub(start_ns));
        self.figures.lifetime_median_s = self.lifetimes.median_s();
        self.figures.lifetimes = self.lifetimes.bins();
    }

    fn operation(
        &mut self,
        operation: u16,
        stamps: &Stamps,
        (bytes_in, bytes_out): (u64, u64),
        error: Option<ErrorClass>,
    ) {
        self.recorder.record(0, &Outcome { operation, error, bytes_in, bytes_out, status: 0 }, stamps);
        let begun = if self.mode == Mode::Sessions { SESSION } else { CONNECTION };
        if operation == begun {
            self.recorder.record_iteration(stamps.planned_ns, stamps.end_ns, error.is_none());
        }
    }
}

impl Failure {
    /// Where httperf counts it.
    fn counter(self, errors: &mut Errors) -> &mut u64 {
        match self {
            Self::ConnectTimeout | Self::ReplyTimeout => &mut errors.client_timo,
            Self::ClosedBefore | Self::ClosedWithin => &mut errors.connreset,
            Self::Garbage | Self::Tls => &mut errors.other,
            // Error numbers as Linux has them.
            Self::Errno(110) => &mut errors.socket_timo,
            Self::Errno(111) => &mut errors.connrefused,
            Self::Errno(32 | 104) => &mut errors.connreset,
            Self::Errno(24) => &mut errors.fd_unavail,
            Self::Errno(23) => &mut errors.ftab_full,
            Self::Errno(98 | 99) => &mut errors.addrunavail,
            Self::Errno(_) => &mut errors.other,
        }
    }

    /// As a trial's errors are told.
    pub fn class(self) -> ErrorClass {
        match self {
            Self::ConnectTimeout => ErrorClass::ConnectTimeout,
            Self::ReplyTimeout => ErrorClass::ReplyTimeout,
            Self::ClosedBefore => ErrorClass::ClosedEarly,
            Self::ClosedWithin => ErrorClass::ShortBody,
            Self::Garbage => ErrorClass::Protocol,
            Self::Tls => ErrorClass::Tls,
            Self::Errno(111) => ErrorClass::Refused,
            Self::Errno(32 | 104) => ErrorClass::ResetBeforeFirstByte,
            Self::Errno(110) => ErrorClass::ConnectTimeout,
            Self::Errno(100 | 101 | 112 | 113) => ErrorClass::Unreachable,
            Self::Errno(98 | 99) => ErrorClass::PortsExhausted,
            Self::Errno(23 | 24) => ErrorClass::TooManyFiles,
            Self::Errno(_) => ErrorClass::Other,
        }
    }
}

pub(crate) fn seconds(ns: Nanos) -> f64 {
    ns as f64 / 1e9
}
