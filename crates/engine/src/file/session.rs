//! The seam for file work: a session is a state machine that asks for file calls, without a file and without a
//! clock.
//!
//! A session has *slots*: each holds one call at a time. With the blocking executor there is one slot; with a
//! queue depth of N there are N. An *operation* is what is counted: one call, or several in a row of one slot
//! that end with [`FileProgress::Done`]. Calls that are no part of an operation (making files ready, dropping
//! caches) end with [`FileProgress::Untimed`] and leave no trace in the figures.

use super::call::{BufferIndex, FileCall, Name};
use super::server::FileServer;
use crate::{Identity, Nanos, Outcome, TrialResult};
use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use std::sync::Arc;

/// What a session wants next for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStep {
    /// Carry this out. With `prepare` the session first fills the buffer by [`FileSession::fill`], with `check`
    /// it looks at it afterwards by [`FileSession::check`]; neither is inside the stamped time.
    Call {
        /// The call.
        call: FileCall,
        /// Fill the buffer first.
        prepare: bool,
        /// Check the buffer when the call has succeeded.
        check: bool,
    },
    /// Wait until every session of this machine has come to a barrier. Only when no slot is busy.
    Barrier,
    /// The same, and until those of all other machines of the trial have come to it: they go on at one moment, which
    /// [`FileContext::released_ns`] then tells.
    FleetBarrier,
    /// Wait for so long. The pause belongs to no operation.
    Pause(Nanos),
    /// Nothing for this slot until another one has finished.
    Idle,
    /// From here on only this operation is recorded: the histograms of all others are put away in small form.
    Focus(u16),
    /// The trial cannot go on, for the reason that [`FileSession::fault`] gives: all sessions stop.
    Abort,
    /// This session has done its work.
    Finished,
}

/// A call that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileResult {
    /// What the call returned, or the negative error number.
    pub value: i64,
    /// The call began.
    pub start_ns: Nanos,
    /// It was over.
    pub end_ns: Nanos,
    /// Its buffer was looked at and was wrong.
    pub damaged: bool,
}

impl FileResult {
    /// Duration, ns.
    pub const fn elapsed_ns(&self) -> Nanos {
        self.end_ns - self.start_ns
    }
}

/// Whether an operation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProgress {
    /// The operation of this slot needs more calls.
    Pending,
    /// The operation is over and is recorded. Bytes read are `bytes_in`, bytes written `bytes_out`.
    Done(Outcome),
    /// The call was no part of an operation: nothing is recorded, the next one starts afresh.
    Untimed,
}

/// What a session may know of the world when it decides its next step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileContext {
    /// The last stamp, ns. Never a fresh reading of the clock.
    pub now_ns: Nanos,
    /// Another session waits at a barrier already: it was first ("stonewall").
    pub others_wait: bool,
    /// The moment at which all machines were to go on from the last barrier, by the clock here, ns; 0 where one machine
    /// drives all sessions.
    pub released_ns: Nanos,
}

/// How a session came from one barrier to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierSpan {
    /// From the moment when the first opened to that when the session came to the next, ns.
    pub length_ns: Nanos,
    /// Time of it that its thread lacked for reasons of this machine, ns: it was not awake yet, or was ready and waited
    /// for a processor (where the kernel tells that).
    pub waited_ns: Nanos,
}

impl BarrierSpan {
    /// The share of the time that the thread lacked, from 0 to 1.
    pub fn waited_share(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { (self.waited_ns as f64 / self.length_ns as f64).min(1.0) }
    }
}

/// Counters around a piece of work; those that this machine does not have are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The last stamp, ns.
    pub at_ns: Nanos,
    /// Bytes that the disk of the folder's file system has read (`/sys/dev/block/…/stat`), for whomever.
    pub disk_read_bytes: Option<u64>,
    /// Bytes that disks of the folder's file system have written (`/sys/dev/block/…/stat`).
    pub disk_write_bytes: Option<u64>,
    /// Bytes received on all network interfaces.
    pub wire_in_bytes: Option<u64>,
    /// Bytes sent on all network interfaces.
    pub wire_out_bytes: Option<u64>,
    /// Bytes read from the server for this mount (NFS, CIFS).
    pub mount_read_bytes: Option<u64>,
    /// Bytes written to the server for this mount.
    pub mount_write_bytes: Option<u64>,
    /// Pages of the named file in the page cache.
    pub cached_pages: Option<u64>,
    /// Those of them that are not written yet, or are being written.
    pub dirty_pages: Option<u64>,
    /// CPU time that this process has used, helpers of the kernel that work for it included, ns.
    pub process_cpu_ns: Option<u64>,
}

/// What a workload needs of the executor.
#[derive(Debug, Clone, PartialEq)]
pub struct FileNeeds {
    /// The contender's folder. The trial makes a folder of its own in it, and works nowhere else.
    pub folder: String,
    /// Keep the trial's folder instead of removing it at the end.
    pub keep: bool,
    /// What the trial's folder is called in its name, which says besides that it is this process's: it may exist and is
    /// then used again, and is never removed by the trial. None: a fresh folder for this trial alone.
    pub reuse: Option<String>,
    /// Free space that must be there at the start, bytes.
    pub space_bytes: u64,
    /// Open files of a session at most.
    pub handles: u16,
    /// Buffers of a session.
    pub buffers: u16,
    /// Size of each, bytes. Memory is taken when it is first touched.
    pub buffer_bytes: usize,
    /// So much of each a ring registers with the kernel, which keeps it in memory: the largest measured transfer.
    pub registered_bytes: usize,
    /// Calls in flight per session; 1 uses blocking calls.
    pub depth: u32,
    /// How calls are carried out.
    pub executor: Executor,
    /// Shell command of [`FileCall::ColdCommand`].
    pub cold_command: Option<String>,
    /// A session in which no call has ended for so long is given up and the trial fails, ns.
    pub stall_ns: Nanos,
}

/// How calls are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// Blocking system calls, one thread per session.
    Blocking,
    /// `io_uring`, one ring and one thread per session.
    Ring,
}

/// One kind of file work, made once per trial and shared by its sessions.
pub trait FileWorkload: Send + Sync + 'static {
    /// Its state machine.
    type Session: FileSession;

    /// Why a trial cannot be divided among several machines, in words; `None` when it can be, whose figures
    /// [`FileWorkload::merged`] then makes one.
    fn undivided(&self) -> Option<&'static str> {
        Some("its figures do not add up")
    }

    /// Names of the operations; an [`Outcome::operation`] is an index into them.
    fn operations(&self) -> Vec<String>;

    /// Names of what sessions tell beside their operations, see [`FileSession::steps`].
    fn steps(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the executor must provide.
    fn needs(&self) -> FileNeeds;

    /// The server whose protocol the sessions speak; `None` where they work in a folder of this machine.
    fn server(&self) -> Option<Arc<dyn FileServer>> {
        None
    }

    /// A session for one thread of one client.
    fn session(&self, identity: Identity) -> Self::Session;

    /// Extra figures of the trial, put into its result under `workload`.
    fn figures(&self, _sessions: &[Self::Session]) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// The figures of a trial from those that each machine's [`FileWorkload::figures`] told of its slice. The error is
    /// a sentence.
    fn merged(&self, _parts: &[&serde_json::Value]) -> Result<serde_json::Value, String> {
        Err("trials of this work cannot be divided".to_owned())
    }

    /// May add to the finished result of the trial.
    fn complete(&self, _result: &mut TrialResult) {}
}

/// One simulated thread that works on files.
pub trait FileSession: Send + 'static {
    /// What slot `slot`, which is free, is to do next.
    fn next(&mut self, slot: u32, context: &FileContext) -> FileStep;

    /// What a free slot is to do once the time, or the count of operations, is over: calls that are no part of an
    /// operation, such as reading back what was written; `None` when there is nothing more.
    fn after(&mut self, _slot: u32, _context: &FileContext) -> Option<FileStep> {
        None
    }

    /// The call of a slot is over.
    fn done(&mut self, slot: u32, result: &FileResult) -> FileProgress;

    /// The text of a name, relative to the trial's folder.
    fn path(&self, name: Name) -> &CStr;

    /// Fills the buffer of the call that a slot has just asked for.
    fn fill(&mut self, _slot: u32, _buffer: &mut [u8]) {}

    /// Whether the bytes that the call of a slot has read are right.
    fn check(&mut self, _slot: u32, _buffer: &[u8]) -> bool {
        true
    }

    /// What the session has to tell when an operation has ended, as index into the workload's names and ns.
    fn steps(&mut self) -> &[(u16, u64)] {
        &[]
    }

    /// It comes to a barrier, and had come through the time since the last one like this.
    fn passed_barrier(&mut self, _span: BarrierSpan) {}

    /// Takes the figures of [`FileCall::Observe`].
    fn observe(&mut self, _observation: &Observation) {}

    /// Why the session asked to abort.
    fn fault(&self) -> String {
        "the work could not go on".to_owned()
    }
}

/// The page-aligned memory of a session, owned by the executor.
pub trait FileBuffers {
    /// The first `length` bytes of a buffer. No call on it may be in flight.
    fn slice(&mut self, buffer: BufferIndex, length: usize) -> &mut [u8];
}
