use super::*;
use crate::barrier::sessions::SessionBarrier;
use crate::file::buffers::AlignedBuffers;
use crate::file::calls::Calls;
use crate::file::folder::WorkFolder;
use crate::file::folder::tests::{needs, scratch};
use crate::file::observe::Counters;
use crate::file::psync::Files;
use crate::file::virtual_user::{CallCounter, Common};
use crate::file::work_place::WorkPlace;
use crate::trial::start_line::StartLine;
use bakeoff_engine::{FileBuffers, FileContext, FileProgress, FileResult, FileStep, Live, Name, OpenMode};
use std::ffi::CStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

struct Names;

impl FileSession for Names {
    fn next(&mut self, _: u32, _: &FileContext) -> FileStep {
        FileStep::Finished
    }
    fn done(&mut self, _: u32, _: &FileResult) -> FileProgress {
        FileProgress::Untimed
    }
    fn path(&self, name: Name) -> &CStr {
        [c"plain", c"pipe"][name as usize]
    }
}

const FILE: Handle = 0;
const PIPE: Handle = 1;
const SIZE: u32 = 8192;

struct Bench {
    parent: PathBuf,
    vu: VirtualUser,
    ring: Ring,
}

impl Bench {
    fn new(name: &str, depth: u16) -> Self {
        let parent = scratch(name);
        let folder = WorkFolder::make(&needs(&parent)).unwrap();
        let files = Files::new(folder.open().unwrap(), 2);
        let live = Arc::new(Live::new(1, None));
        let common = Arc::new(Common {
            line: StartLine::new(&live, 1, 1),
            live,
            rendezvous: Arc::new(SessionBarrier::new(1, false)),
            place: WorkPlace::Folder(folder),
            counters: std::sync::Mutex::new(Counters::of(&parent)),
            cold_command: None,
            command_fault: std::sync::Mutex::default(),
            beats: vec![CallCounter::default()],
            times: Arc::default(),
            full: std::sync::atomic::AtomicBool::default(),
        });
        let vu = VirtualUser::new(common, Calls::Folder(files), AlignedBuffers::new(depth, SIZE as usize).unwrap(), 0);
        let ring = Ring::new(usize::from(depth), &vu).unwrap();
        let mut bench = Self { parent, vu, ring };
        bench.open(FILE, 0);
        bench
    }

    fn inside(&self) -> PathBuf {
        std::fs::read_dir(&self.parent).unwrap().next().unwrap().unwrap().path()
    }

    fn open(&mut self, file: Handle, name: Name) {
        let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
        let call = FileCall::Open { file, name, mode, permissions: 0o600 };
        assert_eq!(self.vu.calls.files().unwrap().execute(&call, &Names, &self.vu.buffers), 0);
        let descriptor = self.vu.calls.descriptor(file);
        self.ring.register(file, descriptor);
    }

    fn push(&mut self, slot: u32, call: FileCall) {
        self.ring.push(slot, Flight { call, done: 0 }, &self.vu);
    }

    /// (slot, value) of the next `count` calls to end.
    fn ended(&mut self, count: usize) -> Vec<(u32, i64)> {
        let mut values = Vec::new();
        while values.len() < count {
            self.ring.wait(None).unwrap();
            let ended: Vec<(u32, i32)> =
                self.ring.kernel.completion().map(|entry| (entry.user_data() as u32, entry.result())).collect();
            for (slot, result) in ended {
                if let Some(value) = self.ring.completed(slot, result, &self.vu) {
                    values.push((slot, value));
                }
            }
        }
        values.sort_unstable();
        values
    }

    fn one(&mut self, call: FileCall) -> i64 {
        self.push(0, call);
        self.ended(1)[0].1
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.parent).unwrap();
    }
}

fn write(buffer: u16, offset: u64) -> FileCall {
    FileCall::WriteAt { file: FILE, buffer, length: SIZE, offset }
}

fn read(file: Handle, buffer: u16, length: u32, offset: u64) -> FileCall {
    FileCall::ReadAt { file, buffer, length, offset }
}

#[test]
fn a_full_ring_carries_every_call_into_its_own_place() {
    const DEPTH: u16 = 64;
    let mut bench = Bench::new("ring-full", DEPTH);
    for round in 0..3_u8 {
        for slot in 0..DEPTH {
            bench.vu.buffers.slice(slot, SIZE as usize).fill(slot as u8 ^ round);
            bench.push(u32::from(slot), write(slot, u64::from(slot) * u64::from(SIZE)));
        }
        assert_eq!(bench.ring.in_flight, usize::from(DEPTH));
        let ended = bench.ended(usize::from(DEPTH));
        assert_eq!(ended, (0..u32::from(DEPTH)).map(|slot| (slot, i64::from(SIZE))).collect::<Vec<_>>());
        assert_eq!(bench.ring.in_flight, 0);
        let bytes = std::fs::read(bench.inside().join("plain")).unwrap();
        let right = |(slot, part): (usize, &[u8])| part.iter().all(|&byte| byte == slot as u8 ^ round);
        assert!(bytes.chunks(SIZE as usize).enumerate().all(right));
    }
}

#[test]
fn registered_and_plain_buffers_move_the_same_bytes() {
    for fixed_bytes in [SIZE as usize, 4096, 0] {
        let mut bench = Bench::new("ring-fixed", 2);
        assert!(bench.ring.fixed_bytes >= SIZE as usize, "small buffers are registered");
        bench.ring.fixed_bytes = fixed_bytes;
        bench.vu.buffers.slice(0, SIZE as usize).fill(7);
        assert_eq!(bench.one(write(0, 100)), i64::from(SIZE));
        assert_eq!(bench.one(read(FILE, 1, SIZE, 100)), i64::from(SIZE));
        assert!(bench.vu.buffers.slice(1, SIZE as usize).iter().all(|&byte| byte == 7));
        assert_eq!(bench.one(FileCall::Sync { file: FILE }), 0);
        assert_eq!(bench.one(FileCall::DataSync { file: FILE }), 0);
    }
}

#[test]
fn a_read_over_the_end_is_short_and_one_behind_it_is_empty() {
    let mut bench = Bench::new("ring-short", 1);
    std::fs::write(bench.inside().join("plain"), vec![5; 6000]).unwrap();
    assert_eq!(bench.one(read(FILE, 0, SIZE, 0)), 6000);
    assert_eq!(bench.one(read(FILE, 0, SIZE, 5999)), 1);
    assert_eq!(bench.one(read(FILE, 0, SIZE, 6000)), 0);
}

fn pipe(bench: &mut Bench) -> PathBuf {
    let path = bench.inside().join("pipe");
    let text = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the path is valid.
    assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
    bench.open(PIPE, 1);
    path
}

/// Writes the pieces into a pipe, one after the other with a pause.
fn feed(path: &Path, pieces: Vec<Vec<u8>>) -> std::thread::JoinHandle<()> {
    let path = path.to_owned();
    std::thread::spawn(move || {
        let mut to = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        for piece in pieces {
            std::thread::sleep(Duration::from_millis(20));
            to.write_all(&piece).unwrap();
        }
    })
}

#[test]
fn a_transfer_that_comes_in_parts_is_put_together() {
    let mut bench = Bench::new("ring-parts", 1);
    let path = pipe(&mut bench);
    let feeder = feed(&path, vec![vec![1; 1000], vec![2; 3000], vec![3; 192]]);
    assert_eq!(bench.one(read(PIPE, 0, 4192, 0)), 4192);
    feeder.join().unwrap();
    let bytes = bench.vu.buffers.slice(0, 4192);
    assert!(bytes[..1000].iter().all(|&byte| byte == 1) && bytes[1000..4000].iter().all(|&byte| byte == 2));
    assert!(bytes[4000..].iter().all(|&byte| byte == 3));
}

#[test]
fn errors_come_back_as_negative_numbers() {
    let mut bench = Bench::new("ring-error", 2);
    let closed = bench.one(read(PIPE, 0, SIZE, 0));
    assert_eq!(closed, -i64::from(libc::EBADF), "a handle that is not open");
    bench.ring.register(FILE, -1);
    assert_eq!(bench.one(read(FILE, 0, SIZE, 0)), -i64::from(libc::EBADF), "a handle that was closed");
    bench.ring.register(FILE, bench.vu.calls.descriptor(FILE));
    assert_eq!(bench.one(read(FILE, 0, SIZE, u64::MAX >> 1)), -i64::from(libc::EINVAL), "an impossible offset");
    assert_eq!(bench.one(write(1, 0)), i64::from(SIZE), "and the ring goes on");
}

#[test]
fn waiting_ends_with_its_time_and_draining_with_the_last_call() {
    let mut bench = Bench::new("ring-drain", 2);
    let path = pipe(&mut bench);
    bench.push(0, read(PIPE, 0, 100, 0));
    let begun = Instant::now();
    bench.ring.wait(Some(30_000_000)).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(29));
    assert_eq!(bench.ring.kernel.completion().count(), 0);
    assert_eq!(bench.ring.in_flight, 1);
    let feeder = feed(&path, vec![vec![9; 100]]);
    bench.ring.drain();
    assert_eq!(bench.ring.in_flight, 0);
    feeder.join().unwrap();
    assert!(bench.vu.buffers.slice(0, 100).iter().all(|&byte| byte == 9), "the kernel is done with the buffer");
}

#[test]
fn buffers_are_registered_while_they_fit() {
    assert_eq!(registered_bytes(4096, 1), 4096);
    assert_eq!(registered_bytes(1 << 20, 256), 65536);
    assert_eq!(registered_bytes(64 << 20, 1), REGISTERED_MAX);
    assert_eq!(registered_bytes(1 << 20, 8192), 0);
}
