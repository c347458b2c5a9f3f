//! One cycle of one application: a fixed number of operations of each kind, in a random but consistent order.

use super::tables::{Application, Operation, READ_SIZES, READS_SEQUENTIAL, WRITE_SIZES, WRITES_SEQUENTIAL};
use bakeoff_engine::Rng;

/// Which name an operation is about, counted within the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The handle that is open.
    Handle,
    /// A lasting file: the n-th choice among those that are large enough for transfers of `least` bytes.
    Lasting { choice: u16, least: u32 },
    /// A file that the cycle makes and removes.
    Passing(u16),
    /// The same after its renaming.
    Renamed(u16),
    /// A name that is not there.
    Missing(u16),
    /// The application's folder.
    Folder,
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub operation: Operation,
    pub target: Target,
    /// Bytes of a transfer.
    pub size: u32,
    /// A transfer that goes on where the last one ended.
    pub sequential: bool,
    /// Its failure is part of the load.
    pub fails: bool,
}

impl Step {
    const fn of(operation: Operation, target: Target) -> Self {
        Self { operation, target, size: 0, sequential: false, fails: false }
    }
}

/// Missing names of an application that are tried in turn.
pub const MISSING_NAMES: u16 = 8;

fn sizes<const N: usize>(counts: &[u16; N], classes: &[(u32, u32); N], rng: &mut Rng) -> Vec<u32> {
    let mut sizes = Vec::new();
    for (&count, &(low, high)) in counts.iter().zip(classes) {
        sizes.extend((0..count).map(|_| low + rng.below(u64::from(high - low) + 1) as u32));
    }
    rng.shuffle(&mut sizes);
    sizes
}

/// What happens between one opening and its closing.
#[derive(Debug, Clone, Default)]
struct Unit {
    passing: bool,
    reads: Vec<u32>,
    writes: Vec<u32>,
    others: Vec<Operation>,
}

/// Deals the application's transfers and calls on handles out to its openings.
fn units(application: &Application, rng: &mut Rng) -> Vec<Unit> {
    let mut units = vec![Unit::default(); usize::from(application.opens.0)];
    let passing = usize::from(application.unlinks);
    units[..passing].iter_mut().for_each(|unit| unit.passing = true);
    let any = |rng: &mut Rng, from: usize, to: usize| from + rng.below((to - from).max(1) as u64) as usize;
    // Two thirds of the lasting files that are opened are read; what is made is written, and some of the others.
    let readers = passing + (units.len() - passing).div_ceil(3) * 2;
    for size in sizes(&application.reads, &READ_SIZES, rng) {
        let unit = any(rng, passing, readers.min(units.len()));
        units[unit].reads.push(size);
    }
    let writers = if passing > 0 { passing + (units.len() - passing) / 4 } else { units.len() };
    for size in sizes(&application.writes, &WRITE_SIZES, rng) {
        let unit = any(rng, 0, writers.max(1));
        units[unit].writes.push(size);
    }
    let all = units.len();
    for (operation, count) in [
        (Operation::QueryFile, application.query_file),
        (Operation::SetFile, application.set_file),
        (Operation::Flush, application.flushes),
        (Operation::Lock, application.locks),
    ] {
        for _ in 0..count {
            let unit = any(rng, 0, all);
            units[unit].others.push(operation);
        }
    }
    units
}

/// Marks `percent` of the transfers after the first one as going on where the last one ended.
fn go_on(steps: &mut [Step], rng: &mut Rng) {
    for (operation, percent) in [(Operation::Read, READS_SEQUENTIAL), (Operation::Write, WRITES_SEQUENTIAL)] {
        let transfers = steps.iter_mut().filter(|step| step.operation == operation).skip(1);
        transfers.for_each(|step| step.sequential = rng.below(100) < percent);
    }
}

fn unit_steps(unit: &Unit, target: Target, rng: &mut Rng) -> Vec<Step> {
    let mut inside: Vec<Step> = Vec::new();
    let transfer = |operation, &size: &u32| Step { size, ..Step::of(operation, Target::Handle) };
    inside.extend(unit.reads.iter().map(|size| transfer(Operation::Read, size)));
    inside.extend(unit.writes.iter().map(|size| transfer(Operation::Write, size)));
    inside.extend(unit.others.iter().map(|&operation| match operation {
        Operation::SetFile => Step::of(operation, target),
        _ => Step::of(operation, Target::Handle),
    }));
    rng.shuffle(&mut inside);
    go_on(&mut inside, rng);
    let mut steps = vec![Step::of(Operation::Open, target)];
    for step in inside {
        steps.push(step);
        if step.operation == Operation::Lock {
            steps.push(Step::of(Operation::Unlock, Target::Handle));
        }
    }
    steps.push(Step::of(Operation::Close, Target::Handle));
    steps
}

/// Operations that need no handle.
fn probes(application: &Application, rng: &mut Rng) -> Vec<Step> {
    let mut probes = Vec::new();
    let mut add = |count: u16, make: &mut dyn FnMut(u16) -> Step| probes.extend((0..count).map(make));
    let lasting = |choice| Target::Lasting { choice, least: 0 };
    let missing = |number: u16| Target::Missing(number % MISSING_NAMES);
    add(application.opens.1, &mut |n| Step { fails: true, ..Step::of(Operation::Open, missing(n)) });
    add(application.queries.0, &mut |n| Step::of(Operation::QueryPath, lasting(n)));
    add(application.queries.1, &mut |n| Step { fails: true, ..Step::of(Operation::QueryPath, missing(n)) });
    add(application.finds.0, &mut |_| Step::of(Operation::Find, Target::Folder));
    add(application.finds.1, &mut |_| Step { fails: true, ..Step::of(Operation::Find, Target::Folder) });
    add(application.query_fs, &mut |_| Step::of(Operation::QueryFs, Target::Folder));
    rng.shuffle(&mut probes);
    probes
}

/// The operations of one cycle.
pub fn steps(application: &Application, rng: &mut Rng) -> Vec<Step> {
    let mut units = units(application, rng);
    rng.shuffle(&mut units);
    let mut steps: Vec<Step> = Vec::new();
    let (mut passing, mut lasting, mut renamed) = (0, 0, 0);
    for unit in &units {
        let least = unit.reads.iter().chain(&unit.writes).copied().max().unwrap_or(0);
        if !unit.passing {
            steps.extend(unit_steps(unit, Target::Lasting { choice: lasting, least }, rng));
            lasting += 1;
            continue;
        }
        steps.extend(unit_steps(unit, Target::Passing(passing), rng));
        let mut name = Target::Passing(passing);
        if renamed < application.renames {
            renamed += 1;
            steps.push(Step::of(Operation::Rename, name));
            name = Target::Renamed(passing);
        }
        steps.push(Step::of(Operation::Unlink, name));
        passing += 1;
    }
    mingle(steps, probes(application, rng), rng)
}

/// Puts the probes at random places between the steps, whose order stays.
fn mingle(steps: Vec<Step>, mut probes: Vec<Step>, rng: &mut Rng) -> Vec<Step> {
    let mut all = Vec::with_capacity(steps.len() + probes.len());
    let mut left = steps.len();
    for step in steps {
        while !probes.is_empty() && rng.below((left + probes.len()) as u64) < probes.len() as u64 {
            all.extend(probes.pop());
        }
        all.push(step);
        left -= 1;
    }
    all.extend(probes);
    all
}

#[cfg(test)]
mod tests {
    use super::super::tables::{APPLICATIONS, CYCLE, OPERATIONS};
    use super::*;

    fn all(seed: u64) -> Vec<Step> {
        let mut rng = Rng::for_thread(seed, 0, 0);
        APPLICATIONS.iter().flat_map(|application| steps(application, &mut rng)).collect()
    }

    #[test]
    fn a_cycle_has_the_measured_number_of_each_operation() {
        for seed in 0..5 {
            let mut counts = [0; OPERATIONS.len()];
            all(seed).iter().for_each(|step| counts[step.operation as usize] += 1);
            assert_eq!(counts, CYCLE);
            assert_eq!(counts.iter().sum::<u32>(), 3553);
            let data = f64::from(counts[0] + counts[4]) / 3553.0;
            assert!((0.355..0.365).contains(&data), "{data}");
        }
    }

    #[test]
    fn the_measured_shares_fail() {
        let steps = all(1);
        let share = |operation| {
            let of: Vec<&Step> = steps.iter().filter(|step| step.operation == operation).collect();
            of.iter().filter(|step| step.fails).count() as f64 / of.len() as f64
        };
        assert!((share(Operation::Open) - 0.265).abs() < 0.005, "{}", share(Operation::Open));
        assert!((share(Operation::QueryPath) - 0.34).abs() < 0.005, "{}", share(Operation::QueryPath));
        assert!((share(Operation::Find) - 0.516).abs() < 0.01, "{}", share(Operation::Find));
    }

    #[test]
    fn sizes_and_bytes_are_the_measured_ones() {
        let (mut read, mut written, mut large) = (0.0, 0.0, 0.0);
        let cycles = 20;
        for seed in 0..cycles {
            for step in all(seed) {
                let size = f64::from(step.size);
                match step.operation {
                    Operation::Read => read += size,
                    Operation::Write => {
                        written += size;
                        large += if step.size > 32_768 { size } else { 0.0 };
                    }
                    _ => assert_eq!(step.size, 0),
                }
            }
        }
        let (read, written, large) =
            (read / f64::from(cycles as u32), written / f64::from(cycles as u32), large / written);
        assert!((read / 11_411_000.0 - 1.0).abs() < 0.02, "{read}");
        assert!((written / 7_875_000.0 - 1.0).abs() < 0.02, "{written}");
        assert!((large - 0.885).abs() < 0.01, "{large}");
    }

    #[test]
    fn handles_are_open_when_they_are_used_and_made_files_are_removed() {
        for application in &APPLICATIONS {
            let (mut open, mut there) = (false, 0_i32);
            for step in steps(application, &mut Rng::for_thread(3, 0, 0)) {
                match step.operation {
                    Operation::Open if !step.fails => {
                        assert!(!open);
                        open = true;
                        there += i32::from(matches!(step.target, Target::Passing(_)));
                    }
                    Operation::Close => {
                        assert!(open);
                        open = false;
                    }
                    Operation::Unlink => there -= 1,
                    _ if step.target == Target::Handle => assert!(open),
                    _ => {}
                }
            }
            assert_eq!((open, there), (false, 0));
        }
    }
}
