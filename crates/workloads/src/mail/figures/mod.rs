//! The figures of a trial, from what its sessions kept.

pub(super) mod admission;
pub(super) mod done;
mod flow;
mod part;
pub(super) mod refusals;
pub(super) mod response;

use super::ledger::{Ledger, Names, Rules, SeenCopy, SentCopy};
use super::operation::{Operation, SERVICES, Service};
use super::plan::Plan;
use super::session::MailSession;
use admission::{Admissions, Occupancy};
use bakeoff_engine::{Nanos, Timeline};
use flow::flow_json;
use part::{Part, Sums, part_json};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Those of this machine: what they come to, or what has to be joined with those of others.
pub(super) fn figures(plan: &Plan, sessions: &[&MailSession]) -> Value {
    if !plan.is_whole {
        return part_json(&plan.run, sessions);
    }
    let timeline = sessions.first().map_or(Timeline::new(0, 0, 0, 0), |session| session.timeline);
    let sent = || sessions.iter().flat_map(|session| &session.sender.entries);
    let seen = || sessions.iter().flat_map(|session| &session.reader.entries);
    let visits = sessions.iter().map(|session| &session.visits);
    tell(plan, &plan.run, &Sums::of(sessions), timeline, sent, seen, &visits)
}

/// Those of a trial that several machines divided.
pub(super) fn merged(plan: &Plan, parts: &[&Value]) -> Result<Value, String> {
    let whole = Part::joined(parts)?;
    let all = plan.mailboxes.len() as u32;
    let boxes = whole.sent.iter().map(|copy| copy.mailbox).chain(whole.seen.iter().map(|copy| copy.mailbox));
    let told = whole.sums.foreign.keys().chain(whole.sums.uninspected.keys()).copied();
    let told = told.chain(whole.sums.messages.mailboxes()).chain(whole.sums.mailbox_visits.mailboxes());
    let senders = whole.sent.iter().any(|copy| u64::from(copy.id.parts().0) >= u64::from(plan.clients));
    if senders || boxes.chain(told).any(|mailbox| mailbox >= all) {
        return Err("a machine tells of a mailbox or a client that the trial does not have".to_owned());
    }
    let (sent, seen) = (|| whole.sent.iter(), || whole.seen.iter());
    Ok(tell(plan, &whole.run, &whole.sums, whole.timeline, sent, seen, &whole.visits.iter()))
}

/// `run` is the mark of the messages.
fn tell<'a, Sent, Seen>(
    plan: &Plan,
    run: &str,
    sums: &Sums,
    timeline: Timeline,
    sent: impl Fn() -> Sent,
    seen: impl Fn() -> Seen,
    visits: &(impl Iterator<Item = &'a Admissions> + Clone),
) -> Value
where
    Sent: Iterator<Item = &'a SentCopy>,
    Seen: Iterator<Item = &'a SeenCopy>,
{
    let rules = Rules { timeline, late_ns: plan.late_ns, unchecked: sums.uninspected.keys().copied().collect() };
    let ledger = plan.has_ledger().then(|| Ledger::join(rules, sums.accepted, sent(), seen()));
    let mut figures = json!({
        "share": share_json(plan, sums),
        "init": init_json(plan, sums),
        "response": sums.response.json(),
        "refusals": {"init": sums.preparing.json(), "measured": sums.measured.json()},
        "done": {
            "messages": sums.messages.json(|at| address(plan, at)),
            "visits": sums.mailbox_visits.json(|at| address(plan, at)),
        },
        "polls": {"all": sums.polls, "empty": sums.empty_polls},
        "sessions": services_json(&sums.times_ns, &timeline, visits),
        "flow": flow_json(&timeline, ledger.as_ref(), sent(), seen()),
    });
    if let Some(ledger) = &ledger {
        let names = Names { run, mailbox: &|at| address(plan, at), sender: &|client| plan.return_path(client) };
        figures["ledger"] = ledger.json(&names);
        figures["ledger"]["unchecked_mailboxes"] = json!(unchecked(sums, ledger));
        figures["visible"] = ledger.visible_json();
    }
    figures
}

fn address(plan: &Plan, mailbox: u32) -> &str {
    &plan.mailboxes[mailbox as usize].address
}

/// How the threads divided their time.
fn share_json(plan: &Plan, sums: &Sums) -> Value {
    let total_ns = sums.send_ns + sums.read_ns;
    let sending = if total_ns == 0 { 0.0 } else { sums.send_ns as f64 / total_ns as f64 };
    json!({
        "send_s": sums.send_ns as f64 / 1e9, "read_s": sums.read_ns as f64 / 1e9, "sending": sending,
        "planned": plan.sending_share,
    })
}

/// What the mailboxes held before the trial.
fn init_json(plan: &Plan, sums: &Sums) -> Value {
    let foreign: Map<_, _> =
        sums.foreign.iter().map(|(mailbox, count)| (address(plan, *mailbox).to_owned(), json!(count))).collect();
    json!({"mailboxes": plan.mailboxes.len(), "removed": sums.removed, "ours": sums.ours, "foreign": foreign})
}

/// How many mailboxes that still had something to show could not be looked at, for which reason.
fn unchecked<'a>(sums: &'a Sums, ledger: &Ledger) -> BTreeMap<&'a str, u64> {
    let mut reasons: BTreeMap<_, u64> = BTreeMap::new();
    for (mailbox, reason) in &sums.uninspected {
        if ledger.waited_for.contains(mailbox) {
            *reasons.entry(reason.as_str()).or_default() += 1;
        }
    }
    reasons
}

/// Sessions inside each service at most and on average, and how many waited in front of it on average.
fn services_json<'a>(
    times_ns: &[Nanos],
    timeline: &Timeline,
    visits: &(impl Iterator<Item = &'a Admissions> + Clone),
) -> Value {
    let length_ns = timeline.end_ns - timeline.start_ns;
    let spent = |of: &dyn Fn(Operation) -> bool| -> f64 {
        let steps = Operation::all().filter(|step| of(*step));
        let time_ns = |step: Operation| times_ns.get(step as usize).copied().unwrap_or(0) as f64;
        steps.map(time_ns).sum::<f64>() / length_ns.max(1) as f64
    };
    let one = |(at, service): (usize, &Service)| {
        let inside = |step: Operation| step.sends() == service.sends && !service.before.contains(&step);
        let occupancy = Occupancy::new(at, timeline.end_ns, visits.clone());
        let peak = occupancy.peak();
        let value = json!({
            "peak": peak,
            "at_peak": occupancy.at_peak(peak),
            "mean": spent(&inside),
            "waiting": spent(&|step| service.waits.contains(&step)),
        });
        (service.name.to_owned(), value)
    };
    Value::Object(SERVICES.iter().enumerate().map(one).collect())
}
