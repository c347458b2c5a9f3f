//! The seam for protocols: a session is a state machine without socket and without clock.

pub(super) mod actions;
pub(super) mod endpoint;
pub(super) mod mux;
pub mod records;
pub(super) mod stage;

use crate::{
    Actions, Endpoint, ErrorClass, Nanos, SpecError, Stage, Stages, Stamps, StreamEvent, Streams, Timeline, add_counts,
};
use std::sync::Arc;

/// What happened to a session's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The connection is usable (after the TLS handshake, when there is one).
    Connected,
    /// Bytes arrived. They are gone after the call: keep what is needed.
    Received(&'a [u8]),
    /// So many bytes, asked for with [`Actions::discard_bytes`], arrived and were dropped unread.
    Discarded(u64),
    /// All of [`Session::outgoing`] is written.
    Sent,
    /// The timer that was asked for has run out.
    Timer,
    /// The server closed its side in order.
    Closed,
    /// Something came on the session's stream of a connection that it shares.
    Stream(StreamEvent<'a>),
}

impl Event<'_> {
    /// Whether it may be the first that came of a reply.
    #[inline]
    pub(crate) const fn is_arrival(&self) -> bool {
        matches!(self, Self::Received(_) | Self::Stream(StreamEvent::Head { .. }))
    }
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Index into [`Workload::operations`].
    pub operation: u16,
    /// `None` is success.
    pub error: Option<ErrorClass>,
    /// Bytes received for this operation, protocol overhead included.
    pub bytes_in: u64,
    /// Bytes sent for this operation.
    pub bytes_out: u64,
    /// The reply's status code, 0 where the protocol has none.
    pub status: u16,
}

/// Whether the operation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More events are needed.
    Pending,
    /// A part of the operation is over: the step of this number of [`Workload::steps`], from its sending to now. The
    /// driver stamps it, then asks [`Session::go_on`] what follows: what a session does between two parts is in
    /// neither.
    Part(u16),
    /// The operation is over. The driver records it and calls [`Session::begin`] for the next one.
    Done(Outcome),
}

/// Which virtual user of which client a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Client, from 0.
    pub client: u32,
    /// Virtual user of the client, from 0.
    pub vu: u32,
    /// Seed of the trial.
    pub seed: u64,
}

/// One kind of work, made once per trial and shared by all load-generating threads.
pub trait Workload: Send + Sync + 'static {
    /// Its state machine.
    type Session: Session;

    /// Whether a trial can be divided among several machines, whose figures [`Workload::merged`] then makes one.
    const DIVIDES: bool = false;

    /// Names of the operations; an [`Outcome::operation`] is an index into them.
    fn operations(&self) -> Vec<String>;

    /// Names of the steps that [`Session::steps`] tells. They must differ from the engine's own (`connect`, `tls`,
    /// `stream`, `first_byte`, `transfer`, `close`).
    fn steps(&self) -> Vec<String> {
        Vec::new()
    }

    /// The addresses its sessions connect to; [`Actions::connect`] is an index into them.
    fn endpoints(&self) -> Vec<Endpoint> {
        Vec::new()
    }

    /// How its virtual users share connections; each has its own unless a workload says so.
    fn streams(&self) -> Option<Streams> {
        None
    }

    /// Work before and after the measured part; none unless a workload says so.
    fn stages(&self) -> Stages {
        Stages::default()
    }

    /// Operations whose connect, TLS, first-byte and transfer times are also kept apart from the others', as steps
    /// named `<operation>/<step>`. Indices into [`Workload::operations`].
    fn split(&self) -> Vec<u16> {
        Vec::new()
    }

    /// The moments of the starts that this work knows itself, such as those of a log, from the trial's start and never
    /// going back; for a load of shape `replay` that gives none.
    fn moments(&self) -> Option<Arc<[Nanos]>> {
        None
    }

    /// Whether every session is somebody, so that a rate must not pass one over: idle ones then begin in turn. Else the
    /// one that became idle last begins, and as few connections are open as the rate needs.
    fn is_round_robin(&self) -> bool {
        false
    }

    /// A session for one thread of one client.
    fn session(&self, identity: Identity) -> Self::Session;

    /// Extra figures of the trial, put into its result under `workload`.
    fn figures<'a>(&self, _sessions: impl Iterator<Item = &'a Self::Session>) -> serde_json::Value
    where
        Self: Sized,
    {
        serde_json::Value::Null
    }

    /// The figures of a trial from those that each machine's [`Workload::figures`] told of its slice; counts, unless a
    /// workload says otherwise. The error is a sentence.
    fn merged(&self, parts: &[&serde_json::Value]) -> Result<serde_json::Value, String> {
        Ok(add_counts(parts))
    }
}

/// One simulated thread: it is told what happened and answers with [`Actions`].
pub trait Session: Send {
    /// Starts the next operation.
    fn begin(&mut self, actions: &mut Actions);

    /// Under a rate, before [`Session::begin`] of an iteration's first operation: the number of the planned start that
    /// it is for, counted over all threads.
    #[inline]
    fn assigned(&mut self, _start: u64) {}

    /// Asked under a rate when an operation is over: whether the next one belongs to the same iteration and so follows
    /// at once. A planned start begins an iteration; without this, each is one operation.
    #[inline]
    fn goes_on(&self) -> bool {
        false
    }

    /// Takes an event. May come between operations, too (a server that closes an idle connection).
    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress;

    /// A part of the operation was stamped: what follows. The next part begins with its sending, here or after a timer;
    /// each has a reply time-out of its own, and a connection that ends while the timer runs is told as `Closed`.
    fn go_on(&mut self, _actions: &mut Actions) -> Progress {
        Progress::Pending
    }

    /// The bytes that [`Actions::send`] stands for.
    fn outgoing(&self) -> &[u8];

    /// Steps of the operation that has just succeeded in `elapsed_ns`, as far as the session has learnt of them, as
    /// (index into [`Workload::steps`], ns). Recorded like the engine's own steps.
    #[inline]
    fn steps(&mut self, _elapsed_ns: u64) -> &[(u16, u64)] {
        &[]
    }

    /// The server had closed the connection before what was sent last reached it. A session that may ask again on a
    /// new connection says `true` and asks for it in `actions`; the operation goes on.
    fn ask_again(&mut self, _actions: &mut Actions) -> bool {
        false
    }

    /// The operation failed outside the protocol (refused, reset, timed out). The connection is gone.
    /// Returns the outcome to record.
    fn fail(&mut self, error: ErrorClass) -> Outcome;

    /// An operation has just been recorded; these are its moments.
    #[inline]
    fn finished(&mut self, _outcome: &Outcome, _stamps: &Stamps) {}

    /// A stage of a trial with [`Workload::stages`] begins, without any connection; `timeline` is the stage's.
    fn enter(&mut self, _stage: Stage, _timeline: &Timeline) {}

    /// The stage is over for this session. All sessions leave a stage before any enters the next.
    fn leave(&mut self, _stage: Stage) {}

    /// Why the trial cannot go on to the next stage, if it cannot.
    fn fatal(&self) -> Option<String> {
        None
    }
}

impl From<String> for SpecError {
    fn from(text: String) -> Self {
        Self::Range(text)
    }
}
