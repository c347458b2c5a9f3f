//! What all workers and connections of one web server have in common.

use std::sync::atomic::{AtomicBool, AtomicUsize};

use tokio_rustls::TlsAcceptor;

use super::corpus::Corpus;
use super::spec::WebSpec;
use crate::ServeError;
use crate::server::clock::now_ns;
use crate::server::counts::Counts;
use crate::server::faults::{EveryNth, Limiter, Refusal, Stalls};
use crate::server::tls::acceptor;

const ALPN: &[&[u8]] = &[b"http/1.1", b"http/1.0"];

/// What all workers and connections of one server have in common.
pub struct Shared {
    pub spec: WebSpec,
    pub corpus: Corpus,
    pub tls: Option<TlsAcceptor>,
    pub address: String,
    pub counts: Counts,
    pub started_ns: u64,
    pub limiter: Limiter,
    pub refusal: Refusal,
    pub stalls: Option<Stalls>,
    pub every_status: EveryNth,
    pub every_truncate: EveryNth,
    pub every_corrupt: EveryNth,
    pub every_unanswered: EveryNth,
    pub every_bad_chunk: EveryNth,
    pub every_unsolicited: EveryNth,
    pub open: AtomicUsize,
    pub ended: AtomicBool,
}

impl Shared {
    pub fn new(spec: WebSpec, address: String) -> Result<Self, ServeError> {
        let corpus = match &spec.root {
            Some(root) => Corpus::load(root, spec.memory_bytes)?,
            None => Corpus::built_in(spec.page_bytes),
        };
        Ok(Self {
            corpus,
            tls: spec.tls.as_ref().map(|tls| acceptor(tls, ALPN)).transpose()?,
            address,
            counts: Counts::new(spec.threads),
            started_ns: now_ns(),
            limiter: Limiter::new(spec.limit_per_s),
            refusal: Refusal::new(spec.refuse),
            stalls: spec.stall.and_then(Stalls::new),
            every_status: EveryNth::new(spec.status.map(|s| s.every)),
            every_truncate: EveryNth::new(spec.truncate_every),
            every_corrupt: EveryNth::new(spec.corrupt_every),
            every_unanswered: EveryNth::new(spec.unanswered_every),
            every_bad_chunk: EveryNth::new(spec.bad_chunk_every),
            every_unsolicited: EveryNth::new(spec.unsolicited_every),
            open: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            spec,
        })
    }

    pub fn counts_json(&self) -> serde_json::Value {
        self.counts.sum().to_json("web", &self.address, self.elapsed_ns())
    }

    pub fn elapsed_ns(&self) -> u64 {
        now_ns() - self.started_ns
    }
}
