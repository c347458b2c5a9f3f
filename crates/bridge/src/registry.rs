//! Which workload a specification's `kind` names. A new kind is one line here.

use bakeoff_engine::{SpecError, TrialSpec};
use bakeoff_platform::{TrialError, TrialHandle, read_bounded, start, start_files};
use bakeoff_workloads::file::{blocks::BlocksWorkload, matrix::MatrixWorkload, mix::MixWorkload};
use bakeoff_workloads::{app::AppWorkload, mail::MailWorkload, null::NullWorkload, web::WebWorkload};

/// All kinds.
pub(crate) const KINDS: &[&str] = &["null", "web", "mail", "app", "file-matrix", "file-blocks", "file-mix"];

/// Why a trial did not start.
pub(crate) enum StartError {
    Spec(SpecError),
    Trial(TrialError),
}

/// A workload that was read from a specification and can be started.
enum Ready {
    Null(NullWorkload),
    Web(Box<WebWorkload>),
    Mail(Box<MailWorkload>),
    App(Box<AppWorkload>),
    Matrix(Box<MatrixWorkload>),
    Blocks(Box<BlocksWorkload>),
    Mix(Box<MixWorkload>),
}

fn read(spec: &TrialSpec) -> Result<Ready, SpecError> {
    let kind = spec.workload.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
    Ok(match kind {
        "mail" => Ready::Mail(Box::new(MailWorkload::new(spec)?)),
        "null" => Ready::Null(NullWorkload),
        "web" => Ready::Web(Box::new(WebWorkload::from_json(&spec.workload)?)),
        "app" => Ready::App(Box::new(AppWorkload::from_json(&spec.workload)?)),
        "file-matrix" => Ready::Matrix(Box::new(MatrixWorkload::from_spec(spec)?)),
        "file-blocks" => Ready::Blocks(Box::new(BlocksWorkload::from_spec(spec)?)),
        "file-mix" => Ready::Mix(Box::new(MixWorkload::from_spec(spec, read_bounded)?)),
        other => {
            let known = KINDS.join(", ");
            return Err(SpecError::Range(format!("this engine has no workload `{other}`; it has: {known}")));
        }
    })
}

/// Reads a trial specification as far as that goes without starting it.
pub(crate) fn check_trial(spec_json: &str) -> Result<(), SpecError> {
    read(&TrialSpec::from_json(spec_json)?).map(drop)
}

/// Reads a trial specification and starts it.
pub(crate) fn start_trial(spec_json: &str) -> Result<TrialHandle, StartError> {
    let spec = TrialSpec::from_json(spec_json).map_err(StartError::Spec)?;
    let started = match read(&spec).map_err(StartError::Spec)? {
        Ready::Null(workload) => start(workload, spec),
        Ready::Web(workload) => start(*workload, spec),
        Ready::Mail(workload) => start(*workload, spec),
        Ready::App(workload) => start(*workload, spec),
        Ready::Matrix(workload) => start_files(*workload, spec),
        Ready::Blocks(workload) => start_files(*workload, spec),
        Ready::Mix(workload) => start_files(*workload, spec),
    };
    started.map_err(StartError::Trial)
}
