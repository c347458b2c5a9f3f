//! The parts of operations.

use super::Stamps;
use crate::LatencyHistogram;

/// Times of the parts of an operation that the driver itself can see.
#[derive(Debug)]
pub(crate) struct Steps {
    pub connect: LatencyHistogram,
    pub tls: LatencyHistogram,
    pub stream: LatencyHistogram,
    pub written: LatencyHistogram,
    pub first_byte: LatencyHistogram,
    pub transfer: LatencyHistogram,
}

impl Default for Steps {
    fn default() -> Self {
        let new = LatencyHistogram::new;
        // Hardly any operation waits for a stream, or tells when it was written.
        Self { connect: new(), tls: new(), first_byte: new(), transfer: new(), ..Self::lazy() }
    }
}

impl Steps {
    /// Steps that take memory with their first times.
    pub const fn lazy() -> Self {
        const LAZY: LatencyHistogram = LatencyHistogram::lazy();
        Self { connect: LAZY, tls: LAZY, stream: LAZY, written: LAZY, first_byte: LAZY, transfer: LAZY }
    }

    #[inline]
    pub fn record(&mut self, stamps: &Stamps) {
        if let Some(connect_ns) = stamps.connect_ns {
            self.connect.record(connect_ns);
        }
        if let Some(tls_ns) = stamps.tls_ns {
            self.tls.record(tls_ns);
        }
        if let Some(waited_ns) = stamps.waited_ns {
            self.stream.record(waited_ns);
        }
        if let Some(written_ns) = stamps.written_ns {
            self.written.record(written_ns);
        }
        if let Some(first_byte_ns) = stamps.first_byte_ns {
            self.first_byte.record(first_byte_ns.saturating_sub(stamps.sent_ns));
            self.transfer.record(stamps.end_ns.saturating_sub(first_byte_ns + stamps.turned_ns));
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.connect.add(&other.connect);
        self.tls.add(&other.tls);
        self.stream.add(&other.stream);
        self.written.add(&other.written);
        self.first_byte.add(&other.first_byte);
        self.transfer.add(&other.transfer);
    }

    /// The histograms with their names in results.
    pub fn named(&self) -> [(&'static str, &LatencyHistogram); 6] {
        [
            ("connect", &self.connect),
            ("tls", &self.tls),
            ("stream", &self.stream),
            ("written", &self.written),
            ("first_byte", &self.first_byte),
            ("transfer", &self.transfer),
        ]
    }
}
