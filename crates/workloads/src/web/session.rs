//! One thread of a simulated web client.

use super::check::agreed::content_type;
use super::check::failures::Fault;
use super::check::learnt::Learnt;
use super::check::sampling::Sampler;
use super::http1::body::Body;
use super::http1::head;
use super::http1::head::Head;
use super::http2::message::INTERIM_MAX;
use super::plan::WebPlan;
use crate::deck::Deck;
use bakeoff_engine::{
    Actions, ErrorClass, Event, Outcome, Progress, Rng, Session, Stage, Stamps, StreamEvent, Timeline,
};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[derive(Debug)]
enum State {
    /// No request is out.
    Idle,
    Head,
    Body(Body),
    /// A body whose end the stream tells, with the length that was stated.
    Stream {
        stated: Option<u64>,
    },
}

/// So often a server may put one request back before it counts as refused.
const PUT_BACK_MAX: u8 = 3;

/// How a server may end a connection that was idle for too long (RFC 9110, 15.5.9), after `HTTP/1.x`.
const IDLE_TIME_OUT: &[u8] = b" 408 ";

/// Who looks at replies while they pass.
pub trait Reader: Send {
    /// A whole head, as it came.
    #[inline]
    fn head(&mut self, _bytes: &[u8]) {}

    /// Whether the body of the reply is shown.
    #[inline]
    fn wants_body(&self) -> bool {
        false
    }

    /// A part of the body.
    #[inline]
    fn body(&mut self, _bytes: &[u8]) {}
}

/// Nobody does: what is known of replies is in the plan.
#[derive(Debug, Default)]
pub struct Unread;

impl Reader for Unread {}

/// The state machine of one connection, request after request.
#[derive(Debug)]
pub struct WebSession<R = Unread> {
    plan: Arc<WebPlan>,
    reader: R,
    rng: Rng,
    deck: Deck,
    sampler: Sampler,
    request: usize,
    connected: bool,
    requests_on_connection: u32,
    state: State,
    head: Vec<u8>,
    status: u16,
    keeps_open: bool,
    bytes_in: u64,
    bytes_out: u64,
    body_bytes: u64,
    /// How often the server has put this request back.
    put_back: u8,
    interims: u8,
    hasher: Option<Box<Sha256>>,
    other_type: bool,
    /// Of a reply from which is learnt.
    content_type: Box<[u8]>,
    timeline: Option<Timeline>,
}

impl<R: Reader> WebSession<R> {
    pub(super) fn new(plan: Arc<WebPlan>, rng: Rng, sampler: Sampler, reader: R) -> Self {
        Self {
            deck: plan.deck.clone(),
            plan,
            reader,
            rng,
            sampler,
            request: 0,
            connected: false,
            requests_on_connection: 0,
            state: State::Idle,
            head: Vec::new(),
            status: 0,
            keeps_open: false,
            bytes_in: 0,
            bytes_out: 0,
            body_bytes: 0,
            put_back: 0,
            interims: 0,
            hasher: None,
            other_type: false,
            content_type: Box::default(),
            timeline: None,
        }
    }

    /// Deals the next class and picks one of its requests.
    #[inline]
    fn choose(&mut self) -> usize {
        let class = &self.plan.classes[usize::from(self.deck.deal(&mut self.rng))];
        let choices = class.requests.len();
        class.requests.start + if choices == 1 { 0 } else { self.rng.below(choices as u64) as usize }
    }

    #[inline]
    fn hash_is_due(&mut self, status: u16) -> bool {
        if self.plan.lessons.is_some() {
            return true;
        }
        let is_known = self.plan.requests[self.request].agreed.has_hash(status);
        is_known && self.sampler.is_due(&self.plan, self.request)
    }

    fn outcome(&self, error: Option<ErrorClass>) -> Outcome {
        Outcome {
            operation: self.plan.requests[self.request].class,
            error,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            status: self.status,
        }
    }

    /// Gives the connection up and ends the operation with an error.
    fn broken(&mut self, error: ErrorClass, actions: &mut Actions) -> Progress {
        self.drop_connection(actions);
        Progress::Done(self.outcome(Some(error)))
    }

    fn drop_connection(&mut self, actions: &mut Actions) {
        actions.close = true;
        self.connected = false;
        self.state = State::Idle;
    }

    #[inline]
    fn received(&mut self, bytes: &[u8], actions: &mut Actions) -> Progress {
        self.bytes_in += bytes.len() as u64;
        match &mut self.state {
            State::Head if self.head.is_empty() => self.head_bytes(bytes, actions),
            State::Head => {
                let mut head = std::mem::take(&mut self.head);
                head.extend_from_slice(bytes);
                let progress = self.head_bytes(&head, actions);
                if self.head.is_empty() {
                    head.clear();
                    self.head = head;
                }
                progress
            }
            State::Body(_) | State::Stream { .. } => self.body(bytes, actions),
            State::Idle => self.unsolicited(bytes, actions),
        }
    }

    /// Bytes that no request asked for: the next reply on this connection could be anyone's.
    #[cold]
    fn unsolicited(&mut self, bytes: &[u8], actions: &mut Actions) -> Progress {
        if bytes.get(8..).is_none_or(|rest| !rest.starts_with(IDLE_TIME_OUT)) {
            self.plan.unsolicited.fetch_add(1, Ordering::Relaxed);
        }
        self.drop_connection(actions);
        Progress::Pending
    }

    #[inline]
    fn head_bytes(&mut self, bytes: &[u8], actions: &mut Actions) -> Progress {
        let head_only = self.plan.requests[self.request].head_only;
        let mut rest = bytes;
        let head = loop {
            match head::parse(rest, head_only) {
                Ok(Some(head)) if head.status < 200 && self.interims < INTERIM_MAX => {
                    self.interims += 1;
                    rest = &rest[head.bytes..];
                }
                Ok(Some(head)) if head.status < 200 => return self.broken(ErrorClass::Protocol, actions),
                Ok(Some(head)) => break head,
                Ok(None) => {
                    self.head.extend_from_slice(rest);
                    return Progress::Pending;
                }
                Err(_) => return self.broken(ErrorClass::Protocol, actions),
            }
        };
        self.reader.head(&rest[..head.bytes]);
        let agreed = &self.plan.requests[self.request].agreed;
        self.other_type = agreed.is_other_type(head.status, &rest[..head.bytes]);
        if self.plan.lessons.is_some() {
            self.content_type = content_type(&rest[..head.bytes]);
        }
        self.start_body(head);
        self.body(&rest[head.bytes..], actions)
    }

    #[inline]
    fn start_body(&mut self, head: Head) {
        self.head.clear();
        self.keeps_open = head.keeps_open;
        self.begin_body(head.status, State::Body(Body::new(head.framing)));
    }

    #[inline]
    fn begin_body(&mut self, status: u16, state: State) {
        self.status = status;
        self.body_bytes = 0;
        self.state = state;
        self.hasher = self.hash_is_due(status).then(|| Box::new(Sha256::new()));
    }

    #[inline]
    fn body(&mut self, bytes: &[u8], actions: &mut Actions) -> Progress {
        let State::Body(body) = &mut self.state else { return Progress::Pending };
        let (body_bytes, hasher, reader) = (&mut self.body_bytes, &mut self.hasher, &mut self.reader);
        let used = body.take(bytes, |data| look(data, body_bytes, reader, hasher.as_deref_mut()));
        let (left, is_done) = (body.left(), body.is_done());
        match used {
            Err(_) => self.broken(ErrorClass::Protocol, actions),
            Ok(used) if used < bytes.len() => {
                self.plan.unsolicited.fetch_add(1, Ordering::Relaxed);
                self.broken(ErrorClass::Protocol, actions)
            }
            Ok(_) if is_done => self.finish(actions),
            Ok(_) if matches!(self.state, State::Body(Body::ToEnd)) => self.bounded(actions),
            Ok(_) => {
                if self.hasher.is_none() && !self.reader.wants_body() {
                    actions.discard_bytes = left;
                }
                Progress::Pending
            }
        }
    }

    /// After a part of a body whose length only its end tells: one without end is not read for longer than the right
    /// one is.
    #[inline]
    fn bounded(&mut self, actions: &mut Actions) -> Progress {
        let agreed = &self.plan.requests[self.request].agreed;
        if agreed.is_too_long(self.status, self.body_bytes) {
            return self.broken(ErrorClass::WrongContent, actions);
        }
        Progress::Pending
    }

    #[inline]
    fn will_reuse(&self) -> bool {
        self.keeps_open && self.plan.keep_alive && self.requests_on_connection < self.plan.requests_per_connection
    }

    /// The reply is complete, and so is the operation. A close that the server has announced is left to it.
    #[inline]
    fn finish(&mut self, actions: &mut Actions) -> Progress {
        self.state = State::Idle;
        if !self.will_reuse() {
            self.connected = false;
            actions.leave = !self.keeps_open && !self.plan.close_with_reset;
            actions.close = !actions.leave;
        }
        let error = self.judge();
        Progress::Done(self.outcome(error))
    }

    /// The server's close was the end of the reply.
    fn finish_closed(&mut self, actions: &mut Actions) -> Progress {
        self.drop_connection(actions);
        let error = self.judge();
        Progress::Done(self.outcome(error))
    }

    #[inline]
    fn judge(&mut self) -> Option<ErrorClass> {
        let request = &self.plan.requests[self.request];
        let expect = &self.plan.classes[usize::from(request.class)].expect;
        if !expect.is_empty() && !expect.contains(&self.status) {
            return Some(ErrorClass::WrongStatus);
        }
        let fault = request.agreed.fault(self.status, self.body_bytes);
        if fault.is_some() || self.other_type {
            return fault.or(Some(ErrorClass::WrongContent));
        }
        let hash = self.hasher.take()?.finalize();
        self.plan.hashed.fetch_add(1, Ordering::Relaxed);
        self.plan.hashed_bytes.fetch_add(self.body_bytes, Ordering::Relaxed);
        if let Some(lessons) = &self.plan.lessons {
            let content_type = std::mem::take(&mut self.content_type);
            let (status, body_bytes) = (self.status, self.body_bytes);
            lessons.note(self.request, Learnt { status, body_bytes, sha256: hash.into(), content_type });
        }
        (!request.agreed.is_of_hash(&hash)).then_some(ErrorClass::WrongContent)
    }

    fn closed(&mut self, actions: &mut Actions) -> Progress {
        match self.state {
            State::Idle => {
                self.drop_connection(actions);
                Progress::Pending
            }
            State::Body(Body::ToEnd) => self.finish_closed(actions),
            State::Head if self.bytes_in == 0 => self.broken(ErrorClass::ClosedEarly, actions),
            State::Head => self.broken(ErrorClass::Protocol, actions),
            State::Body(_) | State::Stream { .. } => self.broken(ErrorClass::ShortBody, actions),
        }
    }
}

impl<R: Reader> WebSession<R> {
    /// Takes what the mux found for this stream.
    #[inline]
    fn stream(&mut self, event: StreamEvent<'_>, actions: &mut Actions) -> Progress {
        match event {
            StreamEvent::Head { status, length } => {
                let has_body = !self.plan.requests[self.request].head_only && !matches!(status, 204 | 304);
                self.begin_body(status, State::Stream { stated: if has_body { length } else { Some(0) } });
                Progress::Pending
            }
            StreamEvent::Body(bytes) => {
                look(bytes, &mut self.body_bytes, &mut self.reader, self.hasher.as_deref_mut());
                self.bounded(actions)
            }
            StreamEvent::End { bytes_in, bytes_out } => {
                (self.bytes_in, self.bytes_out) = (bytes_in, bytes_out);
                let State::Stream { stated } = self.state else { return self.broken(ErrorClass::Protocol, actions) };
                match stated {
                    Some(stated) if stated < self.body_bytes => self.broken(ErrorClass::Protocol, actions),
                    Some(stated) if stated > self.body_bytes => self.broken(ErrorClass::ShortBody, actions),
                    _ => self.finish(actions),
                }
            }
            StreamEvent::Reset => self.broken(ErrorClass::StreamReset, actions),
            StreamEvent::Malformed => self.broken(ErrorClass::Protocol, actions),
        }
    }

    /// The server has put the request back unread: it is asked once more, and the time counts.
    #[cold]
    fn ask_elsewhere(&mut self, actions: &mut Actions) -> bool {
        self.put_back += 1;
        let again = self.put_back <= PUT_BACK_MAX;
        if again {
            self.plan.put_back.fetch_add(1, Ordering::Relaxed);
            actions.send = true;
        }
        again
    }

    /// Who looks at the replies.
    pub(crate) fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Begins with this request of the plan.
    #[inline]
    pub(crate) fn begin_request(&mut self, request: usize, actions: &mut Actions) {
        self.request = request;
        self.bytes_out = self.plan.requests[request].wire.len() as u64;
        self.state = State::Head;
        self.head.clear();
        self.bytes_in = 0;
        self.status = 0;
        self.hasher = None;
        self.other_type = false;
        self.interims = 0;
        actions.send = true;
        if self.plan.streams.is_some() {
            self.put_back = 0;
            return;
        }
        if !self.connected {
            actions.connect = Some(0);
            self.requests_on_connection = 0;
        }
        self.requests_on_connection += 1;
    }
}

/// Takes a part of a body to all who want it.
#[inline]
fn look<R: Reader>(data: &[u8], body_bytes: &mut u64, reader: &mut R, hasher: Option<&mut Sha256>) {
    *body_bytes += data.len() as u64;
    if reader.wants_body() {
        reader.body(data);
    }
    if let Some(hasher) = hasher {
        hasher.update(data);
    }
}

impl<R: Reader> Session for WebSession<R> {
    #[inline]
    fn begin(&mut self, actions: &mut Actions) {
        let request = self.choose();
        self.begin_request(request, actions);
    }

    #[inline]
    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        match event {
            Event::Received(bytes) => self.received(bytes, actions),
            Event::Discarded(bytes) => {
                self.bytes_in += bytes;
                self.body_bytes += bytes;
                let State::Body(Body::Length(left)) = &mut self.state else {
                    return self.broken(ErrorClass::Protocol, actions);
                };
                *left = left.saturating_sub(bytes);
                actions.discard_bytes = *left;
                if *left == 0 { self.finish(actions) } else { Progress::Pending }
            }
            Event::Connected => {
                self.connected = true;
                Progress::Pending
            }
            Event::Closed => self.closed(actions),
            Event::Stream(event) => self.stream(event, actions),
            Event::Sent | Event::Timer => Progress::Pending,
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.plan.wire[self.plan.requests[self.request].wire.clone()]
    }

    /// The server closed a kept connection before the request had reached it: the request is asked again on a new one,
    /// once (RFC 9112, 9.3.1), and the time counts. One that had reached the server is not: it was left unanswered. Nor
    /// is one that may do a second time what it did before.
    fn ask_again(&mut self, actions: &mut Actions) -> bool {
        if self.plan.streams.is_some() {
            return self.ask_elsewhere(actions);
        }
        let unheard = matches!(self.state, State::Head) && self.bytes_in == 0;
        let stale = unheard && self.requests_on_connection > 1 && self.plan.requests[self.request].idempotent;
        if stale {
            self.plan.stale_connections.fetch_add(1, Ordering::Relaxed);
            self.connected = false;
            self.requests_on_connection = 1;
            actions.close = true;
            actions.connect = Some(0);
            actions.send = true;
        }
        stale
    }

    fn enter(&mut self, _: Stage, timeline: &Timeline) {
        self.timeline = Some(*timeline);
    }

    #[inline]
    fn finished(&mut self, outcome: &Outcome, stamps: &Stamps) {
        let timeline = self.timeline;
        let in_window = || timeline.is_none_or(|timeline| timeline.in_window(stamps.end_ns));
        let Some(error) = outcome.error else {
            self.plan.count_answered(self.request, in_window);
            return;
        };
        if in_window() {
            self.plan.failures.note(self.request, Fault::of(error, outcome));
        }
    }

    fn fail(&mut self, error: ErrorClass) -> Outcome {
        self.connected = false;
        self.state = State::Idle;
        self.outcome(Some(error))
    }
}
