//! A thin wrapper of epoll.

use bakeoff_engine::Nanos;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Readiness that the loop asks for: edge-triggered, so that a connection is registered once in its life.
pub(crate) const READ: u32 = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
pub(crate) const READ_WRITE: u32 = READ | libc::EPOLLOUT as u32;

/// Token of the tick: no virtual user has it.
pub(crate) const TICK: u64 = u64::MAX;

const EVENTS_MAX: usize = 1024;

#[derive(Debug)]
pub(crate) struct Epoll {
    fd: OwnedFd,
    tick: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// Whether the kernel has `epoll_pwait2` (5.11), which waits to the nanosecond.
    fine: bool,
}

impl Epoll {
    /// A wait without other bound ends at the next tick, once in `tick_ns`.
    ///
    /// The tick is one timer that runs all the time: a time-out given with each wait would set a timer and take it
    /// back for each reply, and in a virtual machine both go to the hypervisor.
    pub fn new(tick_ns: Nanos) -> io::Result<Self> {
        // SAFETY: plain system call; the result is checked before it is owned.
        let fd = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: as above.
        let tick =
            owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })?;
        let period = timespec(tick_ns);
        let period = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: `tick` is open, `period` is valid, the old setting is not asked for.
        if unsafe { libc::timerfd_settime(tick.as_raw_fd(), 0, &raw const period, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let epoll = Self { fd, tick, events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX], fine: true };
        epoll.add(epoll.tick.as_raw_fd(), READ, TICK)?;
        Ok(epoll)
    }

    /// Registers a descriptor; closing it is enough to end the registration.
    pub fn add(&self, fd: RawFd, interest: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, interest, token)
    }

    /// Changes what a registered descriptor is watched for.
    pub fn change(&self, fd: RawFd, interest: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, interest, token)
    }

    fn control(&self, operation: libc::c_int, fd: RawFd, interest: u32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: interest, u64: token };
        // SAFETY: both descriptors are open, `event` is valid.
        match unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), operation, fd, &raw mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until the next tick, or at most `timeout_ns`; returns how many events [`Epoll::event`] has.
    pub fn wait(&mut self, timeout_ns: Option<Nanos>) -> usize {
        let count = match timeout_ns {
            Some(timeout_ns) if self.fine => self.wait_fine(timeout_ns),
            Some(timeout_ns) => self.wait_coarse(timeout_ns.div_ceil(1_000_000).min(1_000) as libc::c_int),
            None => self.wait_coarse(-1),
        };
        usize::try_from(count).unwrap_or(0)
    }

    /// The events that are there now; as [`Epoll::wait`] without waiting.
    #[inline]
    pub fn poll(&mut self) -> usize {
        usize::try_from(self.wait_coarse(0)).unwrap_or(0)
    }

    fn wait_fine(&mut self, timeout_ns: Nanos) -> i64 {
        let timeout = timespec(timeout_ns);
        // SAFETY: the events buffer has EVENTS_MAX entries, no signal mask is given.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS_MAX as libc::c_int,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        if count < 0 {
            // Old kernels do not have it; old containers forbid it.
            let errno = io::Error::last_os_error().raw_os_error();
            self.fine = !matches!(errno, Some(libc::ENOSYS | libc::EPERM));
        }
        count
    }

    fn wait_coarse(&mut self, timeout_ms: libc::c_int) -> i64 {
        // SAFETY: the events buffer has EVENTS_MAX entries.
        let count = unsafe {
            libc::epoll_wait(self.fd.as_raw_fd(), self.events.as_mut_ptr(), EVENTS_MAX as libc::c_int, timeout_ms)
        };
        i64::from(count)
    }

    /// A tick was told: the timer goes on to the next one only when it is read.
    pub fn ticked(&self) {
        let mut expirations = [0_u8; 8];
        // SAFETY: the buffer has the 8 bytes that a timer gives. How many they say does not matter.
        unsafe { libc::read(self.tick.as_raw_fd(), expirations.as_mut_ptr().cast(), expirations.len()) };
    }

    /// The tick's descriptor, for those who wait without epoll.
    pub fn tick_fd(&self) -> RawFd {
        self.tick.as_raw_fd()
    }

    /// Token and readiness of an event of the last wait.
    #[inline]
    pub fn event(&self, index: usize) -> (u64, u32) {
        let event = self.events[index];
        (event.u64, event.events)
    }
}

fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fd` was just made by the caller, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn timespec(ns: Nanos) -> libc::timespec {
    libc::timespec { tv_sec: (ns / 1_000_000_000) as libc::time_t, tv_nsec: (ns % 1_000_000_000) as libc::c_long }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_without_bound_ends_at_every_tick() {
        let mut epoll = Epoll::new(2_000_000).unwrap();
        for _ in 0..5 {
            assert_eq!(epoll.wait(None), 1);
            assert_eq!(epoll.event(0).0, TICK);
            epoll.ticked();
        }
    }
}
