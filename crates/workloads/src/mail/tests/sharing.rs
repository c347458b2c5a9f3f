//! How a thread shares its time, and that nothing a server says does harm.

use super::{Drive, workload};
use crate::mail::ledger::Sent;
use crate::mail::session::Work;
use crate::mail::{pop3, smtp};
use bakeoff_engine::{Event, Rng, Session as _, Stage, Workload as _};
use serde_json::json;

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
            let reply: &[u8] = match (drive.session.work, drive.session.smtp.step, drive.session.pop3.step) {
                (Work::Send, Some(smtp::Step::Connect), _) => b"220 mx\r\n",
                (Work::Send, Some(smtp::Step::Data), _) => b"354 go\r\n",
                (Work::Send, ..) => b"250 ok\r\n",
                (_, _, Some(pop3::Step::Stat)) => b"+OK 0 0\r\n",
                (_, _, Some(pop3::Step::Capabilities)) => b"-ERR what\r\n",
                _ => b"+OK\r\n",
            };
            assert!(drive.event(Event::Received(reply)).0.is_some());
        }
        let (send, read) = (drive.session.send_ns as f64, drive.session.read_ns as f64);
        assert!((send / (send + read) - planned).abs() < 0.01, "{send} {read}");
    }
}

/// What a willing server answers to what was sent; mailboxes are empty.
pub(super) fn willing(sending: bool, sent: &str) -> &'static str {
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
            let sends = drive.session.work == Work::Send;
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
/// Whatever a server says, a session neither panics nor loses a copy from its ledger.
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
        let accepted = drive.session.sender.entries.iter().filter(|copy| copy.outcome == Sent::Accepted).count();
        assert_eq!(accepted as u64, drive.session.sender.accepted);
        let figures = workload.figures([&drive.session].into_iter());
        assert_eq!(figures["ledger"]["balanced"], true, "{figures}");
    }
}
