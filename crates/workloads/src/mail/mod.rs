//! Mail: sending by SMTP or LMTP and reading by POP3, step by step, with a ledger of every message.

mod figures;
mod ledger;
mod operation;
mod plan;
mod pop3;
mod probe;
mod session;
mod smtp;
mod spec;
#[cfg(test)]
mod tests;

use bakeoff_engine::{Endpoint, Identity, Rng, SpecError, Stages, TrialSpec, Workload};
use operation::Operation;
use plan::Plan;
pub use probe::{MailFault, MailProbe, Next};
use serde_json::Value;
pub use session::MailSession;
pub use spec::{Bodies, Initialise, Login, MailSpec, MailboxSpec, Pop3Spec, Protocol, Security, SmtpSpec};
use std::sync::Arc;

/// The workload `mail`.
#[derive(Debug)]
pub struct MailWorkload {
    plan: Arc<Plan>,
}

impl MailWorkload {
    /// Checks a trial's specification and makes it ready.
    pub fn new(trial: &TrialSpec) -> Result<Self, SpecError> {
        Ok(Self { plan: Arc::new(Plan::new(trial)?) })
    }
}

impl Workload for MailWorkload {
    type Session = MailSession;

    const DIVIDES: bool = true;

    fn operations(&self) -> Vec<String> {
        let name = |name: &&str| match (self.plan.is_lmtp(), *name) {
            (true, "smtp-ehlo") => "lmtp-lhlo".to_owned(),
            (true, name) => name.replace("smtp-", "lmtp-"),
            (false, name) => name.to_owned(),
        };
        Operation::NAMES.iter().map(name).collect()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        self.plan.endpoints()
    }

    fn stages(&self) -> Stages {
        self.plan.stages
    }

    /// Each has mailboxes of its own to read.
    fn is_round_robin(&self) -> bool {
        true
    }

    fn split(&self) -> Vec<u16> {
        Operation::SPLIT.iter().map(|operation| *operation as u16).collect()
    }

    fn session(&self, identity: Identity) -> MailSession {
        let rng = Rng::for_thread(identity.seed, identity.client, identity.vu);
        let player = u64::from(identity.client) * u64::from(self.plan.virtual_users) + u64::from(identity.vu);
        let players = u64::from(self.plan.clients) * u64::from(self.plan.virtual_users);
        MailSession::new(Arc::clone(&self.plan), identity, rng, player, players)
    }

    fn figures<'a>(&self, sessions: impl Iterator<Item = &'a MailSession>) -> Value {
        figures::figures(&self.plan, &sessions.collect::<Vec<_>>())
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        figures::merged(&self.plan, parts)
    }
}
