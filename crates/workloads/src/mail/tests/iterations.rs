//! Under a rate: what an iteration is, and how iterations are shared between sending and reading.

use super::{Drive, workload_under};
use crate::mail::session::Work;
use bakeoff_engine::{ErrorClass, Event, Session as _, Stage};
use serde_json::{Value, json};

fn drive(change: impl FnOnce(&mut Value)) -> Drive {
    let rate = json!({"rate": {"per_s": 100, "most_connections": 2}});
    Drive::new(&workload_under(&rate, change), Stage::Measure)
}

/// Does one iteration with a willing server; its steps.
fn iteration(drive: &mut Drive) -> Vec<String> {
    drive.steps.clear();
    loop {
        let actions = drive.begin();
        let sends = drive.session.work == Work::Send;
        let sent = String::from_utf8_lossy(drive.session.outgoing()).into_owned();
        if actions.connect.is_some() {
            assert_eq!(drive.event(Event::Connected).0, None);
        }
        let reply = super::sharing::willing(sends, if actions.connect.is_some() { "" } else { &sent });
        assert!(drive.event(Event::Received(reply.as_bytes())).0.is_some());
        if !drive.session.goes_on() {
            return std::mem::take(&mut drive.steps);
        }
    }
}

const MESSAGE: [&str; 4] = ["smtp-mail", "smtp-rcpt", "smtp-data", "smtp-body"];

#[test]
fn an_iteration_of_sending_is_one_message() {
    let mut one = drive(super::sending);
    for _ in 0..3 {
        assert_eq!(iteration(&mut one), [&["smtp-connect", "smtp-ehlo"][..], &MESSAGE, &["smtp-quit"]].concat());
    }
    let mut three = drive(|spec| {
        super::sending(spec);
        spec["smtp"]["messages_per_connection"] = json!(3);
    });
    for _ in 0..2 {
        assert_eq!(iteration(&mut three), [&["smtp-connect", "smtp-ehlo"][..], &MESSAGE].concat());
        assert_eq!(iteration(&mut three), MESSAGE);
        assert_eq!(iteration(&mut three), [&MESSAGE[..], &["smtp-quit"]].concat());
    }
}

#[test]
fn an_iteration_of_reading_is_one_session() {
    let mut reading = drive(|spec| spec["smtp"] = Value::Null);
    for _ in 0..3 {
        let steps = iteration(&mut reading);
        assert_eq!((steps[0].as_str(), steps.last().unwrap().as_str()), ("pop3-connect", "pop3-quit"));
        assert_eq!(steps.iter().filter(|step| *step == "pop3-stat").count(), 1);
    }
}

#[test]
fn a_turn_that_breaks_off_is_over() {
    let mut drive = drive(super::sending);
    drive.begin();
    drive.fail(ErrorClass::Refused);
    assert!(!drive.session.goes_on());
    assert_eq!(iteration(&mut drive).len(), 7);
}

#[test]
fn iterations_are_shared_as_planned_however_long_they_take() {
    for share in [0.0, 0.1, 0.3, 0.75, 1.0] {
        for messages in [1, 4] {
            let mut drive = drive(|spec| {
                spec["sending_share"] = json!(share);
                spec["smtp"]["messages_per_connection"] = json!(messages);
            });
            let sent = (0..1_000).filter(|_| iteration(&mut drive)[0].starts_with("smtp")).count();
            assert!((sent as f64 - 1_000.0 * share).abs() <= f64::from(messages), "{share} {messages} {sent}");
        }
    }
}
