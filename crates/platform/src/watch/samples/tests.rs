use super::*;

const MS: Nanos = 1_000_000;
const SECOND: Nanos = 1_000 * MS;
const WINDOW: Option<(Nanos, Nanos)> = Some((0, Nanos::MAX));

/// A machine in virtual time: the process is stopped for `slice_ns` of every `cycle_ns`, and each wake-up waits for a
/// processor for `busy_ns`.
fn watched(slice_ns: Nanos, cycle_ns: Nanos, busy_ns: Nanos, length_ns: Nanos) -> Samples {
    let (mut now_ns, mut run_delay_ns) = (0, 0);
    let mut samples = Samples::new(now_ns, Some(run_delay_ns));
    // Stops begin in the middle of a cycle.
    let stop_of = |at_ns: Nanos| {
        let begin_ns = at_ns / cycle_ns * cycle_ns + cycle_ns / 2;
        (begin_ns, begin_ns + slice_ns)
    };
    while now_ns < length_ns {
        let due_ns = samples.due_ns();
        // The first stop that ends after now; a sleep that has one in it ends with it.
        let stop = [now_ns, now_ns + cycle_ns].map(stop_of).into_iter().find(|stop| slice_ns > 0 && stop.1 > now_ns);
        let stopped = stop.filter(|stop| stop.0 <= due_ns);
        run_delay_ns += busy_ns;
        now_ns = stopped.map_or(due_ns, |stop| stop.1) + busy_ns;
        let run_delay_ns = Some(run_delay_ns);
        samples.add(Sample { now_ns, run_delay_ns, interrupted: stopped.is_some() }, WINDOW);
    }
    samples
}

#[test]
fn stops_of_any_length_add_up_to_their_share_of_the_time() {
    for slice_ms in [5, 10, 20, 50, 80, 200, 1_000] {
        for (one_in, busy_ms) in [(100, 0), (50, 0), (20, 1), (5, 0), (5, 3), (2, 0)] {
            let (slice_ns, length_ns) = (slice_ms * MS, 400 * SECOND);
            let samples = watched(slice_ns, slice_ns * one_in, busy_ms * MS, length_ns);
            let (share, truth) = (samples.stopped_ns as f64 / length_ns as f64, 1.0 / one_in as f64);
            assert!((0.5..1.5).contains(&(share / truth)), "{slice_ms} ms, 1/{one_in}, {busy_ms}: {share} for {truth}");
        }
    }
}

#[test]
fn a_machine_that_lets_the_watch_wait_has_not_stopped_it() {
    for busy_ms in [0, 1, 4, 30, 90] {
        let samples = watched(0, SECOND, busy_ms * MS, 20 * SECOND);
        assert_eq!((samples.stopped_ns, samples.long.len()), (0, 0), "{busy_ms} ms");
    }
    // Waits of 100 ms and more are kept by themselves, as stops are.
    assert!(!watched(0, SECOND, 150 * MS, 20 * SECOND).long.is_empty());
}

#[test]
fn only_the_part_in_the_window_counts() {
    let mut samples = Samples::new(0, Some(0));
    let stop = Sample { now_ns: 520 * MS, run_delay_ns: Some(0), interrupted: true };
    samples.add(stop, Some((420 * MS, SECOND)));
    assert_eq!((samples.stopped_ns, samples.stopped_in_window_ns), (520 * MS, 100 * MS));
    assert_eq!((samples.interrupted_in_window, samples.long.as_slice()), (1, [(20 * MS, 520 * MS)].as_slice()));
    samples.add(Sample { now_ns: 2 * SECOND, ..stop }, Some((420 * MS, SECOND)));
    assert_eq!(samples.interrupted_in_window, 1);
}

#[test]
fn a_kernel_that_tells_no_run_delay_leaves_lateness_as_it_is() {
    let mut samples = Samples::new(0, None);
    let sample = |now_ns| Sample { now_ns, run_delay_ns: None, interrupted: false };
    samples.add(sample(24 * MS), WINDOW);
    assert_eq!(samples.stopped_ns, 0);
    samples.add(sample(samples.due_ns() + 6 * MS), WINDOW);
    assert_eq!(samples.stopped_ns, 6 * MS);
}
