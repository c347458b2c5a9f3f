//! Page-aligned memory for transfers.

use bakeoff_engine::{BufferIndex, FileBuffers};
use std::io;
use std::ptr::NonNull;

/// Alignment and granularity of buffers: good for direct I/O on every Linux file system.
const PAGE: usize = 4096;

/// The buffers of one session in one anonymous mapping.
#[derive(Debug)]
pub(crate) struct AlignedBuffers {
    start: NonNull<u8>,
    stride: usize,
    count: usize,
    registered: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for AlignedBuffers {}

impl AlignedBuffers {
    /// `count` buffers of at least `bytes` each; the memory is taken when it is first touched.
    pub fn new(count: u16, bytes: usize) -> io::Result<Self> {
        let stride = bytes.max(1).next_multiple_of(PAGE);
        let count = usize::from(count).max(1);
        let length = stride.checked_mul(count).ok_or(io::ErrorKind::OutOfMemory)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh anonymous mapping touches no existing memory.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, stride, count, registered: stride })
    }

    /// Only so many bytes of each are for a ring to register.
    pub fn register(mut self, bytes: usize) -> Self {
        self.registered = bytes.next_multiple_of(PAGE).min(self.stride);
        self
    }

    /// How many buffers, and how many bytes of each are to be registered.
    pub fn to_register(&self) -> (usize, usize) {
        (self.count, self.registered)
    }

    /// Where a buffer begins, for system calls; `length` is checked against its size.
    #[inline]
    pub fn pointer(&self, buffer: BufferIndex, length: usize) -> *mut u8 {
        assert!(usize::from(buffer) < self.count && length <= self.stride, "a session used a buffer it has not");
        // SAFETY: the offset is inside the mapping, as just checked.
        unsafe { self.start.as_ptr().add(usize::from(buffer) * self.stride) }
    }
}

impl FileBuffers for AlignedBuffers {
    #[inline]
    fn slice(&mut self, buffer: BufferIndex, length: usize) -> &mut [u8] {
        // SAFETY: the range lies in this mapping, which is initialised (zero) memory; `&mut self` makes it
        // exclusive, and the contract says that no call on the buffer is in flight.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(buffer, length), length) }
    }
}

impl Drop for AlignedBuffers {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.stride * self.count) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_zeroed_and_apart() {
        let mut buffers = AlignedBuffers::new(3, 5000).unwrap();
        buffers.slice(0, 5000).fill(1);
        assert!(buffers.slice(1, 5000).iter().all(|&byte| byte == 0));
        assert!((0..3).all(|index| (buffers.pointer(index, 1) as usize).is_multiple_of(PAGE)));
    }

    #[test]
    #[should_panic(expected = "buffer it has not")]
    fn a_buffer_out_of_range_is_refused() {
        AlignedBuffers::new(1, 4096).unwrap().slice(0, 4097);
    }
}
