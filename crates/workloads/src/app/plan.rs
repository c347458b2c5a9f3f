//! From the specification to what all sessions share.

use super::answers;
use super::spec::AppSpec;
use crate::deck::Deck;
use bakeoff_app_protocol::{Kind, PAYLOAD_BYTES_MAX, checksum, is_record_size, pattern};
use bakeoff_engine::SpecError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Steps of every operation, in this order; each operation has its own after them.
pub(crate) const STEPS: [&str; 3] = ["network", "queue", "service"];

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
    /// Different seeds of processor work; 0: a fresh one each time.
    pub seeds: u32,
    /// Answers to processor work that are worked out again, of all sessions together.
    pub answers: u64,
    /// Whether anything is looked at again after the trial.
    pub looks_again: bool,
    /// See [`bakeoff_engine::TrialSpec::secret`].
    pub secret: u64,
    /// Sessions of all machines.
    pub sessions: u64,
    pub left: UncheckedWork,
    /// 0 when nothing is read or written: then no segment is asked for.
    pub record_bytes: u32,
    pub read_records: u32,
    pub write_records: u32,
    pub working_set: f64,
}

/// What all sessions of this machine have to look at again when the measured part is over.
#[derive(Debug, Default)]
pub(crate) struct UncheckedWork {
    records: AtomicU64,
    answers: AtomicU64,
}

impl UncheckedWork {
    /// A session leaves the measured part.
    pub fn add(&self, records: u64, answers: u64) {
        self.records.fetch_add(records, Relaxed);
        self.answers.fetch_add(answers, Relaxed);
    }

    pub fn records(&self) -> u64 {
        self.records.load(Relaxed)
    }

    pub fn answers(&self) -> u64 {
        self.answers.load(Relaxed)
    }
}

impl AppPlan {
    /// Checks the specification and prepares what the sessions share.
    pub fn new(spec: &AppSpec, secret: u64, sessions: u64) -> Result<Self, SpecError> {
        check(spec)?;
        let kinds = spec.classes.iter().map(|class| kind_of(&class.name)).collect::<Result<Vec<_>, _>>()?;
        let deck = Deck::new(spec.classes.iter().map(|class| class.weight))?;
        let asked = |kind: Kind| kinds.contains(&kind);
        let stores = asked(Kind::Read) || asked(Kind::Write);
        let pattern = pattern(spec.upload_bytes.max(spec.download_bytes) as usize);
        Ok(Self {
            upload_checksum: u64::from(checksum(&pattern[..spec.upload_bytes as usize])),
            pattern,
            deck,
            upload_bytes: spec.upload_bytes,
            download_bytes: spec.download_bytes,
            rounds: spec.rounds,
            seeds: spec.seeds,
            answers: answers::sample(spec.rounds),
            looks_again: spec.look_again && (asked(Kind::Write) || asked(Kind::Processor)),
            secret,
            sessions,
            left: UncheckedWork::default(),
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
