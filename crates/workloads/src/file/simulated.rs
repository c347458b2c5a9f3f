//! An executor for tests: files in memory, a clock that each call moves on.

use bakeoff_engine::{
    FileCall, FileContext, FileProgress, FileResult, FileSession, FileStep, Nanos, OpenMode, Outcome,
};
use std::collections::{BTreeMap, BTreeSet};

/// Files and folders by name.
#[derive(Debug, Default)]
pub struct Disk {
    pub files: BTreeMap<String, Vec<u8>>,
    pub folders: BTreeSet<String>,
    pub handles: BTreeMap<u16, String>,
    /// Where the next read or write of a handle begins that names no offset.
    pub positions: BTreeMap<u16, u64>,
    /// Every transfer, in the order in which they began.
    pub transfers: Vec<Transfer>,
    /// Flips one bit of every n-th read.
    pub damage_every: u64,
    pub reads: u64,
    /// Acknowledges every n-th write and forgets it.
    pub lose_every: u64,
    pub writes: u64,
    /// The share is gone after so many reads; 0: it stays.
    pub vanish_after: u64,
}

/// One transfer that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub name: String,
    pub writes: bool,
    pub offset: u64,
    pub length: u32,
}

const NOT_FOUND: i64 = -2;
const BAD: i64 = -9;
const STALE: i64 = -116;
const EXISTS: i64 = -17;
const IS_FOLDER: i64 = -21;

impl Disk {
    fn open(&mut self, file: u16, name: String, mode: OpenMode) -> i64 {
        if self.handles.contains_key(&file) {
            return BAD;
        }
        let (is_file, is_folder) = (self.files.contains_key(&name), self.folders.contains(&name));
        if is_folder && !mode.folder {
            return IS_FOLDER;
        }
        if !is_file && !is_folder && !mode.create {
            return NOT_FOUND;
        }
        if !is_folder && (mode.truncate || !is_file) {
            self.files.insert(name.clone(), Vec::new());
        }
        self.handles.insert(file, name);
        self.positions.insert(file, 0);
        0
    }

    fn close(&mut self, file: u16) -> i64 {
        self.handles.remove(&file).map_or(BAD, |_| 0)
    }

    /// Where a transfer without an offset begins; it moves the position on.
    fn advance(&mut self, file: u16, length: u32) -> u64 {
        let position = self.positions.entry(file).or_default();
        *position += u64::from(length);
        *position - u64::from(length)
    }

    fn read(&mut self, file: u16, offset: u64, length: u32, buffer: &mut [u8]) -> i64 {
        self.note(file, false, offset, length);
        self.reads += 1;
        let damaged = self.damage_every > 0 && self.reads.is_multiple_of(self.damage_every);
        if self.vanish_after > 0 && self.reads > self.vanish_after {
            return STALE;
        }
        let Some(bytes) = self.of(file) else { return BAD };
        let from = (offset as usize).min(bytes.len());
        let to = (from + length as usize).min(bytes.len());
        buffer[..to - from].copy_from_slice(&bytes[from..to]);
        if damaged && to > from {
            buffer[(to - from) / 2] ^= 1;
        }
        (to - from) as i64
    }

    fn write(&mut self, file: u16, offset: u64, length: u32, buffer: &[u8]) -> i64 {
        self.note(file, true, offset, length);
        self.writes += 1;
        let lost = self.lose_every > 0 && self.writes.is_multiple_of(self.lose_every);
        let Some(bytes) = self.of(file) else { return BAD };
        let end = offset as usize + length as usize;
        if lost && bytes.len() >= end {
            return i64::from(length);
        }
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[offset as usize..end].copy_from_slice(&buffer[..length as usize]);
        i64::from(length)
    }

    fn note(&mut self, file: u16, writes: bool, offset: u64, length: u32) {
        let name = self.handles.get(&file).cloned().unwrap_or_default();
        self.transfers.push(Transfer { name, writes, offset, length });
    }

    fn of(&mut self, file: u16) -> Option<&mut Vec<u8>> {
        self.files.get_mut(self.handles.get(&file)?)
    }

    /// Carries out a call; `buffer` is what it moves.
    pub fn execute(&mut self, call: &FileCall, session: &impl FileSession, buffer: &mut [u8]) -> i64 {
        let text = |name| session.path(name).to_string_lossy().into_owned();
        match *call {
            FileCall::Open { file, name, mode, .. } | FileCall::StreamOpen { file, name, mode, .. } => {
                self.open(file, text(name), mode)
            }
            FileCall::Close { file } | FileCall::StreamClose { file } => self.close(file),
            FileCall::ReadAt { file, length, offset, .. } | FileCall::MapRead { file, length, offset, .. } => {
                self.read(file, offset, length, buffer)
            }
            FileCall::WriteAt { file, length, offset, .. } | FileCall::MapWrite { file, length, offset, .. } => {
                self.write(file, offset, length, buffer)
            }
            FileCall::Read { file, length, .. } | FileCall::StreamRead { file, length, .. } => {
                let offset = self.advance(file, length);
                self.read(file, offset, length, buffer)
            }
            FileCall::Write { file, length, .. } | FileCall::StreamWrite { file, length, .. } => {
                let offset = self.advance(file, length);
                self.write(file, offset, length, buffer)
            }
            FileCall::HandleStat { file } if self.handles.contains_key(&file) => {
                self.of(file).map_or(4096, |bytes| bytes.len() as i64)
            }
            FileCall::Sync { file } | FileCall::Lock { file, .. } | FileCall::Unlock { file } => {
                if self.handles.contains_key(&file) { 0 } else { BAD }
            }
            FileCall::HandleStat { .. } => BAD,
            FileCall::Stat { name } | FileCall::Touch { name } => match self.files.get(&text(name)) {
                Some(bytes) => bytes.len() as i64,
                None if self.folders.contains(&text(name)) => 4096,
                None => NOT_FOUND,
            },
            FileCall::Rename { from, to } => match self.files.remove(&text(from)) {
                Some(bytes) => {
                    self.files.insert(text(to), bytes);
                    0
                }
                None => NOT_FOUND,
            },
            FileCall::Unlink { name } => self.files.remove(&text(name)).map_or(NOT_FOUND, |_| 0),
            FileCall::MakeFolder { name } => {
                if self.folders.insert(text(name)) {
                    0
                } else {
                    EXISTS
                }
            }
            FileCall::RemoveFolder { name } => {
                if self.folders.remove(&text(name)) {
                    0
                } else {
                    NOT_FOUND
                }
            }
            FileCall::RemoveTree { name } => {
                let place = text(name);
                let within = |path: &String| path == &place || path.starts_with(&format!("{place}/"));
                self.files.retain(|path, _| !within(path));
                self.folders.retain(|path| !within(path));
                0
            }
            FileCall::ReadFolder { name } => {
                if text(name) == "." || self.folders.contains(&text(name)) {
                    3
                } else {
                    NOT_FOUND
                }
            }
            FileCall::FileSystem => 1 << 40,
            _ => 0,
        }
    }
}

/// One operation that was counted.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    pub outcome: Outcome,
    pub start_ns: Nanos,
    pub end_ns: Nanos,
}

/// What came of a session.
#[derive(Debug, Default)]
pub struct SimulatedEnd {
    pub counted: Vec<Counted>,
    pub untimed: u64,
    pub most_in_flight: usize,
    pub fault: Option<String>,
}

/// What a session of one slot does once the measured part is over; its fault, if it has found one.
pub fn play_after(session: &mut impl FileSession, disk: &mut Disk) -> Option<String> {
    let (mut now_ns, mut buffer) = (1 << 40, vec![0_u8; 1 << 20]);
    loop {
        let context = FileContext { now_ns, ..FileContext::default() };
        let (call, check) = match session.after(0, &context)? {
            FileStep::Call { call, check, .. } => (call, check),
            FileStep::Abort => return Some(session.fault()),
            step => panic!("{step:?} when all is over"),
        };
        let value = disk.execute(&call, session, &mut buffer);
        let damaged = check && value > 0 && !session.check(0, &buffer[..value as usize]);
        now_ns += 1_000;
        let result = FileResult { value, start_ns: now_ns - 1_000, end_ns: now_ns, damaged };
        assert_eq!(session.done(0, &result), FileProgress::Untimed);
    }
}

/// Runs a session with `depth` slots; a call lasts `call_ns`. Ends after `most` counted operations, too.
pub fn play(session: &mut impl FileSession, disk: &mut Disk, depth: u32, call_ns: Nanos, most: usize) -> SimulatedEnd {
    let mut played = SimulatedEnd::default();
    let mut now_ns: Nanos = 1_000;
    let mut buffers = vec![vec![0_u8; 1 << 20]; depth as usize];
    // (end, slot, call, check, start) of calls in flight, in the order of their starts.
    let mut flying: Vec<(Nanos, u32, FileCall, bool, Nanos)> = Vec::new();
    let mut starts = vec![None; depth as usize];
    // The last slot comes first: no session may count on an order.
    let mut wakes: Vec<(Nanos, u32)> = (0..depth).rev().map(|slot| (0, slot)).collect();
    let mut idle: Vec<u32> = Vec::new();
    while played.counted.len() < most {
        while let Some(at) = wakes.iter().position(|wake| wake.0 <= now_ns) {
            let slot = wakes.remove(at).1;
            let context = FileContext { now_ns, ..FileContext::default() };
            match session.next(slot, &context) {
                FileStep::Call { call, prepare, check } => {
                    if let (true, Some((_, length))) = (prepare, call.transfer()) {
                        session.fill(slot, &mut buffers[slot as usize][..length as usize]);
                    }
                    starts[slot as usize].get_or_insert(now_ns);
                    flying.push((now_ns + call_ns, slot, call, check, now_ns));
                    played.most_in_flight = played.most_in_flight.max(flying.len());
                }
                FileStep::Barrier | FileStep::FleetBarrier => {
                    assert!(flying.is_empty(), "a barrier with calls in flight");
                    wakes.push((now_ns, slot));
                    wakes.extend(idle.drain(..).map(|slot| (now_ns, slot)));
                }
                FileStep::Focus(_) => wakes.push((now_ns, slot)),
                FileStep::Pause(pause_ns) => wakes.push((now_ns + pause_ns, slot)),
                FileStep::Idle => idle.push(slot),
                FileStep::Abort => {
                    played.fault = Some(session.fault());
                    return played;
                }
                FileStep::Finished => {}
            }
        }
        if flying.is_empty() {
            match wakes.iter().map(|wake| wake.0).min() {
                Some(wake_ns) => now_ns = now_ns.max(wake_ns),
                None => return played,
            }
            continue;
        }
        let (end_ns, slot, call, check, start_ns) = flying.remove(0);
        now_ns = now_ns.max(end_ns);
        let buffer = &mut buffers[slot as usize];
        let value = disk.execute(&call, session, buffer);
        let damaged = check && value > 0 && !session.check(slot, &buffer[..value as usize]);
        match session.done(slot, &FileResult { value, start_ns, end_ns: now_ns, damaged }) {
            FileProgress::Pending => {}
            FileProgress::Untimed => {
                played.untimed += 1;
                starts[slot as usize] = None;
            }
            FileProgress::Done(outcome) => {
                let begun_ns = starts[slot as usize].take().unwrap_or(start_ns);
                played.counted.push(Counted { outcome, start_ns: begun_ns, end_ns: now_ns });
            }
        }
        wakes.push((now_ns, slot));
        wakes.extend(idle.drain(..).map(|slot| (now_ns, slot)));
    }
    played
}
