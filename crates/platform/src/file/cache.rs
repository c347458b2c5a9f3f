//! The page cache: count a file's pages, drop them, drop everything.

use super::last_error;
use std::ffi::c_uint;
use std::os::fd::RawFd;

const CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// Pages of a file, as `cachestat` counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Pages {
    pub cached: u64,
    pub dirty: u64,
    pub writeback: u64,
    pub evicted: u64,
    pub recently_evicted: u64,
}

/// The cached pages of a whole file; `None` before Linux 6.5 and on file systems that cannot count.
pub(crate) fn pages_of(file: RawFd) -> Option<Pages> {
    let range = Range { offset: 0, length: 0 };
    let mut pages = Pages::default();
    // SAFETY: both structures are valid and have the layout of the system call.
    let failed =
        unsafe { libc::syscall(CACHESTAT, file as c_uint, &raw const range, &raw mut pages, 0 as c_uint) != 0 };
    (!failed).then_some(pages)
}

/// Writes dirty pages and drops the file's pages; the pages that stayed, -1 when they cannot be counted, or
/// the negative error number.
pub(crate) fn drop_file(file: RawFd) -> i64 {
    // SAFETY: plain calls on a descriptor.
    unsafe {
        if libc::fsync(file) != 0 {
            return last_error();
        }
        let error = libc::posix_fadvise(file, 0, 0, libc::POSIX_FADV_DONTNEED);
        if error != 0 {
            return -i64::from(error);
        }
    }
    pages_of(file).map_or(-1, |pages| pages.cached as i64)
}

/// Drops page cache, dentries and inodes of the machine.
pub(crate) fn drop_all() -> i64 {
    // SAFETY: sync has no preconditions.
    unsafe { libc::sync() };
    match std::fs::write("/proc/sys/vm/drop_caches", "3") {
        Ok(()) => 0,
        Err(error) => -i64::from(error.raw_os_error().unwrap_or(libc::EPERM)),
    }
}
