//! A thin wrapper of epoll.

use bakeoff_engine::Nanos;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Readiness that the loop asks for: edge-triggered, so that a connection is registered once in its life.
pub(crate) const READ: u32 = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
pub(crate) const READ_WRITE: u32 = READ | libc::EPOLLOUT as u32;

const EVENTS_MAX: usize = 1024;

#[derive(Debug)]
pub(crate) struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// Whether the kernel has `epoll_pwait2` (5.11), which waits to the nanosecond.
    fine: bool,
}

impl Epoll {
    pub fn new() -> io::Result<Self> {
        // SAFETY: plain system call; the result is checked before it is owned.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` is fresh and ours.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX], fine: true })
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

    /// Waits at most `timeout_ns`; returns how many events [`Epoll::event`] has.
    pub fn wait(&mut self, timeout_ns: Nanos) -> usize {
        let count = if self.fine { self.wait_fine(timeout_ns) } else { self.wait_coarse(timeout_ns) };
        usize::try_from(count).unwrap_or(0)
    }

    fn wait_fine(&mut self, timeout_ns: Nanos) -> i64 {
        let timeout = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
        };
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

    fn wait_coarse(&mut self, timeout_ns: Nanos) -> i64 {
        let timeout_ms = timeout_ns.div_ceil(1_000_000).min(1_000) as libc::c_int;
        // SAFETY: the events buffer has EVENTS_MAX entries.
        let count = unsafe {
            libc::epoll_wait(self.fd.as_raw_fd(), self.events.as_mut_ptr(), EVENTS_MAX as libc::c_int, timeout_ms)
        };
        i64::from(count)
    }

    /// Token and readiness of an event of the last wait.
    #[inline]
    pub fn event(&self, index: usize) -> (u64, u32) {
        let event = self.events[index];
        (event.u64, event.events)
    }
}
