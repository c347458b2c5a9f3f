//! The matrix of file sizes × record sizes × tests, on IOzone's definitions of the tests.
//!
//! A trial runs all cells; its sessions go through them together, with a barrier before and after each.

mod cached;
mod cells;
mod script;
mod session;
mod spec;
mod tests_of;

use bakeoff_engine::{Executor, FileNeeds, FileWorkload, Identity, Rng, SpecError, TrialSpec};
pub use cached::{Evidence, Judgement, LINK_SHARE, judge};
use serde_json::{Value, json};
pub use session::MatrixSession;
pub use spec::{Cache, Carrier, MatrixSpec};
use std::sync::{Arc, Mutex, PoisonError};
pub use tests_of::{Order, Test, Walk};

/// The random order is the same in every run, as the definition has it.
const PERMUTATION_SEED: u64 = 0x1020_3040;

/// What the sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Shared {
    spec: MatrixSpec,
    sessions: u32,
    threads: u32,
    permutation: Mutex<Arc<[u32]>>,
}

impl Shared {
    fn cells(&self) -> usize {
        self.spec.pairs.len() * self.spec.tests.len()
    }

    fn operation(&self, cell: usize) -> String {
        let (file, record) = self.spec.pairs[cell / self.spec.tests.len()];
        let test = self.spec.tests[cell % self.spec.tests.len()].name();
        format!("{test}/{}/{}", MatrixSpec::size_name(file), MatrixSpec::size_name(record))
    }

    /// Whether a cell can be run with so many clients.
    fn runs(&self, cell: usize) -> bool {
        self.sessions > 1 || self.spec.tests[cell % self.spec.tests.len()] != Test::Mixed
    }

    /// Whether a session reads in a cell. In the mixed test some do and some do not.
    fn reads(&self, cell: usize, session: u32) -> bool {
        let test = self.spec.tests[cell % self.spec.tests.len()];
        match self.spec.mixed_read_percent {
            _ if test != Test::Mixed => test.reads(),
            None => session.is_multiple_of(2),
            Some(share) => u64::from(session) * 100 < u64::from(self.sessions) * u64::from(share),
        }
    }

    /// The random order of so many records. All sessions need the same one at the same time: it is kept once.
    fn permutation(&self, records: u64) -> Arc<[u32]> {
        let mut kept = self.permutation.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() as u64 != records {
            let mut order: Vec<u32> = (0..records as u32).collect();
            Rng::for_thread(PERMUTATION_SEED, 0, 0).shuffle(&mut order);
            *kept = order.into();
        }
        Arc::clone(&kept)
    }
}

/// The workload `file-matrix`.
#[derive(Debug)]
pub struct MatrixWorkload {
    shared: Arc<Shared>,
}

impl MatrixWorkload {
    /// Reads the `workload` part of a trial's specification.
    pub fn from_spec(trial: &TrialSpec) -> Result<Self, SpecError> {
        let spec = MatrixSpec::from_json(&trial.workload)?;
        let permutation = Mutex::new(Arc::from([]));
        let shared = Shared { spec, sessions: trial.sessions(), threads: trial.threads, permutation };
        Ok(Self { shared: Arc::new(shared) })
    }
}

impl FileWorkload for MatrixWorkload {
    type Session = MatrixSession;

    fn operations(&self) -> Vec<String> {
        (0..self.shared.cells()).map(|cell| self.shared.operation(cell)).collect()
    }

    fn needs(&self) -> FileNeeds {
        let spec = &self.shared.spec;
        FileNeeds {
            folder: spec.folder.clone(),
            keep: spec.keep,
            reuse: None,
            space_bytes: (spec.file_max() * u64::from(self.shared.sessions)).saturating_mul(101) / 100,
            handles: 1,
            buffers: 1,
            buffer_bytes: spec.record_max() as usize,
            registered_bytes: 0,
            depth: 1,
            executor: Executor::Blocking,
            cold_command: spec.cold_command.clone(),
            stall_ns: (spec.stall_s * 1e9) as u64,
        }
    }

    fn session(&self, identity: Identity) -> MatrixSession {
        MatrixSession::new(Arc::clone(&self.shared), identity)
    }

    fn figures(&self, sessions: &[MatrixSession]) -> Value {
        let cells = cells::cells(&self.shared, sessions);
        let complete = cells.iter().all(|cell| cell["skipped"].is_null() || cell["test"] == "mixed");
        json!({"cells": cells, "complete": complete, "cpu_is_work": true})
    }

    fn complete(&self, result: &mut Value) {
        cells::add_percentiles(result);
        // The window of a matrix is the time inside the clocks of its cells; making them ready is no part of it.
        let busy: Vec<f64> = result["per_client"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|client| client["busy_s"].as_f64())
            .collect();
        if !busy.is_empty() {
            result["window_s"] = json!(busy.iter().sum::<f64>() / busy.len() as f64);
        }
    }
}

#[cfg(test)]
mod tests;
