//! How many sessions a server let in at once, told from what it did: whom it greeted, and when.

use crate::mail::operation::{Operation, SERVICES};
use crate::packed::{Reader, Writer};
use bakeoff_engine::{Nanos, Stamps};
use serde_json::{Value, json};

/// Visits of one thread that are kept for each service; what comes later is left out for all threads.
const VISITS_MAX: usize = 4096;
/// A single stay at the peak may count for so many sessions that were not let in: a generator that was held up just
/// there proves nothing.
const AT_ONCE_MAX: f64 = 5.0;

/// One session that waits for a service and is then let in. It is inside from the moment its greeting was read to the
/// moment its last step began: the server had it for longer, never for less, however late the generator is.
#[derive(Debug, Clone, Copy)]
struct Admission {
    asked: Nanos,
    /// Let in, or refused when `out` is the same.
    inside: Nanos,
    out: Nanos,
}

/// The visits of one thread, service by service.
#[derive(Debug, Default)]
pub(crate) struct Admissions {
    of: [Vec<Admission>; SERVICES.len()],
    open: [bool; SERVICES.len()],
}

impl Admissions {
    /// A step has ended; `over` tells whether its connection is gone.
    pub fn add(&mut self, operation: Operation, succeeded: bool, over: bool, stamps: &Stamps) {
        for (at, service) in SERVICES.iter().enumerate() {
            if service.waits.contains(&operation) && self.of[at].len() < VISITS_MAX {
                let out = if succeeded { Nanos::MAX } else { stamps.end_ns };
                self.of[at].push(Admission { asked: stamps.start_ns, inside: stamps.end_ns, out });
                self.open[at] = succeeded;
            }
            if over
                && std::mem::take(&mut self.open[at])
                && let Some(visit) = self.of[at].last_mut()
            {
                visit.out = stamps.start_ns.max(visit.inside);
            }
        }
    }

    /// Writes the visits of one thread; times count from the start of the trial.
    pub fn write(&self, out: &mut Writer, since: impl Fn(Nanos) -> Nanos) {
        for visits in &self.of {
            out.number(visits.len() as u64);
            for visit in visits {
                let asked = since(visit.asked);
                out.number(asked);
                out.number(since(visit.inside).saturating_sub(asked));
                // 0 says that it did not end.
                let stay = visit.out.saturating_sub(visit.inside);
                out.number(if visit.out == Nanos::MAX { 0 } else { stay + 1 });
            }
        }
    }

    /// Reads what [`Admissions::write`] wrote.
    pub fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut visits = Self::default();
        for of in &mut visits.of {
            for _ in 0..from.count(VISITS_MAX)? {
                let asked = from.number()?;
                let inside = asked.checked_add(from.number()?)?;
                let stay = from.number()?.checked_sub(1);
                let out = stay.map_or(Some(Nanos::MAX), |stay| inside.checked_add(stay))?;
                of.push(Admission { asked, inside, out });
            }
        }
        Some(visits)
    }

    /// The first moment of which not everything is known any more.
    fn known_until(&self, service: usize) -> Nanos {
        let visits = &self.of[service];
        if visits.len() < VISITS_MAX { Nanos::MAX } else { visits.last().map_or(Nanos::MAX, |visit| visit.asked) }
    }
}

/// What changes at a moment; in the order in which things of the same moment are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Out,
    TurnedAway,
    In,
    Asks,
}

/// Sessions inside a service at most, and whether this number was the server's choice.
pub(crate) struct Occupancy {
    changes: Vec<(Nanos, Change)>,
}

impl Occupancy {
    pub fn new<'a>(service: usize, end_ns: Nanos, all: impl Iterator<Item = &'a Admissions> + Clone) -> Self {
        // After the end nobody asks any more, and those inside may stay there idle.
        let until_ns = all.clone().map(|visits| visits.known_until(service)).min().unwrap_or(end_ns).min(end_ns);
        let mut changes = Vec::new();
        for visit in all.flat_map(|visits| &visits.of[service]) {
            changes.push((visit.asked, Change::Asks));
            if visit.inside == visit.out {
                changes.push((visit.inside, Change::TurnedAway));
            } else {
                changes.extend([(visit.inside, Change::In), (visit.out, Change::Out)]);
            }
        }
        changes.retain(|(at_ns, _)| *at_ns < until_ns);
        changes.sort_unstable();
        Self { changes }
    }

    /// The most that were inside at once.
    pub fn peak(&self) -> u32 {
        let (mut inside, mut peak) = (0_u32, 0);
        for (_, change) in &self.changes {
            match change {
                Change::In => inside += 1,
                Change::Out => inside -= 1,
                _ => {}
            }
            peak = peak.max(inside);
        }
        peak
    }

    /// How long others waited while `peak` sessions were inside, and how many of them a server without a limit would
    /// have let in meanwhile, at the rate at which it let them in when there were fewer.
    ///
    /// Times are those of waiting sessions, added up. Both are of the same trial, so a slow machine slows both.
    pub fn at_peak(&self, peak: u32) -> Value {
        let (mut inside, mut waiting) = (0_u32, 0_u32);
        let (mut let_in, mut below_ns, mut last_ns) = (0_u32, 0.0_f64, 0);
        let mut stays_ns: Vec<f64> = Vec::new();
        for (at_ns, change) in &self.changes {
            let waited_ns = f64::from(waiting) * (at_ns - last_ns) as f64;
            last_ns = *at_ns;
            match stays_ns.last_mut() {
                Some(stay_ns) if inside == peak => *stay_ns += waited_ns,
                _ => below_ns += waited_ns,
            }
            match change {
                Change::Asks => waiting += 1,
                Change::TurnedAway => waiting = waiting.saturating_sub(1),
                Change::In => {
                    (waiting, inside, let_in) = (waiting.saturating_sub(1), inside + 1, let_in + 1);
                    if inside == peak {
                        stays_ns.push(0.0);
                    }
                }
                Change::Out => inside -= 1,
            }
        }
        let rate = f64::from(let_in) / below_ns.max(1.0);
        let missed: f64 = stays_ns.iter().map(|stay_ns| (stay_ns * rate).min(AT_ONCE_MAX)).sum();
        json!({"times": stays_ns.len(), "waited_s": stays_ns.iter().sum::<f64>() / 1e9, "let_in_expected": missed})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_engine::Rng;

    const MS: Nanos = 1_000_000;

    /// 30 threads for 5 s at a server that greets after 1 ms or so, when there is room, and serves for 10 ms or so.
    /// The generator stops for `late_ns` again and again, then reads quickly and in order what came meanwhile.
    fn occupancy(limit: usize, serving_ns: Nanos, late_ns: Nanos) -> (u32, f64) {
        let mut rng = Rng::for_thread(7, 0, 0);
        let mut all: Vec<Admissions> = (0..30).map(|_| Admissions::default()).collect();
        let seen = |at_ns: Nanos| at_ns.div_ceil(late_ns) * late_ns + at_ns % late_ns / 50;
        // When each place of the server is free again, and when each thread asks next.
        let mut free_ns = vec![0; limit];
        let mut asks_ns: Vec<Nanos> = (0..30).map(|at| at * MS / 4).collect();
        loop {
            let thread = (0..30).min_by_key(|at| asks_ns[*at]).unwrap();
            let asked_ns = asks_ns[thread];
            if asked_ns > 5_000 * MS {
                break;
            }
            let place = (0..limit).min_by_key(|at| free_ns[*at]).unwrap();
            let spread = |mean_ns: Nanos, part: f64| (mean_ns as f64 * (0.5 + part)) as Nanos;
            let in_ns = seen(asked_ns.max(free_ns[place]) + spread(MS, rng.unit()));
            let quit_ns = seen(in_ns + spread(serving_ns, rng.unit()));
            free_ns[place] = quit_ns + MS;
            let over_ns = seen(free_ns[place]);
            asks_ns[thread] = over_ns + 1;
            let stamp = |start_ns, end_ns| Stamps { start_ns, end_ns, ..Stamps::default() };
            all[thread].add(Operation::SmtpConnect, true, false, &stamp(asked_ns, in_ns));
            all[thread].add(Operation::SmtpQuit, true, true, &stamp(quit_ns, over_ns));
        }
        let occupancy = Occupancy::new(0, Nanos::MAX, all.iter());
        let peak = occupancy.peak();
        (peak, occupancy.at_peak(peak)["let_in_expected"].as_f64().unwrap())
    }

    #[test]
    fn a_limit_is_the_peak_and_shows_through_a_generator_that_is_late() {
        for late_ns in [1, 2 * MS, 7 * MS] {
            let (peak, missed) = occupancy(20, 60 * MS, late_ns);
            assert!(peak == 20 && missed > 100.0, "{late_ns}: {peak}, {missed}");
        }
    }

    #[test]
    fn the_chance_of_how_many_are_in_at_once_is_no_limit() {
        for (serving_ns, late_ns) in [(MS, 1), (4 * MS, 1), (MS, 5 * MS), (4 * MS, 3 * MS)] {
            let (peak, missed) = occupancy(30, serving_ns, late_ns);
            assert!(peak == 30 || missed < 10.0, "{serving_ns} {late_ns}: {peak}, {missed}");
        }
    }

    #[test]
    fn visits_of_other_machines_are_read_as_they_were() {
        let mut visits = Admissions::default();
        let stamp = |start_ns, end_ns| Stamps { start_ns, end_ns, ..Stamps::default() };
        visits.add(Operation::SmtpConnect, false, true, &stamp(10, 20));
        visits.add(Operation::SmtpConnect, true, false, &stamp(30, 40));
        visits.add(Operation::SmtpQuit, true, true, &stamp(70, 80));
        visits.add(Operation::SmtpConnect, true, false, &stamp(90, 95));
        let mut out = Writer::default();
        visits.write(&mut out, |at_ns| at_ns - 10);
        let mut from = Reader(&out.0);
        let read = Admissions::read(&mut from).unwrap();
        let told: Vec<_> = read.of.concat().iter().map(|visit| (visit.asked, visit.inside, visit.out)).collect();
        assert_eq!((told, from.0.len()), (vec![(0, 10, 10), (20, 30, 60), (80, 85, Nanos::MAX)], 0));
    }

    #[test]
    fn one_long_stop_of_the_generator_counts_as_little_as_one_short_stay() {
        let mut all = [Admissions::default(), Admissions::default(), Admissions::default()];
        let stamp = |start_ns, end_ns| Stamps { start_ns, end_ns, ..Stamps::default() };
        for (at, visits) in all.iter_mut().enumerate() {
            let in_ns = if at == 2 { 5_000 * MS } else { MS };
            visits.add(Operation::SmtpConnect, true, false, &stamp(0, in_ns));
            visits.add(Operation::SmtpQuit, true, true, &stamp(in_ns.max(4_000 * MS), 5_001 * MS));
        }
        let occupancy = Occupancy::new(0, Nanos::MAX, all.iter());
        assert_eq!(occupancy.peak(), 2);
        assert!(occupancy.at_peak(2)["let_in_expected"].as_f64().unwrap() <= AT_ONCE_MAX);
    }
}
