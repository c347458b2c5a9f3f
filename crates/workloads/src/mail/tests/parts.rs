//! What several machines tell together is what one would have told.

use super::super::ledger::{SeenCopy, Sent, SentCopy};
use super::*;
use crate::mail::ledger::message::Id;
use crate::mail::operation::Operation;

const SECOND: u64 = 1_000_000_000;

fn workload_of(slice: &Value) -> MailWorkload {
    let address = |at| json!({"address": format!("u{at}@x.test"), "user": format!("u{at}"), "password": "p"});
    let spec = json!({
        "kind": "mail", "smtp": {"addresses": ["127.0.0.1:25"]}, "pop3": {"addresses": ["127.0.0.1:110"]},
        "mailboxes": (0..6).map(address).collect::<Vec<_>>(), "mailboxes_per_client": 2, "sizes": [[600, 1.0]],
        "run": "00112233445566aa",
    });
    let trial = json!({"workload": spec, "load": {"clients": 3}, "length_s": 5, "seed": 3, "slice": slice});
    MailWorkload::new(&TrialSpec::from_json(&trial.to_string()).unwrap()).unwrap()
}

/// A client that has sent to all mailboxes and read its own, on a machine whose trial began at `start_ns`.
fn played(workload: &MailWorkload, client: u32, start_ns: u64) -> MailSession {
    let mut session = workload.session(Identity { client, vu: 0, seed: 3 });
    session.enter(Stage::Measure, &Timeline::new(start_ns, SECOND, 5 * SECOND, SECOND));
    let of = |number: u32| (number % 6, u128::from(number) + 77);
    for number in 0..60 {
        let outcome = [Sent::Accepted, Sent::Accepted, Sent::Temporary, Sent::Unknown][number as usize % 4];
        let at_ns = start_ns + u64::from(number) * 70_000_000;
        let (id, (mailbox, hash)) = (Id::new(client, 0, number), of(number));
        session.sender.entries.push(SentCopy { id, mailbox, bytes: 600, outcome, hash, at_ns });
        session.sender.accepted += u64::from(outcome == Sent::Accepted);
    }
    for sender in 0..3 {
        for number in (0..60).filter(|number| number % 6 / 2 == client && number % 7 != 0) {
            let (mailbox, hash) = of(number);
            let hit_ns = start_ns + u64::from(number) * 70_000_000 + 30_000_000;
            let damaged = number % 11 == 0;
            session.reader.entries.push(SeenCopy {
                id: (number % 13 != 0).then(|| Id::new(sender, 0, number)),
                mailbox,
                uid: u64::from(number) << 40 | u64::from(sender),
                hash: hash + u128::from(damaged),
                missed_ns: if number % 3 == 0 { 0 } else { hit_ns - 20_000_000 },
                hit_ns,
                read_ns: hit_ns + 5_000_000,
                resurrected: number % 17 == 0,
                bounce_of: (number == 26).then(|| Id::new(sender, 0, 2)),
                stale: number == 39,
                kept: damaged.then(|| b"begin".as_slice().into()),
            });
        }
    }
    for visit in 0..9 {
        let stamp = |from_ms: u64, to_ms: u64| Stamps {
            start_ns: start_ns + (visit * 400 + from_ms) * 1_000_000,
            end_ns: start_ns + (visit * 400 + to_ms) * 1_000_000,
            ..Stamps::default()
        };
        session.visits.add(Operation::SmtpConnect, true, false, &stamp(u64::from(client), 40));
        session.visits.add(Operation::SmtpQuit, true, true, &stamp(300, 310));
    }
    let (timeline, end_ns) = (session.timeline, start_ns + 2 * SECOND);
    for copy in &session.sender.entries[..8] {
        let taken = copy.outcome == Sent::Accepted;
        session.messages.sent(&timeline, end_ns, taken, client, std::slice::from_ref(copy));
    }
    session.mailbox_visits.step(end_ns - 5, client == 1);
    session.mailbox_visits.visited(&timeline, end_ns, client, 2 * client);
    session.reader.polls = 10 + u64::from(client);
    session.reader.leftovers.foreign.push((client, 3));
    session.send_ns = 123 * SECOND;
    session.times_ns[0] = SECOND;
    session
}

#[test]
fn books_of_several_machines_give_the_figures_of_one() {
    let whole = workload_of(&json!({"index": 0, "of": 1}));
    let sessions: Vec<_> = (0..3).map(|client| played(&whole, client, 0)).collect();
    let expected = whole.figures(sessions.iter());
    let counts = &expected["ledger"]["counts"];
    for class in ["delivered", "lost", "corrupt", "late", "bounced", "stale", "foreign", "unknown_seen", "ghost"] {
        assert!(class == "late" || counts[class].as_u64() > Some(0), "{class}: {counts}");
    }
    assert_eq!(expected["ledger"]["balanced"], true, "{}", expected["ledger"]["totals"]);
    let done = &expected["done"];
    // Of numbers 0 to 7 the mailboxes 0 to 5 have 2, 2, 1, 1, 1 and 1; 2, 3, 6 (to 0) and 7 (to 1) were not taken.
    let failing = json!({
        "u0@x.test": {"tried": 6, "failed": 3}, "u1@x.test": {"tried": 6, "failed": 3},
        "u2@x.test": {"tried": 3, "failed": 3}, "u3@x.test": {"tried": 3, "failed": 3},
    });
    assert_eq!(done["messages"]["failing_mailboxes"], failing);
    assert_eq!(done["messages"]["failing_clients"]["2"], json!({"tried": 8, "failed": 4}));
    assert_eq!(done["visits"]["failing_mailboxes"], json!({"u2@x.test": {"tried": 1, "failed": 1}}));
    assert_eq!(done["visits"]["failing_clients"], json!({"1": {"tried": 1, "failed": 1}}));
    for cuts in [vec![0..1, 1..2, 2..3], vec![0..1, 1..3]] {
        let of = cuts.len();
        let parts = cuts.into_iter().enumerate().map(|(index, clients)| {
            let machine = workload_of(&json!({"index": index, "of": of}));
            let start_ns = 7 * SECOND + index as u64 * 900 * SECOND;
            let sessions: Vec<_> = clients.map(|client| played(&machine, client, start_ns)).collect();
            machine.figures(sessions.iter())
        });
        let parts: Vec<_> = parts.collect();
        let merged = whole.merged(&parts.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(merged, expected);
        assert!(whole.merged(&[&parts[0], &Value::Null]).unwrap_err().contains("reports no mail ledger"));
    }
}
