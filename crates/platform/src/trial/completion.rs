//! Something that happens once, for which threads sleep that are to hear of signals as well.

use crate::clock::MonotonicClock;
use bakeoff_engine::Clock;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// It has happened.
    Completed,
    /// A signal may have come.
    Signal,
    /// Neither in time.
    TimedOut,
}

/// A descriptor that can be read once it has happened.
#[derive(Debug)]
pub(crate) struct Completion {
    fd: OwnedFd,
}

impl Completion {
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call has no preconditions; what it gives is ours alone.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        // SAFETY: it is an open descriptor that nobody else owns.
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) } }) }
    }

    /// It happens when what is given back is dropped.
    pub fn raised_at_end(&self) -> impl Drop + use<'_> {
        CompleteOnDrop(self)
    }

    /// Sleeps until it has happened, a signal interrupts this thread, `wake` can be read, or `timeout` has passed.
    pub fn wait(&self, timeout: Duration, wake: Option<RawFd>) -> Wake {
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut watched = [entry(self.fd.as_raw_fd()), entry(wake.unwrap_or(-1))];
        let until_ns = MonotonicClock.now_ns().saturating_add(timeout.as_nanos().min(u128::from(u64::MAX / 2)) as u64);
        loop {
            let left_ns = until_ns.saturating_sub(MonotonicClock.now_ns());
            let left = libc::timespec {
                tv_sec: (left_ns / 1_000_000_000).min(1_000_000_000) as libc::time_t,
                tv_nsec: (left_ns % 1_000_000_000) as libc::c_long,
            };
            // SAFETY: two valid entries, a valid time and no signal mask; the kernel ignores negative descriptors.
            let count = unsafe { libc::ppoll(watched.as_mut_ptr(), 2, &raw const left, std::ptr::null()) };
            if watched[0].revents != 0 {
                return Wake::Completed;
            }
            if count != 0 {
                return Wake::Signal;
            }
            if left_ns == 0 {
                return Wake::TimedOut;
            }
        }
    }
}

struct CompleteOnDrop<'a>(&'a Completion);

impl Drop for CompleteOnDrop<'_> {
    fn drop(&mut self) {
        let once = 1_u64;
        // SAFETY: the descriptor is open and takes eight bytes.
        unsafe { libc::write(self.0.fd.as_raw_fd(), (&raw const once).cast(), size_of::<u64>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_it_has_happened_when_the_other_descriptor_is_ready_and_in_time() {
        let (post, other) = (Completion::new().unwrap(), Completion::new().unwrap());
        assert_eq!(post.wait(Duration::from_millis(5), Some(other.fd.as_raw_fd())), Wake::TimedOut);
        drop(other.raised_at_end());
        assert_eq!(post.wait(Duration::MAX, Some(other.fd.as_raw_fd())), Wake::Signal);
        drop(post.raised_at_end());
        assert_eq!(post.wait(Duration::MAX, Some(other.fd.as_raw_fd())), Wake::Completed);
    }
}
