//! What is counted for an operation name, and for a client.

use crate::result::measurement::{Counted, Counts};
use crate::{ErrorClass, LatencyHistogram, deserialize, serialize};

/// Figures of one operation name.
#[derive(Debug, Clone)]
pub(crate) struct OperationFigures {
    pub operations: u64,
    errors: Option<Box<[u64; ErrorClass::COUNT]>>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub service: LatencyHistogram,
    /// Times that were put away: V2 bytes, empty when there are none.
    parked: Box<[u8]>,
}

impl OperationFigures {
    pub fn new() -> Self {
        Self { service: LatencyHistogram::new(), ..Self::lazy() }
    }

    pub fn lazy() -> Self {
        Self {
            operations: 0,
            errors: None,
            bytes_in: 0,
            bytes_out: 0,
            service: LatencyHistogram::lazy(),
            parked: Box::new([]),
        }
    }

    #[cfg(test)]
    pub fn errors(&self) -> [u64; ErrorClass::COUNT] {
        self.errors.as_deref().copied().unwrap_or([0; ErrorClass::COUNT])
    }

    pub fn count_error(&mut self, error: ErrorClass) {
        self.errors.get_or_insert_with(|| Box::new([0; ErrorClass::COUNT]))[error as usize] += 1;
    }

    /// Adds all to what other threads counted.
    pub fn add_to(&self, total: &mut Counted) {
        total.operations += self.operations;
        total.bytes_in += self.bytes_in;
        total.bytes_out += self.bytes_out;
        total.service.add(&self.service);
        if let Ok(parked) = deserialize(&self.parked) {
            total.service.add_raw(&parked);
        }
        if let Some(errors) = &self.errors {
            total.add_errors(errors);
        }
    }

    /// Puts the times away in small form; returns the histogram, emptied.
    pub fn park(&mut self) -> LatencyHistogram {
        let mut service = std::mem::replace(&mut self.service, LatencyHistogram::lazy());
        if service.count() > 0 {
            if let Ok(parked) = deserialize(&self.parked) {
                service.add_raw(&parked);
            }
            self.parked = serialize(&service.to_hdr()).into_boxed_slice();
        }
        service.clear();
        service
    }

    #[cfg(test)]
    pub fn parked_bytes(&self) -> usize {
        self.parked.len()
    }
}

/// Figures of one client.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClientFigures {
    pub counts: Counts,
    pub busy_ns: u64,
}
