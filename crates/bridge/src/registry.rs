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

/// Reads a trial specification and starts it.
pub(crate) fn start_trial(spec_json: &str) -> Result<TrialHandle, StartError> {
    let spec = TrialSpec::from_json(spec_json).map_err(StartError::Spec)?;
    let kind = spec.workload.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned();
    let started = match kind.as_str() {
        "mail" => start(MailWorkload::new(&spec).map_err(StartError::Spec)?, spec),
        "null" => start(NullWorkload, spec),
        "web" => start(WebWorkload::from_json(&spec.workload).map_err(StartError::Spec)?, spec),
        "app" => start(AppWorkload::from_json(&spec.workload).map_err(StartError::Spec)?, spec),
        "file-matrix" => start_files(MatrixWorkload::from_spec(&spec).map_err(StartError::Spec)?, spec),
        "file-blocks" => start_files(BlocksWorkload::from_spec(&spec).map_err(StartError::Spec)?, spec),
        "file-mix" => start_files(MixWorkload::from_spec(&spec, read_bounded).map_err(StartError::Spec)?, spec),
        other => {
            let known = KINDS.join(", ");
            let text = format!("this engine has no workload `{other}`; it has: {known}");
            return Err(StartError::Spec(SpecError::Range(text)));
        }
    };
    started.map_err(StartError::Trial)
}
