//! Several machines with a slice of the load each, in virtual time: together they are the one that has it all.

use super::*;
use crate::{SliceResult, add_counts, merge_slices};
use serde_json::{Value, json};

const SHAPES: [&str; 8] = [
    r#"{"shape":"constant"}"#,
    r#"{"shape":"poisson"}"#,
    r#"{"shape":"uniform"}"#,
    r#"{"shape":"ramp","from":0.2,"to":1.8}"#,
    r#"{"shape":"steps","steps":[[1,0.3],[0,0.4],[3,1]]}"#,
    r#"{"shape":"burst","size":7}"#,
    r#"{"shape":"on_off","on_s":0.5,"off_s":0.2}"#,
    r#"{"shape":"replay","at_s":[0,0.1,0.1,0.5,0.9,1.5,1.5,1.7]}"#,
];

fn with(load: &str, load_threads: u32, slice: (u32, u32)) -> TrialSpec {
    let (index, of) = slice;
    spec(&format!(
        r#""load":{load},"length_s":2,"ramp_up_s":0.5,"ramp_down_s":0.25,"load_threads":{load_threads},
        "slice":{{"index":{index},"of":{of}}}"#
    ))
}

fn rate(per_s: f64, shape: &str, most: u32) -> String {
    format!(r#"{{"rate":{{"per_s":{per_s},"arrivals":{shape},"most_connections":{most}}}}}"#)
}

/// What a machine with this part gives, as it crosses the seam.
fn machine(spec: &TrialSpec, service_ns: Nanos) -> SliceResult {
    let recorders =
        (0..spec.load_threads as usize).map(|thread| simulate_thread(spec, thread, |_| service_ns)).collect();
    let timeline = spec.timeline(0);
    let window_ns = timeline.window_end_ns - timeline.window_start_ns;
    let threads = vec![ThreadFigures { window_ns, ..ThreadFigures::default() }; spec.load_threads as usize];
    let figures = GeneratorFigures { slice: Some(spec.own_clients()), ..GeneratorFigures::default() };
    let result = collect(&["ping".to_owned()], recorders, &threads, &figures);
    SliceResult { name: format!("m{}", spec.slice.index), result }
}

/// Figures that do not depend on who has how many threads, with the histograms they stand for.
fn told(parts: &[SliceResult]) -> (Value, Vec<(String, Vec<u8>)>) {
    let merged = merge_slices(parts, |figures| Ok(add_counts(figures))).unwrap();
    let figures = ["operations", "errors_total", "starts", "service", "response", "per_operation", "per_second"];
    let told = merged.json();
    let json = figures.map(|name| (name.to_owned(), told[name].clone()));
    let blobs = merged.told().1.into_iter().filter(|(name, _)| !name.starts_with("step/")).collect();
    (json!(json.into_iter().collect::<serde_json::Map<_, _>>()), blobs)
}

#[test]
fn slices_of_a_rate_are_together_what_one_machine_sends() {
    for shape in SHAPES {
        let load = rate(1_000.0, shape, 400);
        for of in 1..=7 {
            // Machines need not have as many load threads as each other; Poisson's have, so that one has as many in
            // all.
            let poisson = shape.contains("poisson");
            let load_threads = |index: u32| if poisson { 2 } else { 1 + (index + of) % 3 };
            let parts: Vec<_> =
                (0..of).map(|index| machine(&with(&load, load_threads(index), (index, of)), 900_000)).collect();
            let whole = machine(&with(&load, if poisson { 2 * of } else { 1 }, (0, 1)), 900_000);
            let (mut together, mut alone) = (told(&parts), told(&[whole]));
            // Each load thread has its own.
            for told in [&mut together, &mut alone] {
                told.0["starts"]["connections_used"].take();
            }
            assert_eq!(together.0, alone.0, "{shape} {of}");
            assert_eq!(together.1, alone.1, "{shape} {of}");
            let starts = &together.0["starts"];
            assert!(starts["offered"].as_u64().unwrap() > 0 && starts["offered"] == starts["started"], "{shape} {of}");
        }
    }
}

#[test]
fn a_rate_of_fewer_starts_than_machines_is_sent_once() {
    let load = rate(1.0, SHAPES[0], 100);
    let parts: Vec<_> = (0..7).map(|index| machine(&with(&load, 2, (index, 7)), 900_000)).collect();
    let (figures, _) = told(&parts);
    // The window has one of the two starts.
    assert_eq!((&figures["starts"]["offered"], &figures["starts"]["answered"]), (&json!(1), &json!(1)));
    assert_eq!(figures["operations"], 1);
}

#[test]
fn starts_that_wait_and_those_that_never_are_add_up() {
    // 8 connections of 20 ms carry 400 a second of 1,000.
    let load = rate(1_000.0, SHAPES[0], 8);
    let parts: Vec<_> = (0..4).map(|index| machine(&with(&load, 1, (index, 4)), 20_000_000)).collect();
    let (figures, _) = told(&parts);
    let (whole, _) = told(&[machine(&with(&load, 1, (0, 1)), 20_000_000)]);
    for name in ["offered", "started", "never_started", "answered", "ran_out", "connections_used"] {
        let (together, alone) = (figures["starts"][name].as_i64().unwrap(), whole["starts"][name].as_i64().unwrap());
        assert!((together - alone).abs() <= 8, "{name} {together} {alone}");
    }
    assert_eq!(figures["starts"]["connections_used"], 8);
    assert!(figures["starts"]["never_started"].as_u64().unwrap() > 500);
}

#[test]
fn a_closed_loop_begins_alike_on_any_machine_that_drives_its_clients() {
    for extra in [r#""delay_s":1"#, r#""delay_s":1,"think_s":0.1,"think_distribution":"exponential""#] {
        let starts = |load_threads: u32, of: u32| {
            let mut all: Vec<_> = (0..of)
                .flat_map(|index| {
                    let slice = format!(r#""slice":{{"index":{index},"of":{of}}}"#);
                    let spec = spec(&format!(
                        r#""load":{{"clients":40}},"virtual_users":2,"length_s":9,"load_threads":{load_threads},{extra},{slice}"#
                    ));
                    let first = |thread| {
                        let clock = VirtualClock(Rc::new(Cell::new(0)));
                        let live = Arc::new(Live::new(load_threads as usize, None));
                        let mut driver = Driver::new(&Ping, &spec, live, thread, 0, clock);
                        let starts = driver.first_starts(&spec);
                        starts.into_iter().map(|(vu, at_ns)| (driver.vus[vu].client, at_ns)).collect::<Vec<_>>()
                    };
                    (0..load_threads as usize).flat_map(first).collect::<Vec<_>>()
                })
                .collect();
            all.sort_unstable();
            all
        };
        let whole = starts(1, 1);
        assert!(whole.len() == 80 && whole.iter().any(|(_, at_ns)| *at_ns > SECOND_NS / 2));
        for of in 2..=7 {
            assert_eq!(starts(1 + of % 3, of), whole, "{of}");
        }
    }
}
