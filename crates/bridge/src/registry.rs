//! Which workload a specification's `kind` names. A new kind is one line here.

use bakeoff_engine::{FileWorkload, MergeFigures, SpecError, TrialSpec, Workload};
use bakeoff_httperf::HttperfSpec;
use bakeoff_platform::{TrialError, TrialHandle, read_bounded, start, start_files};
use bakeoff_workloads as work;

/// Reads a specification into a trial that only has to be started.
type Read = fn(&TrialSpec) -> Result<Ready, SpecError>;

/// All kinds.
const KINDS: &[(&str, Read)] = &[
    ("null", |_| network(Ok(work::null::NullWorkload))),
    ("web", |spec| network(work::web::WebWorkload::from_spec(spec))),
    ("mail", |spec| network(work::mail::MailWorkload::new(spec))),
    ("app", |spec| network(work::app::AppWorkload::from_json(&spec.workload))),
    ("replay", |spec| network(work::replay::ReplayWorkload::from_spec(spec, read_bounded))),
    ("file-matrix", |spec| files(work::file::matrix::MatrixWorkload::from_spec(spec))),
    ("file-blocks", |spec| files(work::file::blocks::BlocksWorkload::from_spec(spec))),
    ("file-mix", |spec| files(work::file::mix::MixWorkload::from_spec(spec, read_bounded))),
    ("httperf", |spec| httperf(HttperfSpec::from_trial(spec))),
];

/// A workload that was read from a specification and can be started.
struct Ready {
    start: Box<dyn FnOnce(TrialSpec) -> Result<TrialHandle, TrialError>>,
    /// How several machines' figures become one; `None` when they cannot share a trial.
    merge: Option<MergeFigures>,
    /// Whether it can give rows up while it goes on.
    soaks: bool,
    /// Whether it knows the moments of its starts itself.
    has_moments: bool,
}

/// Why a trial did not start.
pub(crate) enum StartError {
    Spec(SpecError),
    Trial(TrialError),
}

/// The names of all kinds.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|(name, _)| *name).collect()
}

/// How the figures of several machines come together that share a trial.
pub(crate) fn merging(spec_json: &str) -> Result<MergeFigures, SpecError> {
    let ready = read(&TrialSpec::from_json(spec_json)?)?;
    ready.merge.ok_or_else(|| SpecError::Range("trials of this workload cannot be divided".to_owned()))
}

/// Reads a trial specification as far as that goes without starting it.
pub(crate) fn check_trial(spec_json: &str) -> Result<(), SpecError> {
    read(&TrialSpec::from_json(spec_json)?).map(drop)
}

/// Reads a trial specification and starts it.
pub(crate) fn start_trial(spec_json: &str) -> Result<TrialHandle, StartError> {
    let spec = TrialSpec::from_json(spec_json).map_err(StartError::Spec)?;
    let ready = read(&spec).map_err(StartError::Spec)?;
    (ready.start)(spec).map_err(StartError::Trial)
}

fn read(spec: &TrialSpec) -> Result<Ready, SpecError> {
    let kind = spec.workload.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
    let Some((_, read)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let known = kinds().join(", ");
        return Err(SpecError::Range(format!("this engine has no workload `{kind}`; it has: {known}")));
    };
    let ready = read(spec)?;
    if ready.merge.is_none() && !spec.is_whole() {
        return Err(SpecError::Range(format!("trials of `{kind}` cannot be divided among several machines")));
    }
    if spec.load.wants_moments() && !ready.has_moments {
        return Err(SpecError::Range(format!("a load that replays moments must give them: `{kind}` knows none")));
    }
    if !ready.soaks && spec.row_s.is_some() {
        return Err(SpecError::Range(format!("trials of `{kind}` have no rows: row_s is for work over connections")));
    }
    Ok(ready)
}

/// Work over connections, which the event loop drives.
fn network<W: Workload>(workload: Result<W, SpecError>) -> Result<Ready, SpecError> {
    let workload = workload?;
    let has_moments = workload.moments().is_some();
    Ok(Ready { start: Box::new(move |spec| start(workload, spec)), merge: W::MERGE, soaks: true, has_moments })
}

/// Work on files, which threads or a ring carry out.
fn files<W: FileWorkload>(workload: Result<W, SpecError>) -> Result<Ready, SpecError> {
    let workload = workload?;
    Ok(Ready {
        start: Box::new(move |spec| start_files(workload, spec)),
        merge: None,
        soaks: false,
        has_moments: false,
    })
}

/// Connections and sessions that begin by the clock, with a loop of their own.
fn httperf(workload: Result<HttperfSpec, SpecError>) -> Result<Ready, SpecError> {
    let workload = workload?;
    Ok(Ready {
        start: Box::new(move |spec| bakeoff_httperf::start(workload, spec)),
        merge: None,
        soaks: false,
        has_moments: false,
    })
}
