//! One client's thread replaying a loadfile.

use super::loadfile::{Entry, Expect, Line, NameIndex, OPERATIONS, Operation, Program};
use super::spec::MixSpec;
use super::tally::{self, Pages};
use super::value::random_text;
use crate::file::fault_text;
use crate::file::servers::NOT_EXPRESSIBLE;
use bakeoff_engine::{
    ErrorClass, FileCall, FileContext, FileProgress, FileResult, FileStep, Identity, Name, Nanos, OpenMode, Outcome,
    Rng,
};
use serde_json::{Value, json};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where clients wait for each other.
#[derive(Debug)]
pub(super) struct SyncPoints(Vec<AtomicU32>);

impl SyncPoints {
    pub fn new(sessions: u32) -> Self {
        Self((0..sessions).map(|_| AtomicU32::new(0)).collect())
    }
}

/// Pause between two looks at another client's point.
const LOOK_NS: Nanos = 1_000_000;
const PAGE: u64 = 4096;
/// Pages of a file that are counted at most.
const TOUCHED_MAX: u64 = 1 << 24;

/// A session that replays.
#[derive(Debug)]
pub struct ReplaySession {
    program: Arc<Program>,
    points: Arc<SyncPoints>,
    index: u32,
    sessions: u32,
    rng: Rng,
    once: bool,
    resolve: bool,
    flush: bool,
    /// Calls go to a server without a mount between.
    by_protocol: bool,
    /// Names of this client; those with a `$` are made again by RANDOMSTRING.
    names: Vec<CString>,
    variables: Vec<String>,
    line: usize,
    repeated: u32,
    loops: Vec<(u32, u32)>,
    started_ns: Nanos,
    sleep_until_ns: Nanos,
    /// Handles to close before the next pass.
    closing: usize,
    /// A file is open that was to be missing.
    spare_open: bool,
    root_made: bool,
    current: Option<Entry>,
    stage: u8,
    failed: Option<i64>,
    offset: u64,
    last: [u64; 2],
    pattern: Option<u32>,
    filled: usize,
    /// Pages that were read or written, by name.
    touched: Vec<Pages>,
    handles: Vec<NameIndex>,
    expected: [u64; OPERATIONS.len()],
    unexpected: [u64; OPERATIONS.len()],
    /// Operations that the server's protocol has no words for: they are left out.
    not_expressible: [u64; OPERATIONS.len()],
    first_unexpected: Option<String>,
    passes: u64,
    fault: Option<String>,
}

/// Longest name after its variables were put in; no system call takes one of this length.
const NAME_BYTES_MAX: usize = 4096;

/// The name of one client: `client1` stands for any, `$0` to `$99` for their texts, in which nothing is replaced.
pub(super) fn own_name(name: &str, index: u32, variables: &[String]) -> CString {
    let name = name.replace("client1", &format!("client{index}"));
    let mut parts = name.split('$');
    let mut own = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let text = part[..digits].parse().ok().and_then(|number: usize| variables.get(number));
        match text.filter(|text| !text.is_empty()) {
            Some(text) => own.extend([text.as_str(), &part[digits..]]),
            None => own.extend(["$", part]),
        }
        if own.len() > NAME_BYTES_MAX {
            break;
        }
    }
    CString::new(own.trim_start_matches('/')).unwrap_or_default()
}

impl ReplaySession {
    pub(super) fn new(
        program: Arc<Program>,
        points: Arc<SyncPoints>,
        spec: &MixSpec,
        index: u32,
        sessions: u32,
        identity: Identity,
    ) -> Self {
        let names = program.names.iter().map(|name| own_name(name, index, &[])).collect();
        let handles = vec![0; usize::from(program.handles)];
        Self {
            points,
            index,
            sessions,
            rng: Rng::for_thread(identity.seed, identity.client, identity.vu),
            once: spec.once,
            resolve: spec.resolve,
            flush: spec.flush,
            by_protocol: spec.folder.contains("://"),
            names,
            variables: vec![String::new(); 100],
            line: 0,
            repeated: 0,
            loops: Vec::new(),
            started_ns: 0,
            sleep_until_ns: 0,
            closing: usize::MAX,
            spare_open: false,
            root_made: false,
            current: None,
            stage: 0,
            failed: None,
            offset: 0,
            last: [0; 2],
            pattern: None,
            filled: 0,
            touched: vec![Pages::default(); program.names.len()],
            handles,
            expected: [0; OPERATIONS.len()],
            unexpected: [0; OPERATIONS.len()],
            not_expressible: [0; OPERATIONS.len()],
            first_unexpected: None,
            passes: 0,
            fault: None,
            program,
        }
    }

    /// Goes on to the next operation; a step when something else comes first.
    fn advance(&mut self, context: &FileContext) -> Result<Entry, FileStep> {
        loop {
            if self.sleep_until_ns > context.now_ns {
                return Err(FileStep::Pause(self.sleep_until_ns - context.now_ns));
            }
            let Some(&line) = self.program.lines.get(self.line) else {
                self.end_pass(context)?;
                continue;
            };
            match line {
                Line::Do(entry, times) => {
                    self.repeated += 1;
                    if self.repeated >= times {
                        self.repeated = 0;
                        self.line += 1;
                    }
                    return Ok(entry);
                }
                Line::At(at_us) => self.sleep_until_ns = self.started_ns + at_us * 1000,
                Line::Loop(times) => self.loops.push((self.line as u32, times)),
                Line::EndLoop(start) => {
                    let left = self.loops.last_mut().map(|(_, left)| {
                        *left = left.saturating_sub(1);
                        *left
                    });
                    if left.is_some_and(|left| left > 0) {
                        self.line = start as usize;
                    } else {
                        self.loops.pop();
                    }
                }
                Line::Sleep(us) => self.sleep_until_ns = context.now_ns + us * 1000,
                Line::Random(variable, text) => self.new_text(usize::from(variable), text),
                Line::Pattern(text) => (self.pattern, self.filled) = (Some(text), 0),
                Line::SetPoint(point) => self.points.0[self.index as usize].store(point, Ordering::Release),
                Line::WaitPoint { child, point } => {
                    let child = child.value(0, &mut self.rng, self.index, self.sessions) as usize;
                    let reached = self.points.0.get(child).is_none_or(|at| at.load(Ordering::Acquire) >= point);
                    if !reached {
                        return Err(FileStep::Pause(LOOK_NS));
                    }
                }
            }
            self.line += 1;
        }
    }

    /// The end of the loadfile: closes what is open, then begins again.
    fn end_pass(&mut self, context: &FileContext) -> Result<(), FileStep> {
        if self.closing == usize::MAX {
            self.closing = 0;
            self.passes += 1;
        }
        if let Some(&file) = self.program.open_at_end.get(self.closing) {
            self.closing += 1;
            return Err(FileStep::Call { call: FileCall::Close { file }, prepare: false, check: false });
        }
        if self.once {
            return Err(FileStep::Finished);
        }
        self.closing = usize::MAX;
        self.line = 0;
        self.started_ns = context.now_ns;
        Ok(())
    }

    fn new_text(&mut self, variable: usize, text: u32) {
        self.variables[variable] = random_text(&self.program.texts[text as usize], &mut self.rng);
        for (name, own) in self.program.names.iter().zip(&mut self.names) {
            if name.contains('$') {
                *own = own_name(name, self.index, &self.variables);
            }
        }
    }

    /// The next call of an operation; `None` when it has no more.
    ///
    /// With `resolve` a name is looked at first, and its folder is read when it is not there: a server that does
    /// not tell capitals from small letters must.
    fn call(&mut self, entry: &Entry) -> Option<FileCall> {
        let (name, other, file) = (entry.name, entry.other, entry.handle);
        let stage = self.stage;
        let missing = self.failed == Some(-2);
        let by_name = matches!(
            entry.operation,
            Operation::Create
                | Operation::Unlink
                | Operation::Rename
                | Operation::Mkdir
                | Operation::QueryPath
                | Operation::Find
        );
        if by_name && self.resolve && stage < 2 {
            return match stage {
                0 => Some(FileCall::Stat { name }),
                _ if missing && entry.operation != Operation::Mkdir => Some(FileCall::ReadFolder { name: other }),
                _ => {
                    self.stage = 2;
                    self.call(entry)
                }
            };
        }
        if stage < 2 {
            self.stage = 2;
        }
        let call = match (entry.operation, self.stage) {
            (Operation::Create, _) => return self.call_create(entry),
            (Operation::QueryPath, 2) if self.resolve => return None,
            (Operation::QueryPath, 2) => FileCall::Stat { name },
            (Operation::Close, 2) => FileCall::Close { file },
            (Operation::Read, 2) => FileCall::ReadAt { file, buffer: 0, length: entry.size, offset: self.offset },
            (Operation::Write, 2) => FileCall::WriteAt { file, buffer: 0, length: entry.size, offset: self.offset },
            (Operation::Flush, 2) if self.flush => FileCall::Sync { file },
            (Operation::Flush | Operation::QueryFile | Operation::SetFile, 2) => FileCall::HandleStat { file },
            (Operation::SetFile, 3) if self.failed.is_none() => {
                FileCall::Touch { name: self.handles.get(usize::from(file)).copied()? }
            }
            (Operation::Lock, 2) => FileCall::Lock { file, exclusive: false },
            (Operation::Unlock, 2) => FileCall::Unlock { file },
            (Operation::Unlink, 2) => FileCall::Unlink { name },
            (Operation::Rename, 2) => FileCall::Rename { from: name, to: other },
            (Operation::Mkdir, 2) => FileCall::MakeFolder { name },
            (Operation::Rmdir, 2) => FileCall::RemoveFolder { name },
            (Operation::Deltree, 2) => FileCall::RemoveTree { name },
            (Operation::Find, 2) if !self.resolve => FileCall::Stat { name },
            (Operation::Find, 2) => FileCall::ReadFolder { name: other },
            (Operation::Find, 3) if !self.resolve => FileCall::ReadFolder { name: other },
            (Operation::QueryFs, 2) => FileCall::FileSystem,
            _ => return None,
        };
        Some(call)
    }

    fn call_create(&self, entry: &Entry) -> Option<FileCall> {
        let (name, create) = (entry.name, entry.create);
        // A name that is to be missing is opened into no handle of the loadfile's: the last one is spare.
        let file = if entry.handle == u16::MAX { self.program.handles } else { entry.handle };
        let folder = OpenMode { read: true, folder: true, ..OpenMode::default() };
        let plain = OpenMode {
            read: true,
            write: true,
            create: create.make,
            truncate: create.truncate,
            exclusive: create.exclusive,
            ..OpenMode::default()
        };
        let open = |mode| Some(FileCall::Open { file, name, mode, permissions: 0o600 });
        match (self.stage, create.folder) {
            (2, true) if create.make => Some(FileCall::MakeFolder { name }),
            (2, true) => open(folder),
            (3, true) if create.make => open(folder),
            (4, true) if create.make && self.failed.is_none() => Some(FileCall::HandleStat { file }),
            (3, true) if self.failed.is_none() => Some(FileCall::HandleStat { file }),
            (2, false) => open(plain),
            (3, false) if self.failed.is_none() => Some(FileCall::HandleStat { file }),
            // It is a folder after all.
            (3, false) if self.failed == Some(-21) => open(folder),
            _ => None,
        }
    }

    fn begin(&mut self, entry: Entry) {
        self.stage = 0;
        self.failed = None;
        let kind = usize::from(entry.operation == Operation::Write);
        if matches!(entry.operation, Operation::Read | Operation::Write) {
            self.offset = entry.offset.value(self.last[kind], &mut self.rng, self.index, self.sessions);
            self.last[kind] = self.offset;
        }
        self.current = Some(entry);
    }

    pub(super) fn next(&mut self, _: u32, context: &FileContext) -> FileStep {
        if self.fault.is_some() {
            return FileStep::Abort;
        }
        if self.started_ns == 0 {
            self.started_ns = context.now_ns;
        }
        if !self.root_made {
            // dbench makes this folder before it starts its clients.
            self.root_made = true;
            if let Some(name) = self.program.names.iter().position(|name| name == "clients") {
                return FileStep::Call {
                    call: FileCall::MakeFolder { name: name as Name },
                    prepare: false,
                    check: false,
                };
            }
        }
        if let Some(entry) = self.current
            && let Some(call) = self.call(&entry)
        {
            return FileStep::Call { call, prepare: false, check: false };
        }
        if std::mem::take(&mut self.spare_open) {
            let call = FileCall::Close { file: self.program.handles };
            return FileStep::Call { call, prepare: false, check: false };
        }
        match self.advance(context) {
            Err(step) => step,
            Ok(entry) => {
                self.begin(entry);
                let Some(call) = self.call(&entry) else { return FileStep::Abort };
                let length = entry.size as usize;
                let prepare = entry.operation == Operation::Write && self.filled < length;
                FileStep::Call { call, prepare, check: false }
            }
        }
    }

    pub(super) fn done(&mut self, _: u32, result: &FileResult) -> FileProgress {
        let Some(entry) = self.current else { return FileProgress::Untimed };
        let value = result.value;
        if self.by_protocol && value == NOT_EXPRESSIBLE {
            self.current = None;
            self.not_expressible[entry.operation as usize] += 1;
            return FileProgress::Untimed;
        }
        let already = value == -17 && (entry.operation == Operation::Mkdir || entry.create.folder);
        // A look ahead that finds nothing decides nothing yet.
        self.failed = if value < 0 && !already { Some(value) } else { None };
        let looked = self.stage < 2;
        self.stage += 1;
        if self.stage == 2 && self.resolve && entry.operation == Operation::QueryPath {
            self.failed = self.failed.or(Some(-2));
        }
        let over = match entry.operation {
            Operation::QueryPath if self.resolve => !(looked && self.failed == Some(-2) && self.stage == 1),
            _ if looked => false,
            _ => {
                let failed = self.failed;
                let more = self.call(&entry).is_some();
                self.failed = failed;
                !more
            }
        };
        if !over {
            return FileProgress::Pending;
        }
        self.current = None;
        self.finish(&entry, value)
    }

    fn finish(&mut self, entry: &Entry, value: i64) -> FileProgress {
        let index = entry.operation as usize;
        let transfer = matches!(entry.operation, Operation::Read | Operation::Write);
        let found_nothing = entry.operation == Operation::Find;
        let failed = self.failed.is_some();
        let error = match (entry.expect, failed) {
            (Expect::Success, true) => Some(self.unexpectedly(entry, value)),
            // No recorded failure is of this kind: the share is gone, or full.
            (Expect::Failure | Expect::Anything, true) if tally::is_final(ErrorClass::of_errno(-value as i32)) => {
                Some(self.unexpectedly(entry, value))
            }
            (Expect::Failure, false) if !found_nothing => {
                self.surprise(entry, "succeeded");
                self.spare_open = entry.operation == Operation::Create;
                Some(ErrorClass::Exists)
            }
            _ => None,
        };
        if error.is_some() {
            self.unexpected[index] += 1;
        } else {
            self.expected[index] += u64::from(entry.expect == Expect::Failure);
            self.keep(entry);
        }
        // Recorded reads may reach over the end of a file, as they did then.
        let moved = if transfer && error.is_none() { value.max(0) as u64 } else { 0 };
        let (bytes_in, bytes_out) = if entry.operation == Operation::Write { (0, moved) } else { (moved, 0) };
        FileProgress::Done(Outcome { operation: index as u16, error, bytes_in, bytes_out, status: 0 })
    }

    #[cold]
    fn unexpectedly(&mut self, entry: &Entry, value: i64) -> ErrorClass {
        let errno = -value as i32;
        let class = ErrorClass::of_errno(errno);
        if tally::is_final(class) {
            self.fault.get_or_insert_with(|| fault_text(OPERATIONS[entry.operation as usize], errno));
        }
        self.surprise(entry, &format!("failed with error {errno}"));
        class
    }

    #[cold]
    fn surprise(&mut self, entry: &Entry, what: &str) {
        if self.first_unexpected.is_none() {
            let name = self.path(entry.name).to_string_lossy().into_owned();
            let operation = OPERATIONS[entry.operation as usize];
            self.first_unexpected = Some(format!("line about {}: {operation} {name} {what}", self.line));
        }
    }

    fn keep(&mut self, entry: &Entry) {
        let file = usize::from(entry.handle);
        match entry.operation {
            Operation::Create if file < self.handles.len() => self.handles[file] = entry.name,
            Operation::Read | Operation::Write if file < self.handles.len() => {
                let touched = &mut self.touched[self.handles[file] as usize];
                let end = (self.offset + u64::from(entry.size)).div_ceil(PAGE).min(TOUCHED_MAX);
                touched.mark(self.offset / PAGE..end);
            }
            _ => {}
        }
    }

    pub(super) fn path(&self, name: Name) -> &CStr {
        self.names.get(name as usize).map_or(c"", CString::as_c_str)
    }

    pub(super) fn fill(&mut self, _: u32, buffer: &mut [u8]) {
        self.filled = buffer.len();
        match self.pattern.and_then(|text| self.program.texts.get(text as usize)) {
            Some(text) => buffer.iter_mut().zip(text.bytes().cycle()).for_each(|(byte, of)| *byte = of),
            None => crate::file::pattern::prepare(buffer),
        }
    }

    fn touched_bytes(&self) -> u64 {
        self.touched.iter().map(Pages::bytes).sum()
    }

    pub(super) fn fault(&self) -> String {
        self.fault.clone().unwrap_or_else(|| "the loadfile could not be replayed".to_owned())
    }
}

/// Figures of a trial.
pub(super) fn figures(program: &Program, parts: &[&ReplaySession]) -> Value {
    let touched: Vec<u64> = parts.iter().map(|part| part.touched_bytes()).collect();
    let expected: Vec<_> = parts.iter().map(|part| &part.expected).collect();
    let unexpected: Vec<_> = parts.iter().map(|part| &part.unexpected).collect();
    let not_expressible: Vec<_> = parts.iter().map(|part| &part.not_expressible).collect();
    json!({
        "mode": "loadfile",
        "cpu_is_work": true,
        "lines": program.lines.len(),
        "passes": parts.iter().map(|part| part.passes).min().unwrap_or(0),
        "touched_bytes_per_client": tally::spread(&touched),
        "touched_bytes": touched.iter().sum::<u64>(),
        "expected_failures": tally::by_name(&OPERATIONS, &expected),
        "unexpected": tally::by_name(&OPERATIONS, &unexpected),
        "not_expressible": tally::by_name(&OPERATIONS, &not_expressible),
        "first_unexpected": parts.iter().find_map(|part| part.first_unexpected.clone()),
    })
}
