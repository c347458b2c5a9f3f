//! Clocks.

use bakeoff_engine::{Clock, Nanos};

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; the clocks named here exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `CLOCK_MONOTONIC`, read without a system call.
#[derive(Debug, Clone, Copy, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> Nanos {
        read(libc::CLOCK_MONOTONIC)
    }
}

/// Who is to be there in time wakes so much earlier and looks at the clock for the rest, ns: a long sleep ends late by less.
const SPIN_NS: Nanos = 200_000;

/// Sleeps until a moment of [`MonotonicClock`], the last of it awake when `spins`.
pub(crate) fn sleep_until(at_ns: Nanos, spins: bool) {
    let until_ns = if spins { at_ns.saturating_sub(SPIN_NS) } else { at_ns };
    let until = libc::timespec {
        tv_sec: (until_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (until_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `until` is a valid timespec; no remainder is asked for. A signal ends the sleep: then it begins again.
    while MonotonicClock.now_ns() < until_ns
        && unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const until, std::ptr::null_mut())
        } == libc::EINTR
    {}
    while MonotonicClock.now_ns() < at_ns {
        std::hint::spin_loop();
    }
}

/// Now on the monotonic clock, and how far two others are ahead of it, ns: the one that counts suspended time, too, and
/// the wall clock, which can be set.
pub(crate) fn offsets() -> (Nanos, i64, i64) {
    // A pause between two readings would look like a step: the closest of some tries is taken.
    let ahead = |other: libc::clockid_t| {
        let tries = (0..5).map(|_| {
            let before = read(libc::CLOCK_MONOTONIC) as i64;
            let reading = read(other) as i64;
            let after = read(libc::CLOCK_MONOTONIC) as i64;
            (after - before, reading - before)
        });
        tries.min().map_or(0, |(_, ahead)| ahead)
    };
    (read(libc::CLOCK_MONOTONIC), ahead(libc::CLOCK_BOOTTIME), ahead(libc::CLOCK_REALTIME))
}

/// CPU time that the calling thread has used, ns.
pub fn thread_cpu_ns() -> Nanos {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time that all threads of the process have used, ns.
pub fn process_cpu_ns() -> Nanos {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}
