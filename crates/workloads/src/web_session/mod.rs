//! Sessions of several requests to a web server, with values that are taken from replies.

mod jar;
mod plan;
mod pointer;
mod session;
mod spec;
mod take;
mod template;
#[cfg(test)]
mod tests;

use crate::web::WebWorkload;
use bakeoff_engine::{Endpoint, Identity, SpecError, Stages, TrialSpec, Workload};
use plan::SessionPlan;
use serde_json::Value;
pub use session::ClientSession;
use session::{ReplyCopy, SessionFault};
pub use spec::{BodySpec, CookieScope, ExtractorSpec, SessionSpec, StepSpec, TakeSpec};
use std::sync::Arc;

/// What the only operation is called, and what stands before the names of its steps.
const OPERATION: &str = "session";

/// The workload `web-session`.
#[derive(Debug)]
pub struct SessionWorkload {
    web: WebWorkload,
    plan: Arc<SessionPlan>,
}

impl SessionWorkload {
    /// Reads the workload part of a trial specification.
    pub fn from_spec(trial: &TrialSpec) -> Result<Self, SpecError> {
        Self::new(&serde::Deserialize::deserialize(&trial.workload)?, trial.secret)
    }

    /// Checks the specification and prepares its steps; bodies to hash are drawn by the `secret` of the trial.
    pub fn new(spec: &SessionSpec, secret: u64) -> Result<Self, SpecError> {
        if !spec.web.http.starts_with("1.") {
            let http = &spec.web.http;
            return Err(format!("sessions are made over HTTP/1: http must be 1.0 or 1.1, not `{http}`").into());
        }
        Ok(Self { web: WebWorkload::new(&spec.web, 1, secret)?, plan: Arc::new(SessionPlan::new(spec)?) })
    }
}

impl Workload for SessionWorkload {
    type Session = ClientSession;

    const DIVIDES: bool = true;

    fn operations(&self) -> Vec<String> {
        vec![OPERATION.to_owned()]
    }

    fn steps(&self) -> Vec<String> {
        self.plan.steps.iter().map(|step| format!("{OPERATION}/{}", step.name)).collect()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        self.web.endpoints()
    }

    fn stages(&self) -> Stages {
        self.web.stages()
    }

    fn session(&self, identity: Identity) -> ClientSession {
        let web = self.web.read_by(identity, ReplyCopy::default());
        ClientSession::new(Arc::clone(&self.plan), web, identity.client)
    }

    fn figures<'a>(&self, _: impl Iterator<Item = &'a ClientSession>) -> Value {
        let mut figures = self.web.figures(std::iter::empty());
        let (plan, said) = (&self.plan, |number| SessionFault::said(number, &self.plan.values));
        figures["failed"] = plan.failures.table(|step| &plan.steps[step].name, said);
        figures
    }
}
