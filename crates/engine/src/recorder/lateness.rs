//! How late the generator itself was with starts that it had to wait for.

use crate::{LatencyHistogram, Nanos};

/// Times that a lazy one keeps one by one: a client of a file suite often has one only, not worth the memory of a
/// histogram.
const FEW: usize = 16;

/// From the moment at which a waiting virtual user was to begin until it did.
#[derive(Debug)]
pub(crate) struct Lateness {
    times: LatencyHistogram,
    /// Of a thread that starts only now and then: the first few, which are not in the histogram.
    first_ns: Vec<Nanos>,
}

impl Lateness {
    pub fn new() -> Self {
        Self { times: LatencyHistogram::new(), first_ns: Vec::new() }
    }

    pub const fn lazy() -> Self {
        Self { times: LatencyHistogram::lazy(), first_ns: Vec::new() }
    }

    pub fn record(&mut self, late_ns: Nanos) {
        if self.times.is_lazy() && self.first_ns.len() < FEW {
            self.first_ns.push(late_ns);
        } else {
            self.times.record(late_ns);
        }
    }

    #[cfg(test)]
    pub const fn is_lazy(&self) -> bool {
        self.times.is_lazy()
    }

    /// Adds all times to a histogram.
    pub fn add_to(&self, total: &mut LatencyHistogram) {
        total.add(&self.times);
        self.first_ns.iter().for_each(|late_ns| total.record(*late_ns));
    }
}
