//! Waiting for sockets and for a moment, for loops of their own.
//!
//! While one connection is open it is looked at by itself, without epoll: a connection that lives for one reply is then
//! never registered. A planned start is met by waking early and looking at the clock, as the event loop of virtual
//! users does.

use super::epoll::{Epoll, READ, READ_WRITE, TICK};
use super::pacer::{Pace, Pacer};
use super::poller::{Poller, SHARED_NS};
use crate::clock::MonotonicClock;
use bakeoff_engine::{Clock, Nanos};
use std::io;
use std::os::fd::RawFd;

/// Longest wait, so that a cancel is seen and live figures stay fresh, ns.
const TICK_NS: Nanos = 50_000_000;
/// A look at the sockets takes up to so long, ns: closer to a start only the clock is looked at.
const LAST_SAMPLE_NS: Nanos = 2_000;

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

impl Ready {
    /// Whether anything can be done.
    fn any(self) -> bool {
        self != Self::default()
    }
}

/// A wait as it was begun.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "units come last in names")]
struct BegunWait {
    now_ns: Nanos,
    gap_ns: Nanos,
    sleep_ns: Nanos,
}

/// One per loop.
#[derive(Debug)]
pub struct Waiter {
    epoll: Epoll,
    poller: Option<Poller>,
    pacer: Pacer,
}

impl Waiter {
    /// One that polls for replies instead of sleeping, where `poll`.
    pub fn new(poll: bool) -> io::Result<Self> {
        Ok(Self { epoll: Epoll::new(TICK_NS)?, poller: poll.then(Poller::default), pacer: Pacer::default() })
    }

    /// Registers a socket for [`Waiter::wait`]; closing it is enough to end that.
    pub fn add(&self, fd: RawFd, write: bool, token: u64) -> io::Result<()> {
        self.epoll.add(fd, if write { READ_WRITE } else { READ }, token)
    }

    /// Whether a registered socket is watched for room, too.
    pub fn change(&self, fd: RawFd, write: bool, token: u64) -> io::Result<()> {
        self.epoll.change(fd, if write { READ_WRITE } else { READ }, token)
    }

    /// Time spent looking for what had not come yet, ns.
    pub fn idle_ns(&self) -> Nanos {
        self.pacer.spun_ns + self.poller.as_ref().map_or(0, |poller| poller.polled_ns)
    }

    /// Waits for registered sockets until a moment, or a tick of 50 ms; returns how many [`Waiter::event`] has. It may
    /// return before; when the moment is that of a `start` it does not return after it, as far as the machine lets it.
    pub fn wait(&mut self, now_ns: Nanos, until_ns: Nanos, start: bool) -> usize {
        if until_ns <= now_ns {
            return self.epoll.poll();
        }
        if let Some(poll_ns) = self.poll_ns() {
            let (limit_ns, mut last_ns) = (until_ns.min(now_ns + poll_ns), now_ns);
            loop {
                let count = self.epoll.poll();
                let over = self.polled(&mut last_ns, limit_ns, count > 0);
                if count > 0 {
                    return count;
                }
                if over {
                    break;
                }
            }
        }
        match self.pace(until_ns, start) {
            None => self.spin(until_ns, |waiter| Some(waiter.epoll.poll()).filter(|&count| count > 0)).unwrap_or(0),
            Some(asked) => {
                let count = self.epoll.wait((asked.sleep_ns < TICK_NS).then_some(asked.sleep_ns));
                if count == 0 {
                    self.woke(asked, start);
                }
                count
            }
        }
    }

    /// How long to sleep on the way to a moment; `None` to look at the clock.
    fn pace(&mut self, until_ns: Nanos, start: bool) -> Option<BegunWait> {
        let now_ns = MonotonicClock.now_ns();
        let gap_ns = until_ns.saturating_sub(now_ns);
        let asked = |sleep_ns| Some(BegunWait { now_ns, gap_ns, sleep_ns });
        if !start {
            return asked(gap_ns);
        }
        match self.pacer.pace(gap_ns) {
            Pace::Spin => None,
            Pace::Sleep(sleep_ns) => asked(sleep_ns),
        }
    }

    /// The thread has slept as long as it asked to.
    fn woke(&mut self, wait: BegunWait, start: bool) {
        if start && wait.sleep_ns < TICK_NS {
            self.pacer.woke(wait.gap_ns, wait.sleep_ns, MonotonicClock.now_ns() - wait.now_ns);
        }
    }

    /// Looks at clock and sockets until a start is there, `poll` has found something, or the processor is wanted
    /// elsewhere.
    fn spin<T>(&mut self, until_ns: Nanos, poll: impl Fn(&mut Self) -> Option<T>) -> Option<T> {
        let began_ns = MonotonicClock.now_ns();
        let (mut last_ns, mut found) = (began_ns, None);
        while last_ns < until_ns && found.is_none() {
            if until_ns - last_ns > LAST_SAMPLE_NS {
                found = poll(self);
            } else {
                std::hint::spin_loop();
            }
            let before_ns = std::mem::replace(&mut last_ns, MonotonicClock.now_ns());
            if last_ns - before_ns > SHARED_NS {
                self.pacer.give_way();
                return found;
            }
        }
        self.pacer.undisturbed();
        self.pacer.spun_ns += last_ns - began_ns;
        found
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
    pub fn poll_ns(&mut self) -> Option<Nanos> {
        self.poller.as_mut().and_then(Poller::poll_ns)
    }

    /// One look was made; whether looking is over. `last_ns` is when the look before was made.
    #[inline]
    pub fn polled(&mut self, last_ns: &mut Nanos, until_ns: Nanos, found: bool) -> bool {
        let Some(poller) = &mut self.poller else { return true };
        if found {
            poller.saw_events();
            return true;
        }
        let now_ns = MonotonicClock.now_ns();
        let poll_ns = now_ns - std::mem::replace(last_ns, now_ns);
        poller.polled_ns += poll_ns.min(SHARED_NS);
        if poll_ns > SHARED_NS {
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

    /// Waits for one socket; as [`Waiter::wait`], without epoll and without looking first.
    pub fn wait_one(&mut self, fd: RawFd, write: bool, until_ns: Nanos, start: bool) -> Ready {
        match self.pace(until_ns, start) {
            None => {
                let poll = |waiter: &mut Self| Some(waiter.poll_one(fd, write, Some(0))).filter(|ready| ready.any());
                self.spin(until_ns, poll).unwrap_or_default()
            }
            Some(asked) => {
                let ready = self.poll_one(fd, write, (asked.sleep_ns < TICK_NS).then_some(asked.sleep_ns));
                if !ready.any() {
                    self.woke(asked, start);
                }
                ready
            }
        }
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
