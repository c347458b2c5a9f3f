//! The figures of a trial, from what its sessions kept.

use super::doors::Crowd;
use super::flow::flow_json;
use super::ledger::{Ledger, Rules};
use super::operation::{DOORS, Door, Operation};
use super::plan::Plan;
use super::refusals::Refusals;
use super::response::Response;
use super::session::MailSession;
use bakeoff_engine::{Nanos, Timeline};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// All of them.
pub(super) fn figures(plan: &Plan, sessions: &[&MailSession]) -> Value {
    let mut figures = json!({
        "share": share_json(plan, sessions),
        "init": init_json(plan, sessions),
        "response": response_json(sessions),
        "refusals": refusals_json(sessions),
        "polls": {
            "all": sessions.iter().map(|session| session.reader.polls).sum::<u64>(),
            "empty": sessions.iter().map(|session| session.reader.empty_polls).sum::<u64>(),
        },
    });
    if let Some(timeline) = sessions.first().map(|session| session.timeline) {
        figures["sessions"] = doors_json(sessions, &timeline);
        let sent = || sessions.iter().flat_map(|session| &session.sender.book);
        let seen = || sessions.iter().flat_map(|session| &session.reader.book);
        let accepted = sessions.iter().map(|session| session.sender.accepted).sum();
        let (unchecked, reasons) = unchecked(sessions);
        let rules = Rules { timeline, late_ns: plan.late_ns, unchecked };
        let ledger = plan.keeps_books().then(|| Ledger::join(rules, accepted, sent(), seen()));
        figures["flow"] = flow_json(&timeline, ledger.as_ref(), sent(), seen());
        if let Some(ledger) = &ledger {
            figures["ledger"] = ledger.json(|at| address(plan, at));
            figures["ledger"]["unchecked_mailboxes"] = json!(reasons);
            figures["visible"] = ledger.visible_json();
        }
    }
    figures
}

fn address(plan: &Plan, mailbox: u32) -> &str {
    &plan.mailboxes[mailbox as usize].address
}

/// How the threads divided their time.
fn share_json(plan: &Plan, sessions: &[&MailSession]) -> Value {
    let send_ns: Nanos = sessions.iter().map(|session| session.send_ns).sum();
    let read_ns: Nanos = sessions.iter().map(|session| session.read_ns).sum();
    let total_ns = send_ns + read_ns;
    let sending = if total_ns == 0 { 0.0 } else { send_ns as f64 / total_ns as f64 };
    json!({
        "send_s": send_ns as f64 / 1e9, "read_s": read_ns as f64 / 1e9, "sending": sending,
        "planned": plan.sending_share,
    })
}

/// What the mailboxes held before the trial.
fn init_json(plan: &Plan, sessions: &[&MailSession]) -> Value {
    let foreign = sessions.iter().flat_map(|session| &session.reader.leftovers.foreign);
    let foreign: Map<_, _> =
        foreign.map(|(mailbox, count)| (address(plan, *mailbox).to_owned(), json!(count))).collect();
    json!({
        "mailboxes": plan.mailboxes.len(),
        "removed": sessions.iter().map(|session| session.reader.removed).sum::<u64>(),
        "ours": sessions.iter().map(|session| session.reader.leftovers.ours).sum::<u64>(),
        "foreign": foreign,
    })
}

fn response_json(sessions: &[&MailSession]) -> Value {
    let mut sum = Response::default();
    sessions.iter().for_each(|session| sum.join(&session.thread.response));
    sum.json()
}

fn refusals_json(sessions: &[&MailSession]) -> Value {
    let (mut preparing, mut measured) = (Refusals::default(), Refusals::default());
    for session in sessions {
        preparing.add(&session.thread.preparing);
        measured.add(&session.thread.measured);
    }
    json!({"init": preparing.json(), "measured": measured.json()})
}

/// The mailboxes that could not be looked at, and how many for which reason.
fn unchecked(sessions: &[&MailSession]) -> (HashSet<u32>, BTreeMap<&'static str, u64>) {
    let mut reasons: BTreeMap<_, u64> = BTreeMap::new();
    let mut mailboxes = HashSet::new();
    for (mailbox, reason) in sessions.iter().flat_map(|session| session.reader.unchecked()) {
        mailboxes.insert(mailbox);
        *reasons.entry(reason).or_default() += 1;
    }
    (mailboxes, reasons)
}

/// Sessions inside each door at most and on average, and how many waited in front of it on average.
fn doors_json(sessions: &[&MailSession], timeline: &Timeline) -> Value {
    let length_ns = timeline.end_ns - timeline.start_ns;
    let mut times_ns: [Nanos; Operation::COUNT] = [0; Operation::COUNT];
    for session in sessions {
        times_ns.iter_mut().zip(session.times_ns).for_each(|(sum, more)| *sum += more);
    }
    let spent = |of: &dyn Fn(Operation) -> bool| -> f64 {
        let steps = Operation::all().filter(|step| of(*step));
        steps.map(|step| times_ns[step as usize] as f64).sum::<f64>() / length_ns.max(1) as f64
    };
    let one = |(at, door): (usize, &Door)| {
        let inside = |step: Operation| step.sends() == door.sends && !door.before.contains(&step);
        let crowd = Crowd::new(at, timeline.end_ns, sessions.iter().map(|session| &session.visits));
        let peak = crowd.peak();
        let value = json!({
            "peak": peak,
            "at_peak": crowd.at_peak(peak),
            "mean": spent(&inside),
            "waiting": spent(&|step| door.waits.contains(&step)),
        });
        (door.name.to_owned(), value)
    };
    Value::Object(DOORS.iter().enumerate().map(one).collect())
}
