//! Loads that do not wait, against servers whose answers are known.

use super::*;
use serde_json::json;

const MS: Nanos = 1_000_000;

fn rate(per_s: u32, arrivals: &str, clients: u32, extra: &str) -> TrialSpec {
    let load =
        format!(r#"{{"rate":{{"per_s":{per_s},"arrivals":{{"shape":"{arrivals}"}},"most_connections":{clients}}}}}"#);
    spec(&format!(r#""load":{load},{extra}"#))
}

#[test]
fn below_saturation_what_is_offered_is_achieved_to_the_unit() {
    for (clients, load_threads) in [(1, 1), (8, 1), (8, 3)] {
        let spec = rate(
            700,
            "constant",
            clients,
            &format!(r#""length_s":12,"ramp_up_s":1,"ramp_down_s":1,"load_threads":{load_threads}"#),
        );
        let result = simulate(&spec, |_| MS).json();
        assert_eq!(result["operations"], 7_000);
        let starts = &result["starts"];
        assert_eq!((&starts["offered"], &starts["started"]), (&7_000.into(), &7_000.into()));
        assert_eq!(starts["answered"], 7_000);
        assert_eq!((&starts["never_started"], &starts["late"]["count"]), (&0.into(), &0.into()));
        assert_eq!(result["response"], result["service"]);
        assert_eq!(result["per_operation"][0]["response"], result["response"]);
    }
}

#[test]
fn a_start_past_the_bound_of_a_trial_uses_no_connection() {
    // The fourth start finds all three busy, and nothing left to begin.
    let result = simulate(&rate(1_000, "constant", 8, r#""length_s":60,"max_operations":3"#), |_| 5 * MS).json();
    assert_eq!((&result["operations"], &result["starts"]["connections_used"]), (&3.into(), &3.into()));
}

#[test]
fn a_closed_loop_has_no_plan_and_no_response_time() {
    let result = simulate(&spec(r#""load":{"clients":2},"length_s":1,"think_s":0.01"#), |_| MS);
    assert!(result.json()["starts"].is_null() && result.json()["response"].is_null());
    assert!(result.json()["per_operation"][0]["response"].is_null());
    assert!(!result.told().1.keys().any(|name| name.starts_with("response")));
}

#[test]
fn a_server_that_is_too_slow_shows_in_late_starts_and_in_those_that_never_were() {
    // 1,000 a second for a second; the one client gets done with 667 of them, each but the first late.
    let result = simulate(&rate(1_000, "constant", 1, r#""length_s":1"#), |_| 1_500_000).json();
    let starts = &result["starts"];
    assert_eq!(
        (&starts["offered"], &starts["started"], &starts["never_started"]),
        (&1_000.into(), &667.into(), &333.into())
    );
    assert_eq!(starts["late"]["count"], 666);
    assert!((starts["late"]["max_ns"].as_f64().unwrap() / 333e6 - 1.0).abs() < 0.001, "{starts}");
    assert!((result["service"]["max_ns"].as_f64().unwrap() / 1.5e6 - 1.0).abs() < 0.001);
    assert_eq!(result["operations"], 666, "the last one ended after the window");
    assert_eq!(starts["answered"], 666);
}

#[test]
fn a_server_that_hangs_leaves_all_but_its_clients_starts_undone() {
    let result = simulate(&rate(10, "constant", 3, r#""length_s":10"#), |_| 100 * SECOND_NS).json();
    let starts = &result["starts"];
    assert_eq!(
        (&starts["offered"], &starts["started"], &starts["never_started"]),
        (&100.into(), &3.into(), &97.into())
    );
    assert_eq!((&starts["late"]["count"], &starts["answered"]), (&0.into(), &0.into()));
    // All of them have waited, the first for as long as the window lasts.
    assert_eq!(result["response"]["count"], 100);
    assert!((result["response"]["max_ns"].as_f64().unwrap() / 10e9 - 1.0).abs() < 0.001);
    assert_eq!(starts["queue"], json!((0..=50).map(|stretch| stretch * 2).collect::<Vec<_>>()));
}

#[test]
fn a_stall_shows_in_the_response_time_that_the_service_time_hides() {
    // One second in every ten nothing is answered.
    let stall = |now: Nanos| (10 * SECOND_NS - now % (10 * SECOND_NS)).min(SECOND_NS) % SECOND_NS + MS;
    let result = simulate(&rate(1_000, "constant", 4, r#""length_s":60"#), stall);
    let (json, histograms) = result.clone().told();
    let p90 = |what: &str| crate::quantiles(&histograms[what], &[0.9]).unwrap()[0];
    assert!(p90("service") < 5 * MS && p90("response") > 50 * MS, "{json}");
    assert_eq!(result.json()["starts"]["offered"], 60_000);
}

#[test]
fn poisson_arrivals_at_a_single_server_wait_as_theory_says() {
    // M/D/1 at 80 %: 1 ms of service after a mean wait of 1 ms × 0.8 / (2 × 0.2).
    let result = simulate(&rate(800, "poisson", 1, r#""length_s":2000"#), |_| MS).json();
    let mean_ms = result["response"]["mean_ns"].as_f64().unwrap() / 1e6;
    assert!((mean_ms / 3.0 - 1.0).abs() < 0.05, "{mean_ms}");
    let offered = result["starts"]["offered"].as_f64().unwrap();
    // Five deviations of a Poisson count.
    assert!((offered - 1.6e6).abs() < 5.0 * 1.6e6_f64.sqrt(), "{offered}");
}

/// As [`Ping`], but `of_iteration` operations belong together; sessions note which start they are for.
struct Together {
    of_iteration: u32,
    in_turn: bool,
}

struct TogetherSession {
    of_iteration: u32,
    left: u32,
    starts: Vec<u64>,
}

impl Workload for Together {
    type Session = TogetherSession;
    fn operations(&self) -> Vec<String> {
        vec!["ping".to_owned()]
    }
    fn is_round_robin(&self) -> bool {
        self.in_turn
    }
    fn moments(&self) -> Option<Arc<[Nanos]>> {
        Some(Arc::new([MS, 4 * MS, 4 * MS]))
    }
    fn session(&self, _: Identity) -> TogetherSession {
        TogetherSession { of_iteration: self.of_iteration, left: self.of_iteration, starts: Vec::new() }
    }
}

impl Session for TogetherSession {
    fn assigned(&mut self, start: u64) {
        self.starts.push(start);
    }
    fn begin(&mut self, actions: &mut Actions) {
        actions.send = true;
    }
    fn advance(&mut self, event: Event<'_>, actions: &mut Actions) -> Progress {
        self.left = if self.left == 1 { self.of_iteration } else { self.left - 1 };
        PingSession.advance(event, actions)
    }
    fn goes_on(&self) -> bool {
        self.left < self.of_iteration
    }
    fn outgoing(&self) -> &[u8] {
        b"ping"
    }
    fn fail(&mut self, error: ErrorClass) -> Outcome {
        PingSession.fail(error)
    }
}

struct Bench {
    clock: VirtualClock,
    driver: Driver<TogetherSession, VirtualClock>,
}

impl Bench {
    fn new(workload: &Together, spec: &TrialSpec) -> Self {
        let clock = VirtualClock(Rc::new(Cell::new(0)));
        Self { driver: Driver::new(workload, spec, Arc::new(Live::new(1, None)), 0, 0, clock.clone()), clock }
    }

    /// Begins what is due at a moment; which virtual user took it.
    fn start(&mut self, at_ns: Nanos) -> Option<usize> {
        self.clock.0.set(at_ns);
        let (vu, next) = self.driver.begin_planned(&mut Actions::default())?;
        assert_eq!(next, Next::Begun);
        Some(vu)
    }

    fn reply(&mut self, vu: usize, at_ns: Nanos) -> Next {
        self.clock.0.set(at_ns);
        self.driver.event(vu, Event::Received(b"pong"), &mut Actions::default())
    }

    fn end(mut self, at_ns: Nanos) -> (crate::result::collect::ThreadTotals, Vec<Vec<u64>>) {
        self.driver.stop_counting(at_ns);
        let (recorder, sessions) = self.driver.into_parts();
        let starts = sessions.into_iter().map(|(_, session)| session.starts).collect();
        (crate::result::collect::gather(&[recorder]), starts)
    }
}

#[test]
fn the_virtual_user_that_became_idle_last_begins_and_others_only_when_it_is_busy() {
    let spec = rate(1_000, "constant", 3, r#""length_s":1"#);
    let mut bench = Bench::new(&Together { of_iteration: 1, in_turn: false }, &spec);
    assert_eq!((bench.start(0), bench.start(MS / 2), bench.start(MS)), (Some(0), None, Some(1)));
    assert_eq!((bench.reply(0, MS + 1), bench.reply(1, MS + 2)), (Next::Idle, Next::Idle));
    assert_eq!((bench.start(2 * MS), bench.start(3 * MS)), (Some(1), Some(0)));
    assert_eq!((bench.reply(1, 3 * MS + 1), bench.start(4 * MS)), (Next::Idle, Some(1)));
    let (merged, starts) = bench.end(SECOND_NS);
    assert_eq!(starts, [vec![0, 3], vec![1, 2, 4], vec![]]);
    assert_eq!(merged.planned.unwrap().connections_used, 2);
}

#[test]
fn virtual_users_that_share_a_connection_are_used_before_another_is_opened() {
    let spec = rate(1_000, "constant", 3, r#""length_s":1,"streams":4"#);
    let mut bench = Bench::new(&Together { of_iteration: 1, in_turn: false }, &spec);
    assert!((0..5).all(|nth| bench.start(nth * MS) == Some(nth as usize)));
    assert_eq!(bench.end(SECOND_NS).0.planned.unwrap().connections_used, 2);
}

#[test]
fn virtual_users_that_are_somebody_begin_in_turn() {
    let spec = rate(1_000, "constant", 3, r#""length_s":1"#);
    let mut bench = Bench::new(&Together { of_iteration: 1, in_turn: true }, &spec);
    for nth in 0..7 {
        let vu = (nth % 3) as usize;
        assert_eq!((bench.start(nth * MS), bench.reply(vu, nth * MS + 1)), (Some(vu), Next::Idle));
    }
    assert_eq!(bench.end(SECOND_NS).0.planned.unwrap().connections_used, 3);
}

#[test]
fn starts_that_find_nobody_idle_wait_in_their_order_and_are_counted() {
    let spec = rate(1_000, "constant", 2, r#""length_s":0.006"#);
    let mut bench = Bench::new(&Together { of_iteration: 1, in_turn: false }, &spec);
    assert_eq!((bench.start(0), bench.start(MS), bench.start(2 * MS)), (Some(0), Some(1), None));
    assert_eq!(bench.driver.next_start_ns(), Nanos::MAX, "nothing to wake up for");
    // The starts of 2 and 3 ms begin with the replies, those of 4 and 5 ms never.
    assert_eq!((bench.reply(1, 4 * MS), bench.reply(0, 5 * MS)), (Next::Begun, Next::Begun));
    let (merged, starts) = bench.end(6 * MS);
    let planned = merged.planned.unwrap();
    assert_eq!(starts, [[0, 3], [1, 2]]);
    assert_eq!((planned.offered, planned.started, planned.ran_out, planned.late.count()), (6, 4, 4, 2));
    assert!((planned.late.to_hdr().max() as f64 / 2e6 - 1.0).abs() < 0.001);
}

#[test]
fn a_start_that_the_generator_was_late_for_found_somebody_idle() {
    let spec = rate(1_000, "constant", 2, r#""length_s":1"#);
    let mut bench = Bench::new(&Together { of_iteration: 1, in_turn: false }, &spec);
    assert_eq!(bench.start(0), Some(0));
    // The second is due when the reply to the first is looked at; the other virtual user was idle all the time.
    assert_eq!(bench.reply(0, MS + 7), Next::Begun);
    let (merged, _) = bench.end(SECOND_NS);
    assert_eq!((merged.late_start.count(), merged.planned.unwrap().ran_out), (2, 0));
}

#[test]
fn an_iteration_is_one_start_and_its_lateness_is_that_of_all_its_operations() {
    let spec = rate(1_000, "constant", 1, r#""length_s":0.004"#);
    let mut bench = Bench::new(&Together { of_iteration: 3, in_turn: false }, &spec);
    assert_eq!(bench.start(0), Some(0));
    let replies: Vec<_> = (1..=6).map(|nth| bench.reply(0, nth * MS / 2)).collect();
    assert_eq!(replies, [Next::Begun; 6]);
    let (merged, starts) = bench.end(4 * MS);
    let planned = merged.planned.unwrap();
    // The second iteration was due at 1 ms and began at 1.5 ms, the third at 2 and 3 ms.
    assert_eq!(starts, [[0, 1, 2]]);
    assert_eq!((planned.offered, planned.started, planned.ran_out), (4, 3, 3));
    let response: Vec<_> = [0.5, 0.99].iter().map(|q| planned.response[0].to_hdr().value_at_quantile(*q)).collect();
    assert!((response[0] as f64 / 0.5e6 - 1.0).abs() < 0.001 && (response[1] as f64 / 1e6 - 1.0).abs() < 0.001);
    assert_eq!(planned.response[0].count(), 6);
}

#[test]
fn a_turn_that_fails_goes_on_after_a_pause_and_a_plan_is_kept() {
    let spec = rate(1_000, "constant", 1, r#""length_s":1"#);
    let mut bench = Bench::new(&Together { of_iteration: 3, in_turn: false }, &spec);
    assert_eq!((bench.start(0), bench.reply(0, 0)), (Some(0), Next::Begun));
    let mut fail = |at_ns| {
        bench.clock.0.set(at_ns);
        bench.driver.failure(0, ErrorClass::Refused, &mut Actions::default())
    };
    assert_eq!((fail(0), fail(0)), (Next::Begun, Next::Wait(BACK_OFF_FIRST_NS)));
}

#[test]
fn a_workload_that_knows_its_moments_is_asked_for_them() {
    let load = r#"{"rate":{"per_s":1,"arrivals":{"shape":"replay","at_s":[]},"most_connections":3}}"#;
    let mut bench =
        Bench::new(&Together { of_iteration: 1, in_turn: false }, &spec(&format!(r#""load":{load},"length_s":1"#)));
    assert_eq!((bench.start(MS - 1), bench.start(MS)), (None, Some(0)));
    assert_eq!(
        (bench.start(4 * MS), bench.start(4 * MS), bench.driver.next_start_ns()),
        (Some(1), Some(2), Nanos::MAX)
    );
    let planned = bench.end(SECOND_NS).0.planned.unwrap();
    assert_eq!((planned.offered, planned.started), (3, 3));
}

#[test]
fn every_shape_begins_all_its_starts_below_saturation() {
    for shape in [
        r#"{"shape":"constant"}"#,
        r#"{"shape":"poisson"}"#,
        r#"{"shape":"uniform"}"#,
        r#"{"shape":"ramp","from":0.5,"to":1.5}"#,
        r#"{"shape":"steps","steps":[[1,0.5],[2,0.5]]}"#,
        r#"{"shape":"burst","size":20}"#,
        r#"{"shape":"on_off","on_s":0.5,"off_s":0.25}"#,
        r#"{"shape":"replay","at_s":[0,0.5,1,1.5,1.5,1.9]}"#,
    ] {
        for load_threads in [1, 3] {
            let load = format!(r#"{{"rate":{{"per_s":200,"arrivals":{shape},"most_connections":60}}}}"#);
            // Nothing is planned for the last second: what was offered has ended as well.
            let spec = spec(&format!(r#""load":{load},"length_s":3,"ramp_down_s":1,"load_threads":{load_threads}"#));
            let result = simulate(&spec, |_| MS / 10).json();
            let starts = &result["starts"];
            assert!(starts["offered"].as_u64().unwrap() > 5, "{shape}");
            assert_eq!((&starts["started"], &starts["ran_out"]), (&starts["offered"], &0.into()), "{shape}");
        }
    }
}

/// A single server that takes all that comes and serves in order, a millisecond each: when each of these moments ends.
fn served(at_ns: &[Nanos]) -> Vec<Nanos> {
    let ends = at_ns.iter().scan(0, |end_ns, at_ns| {
        *end_ns = (*end_ns).max(*at_ns) + MS;
        Some(*end_ns)
    });
    ends.collect()
}

#[test]
fn poisson_arrivals_queue_at_the_server_as_a_simulation_fed_with_them_says() {
    let spec = rate(800, "poisson", 1_000, r#""length_s":500,"ramp_down_s":1"#);
    let free_ns = Cell::new(0);
    let arrivals = std::cell::RefCell::new(Vec::new());
    let result = simulate(&spec, |now_ns| {
        arrivals.borrow_mut().push(now_ns);
        free_ns.set(free_ns.get().max(now_ns) + MS);
        free_ns.get() - now_ns
    });
    let (arrivals, result) = (arrivals.into_inner(), result.json());
    let starts = &result["starts"];
    assert_eq!((&starts["ran_out"], &starts["started"]), (&0.into(), &starts["offered"]));
    // What was due and is not over at the window's end has waited until then.
    let times = served(&arrivals).into_iter().zip(&arrivals).filter(|(_, at_ns)| **at_ns < 499 * SECOND_NS);
    let times: Vec<_> = times.map(|(end_ns, at_ns)| (end_ns.min(499 * SECOND_NS) - at_ns) as f64).collect();
    let mean_ns = result["response"]["mean_ns"].as_f64().unwrap();
    // Three digits of a histogram.
    assert!((mean_ns / (times.iter().sum::<f64>() / times.len() as f64) - 1.0).abs() < 0.001, "{mean_ns}");
    assert_eq!(result["response"]["count"], times.len());
    // Every connection that was needed at a time, and no other, is told of.
    assert_eq!(result["per_client"].as_array().unwrap().len(), starts["connections_used"].as_u64().unwrap() as usize);
}

#[test]
fn a_dead_server_gets_what_was_planned_and_no_more() {
    let spec = rate(1_000, "constant", 1, r#""length_s":1"#);
    let clock = VirtualClock(Rc::new(Cell::new(0)));
    let mut driver = Driver::new(&Ping, &spec, Arc::new(Live::new(1, None)), 0, 0, clock.clone());
    let mut actions = Actions::NONE;
    for nth in 0..1_000 {
        let at_ns = driver.next_start_ns();
        assert_eq!(at_ns, nth * MS, "no back-off puts a plan off");
        clock.0.set(at_ns);
        assert_eq!(driver.begin_planned(&mut actions), Some((0, Next::Begun)));
        assert_eq!(driver.next_start_ns(), Nanos::MAX, "nobody is idle");
        assert_eq!(driver.failure(0, ErrorClass::Refused, &mut actions), Next::Idle);
    }
    assert!(driver.is_finished());
}

#[test]
fn a_count_bounds_a_rate_as_well() {
    let result = simulate(&rate(500, "constant", 4, r#""length_s":60,"max_operations":100"#), |_| MS).json();
    assert_eq!(result["operations"], 100);
    assert_eq!((&result["starts"]["offered"], &result["starts"]["never_started"]), (&100.into(), &0.into()));
}

#[test]
fn the_queue_tells_a_pause_at_the_end_from_a_server_that_is_too_slow() {
    let queue = |service: &dyn Fn(Nanos) -> Nanos, free_ns: Cell<Nanos>| {
        let result = simulate(&rate(1_000, "constant", 5_000, r#""length_s":10"#), |now_ns| {
            free_ns.set(free_ns.get().max(now_ns) + service(now_ns));
            free_ns.get() - now_ns
        });
        (result.starts.clone().unwrap().queue.unwrap(), result.json())
    };
    // 95 % of what is offered: of 200 starts in each stretch 10 are left over.
    let (slow, _) = queue(&|_| MS * 100 / 95, Cell::new(0));
    assert!(slow.iter().zip(0..).all(|(length, stretch)| (length - 10 * stretch).abs() <= 1), "{slow:?}");
    // Nothing is answered in the last second: those that wait then are in the response times all the same.
    let paused = |now_ns| if now_ns >= 9 * SECOND_NS { 2 * SECOND_NS } else { MS / 2 };
    let (paused, figures) = queue(&paused, Cell::new(0));
    assert!(paused[..=45].iter().all(|length| *length <= 1) && paused[50] == 1_000, "{paused:?}");
    assert_eq!((&figures["starts"]["answered"], &figures["response"]["count"]), (&9_000.into(), &10_000.into()));
    assert!(
        figures["response"]["p99_ns"].as_f64().unwrap() > 0.89e9
            && figures["service"]["p99_ns"].as_f64().unwrap() < 1e6
    );
}
