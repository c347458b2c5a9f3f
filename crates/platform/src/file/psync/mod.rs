//! Blocking file calls of one session.

mod names;

use super::buffers::AlignedBuffers;
use super::folder::{free_bytes, open_beneath};
use super::map::Map;
use super::{last_error, value_or_errno};
use bakeoff_engine::{FileCall, FileSession, Handle, OpenMode};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// An open file beside its descriptor.
#[derive(Debug, Default)]
struct Extra {
    map: Option<Map>,
    stream: Option<Stream>,
}

/// A C stream and the buffer that it uses, which must outlive it: without one of its own the C library takes 4 KiB,
/// whatever size it is asked for.
#[derive(Debug)]
struct Stream {
    file: *mut libc::FILE,
    _buffer: Vec<u8>,
}

// SAFETY: a stream is used by the thread of its session alone.
unsafe impl Send for Stream {}

/// The open files of one session and the folder they lie in.
#[derive(Debug)]
pub(crate) struct Files {
    folder: Option<OwnedFd>,
    descriptors: Vec<RawFd>,
    extras: Vec<Extra>,
}

const BAD: i64 = -(libc::EBADF as i64);

impl Files {
    /// No file open yet; names are relative to `folder`.
    pub fn new(folder: OwnedFd, handles: u16) -> Self {
        let count = usize::from(handles);
        let extras = (0..count).map(|_| Extra::default()).collect();
        Self { folder: Some(folder), descriptors: vec![-1; count], extras }
    }

    /// How many files may be open.
    pub fn handles(&self) -> usize {
        self.descriptors.len()
    }

    /// The descriptor of a handle, -1 when it is not open.
    #[inline]
    pub fn descriptor(&self, file: Handle) -> RawFd {
        self.descriptors.get(usize::from(file)).copied().unwrap_or(-1)
    }

    fn folder(&self) -> RawFd {
        self.folder.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Closes the folder; see [`FileCall::LeaveFolder`].
    pub fn leave(&mut self) {
        self.folder = None;
    }

    /// Goes on in the same folder, opened again.
    pub fn enter(&mut self, folder: OwnedFd) {
        self.folder = Some(folder);
    }

    /// Carries out one call: its value, or the negative error number.
    #[inline]
    pub fn execute(&mut self, call: &FileCall, session: &impl FileSession, buffers: &AlignedBuffers) -> i64 {
        match *call {
            FileCall::ReadAt { file, buffer, length, offset } => {
                let (file, to) = (self.descriptor(file), buffers.pointer(buffer, length as usize));
                whole(length as usize, |done| {
                    // SAFETY: the rest of the buffer is valid for `length - done` bytes.
                    unsafe {
                        libc::pread(file, to.add(done).cast(), length as usize - done, (offset + done as u64) as i64)
                    }
                })
            }
            FileCall::WriteAt { file, buffer, length, offset } => {
                let (file, from) = (self.descriptor(file), buffers.pointer(buffer, length as usize));
                whole(length as usize, |done| {
                    // SAFETY: as above.
                    unsafe {
                        libc::pwrite(file, from.add(done).cast(), length as usize - done, (offset + done as u64) as i64)
                    }
                })
            }
            FileCall::Read { file, buffer, length } => {
                let (file, to) = (self.descriptor(file), buffers.pointer(buffer, length as usize));
                // SAFETY: as above.
                whole(length as usize, |done| unsafe { libc::read(file, to.add(done).cast(), length as usize - done) })
            }
            FileCall::Write { file, buffer, length } => {
                let (file, from) = (self.descriptor(file), buffers.pointer(buffer, length as usize));
                // SAFETY: as above.
                whole(length as usize, |done| unsafe {
                    libc::write(file, from.add(done).cast(), length as usize - done)
                })
            }
            FileCall::MapRead { file, buffer, length, offset } => self
                .map(file)
                .map_or(BAD, |map| map.read(buffers.pointer(buffer, length as usize), length as usize, offset)),
            FileCall::MapWrite { file, buffer, length, offset } => self
                .map(file)
                .map_or(BAD, |map| map.write(buffers.pointer(buffer, length as usize), length as usize, offset)),
            _ => self.execute_other(call, session, buffers),
        }
    }

    fn map(&self, file: Handle) -> Option<&Map> {
        self.extras.get(usize::from(file))?.map.as_ref()
    }

    /// Everything but plain transfers.
    fn execute_other(&mut self, call: &FileCall, session: &impl FileSession, buffers: &AlignedBuffers) -> i64 {
        match *call {
            FileCall::Open { file, name, mode, permissions } => self.open(file, session.path(name), mode, permissions),
            FileCall::Close { file } => self.close(file),
            // SAFETY: plain calls on a descriptor; a bad one is an error number.
            FileCall::Sync { file } => value_or_errno(i64::from(unsafe { libc::fsync(self.descriptor(file)) })),
            // SAFETY: as above.
            FileCall::DataSync { file } => value_or_errno(i64::from(unsafe { libc::fdatasync(self.descriptor(file)) })),
            FileCall::Truncate { file, length } => {
                // SAFETY: as above.
                value_or_errno(i64::from(unsafe { libc::ftruncate(self.descriptor(file), length as i64) }))
            }
            FileCall::Allocate { file, length } => {
                // SAFETY: as above.
                value_or_errno(i64::from(unsafe { libc::fallocate(self.descriptor(file), 0, 0, length as i64) }))
            }
            FileCall::Lock { file, exclusive } => {
                let how = if exclusive { libc::LOCK_EX } else { libc::LOCK_SH };
                // SAFETY: as above.
                value_or_errno(i64::from(unsafe { libc::flock(self.descriptor(file), how) }))
            }
            // SAFETY: as above.
            FileCall::Unlock { file } => {
                value_or_errno(i64::from(unsafe { libc::flock(self.descriptor(file), libc::LOCK_UN) }))
            }
            FileCall::HandleStat { file } => handle_size(self.descriptor(file)),
            FileCall::FileSystem => free_bytes(self.folder()),
            FileCall::Map { file, length, write } => self.make_map(file, length, write),
            FileCall::MapSync { file, wait } => self.map(file).map_or(BAD, |map| map.sync(wait)),
            FileCall::Unmap { file } => {
                self.extras.get_mut(usize::from(file)).map_or(BAD, |extra| extra.map.take().map_or(BAD, |_| 0))
            }
            FileCall::StreamOpen { .. }
            | FileCall::StreamRead { .. }
            | FileCall::StreamWrite { .. }
            | FileCall::StreamFlush { .. }
            | FileCall::StreamClose { .. } => self.execute_stream(call, session, buffers),
            _ => names::execute(self.folder(), call, session),
        }
    }

    /// Runs `work` on a name opened for reading.
    pub fn with_opened(&self, name: &CStr, work: impl FnOnce(RawFd) -> i64) -> i64 {
        names::with_opened(self.folder(), name, work)
    }

    fn open(&mut self, file: Handle, name: &CStr, mode: OpenMode, permissions: u16) -> i64 {
        let folder = self.folder();
        let Some(slot) = self.descriptors.get_mut(usize::from(file)).filter(|slot| **slot < 0) else {
            return BAD;
        };
        let opened = open_beneath(folder, name, flags(mode), u32::from(permissions));
        if opened < 0 {
            return opened;
        }
        *slot = opened as RawFd;
        if mode.direct { direct_alignment(opened as RawFd) } else { 0 }
    }

    fn close(&mut self, file: Handle) -> i64 {
        let Some(slot) = self.descriptors.get_mut(usize::from(file)).filter(|slot| **slot >= 0) else {
            return BAD;
        };
        self.extras[usize::from(file)].map = None;
        let closing = std::mem::replace(slot, -1);
        // SAFETY: the descriptor was open and is forgotten.
        value_or_errno(i64::from(unsafe { libc::close(closing) }))
    }

    fn make_map(&mut self, file: Handle, length: u64, write: bool) -> i64 {
        let descriptor = self.descriptor(file);
        let Some(extra) = self.extras.get_mut(usize::from(file)) else { return BAD };
        match Map::new(descriptor, length, write) {
            Ok(map) => {
                extra.map = Some(map);
                0
            }
            Err(error) => error,
        }
    }

    fn execute_stream(&mut self, call: &FileCall, session: &impl FileSession, buffers: &AlignedBuffers) -> i64 {
        if let FileCall::StreamOpen { file, name, mode, buffer_bytes } = *call {
            return self.open_stream(file, session.path(name), mode, buffer_bytes);
        }
        let (FileCall::StreamRead { file, .. }
        | FileCall::StreamWrite { file, .. }
        | FileCall::StreamFlush { file }
        | FileCall::StreamClose { file }) = *call
        else {
            return BAD;
        };
        let Some(extra) = self.extras.get_mut(usize::from(file)) else { return BAD };
        let Some(stream) = extra.stream.as_ref().map(|stream| stream.file) else { return BAD };
        let transfer =
            call.transfer().map(|(buffer, length)| (buffers.pointer(buffer, length as usize), length as usize));
        // SAFETY: the stream is open and used by this thread alone; the buffer is valid for the length.
        unsafe {
            match (call, transfer) {
                (FileCall::StreamRead { .. }, Some((to, length))) => {
                    let read = libc::fread(to.cast(), 1, length, stream);
                    if read < length && libc::ferror(stream) != 0 { last_error() } else { read as i64 }
                }
                (FileCall::StreamWrite { .. }, Some((from, length))) => {
                    let written = libc::fwrite(from.cast(), 1, length, stream);
                    if written < length { last_error() } else { written as i64 }
                }
                (FileCall::StreamFlush { .. }, _) => value_or_errno(i64::from(libc::fflush(stream))),
                _ => {
                    let closed = value_or_errno(i64::from(libc::fclose(stream)));
                    extra.stream = None;
                    self.descriptors[usize::from(file)] = -1;
                    closed
                }
            }
        }
    }

    fn open_stream(&mut self, file: Handle, name: &CStr, mode: OpenMode, buffer_bytes: u32) -> i64 {
        let opened = self.open(file, name, mode, 0o640);
        if opened < 0 {
            return opened;
        }
        let how = match (mode.read, mode.write, mode.truncate) {
            (_, true, true) => c"w+",
            (_, true, false) => c"r+",
            _ => c"r",
        };
        // Not zeros, which the kernel would bring only when they are touched: inside somebody's clock.
        let mut buffer = vec![1_u8; buffer_bytes as usize];
        // SAFETY: the descriptor was just opened with fitting rights; the buffer's memory is kept until the stream
        // is closed.
        unsafe {
            let stream = libc::fdopen(self.descriptor(file), how.as_ptr());
            if stream.is_null() {
                let error = last_error();
                self.close(file);
                return error;
            }
            libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, buffer_bytes as usize);
            self.extras[usize::from(file)].stream = Some(Stream { file: stream, _buffer: buffer });
        }
        0
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for (descriptor, extra) in self.descriptors.iter().zip(&mut self.extras) {
            extra.map = None;
            // SAFETY: what is still open is closed once, the stream together with its descriptor.
            unsafe {
                match &extra.stream {
                    Some(stream) => _ = libc::fclose(stream.file),
                    None if *descriptor >= 0 => _ = libc::close(*descriptor),
                    None => {}
                }
            }
        }
    }
}

/// Repeats a transfer that moved a part until it is whole, at the end of the file, or fails.
#[inline]
fn whole(length: usize, mut transfer: impl FnMut(usize) -> isize) -> i64 {
    let first = transfer(0);
    if first == length as isize {
        return first as i64;
    }
    rest(length, first, &mut transfer)
}

#[cold]
fn rest(length: usize, first: isize, transfer: &mut dyn FnMut(usize) -> isize) -> i64 {
    let (mut done, mut last) = (0, first);
    loop {
        match last {
            0 => return done as i64,
            moved if moved > 0 => done += moved as usize,
            _ => match last_error() {
                error if error == -i64::from(libc::EINTR) => {}
                error => return error,
            },
        }
        if done >= length {
            return done as i64;
        }
        last = transfer(done);
    }
}

fn flags(mode: OpenMode) -> i32 {
    let access = match (mode.read, mode.write) {
        (true, true) => libc::O_RDWR,
        (false, true) => libc::O_WRONLY,
        _ => libc::O_RDONLY,
    };
    let pairs = [
        (mode.create, libc::O_CREAT),
        (mode.exclusive, libc::O_EXCL),
        (mode.truncate, libc::O_TRUNC),
        (mode.append, libc::O_APPEND),
        (mode.direct, libc::O_DIRECT),
        (mode.data_sync, libc::O_DSYNC),
        (mode.sync, libc::O_SYNC),
        (mode.folder, libc::O_DIRECTORY),
    ];
    pairs.iter().filter(|pair| pair.0).fold(access, |all, pair| all | pair.1)
}

/// What offsets and lengths of direct I/O must be multiples of: `statx` says it from Linux 6.1 on, else the
/// disk's logical block, else 4096.
fn direct_alignment(file: RawFd) -> i64 {
    const STATX_DIOALIGN: libc::c_uint = 0x2000;
    // SAFETY: a zeroed statx is valid for the kernel to fill; the empty path means the descriptor.
    let facts = unsafe {
        let mut facts: libc::statx = std::mem::zeroed();
        let flags = libc::AT_EMPTY_PATH;
        (libc::statx(file, c"".as_ptr(), flags, STATX_DIOALIGN, &raw mut facts) == 0).then_some(facts)
    };
    if let Some(facts) = facts
        && facts.stx_mask & STATX_DIOALIGN != 0
        && facts.stx_dio_offset_align > 0
    {
        return i64::from(facts.stx_dio_offset_align.max(facts.stx_dio_mem_align));
    }
    let block = facts.and_then(|facts| {
        let (major, minor) = (facts.stx_dev_major, facts.stx_dev_minor);
        let text = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/queue/logical_block_size")).ok()?;
        text.trim().parse().ok()
    });
    block.unwrap_or(4096)
}

fn handle_size(file: RawFd) -> i64 {
    // SAFETY: a zeroed stat is valid for the kernel to fill.
    unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        if libc::fstat(file, &raw mut facts) == 0 { facts.st_size } else { last_error() }
    }
}

#[cfg(test)]
mod tests;
