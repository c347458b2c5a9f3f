//! Connections that virtual users share: a mux stands between their streams and the socket.
//!
//! Virtual users stand in groups of as many as share a connection. A connection is kept at the place of one virtual
//! user of its group. A group has one that takes requests; those that take no more are read until they have answered.
//! Each of these has a virtual user's stream, so there is a place for all.

use super::EventLoop;
use super::connection::{Link, NO_FD};
use crate::net::socket::{self, Moved};
use bakeoff_engine::{Actions, ErrorClass, Event, Mux, Next, Session, Streams};
use std::collections::VecDeque;

/// The only endpoint of a workload with streams.
const REMOTE: u8 = 0;

/// What belongs to a connection beside its socket.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) mux: Option<Box<dyn Mux>>,
    /// The virtual user whose operation opens it.
    opener: Option<usize>,
    /// What is to be written.
    pub(super) out: Vec<u8>,
    written: usize,
    /// Requests among it.
    unsent: usize,
    is_dirty: bool,
    /// What was heard last is a part of a reply, of which more is to come.
    pub(super) is_amid: bool,
}

impl Shared {
    /// Hands over what is to be written, all of it.
    pub(super) fn hand_over(&mut self, take: impl FnOnce(&[u8])) {
        take(&self.out);
        self.out.clear();
        self.unsent = 0;
    }

    /// Whether replies may be under way to requests that were sent before.
    #[inline]
    pub(super) fn awaits_more(&self) -> bool {
        self.mux.as_ref().is_some_and(|mux| mux.open_streams() > self.unsent)
    }
}

/// Virtual users that share a connection.
#[derive(Debug, Default)]
struct Group {
    /// The place of the connection that takes requests.
    current: Option<usize>,
    /// Virtual users that wait for it, or for a stream of it.
    waiting: VecDeque<usize>,
}

/// The shared connections of one load thread; nothing where each virtual user has its own.
#[derive(Debug)]
pub(super) struct Traffic {
    kind: Option<Streams>,
    vus: usize,
    groups: Vec<Group>,
    /// By place.
    pub(super) shared: Vec<Shared>,
    /// The place of the connection on which a virtual user has a stream.
    pub(super) of_vus: Vec<Option<usize>>,
    /// Places where something is to be written.
    dirty: Vec<usize>,
    /// The streams that the server takes at once on a connection, as it said last.
    pub(super) streams_allowed: Option<u32>,
}

impl Traffic {
    pub fn new(kind: Option<Streams>, vus: usize) -> Self {
        let (groups, places) = kind.as_ref().map_or((0, 0), |kind| (vus.div_ceil(kind.per_connection), vus));
        Self {
            kind,
            vus,
            groups: (0..groups).map(|_| Group::default()).collect(),
            shared: (0..places).map(|_| Shared::default()).collect(),
            of_vus: vec![None; places],
            dirty: Vec::new(),
            streams_allowed: None,
        }
    }

    /// Whether virtual users share connections.
    #[inline]
    pub const fn is_on(&self) -> bool {
        self.kind.is_some()
    }

    fn per_connection(&self) -> usize {
        self.kind.as_ref().map_or(1, |kind| kind.per_connection)
    }

    #[inline]
    fn group_of(&mut self, vu: usize) -> &mut Group {
        let group = vu / self.per_connection();
        &mut self.groups[group]
    }

    /// Something is to be written there before the iteration is over.
    #[inline]
    fn mark(&mut self, place: usize) {
        let shared = &mut self.shared[place];
        if !shared.is_dirty {
            shared.is_dirty = true;
            self.dirty.push(place);
        }
    }

    /// The connection of a place is gone: the virtual users that had streams on it.
    fn forget(&mut self, place: usize) -> Vec<usize> {
        self.shared[place] = Shared::default();
        self.group_of(place).current.take_if(|current| *current == place);
        let first = place - place % self.per_connection();
        let group = first..(first + self.per_connection()).min(self.vus);
        group.filter(|&vu| self.of_vus[vu].take_if(|of| *of == place).is_some()).collect()
    }
}

impl<S: Session> EventLoop<'_, S> {
    /// Sends the request of a virtual user on a stream, as soon as there is one.
    #[inline]
    pub(super) fn ask(&mut self, vu: usize) {
        let group = self.traffic.group_of(vu);
        let Some(place) = group.current else { return self.open_shared(vu) };
        let is_next = group.waiting.is_empty() && self.connections[place].link == Link::Up;
        if is_next && self.give_stream(place, vu) {
            return;
        }
        if is_next && self.traffic.shared[place].mux.as_ref().is_some_and(|mux| mux.is_leaving()) {
            self.retire(place);
            return self.open_shared(vu);
        }
        self.traffic.group_of(vu).waiting.push_back(vu);
    }

    #[inline]
    fn give_stream(&mut self, place: usize, vu: usize) -> bool {
        let Shared { mux: Some(mux), out, unsent, .. } = &mut self.traffic.shared[place] else { return false };
        let is_given = mux.ask(vu, self.driver.session(vu).outgoing(), out);
        if is_given {
            *unsent += 1;
            self.traffic.of_vus[vu] = Some(place);
            self.traffic.mark(place);
        }
        is_given
    }

    /// Opens a connection for the group of a virtual user, whose operation it belongs to.
    fn open_shared(&mut self, vu: usize) {
        let Some(kind) = &self.traffic.kind else { return };
        let first = vu - vu % kind.per_connection;
        let mut group = first..(first + kind.per_connection).min(self.connections.len());
        let mut mux = kind.mux.make(self.traffic.streams_allowed);
        // Connections that still answer have streams of other virtual users, so there is a place.
        let Some(place) = group.find(|&place| self.connections[place].fd == NO_FD) else { return };
        let mut out = Vec::new();
        mux.open(&mut out);
        self.traffic.shared[place] = Shared { mux: Some(mux), opener: Some(vu), out, ..Shared::default() };
        self.traffic.group_of(vu).current = Some(place);
        self.driver.opens(vu);
        match self.connect(place, REMOTE, false) {
            Ok(is_open) => {
                let connection = &mut self.connections[place];
                if connection.quic.is_none() && !std::mem::replace(&mut connection.no_delay, true) {
                    socket::set_no_delay(connection.fd);
                }
                if is_open {
                    self.shared_opened(place);
                }
            }
            Err(class) => self.fail_shared(place, class),
        }
    }

    /// A shared connection is open; with TLS, its handshake begins.
    pub(super) fn shared_opened(&mut self, place: usize) {
        let tls_follows = self.connections[place].link == Link::Handshaking;
        if let Some(opener) = self.traffic.shared[place].opener {
            let mut actions = Actions::NONE;
            let next = self.driver.connected(opener, tls_follows, &mut actions);
            self.act(opener, next, actions);
        }
        if !tls_follows {
            self.shared_up(place);
        }
    }

    /// The TLS handshake of a shared connection is done.
    pub(super) fn shared_secured(&mut self, place: usize) {
        self.connections[place].link = Link::Up;
        if let Some(opener) = self.traffic.shared[place].opener {
            let mut actions = Actions::NONE;
            let next = self.driver.secured(opener, &mut actions);
            self.act(opener, next, actions);
        }
        self.shared_up(place);
    }

    /// A shared connection takes requests: that of its opener, then those that have waited.
    fn shared_up(&mut self, place: usize) {
        self.traffic.mark(place);
        if let Some(opener) = self.traffic.shared[place].opener.take()
            && !self.give_stream(place, opener)
        {
            self.traffic.group_of(place).waiting.push_front(opener);
        }
        self.admit(place);
    }

    /// Gives streams to those that wait, as far as there are any.
    fn admit(&mut self, place: usize) {
        while let Some(&vu) = self.traffic.group_of(place).waiting.front()
            && self.give_stream(place, vu)
        {
            self.traffic.group_of(place).waiting.pop_front();
            self.driver.admitted(vu);
        }
    }

    /// What was read has changed a connection: streams may be free, or it takes no more requests.
    pub(super) fn settle(&mut self, place: usize) {
        let Some(mux) = &self.traffic.shared[place].mux else { return };
        let is_leaving = mux.is_leaving();
        self.traffic.streams_allowed = mux.streams_allowed();
        if is_leaving {
            self.retire(place);
            self.reopen(place);
        } else if self.traffic.group_of(place).current == Some(place) && self.connections[place].link == Link::Up {
            self.admit(place);
        }
    }

    /// A connection takes no more requests. When it has answered all, it is left, or closed when that is our own wish.
    #[cold]
    fn retire(&mut self, place: usize) {
        self.traffic.group_of(place).current.take_if(|current| *current == place);
        let Some(mux) = &self.traffic.shared[place].mux else { return };
        if mux.open_streams() == 0 {
            // An end of QUIC is told, not waited for: no port is held by it.
            let server_ends = mux.server_ends() && self.connections[place].quic.is_none();
            self.traffic.forget(place);
            if server_ends { self.leave(place) } else { self.close(place) }
        }
    }

    /// Opens a connection for those of a group that wait, when there is none.
    fn reopen(&mut self, vu: usize) {
        let group = self.traffic.group_of(vu);
        if group.current.is_none()
            && let Some(next) = group.waiting.pop_front()
        {
            self.open_shared(next);
        }
    }

    /// The virtual user wants no stream any more.
    #[cold]
    pub(super) fn give_up(&mut self, vu: usize) {
        let Some(place) = self.traffic.of_vus[vu].take() else {
            return self.traffic.group_of(vu).waiting.retain(|&waiting| waiting != vu);
        };
        let Shared { mux, out, .. } = &mut self.traffic.shared[place];
        if let Some(mux) = mux {
            mux.cancel(vu, out);
        }
        self.traffic.mark(place);
    }

    /// The operation of a virtual user has taken too long.
    pub(super) fn fail_on_stream(&mut self, vu: usize, class: ErrorClass) {
        let current = self.traffic.group_of(vu).current;
        if let Some(place) = current.filter(|&place| self.traffic.shared[place].opener == Some(vu)) {
            return self.fail_shared(place, class);
        }
        self.give_up(vu);
        let mut actions = Actions::NONE;
        let next = self.driver.failure(vu, class, &mut actions);
        self.act(vu, next, actions);
    }

    /// A shared connection is lost, and with it what was asked on it. One that never opened is lost to all who waited.
    #[cold]
    pub(super) fn fail_shared(&mut self, place: usize, class: ErrorClass) {
        let opener = self.traffic.shared[place].opener;
        self.close(place);
        let mut vus = self.traffic.forget(place);
        if let Some(opener) = opener {
            vus.push(opener);
            vus.extend(self.traffic.group_of(place).waiting.drain(..));
        }
        self.end_each(vus, |driver, vu, actions| driver.failure(vu, class, actions));
        self.reopen(place);
    }

    /// The server has ended a shared connection. Requests that it had not received by then came too late.
    #[cold]
    pub(super) fn shared_ended(&mut self, place: usize) {
        let connection = &self.connections[place];
        if connection.link != Link::Up {
            return self.fail_shared(place, ErrorClass::ClosedEarly);
        }
        let is_unheard = !connection.answered && socket::has_unacknowledged(connection.fd);
        self.close(place);
        let vus = self.traffic.forget(place);
        self.end_each(vus, |driver, vu, actions| {
            if is_unheard { driver.put_back(vu, actions) } else { driver.event(vu, Event::Closed, actions) }
        });
        self.reopen(place);
    }

    fn end_each(
        &mut self,
        vus: Vec<usize>,
        mut end: impl FnMut(&mut super::Driver<S, super::MonotonicClock>, usize, &mut Actions) -> Next,
    ) {
        for vu in vus {
            let mut actions = Actions::NONE;
            let next = end(&mut self.driver, vu, &mut actions);
            self.act(vu, next, actions);
        }
    }

    /// An attempt to connect has come to its end; `false` when there is nothing more to do now.
    pub(super) fn shared_connects(&mut self, place: usize, readiness: u32) -> bool {
        let ends = (libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP) as u32;
        if readiness & ends == 0 {
            return false;
        }
        let connection = &mut self.connections[place];
        let errno = socket::pending_error(connection.fd);
        if errno != 0 {
            self.fail_shared(place, socket::class_of(errno));
            return false;
        }
        let generation = connection.generation;
        connection.link = if connection.tls.is_some() { Link::Handshaking } else { Link::Up };
        self.shared_opened(place);
        self.connections[place].generation == generation
    }

    /// Writes what the iteration has brought.
    #[inline]
    pub(super) fn flush_shared(&mut self) {
        while let Some(place) = self.traffic.dirty.pop() {
            self.flush(place);
        }
    }

    /// Writes what there is to write on a connection, as far as it takes it.
    #[inline]
    pub(super) fn flush(&mut self, place: usize) {
        let shared = &mut self.traffic.shared[place];
        shared.is_dirty = false;
        let connection = &mut self.connections[place];
        if connection.quic.is_some() {
            return self.flush_streams(place);
        }
        if connection.link != Link::Up || (shared.out.is_empty() && connection.tls.is_none()) {
            return;
        }
        connection.answered = false;
        shared.unsent = 0;
        let result = match &mut connection.tls {
            Some(tls) => {
                shared.written = shared.out.len();
                tls.write(&shared.out).and_then(|()| tls.flush(connection.fd))
            }
            None => loop {
                match socket::send(connection.fd, &shared.out[shared.written..]) {
                    Moved::Bytes(count) => shared.written += count,
                    Moved::Blocked => break Ok(false),
                    Moved::Failed(errno) => break Err(socket::class_of_established(errno)),
                }
                if shared.written == shared.out.len() {
                    break Ok(true);
                }
            },
        };
        if shared.written == shared.out.len() {
            shared.out.clear();
            shared.written = 0;
        }
        let result = result.and_then(|is_done| if is_done { Ok(()) } else { self.want_write(place) });
        if let Err(class) = result {
            self.fail_shared(place, class);
        }
    }
}
