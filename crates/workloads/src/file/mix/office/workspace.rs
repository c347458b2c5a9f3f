//! The workspace of a client: its folders and lasting files, made before the mix begins or used as they were left.

use crate::file::mix::tables::TRANSFER_MAX;
use bakeoff_engine::{FileCall, Name, OpenMode};

/// A lasting file.
#[derive(Debug, Clone, Copy)]
pub(super) struct File {
    pub name: Name,
    pub size: u64,
    /// Its first page among all pages of the session.
    pub page: u64,
}

/// What is made ready next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setup {
    Folder(usize),
    Look(usize),
    Open(usize),
    Write(usize, u64),
    Close(usize),
    Done,
}

/// A call of the preparation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub call: FileCall,
    /// What is written: offset, length and the file's name; no bytes where nothing is.
    pub piece: (u64, u32, Name),
}

/// The folders and lasting files of one thread, and how far they are made.
#[derive(Debug)]
pub(super) struct Workspace {
    pub folders: Vec<Name>,
    pub files: Vec<File>,
    setup: Setup,
}

impl Default for Workspace {
    fn default() -> Self {
        Self { folders: Vec::new(), files: Vec::new(), setup: Setup::Folder(0) }
    }
}

impl Workspace {
    /// The next call of the preparation; `None` when all is ready.
    #[inline]
    pub fn next(&self) -> Option<Step> {
        let call = |call| Some(Step { call, piece: (0, 0, 0) });
        match self.setup {
            Setup::Done => None,
            Setup::Folder(index) => call(FileCall::MakeFolder { name: self.folders[index] }),
            Setup::Look(index) => call(FileCall::Stat { name: self.files[index].name }),
            Setup::Open(index) => {
                let mode = OpenMode { write: true, create: true, ..OpenMode::default() };
                call(FileCall::Open { file: 0, name: self.files[index].name, mode, permissions: 0o600 })
            }
            Setup::Write(index, offset) => {
                let length = self.piece(index, offset);
                let call = FileCall::WriteAt { file: 0, buffer: 0, length, offset };
                Some(Step { call, piece: (offset, length, self.files[index].name) })
            }
            Setup::Close(_) => call(FileCall::Close { file: 0 }),
        }
    }

    /// Bytes that are written next at an offset.
    fn piece(&self, index: usize, offset: u64) -> u32 {
        (self.files[index].size - offset).min(TRANSFER_MAX as u64) as u32
    }

    /// Takes the value of that call. The error is the number of what cannot be helped.
    pub fn done(&mut self, value: i64) -> Result<(), i32> {
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
                let length = self.piece(index, offset);
                let done = offset + u64::from(length);
                self.setup =
                    if done < self.files[index].size { Setup::Write(index, done) } else { Setup::Close(index) };
                value != i64::from(length)
            }
            Setup::Close(index) => {
                self.setup = next(index, files, Setup::Look, Setup::Done);
                value < 0
            }
            Setup::Done => false,
        };
        let errno = if value < 0 { -value as i32 } else { 28 };
        if failed { Err(errno) } else { Ok(()) }
    }
}
