//! One client's thread: the transfers of a cell; what is around them is its script.

use super::access::{Chooser, Transfer};
use super::figures::CellFigures;
use super::script::{self, FILL_BYTES, Role, Task};
use super::shared::Shared;
use super::transfer::{FILE, PAST_CACHE, Slot};
use crate::file::content::{self, Prepared};
use crate::file::fault_text;
use crate::file::pattern::{PAGE, STAMP};
use bakeoff_engine::{
    BarrierSpan, ErrorClass, FileCall, FileContext, FileProgress, FileResult, FileSession, FileStep, Identity, Name,
    Nanos, Observation, OpenMode, Outcome, Rng,
};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const REGION: &CStr = c"region";

/// The times of the cell that runs.
#[derive(Debug, Clone, Copy)]
struct Running {
    window_start_ns: Nanos,
    window_end_ns: Nanos,
    /// A cell with too few transfers goes on until then.
    limit_ns: Nanos,
    pause_until_ns: Nanos,
    paused: bool,
}

/// So many writes of each session are read back at the end of a trial.
const READ_BACK: usize = 16;

/// A page that a transfer has written: its pass is the moment when the buffer was filled.
#[derive(Debug, Clone, Copy)]
struct Written {
    cell: usize,
    page: u64,
    pass: Nanos,
}

/// A session of block work.
#[derive(Debug)]
pub struct BlocksSession {
    shared: Arc<Shared>,
    index: u32,
    seed: u64,
    script: VecDeque<Task>,
    script_role: Option<Role>,
    next_cell: usize,
    cell: usize,
    running: Option<Running>,
    chooser: Chooser,
    slots: Vec<Slot>,
    in_flight: u32,
    granule: u64,
    length: u64,
    last_end_ns: Nanos,
    fault: Option<String>,
    observing: Option<bool>,
    /// Transfers of the cell were begun since the last barrier.
    begun: bool,
    now_ns: Nanos,
    longest_ns: Nanos,
    /// A secret sample of its writes, to be read back at the end; the one that is being read.
    written: Vec<Written>,
    writes: u64,
    chance: Rng,
    reading: Option<Written>,
    ended: bool,
    back_from: u16,
    pub(super) figures: Vec<CellFigures>,
}

impl BlocksSession {
    pub(super) fn new(shared: Arc<Shared>, identity: Identity) -> Self {
        let index = identity.client * shared.virtual_users + identity.vu;
        let slots = vec![Slot::new(); shared.spec.outstanding as usize];
        let mut script = VecDeque::new();
        if index == shared.first {
            script.extend(script::make_region());
        }
        script.extend([Task::Barrier, script::open(&shared.spec)]);
        Self {
            index,
            seed: identity.seed,
            script,
            script_role: None,
            next_cell: 0,
            cell: 0,
            running: None,
            chooser: Chooser::new(Rng::for_thread(0, 0, 0), 0, 1, 0),
            slots,
            in_flight: 0,
            granule: 1,
            length: 0,
            last_end_ns: 0,
            fault: None,
            observing: None,
            begun: false,
            now_ns: 0,
            longest_ns: 0,
            written: Vec::with_capacity(READ_BACK),
            writes: 0,
            chance: Rng::for_thread(shared.secret, index, 2),
            reading: None,
            ended: false,
            back_from: FILE,
            figures: (0..shared.spec.cells.len()).map(|_| CellFigures::default()).collect(),
            shared,
        }
    }

    fn begin_transfers(&mut self, now_ns: Nanos, released_ns: Nanos) {
        let spec = &self.shared.spec;
        let seconds = |seconds: f64| (seconds * 1e9) as Nanos;
        // All machines have one window, whoever of them begins a little late.
        let begin_ns = if released_ns > 0 { released_ns } else { now_ns };
        let window_start_ns = begin_ns + seconds(spec.ramp_up_s);
        let window_end_ns = window_start_ns + seconds(spec.cell_s);
        let limit_ns = window_end_ns.max(window_start_ns + seconds(spec.cell_limit_s));
        self.running = Some(Running { window_start_ns, window_end_ns, limit_ns, pause_until_ns: 0, paused: false });
        self.begun = true;
        let figures = &mut self.figures[self.cell];
        figures.whole.from_ns = now_ns;
        (figures.released_ns, figures.late_ns) = (released_ns, now_ns.saturating_sub(begin_ns));
        if spec.outstanding > 1 {
            (figures.from_ns, figures.to_ns) = (window_start_ns, window_end_ns);
        } else if spec.ramp_up_s == 0.0 {
            figures.from_ns = now_ns;
        }
        let rng = Rng::for_thread(self.seed ^ (self.cell as u64) << 32, self.index, 1);
        // Clients begin their sequential transfers at places of their own, evenly spread.
        let share = spec.region_bytes / u64::from(self.shared.sessions) * u64::from(self.index - self.shared.first);
        let largest = spec.cells[self.cell].used().map(|line| line.size).max().unwrap_or(1);
        let position = share - share % largest.max(self.granule);
        self.chooser = Chooser::new(rng, spec.region_bytes, self.granule, position);
        self.last_end_ns = 0;
    }

    /// A cell whose time is over goes on while it has too few transfers, until its limit: none is a result then, and no
    /// accident of its time. Those that failed count: more of them would say nothing new.
    fn stretch(&mut self, now_ns: Nanos) {
        let Some(running) = self.running.as_mut() else { return };
        let figures = &mut self.figures[self.cell];
        let enough = figures.tried() >= self.shared.spec.min_transfers;
        let end_ns = match (now_ns >= running.window_end_ns, enough) {
            (true, false) if now_ns < running.limit_ns => running.limit_ns,
            (false, true) if figures.stretched => now_ns,
            _ => return,
        };
        running.window_end_ns = end_ns;
        figures.stretched = true;
        if self.shared.spec.outstanding > 1 {
            figures.to_ns = end_ns;
        }
    }

    /// The next transfer of a slot; `None` when the cell is over.
    #[inline]
    fn next_transfer(&mut self, slot: u32, context: &FileContext) -> Option<FileStep> {
        let now_ns = context.now_ns;
        if self.slots[slot as usize].busy && self.running.is_some() {
            return Some(self.slots[slot as usize].reply(slot, self.shared.spec.verify));
        }
        self.stretch(now_ns);
        let running = self.running.as_mut()?;
        if now_ns >= running.window_end_ns {
            return (self.in_flight > 0).then_some(FileStep::Idle);
        }
        if running.pause_until_ns > now_ns {
            let wake_ns = running.pause_until_ns.min(running.window_end_ns);
            return Some(FileStep::Pause(wake_ns - now_ns));
        }
        let lines = &self.shared.spec.cells[self.cell].lines;
        if !running.paused {
            let delay_ms = self.chooser.burst(lines);
            if delay_ms > 0.0 {
                running.paused = true;
                running.pause_until_ns = now_ns + (delay_ms * 1e6) as Nanos;
                let wake_ns = running.pause_until_ns.min(running.window_end_ns);
                self.last_end_ns = 0;
                return Some(FileStep::Pause(wake_ns - now_ns));
            }
        }
        running.paused = false;
        let transfer = self.chooser.next(lines);
        self.in_flight += 1;
        Some(self.slots[slot as usize].begin(slot, transfer, self.shared.spec.verify))
    }

    #[inline]
    fn transfer_done(&mut self, slot: u32, result: &FileResult) -> FileProgress {
        let place = &mut self.slots[slot as usize];
        let (reads, wanted) = place.wanted();
        let failed = result.value != i64::from(wanted) || result.damaged;
        let bytes = if failed { 0 } else { u64::from(wanted) };
        *(if reads { &mut place.moved.0 } else { &mut place.moved.1 }) += bytes;
        if !failed && !place.is_reply && place.transfer.reply > 0 {
            place.request = Some(*result);
            return FileProgress::Pending;
        }
        let (request, moved, offset) = (place.request.take(), place.moved, place.transfer.offset);
        let (transfer, pass) = (place.transfer, place.pass);
        place.busy = false;
        if !failed && !reads {
            let took_ns = result.end_ns.saturating_sub(pass);
            if took_ns > self.longest_ns {
                self.longest_ns = took_ns;
                self.shared.longest_ns.fetch_max(took_ns, Ordering::Relaxed);
            }
            self.sample(transfer.offset, wanted, pass);
        }
        self.in_flight -= 1;
        let error = if failed { Some(self.failed(result, wanted, offset)) } else { None };
        let figures = &mut self.figures[self.cell];
        figures.whole.add(moved, result.end_ns);
        if !self.counts(result) {
            return FileProgress::Untimed;
        }
        let figures = &mut self.figures[self.cell];
        if error.is_none() {
            figures.step(reads, bytes, result);
            if let Some(request) = request {
                figures.step(!reads, request.value as u64, &request);
                figures.transaction(result.end_ns - request.start_ns);
            }
        } else {
            figures.failed(reads);
        }
        if self.slots.len() == 1 {
            figures.to_ns = result.end_ns;
        }
        let operation = self.cell as u16;
        FileProgress::Done(Outcome { operation, error, bytes_in: moved.0, bytes_out: moved.1, status: 0 })
    }

    /// Whether a transfer that has just ended lies in the measured time of its cell.
    ///
    /// One at a time: time is measured from the end of a transfer to the end of another, so that long transfers
    /// are not cut. Several at once: what ends inside the window counts.
    #[inline]
    fn counts(&mut self, result: &FileResult) -> bool {
        let Some(running) = &self.running else { return false };
        if self.slots.len() > 1 {
            return result.end_ns >= running.window_start_ns && result.end_ns < running.window_end_ns;
        }
        let figures = &mut self.figures[self.cell];
        if self.last_end_ns != 0 && figures.from_ns != 0 {
            figures.outside_ns += result.start_ns - self.last_end_ns;
        }
        self.last_end_ns = result.end_ns;
        if figures.from_ns != 0 {
            return true;
        }
        if result.end_ns >= running.window_start_ns {
            figures.from_ns = result.end_ns;
        }
        false
    }

    #[cold]
    fn failed(&mut self, result: &FileResult, wanted: u32, offset: u64) -> ErrorClass {
        if result.damaged {
            let figures = &mut self.figures[self.cell];
            figures.damaged += 1;
            if figures.damaged == 1 {
                figures.damaged_at = offset;
            }
            return ErrorClass::WrongContent;
        }
        let what = self.shared.operation(self.cell);
        if result.value < 0 {
            let errno = -result.value as i32;
            let class = ErrorClass::of_errno(errno);
            // A single failed transfer is data; what cannot get better ends the trial.
            if class != ErrorClass::InputOutput {
                self.fault.get_or_insert_with(|| fault_text(&what, errno));
            }
            return class;
        }
        let value = result.value;
        self.fault.get_or_insert_with(|| {
            format!("{what}: only {value} of {wanted} bytes were transferred at offset {offset}: is the file cut?")
        });
        ErrorClass::ShortTransfer
    }

    /// Writes the script of the next cell; `false` when all are done.
    fn begin_cell(&mut self) -> bool {
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
        script::of_cell(spec, self.index == self.shared.first, &mut self.script);
        true
    }

    /// The step of a task; `None` goes on at once.
    fn run_task(&mut self, slot: u32, task: Task, context: &FileContext) -> Option<FileStep> {
        match task {
            Task::Barrier => Some(FileStep::Barrier),
            Task::FleetBarrier => Some(FileStep::FleetBarrier),
            Task::Fill => Some(self.fill_region(slot)),
            Task::Call(call, role) => Some(self.call_between(call, role)),
            Task::Observe { after } => {
                self.observing = Some(after);
                Some(self.call_between(FileCall::Observe { name: Some(0), counters: true }, Role::Must))
            }
            Task::Run => {
                self.begin_transfers(context.now_ns, context.released_ns);
                Some(FileStep::Focus(self.cell as u16))
            }
            Task::Judge => {
                self.judge();
                None
            }
            Task::ReadBack(index) => {
                let written = self.written[index];
                self.reading = Some(written);
                self.slots[slot as usize].take(Transfer {
                    reads: true,
                    offset: written.page,
                    size: PAGE as u32,
                    reply: 0,
                });
                self.script_role = Some(Role::ReadBack);
                let call = FileCall::ReadAt {
                    file: self.back_from,
                    buffer: slot as u16,
                    length: PAGE as u32,
                    offset: written.page,
                };
                self.slots[slot as usize].prepared = Prepared::default();
                Some(FileStep::Call { call, prepare: false, check: true })
            }
        }
    }

    /// A call that no cell times.
    fn call_between(&mut self, call: FileCall, role: Role) -> FileStep {
        self.script_role = Some(role);
        FileStep::Call { call, prepare: false, check: false }
    }

    /// The next piece of the region that is missing, or what comes after it.
    fn fill_region(&mut self, slot: u32) -> FileStep {
        let wanted = self.shared.spec.region_bytes;
        if self.length >= wanted {
            self.script.push_front(Task::Call(FileCall::Close { file: FILE }, Role::Must));
            return self.call_between(FileCall::Sync { file: FILE }, Role::Must);
        }
        self.script.push_front(Task::Fill);
        let size = FILL_BYTES.min(wanted - self.length) as u32;
        self.slots[slot as usize].take(Transfer { reads: false, offset: self.length, size, reply: 0 });
        self.script_role = Some(Role::Piece);
        // One piece at a time, and nothing else in flight: one buffer of this size is enough for any depth.
        let call = FileCall::WriteAt { file: FILE, buffer: 0, length: size, offset: self.length };
        FileStep::Call { call, prepare: true, check: false }
    }

    /// Keeps a write for the sample that is read back: any with the same chance, which nobody can foresee.
    #[inline]
    fn sample(&mut self, offset: u64, size: u32, pass: Nanos) {
        let page = offset.next_multiple_of(PAGE as u64);
        if !self.shared.reads_back || page + STAMP as u64 > offset + u64::from(size) {
            return;
        }
        self.writes += 1;
        let written = Written { cell: self.cell, page, pass };
        if self.written.len() < READ_BACK {
            self.written.push(written);
            return;
        }
        let at = self.chance.below(self.writes) as usize;
        if at < READ_BACK {
            self.written[at] = written;
        }
    }

    /// Writes the script of the end; `false` when that is over, too. It reads past the cache of this machine where that
    /// can be, so that the share is asked and not its client; what is in the cache stays there for the next trial.
    fn begin_reading_back(&mut self) -> bool {
        if std::mem::replace(&mut self.ended, true) || !self.shared.reads_back || self.granule > PAGE as u64 {
            return false;
        }
        self.script.push_back(Task::Barrier);
        let mode = OpenMode { read: true, direct: true, ..OpenMode::default() };
        self.script
            .push_back(Task::Call(FileCall::Open { file: PAST_CACHE, name: 0, mode, permissions: 0 }, Role::Past));
        self.script.extend((0..self.written.len()).map(Task::ReadBack));
        true
    }

    /// What has come back is as new as what was written, or newer: another client may have written the page since.
    fn read_back(&mut self, slot: u32, value: i64, damaged: bool) {
        let Some(written) = self.reading.take() else { return };
        let longest_ns = self.shared.longest_ns.load(Ordering::Relaxed);
        let found = self.slots[slot as usize].found;
        let lost = found.is_some_and(|pass| pass.saturating_add(longest_ns) < written.pass);
        let (what, page) = (self.shared.operation(written.cell), written.page);
        if lost || damaged || (value >= 0 && value != PAGE as i64) {
            self.figures[written.cell].damaged += 1;
            self.fault.get_or_insert_with(|| {
                format!("{what}: read back after the trial, what was written at offset {page} is not there")
            });
        } else if value < 0 {
            self.fault.get_or_insert_with(|| fault_text("reading back what was written", -value as i32));
        }
    }

    fn script_done(&mut self, slot: u32, role: Role, result: &FileResult) {
        let value = result.value;
        if role == Role::ReadBack {
            self.read_back(slot, value, result.damaged);
            return;
        }
        let figures = self.figures.get_mut(self.cell);
        match (role, figures) {
            (Role::Past, _) => self.back_from = if value >= 0 { PAST_CACHE } else { FILE },
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

    /// A cell that gave back wrong data ends the trial, once all of it was looked at.
    fn judge(&mut self) {
        let figures = &mut self.figures[self.cell];
        figures.done = true;
        if figures.damaged > 0 {
            let (damaged, at, what) = (figures.damaged, figures.damaged_at, self.shared.operation(self.cell));
            self.fault.get_or_insert_with(|| {
                format!(
                    "{what}: {damaged} transfers gave back other bytes than were written (the first at offset {at})"
                )
            });
        }
    }
}

impl FileSession for BlocksSession {
    #[inline]
    fn next(&mut self, slot: u32, context: &FileContext) -> FileStep {
        self.now_ns = self.now_ns.max(context.now_ns);
        loop {
            if self.fault.is_some() && !self.slots[slot as usize].busy {
                return FileStep::Abort;
            }
            if self.running.is_some() {
                if let Some(step) = self.next_transfer(slot, context) {
                    return step;
                }
                self.running = None;
            }
            if self.script_role.is_some() {
                return FileStep::Idle;
            }
            match self.script.pop_front() {
                Some(task) => {
                    if let Some(step) = self.run_task(slot, task, context) {
                        return step;
                    }
                }
                None if self.begin_cell() => {}
                None if self.begin_reading_back() => {}
                None => return FileStep::Finished,
            }
        }
    }

    #[inline]
    fn done(&mut self, slot: u32, result: &FileResult) -> FileProgress {
        if self.running.is_some() {
            return self.transfer_done(slot, result);
        }
        if let Some(role) = self.script_role.take() {
            self.script_done(slot, role, result);
        }
        FileProgress::Untimed
    }

    fn path(&self, _: Name) -> &CStr {
        REGION
    }

    #[inline]
    fn fill(&mut self, slot: u32, buffer: &mut [u8]) {
        let (owner, pass, place) = (self.shared.owner, self.now_ns, &mut self.slots[slot as usize]);
        place.pass = pass;
        content::fill(buffer, owner, place.transfer.offset, |_, _| pass, &mut place.prepared);
    }

    #[inline]
    fn check(&mut self, slot: u32, buffer: &[u8]) -> bool {
        // Others may write the page meanwhile: half of its stamp is theirs or the one before.
        let (owner, place) = (self.shared.owner, &mut self.slots[slot as usize]);
        if self.reading.is_some() {
            place.found = content::pass_of(buffer, owner, place.transfer.offset);
        }
        content::check(buffer, owner, place.transfer.offset, |_| None)
    }

    fn passed_barrier(&mut self, span: BarrierSpan) {
        if std::mem::take(&mut self.begun) {
            self.figures[self.cell].span = span;
        }
    }

    fn observe(&mut self, observation: &Observation) {
        if let Some(after) = self.observing.take() {
            let counters = self.figures[self.cell].counters.get_or_insert_with(Box::default);
            *(if after { &mut counters.1 } else { &mut counters.0 }) = *observation;
        }
    }

    fn fault(&self) -> String {
        self.fault.clone().unwrap_or_else(|| "block work could not go on".to_owned())
    }
}
