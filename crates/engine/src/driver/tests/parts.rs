//! Operations of several parts: each has its own time and its own time-out, and what lies between them has neither.

use super::*;

const MS: Nanos = 1_000_000;
const THINK_NS: Nanos = 30 * MS;

/// Two requests with a pause between them.
struct Pair;

#[derive(Default)]
struct PairSession {
    part: u16,
    closed: bool,
}

fn outcome(error: Option<ErrorClass>) -> Outcome {
    Outcome { operation: 0, error, bytes_in: 0, bytes_out: 0, status: 0 }
}

impl Workload for Pair {
    type Session = PairSession;
    fn operations(&self) -> Vec<String> {
        vec!["pair".to_owned()]
    }
    fn steps(&self) -> Vec<String> {
        vec!["pair/one".to_owned(), "pair/two".to_owned()]
    }
    fn session(&self, _: Identity) -> PairSession {
        PairSession::default()
    }
}

impl Session for PairSession {
    fn begin(&mut self, actions: &mut Actions) {
        self.part = 0;
        actions.send = true;
    }
    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        match event {
            Event::Received(_) => Progress::Part(self.part),
            Event::Timer => {
                actions.send = true;
                actions.connect = self.closed.then_some(0);
                Progress::Pending
            }
            Event::Closed => {
                self.closed = true;
                Progress::Pending
            }
            _ => Progress::Pending,
        }
    }
    fn go_on(&mut self, actions: &mut Actions) -> Progress {
        if self.part == 1 {
            return Progress::Done(outcome(None));
        }
        self.part = 1;
        actions.timer_ns = Some(THINK_NS);
        Progress::Pending
    }
    fn outgoing(&self) -> &[u8] {
        b""
    }
    fn fail(&mut self, error: ErrorClass) -> Outcome {
        outcome(Some(error))
    }
}

struct Bench {
    clock: VirtualClock,
    driver: Driver<PairSession, VirtualClock>,
}

impl Bench {
    fn new() -> Self {
        let spec = spec(r#""load":{"clients":1},"length_s":10,"reply_timeout_s":1"#);
        let clock = VirtualClock(Rc::new(Cell::new(0)));
        let driver = Driver::new(&Pair, &spec, Arc::new(Live::new(1, None)), 0, 0, clock.clone());
        Self { clock, driver }
    }

    fn at(&mut self, now_ns: Nanos, event: Event<'_>) -> (Next, Actions) {
        self.clock.0.set(now_ns);
        let mut actions = Actions::NONE;
        (self.driver.event(0, event, &mut actions), actions)
    }

    fn begin(&mut self) {
        assert_eq!(self.driver.begin(0, 0, &mut Actions::NONE.clone()), Next::Begun);
    }

    fn step_ns(&self, step: usize) -> Vec<u64> {
        let times = &self.driver.recorder.session_steps[step].1;
        (0..times.count()).map(|_| times.to_hdr().max()).collect()
    }
}

fn near(times: &[u64], expected_ns: Nanos) -> bool {
    matches!(times, [time] if time.abs_diff(expected_ns) <= expected_ns / 500)
}

#[test]
fn each_part_has_its_time_and_the_pause_is_in_the_operation_alone() {
    let mut bench = Bench::new();
    bench.begin();
    let (next, actions) = bench.at(10 * MS, Event::Received(b"x"));
    assert_eq!((next, actions.timer_ns), (Next::Pending, Some(THINK_NS)));
    assert_eq!(bench.at(40 * MS, Event::Timer).0, Next::Pending);
    assert_eq!(bench.at(45 * MS, Event::Received(b"x")).0, Next::Begun);
    assert!(near(&bench.step_ns(0), 10 * MS) && near(&bench.step_ns(1), 5 * MS));
    let service = &bench.driver.recorder.operations[0].service;
    assert_eq!(service.count(), 1);
    assert!(near(&[service.to_hdr().max()], 45 * MS));
    assert_eq!(bench.driver.recorder.steps.first_byte.count(), 0, "the first byte of which reply?");
}

#[test]
fn a_part_that_was_answered_counts_though_its_operation_breaks_later() {
    let mut bench = Bench::new();
    bench.begin();
    bench.at(10 * MS, Event::Received(b"x"));
    bench.at(40 * MS, Event::Timer);
    bench.clock.0.set(50 * MS);
    bench.driver.failure(0, ErrorClass::ReplyTimeout, &mut Actions::NONE.clone());
    assert!(near(&bench.step_ns(0), 10 * MS) && bench.step_ns(1).is_empty());
    assert_eq!(bench.driver.recorder.operations[0].errors()[ErrorClass::ReplyTimeout as usize], 1);
    assert_eq!(bench.driver.recorder.operations[0].operations, 0);
}

#[test]
fn every_part_has_a_reply_time_out_of_its_own() {
    let mut bench = Bench::new();
    bench.begin();
    bench.at(900 * MS, Event::Received(b"x"));
    assert_eq!(bench.driver.overdue(0, 930 * MS), None, "nothing is asked");
    bench.at(930 * MS, Event::Timer);
    assert_eq!(bench.driver.overdue(0, 1_929 * MS), None);
    assert_eq!(bench.driver.overdue(0, 1_930 * MS), Some((0, ErrorClass::ReplyTimeout)));
}

#[test]
fn a_connection_that_is_reset_in_a_pause_is_opened_again_and_the_connects_add_up() {
    let mut bench = Bench::new();
    bench.begin();
    bench.clock.0.set(2 * MS);
    bench.driver.connected(0, false, &mut Actions::NONE.clone());
    bench.at(10 * MS, Event::Received(b"x"));
    bench.clock.0.set(20 * MS);
    let reset = bench.driver.failure(0, ErrorClass::ResetAfterFirstByte, &mut Actions::NONE.clone());
    assert_eq!(reset, Next::Pending, "nothing was asked of it");
    let (next, actions) = bench.at(40 * MS, Event::Timer);
    assert_eq!((next, actions.connect), (Next::Pending, Some(0)));
    bench.clock.0.set(43 * MS);
    bench.driver.connected(0, false, &mut Actions::NONE.clone());
    bench.at(50 * MS, Event::Received(b"x"));
    assert!(near(&bench.step_ns(1), 10 * MS), "a part has its connect");
    assert!(near(&[bench.driver.recorder.steps.connect.to_hdr().max()], 5 * MS));
    assert_eq!(bench.driver.recorder.steps.connect.count(), 1);
}
