//! The workspace of a client: its folders and lasting files, made before the mix begins or found as they were left.

use super::super::tables::TRANSFER_MAX;
use super::{Current, OfficeSession};
use crate::file::fault_text;
use bakeoff_engine::{FileCall, FileStep, OpenMode};

/// What is made ready first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setup {
    Folder(usize),
    Look(usize),
    Open(usize),
    Write(usize, u64),
    Close(usize),
    Done,
}

impl OfficeSession {
    /// The next call of the preparation.
    pub(super) fn set_up(&mut self) -> Option<FileStep> {
        let call = |call| Some(FileStep::Call { call, prepare: false, check: false });
        self.current.setup = true;
        match self.setup {
            Setup::Folder(index) => call(FileCall::MakeFolder { name: self.folders[index] }),
            Setup::Look(index) => call(FileCall::Stat { name: self.files[index].name }),
            Setup::Open(index) => {
                let mode = OpenMode { write: true, create: true, ..OpenMode::default() };
                call(FileCall::Open { file: 0, name: self.files[index].name, mode, permissions: 0o600 })
            }
            Setup::Write(index, offset) => {
                let length = (self.files[index].size - offset).min(TRANSFER_MAX as u64) as u32;
                self.current = Current { offset, length, owner: self.files[index].name, ..self.current };
                let call = FileCall::WriteAt { file: 0, buffer: 0, length, offset };
                Some(FileStep::Call { call, prepare: true, check: false })
            }
            Setup::Close(_) => call(FileCall::Close { file: 0 }),
            Setup::Done => None,
        }
    }

    pub(super) fn set_up_done(&mut self, value: i64) {
        let next = |index: usize, count: usize, make: fn(usize) -> Setup, then: Setup| {
            if index + 1 < count { make(index + 1) } else { then }
        };
        let files = self.files.len();
        let first = if files > 0 { Setup::Look(0) } else { Setup::Done };
        let failed = match self.setup {
            Setup::Folder(index) => {
                self.setup = next(index, self.folders.len(), Setup::Folder, first);
                value < 0 && value != -17
            }
            Setup::Look(index) if value == self.files[index].size as i64 => {
                self.setup = next(index, files, Setup::Look, Setup::Done);
                false
            }
            Setup::Look(index) => {
                self.setup = Setup::Open(index);
                value < 0 && value != -2
            }
            Setup::Open(index) => {
                self.setup = Setup::Write(index, 0);
                value < 0
            }
            Setup::Write(index, offset) => {
                let done = offset + u64::from(self.current.length);
                self.setup =
                    if done < self.files[index].size { Setup::Write(index, done) } else { Setup::Close(index) };
                value != i64::from(self.current.length)
            }
            Setup::Close(index) => {
                self.setup = next(index, files, Setup::Look, Setup::Done);
                value < 0
            }
            Setup::Done => false,
        };
        if failed {
            let errno = if value < 0 { -value as i32 } else { 28 };
            self.fault = Some(fault_text("making the workspace", errno));
        }
    }
}
