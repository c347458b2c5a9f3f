//! Connections whose servers have said that they will close them: their virtual users have gone on, the close is
//! awaited aside.
//!
//! Who closes first keeps the port in `TIME_WAIT`; so servers get the time to do it, but no operation waits for them.

use super::EventLoop;
use super::connection::{Connection, NO_FD};
use super::receive::CLOSING;
use crate::net::socket::{self, Moved};
use bakeoff_engine::{Nanos, Session};
use std::collections::VecDeque;
use std::os::fd::RawFd;

/// Longest wait for an announced close, ns. It is looked at with each tick.
const CLOSE_WAIT_NS: Nanos = 100_000_000;
/// So many connections of a load thread may wait at once, or one for each of its virtual users if these are more and
/// the limit of open files allows it.
const WAITING_LEAST: usize = 64;

/// A connection that waits for its close.
#[derive(Debug)]
struct ClosingConnection {
    fd: RawFd,
    generation: u32,
    since_ns: Nanos,
    is_tls: bool,
}

/// Those of one load thread.
#[derive(Debug)]
pub(super) struct ClosingConnections {
    of_vus: Vec<Vec<ClosingConnection>>,
    /// Virtual user and generation in the order of leaving, those that are gone too until they come first.
    order: VecDeque<(usize, u32)>,
    waiting: usize,
    max: usize,
}

impl ClosingConnections {
    pub fn new(vus: usize) -> Self {
        let of_vus = (0..vus).map(|_| Vec::new()).collect();
        Self { of_vus, order: VecDeque::new(), waiting: 0, max: vus.max(WAITING_LEAST) }
    }

    /// Lets no more than so many wait, or the least.
    pub fn limit(&mut self, max: usize) {
        self.max = self.max.min(max).max(WAITING_LEAST);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    fn is_full(&self) -> bool {
        self.waiting >= self.max
    }

    fn push(&mut self, vu: usize, leaver: ClosingConnection) {
        self.order.push_back((vu, leaver.generation));
        self.of_vus[vu].push(leaver);
        self.waiting += 1;
    }

    fn position(&self, vu: usize, generation: u32) -> Option<usize> {
        self.of_vus[vu].iter().position(|leaver| leaver.generation == generation)
    }

    fn remove(&mut self, vu: usize, at: usize) -> ClosingConnection {
        self.waiting -= 1;
        self.of_vus[vu].swap_remove(at)
    }

    /// Takes the one that waits longest, when it has waited since `since_ns` or before.
    fn pop_before(&mut self, since_ns: Nanos) -> Option<(usize, ClosingConnection)> {
        while let Some(&(vu, generation)) = self.order.front() {
            if let Some(at) = self.position(vu, generation) {
                if self.of_vus[vu][at].since_ns > since_ns {
                    return None;
                }
                self.order.pop_front();
                return Some((vu, self.remove(vu, at)));
            }
            self.order.pop_front();
        }
        None
    }

    /// Forgets those at the front that are gone, so that the order does not grow.
    fn tidy(&mut self) {
        while self.order.front().is_some_and(|&(vu, generation)| self.position(vu, generation).is_none()) {
            self.order.pop_front();
        }
    }
}

impl<S: Session> EventLoop<'_, S> {
    /// The virtual user is done with its connection, which the server will close. It may have done so already: then the
    /// end was announced together with the last bytes.
    #[inline]
    pub(super) fn leave(&mut self, vu: usize) {
        let connection = &mut self.connections[vu];
        if connection.fd == NO_FD {
            return;
        }
        if connection.ending {
            self.driver.left(0, false);
            return self.close(vu);
        }
        let since_ns = self.driver.now_ns();
        let leaver = ClosingConnection {
            fd: connection.fd,
            generation: connection.generation,
            since_ns,
            is_tls: self.remotes[usize::from(connection.remote)].tls.is_some(),
        };
        let generation = connection.generation.wrapping_add(1);
        *connection = Connection { generation, timer: connection.timer, ..Connection::new() };
        if self.leaving.is_full()
            && let Some((_, oldest)) = self.leaving.pop_before(Nanos::MAX)
        {
            self.let_go(&oldest, since_ns, true);
        }
        self.leaving.push(vu, leaver);
    }

    /// Something happened on a connection that was left.
    pub(super) fn leaver_ready(&mut self, vu: usize, generation: u32, readiness: u32) {
        let Some(at) = self.leaving.position(vu, generation) else { return };
        let now_ns = self.driver.now_ns();
        let leaver = &self.leaving.of_vus[vu][at];
        let ended = readiness & CLOSING != 0;
        if !ended && readiness & libc::EPOLLIN as u32 == 0 {
            return;
        }
        if leaver.is_tls && !ended {
            // The notice that TLS will end; unread, it would make our close a reset.
            while let Moved::Bytes(1..) = socket::receive(leaver.fd, &mut self.buffer) {}
            return;
        }
        if !ended {
            self.figures.thread.connections.unsolicited += 1;
        }
        let leaver = self.leaving.remove(vu, at);
        self.let_go(&leaver, now_ns, false);
        self.leaving.tidy();
    }

    /// Closes what has waited too long.
    pub(super) fn close_late(&mut self, now_ns: Nanos) {
        while let Some((_, leaver)) = self.leaving.pop_before(now_ns.saturating_sub(CLOSE_WAIT_NS)) {
            self.let_go(&leaver, now_ns, true);
        }
    }

    /// The trial is over.
    pub(super) fn close_leavers(&mut self) {
        while let Some((_, leaver)) = self.leaving.pop_before(Nanos::MAX) {
            socket::close(leaver.fd, false);
        }
    }

    fn let_go(&mut self, leaver: &ClosingConnection, now_ns: Nanos, late: bool) {
        self.driver.left(now_ns.saturating_sub(leaver.since_ns), late);
        socket::close(leaver.fd, false);
    }
}
