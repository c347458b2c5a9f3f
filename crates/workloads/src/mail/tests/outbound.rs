//! Messages on their way out.

use super::{Drive, sending, workload};
use crate::mail::ledger::Sent;
use crate::mail::session::Work;
use bakeoff_engine::{ErrorClass, Event, Session as _, Stage};
use serde_json::{Value, json};

#[test]
fn a_message_is_sent_step_by_step() {
    let mut drive = Drive::new(&workload(sending), Stage::Measure);
    let replies = [
        "220 mx ready\r\n",
        "250-mx\r\n250-SIZE 100000\r\n250-PIPELINING\r\n250 HELP\r\n",
        "250 ok\r\n",
        "250 ok\r\n",
        "354 go\r\n",
        "250 queued as 1\r\n",
        "221 bye\r\n",
    ];
    let sent: Vec<_> = replies.iter().map(|reply| drive.step(reply)).collect();
    assert_eq!(sent[1], "EHLO bakeoff.invalid\r\n");
    assert_eq!(sent[2], "MAIL FROM:<u0@x.test> SIZE=600\r\n");
    assert!(sent[3].starts_with("RCPT TO:<u") && sent[4] == "DATA\r\n" && sent[6] == "QUIT\r\n");
    assert!(sent[5].ends_with("\r\n.\r\n") && sent[5].contains("X-Bake-Id: 00112233445566aa.0.0.0\r\n"));
    let names = ["smtp-connect", "smtp-ehlo", "smtp-mail", "smtp-rcpt", "smtp-data", "smtp-body", "smtp-quit"];
    assert_eq!(drive.steps, names);
    assert_eq!(drive.session.sender.entries[0].outcome, Sent::Accepted);
    assert!(drive.session.sender.entries[0].at_ns > 1 && drive.session.sender.accepted == 1);
}

#[test]
fn commands_are_pipelined_only_when_wanted_and_offered() {
    let wanted = |spec: &mut Value| {
        sending(spec);
        spec["smtp"]["pipelining"] = json!(true);
    };
    let mut drive = Drive::new(&workload(wanted), Stage::Measure);
    drive.step("220 mx\r\n");
    drive.step("250-mx\r\n250 PIPELINING\r\n");
    let sent = drive.step("250 ok\r\n250 ok\r\n354 go\r\n");
    assert_eq!(sent.lines().count(), 3, "{sent}");
    drive.step("250 ok\r\n");
    assert_eq!(drive.session.sender.accepted, 1);
    let mut drive = Drive::new(&workload(wanted), Stage::Measure);
    drive.step("220 mx\r\n");
    drive.step("250 mx\r\n");
    assert_eq!(drive.step("250 ok\r\n"), "MAIL FROM:<u0@x.test>\r\n");
}

#[test]
fn refusing_replies_are_outcomes_of_the_message() {
    for (replies, outcome) in [
        (&["451 later\r\n"][..], Sent::Temporary),
        (&["250 ok\r\n", "550 no such user\r\n"], Sent::Permanent),
        (&["250 ok\r\n", "250 ok\r\n", "452 full\r\n"], Sent::Temporary),
        (&["250 ok\r\n", "250 ok\r\n", "354 go\r\n", "554 no\r\n"], Sent::Permanent),
        (&["250 ok\r\n", "421 closing\r\n"], Sent::Temporary),
    ] {
        let mut drive = Drive::new(&workload(sending), Stage::Measure);
        drive.step("220 mx\r\n");
        drive.step("250 mx\r\n");
        replies.iter().for_each(|reply| drop(drive.step(reply)));
        assert_eq!(drive.session.sender.entries.len(), 1);
        assert_eq!(drive.session.sender.entries[0].outcome, outcome, "{replies:?}");
        let mark = if outcome == Sent::Temporary { "!put_off" } else { "!wrong_status" };
        assert!(drive.steps.last().unwrap().ends_with(mark), "{:?}", drive.steps);
    }
}

#[test]
fn a_connection_lost_after_the_final_dot_leaves_the_message_in_doubt() {
    for (steps, outcome) in [(5, Sent::Unknown), (4, Sent::NotSent)] {
        let mut drive = Drive::new(&workload(sending), Stage::Measure);
        let replies = ["220 mx\r\n", "250 mx\r\n", "250 ok\r\n", "250 ok\r\n", "354 go\r\n"];
        replies[..steps].iter().for_each(|reply| drop(drive.step(reply)));
        drive.begin();
        let (outcome_of_step, actions) = drive.event(Event::Closed);
        assert_eq!(outcome_of_step.unwrap().error, Some(ErrorClass::ClosedEarly));
        assert!(actions.close);
        assert_eq!(drive.session.sender.entries[0].outcome, outcome);
        assert_eq!(drive.session.work, Work::Idle);
    }
    // The stage's end before the body was begun is no doubt.
    let mut drive = Drive::new(&workload(sending), Stage::Measure);
    ["220 mx\r\n", "250 mx\r\n", "250 ok\r\n", "250 ok\r\n", "354 go\r\n"].iter().for_each(|r| drop(drive.step(r)));
    drive.session.leave(Stage::Measure);
    assert_eq!(drive.session.sender.entries[0].outcome, Sent::NotSent);
}

#[test]
fn lmtp_has_one_reply_for_each_recipient() {
    let lmtp = |spec: &mut Value| {
        sending(spec);
        spec["smtp"]["protocol"] = json!("lmtp");
        spec["recipients"] = json!([[3, 1.0]]);
    };
    let mut drive = Drive::new(&workload(lmtp), Stage::Measure);
    drive.step("220 lmtp\r\n");
    assert_eq!(drive.step("250 lmtp\r\n"), "LHLO bakeoff.invalid\r\n");
    for reply in ["250 ok\r\n", "250 ok\r\n", "550 no\r\n", "250 ok\r\n", "354 go\r\n"] {
        drive.step(reply);
    }
    drive.begin();
    assert_eq!(drive.event(Event::Received(b"250 one\r\n")).0, None);
    assert!(drive.event(Event::Received(b"452 two\r\n")).0.is_some());
    let outcomes: Vec<_> = drive.session.sender.entries.iter().map(|copy| copy.outcome).collect();
    assert_eq!(outcomes, [Sent::Accepted, Sent::Permanent, Sent::Temporary]);
    assert_eq!(drive.steps[1], "lmtp-lhlo");
    assert_eq!(drive.session.sender.accepted, 1);
}

#[test]
fn clear_text_behind_starttls_is_refused() {
    let tls = |spec: &mut Value| {
        sending(spec);
        spec["smtp"]["security"] = json!("starttls");
    };
    let mut drive = Drive::new(&workload(tls), Stage::Measure);
    drive.step("220 mx\r\n");
    drive.step("250-mx\r\n250 STARTTLS\r\n");
    drive.begin();
    let (outcome, actions) = drive.event(Event::Received(b"220 go\r\n250 injected\r\n"));
    assert_eq!(outcome.unwrap().error, Some(ErrorClass::Protocol));
    assert!(actions.close);
    let mut drive = Drive::new(&workload(tls), Stage::Measure);
    drive.step("220 mx\r\n");
    drive.step("250-mx\r\n250 STARTTLS\r\n");
    drive.begin();
    let (outcome, actions) = drive.event(Event::Received(b"220 go\r\n"));
    assert!(outcome.is_none() && actions.secure);
    assert!(drive.event(Event::Connected).0.is_some());
    assert_eq!(drive.step("250 mx\r\n"), "EHLO bakeoff.invalid\r\n");
}
