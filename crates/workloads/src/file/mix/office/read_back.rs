//! What was written last, and a secret sample of it that is read back when the measured part is over.

use super::workspace::File;
use crate::file::fault_text;
use crate::file::pattern::PAGE;
use bakeoff_engine::{FileCall, FileResult, Identity, Nanos, OpenMode, Rng};

/// Pages of each client that are read back, and how long that may take.
const PAGES: usize = 8;
const NS_MAX: Nanos = 3_000_000_000;
/// Nobody knows what stands in the stamp: it was written in parts, or by an earlier trial.
const UNKNOWN: u64 = 0;

/// The pass of writing of each page of the files that last, which one session alone writes.
#[derive(Debug, Clone, Default)]
pub(super) struct Passes {
    pages: Vec<u64>,
    now: u64,
}

impl Passes {
    /// Room for so many pages.
    pub fn with_room(pages: u64) -> Self {
        Self { pages: vec![UNKNOWN; pages as usize], now: UNKNOWN }
    }

    /// What is written next is of a pass of its own.
    #[inline]
    pub fn begin(&mut self, now_ns: Nanos) {
        self.now = now_ns.max(self.now + 1);
    }

    fn at(&mut self, first: Option<u64>, offset: u64) -> Option<&mut u64> {
        self.pages.get_mut((first? + offset / PAGE as u64) as usize)
    }

    /// The pass of the page at an offset that is about to be written, with its `whole` stamp or a part of it: a part
    /// goes on with the pass that stands there.
    pub fn write(&mut self, first: Option<u64>, offset: u64, whole: bool) -> u64 {
        let now = self.now;
        match self.at(first, offset) {
            Some(known) if whole => {
                *known = now;
                now
            }
            Some(known) if *known != UNKNOWN => *known,
            _ => now,
        }
    }

    /// The pass of the page at an offset; `None` where nobody knows.
    pub fn known(&self, first: Option<u64>, offset: u64) -> Option<u64> {
        let pass = *self.pages.get((first? + offset / PAGE as u64) as usize)?;
        (pass != UNKNOWN).then_some(pass)
    }

    /// A write has failed: nobody knows what stands there now.
    pub fn forget(&mut self, first: Option<u64>, offset: u64, length: u32) {
        for page in (offset - offset % PAGE as u64..offset + u64::from(length)).step_by(PAGE) {
            if let Some(pass) = self.at(first, page) {
                *pass = UNKNOWN;
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waits,
    /// Past this machine's cache where that can be, so that the share is asked and not its client; what is in the cache
    /// stays there for the next trial.
    Open,
    Read,
    Close,
}

/// Reads pages back, one after the other.
#[derive(Debug, Default)]
pub(super) struct ReadBack {
    chance: Option<Rng>,
    ends_ns: Nanos,
    left: Vec<(File, u64)>,
    stage: Stage,
    /// The share cannot be read past the cache.
    cached: bool,
    pub looked: u64,
    pub lost: u64,
}

impl ReadBack {
    pub fn drawn_by(secret: u64, identity: &Identity) -> Self {
        Self { chance: Some(Rng::for_thread(secret, identity.client, identity.vu)), ..Self::default() }
    }

    pub fn is_under_way(&self) -> bool {
        self.stage != Stage::Waits
    }

    /// The file that is looked at, and where, while something is.
    pub fn looks_at(&self) -> Option<(File, u64)> {
        if self.is_under_way() { self.left.last().copied() } else { None }
    }

    /// The next call; `None` when all is done, or its time is over.
    pub fn next(&mut self, now_ns: Nanos, files: &[File], passes: &Passes, handle: u16) -> Option<FileCall> {
        if let Some(mut chance) = self.chance.take() {
            self.ends_ns = now_ns + NS_MAX;
            self.draw(&mut chance, files, passes);
        }
        if self.stage == Stage::Waits {
            if now_ns >= self.ends_ns {
                return None;
            }
            self.stage = Stage::Open;
        }
        let Some(&(file, offset)) = self.left.last() else {
            self.stage = Stage::Waits;
            return None;
        };
        let length = PAGE as u32;
        Some(match self.stage {
            Stage::Open | Stage::Waits => {
                let mode = OpenMode { read: true, direct: !self.cached, ..OpenMode::default() };
                FileCall::Open { file: handle, name: file.name, mode, permissions: 0 }
            }
            Stage::Read => FileCall::ReadAt { file: handle, buffer: 0, length, offset },
            Stage::Close => FileCall::Close { file: handle },
        })
    }

    /// Some of the pages whose pass is known: files by chance, and of each a page by chance.
    fn draw(&mut self, chance: &mut Rng, files: &[File], passes: &Passes) {
        let mut pages: Vec<(File, u64)> = files
            .iter()
            .flat_map(|&file| (0..file.size).step_by(PAGE).map(move |offset| (file, offset)))
            .filter(|(file, offset)| passes.known(Some(file.page), *offset).is_some())
            .collect();
        while self.left.len() < PAGES && !pages.is_empty() {
            let at = chance.below(pages.len() as u64) as usize;
            self.left.push(pages.swap_remove(at));
        }
    }

    /// A call is over: what is wrong, if anything.
    pub fn done(&mut self, result: &FileResult) -> Option<String> {
        let (file, offset) = *self.left.last()?;
        let wanted = (file.size - offset).min(PAGE as u64) as i64;
        if self.stage == Stage::Open && result.value < 0 && !self.cached {
            self.cached = true;
            return None;
        }
        self.stage = match self.stage {
            Stage::Open | Stage::Waits => Stage::Read,
            Stage::Read => Stage::Close,
            Stage::Close => Stage::Waits,
        };
        if self.stage == Stage::Close {
            self.looked += 1;
            if result.damaged || (result.value >= 0 && result.value != wanted) {
                self.lost += 1;
                return Some(format!("read back after the trial, what was written at offset {offset} is not there"));
            }
        }
        if self.stage == Stage::Waits {
            self.left.pop();
        }
        let matters = matches!(self.stage, Stage::Read | Stage::Close);
        (matters && result.value < 0).then(|| fault_text("reading back what was written", -result.value as i32))
    }
}
