use super::*;
use crate::{ErrorClass, GeneratorFigures, Outcome, Recorder, Rng, Stamps, ThreadFigures, Timeline, collect};

const CLIENTS: u32 = 7;
const SECOND: u64 = 1_000_000_000;
fn added(parts: &[&Value]) -> Result<Value, String> {
    Ok(add_counts(parts))
}

const NAMES: [&str; 2] = ["read", "write"];

/// What one load thread of `clients` saw: operations of every kind, in and outside of the window.
fn recorded(clients: std::ops::Range<u32>, timeline: Timeline) -> Recorder {
    let mut recorder = Recorder::new(timeline, NAMES.len(), CLIENTS as usize).with_steps(vec!["queue".into()]);
    for client in clients {
        let mut rng = Rng::for_thread(9, client, 0);
        for _ in 0..200 {
            let start_ns = rng.below(5 * SECOND);
            let longest_ns = SECOND / (1 + rng.below(1_000));
            let end_ns = start_ns + 1_000 + rng.below(longest_ns);
            let error = (rng.below(20) == 0).then_some(ErrorClass::Refused);
            let operation = rng.below(2) as u16;
            let status = [0, 200, 404][rng.below(3) as usize];
            let outcome = Outcome { operation, error, bytes_in: rng.below(5_000), bytes_out: 7, status };
            // Only some machines have seen connections, and only others first bytes.
            let connect_ns = (client < 3).then(|| rng.below(9_000));
            let first_byte_ns = (client > 3).then(|| start_ns + 500);
            let stamps = Stamps { start_ns, end_ns, connect_ns, first_byte_ns, sent_ns: start_ns, ..Stamps::default() };
            recorder.record(client, &outcome, &stamps);
            recorder.late_start(rng.below(100_000));
            recorder.record_told_steps(end_ns, &[(0, rng.below(1_000))]);
        }
    }
    recorder
}

fn thread(client: u32) -> ThreadFigures {
    let more = u64::from(client);
    ThreadFigures {
        cpu_ns: 1_234_567 * (more + 1),
        run_delay_ns: Some(1_000 * more),
        window_ns: 3 * SECOND,
        polled_ns: 77 * more,
        unfinished: more,
        oldest_unfinished_ns: 5_000 * more,
        ..ThreadFigures::default()
    }
}

fn figures(slice: Option<std::ops::Range<u32>>) -> GeneratorFigures {
    let clients = slice.clone().unwrap_or(0..CLIENTS).len();
    let mut transport = serde_json::Map::new();
    transport.insert("tls_full".into(), json!(clients));
    transport.insert("receive_buffer_bytes".into(), json!(4_096));
    GeneratorFigures {
        elapsed_ns: 5 * SECOND,
        rss_bytes: 1 << 20,
        transport,
        workload: json!({"stale": clients, "inner": {"hashed": 2 * clients}, "server": "same"}),
        slice,
        ..GeneratorFigures::default()
    }
}

/// The result of machines that drive these clients, each client by a load thread of its own.
fn result(clients: std::ops::Range<u32>, slice: Option<std::ops::Range<u32>>) -> TrialResult {
    let timeline = Timeline::new(0, SECOND, 5 * SECOND, SECOND);
    let recorders: Vec<_> = clients.clone().map(|client| recorded(client..client + 1, timeline)).collect();
    let threads: Vec<_> = clients.map(thread).collect();
    collect(&NAMES.map(str::to_owned), recorders, &threads, &figures(slice))
}

fn slices(parts: &[std::ops::Range<u32>]) -> Vec<SliceResult> {
    let slice = |part: &std::ops::Range<u32>| SliceResult {
        name: format!("from {}", part.start),
        result: result(part.clone(), Some(part.clone())),
    };
    parts.iter().map(slice).collect()
}

#[test]
fn slices_together_are_what_one_recorder_of_all_gives() {
    let whole = result(0..CLIENTS, None);
    assert!(whole.json["operations"].as_u64().unwrap() > 500 && whole.json["errors_total"].as_u64().unwrap() > 20);
    let cuts: [&[u32]; 4] = [&[0, 7], &[0, 3, 7], &[0, 2, 4, 7], &[0, 1, 2, 3, 4, 5, 6, 7]];
    for cuts in cuts {
        let parts: Vec<_> = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let merged = merge_slices(&slices(&parts), added).unwrap();
        let mut expected = whole.json.clone();
        // Each machine has its own.
        expected["generator"]["disturbances"] = Value::Null;
        assert_eq!(merged.json, expected, "{parts:?}");
        assert_eq!(merged.histograms, whole.histograms, "{parts:?}");
    }
}

#[test]
fn the_order_of_slices_decides_nothing_but_who_is_named_first() {
    let mut parts = slices(&[0..2, 2..4, 4..7]);
    let merged = merge_slices(&parts, added).unwrap();
    parts.reverse();
    let reversed = merge_slices(&parts, added).unwrap();
    assert_eq!(merged.histograms, reversed.histograms);
    assert_eq!(merged.json["per_client"], reversed.json["per_client"]);
    assert_eq!(merged.json["per_second"], reversed.json["per_second"]);
    assert_eq!(merged.json["generator"], reversed.json["generator"]);
    assert_eq!(merged.json["steps"], reversed.json["steps"]);
}

#[test]
fn one_machine_that_was_stopped_or_failed_speaks_for_all_and_is_named() {
    let mut parts = slices(&[0..3, 3..7]);
    parts[1].result.json["cancelled"] = json!(true);
    parts[1].result.json["fatal"] = json!("the disk is gone");
    let merged = merge_slices(&parts, added).unwrap();
    assert_eq!(merged.json["cancelled"], true);
    assert_eq!(merged.json["fatal"], "from 3: the disk is gone");
}

#[test]
fn seconds_that_only_one_machine_had_stand_alone() {
    let mut parts = slices(&[0..3, 3..7]);
    parts[0].result.json["per_second"].as_array_mut().unwrap().pop();
    let merged = merge_slices(&parts, added).unwrap();
    let rows = merged.json["per_second"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[4]["operations"], parts[1].result.json["per_second"][4]["operations"]);
}

#[test]
fn what_does_not_fit_together_is_an_error_that_names_the_machine() {
    assert!(merge_slices(&[], added).is_err());
    let told = |change: fn(&mut SliceResult)| {
        let mut parts = slices(&[0..3, 3..7]);
        change(&mut parts[1]);
        merge_slices(&parts, added).unwrap_err().to_string()
    };
    assert_eq!(
        told(|part| part.result.json["operations"] = json!("many")),
        "the result of from 3 has no figure `/operations`"
    );
    assert_eq!(told(|part| part.result.json["steps"] = json!(7)), "the result of from 3 has no figure `steps`");
    let other = told(|part| part.result.json["per_operation"][0]["name"] = json!("sing"));
    assert_eq!(other, "from 3 has done other operations than from 0");
    let garbage = told(|part| drop(part.result.histograms.insert("op/read".into(), vec![1, 2])));
    assert!(garbage.starts_with("a histogram of from 3: not a V2 histogram"), "{garbage}");
}

#[test]
fn counts_add_up_level_by_level_and_the_rest_is_that_of_the_first() {
    let (one, two) = (json!({"a": 1, "in": {"b": 2}, "c": "x"}), json!({"a": 5, "in": {"b": 1, "d": 4}, "c": "y"}));
    assert_eq!(add_counts(&[&one, &two]), json!({"a": 6, "in": {"b": 3, "d": 4}, "c": "x"}));
    assert_eq!(add_counts(&[&Value::Null, &Value::Null]), Value::Null);
    assert_eq!(add_counts(&[]), Value::Null);
}

/// Counters set as after days of load, then counted on: to the unit in the result of a machine, and of two together.
#[test]
fn counters_past_two_to_the_32_and_53_stay_whole_in_results_and_their_sum() {
    for before in [(1_u64 << 32) - 1, (1 << 53) - 1] {
        let slice = |name: &str, own: std::ops::Range<u32>| {
            let timeline = Timeline::new(0, 0, 5 * SECOND, 0);
            let mut recorder = Recorder::new(timeline, 1, 2);
            recorder.operations[0].operations = before;
            recorder.operations[0].bytes_in = before;
            recorder.clients[own.start as usize].operations = before;
            recorder.statuses[2] = before;
            recorder.connections_opened = before;
            recorder.outside_operations = before;
            let outcome = Outcome { operation: 0, error: None, bytes_in: 1, bytes_out: 1, status: 200 };
            let stamps = Stamps { end_ns: SECOND, ..Stamps::default() };
            (0..2).for_each(|_| recorder.record(own.start, &outcome, &stamps));
            let names = ["read".to_owned()];
            let thread = ThreadFigures { window_ns: SECOND, ..ThreadFigures::default() };
            let result = collect(&names, vec![recorder], &[thread], &figures(Some(own)));
            assert_eq!(result.json["operations"], json!(before + 2));
            assert_eq!(result.json["bytes_in"], json!(before + 2));
            assert!(result.json.to_string().contains(&format!("\"operations\":{}", before + 2)));
            SliceResult { name: name.into(), result }
        };
        let whole = merge_slices(&[slice("a", 0..1), slice("b", 1..2)], added).unwrap().json;
        assert_eq!(whole["operations"], json!(2 * before + 4));
        assert_eq!(whole["statuses"]["2xx"], json!(2 * before + 4));
        assert_eq!(whole["connections"]["opened"], json!(2 * before));
        assert_eq!(whole["outside"]["operations"], json!(2 * before));
        assert_eq!(whole["per_client"][1]["operations"], json!(before + 2));
    }
}
