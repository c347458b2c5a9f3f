//! Loads that do not wait, against servers whose answers are known.

use super::*;

const MS: Nanos = 1_000_000;

fn rate(per_s: u32, arrivals: &str, clients: u32, extra: &str) -> TrialSpec {
    let load =
        format!(r#"{{"rate":{{"per_s":{per_s},"arrivals":{{"shape":"{arrivals}"}},"most_connections":{clients}}}}}"#);
    spec(&format!(r#""load":{load},{extra}"#))
}

#[test]
fn below_saturation_what_is_offered_is_achieved_to_the_unit() {
    for (clients, cores) in [(1, 1), (8, 1), (8, 3)] {
        let spec =
            rate(700, "constant", clients, &format!(r#""length_s":12,"ramp_up_s":1,"ramp_down_s":1,"cores":{cores}"#));
        let result = simulate(&spec, |_| MS).json;
        assert_eq!(result["operations"], 7_000);
        let starts = &result["starts"];
        assert_eq!((&starts["offered"], &starts["started"]), (&7_000.into(), &7_000.into()));
        assert_eq!((&starts["never_started"], &starts["late"]["count"]), (&0.into(), &0.into()));
        assert_eq!(result["response"], result["service"]);
        assert_eq!(result["per_operation"][0]["response"], result["response"]);
    }
}

#[test]
fn a_closed_loop_has_no_plan_and_no_response_time() {
    let result = simulate(&spec(r#""load":{"clients":2},"length_s":1,"think_s":0.01"#), |_| MS);
    assert!(result.json["starts"].is_null() && result.json["response"].is_null());
    assert!(result.json["per_operation"][0]["response"].is_null());
    assert!(!result.histograms.keys().any(|name| name.starts_with("response")));
}

#[test]
fn a_server_that_is_too_slow_shows_in_late_starts_and_in_those_that_never_were() {
    // 1,000 a second for a second; the one client gets done with 667 of them, each but the first late.
    let result = simulate(&rate(1_000, "constant", 1, r#""length_s":1"#), |_| 1_500_000).json;
    let starts = &result["starts"];
    assert_eq!(
        (&starts["offered"], &starts["started"], &starts["never_started"]),
        (&1_000.into(), &667.into(), &333.into())
    );
    assert_eq!(starts["late"]["count"], 666);
    assert!((starts["late"]["max_ns"].as_f64().unwrap() / 333e6 - 1.0).abs() < 0.001, "{starts}");
    assert!((result["service"]["max_ns"].as_f64().unwrap() / 1.5e6 - 1.0).abs() < 0.001);
    assert_eq!(result["operations"], 666, "the last one ended after the window");
}

#[test]
fn a_server_that_hangs_leaves_all_but_its_clients_starts_undone() {
    let result = simulate(&rate(10, "constant", 3, r#""length_s":10"#), |_| 100 * SECOND_NS).json;
    let starts = &result["starts"];
    assert_eq!(
        (&starts["offered"], &starts["started"], &starts["never_started"]),
        (&100.into(), &3.into(), &97.into())
    );
    assert_eq!((&starts["late"]["count"], &result["response"]["count"]), (&0.into(), &0.into()));
}

#[test]
fn a_stall_shows_in_the_response_time_that_the_service_time_hides() {
    // One second in every ten nothing is answered.
    let stall = |now: Nanos| (10 * SECOND_NS - now % (10 * SECOND_NS)).min(SECOND_NS) % SECOND_NS + MS;
    let result = simulate(&rate(1_000, "constant", 4, r#""length_s":60"#), stall);
    let p90 = |what: &str| crate::quantiles(&result.histograms[what], &[0.9]).unwrap()[0];
    assert!(p90("service") < 5 * MS && p90("response") > 50 * MS, "{}", result.json);
    assert_eq!(result.json["starts"]["offered"], 60_000);
}

#[test]
fn poisson_arrivals_at_a_single_server_wait_as_theory_says() {
    // M/D/1 at 80 %: 1 ms of service after a mean wait of 1 ms × 0.8 / (2 × 0.2).
    let result = simulate(&rate(800, "poisson", 1, r#""length_s":2000"#), |_| MS).json;
    let mean_ms = result["response"]["mean_ns"].as_f64().unwrap() / 1e6;
    assert!((mean_ms / 3.0 - 1.0).abs() < 0.05, "{mean_ms}");
    let offered = result["starts"]["offered"].as_f64().unwrap();
    // Five deviations of a Poisson count.
    assert!((offered - 1.6e6).abs() < 5.0 * 1.6e6_f64.sqrt(), "{offered}");
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
    let result = simulate(&rate(500, "constant", 4, r#""length_s":60,"max_operations":100"#), |_| MS).json;
    assert_eq!(result["operations"], 100);
    assert_eq!((&result["starts"]["offered"], &result["starts"]["never_started"]), (&100.into(), &0.into()));
}
