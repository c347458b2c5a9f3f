use super::loadfile::{Expect, Line, Operation};
use super::replay::own_name;
use super::*;
use crate::file::simulated::{Disk, SimulatedEnd, play, play_after};
use bakeoff_engine::{ErrorClass, Outcome, Rng};
use flate2::write::GzEncoder;
use std::io::Write;

fn trial(changes: Value, virtual_users: u32) -> TrialSpec {
    let mut workload = json!({
        "kind": "file-mix", "folder": "/x", "loadfile": null, "once": false, "resolve": true,
        "workspace_bytes": 20_000_000, "flush": true, "verify": true, "reuse": null, "keep": false, "link_bytes_per_s": null, "iteration_bytes": null, "iteration_pause_s": 0.0, "stall_s": 10.0,
    });
    if let (Some(all), Value::Object(changes)) = (workload.as_object_mut(), changes) {
        all.extend(changes);
    }
    let text = json!({"workload": workload, "load": {"clients": 1}, "virtual_users": virtual_users, "length_s": 9.0, "seed": 1})
        .to_string();
    TrialSpec::from_json(&text).unwrap()
}

fn office(changes: Value) -> MixWorkload {
    MixWorkload::from_spec(&trial(changes, 1), |_, _| Err("none".to_owned())).unwrap()
}

fn replay(text: &str, changes: Value) -> (MixWorkload, SimulatedEnd, Disk, Value) {
    let mut all = json!({"loadfile": "x", "once": true});
    if let (Some(all), Value::Object(changes)) = (all.as_object_mut(), changes) {
        all.extend(changes);
    }
    let bytes = text.as_bytes().to_vec();
    let workload = MixWorkload::from_spec(&trial(all, 1), |_, _| Ok(bytes)).unwrap();
    let mut disk = Disk::default();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    let played = play(&mut session, &mut disk, 1, 1_000, 100_000);
    let figures = workload.figures(&[session]);
    (workload, played, disk, figures)
}

#[test]
fn three_cycles_have_their_exact_counts_and_no_surprise() {
    let workload = office(json!({}));
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    let mut disk = Disk::default();
    let played = play(&mut session, &mut disk, 1, 1_000, 3 * 3553);
    let mut counts = vec![0_u32; tables::OPERATIONS.len()];
    let surprise = played.counted.iter().find(|counted| counted.outcome.error.is_some());
    assert!(surprise.is_none() && played.fault.is_none(), "{surprise:?} {:?}", played.fault);
    played.counted.iter().for_each(|counted| counts[usize::from(counted.outcome.operation)] += 1);
    let expected: Vec<u32> = tables::CYCLE.iter().map(|count| count * 3).collect();
    assert_eq!(counts, expected);
    let read: u64 = played.counted.iter().map(|counted| counted.outcome.bytes_in).sum();
    let written: u64 = played.counted.iter().map(|counted| counted.outcome.bytes_out).sum();
    assert!((read as f64 / 3.0 / 11.41e6 - 1.0).abs() < 0.03, "{read}");
    assert!((written as f64 / 3.0 / 7.88e6 - 1.0).abs() < 0.03, "{written}");
    let figures = workload.figures(&[session]);
    assert_eq!(figures["expected_failures"], json!({"open": 3 * 163, "query_path": 3 * 189, "find": 3 * 111}));
}

#[test]
fn a_client_has_the_measured_data_set_for_any_number_of_virtual_users() {
    let bytes = |virtual_users: u32| -> u64 {
        let workload = MixWorkload::from_spec(&trial(json!({}), virtual_users), |_, _| Err(String::new())).unwrap();
        let mut disk = Disk::default();
        for vu in 0..virtual_users {
            let mut session = workload.session(Identity { client: 0, vu, seed: 1 });
            play(&mut session, &mut disk, 1, 1_000, 10);
            disk.handles.clear();
        }
        disk.files.iter().filter(|(name, _)| !name.contains('~')).map(|(_, bytes)| bytes.len() as u64).sum()
    };
    let one = bytes(1);
    assert!((23_600_000..24_200_000).contains(&one), "{one}");
    for virtual_users in [2, 3, 8, 9] {
        assert_eq!(bytes(virtual_users), one);
    }
    assert!(MixWorkload::from_spec(&trial(json!({}), 10), |_, _| Err(String::new())).is_err());
}

#[test]
fn over_some_cycles_all_of_the_data_set_is_touched() {
    let workload = office(json!({"verify": false}));
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    play(&mut session, &mut Disk::default(), 1, 1_000, 100 * 3553);
    let figures = workload.figures(&[session]);
    let touched = figures["touched_bytes"].as_f64().unwrap();
    let data = figures["data_bytes_per_client"].as_f64().unwrap();
    assert!(touched > 0.9 * data && touched < 1.15 * data, "{touched} of {data}");
}

#[test]
fn one_wrong_byte_of_the_office_files_ends_the_trial() {
    let workload = office(json!({}));
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    let played = play(&mut session, &mut Disk { damage_every: 50, ..Disk::default() }, 1, 1_000, 3553);
    assert_eq!(played.counted.last().unwrap().outcome.error, Some(ErrorClass::WrongContent));
    assert!(played.fault.unwrap().contains("other bytes"));
}

#[test]
fn office_writes_that_were_acknowledged_and_lost_are_found() {
    let workload = office(json!({}));
    let cycles = |disk: &mut Disk, operations: usize| {
        let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
        let played = play(&mut session, disk, 1, 1_000, operations);
        let fault = played.fault.or_else(|| play_after(&mut session, disk));
        (fault, workload.figures(&[session]))
    };
    let mut disk = Disk::default();
    let (fault, figures) = cycles(&mut disk, 5 * 3553);
    assert_eq!((fault, &figures["read_back"], &figures["lost_writes"]), (None, &json!(8), &json!(0)));
    disk.handles.clear();
    let (fault, _) = cycles(&mut disk, 3553);
    assert_eq!(fault, None, "stamps that an earlier trial has written in parts are no fault");
    let (fault, _) = cycles(&mut Disk { lose_every: 20, ..Disk::default() }, 5 * 3553);
    assert!(fault.is_some_and(|fault| fault.contains("other bytes") || fault.contains("is not there")));
    // All that is written after the workspace is lost: nothing need have been read again before the end.
    let mut disk = Disk::default();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    play(&mut session, &mut disk, 1, 1_000, 1);
    disk.handles.clear();
    disk.lose_every = 1;
    let (fault, figures) = cycles(&mut disk, 2 * 3553);
    assert!(fault.is_some(), "{figures}");
}

#[test]
fn a_kept_workspace_is_not_written_again() {
    let workload = office(json!({}));
    let mut disk = Disk::default();
    let mut untimed = Vec::new();
    for _ in 0..2 {
        let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
        untimed.push(play(&mut session, &mut disk, 1, 1_000, 1).untimed);
    }
    assert!(untimed[1] * 3 < untimed[0], "{untimed:?}");
}

const SAMPLE: &str = r#"
# a comment
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1" 0x1 0x2 16385 NT_STATUS_OK
Close 16385 NT_STATUS_OK
NTCreateX "\clients\client1\mixfile" 0x40 0x1 9935 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\~dmtmp" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
FIND_FIRST "\clients\client1\FILLER.*" 260 1366 0 NT_STATUS_NO_SUCH_FILE
NTCreateX "\clients\client1\filler.000" 0x40 0x2 9938 NT_STATUS_OK
QUERY_FS_INFORMATION 1 NT_STATUS_OK
WriteX 9938 65534 1 1 NT_STATUS_OK
QUERY_FILE_INFORMATION 9938 258 NT_STATUS_OK
WriteX 9938 0 65536 65536 NT_STATUS_OK
ReadX 9938 0 4096 4096 NT_STATUS_OK
Flush 9938 NT_STATUS_OK
LockX 9938 0 10 NT_STATUS_OK
UnlockX 9938 0 10 NT_STATUS_OK
SET_FILE_INFORMATION 9938 258 NT_STATUS_OK
Close 9938 NT_STATUS_OK
FIND_FIRST "\clients\client1\*" 260 1366 1 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\filler.000" 1004 NT_STATUS_OK
Rename "\clients\client1\filler.000" "\clients\client1\filler.001" NT_STATUS_OK
Unlink "\clients\client1\filler.001" 0x6 NT_STATUS_OK
Unlink "\clients\client1\filler.001" 0x6 NT_STATUS_OBJECT_NAME_NOT_FOUND
"#;

#[test]
fn every_operation_of_a_loadfile_is_replayed_and_counted_once() {
    for resolve in [true, false] {
        let (_, played, disk, figures) = replay(SAMPLE, json!({"resolve": resolve}));
        assert_eq!(figures["unexpected"], json!({}), "{figures}");
        assert_eq!(played.counted.len(), 23);
        assert_eq!(figures["expected_failures"]["NTCreateX"], 1);
        let sum = |pick: fn(&Outcome) -> u64| played.counted.iter().map(|counted| pick(&counted.outcome)).sum::<u64>();
        assert_eq!((sum(|outcome| outcome.bytes_in), sum(|outcome| outcome.bytes_out)), (4096, 65_537));
        assert!(disk.files.is_empty() && disk.folders.contains("clients/client0"));
        assert_eq!(figures["passes"], 1);
    }
}

#[test]
fn results_other_than_the_recorded_ones_are_errors() {
    let text = "Mkdir \"\\clients\" NT_STATUS_OK\nReadX 7 0 10 10 NT_STATUS_OK\n\
                QUERY_PATH_INFORMATION \"\\clients\" 1 NT_STATUS_OBJECT_NAME_NOT_FOUND\n\
                QUERY_PATH_INFORMATION \"\\none\" 1 *\n";
    let (_, played, _, figures) = replay(text, json!({}));
    let errors: Vec<_> = played.counted.iter().map(|counted| counted.outcome.error).collect();
    assert_eq!(errors, [None, Some(ErrorClass::Other), Some(ErrorClass::Exists), None]);
    assert!(figures["first_unexpected"].as_str().unwrap().contains("ReadX"));
}

#[test]
fn a_surprise_leaves_the_later_failures_to_the_disk() {
    let text = "NTCreateX \"\\one\" 0x40 0x2 5 NT_STATUS_OBJECT_NAME_COLLISION\n\
                NTCreateX \"\\two\" 0x40 0x2 5 NT_STATUS_OBJECT_NAME_COLLISION\n\
                NTCreateX \"\\none\" 0x40 0x1 5 NT_STATUS_OBJECT_NAME_NOT_FOUND\n";
    let (_, played, disk, figures) = replay(text, json!({}));
    let errors: Vec<_> = played.counted.iter().map(|counted| counted.outcome.error).collect();
    assert_eq!(errors, [Some(ErrorClass::Exists), Some(ErrorClass::Exists), None]);
    assert_eq!((disk.files.len(), &figures["expected_failures"]), (2, &json!({"NTCreateX": 1})));
}

#[test]
fn variables_are_put_in_once_and_names_stay_bounded() {
    let texts: Vec<String> =
        (0..100).map(|number| if number == 7 { String::new() } else { format!("<$1{number}>") }).collect();
    let own = |name: &str| own_name(name, 3, &texts).into_string().unwrap();
    assert_eq!(own("/clients/client1/$1x$12$7$"), "clients/client3/<$11>x<$112>$7$");
    assert_eq!(own("a$100"), "a<$110>0");
    assert!(own(&"$1".repeat(400_000)).len() < 5_000);
}

#[test]
fn loops_repeats_texts_and_times_are_obeyed() {
    let text = "LOOP 3\nREPEAT 2\nQUERY_FS_INFORMATION 1 NT_STATUS_OK\nENDLOOP\n\
                RANDOMSTRING 1 \"/t[0-9]x\"\nWRITEPATTERN abc\n\
                NTCreateX \"$1\" 0x40 0x2 5 NT_STATUS_OK\nWriteX 5 0 6 6 NT_STATUS_OK\n\
                0.5 QUERY_FS_INFORMATION 1 NT_STATUS_OK\nSLEEP 1000\nWriteX 5 +6 3 3 NT_STATUS_OK\n\
                SETSP 3\nWAITSP +child 3\n";
    let (_, played, disk, _) = replay(text, json!({}));
    assert_eq!(played.counted.len(), 6 + 2 + 2);
    let (name, bytes) = disk.files.iter().next().unwrap();
    assert!(name.len() == 3 && name.starts_with('t') && name.ends_with('x'), "{name}");
    assert_eq!(bytes, b"abcabcabc");
    assert!(played.counted[8].start_ns >= 500_000_000, "{:?}", played.counted[8]);
    assert!(played.counted[9].start_ns >= played.counted[8].end_ns + 1_000_000);
}

#[test]
fn clients_have_names_of_their_own_and_packed_files_are_read() {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(SAMPLE.as_bytes()).unwrap();
    let bytes = packed.finish().unwrap();
    let workload = MixWorkload::from_spec(&trial(json!({"loadfile": "x"}), 1), |_, _| Ok(bytes.clone())).unwrap();
    let session = workload.session(Identity { client: 7, vu: 0, seed: 1 });
    let Work::Replay { program, .. } = &workload.work else { panic!("a loadfile is replayed") };
    let names: Vec<_> =
        (0..program.names.len() as u32).map(|name| session.path(name).to_str().unwrap().to_owned()).collect();
    assert!(names.contains(&"clients/client7/filler.000".to_owned()), "{names:?}");
    let cut = MixWorkload::from_spec(&trial(json!({"loadfile": "x"}), 1), |_, _| Ok(bytes[..40].to_vec()));
    assert!(cut.unwrap_err().to_string().contains("gzip"));
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    for (text, word) in [
        ("", "no operation"),
        ("Mkdir \"\\a\" NT_STATUS_OK\nFrobnicate 1 NT_STATUS_OK", "line 2"),
        ("ReadX 1 0 99999999999 1 NT_STATUS_OK", "64 MiB"),
        ("Mkdir \"\\a", "quote"),
        ("Mkdir \"\\..\\etc\" NT_STATUS_OK", "no name"),
        ("LOOP 2\nQUERY_FS_INFORMATION 1 NT_STATUS_OK", "ENDLOOP"),
        ("ENDLOOP", "LOOP"),
        ("LOOP 1000000000\nLOOP 1000000000\nSLEEP 1\nENDLOOP\nENDLOOP\nMkdir \"a\" NT_STATUS_OK", "nothing is done"),
        ("Close 1 maybe", "status"),
        ("Close NT_STATUS_OK", "arguments"),
        ("NTCreateX \"a\" 0x40 0x9 1 NT_STATUS_OK", "disposition"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn entries_are_what_the_lines_say() {
    let program = parse(SAMPLE.as_bytes()).unwrap();
    let entries: Vec<_> = program
        .lines
        .iter()
        .filter_map(|line| if let Line::Do(entry, _) = line { Some(*entry) } else { None })
        .collect();
    assert_eq!((entries[0].operation, entries[0].expect), (Operation::Deltree, Expect::Success));
    assert!(entries[2].create.folder && entries[2].create.make && !entries[2].create.truncate);
    assert_eq!(entries[4].expect, Expect::Failure);
    assert_eq!((program.handles, program.transfer_max), (1, 65_536));
    assert!(program.open_at_end.is_empty());
}

#[test]
fn random_bytes_and_shuffled_words_never_break_the_reader() {
    let mut rng = Rng::for_thread(99, 0, 0);
    let words: Vec<&str> = SAMPLE
        .split_whitespace()
        .chain(["LOOP", "ENDLOOP", "REPEAT", "*", "*/4", "+child", "\"", "$1", "SLEEP", "1e9", "-1", "0.1"])
        .collect();
    let mut good = 0;
    for round in 0..20_000 {
        let bytes: Vec<u8> = if round % 2 == 0 {
            (0..rng.below(200)).map(|_| rng.next_u64() as u8).collect()
        } else {
            let mut text = String::new();
            for _ in 0..rng.below(12) {
                text.push_str(words[rng.below(words.len() as u64) as usize]);
                text.push(if rng.below(6) == 0 { '\n' } else { ' ' });
            }
            text.into_bytes()
        };
        if let Ok(program) = parse(&bytes) {
            good += 1;
            assert!(program.lines.len() <= bytes.len() && program.names.len() <= 2 * bytes.len() + 2);
        }
    }
    assert!(good > 0);
    // Changed bytes of a good file.
    for _ in 0..5_000 {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for _ in 0..3 {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] = rng.next_u64() as u8;
        }
        _ = parse(&bytes);
    }
}
