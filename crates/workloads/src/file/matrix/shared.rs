//! What the sessions of a matrix share.

use super::spec::MatrixSpec;
use super::test::Test;
use crate::file::cell::size_name;
use bakeoff_engine::{Rng, TrialSpec};
use std::sync::{Arc, Mutex, PoisonError};

/// The random order is the same in every run, as the definition has it.
const PERMUTATION_SEED: u64 = 0x1020_3040;

/// What the sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub spec: MatrixSpec,
    pub sessions: u32,
    pub virtual_users: u32,
    permutation: Mutex<Arc<[u32]>>,
}

impl Shared {
    pub fn new(spec: MatrixSpec, trial: &TrialSpec) -> Self {
        Self {
            spec,
            sessions: trial.sessions(),
            virtual_users: trial.virtual_users,
            permutation: Mutex::new(Arc::from([])),
        }
    }

    pub fn cells(&self) -> usize {
        self.spec.pairs.len() * self.spec.tests.len()
    }

    pub fn operation(&self, cell: usize) -> String {
        let (file, record) = self.spec.pairs[cell / self.spec.tests.len()];
        let test = self.spec.tests[cell % self.spec.tests.len()].name();
        format!("{test}/{}/{}", size_name(file), size_name(record))
    }

    /// Whether a cell can be run with so many clients.
    pub fn runs(&self, cell: usize) -> bool {
        self.sessions > 1 || self.spec.tests[cell % self.spec.tests.len()] != Test::Mixed
    }

    /// Whether a session reads in a cell. In the mixed test some do and some do not.
    pub fn reads(&self, cell: usize, session: u32) -> bool {
        let test = self.spec.tests[cell % self.spec.tests.len()];
        match self.spec.mixed_read_percent {
            _ if test != Test::Mixed => test.reads(),
            None => session.is_multiple_of(2),
            Some(share) => u64::from(session) * 100 < u64::from(self.sessions) * u64::from(share),
        }
    }

    /// The random order of so many records. All sessions need the same one at the same time: it is kept once.
    pub fn permutation(&self, records: u64) -> Arc<[u32]> {
        let mut kept = self.permutation.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() as u64 != records {
            let mut order: Vec<u32> = (0..records as u32).collect();
            Rng::for_thread(PERMUTATION_SEED, 0, 0).shuffle(&mut order);
            *kept = order.into();
        }
        Arc::clone(&kept)
    }
}
