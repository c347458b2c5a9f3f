//! One client's thread working through the cells of the matrix.

use super::figures::CellFigures;
use super::script::{self, Cell, Kind, Mode, Role, Task};
use super::shared::Shared;
use super::test::Test;
use super::walk::{Order, Walk};
use crate::file::{fault_text, pattern};
use bakeoff_engine::{
    BarrierSpan, ErrorClass, FileCall, FileContext, FileProgress, FileResult, FileSession, FileStep, Identity, Name,
    Nanos, Observation, Outcome,
};
use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::sync::Arc;

const CACHE_LINE: usize = 64;

/// The records of the loop that runs.
#[derive(Debug, Clone)]
struct Loop {
    kind: Kind,
    mode: Mode,
    record: u32,
    check: bool,
    /// Each record that is written gets its stamps.
    stamp: bool,
    /// The buffer was fetched into the processor's cache.
    fetched: bool,
}

/// Brings a buffer into the processor's cache, as the definition has it before each clock.
fn fetch(buffer: &[u8]) {
    let sum = buffer.iter().step_by(CACHE_LINE).fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    std::hint::black_box(sum);
}

/// A session of the matrix.
#[derive(Debug)]
pub struct MatrixSession {
    shared: Arc<Shared>,
    pub(super) index: u32,
    name: CString,
    owner: pattern::Owner,
    next_cell: usize,
    cell: usize,
    script: VecDeque<Task>,
    role: Role,
    running: Option<Loop>,
    walk: Walk,
    offset: u64,
    last_end_ns: Nanos,
    /// Pass in which all records, and the first one, were written last.
    pass: u64,
    pass_all: u64,
    pass_first: u64,
    prepared_bytes: usize,
    /// Sizes of file and record as they are on disk; 0 before anything was written.
    written: (u64, u64),
    fault: Option<String>,
    pub(super) figures: Vec<CellFigures>,
    observing: Option<bool>,
    /// The clock of the cell has run since the last barrier.
    timed: bool,
}

impl MatrixSession {
    pub(super) fn new(shared: Arc<Shared>, identity: Identity) -> Self {
        let index = identity.client * shared.virtual_users + identity.vu;
        let name = CString::new(format!("f{:05}-{:03}", identity.client, identity.vu)).unwrap_or_default();
        let cells = shared.cells();
        Self {
            index,
            name,
            owner: pattern::Owner::new(identity.seed, u64::from(index), 0),
            next_cell: 0,
            cell: 0,
            script: VecDeque::new(),
            role: Role::Must,
            running: None,
            walk: Walk::new(Order::Forward, 0, 1, Arc::new([])),
            offset: 0,
            last_end_ns: 0,
            pass: 0,
            pass_all: 0,
            pass_first: 0,
            prepared_bytes: 0,
            written: (0, 0),
            fault: None,
            figures: vec![CellFigures::default(); cells],
            observing: None,
            timed: false,
            shared,
        }
    }

    /// Writes the script of the next cell; `false` when all are done.
    fn next_cell(&mut self) -> bool {
        let Some(cell) = (self.next_cell..self.figures.len()).find(|&cell| self.shared.runs(cell)) else {
            return false;
        };
        self.cell = cell;
        self.next_cell = cell + 1;
        self.script = script::of_cell(&Cell {
            spec: &self.shared.spec,
            test: self.test(),
            pair: self.pair(),
            reads: self.shared.reads(cell, self.index),
            first: self.index == 0,
            is_written: self.written == self.pair(),
        });
        if self.test().order() == Order::Random {
            // Made here, where no clock runs.
            let (file, record) = self.pair();
            self.shared.permutation(file / record);
        }
        true
    }

    /// File and record size of the cell, bytes.
    fn pair(&self) -> (u64, u64) {
        self.shared.spec.pairs[self.cell / self.shared.spec.tests.len()]
    }

    /// The test of the cell.
    fn test(&self) -> Test {
        self.shared.spec.tests[self.cell % self.shared.spec.tests.len()]
    }

    fn begin(&mut self, kind: Kind, mode: Mode, order: Order) {
        let (file, record) = self.pair();
        let records = file / record;
        let permutation = if order == Order::Random { self.shared.permutation(records) } else { Arc::new([]) };
        self.walk = Walk::new(order, records, self.shared.spec.stride, permutation);
        let verify = self.shared.spec.verify && record >= pattern::STAMP as u64;
        if mode.writes() {
            self.pass += 1;
            self.pass_first = self.pass;
            if order != Order::First {
                self.pass_all = self.pass;
            }
            self.written = (file, record);
        }
        let (check, stamp) = (verify && !mode.writes(), mode.writes() && record >= pattern::STAMP as u64);
        self.running = Some(Loop { kind, mode, record: record as u32, check, stamp, fetched: false });
        self.timed |= kind == Kind::Timed;
        self.last_end_ns = 0;
    }

    #[inline]
    fn next_record(&mut self, context: &FileContext) -> Option<FileStep> {
        let running = self.running.as_ref()?;
        let timed = running.kind == Kind::Timed;
        if timed && self.shared.spec.stonewall && context.others_wait {
            return None;
        }
        let record = self.walk.next()?;
        self.offset = record * u64::from(running.record);
        self.role = Role::Record;
        let call = running.mode.call(running.record, self.offset);
        // Always through `fill`: what lies between two records, the counting among it, is no time of the storage.
        Some(FileStep::Call { call, prepare: true, check: running.check })
    }

    /// The loop is over: what must not stay undone?
    fn end_loop(&mut self) {
        let Some(running) = self.running.take() else { return };
        if running.kind == Kind::Timed {
            self.figures[self.cell].whole = self.walk.len_left() == 0;
        }
        if running.mode.writes() && running.kind == Kind::Timed && self.walk.len_left() > 0 {
            // Another one was faster: the rest of the file is written outside the clock.
            let rest = script::rest(&self.shared.spec, running.mode);
            let at = self.script.iter().position(|task| matches!(task, Task::Stop)).map_or(0, |at| at + 1);
            rest.into_iter().rev().for_each(|task| self.script.insert(at, task));
        }
    }

    #[inline]
    fn record_done(&mut self, result: &FileResult) -> FileProgress {
        let Some(running) = &self.running else { return FileProgress::Untimed };
        let (timed, writes, wanted) = (running.kind == Kind::Timed, running.mode.writes(), i64::from(running.record));
        let error =
            if result.value == wanted && !result.damaged { None } else { Some(self.record_failed(result, wanted)) };
        if !timed {
            return FileProgress::Untimed;
        }
        let figures = &mut self.figures[self.cell];
        if self.last_end_ns != 0 {
            figures.outside_ns += result.start_ns - self.last_end_ns;
        } else {
            figures.start_ns = result.start_ns;
        }
        self.last_end_ns = result.end_ns;
        figures.end_ns = result.end_ns;
        figures.elapsed_ns += result.elapsed_ns();
        let bytes = if error.is_none() { wanted as u64 } else { 0 };
        figures.bytes += bytes;
        figures.operations += u64::from(error.is_none());
        let (bytes_in, bytes_out) = if writes { (0, bytes) } else { (bytes, 0) };
        FileProgress::Done(Outcome { operation: self.cell as u16, error, bytes_in, bytes_out, status: 0 })
    }

    #[cold]
    fn record_failed(&mut self, result: &FileResult, wanted: i64) -> ErrorClass {
        if result.damaged {
            let figures = &mut self.figures[self.cell];
            figures.damaged += 1;
            if figures.damaged == 1 {
                figures.damaged_at = self.offset;
            }
            self.prepared_bytes = 0;
            return ErrorClass::WrongContent;
        }
        let what = self.shared.operation(self.cell);
        if result.value < 0 {
            let errno = -result.value as i32;
            self.fault.get_or_insert_with(|| fault_text(&what, errno));
            return ErrorClass::of_errno(errno);
        }
        let (value, offset) = (result.value, self.offset);
        self.fault.get_or_insert_with(|| {
            format!("{what}: only {value} of {wanted} bytes were transferred at offset {offset}: is the file cut?")
        });
        ErrorClass::ShortTransfer
    }

    fn untimed_done(&mut self, result: &FileResult) {
        let value = result.value;
        let figures = &mut self.figures[self.cell];
        match self.role {
            Role::Clocked => {
                figures.elapsed_ns += result.elapsed_ns();
                figures.end_ns = result.end_ns;
            }
            Role::MayMiss if value == -2 => return,
            Role::Drop if value >= -1 => {
                figures.level = if value <= 0 { 2 } else { 0 };
                figures.left_pages = value;
                return;
            }
            Role::DropAll | Role::Command if value >= 0 => {
                figures.level = if self.role == Role::DropAll { 3 } else { 4 };
            }
            Role::DropAll => return,
            Role::Command => {
                self.fault
                    .get_or_insert_with(|| "the command that makes caches cold failed: try it by hand".to_owned());
            }
            Role::OpenDirect if value > 0 && !self.pair().1.is_multiple_of(value as u64) => {
                let text = format!(
                    "{}: direct I/O here needs records that are multiples of {value} bytes",
                    self.shared.operation(self.cell)
                );
                self.fault.get_or_insert(text);
            }
            _ => {}
        }
        if value < 0 {
            let what = self.shared.operation(self.cell);
            self.fault.get_or_insert_with(|| fault_text(&what, -value as i32));
        }
    }

    /// A cell that gave back wrong data ends the trial, once all of it was looked at.
    fn judge(&mut self) {
        let figures = &mut self.figures[self.cell];
        figures.done = true;
        if figures.damaged > 0 {
            let (damaged, at) = (figures.damaged, figures.damaged_at);
            let of = figures.operations + damaged;
            let what = self.shared.operation(self.cell);
            self.fault.get_or_insert_with(|| {
                format!("{what}: {damaged} of {of} records were not what was written (the first at offset {at})")
            });
        }
    }

    fn run_task(&mut self, task: Task) -> Option<FileStep> {
        match task {
            Task::Barrier => return Some(FileStep::Barrier),
            Task::Focus => return Some(FileStep::Focus(self.cell as u16)),
            Task::Call(call, role) => {
                self.role = role;
                return Some(FileStep::Call { call, prepare: false, check: false });
            }
            Task::Observe { after } => {
                self.observing = Some(after);
                self.role = Role::Must;
                let call = FileCall::Observe { name: Some(0), counters: self.index == 0 };
                return Some(FileStep::Call { call, prepare: false, check: false });
            }
            Task::Loop(kind, mode, order) => self.begin(kind, mode, order),
            Task::Finish(mode) => {
                let (_, record) = self.pair();
                let stamp = record >= pattern::STAMP as u64;
                let kind = Kind::Untimed;
                self.running = Some(Loop { kind, mode, record: record as u32, check: false, stamp, fetched: false });
            }
            Task::Stop => self.judge(),
        }
        None
    }
}

impl FileSession for MatrixSession {
    #[inline]
    fn next(&mut self, _: u32, context: &FileContext) -> FileStep {
        loop {
            if self.fault.is_some() {
                return FileStep::Abort;
            }
            if self.running.is_some() {
                if let Some(step) = self.next_record(context) {
                    return step;
                }
                self.end_loop();
            }
            match self.script.pop_front() {
                Some(task) => {
                    if let Some(step) = self.run_task(task) {
                        return step;
                    }
                }
                None if self.next_cell() => {}
                None => return FileStep::Finished,
            }
        }
    }

    #[inline]
    fn done(&mut self, _: u32, result: &FileResult) -> FileProgress {
        if self.role == Role::Record {
            return self.record_done(result);
        }
        self.untimed_done(result);
        FileProgress::Untimed
    }

    fn path(&self, _: Name) -> &CStr {
        &self.name
    }

    #[inline]
    fn fill(&mut self, _: u32, buffer: &mut [u8]) {
        let Some(running) = &mut self.running else { return };
        if !running.fetched {
            running.fetched = true;
            if self.prepared_bytes < buffer.len() {
                pattern::prepare(buffer);
                self.prepared_bytes = buffer.len();
            }
            fetch(buffer);
        }
        if running.stamp {
            pattern::fill(buffer, self.owner, self.offset, self.pass);
        }
    }

    fn check(&mut self, _: u32, buffer: &[u8]) -> bool {
        let pass = if self.offset == 0 { self.pass_first } else { self.pass_all };
        pattern::check(buffer, self.owner, self.offset, pass)
    }

    fn passed_barrier(&mut self, span: BarrierSpan) {
        if std::mem::take(&mut self.timed) {
            self.figures[self.cell].span = span;
        }
    }

    fn observe(&mut self, observation: &Observation) {
        let keep_counters = self.index == 0;
        if let Some(after) = self.observing.take() {
            self.figures[self.cell].observe(observation, after, keep_counters);
        }
    }

    fn fault(&self) -> String {
        self.fault.clone().unwrap_or_else(|| "the matrix could not go on".to_owned())
    }
}
