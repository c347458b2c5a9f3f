//! One session on its thread: the loop of blocking calls.

use super::buffers::AlignedBuffers;
use super::cache::pages_of;
use super::calls::Calls;
use super::observe::Counters;
use super::work_place::WorkPlace;
use crate::barrier::sessions::{Opened, SessionBarrier};
use crate::process::RunDelay;
use crate::trial::start_line::StartLine;
use bakeoff_engine::{Clock, FileCall, FileDriver, FileNext, FileSession, Live, Nanos, SharedTimes};
use std::fs::File;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What all sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Common {
    pub live: Arc<Live>,
    pub line: Arc<StartLine>,
    pub rendezvous: Arc<SessionBarrier>,
    pub place: WorkPlace,
    /// Of what the folder lies on: another device, perhaps, after each cold command.
    pub counters: Mutex<Counters>,
    pub cold_command: Option<String>,
    /// How the cold command ended that failed, and what it said.
    pub command_fault: Mutex<Option<String>>,
    /// One for each session, see [`VirtualUser::beat`].
    pub beats: Vec<CallCounter>,
    pub times: Arc<SharedTimes>,
    /// A call found the file system full, or a quota used up.
    pub full: AtomicBool,
}

impl Common {
    /// What a call came to.
    #[inline]
    pub fn note(&self, value: i64) {
        if value == -i64::from(libc::ENOSPC) || value == -i64::from(libc::EDQUOT) {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session makes its first call.
    pub fn begin(&self, session: usize) {
        self.beats[session].0.store(1, Ordering::Relaxed);
    }
}

/// Counts a session's calls: odd while one runs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct CallCounter(pub AtomicU64);

/// What one session has of the machine.
#[derive(Debug)]
pub(crate) struct VirtualUser {
    pub common: Arc<Common>,
    pub calls: Calls,
    pub buffers: AlignedBuffers,
    pub session: usize,
    beats: u64,
    run_delay: RunDelay,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It had no more to do, or its time was over, or it was cancelled.
    Stopped,
    /// It asked to end the trial.
    Aborted(String),
}

/// Longest sleep without a look whether the trial was cancelled.
const SLICE: Duration = Duration::from_millis(20);
/// So much of what a command says is told.
const SAID_BYTES: usize = 400;

impl VirtualUser {
    /// The virtual user of a session whose first call, that on the folder, [`Common::begin`] has announced; made by its
    /// thread.
    pub fn new(common: Arc<Common>, calls: Calls, buffers: AlignedBuffers, session: usize) -> Self {
        let mut vu = Self { common, calls, buffers, session, beats: 1, run_delay: RunDelay::of_this_thread() };
        vu.beat();
        vu
    }

    /// Lets go of files and folder. That is a call on the share as well, and may hang.
    pub fn end(mut self) {
        self.beat();
        drop(self);
    }

    /// A call begins or ends.
    #[inline]
    pub fn beat(&mut self) {
        self.beats += 1;
        self.common.beats[self.session].0.store(self.beats, Ordering::Relaxed);
    }

    /// Sleeps until a moment, or until the trial is cancelled.
    pub fn sleep_until(&self, until_ns: Nanos, clock: &impl Clock) {
        loop {
            let left_ns = until_ns.saturating_sub(clock.now_ns());
            if left_ns == 0 || self.common.live.is_cancelled() {
                return;
            }
            std::thread::sleep(Duration::from_nanos(left_ns).min(SLICE));
        }
    }

    /// Waits where `wait` says for all sessions, and goes on with them; `false` when they were broken up.
    pub fn wait<S: FileSession, C: Clock>(
        &self,
        driver: &mut FileDriver<S, C>,
        wait: impl FnOnce(&SessionBarrier) -> Option<Opened>,
    ) -> bool {
        driver.arrived(self.run_delay.read_ns());
        let Some(opened) = wait(&self.common.rendezvous) else { return false };
        driver.released(opened.at_ns, opened.released_ns, self.run_delay.read_ns());
        true
    }

    /// Carries out a call, those on the whole machine and the folder included.
    #[inline]
    pub fn execute<S: FileSession, C: Clock>(&mut self, call: &FileCall, driver: &mut FileDriver<S, C>) -> i64 {
        if Self::is_special(call) {
            return self.execute_special(call, driver);
        }
        match &mut self.calls {
            Calls::Folder(files) => files.execute(call, driver.session(), &self.buffers),
            Calls::Server(server) => server.execute(call, driver.session(), &mut self.buffers),
        }
    }

    /// Whether a call is on this machine, whoever carries out the others.
    #[inline]
    pub const fn is_special(call: &FileCall) -> bool {
        matches!(
            call,
            FileCall::Observe { .. }
                | FileCall::LeaveFolder
                | FileCall::EnterFolder
                | FileCall::ColdCommand
                | FileCall::DropAllCaches
        )
    }

    #[cold]
    fn execute_special<S: FileSession, C: Clock>(&mut self, call: &FileCall, driver: &mut FileDriver<S, C>) -> i64 {
        match *call {
            FileCall::Observe { name, counters } => {
                let mut pages = None;
                if let Some(name) = name
                    && let Some(files) = self.calls.files()
                {
                    files.with_opened(driver.session().path(name), |file: RawFd| {
                        pages = pages_of(file);
                        0
                    });
                }
                let observation = self.common.counters().read(counters, driver.mark_ns(), pages);
                driver.session_mut().observe(&observation);
                0
            }
            FileCall::LeaveFolder => {
                if let Some(files) = self.calls.files() {
                    files.leave();
                }
                0
            }
            FileCall::EnterFolder => match self.common.place.reopen() {
                Ok(folder) => {
                    if let (Some(files), Some(folder)) = (self.calls.files(), folder) {
                        files.enter(folder);
                    }
                    // What was mounted again need not lie on the same device.
                    *self.common.counters() = self.common.place.counters();
                    0
                }
                Err(error) => -i64::from(error.raw_os_error().unwrap_or(libc::EIO)),
            },
            FileCall::DropAllCaches => super::cache::drop_all(),
            _ => {
                self.common.cold_command.as_deref().map_or(-i64::from(libc::ENOSYS), |command| self.run_shell(command))
            }
        }
    }

    /// 0 when the command succeeds; else what it said is kept for [`VirtualUser::aborted`].
    fn run_shell(&self, command: &str) -> i64 {
        let Err(why) = shell(command) else { return 0 };
        *self.common.command_fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        -i64::from(libc::ECANCELED)
    }

    /// The end of a trial that its session asked for, with what a command said that has failed.
    pub fn aborted(&self, fault: String) -> End {
        let said = self.common.command_fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        End::Aborted(match said {
            Some(said) => format!("{fault}; it ended with {said}"),
            None => fault,
        })
    }
}

/// Runs a command; the error has how it ended and its last lines on standard error. These go to memory, not to a pipe,
/// which a process that it leaves behind would keep open.
fn shell(command: &str) -> Result<(), String> {
    // SAFETY: the name is a C string; a descriptor that is not negative is ours.
    let said = unsafe {
        let descriptor = libc::memfd_create(c"cold command".as_ptr(), libc::MFD_CLOEXEC);
        (descriptor >= 0).then(|| File::from_raw_fd(descriptor))
    };
    let stderr = said.as_ref().and_then(|file| file.try_clone().ok()).map_or_else(Stdio::null, Stdio::from);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let status = shell.status().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let how = status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
    let lines = said.map(|file| last_lines(&file)).unwrap_or_default();
    Err(if lines.is_empty() { how } else { format!("{how}: {lines}") })
}

/// The end of a file, its lines parted by ` | `.
fn last_lines(file: &File) -> String {
    let from = file.metadata().map_or(0, |facts| facts.len()).saturating_sub(SAID_BYTES as u64);
    let mut bytes = vec![0; SAID_BYTES];
    let count = file.read_at(&mut bytes, from).unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..count]);
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if from > 0 && lines.len() > 1 {
        lines.remove(0);
    }
    lines.join(" | ")
}

/// Runs a session to its end with blocking calls.
pub(crate) fn run<S: FileSession, C: Clock>(driver: &mut FileDriver<S, C>, vu: &mut VirtualUser, clock: &C) -> End {
    let common = Arc::clone(&vu.common);
    loop {
        match driver.next(0, common.rendezvous.someone_waits(), &mut vu.buffers) {
            FileNext::Call(call) => {
                vu.beat();
                let value = vu.execute(&call, driver);
                driver.done(0, value, &mut vu.buffers);
                vu.beat();
                common.note(value);
            }
            FileNext::Barrier => {
                if !vu.wait(driver, SessionBarrier::wait) {
                    return End::Stopped;
                }
            }
            FileNext::FleetBarrier => {
                if !vu.wait(driver, SessionBarrier::wait_for_fleet) {
                    return End::Stopped;
                }
            }
            FileNext::Wait(until_ns) => {
                vu.sleep_until(until_ns, clock);
                driver.resumed(Some(until_ns));
            }
            FileNext::Abort => return vu.aborted(driver.session().fault()),
            FileNext::Idle | FileNext::Stopped => return End::Stopped,
        }
    }
}
