//! File operations of office applications: an own generator from measured shares, or a recorded loadfile.

mod cycle;
mod iteration;
mod loadfile;
mod office;
mod replay;
mod spec;
mod tables;
mod tally;
mod value;

use crate::file::evidence::LINK_SHARE;
use crate::file::servers::server_of;
use bakeoff_engine::{
    Executor, FileContext, FileNeeds, FileProgress, FileResult, FileServer, FileSession, FileStep, FileWorkload,
    Identity, Name, SpecError, Step, TrialResult, TrialSpec,
};
use flate2::read::GzDecoder;
pub use loadfile::{LoadError, Program, parse};
use office::{OfficeSession, Sums};
use replay::{ReplaySession, SyncPoints};
use serde::Deserialize;
use serde_json::{Value, json};
pub use spec::MixSpec;
use std::ffi::CStr;
use std::io::Read;
use std::sync::Arc;

/// A loadfile, unpacked, may have so many bytes.
pub const LOADFILE_MAX: usize = 1 << 30;

/// What the sessions of a trial share.
#[derive(Debug)]
enum Work {
    Office { spec: MixSpec, virtual_users: u32, is_whole: bool, secret: u64 },
    Replay { program: Arc<Program>, points: Arc<SyncPoints>, spec: MixSpec, sessions: u32, virtual_users: u32 },
}

/// The workload `file-mix`.
#[derive(Debug)]
pub struct MixWorkload {
    work: Work,
    server: Option<Arc<dyn FileServer>>,
}

/// One thread of either mode.
#[derive(Debug)]
pub enum MixSession {
    /// Works through the generator's cycles.
    Office(Box<OfficeSession>),
    /// Replays a loadfile.
    Replay(Box<ReplaySession>),
}

/// The text of a loadfile, which may be packed with gzip.
fn unpack(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    let limit = LOADFILE_MAX as u64 + 1;
    GzDecoder::new(bytes.as_slice())
        .take(limit)
        .read_to_end(&mut text)
        .map_err(|error| format!("is not a sound gzip file ({error})"))?;
    if text.len() > LOADFILE_MAX {
        return Err("unpacks to more than 1 GiB: use a smaller loadfile".to_owned());
    }
    Ok(text)
}

impl MixWorkload {
    /// Reads the `workload` part of a trial's specification. `read` gives the bytes of a file; its error is a
    /// sentence.
    pub fn from_spec(
        trial: &TrialSpec,
        read: impl FnOnce(&str, usize) -> Result<Vec<u8>, String>,
    ) -> Result<Self, SpecError> {
        let spec = MixSpec::from_json(&trial.workload)?;
        let server = server_of(&spec.folder).map_err(SpecError::Range)?;
        let virtual_users = trial.virtual_users;
        let work = match &spec.loadfile {
            None if virtual_users as usize > tables::APPLICATIONS.len() => {
                let most = tables::APPLICATIONS.len();
                return Err(SpecError::Range(format!(
                    "the applications of a client share {most} virtual users at most"
                )));
            }
            None => Work::Office { spec, virtual_users, is_whole: trial.is_whole(), secret: trial.secret },
            Some(path) => {
                let refuse = |text: String| SpecError::Range(format!("loadfile {path}: {text}"));
                let bytes = read(path, LOADFILE_MAX).and_then(unpack).map_err(refuse)?;
                let program = parse(&bytes).map_err(|error| refuse(error.to_string()))?;
                let sessions = trial.sessions();
                let points = Arc::new(SyncPoints::new(sessions));
                Work::Replay { program: Arc::new(program), points, spec, sessions, virtual_users }
            }
        };
        Ok(Self { work, server })
    }

    /// Bytes and pause of its iterations; a recorded loadfile keeps its own pace.
    fn iterations(&self) -> Option<(u64, f64)> {
        let Work::Office { spec, .. } = &self.work else { return None };
        spec.iteration_bytes.map(|bytes| (bytes, spec.iteration_pause_s))
    }

    fn spec(&self) -> &MixSpec {
        match &self.work {
            Work::Office { spec, .. } | Work::Replay { spec, .. } => spec,
        }
    }
}

impl FileWorkload for MixWorkload {
    type Session = MixSession;

    fn undivided(&self) -> Option<&'static str> {
        matches!(self.work, Work::Replay { .. })
            .then_some("the clients of a loadfile wait for each other in the middle of it")
    }

    fn operations(&self) -> Vec<String> {
        let names: &[&str] = match &self.work {
            Work::Office { .. } => &tables::OPERATIONS,
            Work::Replay { .. } => &loadfile::OPERATIONS,
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn steps(&self) -> Vec<String> {
        let names: &[&str] = if self.iterations().is_some() { &iteration::STEPS } else { &[] };
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn needs(&self) -> FileNeeds {
        let spec = self.spec();
        let (handles, buffer_bytes) = match &self.work {
            Work::Office { .. } => (tables::APPLICATIONS.len() as u16 + 1, tables::TRANSFER_MAX),
            Work::Replay { program, .. } => (program.handles + 1, program.transfer_max as usize),
        };
        FileNeeds {
            folder: spec.folder.clone(),
            keep: spec.keep,
            reuse: spec.reuse.clone(),
            space_bytes: 0,
            handles,
            buffers: 1,
            buffer_bytes: buffer_bytes.max(4096),
            registered_bytes: 0,
            depth: 1,
            executor: Executor::Blocking,
            cold_command: None,
            stall_ns: (spec.stall_s * 1e9) as u64,
        }
    }

    fn server(&self) -> Option<Arc<dyn FileServer>> {
        self.server.clone()
    }

    fn session(&self, identity: Identity) -> MixSession {
        match &self.work {
            Work::Office { spec, virtual_users, secret, .. } => {
                MixSession::Office(Box::new(OfficeSession::new(spec, identity, *virtual_users, *secret)))
            }
            Work::Replay { program, points, spec, sessions, virtual_users } => {
                let index = identity.client * virtual_users + identity.vu;
                let (program, points) = (Arc::clone(program), Arc::clone(points));
                MixSession::Replay(Box::new(ReplaySession::new(program, points, spec, index, *sessions, identity)))
            }
        }
    }

    fn figures(&self, sessions: &[MixSession]) -> Value {
        match &self.work {
            Work::Office { spec, virtual_users, is_whole, .. } => {
                let parts: Vec<&OfficeSession> = sessions.iter().filter_map(MixSession::office).collect();
                let sums = Sums::of(*virtual_users, &parts);
                if *is_whole { sums.figures(spec) } else { json!(sums) }
            }
            Work::Replay { program, .. } => {
                let parts: Vec<&ReplaySession> = sessions.iter().filter_map(MixSession::replay).collect();
                replay::figures(program, &parts)
            }
        }
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        let mut whole = Sums::default();
        for part in parts {
            let sums =
                Sums::deserialize(*part).map_err(|error| format!("a machine tells no figures of its files: {error}"));
            whole.add(sums?);
        }
        Ok(whole.figures(self.spec()))
    }

    /// Throughput counts bytes in both directions; response is that of all operations.
    fn complete(&self, result: &mut TrialResult) {
        let window_s = result.window_s;
        let (bytes_in, bytes_out) = (result.measured.bytes_in as f64, result.measured.bytes_out as f64);
        let bytes = bytes_in + bytes_out;
        let iterations = self.iterations().map(|iterations| iterations_json(iterations, &result.steps, window_s));
        let response = match &iterations {
            Some(iterations) => iterations["response_ms"].as_f64(),
            None => result.measured.service.summary.mean_ns.map(|mean_ns| mean_ns / 1e6),
        };
        if let Some(figures) = result.workload.as_object_mut() {
            let rate = if window_s > 0.0 { bytes * 8.0 / 1e6 / window_s } else { 0.0 };
            if let Some(iterations) = iterations {
                figures.insert("iterations".to_owned(), iterations);
            }
            // A link carries both directions at once: each is held against its speed.
            let link = self.spec().link_bytes_per_s;
            let beyond = link.is_some_and(|link| bytes_in.max(bytes_out) > LINK_SHARE * link * window_s);
            figures.insert("link_bytes_per_s".to_owned(), json!(link));
            figures.insert("beyond_link".to_owned(), json!(beyond));
            figures.insert("throughput_mbit_s".to_owned(), json!(rate));
            figures.insert("mean_response_ms".to_owned(), json!(response));
        }
    }
}

/// What the iterations of a trial say: how many ended in the window, how long they and the rests before them took, and how
/// many clients that implies by Little's law, N = X · (R + Z).
fn iterations_json((bytes, pause_s): (u64, f64), steps: &[Step], window_s: f64) -> Value {
    let summary = |name: &str| {
        let step = steps.iter().find(|step| step.name == name);
        step.map_or((0.0, None), |step| (step.summary.summary.count as f64, step.summary.summary.mean_ns))
    };
    let ((count, iteration_ns), (_, rest_ns)) = (summary(iteration::STEPS[0]), summary(iteration::STEPS[1]));
    let per_s = if window_s > 0.0 { count / window_s } else { 0.0 };
    let implied =
        iteration_ns.zip(rest_ns.or(Some(pause_s * 1e9))).map(|(iteration, rest)| per_s * (iteration + rest) / 1e9);
    json!({
        "bytes": bytes, "pause_s": pause_s, "count": count as u64, "per_s": per_s,
        "response_ms": iteration_ns.map(|ns| ns / 1e6), "rest_ms": rest_ns.map(|ns| ns / 1e6), "implied_sessions": implied,
    })
}

impl MixSession {
    fn office(&self) -> Option<&OfficeSession> {
        if let Self::Office(session) = self { Some(session) } else { None }
    }

    fn replay(&self) -> Option<&ReplaySession> {
        if let Self::Replay(session) = self { Some(session) } else { None }
    }
}

impl FileSession for MixSession {
    #[inline]
    fn next(&mut self, slot: u32, context: &FileContext) -> FileStep {
        match self {
            Self::Office(session) => session.next(slot, context),
            Self::Replay(session) => session.next(slot, context),
        }
    }

    #[inline]
    fn after(&mut self, _: u32, context: &FileContext) -> Option<FileStep> {
        match self {
            Self::Office(session) => session.after(context),
            Self::Replay(_) => None,
        }
    }

    fn done(&mut self, slot: u32, result: &FileResult) -> FileProgress {
        match self {
            Self::Office(session) => session.done(slot, result),
            Self::Replay(session) => session.done(slot, result),
        }
    }

    #[inline]
    fn path(&self, name: Name) -> &CStr {
        match self {
            Self::Office(session) => session.path(name),
            Self::Replay(session) => session.path(name),
        }
    }

    fn fill(&mut self, slot: u32, buffer: &mut [u8]) {
        match self {
            Self::Office(session) => session.fill(slot, buffer),
            Self::Replay(session) => session.fill(slot, buffer),
        }
    }

    fn check(&mut self, slot: u32, buffer: &[u8]) -> bool {
        match self {
            Self::Office(session) => session.check(slot, buffer),
            Self::Replay(_) => true,
        }
    }

    fn steps(&mut self) -> &[(u16, u64)] {
        match self {
            Self::Office(session) => session.steps(),
            Self::Replay(_) => &[],
        }
    }

    fn fault(&self) -> String {
        match self {
            Self::Office(session) => session.fault(),
            Self::Replay(session) => session.fault(),
        }
    }
}

#[cfg(test)]
mod tests;
