//! What a thread is and met with, whichever protocol it speaks: where the trial is, who was not served and why.

use crate::mail::figures::refusals::{Refusal, Refusals};
use crate::mail::figures::response::Response;
use crate::mail::plan::Plan;
use bakeoff_engine::{Identity, Rng, Stage};
use std::sync::Arc;

/// One thread of a simulated mail client.
#[derive(Debug)]
pub(crate) struct Thread {
    pub plan: Arc<Plan>,
    pub identity: Identity,
    pub rng: Rng,
    pub stage: Stage,
    pub preparing: Refusals,
    pub measured: Refusals,
    pub response: Response,
    /// Why this client cannot take part.
    pub fatal: Option<String>,
    /// The next session is not to begin at once.
    pub waits: bool,
}

impl Thread {
    pub fn new(plan: Arc<Plan>, identity: Identity, rng: Rng) -> Self {
        Self {
            plan,
            identity,
            rng,
            stage: Stage::Measure,
            preparing: Refusals::default(),
            measured: Refusals::default(),
            response: Response::default(),
            fatal: None,
            waits: false,
        }
    }

    /// Those of the stage.
    pub fn refusals(&mut self) -> &mut Refusals {
        if self.stage == Stage::Prepare { &mut self.preparing } else { &mut self.measured }
    }

    /// A session was not served. While preparing, too many of these in a row are fatal.
    pub fn refused(&mut self, refusal: Refusal, text: &str) {
        let refusals = self.refusals();
        refusals.count(refusal);
        if !text.is_empty() {
            refusals.sample(text);
        }
        if self.stage != Stage::Prepare {
            return;
        }
        let tries = self.plan.refused(self.identity.client);
        if tries > self.plan.retries {
            let answer = if text.trim().is_empty() { String::new() } else { format!(": {}", text.trim()) };
            let name = refusal.name();
            self.give_up(&format!("could not open a POP3 session in {tries} tries ({name}{answer})"));
        }
    }

    /// This client cannot take part.
    pub fn give_up(&mut self, reason: &str) {
        self.fatal.get_or_insert_with(|| format!("client {}: {reason}", self.identity.client));
    }
}
