//! The process itself: processors, file descriptors, memory.

use std::os::unix::fs::FileExt;

/// Binds the calling thread to one processor; `false` when the kernel refuses.
pub fn pin_to(processor: u32) -> bool {
    if processor as usize >= libc::CPU_SETSIZE as usize {
        return false;
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; the index was checked against its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) == 0
    }
}

/// Lets timed waits of the calling thread end when they are over, not up to 50 µs later, as the kernel does by default so
/// that several fall together.
pub fn wake_on_time() {
    // SAFETY: this option takes one number.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// The processors that this thread may run on, in order; none when the kernel does not say.
pub fn processors() -> Vec<u32> {
    // SAFETY: an all-zero cpu_set_t is the empty set, and the call gets its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as u32).filter(|&processor| libc::CPU_ISSET(processor as usize, &set)).collect()
    }
}

/// Whether the calling thread is the one that the process began with.
pub fn is_main_thread() -> bool {
    // SAFETY: the call has no preconditions.
    unsafe { libc::gettid() == libc::getpid() }
}

/// Raises the soft limit of open files to the hard one; returns the limit now in force.
pub fn raise_file_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid rlimit for both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return 0;
        }
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0 {
            return raised.rlim_cur;
        }
    }
    limit.rlim_cur
}

/// Time that the calling thread was ready to run and waited for a processor, ns; `None` when the kernel does not tell.
pub fn thread_run_delay_ns() -> Option<u64> {
    run_delay_ns(&std::fs::read("/proc/thread-self/schedstat").ok()?)
}

/// The same for a thread that asks often: its file stays open.
#[derive(Debug)]
pub struct RunDelay(Option<std::fs::File>);

impl RunDelay {
    /// Of the calling thread, whichever asks later.
    pub fn of_this_thread() -> Self {
        Self(std::fs::File::open("/proc/thread-self/schedstat").ok())
    }

    /// What it has waited until now, ns.
    pub fn read_ns(&self) -> Option<u64> {
        let mut bytes = [0; 96];
        let count = self.0.as_ref()?.read_at(&mut bytes, 0).ok()?;
        run_delay_ns(&bytes[..count])
    }
}

/// What was spent between two readings, where there are two.
pub(crate) fn spent(before_ns: Option<u64>, after_ns: Option<u64>) -> Option<u64> {
    after_ns.zip(before_ns).map(|(after, before)| after.saturating_sub(before))
}

fn run_delay_ns(schedstat: &[u8]) -> Option<u64> {
    std::str::from_utf8(schedstat).ok()?.split_whitespace().nth(1)?.parse().ok()
}

/// Time that the hypervisor gave to others while processors of this process wanted to run, since the machine began: the
/// mean of these processors, ns; `None` when the kernel does not tell.
pub fn stolen_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    // SAFETY: sysconf has no preconditions.
    let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    let ours = processors();
    let told = text.lines().filter_map(|line| {
        let mut fields = line.strip_prefix("cpu").filter(|rest| !rest.starts_with(' '))?.split_whitespace();
        let processor: u32 = fields.next()?.parse().ok()?;
        ours.contains(&processor).then(|| fields.nth(7)?.parse::<u64>().ok())?
    });
    let stolen: Vec<u64> = told.collect();
    let sum: u64 = stolen.iter().sum();
    (!stolen.is_empty()).then(|| sum * 1_000_000_000 / ticks_per_s / (ours.len().max(1) as u64))
}

/// Resident memory of the process, bytes; 0 when `/proc` does not tell.
pub fn resident_bytes() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    let pages: u64 = text.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0);
    // SAFETY: sysconf has no preconditions.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(0) as u64
}

/// Keeps signals that are meant for the process away from the calling thread.
pub fn block_signals() {
    // SAFETY: a filled signal set is valid; faults of the thread itself stay deliverable.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut set);
        for fault in [libc::SIGBUS, libc::SIGSEGV, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGTRAP] {
            libc::sigdelset(&raw mut set, fault);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// CPU time of the calling thread in user mode and in the kernel, ns.
pub fn thread_usage_ns() -> (u64, u64) {
    // SAFETY: an all-zero rusage is valid, and the call gets a valid pointer.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}
