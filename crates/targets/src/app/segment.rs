//! Data segments: one file for each session that reads or writes. That of a session that has ended is kept for whoever
//! asks for it by its epoch, and goes to one that asks for any when no other has been free for longer.

use std::collections::{HashSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bakeoff_app_protocol::{RECORD_BYTES_MAX, RECORDS_MAX, fill_record};

use super::spec::AppSpec;
use crate::ServeError;

const PAGE: usize = 4096;

/// Memory that direct I/O accepts.
#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page([u8; PAGE]);

/// Room for the largest record, aligned for direct I/O.
pub(super) struct Scratch {
    pages: Vec<Page>,
}

impl Scratch {
    pub fn new() -> Self {
        Self { pages: vec![Page([0; PAGE]); RECORD_BYTES_MAX as usize / PAGE] }
    }

    /// The first `length` bytes, at most [`RECORD_BYTES_MAX`].
    pub fn bytes(&mut self, length: usize) -> &mut [u8] {
        let length = length.min(self.pages.len() * PAGE);
        // SAFETY: pages are plain bytes without gaps, `length` is inside them, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.pages.as_mut_ptr().cast(), length) }
    }
}

/// A file of records.
#[derive(Debug)]
pub(super) struct Segment {
    file: File,
    record_bytes: u32,
    pub records: u64,
}

impl Segment {
    pub fn read(&self, index: u64, record: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(record, index * u64::from(self.record_bytes))
    }

    pub fn write(&self, index: u64, record: &[u8]) -> io::Result<()> {
        self.file.write_all_at(record, index * u64::from(self.record_bytes))
    }

    pub fn flush(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Why a client gets no segment.
#[derive(Debug)]
pub(super) enum NoSegment {
    /// The record size does not suit the segments.
    Size,
    /// The limit is reached or the device is full.
    Space,
    /// Any other fault of the device.
    Fault,
    /// The session that it is wanted back of has not ended yet.
    Held,
    /// It has another owner by now, or there never was one.
    Gone,
}

/// The segments that nobody has, by who had them, longest free first; and the epochs of those who have one.
#[derive(Default)]
struct FreeSegments {
    free: VecDeque<(u64, Segment)>,
    held: HashSet<u64>,
}

/// All segments of a server. Their files have no names: they are gone with the server, however it ends.
pub(super) struct Store {
    folder: PathBuf,
    segment_bytes: u64,
    limit: u64,
    direct: bool,
    fsync: bool,
    made: AtomicU64,
    forget: bool,
    shelf: Mutex<FreeSegments>,
}

impl Store {
    pub fn new(spec: &AppSpec) -> Result<Self, ServeError> {
        let store = Self {
            folder: spec.data.clone().unwrap_or_else(std::env::temp_dir),
            segment_bytes: spec.segment_bytes,
            limit: spec.data_limit_bytes / spec.segment_bytes,
            direct: spec.direct,
            fsync: spec.fsync,
            made: AtomicU64::new(0),
            forget: spec.forget,
            shelf: Mutex::default(),
        };
        store.try_out().map_err(|e| {
            let direct = if spec.direct { " with direct I/O" } else { "" };
            let folder = store.folder.display();
            ServeError::Start(format!("cannot keep data segments in {folder}{direct}: {e}; choose another folder"))
        })?;
        Ok(store)
    }

    /// A first write shows what the folder cannot do before any client suffers from it.
    fn try_out(&self) -> io::Result<()> {
        let file = self.nameless_file()?;
        file.write_all_at(Scratch::new().bytes(PAGE), 0)
    }

    /// Segments made so far.
    pub fn made(&self) -> u64 {
        self.made.load(Relaxed)
    }

    /// Makes `count` segments beforehand, for clients with records of `record_bytes`.
    pub fn prepare(&self, count: u32, record_bytes: u32, scratch: &mut Scratch) -> Result<(), NoSegment> {
        let segments: Result<Vec<_>, _> = (0..count).map(|_| self.any(record_bytes, scratch)).collect();
        segments?.into_iter().for_each(|segment| self.give_back(0, segment));
        Ok(())
    }

    /// The segment for the session `epoch`: that of the ended session `back`, or any when that is 0.
    pub fn take(&self, epoch: u64, back: u64, record_bytes: u32, scratch: &mut Scratch) -> Result<Segment, NoSegment> {
        let segment = if back == 0 { self.any(record_bytes, scratch) } else { self.back(back, record_bytes, scratch) }?;
        self.shelf().held.insert(epoch);
        Ok(segment)
    }

    /// The segment of a session that has ended, as it was left.
    fn back(&self, epoch: u64, record_bytes: u32, scratch: &mut Scratch) -> Result<Segment, NoSegment> {
        let mut shelf = self.shelf();
        if shelf.held.contains(&epoch) {
            return Err(NoSegment::Held);
        }
        let at = shelf.free.iter().position(|(of, segment)| *of == epoch && segment.record_bytes == record_bytes);
        let (_, segment) = at.and_then(|at| shelf.free.remove(at)).ok_or(NoSegment::Gone)?;
        drop(shelf);
        if self.forget { self.format(segment.file, record_bytes, scratch) } else { Ok(segment) }
    }

    /// A segment full of records of this size; those of the client before are left as they are.
    fn any(&self, record_bytes: u32, scratch: &mut Scratch) -> Result<Segment, NoSegment> {
        let unsuitable = self.direct && !(record_bytes as usize).is_multiple_of(PAGE);
        let records = self.segment_bytes / u64::from(record_bytes);
        if unsuitable || records > RECORDS_MAX {
            return Err(NoSegment::Size);
        }
        if let Some(segment) = self.take_free(record_bytes) {
            if segment.record_bytes == record_bytes {
                return Ok(segment);
            }
            return self.format(segment.file, record_bytes, scratch);
        }
        let reserved = self.made.fetch_update(Relaxed, Relaxed, |made| (made < self.limit).then_some(made + 1));
        if reserved.is_err() {
            return Err(NoSegment::Space);
        }
        let made =
            self.nameless_file().map_err(|e| fault(&e)).and_then(|file| self.format(file, record_bytes, scratch));
        if made.is_err() {
            self.made.fetch_sub(1, Relaxed);
        }
        made
    }

    fn take_free(&self, record_bytes: u32) -> Option<Segment> {
        let free = &mut self.shelf().free;
        let suits = free.iter().position(|(_, segment)| segment.record_bytes == record_bytes);
        suits.and_then(|at| free.remove(at)).or_else(|| free.pop_front()).map(|(_, segment)| segment)
    }

    /// The session `epoch` has ended.
    pub fn give_back(&self, epoch: u64, segment: Segment) {
        let mut shelf = self.shelf();
        shelf.held.remove(&epoch);
        shelf.free.push_back((epoch, segment));
    }

    fn shelf(&self) -> MutexGuard<'_, FreeSegments> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn nameless_file(&self) -> io::Result<File> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let path = self.folder.join(format!("bakeoff-app-{}-{number}.segment", std::process::id()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        if self.direct {
            options.custom_flags(libc::O_DIRECT);
        }
        let file = options.open(&path)?;
        remove(&path)?;
        Ok(file)
    }

    /// Writes every record once, so that the space is there and reads find what a read can be checked against.
    fn format(&self, file: File, record_bytes: u32, scratch: &mut Scratch) -> Result<Segment, NoSegment> {
        // SAFETY: a live descriptor; no pointers. Where it is not supported the writes below take the space.
        let full = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, self.segment_bytes as libc::off_t) } < 0
            && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSPC);
        if full {
            return Err(NoSegment::Space);
        }
        let segment = Segment { file, record_bytes, records: self.segment_bytes / u64::from(record_bytes) };
        let batch = u64::from(RECORD_BYTES_MAX / record_bytes);
        let mut index = 0;
        while index < segment.records {
            let count = batch.min(segment.records - index);
            let bytes = scratch.bytes(count as usize * record_bytes as usize);
            for (record, index) in bytes.chunks_exact_mut(record_bytes as usize).zip(index..) {
                fill_record(record, index, 0, 0);
            }
            segment.write(index, bytes).map_err(|e| fault(&e))?;
            index += count;
        }
        if self.fsync {
            segment.flush().map_err(|e| fault(&e))?;
        }
        Ok(segment)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

fn fault(error: &io::Error) -> NoSegment {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EMFILE | libc::ENFILE) => NoSegment::Space,
        _ => NoSegment::Fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_app_protocol::read_stamp;

    fn store(change: impl FnOnce(&mut AppSpec)) -> Store {
        let mut spec = AppSpec { segment_bytes: 2 << 20, data_limit_bytes: 4 << 20, ..AppSpec::default() };
        change(&mut spec);
        Store::new(&spec).unwrap()
    }

    #[test]
    fn every_record_of_a_new_segment_is_whole() {
        let (store, mut scratch) = (store(|_| ()), Scratch::new());
        let segment = store.take(1, 0, 512, &mut scratch).unwrap();
        assert_eq!(segment.records, 4096);
        for index in [0, 1, 2047, 2048, 4095] {
            let record = scratch.bytes(512);
            segment.read(index, record).unwrap();
            assert_eq!(read_stamp(record, index), (0, 0, true), "{index}");
        }
        assert!(segment.read(4096, scratch.bytes(512)).is_err());
    }

    #[test]
    fn segments_are_used_again_and_limited() {
        let (store, mut scratch) = (store(|_| ()), Scratch::new());
        let (one, two) = (store.take(1, 0, 4096, &mut scratch).unwrap(), store.take(2, 0, 4096, &mut scratch).unwrap());
        assert!(matches!(store.take(3, 0, 4096, &mut scratch), Err(NoSegment::Space)));
        let bytes = vec![7; 4096];
        one.write(3, &bytes).unwrap();
        store.give_back(1, one);
        let again = store.take(3, 0, 4096, &mut scratch).unwrap();
        let record = scratch.bytes(4096);
        again.read(3, record).unwrap();
        assert_eq!(record[..], bytes[..]);
        store.give_back(2, two);
        let other = store.take(4, 0, 8192, &mut scratch).unwrap();
        let record = scratch.bytes(8192);
        other.read(255, record).unwrap();
        assert!(read_stamp(record, 255).2);
        assert_eq!(store.made(), 2);
    }

    #[test]
    fn a_segment_comes_back_to_who_names_the_session_that_had_it() {
        let mut scratch = Scratch::new();
        for forget in [false, true] {
            let store = store(|spec| spec.forget = forget);
            let (one, two) = (store.take(1, 0, 4096, &mut scratch), store.take(2, 0, 4096, &mut scratch));
            one.as_ref().unwrap().write(3, &[7; 4096]).unwrap();
            assert!(matches!(store.take(3, 1, 4096, &mut scratch), Err(NoSegment::Held)));
            store.give_back(1, one.unwrap());
            store.give_back(2, two.unwrap());
            assert!(matches!(store.take(3, 9, 4096, &mut scratch), Err(NoSegment::Gone)));
            assert!(matches!(store.take(3, 1, 8192, &mut scratch), Err(NoSegment::Gone)));
            let again = store.take(3, 1, 4096, &mut scratch).unwrap();
            again.read(3, scratch.bytes(4096)).unwrap();
            assert_eq!(scratch.bytes(4096)[100] == 7, !forget);
            assert!(matches!(store.take(4, 1, 4096, &mut scratch), Err(NoSegment::Gone)));
        }
    }

    #[test]
    fn nothing_is_left_in_the_folder() {
        let folder = std::env::temp_dir().join(format!("bakeoff-segments-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (store, mut scratch) = (store(|spec| spec.data = Some(folder.clone())), Scratch::new());
        let _segment = store.take(1, 0, 4096, &mut scratch).unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_found_at_the_start() {
        let spec = AppSpec { data: Some("/proc/nowhere".into()), ..AppSpec::default() };
        let error = Store::new(&spec).err().unwrap().to_string();
        assert!(error.contains("/proc/nowhere") && error.contains("another folder"), "{error}");
    }
}
