//! Lanes that share their connections: one of them opens it, others wait for it, or for a stream of it.

use super::{Clock, Driver, Next};
use crate::{Actions, ErrorClass, Session};

impl<S: Session, C: Clock> Driver<S, C> {
    /// The operation of a lane has to open the connection that it will share: the connect time-out runs from now.
    pub fn opens(&mut self, lane: usize) {
        let now_ns = self.clock.now_ns();
        self.reconnecting(lane, now_ns);
    }

    /// A stream is there for a lane that had to wait for one, because another lane was still opening the connection or
    /// the server takes no more at once. From now on it waits for its reply; the wait is a step of its own.
    pub fn admitted(&mut self, lane: usize) {
        let now_ns = self.clock.now_ns();
        let state = &mut self.lanes[lane];
        state.stamps.waited_ns = Some(now_ns - state.stamps.start_ns);
        state.stamps.sent_ns = now_ns;
        state.deadline_ns = now_ns + self.reply_timeout_ns;
    }

    /// The server has put the request of a lane back unread. It is asked again, or its operation has failed.
    pub fn put_back(&mut self, lane: usize, actions: &mut Actions) -> Next {
        let state = &mut self.lanes[lane];
        if state.busy && state.session.ask_again(actions) {
            return Next::Pending;
        }
        self.failure(lane, ErrorClass::StreamReset, actions)
    }
}
