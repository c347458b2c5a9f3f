//! Sessions against scripted servers: no socket, no time.

mod iterations;
mod mailboxes;
mod outbound;
mod parts;
mod sharing;

use super::session::{MailSession, Work};
use super::{MailWorkload, pop3};
use bakeoff_engine::{
    Actions, ErrorClass, Event, Identity, Outcome, Progress, Session, Stage, Stamps, Timeline, TrialSpec, Workload,
};
use serde_json::{Value, json};

fn workload(change: impl FnOnce(&mut Value)) -> MailWorkload {
    workload_under(&json!({"clients": 2}), change)
}

fn workload_under(load: &Value, change: impl FnOnce(&mut Value)) -> MailWorkload {
    let mailboxes: Vec<_> = (0..4)
        .map(|at| json!({"address": format!("u{at}@x.test"), "user": format!("u{at}"), "password": format!("p{at}")}))
        .collect();
    let mut spec = json!({
        "kind": "mail", "smtp": {"addresses": ["127.0.0.1:25"]}, "pop3": {"addresses": ["127.0.0.1:110"]},
        "mailboxes": mailboxes, "mailboxes_per_client": 2, "sizes": [[600, 1.0]], "run": "00112233445566aa",
    });
    change(&mut spec);
    let trial = json!({"workload": spec, "load": load, "length_s": 5, "seed": 3}).to_string();
    MailWorkload::new(&TrialSpec::from_json(&trial).unwrap()).unwrap()
}

fn session(workload: &MailWorkload, stage: Stage) -> MailSession {
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 3 });
    session.enter(stage, &Timeline::new(0, 0, 5_000_000_000, 0));
    session
}

/// Drives a session; keeps virtual time so that every step takes a millisecond.
struct Drive {
    session: MailSession,
    names: Vec<String>,
    now_ns: u64,
    steps: Vec<String>,
}

impl Drive {
    fn new(workload: &MailWorkload, stage: Stage) -> Self {
        Self { session: session(workload, stage), names: workload.operations(), now_ns: 1, steps: Vec::new() }
    }

    fn begin(&mut self) -> Actions {
        let mut actions = Actions::NONE;
        self.session.begin(&mut actions);
        actions
    }

    fn event(&mut self, event: Event<'_>) -> (Option<Outcome>, Actions) {
        let mut actions = Actions::NONE;
        let progress = self.session.advance(event, &mut actions);
        let Progress::Done(outcome) = progress else { return (None, actions) };
        self.finish(&outcome);
        (Some(outcome), actions)
    }

    fn finish(&mut self, outcome: &Outcome) {
        let stamps = Stamps { start_ns: self.now_ns, end_ns: self.now_ns + 1_000_000, ..Stamps::default() };
        self.now_ns += 1_000_000;
        self.session.finished(outcome, &stamps);
        let mark = outcome.error.map_or(String::new(), |error| format!("!{}", error.name()));
        self.steps.push(format!("{}{mark}", self.names[usize::from(outcome.operation)]));
    }

    fn fail(&mut self, error: ErrorClass) {
        let outcome = self.session.fail(error);
        self.finish(&outcome);
    }

    /// Whether it is reading and at this step.
    fn reads(&self, step: pop3::Step) -> bool {
        self.session.work == Work::Read && self.session.pop3.step == Some(step)
    }

    /// One step: begins it and answers with `reply` (after the connect for a banner).
    fn step(&mut self, reply: &str) -> String {
        let actions = self.begin();
        let sent = String::from_utf8_lossy(self.session.outgoing()).into_owned();
        if actions.connect.is_some() {
            assert_eq!(self.event(Event::Connected).0, None);
        }
        let (outcome, _) = self.event(Event::Received(reply.as_bytes()));
        assert!(outcome.is_some(), "`{reply}` does not end {:?}", self.session);
        sent
    }
}

fn sending(spec: &mut Value) {
    spec["pop3"] = Value::Null;
}
