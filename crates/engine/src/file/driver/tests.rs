//! The driver of file sessions in virtual time: calls of a fixed length.

use super::*;
use crate::result::collect::collect;
use crate::{
    BufferIndex, ErrorClass, Executor, FileNeeds, GeneratorFigures, Name, Outcome, SECOND_NS, ThreadFigures,
    TrialResult,
};
use std::cell::Cell;
use std::ffi::CStr;
use std::rc::Rc;

const MS: Nanos = 1_000_000;

#[derive(Clone)]
struct VirtualClock(Rc<Cell<Nanos>>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> Nanos {
        self.0.get()
    }
}

/// Makes its files ready in one call that takes 100 ms; then each call is an operation of 1 ms.
struct Looks {
    depth: u32,
}

struct LooksSession {
    prepared: bool,
}

impl FileWorkload for Looks {
    type Session = LooksSession;
    fn operations(&self) -> Vec<String> {
        vec!["look".to_owned()]
    }
    fn needs(&self) -> FileNeeds {
        FileNeeds {
            folder: String::new(),
            keep: false,
            reuse: None,
            space_bytes: 0,
            handles: 0,
            buffers: 0,
            buffer_bytes: 0,
            registered_bytes: 0,
            depth: self.depth,
            executor: Executor::Blocking,
            cold_command: None,
            stall_ns: 0,
        }
    }
    fn session(&self, _: Identity) -> LooksSession {
        LooksSession { prepared: false }
    }
}

impl FileSession for LooksSession {
    fn next(&mut self, _: u32, _: &FileContext) -> FileStep {
        FileStep::Call { call: FileCall::FileSystem, prepare: false, check: false }
    }
    fn done(&mut self, _: u32, result: &FileResult) -> FileProgress {
        if !std::mem::replace(&mut self.prepared, true) {
            return FileProgress::Untimed;
        }
        let error = (result.value < 0).then_some(ErrorClass::InputOutput);
        FileProgress::Done(Outcome { operation: 0, error, bytes_in: 0, bytes_out: 0, status: 0 })
    }
    fn path(&self, _: Name) -> &CStr {
        c""
    }
}

struct NoBuffers;

impl FileBuffers for NoBuffers {
    fn slice(&mut self, _: BufferIndex, _: usize) -> &mut [u8] {
        &mut []
    }
}

/// Plays the trial's only session, one slot, with calls of `call_ns`.
fn play(load: &str, call_ns: Nanos) -> TrialResult {
    let text = format!(r#"{{"workload":{{}},"load":{load},"length_s":2,"ramp_up_s":1}}"#);
    let spec = TrialSpec::from_json(&text).unwrap();
    let clock = VirtualClock(Rc::new(Cell::new(0)));
    let live = Arc::new(Live::new(1, None));
    let mut driver = FileDriver::new(&Looks { depth: 1 }, &spec, live, Arc::default(), 0, 0, clock.clone());
    driver.resumed(Some(driver.first_start(&spec)));
    let mut prepared = false;
    loop {
        match driver.next(0, false, &mut NoBuffers) {
            FileNext::Call(_) => {
                let length_ns = if std::mem::replace(&mut prepared, true) { call_ns } else { 100 * MS };
                clock.0.set(clock.now_ns() + length_ns);
                driver.done(0, 0, &mut NoBuffers);
            }
            FileNext::Wait(until_ns) => {
                clock.0.set(until_ns);
                driver.resumed(Some(until_ns));
            }
            _ => break,
        }
    }
    let threads = [ThreadFigures { window_ns: SECOND_NS, ..ThreadFigures::default() }];
    collect(&["look".to_owned()], vec![driver.into_parts().0], &threads, &GeneratorFigures::default())
}

#[test]
fn a_closed_loop_of_calls_has_no_plan() {
    let result = play(r#"{"clients":1}"#, MS).json();
    assert_eq!(result["operations"], 1_000);
    assert!(result["starts"].is_null() && result["response"].is_null());
}

#[test]
fn a_rate_of_calls_is_kept_and_its_plan_begins_with_the_work() {
    let result = play(r#"{"rate":{"per_s":250,"most_connections":1}}"#, MS).json();
    assert_eq!((&result["operations"], &result["starts"]["offered"]), (&250.into(), &250.into()));
    assert_eq!((&result["starts"]["never_started"], &result["starts"]["late"]["count"]), (&0.into(), &0.into()));
    assert_eq!(result["response"], result["service"]);
}

#[test]
fn calls_that_take_too_long_show_in_the_response_time() {
    let result = play(r#"{"rate":{"per_s":1000,"most_connections":1}}"#, 2 * MS).json();
    let starts = &result["starts"];
    assert_eq!((&starts["offered"], &result["operations"]), (&1_000.into(), &500.into()));
    let accounted = starts["started"].as_u64().unwrap() + starts["never_started"].as_u64().unwrap();
    assert_eq!((accounted, &starts["late"]["count"]), (1_000, &starts["started"]));
    // At the end it lags by half of the 1.9 s that it worked.
    let longest_ms = result["response"]["max_ns"].as_f64().unwrap() / 1e6;
    assert!((longest_ms / 950.0 - 1.0).abs() < 0.01, "{longest_ms}");
    assert!((result["service"]["max_ns"].as_f64().unwrap() / 2e6 - 1.0).abs() < 0.001);
}

/// Tells how it came to barriers.
#[derive(Default)]
struct Waits {
    passed_barrier: Vec<BarrierSpan>,
}

impl FileSession for Waits {
    fn next(&mut self, _: u32, _: &FileContext) -> FileStep {
        FileStep::Barrier
    }
    fn done(&mut self, _: u32, _: &FileResult) -> FileProgress {
        FileProgress::Untimed
    }
    fn path(&self, _: Name) -> &CStr {
        c""
    }
    fn passed_barrier(&mut self, span: BarrierSpan) {
        self.passed_barrier.push(span);
    }
}

impl FileWorkload for Waits {
    type Session = Self;
    fn operations(&self) -> Vec<String> {
        Vec::new()
    }
    fn needs(&self) -> FileNeeds {
        Looks { depth: 1 }.needs()
    }
    fn session(&self, _: Identity) -> Self {
        Self::default()
    }
}

#[test]
fn a_session_is_told_what_its_thread_lacked_from_barrier_to_barrier() {
    let spec = TrialSpec::from_json(r#"{"workload":{},"load":{"clients":1},"length_s":2}"#).unwrap();
    let clock = VirtualClock(Rc::new(Cell::new(0)));
    let live = Arc::new(Live::new(1, None));
    let mut driver = FileDriver::new(&Waits::default(), &spec, live, Arc::default(), 0, 0, clock.clone());
    // Before the first barrier nothing is told; then: when it opened, when the session went on, when it came to the
    // next, and what the thread had waited for processors at these two moments.
    driver.arrived(Some(7 * MS));
    let steps = [
        (10, 10, 30, Some(7), Some(7)),      // it ran all the time
        (40, 58, 60, Some(7), Some(7)),      // it woke late, which no kernel counted
        (70, 70, 90, Some(7), Some(22)),     // it waited for a processor
        (100, 110, 120, Some(22), Some(27)), // both
        (130, 135, 140, None, None),         // a kernel that tells nothing
        (150, 150, 160, Some(30), Some(99)), // never more than there was
    ];
    for (opened_ms, on_ms, came_ms, then_ms, now_ms) in steps {
        let ns = |ms: u64| ms * MS;
        clock.0.set(ns(on_ms));
        driver.released(ns(opened_ms), 0, then_ms.map(ns));
        clock.0.set(ns(came_ms));
        driver.arrived(now_ms.map(ns));
    }
    let told: Vec<(u64, u64)> =
        driver.session().passed_barrier.iter().map(|span| (span.length_ns / MS, span.waited_ns / MS)).collect();
    assert_eq!(told, [(20, 0), (20, 18), (20, 15), (20, 15), (10, 5), (10, 10)]);
    assert!((driver.session().passed_barrier[1].waited_share() - 0.9).abs() < 1e-12);
    assert!(BarrierSpan::default().waited_share().abs() < 1e-12);
}
