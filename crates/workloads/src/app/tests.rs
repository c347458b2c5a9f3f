//! The app session against scripted replies: no socket.

use super::read_back::Found;
use super::tally::{Times, VerifiedAnswers};
use super::{AppSession, AppSpec, AppWorkload, ClassSpec};
use bakeoff_app_protocol::{
    Figures, Hello, Kind, REQUEST_BYTES, ReadEntry, Reply, Request, Status, checksum, fill_record, pattern, process,
    record_at,
};
use bakeoff_engine::{
    Actions, ErrorClass, Event, Identity, Outcome, Progress, Session, Stage, Stamps, Timeline, Workload,
};

use std::collections::{BTreeMap, BTreeSet};

pub(super) const RECORDS: u64 = 2048;
pub(super) const EPOCH: u64 = 9;

pub(super) fn spec(kinds: &[&str]) -> AppSpec {
    AppSpec {
        kind: "app".into(),
        addresses: vec!["127.0.0.1:1".into()],
        unix: None,
        source_addresses: Vec::new(),
        classes: kinds.iter().map(|&name| ClassSpec { name: name.into(), weight: 1.0 }).collect(),
        upload_bytes: 1000,
        download_bytes: 777,
        rounds: 50,
        record_bytes: 512,
        read_records: 2,
        write_records: 1,
        working_set: 1.0,
        seeds: 0,
        look_again: true,
    }
}

/// What a read finds in a record that was written so.
pub(super) fn entry(index: u64, epoch: u64, sequence: u64) -> ReadEntry {
    let mut record = vec![0; 512];
    fill_record(&mut record, index, epoch, sequence);
    ReadEntry { epoch, sequence, checksum: checksum(&record) }
}

pub(super) fn session(kinds: &[&str]) -> AppSession {
    AppWorkload::new(&spec(kinds)).unwrap().session(Identity { client: 3, vu: 1, seed: 1 })
}

/// What a faultless server answers to the session's outgoing request.
pub(super) fn answer(outgoing: &[u8]) -> Vec<u8> {
    let request = Request::parse(outgoing, u32::MAX).unwrap().unwrap();
    let (value, payload) = match request.kind {
        Kind::Hello => (EPOCH, hello().to_bytes().to_vec()),
        Kind::Upload => (u64::from(checksum(&outgoing[REQUEST_BYTES..])), Vec::new()),
        Kind::Download => (u64::from(request.b), pattern(request.b as usize)),
        Kind::Processor => (process(request.a, request.b), Vec::new()),
        Kind::Write => (u64::from(request.b), Vec::new()),
        Kind::Read => (u64::from(request.b), (0..request.b).flat_map(|nth| untouched(request.a, nth)).collect()),
    };
    frame(&request, Status::Ok, value, &payload)
}

/// The reply about a record that only the server itself has written.
fn untouched(seed: u64, nth: u32) -> [u8; 24] {
    let index = record_at(seed, nth, RECORDS);
    let mut record = vec![0; 512];
    fill_record(&mut record, index, 0, 0);
    ReadEntry { epoch: 0, sequence: 0, checksum: checksum(&record) }.to_bytes()
}

fn hello() -> Hello {
    Hello {
        segment_bytes: RECORDS * 512,
        service_ns: 0,
        threads: 49,
        processors: 2,
        direct: false,
        fsync: false,
        payload_max: 1 << 20,
        records_max: 16,
    }
}

pub(super) fn frame(request: &Request, status: Status, value: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    let reply = Reply {
        kind: Some(request.kind),
        status,
        sequence: request.sequence,
        queue_ns: 100,
        service_ns: 200,
        server_ns: 310,
        value,
        figures: Figures { uptime_ns: request.sequence, cpu_ns: 2 * request.sequence, ..Figures::default() },
        payload_bytes: payload.len() as u32,
    };
    reply.write(&mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

/// Runs one operation; `change` may spoil the reply to the operation's own request, `cut` is where it is split.
pub(super) fn operate(
    session: &mut AppSession,
    cut: usize,
    change: impl Fn(&mut Vec<u8>),
) -> (Option<Outcome>, Actions) {
    let mut actions = Actions::NONE;
    session.begin(&mut actions);
    assert!(actions.send);
    if actions.connect.is_some() {
        assert_eq!(session.advance(Event::Connected, &mut Actions::NONE.clone()), Progress::Pending);
        let welcome = answer(session.outgoing());
        actions.clear();
        assert_eq!(session.advance(Event::Received(&welcome), &mut actions), Progress::Pending);
        assert!(actions.send, "the operation follows the hello");
    }
    let mut reply = answer(session.outgoing());
    change(&mut reply);
    let cut = cut.min(reply.len());
    for part in [&reply[..cut], &reply[cut..]] {
        if part.is_empty() {
            continue;
        }
        actions.clear();
        if let Progress::Done(outcome) = session.advance(Event::Received(part), &mut actions) {
            return (Some(outcome), actions);
        }
    }
    (None, actions)
}

const KINDS: [&str; 5] = ["upload", "download", "processor", "read", "write"];

#[test]
fn every_kind_succeeds_however_its_reply_is_cut() {
    for kind in KINDS {
        for cut in [0, 1, 40, 79, 80, 81, 100, 800] {
            let mut session = session(&[kind]);
            for _ in 0..3 {
                let (outcome, actions) = operate(&mut session, cut, |_| ());
                let outcome = outcome.unwrap_or_else(|| panic!("{kind} cut at {cut}"));
                assert_eq!((outcome.error, actions.close), (None, false), "{kind} cut at {cut}");
            }
        }
    }
}

#[test]
fn times_are_split_into_network_queue_and_service() {
    let mut session = session(&["upload", "download"]);
    operate(&mut session, 0, |_| ());
    assert!(session.steps(1_000).is_empty(), "the operation that opened the connection is not split");
    let (outcome, _) = operate(&mut session, 0, |_| ());
    let own = 3 + 3 * outcome.unwrap().operation;
    let split = [(0, 700), (1, 100), (2, 200), (own, 700), (own + 1, 100), (own + 2, 200)];
    assert_eq!(session.steps(1_000), split);
    assert_eq!(session.tally().times, Times { told: 1, too_long: 0, too_short: 0 });
    assert!(session.steps(250).is_empty(), "300 ns of queue and service in 250 ns are not believed");
    assert_eq!(session.tally().times, Times { told: 2, too_long: 1, too_short: 0 });
    let names = AppWorkload::new(&spec(&["upload", "download"])).unwrap().steps();
    assert_eq!(names[..4], ["network", "queue", "service", "upload/network"]);
    assert_eq!(names.len(), 9);
}

#[test]
fn a_wrong_result_is_wrong_content_and_the_connection_stays() {
    for kind in ["upload", "write"] {
        let mut session = session(&[kind]);
        let (outcome, actions) = operate(&mut session, 0, |reply| reply[40] ^= 1);
        assert_eq!(outcome.unwrap().error, Some(ErrorClass::WrongContent), "{kind}");
        assert!(!actions.close);
        assert_eq!(session.tally().wrong_results, 1);
    }
    let mut session = session(&["download"]);
    let (outcome, _) = operate(&mut session, 300, |reply| reply[400] ^= 1);
    assert_eq!(outcome.unwrap().error, Some(ErrorClass::WrongContent));
}

#[test]
fn a_damaged_record_is_found() {
    let mut session = session(&["read"]);
    let (outcome, _) = operate(&mut session, 0, |reply| reply[80 + 24 + 16] ^= 1);
    assert_eq!(outcome.unwrap().error, Some(ErrorClass::WrongContent));
    assert_eq!((session.tally().damaged, session.tally().records_read), (1, 2));
}

#[test]
fn replies_that_do_not_fit_the_request_break_the_connection() {
    type Change = fn(&mut Vec<u8>);
    let changes: [(&str, Change); 5] = [
        ("magic", |reply| reply[4] = 0),
        ("kind", |reply| reply[5] = 4),
        ("sequence", |reply| reply[8] ^= 1),
        ("length", |reply| reply[0] += 1),
        ("too much", |reply| reply.push(0)),
    ];
    for (what, change) in changes {
        let mut session = session(&["download"]);
        let (outcome, actions) = operate(&mut session, 0, change);
        assert_eq!(outcome.unwrap().error, Some(ErrorClass::Protocol), "{what}");
        assert!(actions.close);
    }
}

#[test]
fn a_busy_server_keeps_the_connection_and_any_other_refusal_ends_it() {
    for (status, closes) in [(Status::Busy, false), (Status::Storage, true)] {
        let mut session = session(&["upload"]);
        operate(&mut session, 0, |_| ());
        let (outcome, actions) = operate(&mut session, 0, |reply| {
            let request = Request { kind: Kind::Upload, sequence: 3, a: 0, b: 0, c: 0, payload_bytes: 0 };
            *reply = frame(&request, status, 0, &[]);
        });
        assert_eq!(outcome.unwrap().error, Some(ErrorClass::WrongStatus));
        assert_eq!(actions.close, closes);
        assert_eq!(session.tally().refusals[status.name()], 1);
    }
}

#[test]
fn a_connection_that_ends_is_told_apart_by_when() {
    let mut session = session(&["upload"]);
    operate(&mut session, 0, |_| ());
    let mut actions = Actions::NONE;
    session.begin(&mut actions);
    let Progress::Done(outcome) = session.advance(Event::Closed, &mut actions) else { panic!("still waiting") };
    assert_eq!(outcome.error, Some(ErrorClass::ClosedEarly));
    session.begin(&mut actions);
    assert_eq!(actions.connect, Some(0), "a new connection, with a hello first");
    let first = Request::parse(session.outgoing(), 0).unwrap().unwrap();
    assert_eq!((first.kind, first.a), (Kind::Hello, 0), "any segment");
}

#[test]
fn no_segment_is_asked_for_when_nothing_is_stored() {
    for (kinds, record_bytes) in [(&["upload", "processor"][..], 0), (&["write"][..], 512)] {
        let mut session = session(kinds);
        session.begin(&mut Actions::NONE.clone());
        assert_eq!(Request::parse(session.outgoing(), 0).unwrap().unwrap().c, record_bytes);
    }
}

#[test]
fn the_servers_own_figures_are_those_of_the_window() {
    let workload = AppWorkload::new(&spec(&["upload"])).unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    // The replies end at 10, 20 … 100; the window is from 30 to 80, its end not included.
    session.enter(Stage::Measure, &Timeline::new(0, 30, 100, 20));
    for end_ns in (10..=100).step_by(10) {
        let (outcome, _) = operate(&mut session, 0, |_| ());
        session.finished(&outcome.unwrap(), &Stamps { end_ns, ..Stamps::default() });
    }
    let figures = workload.figures([&session].into_iter());
    // Uptime is the sequence number, processor time twice that, on two processors; the hello is number 1. Replies 4 to
    // 8 are in the window, and what the first of these tells may have been looked at before it.
    assert_eq!(figures["server"]["watched_s"], 3e-9);
    assert_eq!((&figures["server"]["cpu_s"], &figures["server"]["cpu_share"]), (&6e-9.into(), &1.0.into()));
}

/// Lets the session leave the measured part, and answers all that it asks for afterwards as `server` does: how often it
/// connected, and the records that it read.
fn look_again(session: &mut AppSession, mut server: impl FnMut(&Request) -> Vec<u8>) -> (u32, Vec<u64>) {
    session.leave(Stage::Measure);
    session.enter(Stage::Drain, &Timeline::new(0, 0, 1_000, 0));
    let (mut connected, mut records) = (0, Vec::new());
    loop {
        let mut actions = Actions::NONE;
        session.begin(&mut actions);
        if actions.stop {
            session.leave(Stage::Drain);
            return (connected, records);
        }
        if actions.connect.is_some() {
            connected += 1;
            session.advance(Event::Connected, &mut actions);
        }
        loop {
            let request = Request::parse(session.outgoing(), 0).unwrap().unwrap();
            if request.kind == Kind::Read {
                assert_eq!(request.b, 1);
                records.push(record_at(request.a, 0, u64::from(request.c)));
            }
            let progress = session.advance(Event::Received(&server(&request)), &mut actions);
            if let Progress::Done(outcome) = progress {
                session.finished(&outcome, &Stamps { end_ns: 1, ..Stamps::default() });
                break;
            }
        }
    }
}

/// The reply to a read of one record with this stamp, and to a hello that asks for a segment back.
fn kept(request: &Request, epoch: u64, sequence: u64) -> Vec<u8> {
    if request.kind == Kind::Hello {
        assert_eq!(request.a, EPOCH, "the segment of the session that wrote");
        return frame(request, Status::Ok, EPOCH + 1, &hello().to_bytes());
    }
    let index = record_at(request.a, 0, RECORDS);
    let mut record = vec![0; 512];
    fill_record(&mut record, index, epoch, sequence);
    frame(request, Status::Ok, 1, &ReadEntry { epoch, sequence, checksum: checksum(&record) }.to_bytes())
}

/// A session that has written `writes` records, with the sequence number of each record's last write.
fn writer(writes: u32) -> (AppSession, BTreeMap<u64, u64>) {
    let (mut session, mut written) = (session(&["write"]), BTreeMap::new());
    for _ in 0..writes {
        operate(&mut session, 0, |_| ());
        let request = Request::parse(session.outgoing(), 0).unwrap().unwrap();
        written.insert(record_at(request.a, 0, RECORDS), request.sequence);
    }
    (session, written)
}

#[test]
fn all_that_was_written_is_read_again_from_the_segment_that_it_is_in() {
    let (mut session, written) = writer(200);
    let (connected, mut records) = look_again(&mut session, |request| {
        kept(request, EPOCH, *written.get(&record_at(request.a, 0, RECORDS)).unwrap_or(&0))
    });
    records.sort_unstable();
    assert_eq!((connected, records), (1, written.keys().copied().collect()));
    let all = written.len() as u64;
    let found = Found { writes: 200, records: all, asked: all, read: all, damaged: 0, lost: 0 };
    assert_eq!(session.tally().read_back, Some(found));
    assert_eq!((session.tally().times, session.tally().lost), (Times::default(), 0), "nothing of it is measured");
}

#[test]
fn one_lost_write_is_found_and_one_damaged() {
    let (mut session, written) = writer(200);
    let (lost, damaged) = (*written.keys().next().unwrap(), *written.keys().last().unwrap());
    look_again(&mut session, |request| {
        let index = record_at(request.a, 0, RECORDS);
        let mut reply =
            if index == lost { kept(request, 0, 0) } else { kept(request, EPOCH, *written.get(&index).unwrap_or(&0)) };
        if request.kind == Kind::Read && index == damaged {
            reply[80 + 16] ^= 1;
        }
        reply
    });
    let found = session.tally().read_back.unwrap();
    assert_eq!((found.lost, found.damaged, found.read), (1, 1, found.asked));
}

#[test]
fn a_server_that_does_not_give_the_data_back_leaves_them_unread() {
    let (mut session, written) = writer(20);
    let mut hellos = 0;
    let (connected, records) = look_again(&mut session, |request| {
        hellos += 1;
        // At first the session before has not ended for it, then it knows nothing of it.
        frame(request, if hellos < 5 { Status::Busy } else { Status::BadParameter }, 0, &[])
    });
    assert_eq!((connected, records.len()), (5, 0));
    let found = session.tally().read_back.unwrap();
    assert_eq!((found.asked, found.read), (written.len() as u64, 0));
}

#[test]
fn a_write_without_a_reply_is_not_held_against_the_server() {
    let (mut session, written) = writer(5);
    session.begin(&mut Actions::NONE.clone());
    session.fail(ErrorClass::ReplyTimeout);
    operate(&mut session, 0, |_| ());
    look_again(&mut session, |request| {
        kept(request, EPOCH, *written.get(&record_at(request.a, 0, RECORDS)).unwrap_or(&0))
    });
    let found = session.tally().read_back.unwrap();
    // Both sessions have the same epoch here; of the second one its only record is taken for lost.
    assert_eq!((found.writes, found.lost), (6, 1));
    assert!(found.records <= 6);
}

#[test]
fn seeds_of_processor_work_are_fresh_and_of_the_trials_secret() {
    let seeds = |secret: u64| {
        let workload = AppWorkload::with(&spec(&["processor"]), secret, 1).unwrap();
        let mut session = workload.session(Identity { client: 3, vu: 1, seed: 1 });
        (0..500)
            .map(|_| {
                operate(&mut session, 0, |_| ());
                Request::parse(session.outgoing(), 0).unwrap().unwrap().a
            })
            .collect::<BTreeSet<_>>()
    };
    let (one, other) = (seeds(1), seeds(2));
    assert_eq!((one.len(), other.len(), one.intersection(&other).count()), (500, 500, 0));
}

#[test]
fn wrong_results_of_processor_work_are_found_when_the_trial_is_over() {
    let mut session = session(&["processor"]);
    for number in 0..300 {
        let (outcome, _) = operate(&mut session, 0, |reply| reply[40] ^= u8::from(number == 150));
        assert_eq!(outcome.unwrap().error, None);
    }
    assert_eq!(look_again(&mut session, |_| unreachable!()), (0, Vec::new()));
    assert_eq!(session.tally().worked, Some(VerifiedAnswers { answers: 300, checked: 302, wrong: 1 }));
}

#[test]
fn times_that_cannot_be_are_counted_and_not_believed() {
    let mut session = session(&["processor"]);
    operate(&mut session, 0, |_| ());
    for (told_ns, elapsed_ns, believed) in
        [(200, 400, true), (200, 250, false), (0, 400, false), (u64::MAX, 400, false)]
    {
        operate(&mut session, 0, |reply| {
            reply[16..24].copy_from_slice(&if told_ns == 0 { 0 } else { 100_u64 }.to_le_bytes());
            reply[24..32].copy_from_slice(&told_ns.to_le_bytes());
        });
        assert_eq!(!session.steps(elapsed_ns).is_empty(), believed, "{told_ns} in {elapsed_ns}");
    }
    // 50 rounds take 12 ns at the very least.
    assert_eq!(session.tally().times, Times { told: 4, too_long: 2, too_short: 1 });
}

#[test]
fn settings_that_make_no_sense_are_refused_with_words() {
    let refused = |change: fn(&mut AppSpec), word: &str| {
        let mut spec = spec(&KINDS);
        change(&mut spec);
        let text = AppWorkload::new(&spec).unwrap_err().to_string();
        assert!(text.contains(word), "{text}");
    };
    refused(|spec| spec.addresses.clear(), "address");
    refused(|spec| spec.classes[0].name = "gossip".into(), "gossip");
    refused(|spec| spec.classes[0].name = "read".into(), "once");
    refused(|spec| spec.classes.clear(), "one at least");
    refused(|spec| spec.record_bytes = 1000, "record_bytes");
    refused(|spec| spec.read_records = 0, "read_records");
    refused(|spec| spec.rounds = 0, "rounds");
    refused(|spec| spec.upload_bytes = u32::MAX, "upload_bytes");
    refused(|spec| spec.working_set = f64::NAN, "working_set");
}
