//! How the loop waits: for replies, for the next planned start, for whatever is due.

use super::{EventLoop, Link, TICK_NS};
use crate::net::socket;
use crate::net::wait::pacer::Pace;
use crate::net::wait::poller::SHARED_NS;
use bakeoff_engine::{Nanos, Session};

/// A look at the sockets takes up to so long, ns: closer to a start only the clock is looked at.
const LAST_SAMPLE_NS: Nanos = 2_000;
/// Who has slept longer than this finds the way of a request cold, ns …
const COOL_NS: Nanos = 1_000_000;
/// … and goes it for so long before the start, ns.
const WARM_NS: Nanos = 12_000;

impl<S: Session> EventLoop<'_, S> {
    /// Waits until something happens or is due; returns how many events there are.
    pub(super) fn wait_for_next(&mut self, now_ns: Nanos) -> usize {
        if !self.ready.is_empty() {
            return self.epoll.poll();
        }
        let limit_ns = self.over_ns.min(now_ns + TICK_NS);
        let due_ns = self.timers.next_before(limit_ns).unwrap_or(limit_ns);
        let start_ns = self.driver.next_start_ns();
        if start_ns < due_ns {
            return self.wait_for_start(now_ns, start_ns);
        }
        self.wait(now_ns, Some(due_ns.saturating_sub(now_ns)).filter(|left_ns| *left_ns < TICK_NS))
    }

    /// Waits for a planned start, so that it is there when the moment is: asleep until shortly before, then awake.
    fn wait_for_start(&mut self, now_ns: Nanos, start_ns: Nanos) -> usize {
        let gap_ns = start_ns.saturating_sub(now_ns);
        if gap_ns == 0 {
            return self.epoll.poll();
        }
        match self.pacer.pace(gap_ns) {
            Pace::Spin => self.spin(now_ns, start_ns),
            Pace::Sleep(asked_ns) => {
                let count = self.wait(now_ns, Some(asked_ns));
                self.cold = asked_ns > COOL_NS;
                if count == 0 {
                    self.pacer.woke(gap_ns, asked_ns, self.driver.now_ns() - now_ns);
                }
                count
            }
        }
    }

    /// Looks at clock and sockets until a start is there, something has come, or the processor is wanted elsewhere.
    fn spin(&mut self, now_ns: Nanos, start_ns: Nanos) -> usize {
        let mut last_ns = now_ns;
        let mut count = 0;
        while last_ns < start_ns {
            if start_ns - last_ns > LAST_SAMPLE_NS {
                if self.cold && start_ns - last_ns < WARM_NS {
                    self.warm();
                }
                count = self.epoll.poll();
                if count > 0 {
                    break;
                }
            } else {
                std::hint::spin_loop();
            }
            let before_ns = std::mem::replace(&mut last_ns, self.driver.now_ns());
            if last_ns - before_ns > SHARED_NS {
                self.pacer.give_way();
                return count;
            }
        }
        self.cold = false;
        self.pacer.undisturbed();
        if self.timeline.in_window(now_ns) {
            self.pacer.spun_ns += last_ns - now_ns;
        }
        count
    }

    /// Goes the way of the request that is to come as far as nothing of it happens: after a sleep neither the code nor
    /// the memory that it needs is near the processor, and a start would be late by what fetching them takes.
    #[cold]
    fn warm(&mut self) {
        self.begin_planned();
        let Some(vu) = self.driver.next_idle().filter(|_| !self.traffic.is_on()) else { return };
        let connection = &self.connections[vu];
        if connection.link == Link::Up && connection.quic.is_none() && connection.written.is_none() {
            socket::warm(connection.fd);
        }
    }

    /// Waits for events, at most `timeout_ns`: looking for them first, where that is wanted.
    #[inline]
    fn wait(&mut self, now_ns: Nanos, timeout_ns: Option<Nanos>) -> usize {
        let Some(poller) = self.poller.as_mut().filter(|_| timeout_ns != Some(0)) else {
            return self.epoll.wait(timeout_ns);
        };
        let Some(poll_ns) = poller.poll_ns() else { return self.epoll.wait(timeout_ns) };
        let until_ns = now_ns + poll_ns.min(timeout_ns.unwrap_or(poll_ns));
        let (mut last_ns, mut polled_ns) = (now_ns, 0);
        let count = loop {
            let count = self.epoll.poll();
            if count > 0 {
                poller.saw_events();
                break count;
            }
            let poll_ns = self.driver.now_ns() - last_ns;
            last_ns += poll_ns;
            polled_ns += poll_ns.min(SHARED_NS);
            if poll_ns > SHARED_NS {
                // Another thread had this processor meanwhile: who shares one does not burn it.
                poller.give_way();
                break 0;
            }
            if last_ns >= until_ns {
                poller.missed();
                break 0;
            }
        };
        if self.timeline.in_window(last_ns) {
            poller.polled_ns += polled_ns;
        }
        if count > 0 {
            return count;
        }
        let left_ns = timeout_ns.map(|timeout_ns| timeout_ns.saturating_sub(last_ns - now_ns));
        self.epoll.wait(left_ns)
    }
}
