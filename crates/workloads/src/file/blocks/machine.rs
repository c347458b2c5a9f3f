//! What one machine keeps of all cells, which is what it hands over when several share a trial, and how caches served
//! it: each machine has its own.

use super::figures::{CellFigures, CellTotals};
use super::session::BlocksSession;
use super::shared::Shared;
use super::spec::BlocksSpec;
use crate::file::cache::Coldness;
use crate::file::evidence::{CacheVerdict, Carrier, Evidence, judge};
use bakeoff_engine::Observation;
use serde::{Deserialize, Serialize};

/// Names of the rungs of the ladder, and their numbers in results.
const LEVELS: [(&str, u8); 4] = [("warm", 0), ("dropped", 2), ("drop_caches", 3), ("command", 4)];

/// One machine's part of a trial; of each session its cells, in their order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Machine {
    pub region_bytes: u64,
    /// Where its bytes come from, and what its link carries.
    carrier: Carrier,
    link_bytes_per_s: Option<f64>,
    pub sessions: Vec<Vec<CellFigures>>,
}

impl Machine {
    pub fn of(shared: &Shared, sessions: &[BlocksSession]) -> Self {
        let told = |session: &BlocksSession| session.figures.iter().map(CellFigures::since_release).collect();
        Self {
            region_bytes: shared.spec.region_bytes,
            carrier: shared.spec.carrier,
            link_bytes_per_s: shared.spec.link_bytes_per_s,
            sessions: sessions.iter().map(told).collect(),
        }
    }

    /// What its sessions keep of a cell.
    pub fn cell(&self, index: usize) -> Vec<&CellFigures> {
        self.sessions.iter().map(|session| &session[index]).collect()
    }

    fn judgement(&self, index: usize, spec: &BlocksSpec) -> CacheVerdict {
        let parts = self.cell(index);
        let (before, after) = counters(&parts).unwrap_or_default();
        let moved = |pick: fn(&CellTotals) -> u64| parts.iter().map(|part| pick(&part.whole)).sum();
        let from_ns = parts.iter().map(|part| part.whole.from_ns).min().unwrap_or(0);
        let to_ns = parts.iter().map(|part| part.whole.to_ns).max().unwrap_or(0);
        judge(&Evidence {
            read_bytes: moved(|whole| whole.read_bytes),
            written_bytes: moved(|whole| whole.written_bytes),
            elapsed_s: to_ns.saturating_sub(from_ns) as f64 / 1e9,
            direct: spec.direct,
            carrier: self.carrier,
            link: self.link_bytes_per_s,
            before,
            after,
            resident_pages: before.cached_pages,
            dirty_pages: after.dirty_pages,
            file_bytes: self.region_bytes,
        })
    }
}

/// The counters of a cell, which one session of a machine has read.
pub(super) fn counters(parts: &[&CellFigures]) -> Option<(Observation, Observation)> {
    parts.iter().find_map(|part| part.counters.as_deref().copied())
}

/// How cold the caches were: those of the machine whose were least so.
pub(super) fn coldness(spec: &BlocksSpec, index: usize, machines: &[Machine]) -> Coldness {
    let level_of = |machine: &Machine| machine.cell(index).iter().map(|part| part.level).max().unwrap_or(0);
    let level = machines.iter().map(level_of).min().unwrap_or(0);
    let (name, level) = LEVELS[usize::from(level).min(LEVELS.len() - 1)];
    let resident = |machine: &Machine| counters(&machine.cell(index)).and_then(|(before, _)| before.cached_pages);
    Coldness {
        asked: spec.cache,
        level,
        name,
        resident_pages: machines.iter().map(resident).sum(),
        file_bytes: machines.iter().map(|machine| machine.region_bytes).sum(),
    }
}

/// Whether a cache served the cell. One machine whose cache did is enough: what the others did says nothing of it.
pub(super) fn judgement(spec: &BlocksSpec, index: usize, machines: &[Machine]) -> CacheVerdict {
    let each: Vec<CacheVerdict> = machines.iter().map(|machine| machine.judgement(index, spec)).collect();
    let rank = |judgement: &&CacheVerdict| match judgement.cached {
        Some(true) => 2,
        None => 1,
        Some(false) => 0,
    };
    let Some(worst) = each.iter().max_by_key(rank) else {
        return CacheVerdict { cached: None, reason: "no machine tells".to_owned(), carried_bytes: None };
    };
    let alike = each.iter().filter(|judgement| judgement.cached == worst.cached).count();
    let reason = match each.len() {
        1 => worst.reason.clone(),
        all => format!("on {alike} of {all} machines, as on one of them: {}", worst.reason),
    };
    CacheVerdict {
        cached: worst.cached,
        reason,
        carried_bytes: each.iter().map(|judgement| judgement.carried_bytes).sum(),
    }
}
