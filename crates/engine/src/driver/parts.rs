//! Operations of several parts, each of which is timed: requests that follow each other, with pauses between them.

use super::{Clock, Driver, Next};
use crate::{Actions, Nanos, Progress, Session};

/// Which part of its operation a lane is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The first one, which begins with the operation; of most operations it is all.
    First,
    /// A later one, begun at this moment.
    Begun(Nanos),
    /// Between two: nothing is asked of the server.
    Pause,
}

impl Part {
    /// When it began, of a later one.
    pub const fn begun_ns(self) -> Option<Nanos> {
        match self {
            Self::Begun(begun_ns) => Some(begun_ns),
            Self::First | Self::Pause => None,
        }
    }
}

impl<S: Session, C: Clock> Driver<S, C> {
    /// A part of a lane's operation is over now. What the session does with the reply comes after the stamp; an operation
    /// that ends with this part ended at that moment.
    pub(super) fn part_over(&mut self, lane: usize, step: u16, actions: &mut Actions) -> Next {
        let now_ns = self.clock.now_ns();
        let state = &mut self.lanes[lane];
        let begun_ns = state.part.begun_ns().unwrap_or(state.stamps.start_ns);
        self.recorder.record_told_steps(now_ns, &[(step, now_ns - begun_ns)]);
        // The first byte of one reply of several says nothing of the operation.
        state.stamps.first_byte_ns = None;
        state.part = Part::Pause;
        match state.session.go_on(actions) {
            Progress::Done(outcome) => self.finish(lane, &outcome, now_ns, actions),
            Progress::Pending | Progress::Part(_) if actions.send => {
                let begins_ns = self.clock.now_ns();
                self.part_begins(lane, begins_ns, actions)
            }
            Progress::Pending | Progress::Part(_) => {
                state.deadline_ns = now_ns + actions.timer_ns.unwrap_or(0) + self.reply_timeout_ns;
                Next::Pending
            }
        }
    }

    /// A later part of a lane's operation is sent now.
    pub(super) fn part_begins(&mut self, lane: usize, now_ns: Nanos, actions: &Actions) -> Next {
        let state = &mut self.lanes[lane];
        state.part = Part::Begun(now_ns);
        state.stamps.sent_ns = now_ns;
        state.stamps.first_byte_ns = None;
        if actions.connect.is_some() {
            return self.reconnecting(lane, now_ns);
        }
        state.deadline_ns = now_ns + self.reply_timeout_ns;
        Next::Pending
    }
}
