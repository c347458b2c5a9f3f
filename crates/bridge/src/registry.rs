//! Which workload a specification's `kind` names. A new kind is one line here.

use bakeoff_engine::{FileWorkload, SpecError, TrialSpec, Workload};
use bakeoff_platform::{TrialError, TrialHandle, read_bounded, start, start_files};
use bakeoff_workloads as work;

/// Reads a specification into a trial that only has to be started.
type Read = fn(&TrialSpec) -> Result<Ready, SpecError>;

/// All kinds.
const KINDS: &[(&str, Read)] = &[
    ("null", |_| network(Ok(work::null::NullWorkload))),
    ("web", |spec| network(work::web::WebWorkload::from_json(&spec.workload))),
    ("mail", |spec| network(work::mail::MailWorkload::new(spec))),
    ("app", |spec| network(work::app::AppWorkload::from_json(&spec.workload))),
    ("file-matrix", |spec| files(work::file::matrix::MatrixWorkload::from_spec(spec))),
    ("file-blocks", |spec| files(work::file::blocks::BlocksWorkload::from_spec(spec))),
    ("file-mix", |spec| files(work::file::mix::MixWorkload::from_spec(spec, read_bounded))),
];

/// A workload that was read from a specification and can be started.
type Ready = Box<dyn FnOnce(TrialSpec) -> Result<TrialHandle, TrialError>>;

/// Why a trial did not start.
pub(crate) enum StartError {
    Spec(SpecError),
    Trial(TrialError),
}

/// The names of all kinds.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|(name, _)| *name).collect()
}

/// Reads a trial specification as far as that goes without starting it.
pub(crate) fn check_trial(spec_json: &str) -> Result<(), SpecError> {
    read(&TrialSpec::from_json(spec_json)?).map(drop)
}

/// Reads a trial specification and starts it.
pub(crate) fn start_trial(spec_json: &str) -> Result<TrialHandle, StartError> {
    let spec = TrialSpec::from_json(spec_json).map_err(StartError::Spec)?;
    let ready = read(&spec).map_err(StartError::Spec)?;
    ready(spec).map_err(StartError::Trial)
}

fn read(spec: &TrialSpec) -> Result<Ready, SpecError> {
    let kind = spec.workload.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
    let Some((_, read)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let known = kinds().join(", ");
        return Err(SpecError::Range(format!("this engine has no workload `{kind}`; it has: {known}")));
    };
    read(spec)
}

/// Work over connections, which the event loop drives.
fn network<W: Workload>(workload: Result<W, SpecError>) -> Result<Ready, SpecError> {
    let workload = workload?;
    Ok(Box::new(move |spec| start(workload, spec)))
}

/// Work on files, which threads or a ring carry out.
fn files<W: FileWorkload>(workload: Result<W, SpecError>) -> Result<Ready, SpecError> {
    let workload = workload?;
    Ok(Box::new(move |spec| start_files(workload, spec)))
}
