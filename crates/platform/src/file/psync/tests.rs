use super::*;
use crate::file::folder::WorkFolder;
use crate::file::folder::tests::{needs, scratch};
use bakeoff_engine::{FileBuffers, FileContext, FileProgress, FileResult, FileStep, Name};

struct Names;

impl FileSession for Names {
    fn next(&mut self, _: u32, _: &FileContext) -> FileStep {
        FileStep::Finished
    }
    fn done(&mut self, _: u32, _: &FileResult) -> FileProgress {
        FileProgress::Untimed
    }
    fn path(&self, name: Name) -> &CStr {
        [c"a", c"b", c"folder", c"folder/c", c"../out"][name as usize]
    }
}

const RW: OpenMode = OpenMode {
    read: true,
    write: true,
    create: true,
    exclusive: false,
    truncate: false,
    append: false,
    direct: false,
    data_sync: false,
    sync: false,
    folder: false,
};

struct Bench {
    parent: std::path::PathBuf,
    folder: WorkFolder,
    files: Files,
    buffers: AlignedBuffers,
}

impl Bench {
    fn new(name: &str) -> Self {
        let parent = scratch(name);
        let folder = WorkFolder::make(&needs(&parent)).unwrap();
        let files = Files::new(folder.open().unwrap(), 4);
        Self { parent, folder, files, buffers: AlignedBuffers::new(1, 65536).unwrap() }
    }

    fn run(&mut self, call: FileCall) -> i64 {
        self.files.execute(&call, &Names, &self.buffers)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.folder.remove(false).unwrap();
        std::fs::remove_dir(&self.parent).unwrap();
    }
}

#[test]
fn transfers_move_the_bytes_to_their_offsets() {
    let mut bench = Bench::new("transfers");
    assert_eq!(bench.run(FileCall::Open { file: 0, name: 0, mode: RW, permissions: 0o600 }), 0);
    bench.buffers.slice(0, 4096).fill(9);
    assert_eq!(bench.run(FileCall::WriteAt { file: 0, buffer: 0, length: 4096, offset: 8192 }), 4096);
    assert_eq!(bench.run(FileCall::HandleStat { file: 0 }), 12288);
    assert_eq!(bench.run(FileCall::Read { file: 0, buffer: 0, length: 8192 }), 8192);
    assert!(bench.buffers.slice(0, 8192).iter().all(|&byte| byte == 0));
    assert_eq!(bench.run(FileCall::ReadAt { file: 0, buffer: 0, length: 8192, offset: 8192 }), 4096);
    assert!(bench.buffers.slice(0, 4096).iter().all(|&byte| byte == 9));
    assert_eq!(bench.run(FileCall::Truncate { file: 0, length: 10 }), 0);
    assert_eq!(bench.run(FileCall::Stat { name: 0 }), 10);
    assert_eq!(bench.run(FileCall::Sync { file: 0 }), 0);
    assert_eq!(bench.run(FileCall::Close { file: 0 }), 0);
    assert_eq!(bench.run(FileCall::Close { file: 0 }), BAD);
    assert_eq!(bench.run(FileCall::ReadAt { file: 0, buffer: 0, length: 1, offset: 0 }), BAD);
}

#[test]
fn names_are_made_moved_counted_and_removed() {
    let mut bench = Bench::new("names");
    let make = OpenMode { exclusive: true, ..RW };
    assert_eq!(bench.run(FileCall::MakeFolder { name: 2 }), 0);
    assert_eq!(bench.run(FileCall::MakeFolder { name: 2 }), -i64::from(libc::EEXIST));
    assert_eq!(bench.run(FileCall::Open { file: 1, name: 3, mode: make, permissions: 0o600 }), 0);
    assert_eq!(bench.run(FileCall::Lock { file: 1, exclusive: true }), 0);
    assert_eq!(bench.run(FileCall::Unlock { file: 1 }), 0);
    assert_eq!(bench.run(FileCall::ReadFolder { name: 2 }), 3);
    assert_eq!(bench.run(FileCall::RemoveFolder { name: 2 }), -i64::from(libc::ENOTEMPTY));
    assert_eq!(bench.run(FileCall::Rename { from: 3, to: 1 }), 0);
    assert_eq!(bench.run(FileCall::RemoveFolder { name: 2 }), 0);
    assert_eq!(bench.run(FileCall::Touch { name: 1 }), 0);
    assert_eq!(bench.run(FileCall::Unlink { name: 1 }), 0);
    assert_eq!(bench.run(FileCall::Stat { name: 1 }), -i64::from(libc::ENOENT));
    assert_eq!(bench.run(FileCall::Unlink { name: 4 }), -i64::from(libc::EXDEV));
    assert!(bench.run(FileCall::Open { file: 0, name: 4, mode: RW, permissions: 0o600 }) < 0);
    assert!(bench.run(FileCall::FileSystem) > 0);
}

#[test]
fn streams_and_maps_reach_the_same_file() {
    let mut bench = Bench::new("streams");
    let fresh = OpenMode { truncate: true, ..RW };
    assert_eq!(bench.run(FileCall::StreamOpen { file: 0, name: 0, mode: fresh, buffer_bytes: 20_000 }), 0);
    bench.buffers.slice(0, 1000).fill(5);
    for written in (1000..=25_000).step_by(1000) {
        assert_eq!(bench.run(FileCall::StreamWrite { file: 0, buffer: 0, length: 1000 }), 1000);
        // Nothing is on its way before a whole buffer is full, and it has the size that was asked for.
        assert_eq!(bench.run(FileCall::Stat { name: 0 }), if written <= 20_000 { 0 } else { 20_000 }, "{written}");
    }
    assert_eq!(bench.run(FileCall::StreamFlush { file: 0 }), 0);
    assert_eq!(bench.run(FileCall::StreamClose { file: 0 }), 0);
    assert_eq!(bench.run(FileCall::Stat { name: 0 }), 25_000);
    assert_eq!(bench.run(FileCall::Open { file: 0, name: 0, mode: RW, permissions: 0o600 }), 0);
    assert_eq!(bench.run(FileCall::Truncate { file: 0, length: 5000 }), 0);
    assert_eq!(bench.run(FileCall::Close { file: 0 }), 0);
    let reading = OpenMode { read: true, ..OpenMode::default() };
    assert_eq!(bench.run(FileCall::StreamOpen { file: 0, name: 0, mode: reading, buffer_bytes: 4096 }), 0);
    assert_eq!(bench.run(FileCall::StreamRead { file: 0, buffer: 0, length: 8192 }), 5000);
    assert_eq!(bench.run(FileCall::StreamClose { file: 0 }), 0);

    assert_eq!(bench.run(FileCall::Open { file: 0, name: 0, mode: RW, permissions: 0o600 }), 0);
    assert_eq!(bench.run(FileCall::Map { file: 0, length: 5000, write: true }), 0);
    bench.buffers.slice(0, 100).fill(6);
    assert_eq!(bench.run(FileCall::MapWrite { file: 0, buffer: 0, length: 100, offset: 4900 }), 100);
    assert_eq!(bench.run(FileCall::MapSync { file: 0, wait: true }), 0);
    assert_eq!(bench.run(FileCall::Unmap { file: 0 }), 0);
    assert_eq!(bench.run(FileCall::ReadAt { file: 0, buffer: 0, length: 200, offset: 4800 }), 200);
    assert_eq!((bench.buffers.slice(0, 200)[99], bench.buffers.slice(0, 200)[100]), (5, 6));
    assert_eq!(bench.run(FileCall::Close { file: 0 }), 0);
}

#[test]
fn direct_opens_tell_their_alignment_and_caches_can_be_dropped() {
    let mut bench = Bench::new("direct");
    let direct = OpenMode { direct: true, ..RW };
    let alignment = bench.run(FileCall::Open { file: 0, name: 0, mode: direct, permissions: 0o600 });
    assert!((1..=65536).contains(&alignment) && (alignment as u64).is_power_of_two(), "{alignment}");
    assert_eq!(bench.run(FileCall::Open { file: 1, name: 1, mode: RW, permissions: 0o600 }), 0);
    assert_eq!(bench.run(FileCall::WriteAt { file: 1, buffer: 0, length: 65536, offset: 0 }), 65536);
    let cached = |bench: &Bench| crate::file::cache::pages_of(bench.files.descriptor(1)).unwrap();
    assert_eq!(cached(&bench).cached, 16);
    assert_eq!(bench.run(FileCall::DropFileCache { name: 1 }), 0);
    assert_eq!(cached(&bench).cached, 0);
}

#[test]
fn links_in_the_way_lead_nowhere() {
    let mut bench = Bench::new("links");
    let outside = scratch("links-outside");
    std::fs::create_dir(outside.join("c")).unwrap();
    let inside = std::fs::read_dir(&bench.parent).unwrap().next().unwrap().unwrap().path();
    std::os::unix::fs::symlink(&outside, inside.join("folder")).unwrap();
    // Not "it is there already", which would let the work go on below it.
    let refused = [libc::ELOOP, libc::ENOTDIR].map(|errno| -i64::from(errno));
    assert!(refused.contains(&bench.run(FileCall::MakeFolder { name: 2 })));
    assert!(refused.contains(&bench.run(FileCall::RemoveTree { name: 3 })));
    assert!(outside.join("c").is_dir());
    assert_eq!(bench.run(FileCall::RemoveTree { name: 2 }), 0, "the link itself may go");
    std::fs::remove_dir(outside.join("c")).unwrap();
    std::fs::remove_dir(outside).unwrap();
}
