//! Tables of moments that are known beforehand.

use super::*;

const MS: Nanos = 1_000_000;
const LENGTH_NS: Nanos = 10 * SECOND_NS;

fn rate(per_s: f64, shape: &str) -> Rate {
    Rate { per_s, arrivals: serde_json::from_str(shape).unwrap(), most_connections: 1 }
}

fn of(per_s: f64, shape: &str, share: (u32, u32)) -> Arrivals {
    Arrivals::new(&rate(per_s, shape), LENGTH_NS, None, share, 7)
}

fn until(mut arrivals: Arrivals, end_ns: Nanos) -> Vec<Start> {
    std::iter::from_fn(|| arrivals.next()).take_while(|start| start.at_ns < end_ns).collect()
}

fn moments_ns(per_s: f64, shape: &str, end_ns: Nanos) -> Vec<Nanos> {
    until(of(per_s, shape, (0, 1)), end_ns).iter().map(|start| start.at_ns).collect()
}

#[test]
fn a_table_of_shapes_and_their_moments() {
    for (per_s, shape, end_ms, moments_ms) in [
        (4.0, r#"{"shape":"constant"}"#, 1_000, &[0, 250, 500, 750][..]),
        (0.5, r#"{"shape":"constant"}"#, 4_001, &[0, 2_000, 4_000]),
        (6.0, r#"{"shape":"burst","size":3}"#, 1_001, &[0, 0, 0, 500, 500, 500, 1_000, 1_000, 1_000]),
        // 20 a second for half a second, then as long none: 10 a second.
        (10.0, r#"{"shape":"on_off","on_s":0.1,"off_s":0.1}"#, 301, &[0, 50, 200, 250]),
        (10.0, r#"{"shape":"on_off","on_s":0.2,"off_s":0}"#, 301, &[0, 100, 200, 300]),
        // A start that falls between two on-times comes with the second: 3 starts in 2 on-times.
        (10.0, r#"{"shape":"on_off","on_s":0.075,"off_s":0.075}"#, 400, &[0, 50, 175, 300, 350]),
        (10.0, r#"{"shape":"steps","steps":[[1,0.2],[0.5,0.4],[0,0.1]]}"#, 901, &[0, 100, 200, 400, 700, 800, 900]),
        (10.0, r#"{"shape":"steps","steps":[[0,0.5],[2,0.1]]}"#, 1_200, &[500, 550, 1_100, 1_150]),
        (1.0, r#"{"shape":"replay","at_s":[0,0.001,0.001,2,2.5]}"#, 2_400, &[0, 1, 1, 2_000]),
    ] {
        let expected: Vec<_> = moments_ms.iter().map(|ms| ms * MS).collect();
        assert_eq!(moments_ns(per_s, shape, end_ms * MS), expected, "{per_s} {shape}");
    }
}

#[test]
fn a_ramp_has_so_many_starts_by_each_moment_as_the_area_below_it() {
    for (from, to) in [(0.2, 1.8), (1.8, 0.2), (0.0, 2.0), (2.0, 0.0), (1.0, 1.0), (1.0, 3.0)] {
        let shape = format!(r#"{{"shape":"ramp","from":{from},"to":{to}}}"#);
        let moments = moments_ns(1_000.0, &shape, LENGTH_NS);
        let area = |t_s: f64| 1_000.0 * (from * t_s + (to - from) * t_s * t_s / 20.0);
        assert!((moments.len() as f64 - area(10.0)).abs() <= 1.0, "{shape} {}", moments.len());
        for (index, at_ns) in moments.iter().enumerate() {
            assert!((area(*at_ns as f64 / 1e9) - index as f64).abs() < 1e-4, "{shape} {index}");
        }
    }
    // One that falls to nothing ends there, and does not come back.
    let mut falling = of(10.0, r#"{"shape":"ramp","from":1,"to":0}"#, (0, 1));
    assert_eq!(std::iter::from_fn(|| falling.next()).take(1_000).count(), 51);
}

#[test]
fn a_grid_does_not_drift() {
    for (per_s, seconds, count) in [(3.0, 1_000, 3_000), (1e7, 1, 10_000_000), (700.0, 86_400, 60_480_000)] {
        let mut grid = of(per_s, r#"{"shape":"constant"}"#, (0, 1));
        grid.next = count - 1;
        let (last, after) = (grid.next().unwrap(), grid.next().unwrap());
        assert_eq!(last.at_ns, ((count - 1) as f64 / per_s * 1e9).round() as Nanos, "{per_s}");
        assert_eq!(after.at_ns, seconds * SECOND_NS, "{per_s}");
    }
    let mut steps = of(700.0, r#"{"shape":"on_off","on_s":0.3,"off_s":0.7}"#, (0, 1));
    steps.next = 700 * 1_000_000;
    assert_eq!(steps.next().unwrap(), Start { at_ns: 1_000_000 * SECOND_NS, index: 700_000_000 });
}

#[test]
fn no_shape_goes_back_and_each_has_its_mean_rate() {
    for (shape, mean) in [
        (r#"{"shape":"constant"}"#, 1.0),
        (r#"{"shape":"poisson"}"#, 1.0),
        (r#"{"shape":"uniform"}"#, 1.0),
        (r#"{"shape":"ramp","from":0.2,"to":1.8}"#, 1.0),
        (r#"{"shape":"ramp","from":0,"to":1}"#, 0.5),
        (r#"{"shape":"steps","steps":[[1,1],[3,1]]}"#, 2.0),
        (r#"{"shape":"burst","size":40}"#, 1.0),
        (r#"{"shape":"on_off","on_s":0.01,"off_s":0.04}"#, 1.0),
    ] {
        let moments = moments_ns(20_000.0, shape, LENGTH_NS);
        assert!(moments.is_sorted(), "{shape}");
        let expected = 200_000.0 * mean;
        // Five deviations of a Poisson count; the others have less chance.
        assert!((moments.len() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{shape} {}", moments.len());
    }
}

#[test]
fn shares_are_together_the_whole_sequence() {
    for shape in [
        r#"{"shape":"constant"}"#,
        r#"{"shape":"uniform"}"#,
        r#"{"shape":"ramp","from":0.2,"to":1.8}"#,
        r#"{"shape":"steps","steps":[[1,0.1],[0,0.3],[3,1]]}"#,
        r#"{"shape":"burst","size":7}"#,
        r#"{"shape":"on_off","on_s":0.5,"off_s":0.2}"#,
        r#"{"shape":"replay","at_s":[0,0.1,0.1,0.5,0.9,1.5,1.5]}"#,
    ] {
        let whole = until(of(1_000.0, shape, (0, 1)), 2 * SECOND_NS);
        assert!(whole.iter().map(|start| start.index).eq(0..whole.len() as u64));
        let mut shared: Vec<_> =
            (0..3).flat_map(|share| until(of(1_000.0, shape, (share, 3)), 2 * SECOND_NS)).collect();
        shared.sort_unstable_by_key(|start| start.index);
        assert_eq!(shared, whole, "{shape}");
    }
}

#[test]
fn gaps_at_random_have_the_mean_and_the_spread_of_their_kind_however_they_are_shared() {
    // Deviation over mean: of exponential times 1, of uniform ones 1/√3.
    for (shape, spread) in [(r#"{"shape":"poisson"}"#, 1.0), (r#"{"shape":"uniform"}"#, 1.0 / 3.0_f64.sqrt())] {
        for shares in [1, 4] {
            let starts: Vec<_> =
                (0..shares).flat_map(|share| until(of(20_000.0, shape, (share, shares)), LENGTH_NS)).collect();
            let mut indices: Vec<_> = starts.iter().map(|start| start.index).collect();
            indices.sort_unstable();
            indices.dedup();
            assert_eq!(indices.len(), starts.len(), "no two starts have one number");
            let mut all: Vec<_> = starts.iter().map(|start| start.at_ns).collect();
            all.sort_unstable();
            let gaps: Vec<_> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean / 5e4 - 1.0).abs() < 0.02, "{shape} {mean}");
            assert!((square.sqrt() / mean / spread - 1.0).abs() < 0.02, "{shape} {square}");
        }
    }
}

#[test]
fn a_share_of_a_poisson_process_is_one_of_its_part_of_the_rate() {
    let share = until(of(20_000.0, r#"{"shape":"poisson"}"#, (1, 4)), 4 * LENGTH_NS);
    let gaps: Vec<_> = share.windows(2).map(|pair| (pair[1].at_ns - pair[0].at_ns) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((mean / 2e5 - 1.0).abs() < 0.02 && (square.sqrt() / mean - 1.0).abs() < 0.02, "{mean} {square}");
}

#[test]
fn one_seed_gives_one_sequence_and_another_another() {
    for shape in [r#"{"shape":"poisson"}"#, r#"{"shape":"uniform"}"#] {
        let drawn = |seed| until(Arrivals::new(&rate(100.0, shape), LENGTH_NS, None, (0, 1), seed), LENGTH_NS);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }
}

#[test]
fn a_workload_gives_the_moments_that_the_load_leaves_out() {
    let recorded: Arc<[Nanos]> = Arc::new([5, 5, 9]);
    let replay = |shape, recorded| until(Arrivals::new(&rate(1.0, shape), LENGTH_NS, recorded, (1, 2), 7), LENGTH_NS);
    assert_eq!(replay(r#"{"shape":"replay","at_s":[]}"#, Some(&recorded)), [Start { at_ns: 5, index: 1 }]);
    assert_eq!(replay(r#"{"shape":"replay","at_s":[]}"#, None), []);
    let own = replay(r#"{"shape":"replay","at_s":[0,1]}"#, Some(&recorded));
    assert_eq!(own, [Start { at_ns: SECOND_NS, index: 1 }]);
}
