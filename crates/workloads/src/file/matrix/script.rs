//! What a session does for one cell, step by step: make ready, wait for the others, the timed loop, clean up.

use super::spec::MatrixSpec;
use super::test::Test;
use super::walk::Order;
use crate::file::cache::Cache;
use bakeoff_engine::{FileCall, OpenMode};
use std::collections::VecDeque;

/// Index of the session's only file in its table of open files.
const FILE: u16 = 0;

/// The cell that a script is for, and who goes through it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    pub spec: &'a MatrixSpec,
    pub test: Test,
    /// Sizes of file and record, bytes.
    pub pair: (u64, u64),
    pub reads: bool,
    /// It does what is done once for all sessions.
    pub first: bool,
    /// The right file is there already.
    pub is_written: bool,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Barrier,
    Focus,
    Call(FileCall, Role),
    Observe {
        after: bool,
    },
    Loop(Kind, Mode, Order),
    /// Write the rest of an interrupted loop.
    Finish(Mode),
    /// The clock has stopped.
    Stop,
}

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A record of the loop.
    Record,
    /// Must succeed.
    Must,
    /// A missing file is fine.
    MayMiss,
    /// Its value is the alignment of direct I/O.
    OpenDirect,
    /// Belongs to the timed interval of the cell.
    Clocked,
    Drop,
    DropAll,
    Command,
}

/// Whether the loop's records count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Timed,
    Untimed,
}

/// Which call moves a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
    ReadAt,
    WriteAt,
    MapRead,
    MapWrite,
    StreamRead,
    StreamWrite,
}

impl Mode {
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteAt | Self::MapWrite | Self::StreamWrite)
    }

    #[inline]
    pub const fn call(self, length: u32, offset: u64) -> FileCall {
        let (file, buffer) = (FILE, 0);
        match self {
            Self::Read => FileCall::Read { file, buffer, length },
            Self::Write => FileCall::Write { file, buffer, length },
            Self::ReadAt => FileCall::ReadAt { file, buffer, length, offset },
            Self::WriteAt => FileCall::WriteAt { file, buffer, length, offset },
            Self::MapRead => FileCall::MapRead { file, buffer, length, offset },
            Self::MapWrite => FileCall::MapWrite { file, buffer, length, offset },
            Self::StreamRead => FileCall::StreamRead { file, buffer, length },
            Self::StreamWrite => FileCall::StreamWrite { file, buffer, length },
        }
    }

    fn of(test: Test, reads: bool, mapped: bool) -> Self {
        match (test.is_stream(), mapped, test.is_positional(), reads) {
            (true, _, _, true) => Self::StreamRead,
            (true, _, _, false) => Self::StreamWrite,
            (_, true, _, true) => Self::MapRead,
            (_, true, _, false) => Self::MapWrite,
            (_, _, true, true) => Self::ReadAt,
            (_, _, true, false) => Self::WriteAt,
            (_, _, false, true) => Self::Read,
            (_, _, false, false) => Self::Write,
        }
    }
}

const SYNC: FileCall = FileCall::Sync { file: FILE };
const CLOSE: FileCall = FileCall::Close { file: FILE };
const PERMISSIONS: u16 = 0o640;

fn must(call: FileCall) -> Task {
    Task::Call(call, Role::Must)
}

/// How the file of a cell is opened.
fn open_mode(spec: &MatrixSpec, test: Test, reads: bool, mapped: bool) -> OpenMode {
    OpenMode {
        read: reads || mapped,
        write: !reads,
        create: test.is_fresh(),
        truncate: test.is_fresh(),
        direct: spec.direct,
        data_sync: spec.dsync && !reads,
        sync: spec.sync && !reads,
        ..OpenMode::default()
    }
}

/// The script of a cell.
pub(super) fn of_cell(cell: &Cell<'_>) -> VecDeque<Task> {
    let Cell { spec, test, reads, .. } = *cell;
    let mapped = spec.mmap && !test.is_stream();
    let mode = Mode::of(test, reads, mapped);
    let mut script = VecDeque::with_capacity(24);
    make_ready(cell, &mut script);
    if spec.cache == Cache::Cold && !test.is_fresh() {
        make_cold(cell, &mut script);
    }
    script.push_back(Task::Focus);
    script.push_back(Task::Barrier);
    script.push_back(Task::Observe { after: false });
    open(cell, mapped, &mut script);
    script.push_back(Task::Barrier);
    script.push_back(Task::Loop(Kind::Timed, mode, test.order()));
    let stream = test.is_stream();
    if spec.fsync && mode.writes() {
        if stream {
            script.push_back(Task::Call(FileCall::StreamFlush { file: FILE }, Role::Clocked));
        }
        let sync = if mapped { FileCall::MapSync { file: FILE, wait: true } } else { SYNC };
        script.push_back(Task::Call(sync, Role::Clocked));
    }
    if spec.close {
        script.push_back(Task::Call(close(stream), Role::Clocked));
    }
    script.push_back(Task::Barrier);
    script.push_back(Task::Observe { after: true });
    script.push_back(Task::Barrier);
    script.push_back(Task::Stop);
    if !spec.close {
        if mode.writes() {
            if stream {
                script.push_back(must(FileCall::StreamFlush { file: FILE }));
            }
            script.push_back(must(SYNC));
        }
        script.push_back(must(close(stream)));
    }
    script
}

/// Writes what an interrupted loop has left; the file may be closed already.
pub(super) fn rest(spec: &MatrixSpec, mode: Mode) -> Vec<Task> {
    if !spec.close {
        return vec![Task::Finish(mode)];
    }
    let open = OpenMode { write: true, ..OpenMode::default() };
    let open = FileCall::Open { file: FILE, name: 0, mode: open, permissions: PERMISSIONS };
    vec![must(open), Task::Finish(Mode::WriteAt), must(SYNC), must(CLOSE)]
}

fn close(stream: bool) -> FileCall {
    if stream { FileCall::StreamClose { file: FILE } } else { CLOSE }
}

/// A new file for a test that writes one; the right file for the others.
fn make_ready(cell: &Cell<'_>, script: &mut VecDeque<Task>) {
    if cell.test.is_fresh() {
        script.push_back(Task::Call(FileCall::Unlink { name: 0 }, Role::MayMiss));
        return;
    }
    if cell.is_written {
        return;
    }
    script.push_back(Task::Call(FileCall::Unlink { name: 0 }, Role::MayMiss));
    let mode = OpenMode { write: true, create: true, exclusive: true, ..OpenMode::default() };
    script.push_back(must(FileCall::Open { file: FILE, name: 0, mode, permissions: PERMISSIONS }));
    script.push_back(Task::Loop(Kind::Untimed, Mode::Write, Order::Forward));
    script.push_back(must(SYNC));
    script.push_back(must(CLOSE));
}

fn make_cold(cell: &Cell<'_>, script: &mut VecDeque<Task>) {
    let Cell { spec, first, .. } = *cell;
    script.push_back(Task::Call(FileCall::DropFileCache { name: 0 }, Role::Drop));
    if spec.drop_caches {
        script.push_back(Task::Barrier);
        if first {
            script.push_back(Task::Call(FileCall::DropAllCaches, Role::DropAll));
        }
    }
    if spec.cold_command.is_some() {
        script.push_back(must(FileCall::LeaveFolder));
        script.push_back(Task::Barrier);
        if first {
            script.push_back(Task::Call(FileCall::ColdCommand, Role::Command));
        }
        script.push_back(Task::Barrier);
        script.push_back(must(FileCall::EnterFolder));
    }
}

fn open(cell: &Cell<'_>, mapped: bool, script: &mut VecDeque<Task>) {
    let Cell { spec, test, reads, pair: (file_bytes, record), .. } = *cell;
    let mode = open_mode(spec, test, reads, mapped);
    if test.is_stream() {
        let mode = OpenMode { direct: false, read: true, ..mode };
        let buffer_bytes = record as u32;
        script.push_back(must(FileCall::StreamOpen { file: FILE, name: 0, mode, buffer_bytes }));
        return;
    }
    let role = if spec.direct { Role::OpenDirect } else { Role::Must };
    script.push_back(Task::Call(FileCall::Open { file: FILE, name: 0, mode, permissions: PERMISSIONS }, role));
    if mapped {
        let length = file_bytes / record * record;
        if !reads {
            script.push_back(must(FileCall::Truncate { file: FILE, length }));
        }
        script.push_back(must(FileCall::Map { file: FILE, length, write: !reads }));
    }
    script.push_back(must(SYNC));
}
