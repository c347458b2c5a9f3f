//! Mailboxes: emptied, read, drained.

use super::{Drive, workload};
use crate::mail::ledger::message::Id;
use crate::mail::pop3;
use crate::mail::session::Work;
use bakeoff_engine::{ErrorClass, Event, Session as _, Stage, Timeline};
use serde_json::{Value, json};

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
        if drive.reads(pop3::Step::Capabilities) {
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
    assert_eq!((drive.session.reader.removed, drive.session.reader.leftovers.foreign.clone()), (1, vec![(0, 1)]));
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
    assert_eq!(drive.session.reader.entries.iter().filter(|copy| copy.id.is_none()).count(), 1);
}

#[test]
fn a_drain_that_is_refused_checks_nothing() {
    for (server_comes_back, unchecked) in [(false, 1), (true, 0)] {
        let workload = workload(|_| ());
        workload.plan.exchange.deposit([(0, Id::new(0, 0, 7))].into_iter(), std::iter::empty());
        let mut drive = Drive::new(&workload, Stage::Measure);
        drive.session.enter(Stage::Drain, &Timeline::new(0, 0, 5_000_000_000, 0));
        drive.begin();
        drive.fail(ErrorClass::Refused);
        for _ in 0..2 {
            while drive.session.work != Work::Pause && drive.begin().connect.is_some() {
                if server_comes_back {
                    drive.event(Event::Connected);
                    drive.event(Event::Received(b"+OK ready\r\n"));
                    if drive.reads(pop3::Step::Capabilities) {
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
        assert_eq!(drive.session.reader.uninspected().filter(|(mailbox, _)| *mailbox == 0).count(), unchecked);
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
