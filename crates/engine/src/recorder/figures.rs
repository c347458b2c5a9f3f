//! What is counted for an operation name, and for a client.

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

    pub fn errors(&self) -> [u64; ErrorClass::COUNT] {
        self.errors.as_deref().copied().unwrap_or([0; ErrorClass::COUNT])
    }

    pub fn count_error(&mut self, error: ErrorClass) {
        self.errors.get_or_insert_with(|| Box::new([0; ErrorClass::COUNT]))[error as usize] += 1;
    }

    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.service.add(&other.service);
        if let Ok(parked) = deserialize(&other.parked) {
            self.service.add_raw(&parked);
        }
        if let Some(theirs) = &other.errors {
            let mine = self.errors.get_or_insert_with(|| Box::new([0; ErrorClass::COUNT]));
            mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Puts the times away in small form; returns the histogram, emptied.
    pub fn park(&mut self) -> LatencyHistogram {
        let mut service = std::mem::replace(&mut self.service, LatencyHistogram::lazy());
        if service.count() > 0 {
            if let Ok(parked) = deserialize(&self.parked) {
                service.add_raw(&parked);
            }
            self.parked = serialize(&service).into_boxed_slice();
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
    pub operations: u64,
    pub errors: u64,
    pub bytes_in: u64,
    pub busy_ns: u64,
}
