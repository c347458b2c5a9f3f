//! From the specification to what all sessions share.

use super::session::AppSession;
use super::spec::AppSpec;
use crate::deck::deck;
use bakeoff_app_protocol::{
    Figures, Hello, Kind, PAYLOAD_BYTES_MAX, checksum, is_record_size, known, pattern, process,
};
use bakeoff_engine::{Endpoint, Identity, Rng, SpecError, Workload};
use serde_json::{Value, json};
use std::sync::Arc;

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
    pub deck: Vec<u16>,
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

/// The workload `app`.
#[derive(Debug, Clone)]
pub struct AppWorkload {
    plan: Arc<AppPlan>,
    endpoint: Endpoint,
}

impl AppWorkload {
    /// Reads the workload part of a trial specification.
    pub fn from_json(value: &Value) -> Result<Self, SpecError> {
        let spec: AppSpec = serde::Deserialize::deserialize(value)?;
        Self::new(&spec)
    }

    /// Checks the specification and prepares what the sessions share.
    pub fn new(spec: &AppSpec) -> Result<Self, SpecError> {
        check(spec)?;
        let kinds = spec.classes.iter().map(|class| kind_of(&class.name)).collect::<Result<Vec<_>, _>>()?;
        let deck = deck(&spec.classes.iter().map(|class| class.weight).collect::<Vec<_>>())?;
        let asked = |kind: Kind| kinds.contains(&kind);
        let stores = asked(Kind::Read) || asked(Kind::Write);
        let results = if asked(Kind::Processor) { (ROUNDS_BEFOREHAND / spec.rounds).clamp(1, RESULTS_MAX) } else { 0 };
        let pattern = pattern(spec.upload_bytes.max(spec.download_bytes) as usize);
        let plan = AppPlan {
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
        };
        let endpoint = Endpoint {
            addresses: spec.addresses.clone(),
            unix: spec.unix.clone(),
            source_addresses: spec.source_addresses.clone(),
            ..Endpoint::default()
        };
        Ok(Self { plan: Arc::new(plan), endpoint })
    }
}

impl Workload for AppWorkload {
    type Session = AppSession;

    fn operations(&self) -> Vec<String> {
        self.plan.kinds.iter().map(|kind| kind.name().to_owned()).collect()
    }

    fn steps(&self) -> Vec<String> {
        let of_all = STEPS.iter().map(|step| (*step).to_owned());
        let of_each = self.plan.kinds.iter().flat_map(|kind| STEPS.map(|step| format!("{}/{step}", kind.name())));
        of_all.chain(of_each).collect()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        vec![self.endpoint.clone()]
    }

    fn session(&self, identity: Identity) -> AppSession {
        let rng = Rng::for_thread(identity.seed, identity.client, identity.thread);
        let number = u64::from(identity.client) << 32 | u64::from(identity.thread);
        AppSession::new(Arc::clone(&self.plan), rng, number)
    }

    /// What the server told of itself, and what the checks found.
    fn figures<'a>(&self, sessions: impl Iterator<Item = &'a AppSession>) -> Value {
        let mut total = super::session::Tally::default();
        sessions.for_each(|session| total.add(session.tally()));
        let refusals = total.refusals.iter().map(|(name, &count)| ((*name).to_owned(), json!(count)));
        json!({
            "server": total.server.map(|hello| server_json(&hello, total.used.used())),
            "verified": {
                "records": total.records_read, "damaged": total.damaged, "lost": total.lost,
                "wrong_results": total.wrong_results,
            },
            "refusals": refusals.collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// The server's settings, and what it used between its first and its last look inside the window.
fn server_json(hello: &Hello, used: Figures) -> Value {
    let share = used.cpu_ns as f64 / (used.uptime_ns as f64 * f64::from(hello.processors.max(1)));
    json!({
        "threads": hello.threads, "processors": hello.processors, "segment_bytes": hello.segment_bytes,
        "direct": hello.direct, "fsync": hello.fsync, "service_ns": hello.service_ns,
        "watched_s": used.uptime_ns as f64 / 1e9, "cpu_s": used.cpu_ns as f64 / 1e9,
        "cpu_share": if used.uptime_ns == 0 { None } else { Some(share) },
        "disk_read_bytes": known(used.disk_read_bytes), "disk_written_bytes": known(used.disk_written_bytes),
    })
}

fn kind_of(name: &str) -> Result<Kind, SpecError> {
    let known = || Kind::WORK.map(Kind::name).join(", ");
    let found = Kind::WORK.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| format!("there is no kind of request `{name}`: there are {}", known()).into())
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
