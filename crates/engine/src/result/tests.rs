use super::collect::collect;
use super::*;
use crate::{
    Counts, ErrorClass, GeneratorFigures, Outcome, Recorder, Rng, Stamps, ThreadFigures, Timeline, add_counts,
};
use serde_json::json;

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
        window_ns: 3 * SECOND,
        cost: Generator::of_thread(3 * SECOND, 1_234_567 * (more + 1), 77 * more, Some(1_000 * more)),
        connections: Connections { tls_full: 1, receive_buffer_bytes: 4_096, ..Connections::default() },
        unfinished: Unfinished { operations: more, oldest_s: 5e-6 * more as f64 },
        outside_ns: 0,
    }
}

fn figures(slice: Option<std::ops::Range<u32>>) -> GeneratorFigures {
    let clients = slice.clone().unwrap_or(0..CLIENTS).len();
    GeneratorFigures {
        elapsed_ns: 5 * SECOND,
        rss_bytes: 1 << 20,
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

fn slice(part: &std::ops::Range<u32>) -> SliceResult {
    SliceResult { name: format!("from {}", part.start), result: result(part.clone(), Some(part.clone())) }
}

fn slices(parts: &[std::ops::Range<u32>]) -> Vec<SliceResult> {
    parts.iter().map(slice).collect()
}

/// As it comes from another machine, without what the control plane does not keep.
fn through_the_seam(slice: SliceResult, change: impl Fn(&mut Value)) -> Result<SliceResult, MergeError> {
    let (json, histograms) = slice.result.told();
    let mut told: Value = serde_json::from_str(&json).unwrap();
    for operation in told["per_operation"].as_array_mut().unwrap() {
        operation.as_object_mut().unwrap().remove("response");
    }
    change(&mut told);
    let result = TrialResult::read(&slice.name, &told.to_string(), histograms)?;
    Ok(SliceResult { result, ..slice })
}

#[test]
fn slices_together_are_what_one_recorder_of_all_gives() {
    let whole = result(0..CLIENTS, None);
    assert!(whole.measured.operations > 500 && whole.errors_total > 20);
    let cuts: [&[u32]; 4] = [&[0, 7], &[0, 3, 7], &[0, 2, 4, 7], &[0, 1, 2, 3, 4, 5, 6, 7]];
    for cuts in cuts {
        let parts: Vec<_> = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let merged = merge_slices(&slices(&parts), added).unwrap();
        assert_eq!(merged, whole, "{parts:?}");
        let parts = slices(&parts).into_iter().map(|slice| through_the_seam(slice, |_| ()).unwrap());
        let (json, histograms) = merge_slices(&parts.collect::<Vec<_>>(), added).unwrap().told();
        let (expected_json, expected) = whole.clone().told();
        assert_eq!((json.len(), histograms), (expected_json.len(), expected));
    }
}

#[test]
fn what_each_machine_has_of_its_own_is_none_of_all_together() {
    let mut parts = slices(&[0..3, 3..7]);
    let start = StartFigures { planned_ns: 1, real_ns: 2, unix_ns: 3 };
    for part in &mut parts {
        part.result.start = Some(start);
        part.result.generator.disturbances = Some(Disturbances::default());
    }
    let merged = merge_slices(&parts, added).unwrap();
    assert_eq!((merged.start, merged.generator.disturbances), (None, None));
}

#[test]
fn what_one_machine_did_not_measure_nobody_knows_of_all() {
    let mut parts = slices(&[0..3, 3..7]);
    assert!(merge_slices(&parts, added).unwrap().generator.cost.run_delay_share.is_some());
    parts[0].result.generator.cost.run_delay_share = None;
    assert_eq!(merge_slices(&parts, added).unwrap().generator.cost.run_delay_share, None);
}

#[test]
fn the_order_of_slices_decides_nothing_but_who_is_named_first() {
    let mut parts = slices(&[0..2, 2..4, 4..7]);
    let merged = merge_slices(&parts, added).unwrap();
    parts.reverse();
    assert_eq!(merged, merge_slices(&parts, added).unwrap());
}

#[test]
fn one_machine_that_was_stopped_or_failed_speaks_for_all_and_is_named() {
    let mut parts = slices(&[0..3, 3..7]);
    parts[1].result.cancelled = true;
    parts[1].result.fatal = Some("the disk is gone".to_owned());
    let merged = merge_slices(&parts, added).unwrap();
    assert!(merged.cancelled);
    assert_eq!(merged.fatal.unwrap(), "from 3: the disk is gone");
}

#[test]
fn seconds_that_only_one_machine_had_stand_alone() {
    let mut parts = slices(&[0..3, 3..7]);
    parts[0].result.per_second.pop();
    let rows = merge_slices(&parts, added).unwrap().per_second;
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[4].counts, parts[1].result.per_second[4].counts);
}

#[test]
fn a_client_of_which_several_machines_tell_is_one() {
    let mut parts = slices(&[0..3, 3..7]);
    let row = |operations| {
        let counts = Counts { operations, errors: 1, bytes_in: 2 };
        vec![Client { counts, client: 0, busy_s: 0.5 }]
    };
    (parts[0].result.per_client, parts[1].result.per_client) = (row(3), row(4));
    let counts = Counts { operations: 7, errors: 2, bytes_in: 4 };
    assert_eq!(merge_slices(&parts, added).unwrap().per_client, [Client { counts, client: 0, busy_s: 1.0 }]);
}

#[test]
fn what_does_not_fit_together_is_an_error_that_names_the_machine() {
    assert!(merge_slices(&[], added).is_err());
    let told = |change: fn(&mut SliceResult)| {
        let mut parts = slices(&[0..3, 3..7]);
        change(&mut parts[1]);
        merge_slices(&parts, added).unwrap_err().to_string()
    };
    let other = told(|part| part.result.per_operation[0].name = "sing".to_owned());
    assert_eq!(other, "from 3 has done other operations than from 0");
    let planned = told(|part| part.result.starts = Some(Starts::default()));
    assert_eq!(planned, "the result of from 0 has no figure `/starts`");
    let garbage = told(|part| part.result.per_operation[0].measured.service.histogram = vec![1, 2]);
    assert!(garbage.starts_with("a histogram of from 3: not a V2 histogram"), "{garbage}");
}

#[test]
fn what_is_no_result_is_an_error_that_names_the_machine_and_the_figure() {
    let told = |change: fn(&mut Value)| through_the_seam(slice(&(3..7)), change).unwrap_err().to_string();
    let figure = |place: &str| format!("the result of from 3 has no figure `{place}`");
    assert_eq!(told(|result| result["operations"] = json!("many")), figure("/operations"));
    assert_eq!(told(|result| result["operations"] = json!(-1)), figure("/operations"));
    assert_eq!(told(|result| result["steps"] = json!(7)), figure("/steps"));
    assert_eq!(told(|result| drop(result["generator"]["cpu_share"].take())), figure("/generator/cpu_share"));
    assert_eq!(told(|result| result["per_client"][1]["client"] = json!(0.5)), figure("/per_client/client"));
    assert_eq!(told(|result| result["per_second"][2]["service"] = json!([])), figure("/per_second/service"));
    assert_eq!(told(|result| result["per_second"][1]["second"] = json!(u64::MAX)), figure("/per_second/second"));
    assert!(told(|result| *result = json!([1])).starts_with("the result of from 3: invalid type"));
}

/// Whatever comes as a result is refused, or read and merged.
#[test]
fn random_results_break_nothing() {
    let other = slice(&(0..1));
    let (json, histograms) = slice(&(1..2)).result.told();
    let mut rng = Rng::for_thread(5, 0, 0);
    let mut read = Vec::new();
    for _ in 0..1_000 {
        let mut bytes = json.clone().into_bytes();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] = b"0123456789-{}[],:\"ex"[rng.below(20) as usize];
        }
        read.extend(TrialResult::read("a", &String::from_utf8(bytes).unwrap(), histograms.clone()));
    }
    assert!((50..950).contains(&read.len()), "{}", read.len());
    for result in read.into_iter().take(50) {
        drop(merge_slices(&[other.clone(), SliceResult { name: "a".into(), result }], added));
    }
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
            recorder.clients[own.start as usize].counts.operations = before;
            recorder.statuses[2] = before;
            recorder.connections_opened = before;
            recorder.outside_operations = before;
            let outcome = Outcome { operation: 0, error: None, bytes_in: 1, bytes_out: 1, status: 200 };
            let stamps = Stamps { end_ns: SECOND, ..Stamps::default() };
            (0..2).for_each(|_| recorder.record(own.start, &outcome, &stamps));
            let names = ["read".to_owned()];
            let thread = ThreadFigures { window_ns: SECOND, ..ThreadFigures::default() };
            let result = collect(&names, vec![recorder], &[thread], &figures(Some(own)));
            assert_eq!((result.measured.operations, result.measured.bytes_in), (before + 2, before + 2));
            assert!(result.clone().told().0.contains(&format!("\"operations\":{}", before + 2)));
            SliceResult { name: name.into(), result }
        };
        let whole = merge_slices(&[slice("a", 0..1), slice("b", 1..2)], added).unwrap();
        assert_eq!((whole.measured.operations, whole.statuses["2xx"]), (2 * before + 4, 2 * before + 4));
        assert_eq!((whole.connections.opened, whole.outside.operations), (2 * before, 2 * before));
        assert_eq!(whole.per_client[1].counts.operations, before + 2);
    }
}
