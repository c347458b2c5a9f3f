use super::*;
use crate::{Outcome, Recorder, SECOND_NS, Stamps, Summary};

const WINDOW: Timeline =
    Timeline { start_ns: 0, window_start_ns: SECOND_NS, window_end_ns: 11 * SECOND_NS, end_ns: 12 * SECOND_NS };

fn desk_of(parts: Vec<IntervalPart>) -> Vec<SoakInterval> {
    let mut desk = IntervalMerger::default();
    desk.hand_in(parts, IntervalCost::default(), 1);
    desk.drain()
}

fn shape(intervals: &[SoakInterval]) -> Vec<(u64, f64, u64)> {
    intervals.iter().map(|interval| (interval.number, interval.length_s, interval.measured.operations)).collect()
}

#[test]
fn rows_tile_the_window_and_the_last_one_is_as_short_as_it_must_be() {
    let mut recorder = IntervalRecorder::new(&WINDOW, 3 * SECOND_NS, false);
    recorder.success(SECOND_NS, 10, 10, (5, 1));
    recorder.success(4 * SECOND_NS - 1, 10, 10, (5, 1));
    recorder.success(4 * SECOND_NS, 10, 10, (5, 1));
    recorder.failure(10 * SECOND_NS + 1, ErrorClass::Refused);
    assert!(recorder.is_due(10 * SECOND_NS + 1));
    let mut parts = recorder.fetch(10 * SECOND_NS + 1);
    parts.extend(recorder.close(12 * SECOND_NS));
    let intervals = desk_of(parts);
    assert_eq!(shape(&intervals), [(0, 3.0, 2), (1, 3.0, 1), (2, 3.0, 0), (3, 1.0, 0)]);
    assert_eq!(intervals[0].measured.bytes_in, 10);
    assert_eq!(intervals[3].measured.errors, [("refused".to_owned(), 1)].into());
    assert!(intervals[2].measured.service.summary == Summary::default() && intervals[0].measured.response.is_none());
}

#[test]
fn an_interval_that_was_cut_short_is_as_long_as_it_was() {
    let mut recorder = IntervalRecorder::new(&WINDOW, 3 * SECOND_NS, true);
    recorder.success(5 * SECOND_NS, 10, 30, (1, 1));
    let intervals = desk_of(recorder.close(5 * SECOND_NS + SECOND_NS / 2));
    assert_eq!(shape(&intervals), [(0, 3.0, 0), (1, 1.5, 1)]);
    let Measurement { service, response, .. } = &intervals[1].measured;
    assert_eq!((service.summary.p50_ns, response.as_ref().unwrap().summary.p50_ns), (Some(10), Some(30)));
    let before_the_window = IntervalRecorder::new(&WINDOW, 3 * SECOND_NS, false).close(SECOND_NS / 2);
    assert!(before_the_window.is_empty());
    let on_the_edge = IntervalRecorder::new(&WINDOW, 3 * SECOND_NS, false).close(4 * SECOND_NS);
    assert_eq!(shape(&desk_of(on_the_edge)), [(0, 3.0, 0)]);
}

#[test]
fn an_interval_is_done_when_all_threads_have_handed_it_in_and_the_busiest_counts() {
    let mut desk = IntervalMerger::default();
    let parts = |count: u64, until_ns: Nanos| {
        let mut recorder = IntervalRecorder::new(&WINDOW, SECOND_NS, false);
        (0..count).for_each(|nth| recorder.success(SECOND_NS + nth, 1_000, 1_000, (1, 0)));
        recorder.fetch(until_ns)
    };
    let cost = |cpu_ns, rss_bytes| {
        let cost = Cost { rss_bytes, ..Cost::of_thread(1_000, cpu_ns, None) };
        IntervalCost { cost, ..IntervalCost::default() }
    };
    desk.hand_in(parts(3, 3 * SECOND_NS), cost(900, 5), 2);
    assert!(desk.drain().is_empty());
    desk.hand_in(parts(4, 2 * SECOND_NS), cost(100, 7), 2);
    let intervals = desk.drain();
    assert_eq!(shape(&intervals), [(0, 1.0, 7)]);
    assert_eq!((intervals[0].cost.cost.cpu_share, intervals[0].cost.cost.rss_bytes), (0.9, 7));
    desk.close();
    assert_eq!(shape(&desk.drain()), [(1, 1.0, 0)]);
}

#[test]
fn counts_past_two_to_the_32_and_53_add_up_to_the_unit() {
    let part = |operations: u64| {
        let mut counts = Counted::lazy(false);
        counts.operations = operations;
        counts.bytes_in = operations << 8;
        counts.errors[ErrorClass::Refused as usize] = (1 << 53) + 1;
        IntervalPart { index: 0, start_ns: 0, length_ns: 100_800 * SECOND_NS, counts }
    };
    let mut desk = IntervalMerger::default();
    desk.hand_in(vec![part((1 << 53) + 1)], IntervalCost::default(), 2);
    desk.hand_in(vec![part((1 << 32) + 2)], IntervalCost::default(), 2);
    let interval = &desk.drain()[0];
    assert_eq!(interval.measured.operations, (1_u64 << 53) + (1 << 32) + 3);
    assert_eq!(interval.measured.errors["refused"], (1_u64 << 54) + 2);
    assert_eq!(interval.measured.bytes_in, ((1_u64 << 53) + (1 << 32) + 3) << 8);
    let interval = serde_json::to_string(interval).unwrap();
    assert!(interval.contains("9007203549708291"), "whole in text, not as a float: {interval}");
}

/// A day of operations, an interval an hour: what the thread keeps is one interval.
#[test]
fn what_a_soak_keeps_does_not_grow_with_its_length() {
    let day = 24 * 3_600;
    let timeline = Timeline::new(0, 0, day * SECOND_NS, 0);
    let mut recorder = Recorder::new(timeline, 1, 1).with_intervals(3_600 * SECOND_NS);
    let outcome = Outcome { operation: 0, status: 200, bytes_in: 7, bytes_out: 3, error: None };
    let mut intervals = 0;
    for second in 0..day {
        let end_ns = second * SECOND_NS;
        let stamps = Stamps { planned_ns: end_ns, start_ns: end_ns, end_ns, ..Stamps::default() };
        recorder.record(0, &outcome, &stamps);
        if recorder.interval_is_due(end_ns) {
            intervals += recorder.fetch_intervals(end_ns).len();
        }
    }
    intervals += recorder.close_intervals(day * SECOND_NS).len();
    assert_eq!((intervals, recorder.finish_series().len()), (24, 1), "no seconds, but one sum of all");
}
