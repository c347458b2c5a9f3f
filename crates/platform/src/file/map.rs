//! Memory-mapped files that outlive their disk.
//!
//! Touching a page that the file system cannot deliver any more raises SIGBUS, which would kill the process. The
//! handler here puts an empty page in its place and notes the fault, so that the call fails and the trial goes on.

use super::last_error;
use std::os::fd::RawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

struct Guard {
    start: AtomicUsize,
    length: AtomicUsize,
    hit: AtomicBool,
}

const MAPS_MAX: usize = 2048;
static GUARDS: [Guard; MAPS_MAX] =
    [const { Guard { start: AtomicUsize::new(0), length: AtomicUsize::new(0), hit: AtomicBool::new(false) } };
        MAPS_MAX];

extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid siginfo.
    let address = unsafe { (*info).si_addr() } as usize;
    for guard in &GUARDS {
        let start = guard.start.load(Ordering::Acquire);
        if start != 0 && address >= start && address - start < guard.length.load(Ordering::Relaxed) {
            guard.hit.store(true, Ordering::Relaxed);
            let page = (address & !4095) as *mut libc::c_void;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            // SAFETY: the page belongs to one of our mappings; mmap is a plain system call, fine in a handler.
            unsafe { libc::mmap(page, 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
            return;
        }
    }
    // Not ours: the fault comes again and now does what it always did.
    // SAFETY: restoring the default action.
    unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: a zeroed sigaction is a valid start; the handler has the form that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    });
}

/// A shared mapping of the first bytes of a file.
#[derive(Debug)]
pub(crate) struct Map {
    start: *mut u8,
    length: usize,
    guard: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Map {}

impl Map {
    /// Maps `length` bytes; the negative error number when that fails.
    pub fn new(file: RawFd, length: u64, write: bool) -> Result<Self, i64> {
        install();
        let length = length as usize;
        let protection = if write { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: a fresh mapping touches no existing memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(last_error());
        }
        let address = start as usize;
        let free = |guard: &Guard| guard.start.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let Some(guard) = GUARDS.iter().position(free) else {
            // SAFETY: the mapping just made.
            unsafe { libc::munmap(start, length) };
            return Err(-i64::from(libc::ENOMEM));
        };
        GUARDS[guard].length.store(length, Ordering::Relaxed);
        GUARDS[guard].hit.store(false, Ordering::Relaxed);
        GUARDS[guard].start.store(address, Ordering::Release);
        Ok(Self { start: start.cast(), length, guard })
    }

    fn fits(&self, length: usize, offset: u64) -> bool {
        (offset as usize).checked_add(length).is_some_and(|end| end <= self.length)
    }

    fn outcome(&self, length: usize) -> i64 {
        if GUARDS[self.guard].hit.swap(false, Ordering::Relaxed) { -i64::from(libc::EIO) } else { length as i64 }
    }

    /// Copies out of the file.
    pub fn read(&self, to: *mut u8, length: usize, offset: u64) -> i64 {
        if !self.fits(length, offset) {
            return -i64::from(libc::EINVAL);
        }
        // SAFETY: both ranges are valid for `length` and cannot overlap: one is a file mapping.
        unsafe { std::ptr::copy_nonoverlapping(self.start.add(offset as usize), to, length) };
        self.outcome(length)
    }

    /// Copies into the file; it must be mapped for writing.
    pub fn write(&self, from: *const u8, length: usize, offset: u64) -> i64 {
        if !self.fits(length, offset) {
            return -i64::from(libc::EINVAL);
        }
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from, self.start.add(offset as usize), length) };
        self.outcome(length)
    }

    /// `msync` of all of it.
    pub fn sync(&self, wait: bool) -> i64 {
        let flags = if wait { libc::MS_SYNC } else { libc::MS_ASYNC };
        // SAFETY: exactly this mapping.
        if unsafe { libc::msync(self.start.cast(), self.length, flags) } == 0 { 0 } else { last_error() }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        GUARDS[self.guard].length.store(0, Ordering::Relaxed);
        // SAFETY: exactly the mapping made in `new`.
        unsafe { libc::munmap(self.start.cast(), self.length) };
        GUARDS[self.guard].start.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_file_that_was_cut_fails_the_call_and_not_the_process() {
        let path = std::env::temp_dir().join(format!("bakeoff-map-{}", std::process::id()));
        std::fs::write(&path, vec![7_u8; 8192]).unwrap();
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let map = Map::new(file.as_raw_fd(), 8192, true).unwrap();
        let mut bytes = [0_u8; 4096];
        assert_eq!(map.read(bytes.as_mut_ptr(), 4096, 4096), 4096);
        assert_eq!(bytes[0], 7);
        file.set_len(4096).unwrap();
        assert_eq!(map.read(bytes.as_mut_ptr(), 4096, 4096), -i64::from(libc::EIO));
        assert_eq!(map.read(bytes.as_mut_ptr(), 4096, 0), 4096);
        assert_eq!(map.write(bytes.as_ptr(), 4096, 8192), -i64::from(libc::EINVAL));
        std::fs::remove_file(path).unwrap();
    }
}
