//! What is done around the transfers of a cell: the region is written, caches are made cold, counters are read.

use super::spec::BlocksSpec;
use super::transfer::FILE;
use crate::file::cache::Cache;
use bakeoff_engine::{FileCall, OpenMode};
use std::collections::VecDeque;

/// Pieces in which the region is written first, bytes.
pub(super) const FILL_BYTES: u64 = 1 << 20;

/// A step around the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Writes what is missing.
    Fill,
    Call(FileCall, Role),
    Barrier,
    FleetBarrier,
    Observe {
        after: bool,
    },
    Run,
    Judge,
    /// One of the writes that were kept for it.
    ReadBack(usize),
}

/// What the result of a call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Must,
    /// Opening past the cache, which may fail.
    Past,
    ReadBack,
    Length,
    Piece,
    Granule,
    Drop,
    DropAll,
    Command,
}

/// Looks whether the region is there, and how long it is; writes what is missing.
pub(super) fn make_region() -> [Task; 3] {
    let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
    let open = FileCall::Open { file: FILE, name: 0, mode, permissions: 0o600 };
    [Task::Call(open, Role::Must), Task::Call(FileCall::HandleStat { file: FILE }, Role::Length), Task::Fill]
}

/// Opens the region as its transfers need it.
pub(super) fn open(spec: &BlocksSpec) -> Task {
    let mode = OpenMode { read: true, write: true, direct: spec.direct, data_sync: spec.dsync, ..OpenMode::default() };
    Task::Call(FileCall::Open { file: FILE, name: 0, mode, permissions: 0 }, Role::Granule)
}

/// Appends what is done for a cell; `first` is the session that does what is done once for all.
pub(super) fn of_cell(spec: &BlocksSpec, first: bool, script: &mut VecDeque<Task>) {
    if first && spec.cache == Cache::Cold {
        script.push_back(Task::Call(FileCall::DropFileCache { name: 0 }, Role::Drop));
        if spec.drop_caches {
            script.push_back(Task::Call(FileCall::DropAllCaches, Role::DropAll));
        }
    }
    if spec.cache == Cache::Cold && spec.cold_command.is_some() {
        // It may unmount the share: nothing of it may be open.
        let leave = [FileCall::Close { file: FILE }, FileCall::LeaveFolder].map(|call| Task::Call(call, Role::Must));
        script.extend(leave);
        // What it does to the server must not touch the cell that another machine is still in.
        script.push_back(Task::FleetBarrier);
        if first {
            script.push_back(Task::Call(FileCall::ColdCommand, Role::Command));
        }
        let enter = Task::Call(FileCall::EnterFolder, Role::Must);
        script.extend([Task::Barrier, enter, open(spec)]);
    }
    if first {
        script.push_back(Task::Observe { after: false });
    }
    script.extend([Task::FleetBarrier, Task::Run, Task::Barrier]);
    if first {
        script.push_back(Task::Observe { after: true });
    }
    script.push_back(Task::Judge);
}
