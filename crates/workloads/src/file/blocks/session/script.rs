//! What is done around the transfers of a cell: the region is written, caches are made cold, counters are read.

use super::super::access::Transfer;
use super::{BlocksSession, FILE, Turn};
use crate::file::blocks::FILL_BYTES;
use crate::file::blocks::spec::BlocksSpec;
use crate::file::fault_text;
use crate::file::matrix::Cache;
use bakeoff_engine::{FileCall, FileContext, FileResult, FileStep, OpenMode};

/// A step around the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Is the region there, and how long is it?
    OpenRegion,
    LookAtRegion,
    /// Writes what is missing.
    Fill,
    Call(FileCall, Role),
    Barrier,
    Observe {
        after: bool,
    },
    Run,
    Judge,
}

/// What the result of a call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Must,
    Length,
    Piece,
    Granule,
    Drop,
    DropAll,
    Command,
}

/// Opens the region as its transfers need it.
pub(super) fn open(spec: &BlocksSpec) -> Task {
    let mode = OpenMode { read: true, write: true, direct: spec.direct, data_sync: spec.dsync, ..OpenMode::default() };
    Task::Call(FileCall::Open { file: FILE, name: 0, mode, permissions: 0 }, Role::Granule)
}

impl BlocksSession {
    /// Writes the script of the next cell; `false` when all are done.
    pub(super) fn begin_cell(&mut self) -> bool {
        if self.next_cell >= self.figures.len() {
            return false;
        }
        self.cell = self.next_cell;
        self.next_cell += 1;
        let spec = &self.shared.spec;
        let wanted = self.granule;
        let fits = |bytes: u64| bytes.is_multiple_of(wanted);
        if !spec.cells[self.cell].used().all(|line| fits(line.size) && fits(line.reply)) {
            self.figures[self.cell].refused_granule = wanted;
            return true;
        }
        let first = self.index == 0;
        if first && spec.cache == Cache::Cold {
            self.script.push_back(Task::Call(FileCall::DropFileCache { name: 0 }, Role::Drop));
            if spec.drop_caches {
                self.script.push_back(Task::Call(FileCall::DropAllCaches, Role::DropAll));
            }
        }
        if spec.cache == Cache::Cold && spec.cold_command.is_some() {
            // It may unmount the share: nothing of it may be open.
            let leave =
                [FileCall::Close { file: FILE }, FileCall::LeaveFolder].map(|call| Task::Call(call, Role::Must));
            self.script.extend(leave);
            self.script.push_back(Task::Barrier);
            if first {
                self.script.push_back(Task::Call(FileCall::ColdCommand, Role::Command));
            }
            let enter = Task::Call(FileCall::EnterFolder, Role::Must);
            self.script.extend([Task::Barrier, enter, open(spec)]);
        }
        if first {
            self.script.push_back(Task::Observe { after: false });
        }
        self.script.extend([Task::Barrier, Task::Run, Task::Barrier]);
        if first {
            self.script.push_back(Task::Observe { after: true });
        }
        self.script.push_back(Task::Judge);
        true
    }

    /// The step of a task; `None` goes on at once.
    pub(super) fn run_task(&mut self, slot: u32, task: Task, context: &FileContext) -> Option<FileStep> {
        match task {
            Task::Barrier => Some(FileStep::Barrier),
            Task::OpenRegion => {
                let mode = OpenMode { read: true, write: true, create: true, ..OpenMode::default() };
                Some(self.aside(FileCall::Open { file: FILE, name: 0, mode, permissions: 0o600 }, Role::Must))
            }
            Task::LookAtRegion => Some(self.aside(FileCall::HandleStat { file: FILE }, Role::Length)),
            Task::Fill => Some(self.fill_region(slot)),
            Task::Call(call, role) => Some(self.aside(call, role)),
            Task::Observe { after } => {
                self.observing = Some(after);
                Some(self.aside(FileCall::Observe { name: Some(0), counters: true }, Role::Must))
            }
            Task::Run => {
                self.begin_transfers(context.now_ns);
                Some(FileStep::Focus(self.cell as u16))
            }
            Task::Judge => {
                self.judge();
                None
            }
        }
    }

    fn aside(&mut self, call: FileCall, role: Role) -> FileStep {
        self.script_role = Some(role);
        FileStep::Call { call, prepare: false, check: false }
    }

    /// The next piece of the region that is missing, or what comes after it.
    fn fill_region(&mut self, slot: u32) -> FileStep {
        let wanted = self.shared.spec.region_bytes;
        if self.length >= wanted {
            self.script.push_front(Task::Call(FileCall::Close { file: FILE }, Role::Must));
            return self.aside(FileCall::Sync { file: FILE }, Role::Must);
        }
        self.script.push_front(Task::Fill);
        let size = FILL_BYTES.min(wanted - self.length) as u32;
        let place = &mut self.slots[slot as usize];
        place.transfer = Transfer { reads: false, offset: self.length, size, reply: 0 };
        place.turn = Turn::Request;
        self.script_role = Some(Role::Piece);
        // One piece at a time, and nothing else in flight: one buffer of this size is enough for any depth.
        let call = FileCall::WriteAt { file: FILE, buffer: 0, length: size, offset: self.length };
        FileStep::Call { call, prepare: true, check: false }
    }

    pub(super) fn script_done(&mut self, slot: u32, role: Role, result: &FileResult) {
        let value = result.value;
        let figures = self.figures.get_mut(self.cell);
        match (role, figures) {
            (Role::Length, _) if value >= 0 => self.length = value as u64,
            (Role::Piece, _) if value == i64::from(self.slots[slot as usize].transfer.size) => {
                self.length += value as u64;
            }
            (Role::Granule, _) if value >= 0 => self.granule = (value as u64).max(1),
            (Role::Drop, Some(figures)) if value >= -1 => figures.level = u8::from(value <= 0),
            (Role::DropAll, Some(figures)) => figures.level = if value >= 0 { 2 } else { figures.level },
            (Role::Command, Some(figures)) if value >= 0 => figures.level = 3,
            (Role::Command, _) => {
                self.fault
                    .get_or_insert_with(|| "the command that makes caches cold failed: try it by hand".to_owned());
            }
            (Role::Piece, _) if value >= 0 => {
                self.fault.get_or_insert_with(|| fault_text("writing the region", 28));
            }
            _ if value < 0 => {
                self.fault.get_or_insert_with(|| fault_text("making the region ready", -value as i32));
            }
            _ => {}
        }
    }
}
