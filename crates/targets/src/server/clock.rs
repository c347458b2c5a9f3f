//! Time to the nanosecond, and a timer that keeps it: tokio's own timers are a millisecond coarse.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::unix::AsyncFd;

const SECOND: u64 = 1_000_000_000;

/// Nanoseconds of the monotonic clock: the same scale that `timerfd` takes.
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux and the pointer is to a live timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

pub fn to_ns(seconds: f64) -> u64 {
    (seconds * SECOND as f64).round() as u64
}

/// Blocks the thread until `deadline_ns` or until `ended` says so (looked at every 20 ms).
pub fn block_until(deadline_ns: u64, ended: impl Fn() -> bool) {
    while !ended() {
        let left = deadline_ns.saturating_sub(now_ns());
        if left == 0 {
            return;
        }
        std::thread::sleep(Duration::from_nanos(left.min(SECOND / 50)));
    }
}

struct Waiting {
    deadline_ns: u64,
    waker: Waker,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.deadline_ns == other.deadline_ns
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.deadline_ns.cmp(&other.deadline_ns)
    }
}

/// One `timerfd` and the queue of those who wait for it; one per worker thread.
pub struct Timer {
    fd: AsyncFd<OwnedFd>,
    queue: Mutex<BinaryHeap<Reverse<Waiting>>>,
}

impl Timer {
    /// Must be called inside a tokio runtime; [`Timer::drive`] must run there too.
    pub fn new() -> io::Result<Arc<Self>> {
        // SAFETY: no pointers; the result is checked before it is owned.
        let raw = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was made just above and nobody else has it; an OwnedFd never changes its descriptor.
        let fd = unsafe { AsyncFd::register(OwnedFd::from_raw_fd(raw)) }?;
        Ok(Arc::new(Self { fd, queue: Mutex::default() }))
    }

    /// Wakes whoever is due, for ever.
    pub async fn drive(self: Arc<Self>) {
        while let Ok(mut ready) = self.fd.readable().await {
            ready.clear_ready();
            let mut expirations = [0u8; 8];
            // SAFETY: the buffer is 8 bytes, which is what a timerfd gives. The value does not matter, the clock does.
            unsafe { libc::read(self.fd.as_raw_fd(), expirations.as_mut_ptr().cast(), expirations.len()) };
            self.wake_due();
        }
    }

    fn wake_due(&self) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now_ns();
        while let Some(Reverse(first)) = queue.peek() {
            if first.deadline_ns > now {
                self.set(first.deadline_ns);
                return;
            }
            if let Some(Reverse(due)) = queue.pop() {
                due.waker.wake();
            }
        }
    }

    fn add(&self, deadline_ns: u64, waker: &Waker) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = queue.peek().is_none_or(|Reverse(first)| deadline_ns < first.deadline_ns);
        queue.push(Reverse(Waiting { deadline_ns, waker: waker.clone() }));
        if earliest {
            self.set(deadline_ns);
        }
    }

    fn set(&self, deadline_ns: u64) {
        let value = libc::timespec {
            tv_sec: (deadline_ns / SECOND) as libc::time_t,
            tv_nsec: (deadline_ns % SECOND) as libc::c_long,
        };
        let spec = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        // SAFETY: a live timerfd and a live itimerspec; the old value is not asked for. An absolute time in the past
        // fires at once, which is what a late caller wants.
        unsafe {
            libc::timerfd_settime(self.fd.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &raw const spec, std::ptr::null_mut())
        };
    }

    /// Completes at `deadline_ns`, never before.
    pub fn until(self: &Arc<Self>, deadline_ns: u64) -> Until {
        Until { timer: Arc::clone(self), deadline_ns, registered: None }
    }
}

/// See [`Timer::until`].
pub struct Until {
    timer: Arc<Timer>,
    deadline_ns: u64,
    registered: Option<Waker>,
}

impl Future for Until {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if now_ns() >= self.deadline_ns {
            return Poll::Ready(());
        }
        let known = self.registered.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        if !known {
            self.timer.add(self.deadline_ns, cx.waker());
            self.registered = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}
