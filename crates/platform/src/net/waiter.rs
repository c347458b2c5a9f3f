//! Waiting for sockets and for a moment, for loops of their own.
//!
//! While one connection is open it is looked at by itself, without epoll: a connection that lives for one reply is then
//! never registered. A moment that has to be met exactly is met by waking early and looking at the clock; where moments
//! follow each other closely the kernel's timer is exact enough, and costs less.

use super::epoll::{Epoll, READ, READ_WRITE, TICK};
use super::poller::{Poller, SHARED_NS};
use crate::clock::MonotonicClock;
use bakeoff_engine::{Clock, Nanos};
use std::io;
use std::os::fd::RawFd;

/// Longest wait, so that a cancel is seen and live figures stay fresh, ns.
const TICK_NS: Nanos = 50_000_000;
/// A processor that slept for long wakes late by about so much, ns.
const WAKE_EARLY_NS: Nanos = 500_000;
/// From this gap on a wake-up is brought forward, ns: below, processors sleep lightly.
const LONG_GAP_NS: Nanos = 2_000_000;

/// What can be done with a socket now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ready {
    /// Something came, an end or an error included.
    pub read: bool,
    /// It takes bytes, or its connect is over.
    pub write: bool,
    /// No more will come than is there.
    pub ending: bool,
}

/// One per loop.
#[derive(Debug)]
pub struct Waiter {
    epoll: Epoll,
    poller: Option<Poller>,
}

impl Waiter {
    /// One that looks for replies instead of sleeping, where `poll`.
    pub fn new(poll: bool) -> io::Result<Self> {
        Ok(Self { epoll: Epoll::new(TICK_NS)?, poller: poll.then(Poller::default) })
    }

    /// Registers a socket for [`Waiter::wait`]; closing it is enough to end that.
    pub fn add(&self, fd: RawFd, write: bool, token: u64) -> io::Result<()> {
        self.epoll.add(fd, if write { READ_WRITE } else { READ }, token)
    }

    /// Whether a registered socket is watched for room, too.
    pub fn change(&self, fd: RawFd, write: bool, token: u64) -> io::Result<()> {
        self.epoll.change(fd, if write { READ_WRITE } else { READ }, token)
    }

    /// Waits for registered sockets until a moment, or a tick of 50 ms; returns how many [`Waiter::event`] has. An `exact`
    /// moment (see [`is_far`]) is met to the microsecond.
    pub fn wait(&mut self, now_ns: Nanos, until_ns: Nanos, exact: bool) -> usize {
        if until_ns <= now_ns {
            return self.epoll.look();
        }
        if let Some(look_ns) = self.look_ns() {
            let (until_ns, mut last_ns) = (until_ns.min(now_ns + look_ns), now_ns);
            loop {
                let count = self.epoll.look();
                let over = self.looked(&mut last_ns, until_ns, count > 0);
                if count > 0 {
                    return count;
                }
                if over {
                    break;
                }
            }
        }
        let sleep_ns = sleep_ns(MonotonicClock.now_ns(), until_ns, exact);
        if sleep_ns > 0 {
            let count = self.epoll.wait((sleep_ns < TICK_NS).then_some(sleep_ns));
            if count > 0 || !exact || sleep_ns >= TICK_NS {
                return count;
            }
        }
        // The rest of the way to the moment.
        while exact && MonotonicClock.now_ns() < until_ns {
            let count = self.epoll.look();
            if count > 0 {
                return count;
            }
        }
        0
    }

    /// Token and readiness of an event of the last wait; `None` for a tick.
    #[inline]
    pub fn event(&self, index: usize) -> Option<(u64, Ready)> {
        let (token, readiness) = self.epoll.event(index);
        if token == TICK {
            self.epoll.ticked();
            return None;
        }
        let is = |bits: libc::c_int| readiness & bits as u32 != 0;
        let ended = libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR;
        let room = libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP;
        Some((token, Ready { read: is(libc::EPOLLIN | ended), write: is(room), ending: is(ended) }))
    }

    /// How long to look for a reply before sleeping, where that is wanted.
    #[inline]
    pub fn look_ns(&mut self) -> Option<Nanos> {
        self.poller.as_mut().and_then(Poller::look_ns)
    }

    /// One look was made; whether looking is over. `last_ns` is when the look before was made.
    #[inline]
    pub fn looked(&mut self, last_ns: &mut Nanos, until_ns: Nanos, found: bool) -> bool {
        let Some(poller) = &mut self.poller else { return true };
        if found {
            poller.saw_events();
            return true;
        }
        let now_ns = MonotonicClock.now_ns();
        let look_ns = now_ns - std::mem::replace(last_ns, now_ns);
        if look_ns > SHARED_NS {
            // Another thread had this processor meanwhile: who shares one does not burn it.
            poller.give_way();
            return true;
        }
        if now_ns >= until_ns {
            poller.missed();
            return true;
        }
        false
    }

    /// Waits for one socket until a moment, or a tick; as [`Waiter::wait`], without epoll.
    pub fn wait_one(&self, fd: RawFd, write: bool, now_ns: Nanos, until_ns: Nanos, exact: bool) -> Ready {
        let sleep_ns = sleep_ns(now_ns, until_ns, exact);
        let ready = self.poll_one(fd, write, (sleep_ns < TICK_NS).then_some(sleep_ns));
        if ready != Ready::default() || !exact || sleep_ns >= TICK_NS {
            return ready;
        }
        while MonotonicClock.now_ns() < until_ns {
            let ready = self.poll_one(fd, write, Some(0));
            if ready != Ready::default() {
                return ready;
            }
        }
        Ready::default()
    }

    fn poll_one(&self, fd: RawFd, write: bool, timeout_ns: Option<Nanos>) -> Ready {
        let interest = libc::POLLIN | libc::POLLRDHUP | if write { libc::POLLOUT } else { 0 };
        // Without a time-out the tick bounds the wait.
        let mut watched = [
            libc::pollfd { fd, events: interest, revents: 0 },
            libc::pollfd { fd: self.epoll.tick_fd(), events: libc::POLLIN, revents: 0 },
        ];
        let timeout = timeout_ns.map(|ns| libc::timespec { tv_sec: 0, tv_nsec: ns.min(TICK_NS) as libc::c_long });
        let count = if timeout.is_none() { 2 } else { 1 };
        let limit = timeout.as_ref().map_or(std::ptr::null(), |limit| &raw const *limit);
        // SAFETY: the array has `count` entries or more, the time is valid or null, no signal mask is given.
        unsafe { libc::ppoll(watched.as_mut_ptr(), count, limit, std::ptr::null()) };
        if watched[1].revents != 0 {
            self.epoll.ticked();
        }
        let is = |bits: libc::c_short| watched[0].revents & bits != 0;
        let ended = libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR;
        let room = libc::POLLOUT | libc::POLLERR | libc::POLLHUP;
        Ready { read: is(libc::POLLIN | ended), write: is(room), ending: is(ended) }
    }
}

/// Whether a moment this far away is to be met exactly: sleeping up to it would miss it by more than looking costs.
pub fn is_far(gap_ns: Nanos) -> bool {
    gap_ns >= LONG_GAP_NS
}

/// How long to sleep on the way to a moment; the rest of an `exact` one is looked through.
fn sleep_ns(now_ns: Nanos, until_ns: Nanos, exact: bool) -> Nanos {
    let gap_ns = until_ns.saturating_sub(now_ns);
    if exact { gap_ns.saturating_sub(WAKE_EARLY_NS) } else { gap_ns }
}
