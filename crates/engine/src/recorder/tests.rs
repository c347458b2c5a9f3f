//! What counts, and by which moment.

use super::*;

fn outcome(error: Option<ErrorClass>) -> Outcome {
    Outcome { operation: 0, error, bytes_in: 100, bytes_out: 10, status: 200 }
}

fn stamps(start_ns: Nanos, end_ns: Nanos) -> Stamps {
    Stamps { start_ns, end_ns, sent_ns: start_ns, first_byte_ns: Some(end_ns), ..Stamps::default() }
}

#[test]
fn only_operations_that_end_in_the_window_count() {
    let mut recorder = Recorder::new(Timeline::new(0, 100, 1_000, 100), 1, 1);
    recorder.record(0, &outcome(None), &stamps(0, 99));
    recorder.record(0, &outcome(None), &stamps(50, 100));
    recorder.record(0, &outcome(None), &stamps(800, 899));
    recorder.record(0, &outcome(None), &stamps(800, 900));
    assert_eq!(recorder.operations[0].operations, 2);
    assert_eq!(recorder.outside_operations, 2);
    assert_eq!(recorder.clients[0].busy_ns, 50 + 99);
}

#[test]
fn a_lazy_recorder_takes_a_histogram_for_late_starts_when_there_are_many() {
    let mut recorder = Recorder::lazy(Timeline::new(0, 0, 1_000, 0), 1, 1);
    recorder.late_start(7);
    assert!(recorder.late_start.is_lazy());
    for late_ns in 0..1_000 {
        recorder.late_start(late_ns);
    }
    assert!(!recorder.late_start.is_lazy());
    let merged = crate::result::collect::gather(&[recorder]);
    assert_eq!((merged.late_start.count(), merged.late_start.to_hdr().max()), (1_001, 999));
}

#[test]
fn failed_operations_carry_no_bytes_and_no_time() {
    let mut recorder = Recorder::new(Timeline::new(0, 0, 1_000, 0), 1, 1);
    recorder.record(0, &outcome(Some(ErrorClass::ShortBody)), &stamps(0, 10));
    let figures = &recorder.operations[0];
    assert_eq!((figures.operations, figures.bytes_in, figures.service.count()), (0, 0, 0));
    assert_eq!(figures.errors()[ErrorClass::ShortBody as usize], 1);
    assert_eq!(recorder.clients[0].counts.errors, 1);
}

#[test]
fn told_steps_count_by_the_same_window() {
    let mut recorder = Recorder::new(Timeline::new(0, 100, 1_000, 100), 1, 1).with_steps(vec!["queue".into()]);
    for end_ns in [99, 100, 899, 900] {
        recorder.record_told_steps(end_ns, &[(0, 7)]);
    }
    assert_eq!(recorder.session_steps[0].1.count(), 2);
}

#[test]
fn times_that_were_put_away_come_back_when_recorders_are_merged() {
    let mut recorder = Recorder::lazy(Timeline::new(0, 0, 1_000_000, 0), 2, 1);
    let timed = |operation, end_ns| (Outcome { operation, ..outcome(None) }, stamps(0, end_ns));
    for (operation, end_ns) in [(0, 100), (1, 200), (0, 300), (1, 400)] {
        recorder.focus(operation);
        let (outcome, stamps) = timed(operation, end_ns);
        recorder.record(0, &outcome, &stamps);
    }
    let mut total = crate::Counted::lazy(false);
    recorder.operations[0].add_to(&mut total);
    recorder.operations[1].add_to(&mut total);
    assert_eq!((total.operations, total.service.count()), (4, 4));
    assert_eq!((total.service.to_hdr().min(), total.service.to_hdr().max()), (100, 400));
}

#[test]
fn a_lazy_recorder_of_a_whole_matrix_is_small() {
    let mut recorder = Recorder::lazy(Timeline::new(0, 0, 1_000_000_000, 0), 1638, 60);
    for operation in 0..1638_u16 {
        recorder.focus(operation);
        for step in 0..100_u64 {
            let end_ns = 1_000 + step * step * 37;
            recorder.record(0, &Outcome { operation, ..outcome(None) }, &stamps(0, end_ns));
        }
    }
    let parked: usize = recorder.operations.iter().map(OperationFigures::parked_bytes).sum();
    let fixed = 1638 * size_of::<OperationFigures>();
    assert!(parked + fixed < 750_000, "{parked} + {fixed}");
}

#[test]
fn a_plan_counts_response_times_by_the_end_and_starts_by_the_plan() {
    let mut recorder = Recorder::new(Timeline::new(0, 100, 1_000, 100), 1, 1).with_plan();
    let planned = |planned_ns, start_ns, end_ns| Stamps { planned_ns, ..stamps(start_ns, end_ns) };
    recorder.record(0, &outcome(None), &planned(90, 95, 150));
    recorder.record(0, &outcome(None), &planned(200, 400, 500));
    recorder.record(0, &outcome(Some(ErrorClass::ShortBody)), &planned(300, 500, 600));
    recorder.record(0, &outcome(None), &planned(890, 890, 950));
    recorder.record_late(200, 200);
    recorder.record_late(950, 10);
    [90, 200, 300, 890, 850, 899, 900].into_iter().for_each(|planned_ns| recorder.record_start(planned_ns));
    recorder.close_plan(Some(10), 4, 3);
    let merged = crate::result::collect::gather(&[recorder]);
    let figures = merged.planned.unwrap();
    assert_eq!((figures.response[0].to_hdr().min(), figures.response[0].to_hdr().max()), (60, 300));
    assert_eq!((figures.response[0].count(), figures.late.count(), figures.late.to_hdr().max()), (2, 1, 200));
    assert_eq!((figures.offered, figures.started), (10, 5));
    assert_eq!((figures.ran_out, figures.connections_used), (1 + 4, 3));
}

#[test]
fn shared_response_times_come_back_beside_the_service_times() {
    let shared = Arc::new(SharedTimes::default());
    let timeline = Timeline::new(0, 0, 1_000, 0);
    let mut recorder = Recorder::lazy(timeline, 2, 1).sharing(shared).with_plan();
    let stamps = Stamps { planned_ns: 100, ..stamps(300, 500) };
    recorder.record(0, &Outcome { operation: 1, ..outcome(None) }, &stamps);
    recorder.record_iteration(100, 500, true);
    recorder.end();
    let result = crate::result::collect::collect(
        &["a".into(), "b".into()],
        vec![recorder],
        &[],
        &crate::GeneratorFigures::default(),
    );
    let result = result.json();
    let figures = &result["per_operation"][1];
    assert_eq!((&figures["service"]["max_ns"], &figures["response"]["max_ns"]), (&200.into(), &400.into()));
    assert_eq!(result["per_operation"][0]["response"]["count"], 0);
    assert_eq!(result["response"]["max_ns"], 400);
}

#[test]
fn response_times_are_of_iterations_and_what_waits_at_the_end_counts_as_far_as_it_waited() {
    let mut recorder = Recorder::new(Timeline::new(0, 100, 1_000, 100), 1, 1).with_plan();
    // Of two operations, planned for 200; of one that fails; over in the ramp down; not over; never begun.
    recorder.record(0, &outcome(None), &Stamps { planned_ns: 200, ..stamps(210, 300) });
    recorder.record(0, &outcome(None), &Stamps { planned_ns: 300, ..stamps(300, 450) });
    recorder.record_iteration(200, 450, true);
    recorder.record_iteration(300, 500, false);
    recorder.record_iteration(800, 950, true);
    recorder.record_unfinished(890, true);
    recorder.record_unbegun(500);
    [200, 300, 800, 890].into_iter().for_each(|planned_ns| recorder.record_start(planned_ns));
    recorder.close_plan(Some(5), 1, 1);
    let figures = crate::result::collect::gather(&[recorder]).planned.unwrap();
    let times: Vec<_> = figures.iterations.to_hdr().iter_recorded().map(|time| time.value_iterated_to()).collect();
    assert_eq!((times, figures.answered), (vec![10, 100, 250, 400], 1));
    // Of five: 200 was answered, 300 failed, 800 and 890 are open, 500 never began.
    assert_eq!(figures.fates, Some(crate::Fates { answered: 1, failed: 1, open: 2 }));
    assert_eq!(figures.offered, 1 + 1 + 2 + (figures.offered - figures.started));
    let lengths = figures.queue.unwrap().lengths();
    assert_eq!((lengths[0], lengths.last()), (0, Some(&3)));
}
