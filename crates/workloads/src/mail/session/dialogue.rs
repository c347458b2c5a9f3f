//! The seam between a session and its protocols: what is said and heard, and what a protocol has to be.

use crate::mail::operation::Operation;
use bakeoff_engine::{Actions, ErrorClass, Outcome, Progress};
use std::io::Write as _;

/// The exchange of one step with a server.
#[derive(Debug)]
pub(crate) struct StepExchange {
    /// What the step sends.
    pub out: Vec<u8>,
    /// Received for the step so far.
    pub bytes_in: u64,
    /// As what it is timed.
    pub operation: Operation,
}

impl StepExchange {
    pub fn new() -> Self {
        Self { out: Vec::new(), bytes_in: 0, operation: Operation::SmtpConnect }
    }

    /// A step begins.
    pub fn clear(&mut self) {
        self.out.clear();
        self.bytes_in = 0;
    }

    pub fn say(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to memory cannot fail.
        let _ = self.out.write_fmt(text);
    }

    pub fn outcome(&self, error: Option<ErrorClass>, status: u16) -> Outcome {
        Outcome {
            operation: self.operation as u16,
            error,
            bytes_in: self.bytes_in,
            bytes_out: self.out.len() as u64,
            status,
        }
    }

    /// The step succeeded.
    pub fn done(&self, status: u16) -> Progress {
        Progress::Done(self.outcome(None, status))
    }

    /// The step failed.
    pub fn failed(&self, error: ErrorClass, status: u16) -> Progress {
        Progress::Done(self.outcome(Some(error), status))
    }
}

/// One protocol, step by step: a state machine that borrows what it needs of its session for the time of a call.
///
/// Between calls it keeps the step that comes next; without one its session is over.
pub(crate) trait Dialogue {
    /// A session is to begin with the next step.
    fn open(&mut self);

    /// The session is over: there is no connection any more.
    fn is_over(&self) -> bool;

    /// Fills [`StepExchange::out`] with what the next step sends, and names it.
    fn begin(&mut self, actions: &mut Actions);

    /// Takes bytes of the server.
    fn received(&mut self, bytes: &[u8], actions: &mut Actions) -> Progress;

    /// The connection is open, or encrypted as it was asked to be.
    fn connected(&mut self) -> Progress;

    /// The connection is gone in the middle of a step.
    fn lost(&mut self, error: ErrorClass);

    /// The stage is over in the middle of a session.
    fn cut(&mut self);
}
