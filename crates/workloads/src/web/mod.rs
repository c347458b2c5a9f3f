//! HTTP clients: 1.0 and 1.1, and 2 and 3, whose connections carry several requests at once.

mod check;
mod hex;
mod http1;
mod http2;
mod http3;
mod plan;
mod session;
mod spec;

use bakeoff_engine::{
    Endpoint, Identity, Rng, SpecError, Stages, Streams, TlsSettings, TrialSpec, Workload, add_counts,
};
pub use check::agreed::KnownReply;
pub(crate) use check::failures::{Failures, Fault};
use check::sampling::Sampler;
pub use check::sampling::{Draws, WHOLE_BODIES, WHOLE_BYTES};
pub(crate) use hex::{from_hex, to_hex};
pub use http1::body::Body;
pub use http1::head::{HEAD_BYTES_MAX, Malformed, parse_with as parse_head};
pub use http1::whole::{Exchange, Faulty, ReplyFault, WholeReader, WholeReply};
pub use http2::whole::StreamReader;
use plan::WebPlan;
pub(crate) use plan::{check_field, header_tail, may_carry};
pub use session::{Reader, Unread, WebSession};
pub use spec::{ClassSpec, ReplySpec, RequestSpec, WebSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(test)]
mod tests;

/// How long connections are listened to after the last reply: a server that answers twice is then heard doing it, s.
const LISTEN_S: f64 = 0.05;

/// The workload `web`.
#[derive(Debug, Clone)]
pub struct WebWorkload {
    plan: Arc<WebPlan>,
    names: Vec<String>,
    endpoint: Endpoint,
}

impl WebWorkload {
    /// Reads the workload part of a trial specification.
    pub fn from_spec(trial: &TrialSpec) -> Result<Self, SpecError> {
        let spec: WebSpec = serde::Deserialize::deserialize(&trial.workload)?;
        Self::new(&spec, trial.streams, trial.secret)
    }

    /// The workload part of a trial specification by itself.
    pub fn from_json(text: &str, streams: u32) -> Result<Self, SpecError> {
        Self::new(&serde_json::from_str(text)?, streams, 0)
    }

    /// Where its requests go.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What is written for its first request.
    pub fn first(&self) -> Option<&[u8]> {
        self.plan.requests.first().map(|request| &self.plan.wire[request.wire.clone()])
    }

    /// Reads the reply to its first request, over HTTP/1 or HTTP/2; of a body so many bytes.
    pub fn exchange(&self, most_bytes: usize) -> Box<dyn Exchange> {
        let head_only = self.plan.requests.first().is_some_and(|request| request.head_only);
        match &self.plan.streams {
            None => Box::new(WholeReader::new(head_only, most_bytes)),
            Some(streams) => Box::new(StreamReader::new(streams, head_only, most_bytes)),
        }
    }

    /// Checks the specification and prepares its requests; `streams` of them share a connection, where they can. Bodies
    /// to hash are drawn by the `secret` of the trial.
    pub fn new(spec: &WebSpec, streams: u32, secret: u64) -> Result<Self, SpecError> {
        let plan = Arc::new(WebPlan::new(spec, streams, secret)?);
        let name_end = spec.host.rfind(':').filter(|at| !spec.host[*at..].contains(']')).unwrap_or(spec.host.len());
        let defaults = || TlsSettings { verify: true, ca_file: None, resumption: true, handshake_apart: false };
        let tls = (spec.scheme == "https").then(|| spec.tls.clone().unwrap_or_else(defaults));
        let endpoint = Endpoint {
            addresses: spec.addresses.clone(),
            unix: spec.unix.clone(),
            server_name: spec.host[..name_end].trim_matches(['[', ']']).to_owned(),
            tls_on_connect: tls.is_some(),
            tls,
            application: plan.streams.is_some().then_some(if plan.is_quic { "h3" } else { "h2" }),
            is_quic: plan.is_quic,
            source_addresses: spec.source_addresses.clone(),
            receive_buffer_bytes: spec.receive_buffer_bytes,
            close_with_reset: spec.close_with_reset,
        };
        let names = spec.classes.iter().map(|class| class.name.clone()).collect();
        Ok(Self { plan, names, endpoint })
    }
}

impl WebWorkload {
    /// A session whose replies somebody looks at.
    pub(crate) fn read_by<R: Reader>(&self, identity: Identity, reader: R) -> WebSession<R> {
        let rng = Rng::for_thread(identity.seed, identity.client, identity.vu);
        WebSession::new(Arc::clone(&self.plan), rng, Sampler::new(&self.plan, identity), reader)
    }
}

impl Workload for WebWorkload {
    type Session = WebSession;

    const DIVIDES: bool = true;

    fn operations(&self) -> Vec<String> {
        self.names.clone()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        vec![self.endpoint.clone()]
    }

    fn streams(&self) -> Option<Streams> {
        self.plan.streams.clone()
    }

    fn stages(&self) -> Stages {
        Stages { listen_s: LISTEN_S, ..Stages::default() }
    }

    fn session(&self, identity: Identity) -> WebSession {
        self.read_by(identity, Unread)
    }

    fn figures<'a>(&self, _: impl Iterator<Item = &'a WebSession>) -> serde_json::Value {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut figures = serde_json::json!({
            "bodies_hashed": count(&self.plan.hashed),
            "stale_connections": count(&self.plan.stale_connections),
            "put_back": count(&self.plan.put_back),
            "unsolicited": count(&self.plan.unsolicited),
            "failed": self.plan.failed(),
        });
        if self.plan.secret != 0 {
            // The trial is over: by which bodies were drawn may be known.
            figures["drawn_by"] = format!("{:016x}", self.plan.secret).into();
        }
        if let Some(lessons) = &self.plan.lessons {
            figures["learnt"] = lessons.table();
        }
        figures
    }

    /// A machine tells of the requests that failed there alone: how often one succeeded is known where all tell it.
    fn merged(&self, parts: &[&serde_json::Value]) -> Result<serde_json::Value, String> {
        let mut whole = add_counts(parts);
        if let Some(answered) = whole.pointer_mut("/failed/answered").and_then(|told| told.as_object_mut()) {
            answered.retain(|name, _| parts.iter().all(|part| part["failed"]["answered"].get(name).is_some()));
        }
        Ok(whole)
    }
}
