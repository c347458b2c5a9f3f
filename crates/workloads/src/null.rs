//! The workload that does nothing: its rate is the tool's own ceiling.

use bakeoff_engine::{Actions, ErrorClass, Event, Identity, Outcome, Progress, Session, Workload};

/// Operations that are over as soon as they have begun.
#[derive(Debug, Clone, Copy)]
pub struct NullWorkload;

/// Its session.
#[derive(Debug, Clone, Copy)]
pub struct NullSession;

const DONE: Outcome = Outcome { operation: 0, error: None, bytes_in: 0, bytes_out: 0, status: 0 };

impl Workload for NullWorkload {
    type Session = NullSession;

    const DIVIDES: bool = true;

    fn operations(&self) -> Vec<String> {
        vec!["nothing".to_owned()]
    }

    fn session(&self, _: Identity) -> NullSession {
        NullSession
    }
}

impl Session for NullSession {
    #[inline]
    fn begin(&mut self, actions: &mut Actions) {
        actions.timer_ns = Some(0);
    }

    #[inline]
    fn advance(&mut self, _: Event<'_>, _: &mut Actions) -> Progress {
        Progress::Done(DONE)
    }

    fn outgoing(&self) -> &[u8] {
        &[]
    }

    fn fail(&mut self, error: ErrorClass) -> Outcome {
        Outcome { error: Some(error), ..DONE }
    }
}
