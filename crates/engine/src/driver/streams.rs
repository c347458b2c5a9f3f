//! Virtual users that share their connections: one of them opens it, others wait for it, or for a stream of it.

use super::{Clock, Driver, Next};
use crate::{Actions, ErrorClass, Session};

impl<S: Session, C: Clock> Driver<S, C> {
    /// The operation of a virtual user has to open the connection that it will share: the connect time-out runs from
    /// now.
    pub fn opens(&mut self, vu: usize) {
        let now_ns = self.clock.now_ns();
        self.reconnecting(vu, now_ns);
    }

    /// A stream is there for a virtual user that had to wait for one, because another virtual user was still opening
    /// the connection or the server takes no more at once. From now on it waits for its reply; the wait is a step of
    /// its own.
    pub fn admitted(&mut self, vu: usize) {
        let now_ns = self.clock.now_ns();
        let state = &mut self.vus[vu];
        state.stamps.waited_ns = Some(now_ns - state.stamps.start_ns);
        state.stamps.sent_ns = now_ns;
        state.deadline_ns = now_ns + self.reply_timeout_ns;
    }

    /// The server has put the request of a virtual user back unread. It is asked again, or its operation has failed.
    pub fn put_back(&mut self, vu: usize, actions: &mut Actions) -> Next {
        let state = &mut self.vus[vu];
        if state.busy && state.session.ask_again(actions) {
            return Next::Pending;
        }
        self.failure(vu, ErrorClass::StreamReset, actions)
    }
}
