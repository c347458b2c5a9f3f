//! File work: the trial's own folder, the executors of file calls, caches and their proof.

mod barrier;
mod buffers;
mod cache;
mod folder;
mod lane;
mod map;
mod observe;
mod psync;
mod trial;
mod uring;

pub use trial::start_files;

/// The error number of the last failed call, negative.
pub(crate) fn last_error() -> i64 {
    -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

/// What a call returned: its value, or the negative error number.
#[inline]
pub(crate) fn told(value: i64) -> i64 {
    if value < 0 { last_error() } else { value }
}
