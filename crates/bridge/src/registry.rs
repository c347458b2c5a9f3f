//! Which workload a specification's `kind` names. A new kind is one line here.

use bakeoff_engine::{FileWorkload, SliceResult, SpecError, TrialResult, TrialSpec, Workload, merge_slices};
use bakeoff_httperf::HttperfSpec;
use bakeoff_platform::{TrialError, TrialHandle, read_bounded, start, start_files};
use bakeoff_workloads as work;
use serde_json::Value;

/// Reads a specification into a trial that only has to be started.
type Read = fn(&TrialSpec) -> Result<Ready, SpecError>;

/// All kinds.
const KINDS: &[(&str, Read)] = &[
    ("null", |_| network(Ok(work::null::NullWorkload))),
    ("web", |spec| network(work::web::WebWorkload::from_spec(spec))),
    ("web-session", |spec| network(work::web_session::SessionWorkload::from_spec(spec))),
    ("mail", |spec| network(work::mail::MailWorkload::new(spec))),
    ("app", |spec| network(work::app::AppWorkload::from_spec(spec))),
    ("replay", |spec| network(work::replay::ReplayWorkload::from_spec(spec, read_bounded))),
    ("file-matrix", |spec| files(work::file::matrix::MatrixWorkload::from_spec(spec))),
    ("file-blocks", |spec| files(work::file::blocks::BlocksWorkload::from_spec(spec))),
    ("file-mix", |spec| files(work::file::mix::MixWorkload::from_spec(spec, read_bounded))),
    ("httperf", |spec| httperf(HttperfSpec::from_trial(spec))),
];

/// A workload that was read from a specification and can be started.
trait Kind: Send {
    /// Makes the trial ready.
    fn start(self: Box<Self>, spec: TrialSpec) -> Result<TrialHandle, TrialError>;

    /// Why several machines cannot share a trial, as far as that is known; `None` when they can.
    fn undivided(&self) -> Option<&'static str>;

    /// What they told of their sessions as one.
    fn merged(&self, _parts: &[&Value]) -> Result<Value, String> {
        Err("trials of this workload cannot be divided".to_owned())
    }

    /// What follows from all figures of a result.
    fn complete(&self, _result: &mut TrialResult) {}

    /// Whether it can give intervals up while it goes on.
    fn soaks(&self) -> bool {
        false
    }

    /// Whether it knows the moments of its starts itself.
    fn has_moments(&self) -> bool {
        false
    }
}

type Ready = Box<dyn Kind>;

/// Why a trial did not start.
pub(crate) enum StartError {
    Spec(SpecError),
    Trial(TrialError),
}

/// The names of all kinds.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|(name, _)| *name).collect()
}

/// One result of what several machines measured of a trial.
pub(crate) fn merge_trial(spec_json: &str, slices: &[SliceResult]) -> Result<TrialResult, String> {
    let spec = TrialSpec::from_json(spec_json).map_err(|error| error.to_string())?;
    let ready = read(&spec).map_err(|error| error.to_string())?;
    let mut merged = merge_slices(slices, |parts| ready.merged(parts)).map_err(|error| error.to_string())?;
    ready.complete(&mut merged);
    Ok(merged)
}

/// Reads a trial specification as far as that goes without starting it.
pub(crate) fn check_trial(spec_json: &str) -> Result<(), SpecError> {
    read(&TrialSpec::from_json(spec_json)?).map(drop)
}

/// Reads a trial specification and starts it.
pub(crate) fn start_trial(spec_json: &str) -> Result<TrialHandle, StartError> {
    let spec = TrialSpec::from_json(spec_json).map_err(StartError::Spec)?;
    let ready = read(&spec).map_err(StartError::Spec)?;
    ready.start(spec).map_err(StartError::Trial)
}

fn read(spec: &TrialSpec) -> Result<Ready, SpecError> {
    let kind = spec.workload.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
    let Some((_, read)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let known = kinds().join(", ");
        return Err(SpecError::Range(format!("this engine has no workload `{kind}`; it has: {known}")));
    };
    let ready = read(spec)?;
    if !spec.is_whole()
        && let Some(why) = ready.undivided()
    {
        return Err(SpecError::Range(format!("trials of `{kind}` cannot be divided among several machines: {why}")));
    }
    if spec.load.wants_moments() && !ready.has_moments() {
        return Err(SpecError::Range(format!("a load that replays moments must give them: `{kind}` knows none")));
    }
    if !ready.soaks() && spec.interval_s.is_some() {
        return Err(SpecError::Range(format!(
            "trials of `{kind}` have no intervals: interval_s is for work over connections"
        )));
    }
    Ok(ready)
}

/// Work over connections, which the event loop drives.
struct Network<W>(W);

impl<W: Workload> Kind for Network<W> {
    fn start(self: Box<Self>, spec: TrialSpec) -> Result<TrialHandle, TrialError> {
        start(self.0, spec)
    }

    fn undivided(&self) -> Option<&'static str> {
        (!W::DIVIDES).then_some("its figures do not add up")
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        Workload::merged(&self.0, parts)
    }

    fn soaks(&self) -> bool {
        true
    }

    fn has_moments(&self) -> bool {
        self.0.moments().is_some()
    }
}

fn network<W: Workload>(workload: Result<W, SpecError>) -> Result<Ready, SpecError> {
    Ok(Box::new(Network(workload?)))
}

/// Work on files, which threads or a ring carry out.
struct Files<W>(W);

impl<W: FileWorkload> Kind for Files<W> {
    fn start(self: Box<Self>, spec: TrialSpec) -> Result<TrialHandle, TrialError> {
        start_files(self.0, spec)
    }

    fn undivided(&self) -> Option<&'static str> {
        FileWorkload::undivided(&self.0)
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        let mut figures = FileWorkload::merged(&self.0, parts)?;
        figures["outside_s"] = parts.iter().filter_map(|part| part["outside_s"].as_f64()).sum::<f64>().into();
        Ok(figures)
    }

    fn complete(&self, result: &mut TrialResult) {
        FileWorkload::complete(&self.0, result);
    }
}

fn files<W: FileWorkload>(workload: Result<W, SpecError>) -> Result<Ready, SpecError> {
    Ok(Box::new(Files(workload?)))
}

/// Connections and sessions that begin by the clock, with a loop of their own.
struct Httperf(HttperfSpec);

impl Kind for Httperf {
    fn start(self: Box<Self>, spec: TrialSpec) -> Result<TrialHandle, TrialError> {
        bakeoff_httperf::start(self.0, spec)
    }

    fn undivided(&self) -> Option<&'static str> {
        self.0.period.is_none().then_some("without a rate one connection follows the other")
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        bakeoff_httperf::merged(parts)
    }
}

fn httperf(workload: Result<HttperfSpec, SpecError>) -> Result<Ready, SpecError> {
    Ok(Box::new(Httperf(workload?)))
}
