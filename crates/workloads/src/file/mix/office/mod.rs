//! One client's thread working through cycles of the office mix.

mod read_back;
mod workspace;

use self::read_back::{Passes, ReadBack};
use self::workspace::{File, Workspace};
use super::cycle::{MISSING_NAMES, Step, Target, steps};
use super::iteration::Iterations;
use super::spec::MixSpec;
use super::tables::{APPLICATIONS, OPERATIONS, Operation, RUN_MEAN, TRANSFER_MAX, WORKSPACE, files};
use super::tally::{self, Pages};
use crate::file::content::{self, Prepared};
use crate::file::fault_text;
use crate::file::pattern::{Owner, PAGE};
use crate::file::servers::NOT_EXPRESSIBLE;
use bakeoff_engine::{
    ErrorClass, FileCall, FileContext, FileProgress, FileResult, FileStep, Identity, Name, OpenMode, Outcome, Rng,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

/// One application of this session.
#[derive(Debug)]
struct ApplicationState {
    folder: Name,
    files: Vec<File>,
    passing: Name,
    renamed: Name,
    missing: Name,
    steps: Vec<Step>,
    at: usize,
    /// The handle: file (`None`: one that the cycle made), name's owner, position, first page.
    open: Option<Open>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    size: u64,
    lasting: bool,
    owner: u32,
    position: u64,
    page: u64,
}

#[derive(Debug, Clone, Copy)]
struct Current {
    step: Step,
    desk: usize,
    offset: u64,
    length: u32,
    owner: u32,
    setup: bool,
    /// The first page of the file among all pages of the session; `None` where it is none that lasts.
    page: Option<u64>,
}

/// A session of the office mix.
#[derive(Debug)]
pub struct OfficeSession {
    client: u32,
    rng: Rng,
    verify: bool,
    flush: bool,
    /// Calls go to a server without a mount between.
    by_protocol: bool,
    names: Vec<CString>,
    workspace: Workspace,
    desks: Vec<ApplicationState>,
    desk: usize,
    current: Current,
    prepared: Prepared,
    passes: Passes,
    read_back: ReadBack,
    iterations: Option<Iterations>,
    touched: Pages,
    pub(super) cycles: u64,
    expected: [u64; OPERATIONS.len()],
    unexpected: [u64; OPERATIONS.len()],
    /// Operations that the server's protocol has no words for: they are left out.
    not_expressible: [u64; OPERATIONS.len()],
    outside_ns: u64,
    last_end_ns: u64,
    fault: Option<String>,
    /// Why a file could not be opened: what stops the client once it needs the file.
    unopened: Option<String>,
}

/// Pages of passing files of one application: each cycle's files lie at the same places of the count.
const PASSING_PAGES: u64 = 64;

fn scaled(size: u64, workspace: u64) -> u64 {
    let wanted = (size as f64 * workspace as f64 / WORKSPACE as f64) as u64;
    wanted.max(size.min(TRANSFER_MAX as u64))
}

impl OfficeSession {
    pub(super) fn new(spec: &MixSpec, identity: Identity, virtual_users: u32, secret: u64) -> Self {
        let mut rng = Rng::for_thread(identity.seed, identity.client, identity.vu);
        let mut session = Self {
            client: identity.client,
            rng: rng.clone(),
            verify: spec.verify,
            flush: spec.flush,
            by_protocol: spec.folder.contains("://"),
            names: Vec::new(),
            workspace: Workspace::default(),
            desks: Vec::new(),
            desk: 0,
            current: Current {
                step: Step {
                    operation: Operation::Open,
                    target: Target::Folder,
                    size: 0,
                    sequential: false,
                    fails: false,
                },
                desk: 0,
                offset: 0,
                length: 0,
                owner: 0,
                setup: true,
                page: None,
            },
            prepared: Prepared::default(),
            passes: Passes::default(),
            read_back: ReadBack::default(),
            iterations: spec.iteration_bytes.map(|bytes| Iterations::new(bytes, spec.iteration_pause_s)),
            touched: Pages::default(),
            cycles: 0,
            expected: [0; OPERATIONS.len()],
            unexpected: [0; OPERATIONS.len()],
            not_expressible: [0; OPERATIONS.len()],
            outside_ns: 0,
            last_end_ns: 0,
            fault: None,
            unopened: None,
        };
        let root = session.name(format!("c{:05}", identity.client));
        session.workspace.folders.push(root);
        let mut page = 0;
        let all = files();
        // The applications of a client are shared out to its virtual users: the data set is the same for any number.
        for (application, table) in APPLICATIONS.iter().enumerate() {
            if application as u32 % virtual_users != identity.vu {
                continue;
            }
            let place = format!("c{:05}/{}", identity.client, table.folder);
            let folder = session.name(place.clone());
            session.workspace.folders.push(folder);
            let mut own = Vec::new();
            for (number, &(_, size)) in all.iter().filter(|file| file.0 == application).enumerate() {
                let size = scaled(size, spec.workspace_bytes);
                let name = session.name(format!("{place}/FILE{number:04}.DAT"));
                own.push(File { name, size, page });
                page += size.div_ceil(PAGE as u64);
            }
            session.workspace.files.extend(&own);
            let mut series = |stem: &str, count: u16| {
                let first = session.names.len() as Name;
                (0..count.max(1)).for_each(|number| {
                    session.name(format!("{place}/{stem}{number:04}.TMP"));
                });
                first
            };
            let (passing, renamed) = (series("~WRK", table.unlinks), series("~OLD", table.unlinks));
            let missing = series("NONE", MISSING_NAMES);
            let steps = steps(table, &mut rng);
            own.sort_by_key(|file| file.size);
            session.desks.push(ApplicationState {
                folder,
                files: own,
                passing,
                renamed,
                missing,
                steps,
                at: 0,
                open: None,
            });
            page += PASSING_PAGES;
        }
        session.touched = Pages::with_room(page);
        session.passes = Passes::with_room(if spec.verify { page } else { 0 });
        session.read_back = ReadBack::drawn_by(secret, &identity);
        session
    }

    fn name(&mut self, text: String) -> Name {
        self.names.push(CString::new(text).unwrap_or_default());
        self.names.len() as Name - 1
    }

    /// The application that goes on, and its next operation.
    fn next_step(&mut self) -> Option<(usize, Step)> {
        let ended = self.desks[self.desk].at >= self.desks[self.desk].steps.len();
        // An iteration is a stretch of one application, as far as that has work left in the cycle.
        let switches = match &self.iterations {
            Some(iterations) => iterations.begins(),
            None => self.rng.unit() * RUN_MEAN < 1.0,
        };
        if ended || switches {
            let left = |desk: &ApplicationState| (desk.steps.len() - desk.at) as u64;
            let mut total: u64 = self.desks.iter().map(left).sum();
            if total == 0 {
                self.cycles += 1;
                self.desks.iter_mut().for_each(|desk| desk.at = 0);
                total = self.desks.iter().map(left).sum();
            }
            let mut at = self.rng.below(total);
            self.desk = self.desks.iter().position(|desk| {
                let here = at < left(desk);
                at = at.saturating_sub(left(desk));
                here
            })?;
        }
        let desk = &mut self.desks[self.desk];
        let step = *desk.steps.get(desk.at)?;
        desk.at += 1;
        Some((self.desk, step))
    }

    /// The lasting file that a choice means in this cycle: over the cycles all are chosen in turn.
    fn lasting(&self, desk: usize, choice: u16, least: u32) -> File {
        let files = &self.desks[desk].files;
        let from = files.partition_point(|file| file.size < u64::from(least)).min(files.len() - 1);
        files[from + (usize::from(choice) + self.cycles as usize) % (files.len() - from)]
    }

    fn name_of(&self, desk: usize, target: Target) -> Name {
        let place = &self.desks[desk];
        match target {
            Target::Lasting { choice, least } => self.lasting(desk, choice, least).name,
            Target::Passing(number) => place.passing + Name::from(number),
            Target::Renamed(number) => place.renamed + Name::from(number),
            Target::Missing(number) => place.missing + Name::from(number),
            Target::Folder | Target::Handle => place.folder,
        }
    }

    fn call(&mut self, desk: usize, step: Step) -> FileStep {
        // What is to fail must not find the handle of the application in use.
        let file = if step.fails { self.desks.len() as u16 } else { desk as u16 };
        let plain = |call| FileStep::Call { call, prepare: false, check: false };
        match step.operation {
            Operation::Open => {
                let made = matches!(step.target, Target::Passing(_));
                let mode = OpenMode { read: true, write: true, create: made, truncate: made, ..OpenMode::default() };
                plain(FileCall::Open { file, name: self.name_of(desk, step.target), mode, permissions: 0o600 })
            }
            Operation::Read | Operation::Write => self.transfer(desk, step),
            Operation::QueryPath => plain(FileCall::Stat { name: self.name_of(desk, step.target) }),
            Operation::Close => plain(FileCall::Close { file }),
            Operation::Find => plain(FileCall::ReadFolder { name: self.desks[desk].folder }),
            Operation::Unlink => plain(FileCall::Unlink { name: self.name_of(desk, step.target) }),
            Operation::QueryFs => plain(FileCall::FileSystem),
            Operation::QueryFile => plain(FileCall::HandleStat { file }),
            Operation::SetFile => plain(FileCall::Touch { name: self.name_of(desk, step.target) }),
            Operation::Flush if self.flush => plain(FileCall::Sync { file }),
            Operation::Flush => plain(FileCall::HandleStat { file }),
            Operation::Rename => {
                let number = if let Target::Passing(number) = step.target { number } else { 0 };
                let place = &self.desks[desk];
                let (from, to) = (place.passing + Name::from(number), place.renamed + Name::from(number));
                plain(FileCall::Rename { from, to })
            }
            Operation::Lock => plain(FileCall::Lock { file, exclusive: true }),
            Operation::Unlock => plain(FileCall::Unlock { file }),
        }
    }

    fn transfer(&mut self, desk: usize, step: Step) -> FileStep {
        let file = desk as u16;
        let Some(open) = self.desks[desk].open else { return FileStep::Abort };
        let reads = step.operation == Operation::Read;
        let size = u64::from(step.size);
        let offset = if step.sequential && (!open.lasting || open.position + size <= open.size) {
            open.position
        } else if open.lasting {
            // A seek goes to a page; a single byte (a test write) to the last one of 64 KiB, as recorded.
            let room = open.size.saturating_sub(size);
            let page = PAGE as u64 * self.rng.below(room / PAGE as u64 + 1);
            if size == 1 { (page | 0xFFFF).saturating_sub(1).min(open.size - 1) } else { page }
        } else if size == 1 {
            open.position + 65_534
        } else {
            open.position
        };
        let length = if open.lasting { size.min(open.size - offset) as u32 } else { step.size };
        self.current.offset = offset;
        self.current.length = length;
        self.current.owner = open.owner;
        self.current.page = open.lasting.then_some(open.page);
        if reads {
            self.prepared = Prepared::default();
            let call = FileCall::ReadAt { file, buffer: 0, length, offset };
            return FileStep::Call { call, prepare: false, check: self.verify };
        }
        let prepare = self.verify || !self.prepared.covers(length as usize);
        FileStep::Call { call: FileCall::WriteAt { file, buffer: 0, length, offset }, prepare, check: false }
    }

    pub(super) fn next(&mut self, _: u32, context: &FileContext) -> FileStep {
        self.passes.begin(context.now_ns);
        if self.fault.is_some() {
            return FileStep::Abort;
        }
        if let Some(setup) = self.workspace.next() {
            let (offset, length, owner) = setup.piece;
            let page = self.workspace.files.iter().find(|file| file.name == owner).map(|file| file.page);
            self.current = Current { offset, length, owner, setup: true, page, ..self.current };
            return FileStep::Call { call: setup.call, prepare: length > 0, check: false };
        }
        if self.desks.is_empty() {
            return FileStep::Finished;
        }
        if let Some(rest_ns) = self.iterations.as_mut().and_then(Iterations::rest) {
            return FileStep::Pause(rest_ns);
        }
        let Some((desk, step)) = self.next_step() else { return FileStep::Finished };
        self.current = Current { step, desk, offset: 0, length: 0, owner: 0, setup: false, page: None };
        self.call(desk, step)
    }

    /// See [`bakeoff_engine::FileSession::after`].
    pub(super) fn after(&mut self, context: &FileContext) -> Option<FileStep> {
        if !self.verify || self.current.setup || self.fault.is_some() {
            return self.fault.is_some().then_some(FileStep::Abort);
        }
        let spare = self.desks.len() as u16;
        let step = self.read_back.next(context.now_ns, &self.workspace.files, &self.passes, spare)?;
        Some(FileStep::Call { call: step, prepare: false, check: matches!(step, FileCall::ReadAt { .. }) })
    }

    pub(super) fn done(&mut self, _: u32, result: &FileResult) -> FileProgress {
        if self.read_back.is_under_way() {
            if let Some(fault) = self.read_back.done(result) {
                self.fault.get_or_insert(fault);
            }
            return FileProgress::Untimed;
        }
        if self.current.setup {
            if let Err(errno) = self.workspace.done(result.value) {
                self.fault = Some(fault_text("making the workspace", errno));
            }
            return FileProgress::Untimed;
        }
        if self.last_end_ns != 0 && self.current.length > 0 {
            self.outside_ns += result.start_ns - self.last_end_ns;
        }
        self.last_end_ns = result.end_ns;
        let Current { step, desk, length, offset, .. } = self.current;
        let index = step.operation as usize;
        if self.by_protocol && result.value == NOT_EXPRESSIBLE {
            self.not_expressible[index] += 1;
            return FileProgress::Untimed;
        }
        let error = self.error_of(&step, result, length);
        if error.is_some() && step.operation == Operation::Write {
            self.passes.forget(self.current.page, offset, length);
        }
        if error.is_some() {
            self.unexpected[index] += 1;
        } else {
            self.expected[index] += u64::from(step.fails);
            self.keep_state(desk, &step, offset, length);
        }
        let moved = if error.is_none() { u64::from(length) } else { 0 };
        if let Some(iterations) = &mut self.iterations {
            iterations.done(moved, result);
        }
        let (bytes_in, bytes_out) = if step.operation == Operation::Write { (0, moved) } else { (moved, 0) };
        FileProgress::Done(Outcome { operation: index as u16, error, bytes_in, bytes_out, status: 0 })
    }

    fn error_of(&mut self, step: &Step, result: &FileResult, length: u32) -> Option<ErrorClass> {
        let by_name = matches!(step.operation, Operation::Open | Operation::QueryPath);
        if step.fails && by_name {
            return match result.value {
                -2 => None,
                value if value < 0 => Some(self.failed(step, value)),
                _ => Some(ErrorClass::Exists),
            };
        }
        if result.damaged {
            let what = OPERATIONS[step.operation as usize];
            let offset = self.current.offset;
            self.fault
                .get_or_insert_with(|| format!("{what}: other bytes than were written came back at offset {offset}"));
            return Some(ErrorClass::WrongContent);
        }
        if result.value < 0 {
            return Some(self.failed(step, result.value));
        }
        let short = length > 0 && result.value != i64::from(length);
        short.then_some(ErrorClass::ShortTransfer)
    }

    #[cold]
    fn failed(&mut self, step: &Step, value: i64) -> ErrorClass {
        let errno = -value as i32;
        let class = ErrorClass::of_errno(errno);
        if tally::is_final(class) || class == ErrorClass::NotFound {
            self.fault.get_or_insert_with(|| fault_text(OPERATIONS[step.operation as usize], errno));
        } else if step.operation == Operation::Open {
            self.unopened = Some(fault_text("open", errno));
        }
        class
    }

    fn keep_state(&mut self, desk: usize, step: &Step, offset: u64, length: u32) {
        match (step.operation, step.target) {
            (Operation::Open, Target::Lasting { choice, least }) => {
                let File { name, size, page } = self.lasting(desk, choice, least);
                self.desks[desk].open = Some(Open { size, lasting: true, owner: name, position: 0, page });
            }
            (Operation::Open, Target::Passing(number)) => {
                let owner = self.desks[desk].passing + Name::from(number);
                let page = self.desks[desk].files.iter().map(|file| file.page + file.size.div_ceil(PAGE as u64)).max();
                let page = page.unwrap_or(0);
                self.desks[desk].open = Some(Open { size: 0, lasting: false, owner, position: 0, page });
            }
            (Operation::Close, _) => self.desks[desk].open = None,
            (Operation::Read | Operation::Write, _) => {
                if let Some(open) = &mut self.desks[desk].open {
                    let end = offset + u64::from(length);
                    if open.lasting || length > 1 {
                        open.position = end;
                    }
                    open.size = open.size.max(end);
                    let (first, last) = (offset / PAGE as u64, end.div_ceil(PAGE as u64));
                    let most = if open.lasting { u64::MAX } else { PASSING_PAGES };
                    let page = open.page;
                    self.touched.mark(page + first..page + last.min(most));
                }
            }
            _ => {}
        }
    }

    pub(super) fn steps(&mut self) -> &[(u16, u64)] {
        self.iterations.as_mut().map_or(&[], Iterations::tell)
    }

    pub(super) fn path(&self, name: Name) -> &CStr {
        self.names.get(name as usize).map_or(c"", CString::as_c_str)
    }

    pub(super) fn fill(&mut self, _: u32, buffer: &mut [u8]) {
        let Current { owner, offset, page: first, .. } = self.current;
        let passes = &mut self.passes;
        let pass = |page: u64, whole: bool| passes.write(first, page, whole);
        content::fill(buffer, owner_of(self.client, owner), offset, pass, &mut self.prepared);
    }

    pub(super) fn check(&self, _: u32, buffer: &[u8]) -> bool {
        if let Some((file, offset)) = self.read_back.looks_at() {
            let known = |page| self.passes.known(Some(file.page), page);
            return content::check(buffer, owner_of(self.client, file.name), offset, known);
        }
        let Current { owner, offset, page: first, .. } = self.current;
        content::check(buffer, owner_of(self.client, owner), offset, |page| self.passes.known(first, page))
    }

    pub(super) fn fault(&self) -> String {
        let reason = self.fault.as_ref().or(self.unopened.as_ref());
        reason.cloned().unwrap_or_else(|| "the office mix could not go on".to_owned())
    }

    /// Bytes of the different pages that were read or written.
    fn touched_bytes(&self) -> u64 {
        self.touched.bytes()
    }

    fn data_bytes(&self) -> u64 {
        self.workspace.files.iter().map(|file| file.size).sum()
    }
}

/// Content of one file of one client.
fn owner_of(client: u32, file: u32) -> Owner {
    Owner::new(0x0FF1_CE00, u64::from(client), u64::from(file))
}

/// What the sessions of a machine come to: what each client touched and has, how often the cycle was gone through, and
/// what failed as recorded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Sums {
    touched: Vec<u64>,
    data: Vec<u64>,
    /// Of the session that came least far; `None` without any.
    cycles: Option<u64>,
    expected: BTreeMap<String, u64>,
    unexpected: BTreeMap<String, u64>,
    not_expressible: BTreeMap<String, u64>,
    outside_ns: u64,
    /// Writes that were read back after the trial, and those of them that were not there.
    read_back: u64,
    lost_writes: u64,
}

impl Sums {
    /// Of sessions in the order of their clients, each of so many virtual users.
    pub fn of(virtual_users: u32, parts: &[&OfficeSession]) -> Self {
        let clients: Vec<&[&OfficeSession]> = parts.chunks(virtual_users.max(1) as usize).collect();
        let per_client = |pick: fn(&OfficeSession) -> u64| -> Vec<u64> {
            clients.iter().map(|client| client.iter().map(|part| pick(part)).sum()).collect()
        };
        Self {
            touched: per_client(OfficeSession::touched_bytes),
            data: per_client(OfficeSession::data_bytes),
            cycles: parts.iter().map(|part| part.cycles).min(),
            expected: tally::by_name(&OPERATIONS, &parts.iter().map(|part| &part.expected).collect::<Vec<_>>()),
            unexpected: tally::by_name(&OPERATIONS, &parts.iter().map(|part| &part.unexpected).collect::<Vec<_>>()),
            not_expressible: tally::by_name(
                &OPERATIONS,
                &parts.iter().map(|part| &part.not_expressible).collect::<Vec<_>>(),
            ),
            outside_ns: parts.iter().map(|part| part.outside_ns).sum(),
            read_back: parts.iter().map(|part| part.read_back.looked).sum(),
            lost_writes: parts.iter().map(|part| part.read_back.lost).sum(),
        }
    }

    /// Adds those of another machine.
    pub fn add(&mut self, other: Self) {
        self.touched.extend(other.touched);
        self.data.extend(other.data);
        self.cycles = self.cycles.into_iter().chain(other.cycles).min();
        for (sums, more) in [
            (&mut self.expected, other.expected),
            (&mut self.unexpected, other.unexpected),
            (&mut self.not_expressible, other.not_expressible),
        ] {
            more.into_iter().for_each(|(name, count)| *sums.entry(name).or_default() += count);
        }
        self.outside_ns += other.outside_ns;
        self.read_back += other.read_back;
        self.lost_writes += other.lost_writes;
    }

    /// As figures of the trial.
    pub fn figures(&self, spec: &MixSpec) -> Value {
        json!({
            "mode": "office",
            "cpu_is_work": true,
            "workspace_bytes": spec.workspace_bytes,
            "data_bytes_per_client": self.data.iter().max(),
            "touched_bytes_per_client": tally::spread(&self.touched),
            "touched_bytes": self.touched.iter().sum::<u64>(),
            "cycles": self.cycles.unwrap_or(0),
            "expected_failures": self.expected,
            "unexpected": self.unexpected,
            "not_expressible": self.not_expressible,
            "read_back": spec.verify.then_some(self.read_back),
            "lost_writes": spec.verify.then_some(self.lost_writes),
            "verify_s": spec.verify.then(|| self.outside_ns as f64 / 1e9),
        })
    }
}
