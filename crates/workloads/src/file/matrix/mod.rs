//! The matrix of file sizes × record sizes × tests, on IOzone's definitions of the tests.
//!
//! A trial runs all cells; its sessions go through them together, with a barrier before and after each.

mod cells;
mod figures;
mod script;
mod session;
mod shared;
mod spec;
mod test;
mod walk;

use crate::file::cell::add_percentiles;
use crate::file::servers::server_of;
use bakeoff_engine::{Executor, FileNeeds, FileServer, FileWorkload, Identity, SpecError, TrialResult, TrialSpec};
use serde_json::{Value, json};
pub use session::MatrixSession;
use shared::Shared;
pub use spec::MatrixSpec;
use std::sync::Arc;
pub use test::Test;
pub use walk::{Order, Walk};

/// The workload `file-matrix`.
#[derive(Debug)]
pub struct MatrixWorkload {
    shared: Arc<Shared>,
    server: Option<Arc<dyn FileServer>>,
}

impl MatrixWorkload {
    /// Reads the `workload` part of a trial's specification.
    pub fn from_spec(trial: &TrialSpec) -> Result<Self, SpecError> {
        let spec = MatrixSpec::from_json(&trial.workload)?;
        let server = server_of(&spec.folder).map_err(SpecError::Range)?;
        Ok(Self { shared: Arc::new(Shared::new(spec, trial)), server })
    }
}

impl FileWorkload for MatrixWorkload {
    type Session = MatrixSession;

    fn undivided(&self) -> Option<&'static str> {
        Some("a small file is through in less time than machines can begin within of each other")
    }

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

    fn server(&self) -> Option<Arc<dyn FileServer>> {
        self.server.clone()
    }

    fn session(&self, identity: Identity) -> MatrixSession {
        MatrixSession::new(Arc::clone(&self.shared), identity)
    }

    fn figures(&self, sessions: &[MatrixSession]) -> Value {
        let cells = cells::cells(&self.shared, sessions);
        let complete = cells.iter().all(|cell| cell["skipped"].is_null() || cell["test"] == "mixed");
        json!({"cells": cells, "complete": complete, "cpu_is_work": true})
    }

    fn complete(&self, result: &mut TrialResult) {
        add_percentiles(result);
        // The window of a matrix is the time inside the clocks of its cells; making them ready is no part of it.
        let clients = &result.per_client;
        if !clients.is_empty() {
            result.window_s = clients.iter().map(|client| client.busy_s).sum::<f64>() / clients.len() as f64;
        }
    }
}

#[cfg(test)]
mod tests;
