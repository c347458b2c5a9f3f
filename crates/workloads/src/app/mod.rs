//! Clients of the application server: one request outstanding each, every reply checked.

mod answers;
mod greeting;
mod plan;
mod read_back;
mod session;
mod shadow;
mod spec;
mod tally;
mod watch;

use bakeoff_app_protocol::{Figures, Hello, known};
use bakeoff_engine::{Endpoint, Identity, Rng, SpecError, Stages, TrialSpec, Workload};
pub use greeting::{Greeting, GreetingFault};
use plan::{AppPlan, STEPS};
use serde_json::{Value, json};
pub use session::AppSession;
pub use spec::{AppSpec, ClassSpec};
use std::sync::Arc;
use tally::Tally;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

/// The workload `app`.
#[derive(Debug, Clone)]
pub struct AppWorkload {
    plan: Arc<AppPlan>,
    endpoint: Endpoint,
    is_whole: bool,
    /// Longest time for looking again at what was written, s.
    look_again_s: f64,
}

/// Beside the length of the trial, which was enough for the writing.
const LOOK_AGAIN_S: f64 = 15.0;

impl AppWorkload {
    /// Reads the workload part of a trial's specification.
    pub fn from_spec(trial: &TrialSpec) -> Result<Self, SpecError> {
        let spec: AppSpec = serde::Deserialize::deserialize(&trial.workload)?;
        let look_again_s = LOOK_AGAIN_S + trial.length_s;
        let workload = Self::with(&spec, trial.secret, u64::from(trial.sessions()))?;
        Ok(Self { is_whole: trial.is_whole(), look_again_s, ..workload })
    }

    /// Checks the specification and prepares what the sessions share.
    pub fn new(spec: &AppSpec) -> Result<Self, SpecError> {
        Self::with(spec, 0, 1)
    }

    fn with(spec: &AppSpec, secret: u64, sessions: u64) -> Result<Self, SpecError> {
        let plan = Arc::new(AppPlan::new(spec, secret, sessions)?);
        let endpoint = Endpoint {
            addresses: spec.addresses.clone(),
            unix: spec.unix.clone(),
            source_addresses: spec.source_addresses.clone(),
            ..Endpoint::default()
        };
        Ok(Self { plan, endpoint, is_whole: true, look_again_s: LOOK_AGAIN_S })
    }
}

impl Workload for AppWorkload {
    type Session = AppSession;

    const DIVIDES: bool = true;

    fn operations(&self) -> Vec<String> {
        self.plan.kinds.iter().map(|kind| kind.name().to_owned()).collect()
    }

    fn steps(&self) -> Vec<String> {
        let of_all = STEPS.iter().map(|step| (*step).to_owned());
        let of_each = self.plan.kinds.iter().flat_map(|kind| STEPS.map(|step| format!("{}/{step}", kind.name())));
        of_all.chain(of_each).collect()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        vec![self.endpoint.clone()]
    }

    /// What was written is read again, and answers are worked out again, when nothing is measured any more.
    fn stages(&self) -> Stages {
        Stages { drain_s: self.plan.looks_again.then_some(self.look_again_s), ..Stages::default() }
    }

    fn session(&self, identity: Identity) -> AppSession {
        let Identity { client, vu, seed } = identity;
        let drawn_by = |seed: u64| Rng::for_thread(seed, client, vu);
        // What a server is told of one stream says nothing of the other.
        let [seeds, samples] = [0, 1].map(|stream| drawn_by(self.plan.secret ^ (stream << 63) ^ stream));
        AppSession::new(Arc::clone(&self.plan), drawn_by(seed), seeds, samples)
    }

    /// What the server says of itself, and what the checks showed. One machine of several tells it as it was noted: what
    /// the server used is known from the first look that any of them was told to the last.
    fn figures<'a>(&self, sessions: impl Iterator<Item = &'a AppSession>) -> Value {
        let mut total = Tally::default();
        sessions.for_each(|session| total.add(session.tally()));
        if self.is_whole { told(&total, self.plan.secret) } else { total.json() }
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        let mut total = Tally::default();
        for part in parts {
            total.add(&Tally::from_json(part).ok_or("a machine does not tell what it was told by the server")?);
        }
        Ok(told(&total, self.plan.secret))
    }
}

fn told(total: &Tally, secret: u64) -> Value {
    let refusals = total.refusals.iter().map(|(name, &count)| (name.to_string(), json!(count)));
    json!({
        "server": total.server.map(|hello| server_json(&hello, total.used.used())),
        "verified": {
            "records": total.records_read, "damaged": total.damaged, "lost": total.lost,
            "wrong_results": total.wrong_results,
        },
        "read_back": total.read_back.map(|found| json!({
            "writes": found.writes, "records": found.records, "asked": found.asked, "read": found.read,
            "damaged": found.damaged, "lost": found.lost,
        })),
        "worked_again": total.worked.map(|worked| json!({
            "answers": worked.answers, "checked": worked.checked, "wrong": worked.wrong,
        })),
        "times": {
            "told": total.times.told, "too_long": total.times.too_long, "too_short": total.times.too_short,
        },
        // Samples and seeds were drawn by it: told when the trial is over.
        "secret": format!("{secret:016x}"),
        "refusals": refusals.collect::<serde_json::Map<_, _>>(),
    })
}

/// The server's settings, and what it used between its first and its last look inside the window.
fn server_json(hello: &Hello, used: Figures) -> Value {
    let share = used.cpu_ns as f64 / (used.uptime_ns as f64 * f64::from(hello.processors.max(1)));
    json!({
        "threads": hello.threads, "processors": hello.processors, "segment_bytes": hello.segment_bytes,
        "direct": hello.direct, "fsync": hello.fsync, "service_ns": hello.service_ns,
        "watched_s": used.uptime_ns as f64 / 1e9, "cpu_s": used.cpu_ns as f64 / 1e9,
        "cpu_share": if used.uptime_ns == 0 { None } else { Some(share) },
        "disk_read_bytes": known(used.disk_read_bytes), "disk_written_bytes": known(used.disk_written_bytes),
    })
}
