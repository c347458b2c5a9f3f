//! The driver in virtual time: a scripted server, no socket, no waiting.

mod parts;
mod rates;
mod slices;

use super::*;
use crate::result::collect::collect;
use crate::{GeneratorFigures, Identity, ThreadFigures, TrialSpec, Workload};
use std::cell::Cell;
use std::rc::Rc;

#[derive(Clone)]
struct VirtualClock(Rc<Cell<Nanos>>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> Nanos {
        self.0.get()
    }
}

struct Ping;
struct PingSession;

impl Workload for Ping {
    type Session = PingSession;
    fn operations(&self) -> Vec<String> {
        vec!["ping".to_owned()]
    }
    fn session(&self, _: Identity) -> PingSession {
        PingSession
    }
}

impl Session for PingSession {
    fn begin(&mut self, actions: &mut Actions) {
        actions.send = true;
    }
    fn advance(&mut self, event: Event<'_>, _: &mut Actions) -> Progress {
        match event {
            Event::Received(bytes) => Progress::Done(Outcome {
                operation: 0,
                error: None,
                bytes_in: bytes.len() as u64,
                bytes_out: 4,
                status: 0,
            }),
            _ => Progress::Pending,
        }
    }
    fn outgoing(&self) -> &[u8] {
        b"ping"
    }
    fn fail(&mut self, error: ErrorClass) -> Outcome {
        Outcome { operation: 0, error: Some(error), bytes_in: 0, bytes_out: 0, status: 0 }
    }
}

fn spec(extra: &str) -> TrialSpec {
    TrialSpec::from_json(&format!(r#"{{"workload":{{"kind":"ping"}},{extra}}}"#)).unwrap()
}

/// Runs every virtual user against a server that answers after `service(now)` ns; returns the result.
fn simulate(spec: &TrialSpec, service: impl Fn(Nanos) -> Nanos) -> crate::TrialResult {
    let recorders = (0..spec.load_threads as usize).map(|thread| simulate_thread(spec, thread, &service)).collect();
    figures_of(spec, recorders)
}

fn figures_of(spec: &TrialSpec, recorders: Vec<Recorder>) -> crate::TrialResult {
    let timeline = spec.timeline(0);
    let window_ns = timeline.window_end_ns - timeline.window_start_ns;
    let threads = vec![ThreadFigures { window_ns, ..ThreadFigures::default() }; spec.load_threads as usize];
    collect(&["ping".to_owned()], recorders, &threads, &GeneratorFigures::default())
}

/// What one load thread counts.
fn simulate_thread(spec: &TrialSpec, thread: usize, service: impl Fn(Nanos) -> Nanos) -> Recorder {
    simulate_watched(spec, thread, service).0
}

/// What one load thread counts, and the live figures at the end.
fn simulate_watched(spec: &TrialSpec, thread: usize, service: impl Fn(Nanos) -> Nanos) -> (Recorder, crate::Snapshot) {
    let clock = VirtualClock(Rc::new(Cell::new(0)));
    let live = Arc::new(Live::new(spec.load_threads as usize, spec.max_operations));
    let mut driver = Driver::new(&Ping, spec, Arc::clone(&live), thread, 0, clock.clone());
    // (due, virtual user, is_start); planned starts are in nobody's hands yet.
    let mut agenda: Vec<(Nanos, usize, bool)> =
        driver.first_starts(spec).into_iter().map(|(vu, at)| (at, vu, true)).collect();
    loop {
        let start_ns = driver.next_start_ns();
        let soonest = agenda.iter().enumerate().min_by_key(|(_, item)| item.0).map(|(at, item)| (item.0, at));
        let mut actions = Actions::NONE;
        let (due, vu, next) = match soonest {
            Some((due, at)) if due <= start_ns => {
                let (_, vu, is_start) = agenda.swap_remove(at);
                clock.0.set(due);
                driver.batch(due);
                let next = if is_start {
                    driver.begin(vu, due, &mut actions)
                } else {
                    driver.event(vu, Event::Received(b"pong"), &mut actions)
                };
                (due, vu, next)
            }
            _ if start_ns == Nanos::MAX => break,
            _ => {
                let now_ns = start_ns.max(clock.now_ns());
                clock.0.set(now_ns);
                driver.batch(now_ns);
                let Some((vu, next)) = driver.begin_planned(&mut actions) else { continue };
                (now_ns, vu, next)
            }
        };
        match next {
            Next::Begun => agenda.push((due + service(due), vu, false)),
            Next::Wait(until) => agenda.push((until, vu, true)),
            Next::Pending | Next::Idle | Next::Stopped => {}
        }
    }
    assert!(driver.is_finished());
    driver.publish(clock.now_ns());
    let end_ns = if spec.max_operations.is_some() { 0 } else { driver.end_ns };
    driver.stop_counting(clock.now_ns().max(end_ns));
    (driver.into_parts().0, live.snapshot())
}

#[test]
fn a_server_of_one_millisecond_is_reported_at_one_millisecond() {
    let result =
        simulate(&spec(r#""load":{"clients":4},"length_s":12,"ramp_up_s":1,"ramp_down_s":1"#), |_| 1_000_000).json();
    assert_eq!(result["operations"], 40_000);
    let p50 = result["service"]["p50_ns"].as_f64().unwrap();
    assert!((p50 / 1e6 - 1.0).abs() < 0.001, "{p50}");
    assert_eq!(result["outside"]["operations"], 4 * 2_000);
}

#[test]
fn littles_law_holds_with_think_time() {
    let result = simulate(&spec(r#""load":{"clients":10},"length_s":20,"think_s":0.003"#), |_| 2_000_000).json();
    let rate = result["operations"].as_f64().unwrap() / result["window_s"].as_f64().unwrap();
    assert!((rate * 0.005 / 10.0 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn a_stall_shows_in_the_maximum_and_in_its_second() {
    let stall = |now: Nanos| if (2 * SECOND_NS..3 * SECOND_NS).contains(&now) { SECOND_NS } else { 1_000_000 };
    let result = simulate(&spec(r#""load":{"clients":1},"length_s":6"#), stall).json();
    assert!(result["service"]["max_ns"].as_u64().unwrap() >= 999_000_000);
    let rows = result["per_second"].as_array().unwrap();
    let of = |second: u64| rows.iter().find(|row| row["second"] == second).map(|row| row["operations"].clone());
    assert_eq!(of(1).unwrap(), 1_000);
    assert!(of(2).unwrap().as_u64().unwrap() <= 1, "a dead second is a row of its own");
    assert_eq!(rows.len(), 6);
}

#[test]
fn an_hour_and_a_half_is_told_second_by_second() {
    let stall =
        |now: Nanos| if (4_000 * SECOND_NS..4_001 * SECOND_NS).contains(&now) { SECOND_NS } else { 100_000_000 };
    let result = simulate(&spec(r#""load":{"clients":1},"length_s":5400.5"#), stall).json();
    let rows = result["per_second"].as_array().unwrap();
    assert!(rows.iter().map(|row| row["second"].as_u64().unwrap()).eq(0..=5_400));
    assert!(rows[..5_400].iter().all(|row| row["width_s"] == 1.0));
    assert_eq!(rows[5_400]["width_s"], 0.5);
    let counts: Vec<_> = rows.iter().map(|row| row["operations"].as_u64().unwrap()).collect();
    assert!(counts[4_000] <= 1, "one dead second among thousands is seen");
    assert_eq!((counts[3_999], counts[4_002]), (10, 10));
    assert_eq!(rows[4_000]["service"]["count"], counts[4_000]);
    let counted = result["operations"].as_u64().unwrap() + result["outside"]["operations"].as_u64().unwrap();
    assert_eq!(counts.iter().sum::<u64>(), counted);
}

#[test]
fn operations_that_hang_at_the_end_are_errors_of_the_window() {
    let spec = spec(r#""load":{"clients":3},"length_s":10"#);
    let clock = VirtualClock(Rc::new(Cell::new(0)));
    let mut driver = Driver::new(&Ping, &spec, Arc::new(Live::new(1, None)), 0, 0, clock.clone());
    let mut actions = Actions::NONE;
    for vu in 0..3 {
        driver.begin(vu, 0, &mut actions);
    }
    for iteration in 1..=100 {
        clock.0.set(iteration * 1_000_000);
        driver.event(0, Event::Received(b"pong"), &mut actions);
    }
    clock.0.set(9_900_000_000);
    driver.event(1, Event::Received(b"pong"), &mut actions);
    driver.count_hung(10 * SECOND_NS);
    // Virtual user 0 since 0.1 s and virtual user 2 since the start; virtual user 1 has just begun another one.
    assert_eq!(driver.recorder.operations[0].errors()[ErrorClass::Unfinished as usize], 2);

    let mut driver = Driver::new(&Ping, &spec, Arc::new(Live::new(1, None)), 0, 0, clock.clone());
    clock.0.set(0);
    for vu in 0..3 {
        driver.begin(vu, 0, &mut actions);
    }
    clock.0.set(1_000_000);
    driver.event(0, Event::Received(b"pong"), &mut actions);
    driver.count_hung(10 * SECOND_NS);
    assert_eq!(driver.recorder.operations[0].errors()[ErrorClass::Unfinished as usize], 3);
}

#[test]
fn a_trial_bounded_by_count_ends_after_exactly_that_many() {
    let result = simulate(&spec(r#""load":{"clients":7},"length_s":60,"max_operations":1000"#), |_| 500_000).json();
    assert_eq!(result["operations"], 1000);
    assert_eq!(result["outside"]["operations"], 0);
}

#[test]
fn the_delay_spreads_the_starts_over_its_range() {
    let spec = spec(r#""load":{"clients":200},"length_s":10,"delay_s":2"#);
    let clock = VirtualClock(Rc::new(Cell::new(0)));
    let mut driver = Driver::new(&Ping, &spec, Arc::new(Live::new(1, None)), 0, 0, clock);
    let starts = driver.first_starts(&spec);
    assert!(starts.iter().all(|(_, at)| *at <= 2 * SECOND_NS));
    let mean = starts.iter().map(|(_, at)| *at as f64).sum::<f64>() / 200.0;
    assert!((0.85e9..1.15e9).contains(&mean), "{mean}");
}

#[test]
fn clients_are_divided_among_load_threads_without_rest() {
    let spec = spec(r#""load":{"clients":7},"virtual_users":2,"length_s":1,"load_threads":3"#);
    let counts: Vec<_> = (0..3)
        .map(|thread| {
            let clock = VirtualClock(Rc::new(Cell::new(0)));
            Driver::new(&Ping, &spec, Arc::new(Live::new(3, None)), thread, 0, clock).len()
        })
        .collect();
    assert_eq!(counts, [6, 4, 4]);
}

#[test]
fn repeated_failures_back_off_and_a_timeout_has_its_class() {
    let spec = spec(r#""load":{"clients":1},"length_s":10,"reply_timeout_s":1"#);
    let clock = VirtualClock(Rc::new(Cell::new(0)));
    let mut driver = Driver::new(&Ping, &spec, Arc::new(Live::new(1, None)), 0, 0, clock.clone());
    let mut actions = Actions::NONE;
    assert_eq!(driver.begin(0, 0, &mut actions), Next::Begun);
    assert!(driver.overdue(0, SECOND_NS - 1).is_none());
    assert_eq!(driver.overdue(0, SECOND_NS), Some((0, ErrorClass::ReplyTimeout)));
    clock.0.set(SECOND_NS);
    assert_eq!(driver.failure(0, ErrorClass::ReplyTimeout, &mut actions), Next::Begun);
    assert_eq!(driver.failure(0, ErrorClass::Refused, &mut actions), Next::Wait(SECOND_NS + BACK_OFF_FIRST_NS));
    assert_eq!(driver.recorder.operations[0].errors()[ErrorClass::ReplyTimeout as usize], 1);
    assert_eq!(back_off_ns(60), BACK_OFF_LAST_NS);
}

#[test]
fn who_watches_sees_what_is_counted_ramps_included() {
    // Half a second of 1 ms, then every answer takes 80 ms.
    let slower = |now: Nanos| if now < SECOND_NS / 2 { 1_000_000 } else { 80_000_000 };
    let spec = spec(r#""load":{"clients":4},"length_s":4,"ramp_up_s":1,"ramp_down_s":1"#);
    let (recorder, seen) = simulate_watched(&spec, 0, slower);
    let result = figures_of(&spec, vec![recorder]);
    assert_eq!(seen.operations, result.measured.operations + result.outside.operations);
    assert_eq!((seen.per_operation[0].name.as_str(), seen.per_operation[0].operations), ("ping", seen.operations));
    assert_eq!(seen.recent.times.iter().map(|&(_, count)| count).collect::<Vec<_>>(), [2_000, seen.operations - 2_000]);
    let (p50_ns, p99_ns) = (seen.recent.p50_ns.unwrap(), seen.recent.p99_ns.unwrap());
    assert!(p50_ns.abs_diff(1_000_000) <= 1_000_000 / 32, "{p50_ns}");
    assert!(p99_ns.abs_diff(80_000_000) <= 80_000_000 / 32, "{p99_ns}");
}
