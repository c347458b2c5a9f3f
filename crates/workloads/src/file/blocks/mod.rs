//! Block sizes and access specifications on one large file, on Iometer's definitions.
//!
//! All clients of a trial work on one file, the region, which is written once and kept over the trials of a run.
//! A trial goes through its cells; each is timed for so long, all clients together, those of other machines among them.
//! Each machine has a part of the region, in a file of its own.

mod access;
mod cells;
mod figures;
mod machine;
mod script;
mod session;
mod shared;
mod spec;
mod transfer;

use crate::file::pattern::Owner;
use crate::file::servers::server_of;
pub use access::{Chooser, Line, Transfer};
use bakeoff_engine::{Executor, FileNeeds, FileServer, FileWorkload, Identity, SpecError, TrialResult, TrialSpec};
use machine::Machine;
use script::FILL_BYTES;
use serde::Deserialize;
use serde_json::{Value, json};
pub use session::BlocksSession;
use shared::Shared;
pub use spec::{BlocksSpec, Cell};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The workload `file-blocks`.
#[derive(Debug)]
pub struct BlocksWorkload {
    shared: Arc<Shared>,
    server: Option<Arc<dyn FileServer>>,
}

impl BlocksWorkload {
    /// Reads the `workload` part of a trial's specification.
    pub fn from_spec(trial: &TrialSpec) -> Result<Self, SpecError> {
        let spec = BlocksSpec::from_json(&trial.workload)?.of_slice(trial)?;
        let server = server_of(&spec.folder).map_err(SpecError::Range)?;
        let shared = Shared {
            reads_back: Shared::can_read_back(&spec),
            secret: trial.secret,
            longest_ns: AtomicU64::new(0),
            spec,
            sessions: trial.own_sessions(),
            first: trial.own_clients().start * trial.virtual_users,
            virtual_users: trial.virtual_users,
            is_divided: !trial.is_whole(),
            owner: Owner::new(0xB10C, 0, 0),
        };
        Ok(Self { shared: Arc::new(shared), server })
    }
}

impl FileWorkload for BlocksWorkload {
    type Session = BlocksSession;

    fn undivided(&self) -> Option<&'static str> {
        None
    }

    fn operations(&self) -> Vec<String> {
        (0..self.shared.spec.cells.len()).map(|cell| self.shared.operation(cell)).collect()
    }

    fn needs(&self) -> FileNeeds {
        let spec = &self.shared.spec;
        FileNeeds {
            folder: spec.folder.clone(),
            keep: spec.keep,
            reuse: spec.reuse.clone(),
            // A region that is kept is there already, but for the first trial.
            space_bytes: if spec.reuse.is_some() { 0 } else { spec.region_bytes / 100 * 101 },
            handles: 2,
            buffers: spec.outstanding as u16,
            buffer_bytes: spec.transfer_max().max(FILL_BYTES) as usize,
            registered_bytes: spec.transfer_max() as usize,
            depth: spec.outstanding,
            executor: if spec.outstanding == 1 { Executor::Blocking } else { Executor::Ring },
            cold_command: spec.cold_command.clone(),
            stall_ns: (spec.stall_s * 1e9) as u64,
        }
    }

    fn server(&self) -> Option<Arc<dyn FileServer>> {
        self.server.clone()
    }

    fn session(&self, identity: Identity) -> BlocksSession {
        BlocksSession::new(Arc::clone(&self.shared), identity)
    }

    fn figures(&self, sessions: &[BlocksSession]) -> Value {
        let machine = Machine::of(&self.shared, sessions);
        if self.shared.is_divided {
            return json!({"book": machine, "measured_s": cells::measured_s(&self.shared, &machine)});
        }
        self.told(&[machine])
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        let read = |part: &&Value| {
            Machine::deserialize(&part["book"])
                .map_err(|error| format!("a machine tells no figures of its cells: {error}"))
        };
        let machines = parts.iter().map(read).collect::<Result<Vec<_>, String>>()?;
        let cells = self.shared.spec.cells.len();
        if machines.iter().flat_map(|machine| &machine.sessions).any(|session| session.len() != cells) {
            return Err("a machine tells of other cells than there are".to_owned());
        }
        Ok(self.told(&machines))
    }

    fn complete(&self, result: &mut TrialResult) {
        cells::complete(result);
    }
}

impl BlocksWorkload {
    /// What all machines did, as one.
    fn told(&self, machines: &[Machine]) -> Value {
        let cells = cells::cells(&self.shared, machines);
        let complete = cells.iter().all(|cell| cell["skipped"].is_null());
        json!({
            "cells": cells, "complete": complete, "cpu_is_work": true,
            "region_bytes": machines.iter().map(|machine| machine.region_bytes).sum::<u64>(), "outstanding": self.shared.spec.outstanding,
            "min_transfers": self.shared.spec.min_transfers, "cell_limit_s": self.shared.spec.cell_limit_s,
        })
    }
}

#[cfg(test)]
mod tests;
