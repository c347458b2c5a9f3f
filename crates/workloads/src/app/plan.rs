//! From the specification to what all sessions share.

use super::spec::AppSpec;
use crate::deck::Deck;
use bakeoff_app_protocol::{Kind, PAYLOAD_BYTES_MAX, checksum, is_record_size, pattern, process};
use bakeoff_engine::SpecError;

/// Steps of every operation, in this order; each operation has its own after them.
pub(crate) const STEPS: [&str; 3] = ["network", "queue", "service"];

/// Rounds that are worked out beforehand, so that every result can be checked: a tenth of a second at most.
const ROUNDS_BEFOREHAND: u32 = 50_000_000;
const RESULTS_MAX: u32 = 64;
const RECORDS_OF_ONE_REQUEST_MAX: u32 = 65_536;

/// What all sessions of a trial share.
#[derive(Debug)]
pub(crate) struct AppPlan {
    /// The kind of each operation.
    pub kinds: Vec<Kind>,
    /// Operation numbers in proportion to the weights.
    pub deck: Deck,
    pub pattern: Vec<u8>,
    pub upload_bytes: u32,
    pub upload_checksum: u64,
    pub download_bytes: u32,
    pub rounds: u32,
    /// What the server must compute from the seeds 0, 1, 2 …
    pub results: Vec<u64>,
    /// 0 when nothing is read or written: then no segment is asked for.
    pub record_bytes: u32,
    pub read_records: u32,
    pub write_records: u32,
    pub working_set: f64,
}

impl AppPlan {
    /// Checks the specification and prepares what the sessions share.
    pub fn new(spec: &AppSpec) -> Result<Self, SpecError> {
        check(spec)?;
        let kinds = spec.classes.iter().map(|class| kind_of(&class.name)).collect::<Result<Vec<_>, _>>()?;
        let deck = Deck::new(spec.classes.iter().map(|class| class.weight))?;
        let asked = |kind: Kind| kinds.contains(&kind);
        let stores = asked(Kind::Read) || asked(Kind::Write);
        let results = if asked(Kind::Processor) { (ROUNDS_BEFOREHAND / spec.rounds).clamp(1, RESULTS_MAX) } else { 0 };
        let pattern = pattern(spec.upload_bytes.max(spec.download_bytes) as usize);
        Ok(Self {
            upload_checksum: u64::from(checksum(&pattern[..spec.upload_bytes as usize])),
            pattern,
            deck,
            upload_bytes: spec.upload_bytes,
            download_bytes: spec.download_bytes,
            rounds: spec.rounds,
            results: (0..u64::from(results)).map(|seed| process(seed, spec.rounds)).collect(),
            record_bytes: if stores { spec.record_bytes } else { 0 },
            read_records: spec.read_records,
            write_records: spec.write_records,
            working_set: spec.working_set,
            kinds,
        })
    }
}

fn kind_of(name: &str) -> Result<Kind, SpecError> {
    let known = || Kind::WORK.map(Kind::name).join(", ");
    let kind = Kind::WORK.into_iter().find(|kind| kind.name() == name);
    kind.ok_or_else(|| format!("there is no kind of request `{name}`: there are {}", known()).into())
}

fn check(spec: &AppSpec) -> Result<(), SpecError> {
    let refuse = |text: String| Err(SpecError::from(text));
    if spec.addresses.is_empty() && spec.unix.is_none() {
        return refuse("the contender has neither an address nor a Unix socket".to_owned());
    }
    let names: std::collections::BTreeSet<_> = spec.classes.iter().map(|class| &class.name).collect();
    if spec.classes.is_empty() || names.len() != spec.classes.len() {
        return refuse("each kind of request may be named once, and one at least must be".to_owned());
    }
    for (name, bytes) in [("upload_bytes", spec.upload_bytes), ("download_bytes", spec.download_bytes)] {
        if bytes > PAYLOAD_BYTES_MAX {
            return refuse(format!("{name} must be at most {PAYLOAD_BYTES_MAX}, not {bytes}"));
        }
    }
    if spec.rounds == 0 {
        return refuse("rounds must be at least 1".to_owned());
    }
    if !is_record_size(spec.record_bytes) {
        return refuse(format!("record_bytes must be a multiple of 512 up to 1 MiB, not {}", spec.record_bytes));
    }
    for (name, records) in [("read_records", spec.read_records), ("write_records", spec.write_records)] {
        if !(1..=RECORDS_OF_ONE_REQUEST_MAX).contains(&records) {
            return refuse(format!("{name} must be 1 to {RECORDS_OF_ONE_REQUEST_MAX}, not {records}"));
        }
    }
    if !(spec.working_set > 0.0 && spec.working_set <= 1.0) {
        return refuse(format!("working_set must be more than 0 and at most 1, not {}", spec.working_set));
    }
    Ok(())
}
