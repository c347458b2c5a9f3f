//! Sessions against scripted servers: no socket, no time.

use super::ledger::Sent;
use super::plan::MailWorkload;
use super::session::{MailSession, Work};
use bakeoff_engine::{
    Actions, ErrorClass, Event, Identity, Outcome, Progress, Rng, Session, Stage, Stamps, Timeline, TrialSpec, Workload,
};
use serde_json::{Value, json};

fn workload(change: impl FnOnce(&mut Value)) -> MailWorkload {
    let mailboxes: Vec<_> = (0..4)
        .map(|at| json!({"address": format!("u{at}@x.test"), "user": format!("u{at}"), "password": format!("p{at}")}))
        .collect();
    let mut spec = json!({
        "kind": "mail", "smtp": {"addresses": ["127.0.0.1:25"]}, "pop3": {"addresses": ["127.0.0.1:110"]},
        "mailboxes": mailboxes, "mailboxes_per_client": 2, "sizes": [[600, 1.0]], "run": "00112233445566aa",
    });
    change(&mut spec);
    let trial = json!({"workload": spec, "load": {"clients": 2}, "length_s": 5, "seed": 3}).to_string();
    MailWorkload::new(&TrialSpec::from_json(&trial).unwrap()).unwrap()
}

fn session(workload: &MailWorkload, stage: Stage) -> MailSession {
    let mut session = workload.session(Identity { client: 0, thread: 0, seed: 3 });
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

    /// One step: begins it and answers with `reply` (after the connect for a banner).
    fn step(&mut self, reply: &str) -> String {
        let actions = self.begin();
        let sent = String::from_utf8_lossy(self.session.outgoing()).into_owned();
        if actions.connect.is_some() {
            assert_eq!(self.event(Event::Connected).0, None);
        }
        let (outcome, _) = self.event(Event::Received(reply.as_bytes()));
        assert!(outcome.is_some(), "`{reply}` does not end {:?}", self.session.work);
        sent
    }
}

fn sending(spec: &mut Value) {
    spec["pop3"] = Value::Null;
}

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
    assert_eq!(drive.session.sender.book[0].outcome, Sent::Accepted);
    assert!(drive.session.sender.book[0].at_ns > 1 && drive.session.sender.accepted == 1);
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
        assert_eq!(drive.session.sender.book.len(), 1);
        assert_eq!(drive.session.sender.book[0].outcome, outcome, "{replies:?}");
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
        assert_eq!(drive.session.sender.book[0].outcome, outcome);
        assert_eq!(drive.session.work, Work::Idle);
    }
    // The stage's end before the body was begun is no doubt.
    let mut drive = Drive::new(&workload(sending), Stage::Measure);
    ["220 mx\r\n", "250 mx\r\n", "250 ok\r\n", "250 ok\r\n", "354 go\r\n"].iter().for_each(|r| drop(drive.step(r)));
    drive.session.leave(Stage::Measure);
    assert_eq!(drive.session.sender.book[0].outcome, Sent::NotSent);
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
    let outcomes: Vec<_> = drive.session.sender.book.iter().map(|copy| copy.outcome).collect();
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

fn refuse(drive: &mut Drive, times: u32) {
    for _ in 0..times {
        let actions = drive.begin();
        assert!(actions.connect.is_some() && !actions.stop);
        drive.fail(ErrorClass::Refused);
    }
}

#[test]
fn a_hundred_more_tries_are_made_while_initialising() {
    let mut drive = Drive::new(&workload(|_| ()), Stage::Prepare);
    refuse(&mut drive, 100);
    assert_eq!(drive.session.fatal(), None);
    for _ in 0..2 {
        drive.step("+OK ready\r\n");
        if drive.session.work == Work::Read(super::read::Step::Capabilities) {
            drive.step("-ERR unknown\r\n");
        }
        ["+OK\r\n", "+OK\r\n", "+OK 0 0\r\n", "+OK\r\n"].iter().for_each(|reply| drop(drive.step(reply)));
    }
    assert!(drive.begin().stop);
    drive.session.leave(Stage::Prepare);
    assert_eq!(drive.session.fatal(), None);
}

#[test]
fn the_hundred_and_first_refusal_is_fatal_for_the_client() {
    let mut drive = Drive::new(&workload(|_| ()), Stage::Prepare);
    refuse(&mut drive, 101);
    assert!(drive.begin().stop);
    let reason = drive.session.fatal().unwrap();
    assert!(reason.starts_with("client 0:") && reason.contains("101 tries (refused)"), "{reason}");
}

#[test]
fn the_threads_of_a_client_share_its_tries() {
    let workload = workload(|spec| spec["shared_mailboxes"] = json!(true));
    let mut one = Drive::new(&workload, Stage::Prepare);
    refuse(&mut one, 60);
    let mut other = Drive::new(&workload, Stage::Prepare);
    refuse(&mut other, 40);
    assert!(one.session.fatal().is_none() && other.session.fatal().is_none());
    refuse(&mut one, 1);
    assert!(one.session.fatal().is_some());
}

/// What another trial left behind is deleted, other people's mail is not.
#[test]
fn only_our_own_mail_is_deleted_before_a_trial() {
    let mut drive = Drive::new(&workload(|_| ()), Stage::Prepare);
    for reply in ["+OK ready\r\n", "+OK\r\nUSER\r\nTOP\r\n.\r\n", "+OK\r\n", "+OK\r\n", "+OK 2 100\r\n"] {
        drive.step(reply);
    }
    let ours = "+OK\r\nX-Bake-Id: ffffffffffffffff.1.2.3\r\n\r\n.\r\n";
    let replies = ["+OK\r\nSubject: dinner\r\n\r\n.\r\n", ours, "+OK\r\n", "+OK\r\n"];
    let sent: Vec<_> = replies.iter().map(|reply| drive.step(reply)).collect();
    assert_eq!(sent, ["TOP 1 60\r\n", "TOP 2 60\r\n", "DELE 2\r\n", "QUIT\r\n"]);
    // Once more, to see that it is gone; by RETR where TOP fails.
    ["+OK ready\r\n", "+OK\r\n", "+OK\r\n", "+OK 1 50\r\n", "-ERR what\r\n"].iter().for_each(|r| drop(drive.step(r)));
    assert_eq!(drive.step("+OK\r\nSubject: dinner\r\n\r\n.\r\n"), "RETR 1\r\n");
    assert_eq!(drive.step("+OK\r\n"), "QUIT\r\n");
    drive.step("+OK ready\r\n");
    assert_eq!(drive.step("+OK\r\n"), "USER u1\r\n");
    assert_eq!((drive.session.reader.removed, drive.session.reader.found.foreign.clone()), (1, vec![(0, 1)]));
}

/// While mail is read, a message of somebody else is read once and stays where it is.
#[test]
fn foreign_mail_that_comes_during_a_trial_is_left_alone() {
    let reading = |spec: &mut Value| spec["sending_share"] = json!(0.0);
    let mut drive = Drive::new(&workload(reading), Stage::Measure);
    let hello = ["+OK ready\r\n", "+OK\r\nUSER\r\nUIDL\r\n.\r\n"];
    hello.iter().for_each(|reply| drop(drive.step(reply)));
    let listing =
        ["+OK\r\n", "+OK\r\n", "+OK 2 100\r\n", "+OK\r\n1 aa\r\n2 bb\r\n.\r\n", "+OK\r\n1 50\r\n2 50\r\n.\r\n"];
    listing.iter().for_each(|reply| drop(drive.step(reply)));
    let ours = "+OK\r\nX-Bake-Id: 00112233445566aa.1.0.3\r\n\r\n.\r\n";
    let replies = ["+OK\r\nSubject: dinner\r\n\r\n.\r\n", ours, "+OK\r\n", "+OK\r\n"];
    let sent: Vec<_> = replies.iter().map(|reply| drive.step(reply)).collect();
    assert_eq!(sent, ["RETR 1\r\n", "RETR 2\r\n", "DELE 2\r\n", "QUIT\r\n"]);
    // The other mailbox, then this one again: nothing to do there.
    ["+OK ready\r\n", "+OK\r\n", "+OK\r\n", "+OK 0 0\r\n", "+OK\r\n"].iter().for_each(|r| drop(drive.step(r)));
    ["+OK ready\r\n", "+OK\r\n", "+OK\r\n", "+OK 1 50\r\n", "+OK\r\n1 aa\r\n.\r\n"]
        .iter()
        .for_each(|r| drop(drive.step(r)));
    drive.step("+OK\r\n1 50\r\n.\r\n");
    assert_eq!(drive.step("+OK\r\n"), "QUIT\r\n");
    assert_eq!(drive.session.reader.empty_polls, 2);
    assert_eq!(drive.session.reader.book.iter().filter(|copy| copy.id.is_none()).count(), 1);
}

#[test]
fn a_drain_that_is_turned_away_checks_nothing() {
    for (server_comes_back, unchecked) in [(false, 1), (true, 0)] {
        let workload = workload(|_| ());
        workload
            .plan_for_tests()
            .books
            .deposit([(0, super::message::Id::new(0, 0, 7))].into_iter(), std::iter::empty());
        let mut drive = Drive::new(&workload, Stage::Measure);
        drive.session.enter(Stage::Drain, &Timeline::new(0, 0, 5_000_000_000, 0));
        drive.begin();
        drive.fail(ErrorClass::Refused);
        for _ in 0..2 {
            while !matches!(drive.session.work, Work::Pause) && drive.begin().connect.is_some() {
                if server_comes_back {
                    drive.event(Event::Connected);
                    drive.event(Event::Received(b"+OK ready\r\n"));
                    if drive.session.work == Work::Read(super::read::Step::Capabilities) {
                        drive.step("-ERR\r\n");
                    }
                    ["+OK\r\n", "+OK\r\n", "+OK 0 0\r\n", "+OK\r\n"].iter().for_each(|r| drop(drive.step(r)));
                } else {
                    drive.fail(ErrorClass::Refused);
                }
            }
            drive.session.work = Work::Idle;
        }
        drive.session.leave(Stage::Drain);
        assert_eq!(drive.session.reader.unchecked().count(), unchecked);
    }
}

#[test]
fn mailboxes_are_emptied_and_seen_empty() {
    let mut drive = Drive::new(&workload(|spec| spec["initialise"] = json!("all")), Stage::Prepare);
    let hello = ["+OK ready\r\n", "+OK\r\nUSER\r\nUIDL\r\n.\r\n"];
    hello.iter().for_each(|reply| drop(drive.step(reply)));
    let login = ["+OK\r\n", "+OK\r\n"];
    login.iter().for_each(|reply| drop(drive.step(reply)));
    let replies = ["+OK 2 100\r\n", "+OK\r\n", "+OK\r\n", "+OK\r\n"];
    let sent: Vec<_> = replies.iter().map(|reply| drive.step(reply)).collect();
    assert_eq!(sent, ["STAT\r\n", "DELE 1\r\n", "DELE 2\r\n", "QUIT\r\n"]);
    // The same mailbox again, to see that it is empty.
    drive.step("+OK ready\r\n");
    assert_eq!(drive.step("+OK\r\n"), "USER u0\r\n");
    ["+OK\r\n", "+OK 0 0\r\n", "+OK\r\n"].iter().for_each(|reply| drop(drive.step(reply)));
    drive.step("+OK ready\r\n");
    assert_eq!(drive.step("+OK\r\n"), "USER u1\r\n");
}

#[test]
fn a_wrong_password_is_fatal_and_a_locked_maildrop_is_not() {
    for (answer, fatal) in [("-ERR [AUTH] no\r\n", true), ("-ERR [IN-USE] locked\r\n", false)] {
        let mut drive = Drive::new(&workload(|_| ()), Stage::Prepare);
        ["+OK\r\n", "-ERR\r\n", "+OK\r\n", answer].iter().for_each(|reply| drop(drive.step(reply)));
        assert_eq!(drive.session.fatal().is_some(), fatal, "{answer}");
    }
}

#[test]
fn the_way_to_log_in_is_the_servers() {
    for (capabilities, first) in
        [("SASL PLAIN\r\nUIDL\r\n", "AUTH PLAIN AHUwAHAw\r\n"), ("USER\r\nSASL PLAIN\r\n", "USER u0\r\n")]
    {
        let mut drive = Drive::new(&workload(|_| ()), Stage::Prepare);
        drive.step("+OK\r\n");
        drive.step(&format!("+OK\r\n{capabilities}.\r\n"));
        assert_eq!(drive.step("+OK\r\n"), first);
    }
}

/// Each step takes a millisecond: the shares of time are those of the plan, within a session.
#[test]
fn a_thread_divides_its_time_as_planned() {
    for planned in [0.1, 0.3, 0.8] {
        let mut drive = Drive::new(&workload(|spec| spec["sending_share"] = json!(planned)), Stage::Measure);
        for _ in 0..5_000 {
            let actions = drive.begin();
            if actions.connect.is_some() {
                drive.event(Event::Connected);
            }
            let reply: &[u8] = match drive.session.work {
                Work::Send(super::send::Step::Connect) => b"220 mx\r\n",
                Work::Send(super::send::Step::Data) => b"354 go\r\n",
                Work::Send(_) => b"250 ok\r\n",
                Work::Read(super::read::Step::Stat) => b"+OK 0 0\r\n",
                Work::Read(super::read::Step::Capabilities) => b"-ERR what\r\n",
                _ => b"+OK\r\n",
            };
            assert!(drive.event(Event::Received(reply)).0.is_some());
        }
        let (send, read) = (drive.session.send_ns as f64, drive.session.read_ns as f64);
        assert!((send / (send + read) - planned).abs() < 0.01, "{send} {read}");
    }
}

/// Whatever a server says, a session neither panics nor loses a copy from its books.
#[test]
fn random_bytes_do_no_harm() {
    let mut rng = Rng::for_thread(20, 0, 0);
    let words: &[&[u8]] = &[
        b"220 x\r\n",
        b"250 ok\r\n",
        b"250-x\r\n",
        b"250 PIPELINING\r\n",
        b"354 go\r\n",
        b"421 bye\r\n",
        b"550 no\r\n",
        b"+OK 3 9\r\n",
        b"+OK\r\n",
        b"-ERR [IN-USE]\r\n",
        b".\r\n",
        b"1 aa\r\n2 bb\r\n3 aa\r\n",
        b"X-Bake-Id: 00112233445566aa.0.0.0\r\n\r\n",
        b"\r\n",
        b"4294967296 x\r\n",
        b"\0\xff",
        b"+",
        b"2",
        b"..",
        b"UIDL\r\n",
        b"235 in\r\n",
        b"221 bye\r\n",
    ];
    for round in 0..3_000_u64 {
        let stage = [Stage::Prepare, Stage::Measure, Stage::Drain][(round % 3) as usize];
        let pipelining = round % 2 == 0;
        let workload = workload(|spec| {
            spec["smtp"]["pipelining"] = json!(pipelining);
            spec["smtp"]["protocol"] = json!(if round % 5 == 0 { "lmtp" } else { "smtp" });
            spec["recipients"] = json!([[1 + round % 3, 1.0]]);
        });
        let mut drive = Drive::new(&workload, stage);
        for _ in 0..60 {
            if drive.begin().stop {
                break;
            }
            for _ in 0..30 {
                let pick = rng.below(words.len() as u64 + 3) as usize;
                let mut noise = [0_u8; 24];
                noise.iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
                let event = match words.get(pick) {
                    Some(word) => Event::Received(word),
                    None if pick == words.len() => Event::Received(&noise),
                    None if pick == words.len() + 1 => Event::Connected,
                    None => Event::Closed,
                };
                if drive.event(event).0.is_some() || drive.session.work == Work::Pause {
                    break;
                }
            }
        }
        drive.session.leave(stage);
        let accepted = drive.session.sender.book.iter().filter(|copy| copy.outcome == Sent::Accepted).count();
        assert_eq!(accepted as u64, drive.session.sender.accepted);
        let figures = workload.figures([&drive.session].into_iter());
        assert_eq!(figures["ledger"]["balanced"], true, "{figures}");
    }
}

/// What a willing server answers to what was sent; mailboxes are empty.
fn willing(sending: bool, sent: &str) -> &'static str {
    match sent.split([' ', '\r']).next().unwrap_or_default() {
        "" if sending => "220 mx\r\n",
        "DATA" => "354 go\r\n",
        "QUIT" if sending => "221 bye\r\n",
        "CAPA" | "UIDL" | "LIST" => "+OK\r\n.\r\n",
        "STAT" => "+OK 0 0\r\n",
        _ if sending => "250 ok\r\n",
        _ => "+OK\r\n",
    }
}

#[test]
fn the_time_is_shared_as_planned_to_within_a_session() {
    for share in [0.1, 0.3, 0.75] {
        let mut drive = Drive::new(&workload(|spec| spec["sending_share"] = json!(share)), Stage::Measure);
        let (mut sending_steps, mut all_steps, mut session_steps) = (0_u32, 0_u32, 0_u32);
        while all_steps < 5_000 || session_steps > 0 {
            let actions = drive.begin();
            let sends = matches!(drive.session.work, Work::Send(_));
            let sent = String::from_utf8_lossy(drive.session.outgoing()).into_owned();
            if actions.connect.is_some() {
                assert_eq!(drive.event(Event::Connected).0, None);
            }
            let reply = if actions.connect.is_some() { willing(sends, "") } else { willing(sends, &sent) };
            assert!(drive.event(Event::Received(reply.as_bytes())).0.is_some(), "{sent:?}: {reply:?}");
            sending_steps += u32::from(sends);
            all_steps += 1;
            let ended = drive.steps.last().is_some_and(|step| step.ends_with("-quit"));
            session_steps = if ended { 0 } else { session_steps + 1 };
        }
        // Every step takes a millisecond; no session has more than eight.
        let off = f64::from(sending_steps) - share * f64::from(all_steps);
        assert!(off.abs() <= 8.0, "{share}: {sending_steps} of {all_steps} ms were spent in sending");
    }
}
