use super::*;
use crate::file::simulated::{Disk, SimulatedEnd, play};

const MS: u64 = 1_000_000;

fn spec(changes: Value) -> String {
    let mut workload = json!({
        "kind": "file-blocks", "folder": "/x", "region_bytes": 4 << 20, "outstanding": 1, "cell_s": 0.1, "min_transfers": 1, "cell_limit_s": 1.0,
        "ramp_up_s": 0.05, "direct": false, "dsync": false, "verify": true, "cache": "warm", "drop_caches": false,
        "cold_command": null, "reuse": null, "keep": false, "carrier": "disk", "link_bytes_per_s": null,
        "stall_s": 10.0,
        "cells": [{"pattern": "mixed", "block_bytes": 4096, "lines": [line(4096, 50, 50)]}],
    });
    if let (Some(all), Value::Object(changes)) = (workload.as_object_mut(), changes) {
        all.extend(changes);
    }
    json!({"workload": workload, "load": {"clients": 1}, "length_s": 100.0, "seed": 1}).to_string()
}

fn line(size: u64, read: u32, random: u32) -> Value {
    json!({"size": size, "share": 100, "read": read, "random": random, "delay_ms": 0, "burst": 1, "align": 0, "reply": 0})
}

fn run(changes: Value, disk: &mut Disk) -> (SimulatedEnd, Value) {
    let trial = TrialSpec::from_json(&spec(changes)).unwrap();
    let workload = BlocksWorkload::from_spec(&trial).unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    let played = play(&mut session, disk, workload.needs().depth, MS, usize::MAX);
    let figures = workload.figures(&[session]);
    (played, figures)
}

fn cell(figures: &Value) -> &Value {
    &figures["cells"][0]
}

#[test]
fn the_region_is_written_once_and_kept() {
    let mut disk = Disk::default();
    let (first, _) = run(json!({}), &mut disk);
    assert_eq!(disk.files["region"].len(), 4 << 20);
    disk.handles.clear();
    let (second, _) = run(json!({}), &mut disk);
    assert!(first.untimed >= second.untimed + 4, "{} {}", first.untimed, second.untimed);
    assert_eq!((first.fault, second.fault), (None, None));
}

#[test]
fn one_at_a_time_ramp_is_not_counted_and_the_time_ends_with_a_transfer() {
    let (played, figures) = run(json!({}), &mut Disk::default());
    // 1 ms each: 50 in the ramp, 100 measured.
    assert_eq!(cell(&figures)["operations"], played.counted.len());
    assert_eq!(played.counted.len(), 100);
    assert_eq!(cell(&figures)["ios_per_s"], 1000.0);
    assert_eq!(cell(&figures)["rate_kib_s"], 4000.0);
    let bins = cell(&figures)["bins"].as_array().unwrap();
    assert_eq!(bins[5], 100, "1 to 2 ms: {bins:?}");
}

#[test]
fn several_at_once_keep_their_number_in_flight() {
    let (played, figures) = run(json!({"outstanding": 32}), &mut Disk::default());
    assert_eq!(played.most_in_flight, 32);
    let rate = cell(&figures)["ios_per_s"].as_f64().unwrap();
    assert!((rate - 32_000.0).abs() < 700.0, "{rate}");
    assert_eq!(played.fault, None);
}

#[test]
fn few_long_transfers_are_measured_over_the_whole_cell() {
    let changes = json!({"outstanding": 4, "cell_s": 0.0065, "ramp_up_s": 0.0});
    let (_, figures) = run(changes, &mut Disk::default());
    let rate = cell(&figures)["ios_per_s"].as_f64().unwrap();
    assert!((rate - 4_000.0).abs() < 50.0, "{rate}");
}

#[test]
fn a_cell_goes_on_until_it_has_its_fewest_transfers_or_its_limit_is_reached() {
    // 1 ms each, 100 of them in the time of the cell.
    for (min_transfers, cell_limit_s, operations, stretched) in
        [(100, 1.0, 100, false), (101, 1.0, 101, true), (250, 1.0, 250, true), (250, 0.2, 200, true)]
    {
        let changes = json!({"min_transfers": min_transfers, "cell_limit_s": cell_limit_s});
        let (played, figures) = run(changes, &mut Disk::default());
        let cell = cell(&figures);
        let seen = (cell["operations"].as_u64(), cell["stretched"].as_bool(), cell["empty"].as_bool());
        assert_eq!(seen, (Some(operations), Some(stretched), Some(false)), "{min_transfers} in {cell_limit_s} s");
        assert_eq!(played.counted.len() as u64, operations);
        assert!((cell["ios_per_s"].as_f64().unwrap() - 1000.0).abs() < 0.001, "{cell}");
    }
}

#[test]
fn a_cell_that_gives_back_only_other_bytes_ends_in_its_time() {
    let cells = json!([{"pattern": "read", "block_bytes": 4096, "lines": [line(4096, 100, 100)]}]);
    let changes = json!({"cells": cells, "min_transfers": 8, "cell_limit_s": 10.0});
    let (played, figures) = run(changes, &mut Disk { damage_every: 1, ..Disk::default() });
    assert_eq!(cell(&figures)["stretched"], false);
    assert!((8..300).contains(&cell(&figures)["damaged"].as_u64().unwrap()), "{figures}");
    assert!(played.fault.is_some_and(|text| text.contains("other bytes")));
}

#[test]
fn a_cell_without_a_transfer_at_its_limit_is_an_empty_result_and_not_skipped() {
    // The one transfer that there is time for ends in the ramp's wake: nothing is left to be measured.
    let short = |limit_s: f64| json!({"ramp_up_s": 0.0001, "cell_s": 0.0002, "cell_limit_s": limit_s});
    let (played, figures) = run(short(0.0005), &mut Disk::default());
    let only = cell(&figures);
    assert_eq!((&only["empty"], &only["skipped"], &only["operations"]), (&json!(true), &Value::Null, &json!(0)));
    assert_eq!((&only["rate_kib_s"], &figures["complete"]), (&json!(0.0), &json!(true)));
    assert_eq!((played.counted.len(), played.fault), (0, None));
    let (_, figures) = run(short(0.0015), &mut Disk::default());
    assert_eq!((&cell(&figures)["empty"], &cell(&figures)["operations"]), (&json!(false), &json!(1)));
    // The limit itself is waited for, and no more: a pause that is longer ends there.
    let mut slow = line(4096, 100, 0);
    slow["delay_ms"] = json!(5_000);
    let cells = json!([{"pattern": "x", "block_bytes": 4096, "lines": [slow]}]);
    let (_, figures) = run(json!({"cells": cells, "ramp_up_s": 0.0}), &mut Disk::default());
    let only = cell(&figures);
    assert_eq!((&only["empty"], &only["stretched"], &figures["complete"]), (&json!(true), &json!(true), &json!(true)));
}

#[test]
fn a_pause_before_each_burst_slows_the_rate_down() {
    let mut slow = line(4096, 100, 0);
    slow["delay_ms"] = json!(9);
    let cells = json!([{"pattern": "x", "block_bytes": 4096, "lines": [slow]}]);
    let (_, figures) =
        run(json!({"cells": cells, "verify": false, "ramp_up_s": 0.0, "cell_s": 1.0}), &mut Disk::default());
    let rate = cell(&figures)["ios_per_s"].as_f64().unwrap();
    assert!((rate - 100.0).abs() < 2.0, "{rate}");
}

#[test]
fn a_reply_goes_the_other_way_in_the_same_transaction() {
    let mut line = line(4096, 100, 0);
    line["reply"] = json!(512);
    let cells = json!([{"pattern": "x", "block_bytes": null, "lines": [line]}]);
    let (played, figures) = run(json!({"cells": cells}), &mut Disk::default());
    let outcome = played.counted[0].outcome;
    assert_eq!((outcome.bytes_in, outcome.bytes_out), (4096, 512));
    assert_eq!(played.counted[0].end_ns - played.counted[0].start_ns, 2 * MS);
    let cell = cell(&figures);
    assert_eq!(cell["reads"]["ios"], cell["writes"]["ios"]);
    assert_eq!(cell["transactions"]["count"], played.counted.len());
    assert_eq!(cell["operation"], "x");
}

#[test]
fn one_wrong_byte_ends_the_trial() {
    let mut disk = Disk { damage_every: 60, ..Disk::default() };
    let (played, figures) = run(json!({}), &mut disk);
    let fault = played.fault.unwrap();
    assert!(fault.contains("other bytes than were written"), "{fault}");
    assert!(cell(&figures)["damaged"].as_u64().unwrap() > 0 || !cell(&figures)["skipped"].is_null());
    let (played, _) = run(json!({"verify": false}), &mut Disk { damage_every: 60, ..Disk::default() });
    assert_eq!(played.fault, None);
}

#[test]
fn a_vanished_share_ends_the_trial_with_a_reason() {
    let mut disk = Disk { vanish_after: 40, ..Disk::default() };
    let (played, figures) = run(json!({}), &mut disk);
    assert!(played.fault.unwrap().contains("still mounted"));
    assert_eq!(figures["complete"], false);
}

#[test]
fn all_eighteen_sizes_and_five_patterns_are_cells_of_their_own() {
    let sizes: Vec<u64> = (9..=25).map(|power| 1 << power).chain([63 << 20]).collect();
    let patterns = [("sr", 100, 0), ("sw", 0, 0), ("rr", 100, 100), ("rw", 0, 100), ("m", 50, 50)];
    let cells: Vec<Value> = patterns
        .iter()
        .flat_map(|&(name, read, random)| {
            sizes
                .iter()
                .map(move |&size| json!({"pattern": name, "block_bytes": size, "lines": [line(size, read, random)]}))
        })
        .collect();
    let trial = TrialSpec::from_json(&spec(json!({"cells": cells, "region_bytes": 128 << 20}))).unwrap();
    let workload = BlocksWorkload::from_spec(&trial).unwrap();
    let operations = workload.operations();
    assert_eq!(operations.len(), 90);
    assert_eq!(
        (operations[0].as_str(), operations[17].as_str(), operations[19].as_str()),
        ("sr/512", "sr/63M", "sw/1K")
    );
    assert_eq!(workload.needs().buffer_bytes, 63 << 20);
}

#[test]
fn specifications_that_cannot_be_run_are_refused() {
    for changes in [
        json!({"cells": []}),
        json!({"outstanding": 257}),
        json!({"outstanding": 0}),
        json!({"cell_s": 0.0}),
        json!({"region_bytes": 1024}),
        json!({"colour": 1}),
        json!({"cells": [{"pattern": "x", "block_bytes": null, "lines": []}]}),
    ] {
        let trial = TrialSpec::from_json(&spec(changes.clone())).unwrap();
        assert!(BlocksWorkload::from_spec(&trial).is_err(), "{changes}");
    }
}

#[test]
fn writes_that_were_acknowledged_and_lost_are_found_when_they_are_read_back() {
    for outstanding in [1, 8] {
        let cells = json!([{"pattern": "random_write", "block_bytes": 4096, "lines": [line(4096, 0, 100)]}]);
        let changes = json!({"cells": cells, "outstanding": outstanding});
        let mut sound = Disk::default();
        assert_eq!(run(changes.clone(), &mut sound).0.fault, None);
        let read_back = sound.transfers.iter().filter(|transfer| !transfer.writes && transfer.length == 4096).count();
        assert_eq!(read_back, 16);
        let (played, figures) = run(changes.clone(), &mut Disk { lose_every: 2, ..Disk::default() });
        assert!(played.fault.is_some_and(|fault| fault.contains("is not there")), "{outstanding}");
        assert!(cell(&figures)["damaged"].as_u64().unwrap() > 0, "{figures}");
        let mut unasked = changes.clone();
        unasked["verify"] = json!(false);
        assert_eq!(run(unasked, &mut Disk { lose_every: 2, ..Disk::default() }).0.fault, None);
    }
}

#[test]
fn cells_whose_pieces_cut_stamps_are_not_read_back() {
    let cells = json!([{"pattern": "odd", "block_bytes": null, "lines": [line(1000, 0, 100)]}]);
    let mut disk = Disk::default();
    assert_eq!(run(json!({"cells": cells}), &mut disk).0.fault, None);
    assert!(disk.transfers.iter().all(|transfer| transfer.writes));
}
