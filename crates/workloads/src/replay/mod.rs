//! The replay of an access log: its requests at its moments, over the connections of the web workload.

mod expect;
mod ledger;
mod line;
mod log;
mod moments;
mod paths;
mod session;
mod spec;
mod stamp;
mod trace;

use crate::web::{WebWorkload, header_tail, to_hex};
use bakeoff_engine::{Endpoint, Identity, Load, Nanos, SpecError, Stages, Timeline, TrialSpec, Workload};
use ledger::Ledger;
pub use log::{GivenBody, LogReader};
pub use moments::Spread;
use moments::{Pace, STARTS_MAX, moments};
use paths::Paths;
use serde_json::Value;
pub use session::ReplaySession;
use sha2::{Digest, Sha256};
pub use spec::{ReplaySpec, Statuses};
use std::collections::HashMap;
use std::sync::Arc;
use trace::{HEAD, Trace};

#[cfg(test)]
mod tests;

/// The largest trace that is read, bytes: more than any that a [`LogReader`] writes of its most lines and paths.
const TRACE_BYTES_MAX: usize = 2 << 30;

/// The requests of the web plan that stand for those with and without a body in their reply.
const WHOLE: u32 = 0;
const HEAD_ONLY: u32 = 1;

/// What all sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Shared {
    trace: Trace,
    paths: Paths,
    ledger: Ledger,
    statuses: Statuses,
    prefix: Vec<u8>,
    http: String,
    /// Header fields after the request line: of requests to the contender's host, then of each virtual host.
    tails: Vec<Vec<u8>>,
    /// The request of the web plan that each request of the trace is asked as.
    asked_as: Vec<u32>,
}

impl Shared {
    /// Writes the request of a line.
    fn write(&self, request: usize, out: &mut Vec<u8>) {
        let asked = self.trace.asked(request);
        let tail = &self.tails[asked.host.map_or(0, |host| usize::from(host) + 1)];
        out.clear();
        out.extend_from_slice(&self.trace.methods[usize::from(asked.method)]);
        out.push(b' ');
        out.extend_from_slice(&self.prefix);
        out.extend_from_slice(self.trace.path(request));
        out.extend_from_slice(b" HTTP/");
        out.extend_from_slice(self.http.as_bytes());
        out.extend_from_slice(b"\r\n");
        let Some(body) = asked.body else { return out.extend_from_slice(tail) };
        let body = &self.trace.bodies[body as usize];
        out.extend_from_slice(&tail[..tail.len() - 2]);
        if !body.content_type.is_empty() {
            out.extend_from_slice(b"Content-Type: ");
            out.extend_from_slice(&body.content_type);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.bytes.len()).as_bytes());
        out.extend_from_slice(&body.bytes);
    }
}

/// The workload `replay`.
#[derive(Debug)]
pub struct ReplayWorkload {
    web: WebWorkload,
    shared: Arc<Shared>,
    moments: Arc<[Nanos]>,
    /// Of a trial that starts at 0, as moments do.
    timeline: Timeline,
    is_whole: bool,
}

impl ReplayWorkload {
    /// Reads the `workload` part of a trial's specification. `read` gives the bytes of a file; its error is a sentence.
    pub fn from_spec(
        trial: &TrialSpec,
        read: impl FnOnce(&str, usize) -> Result<Vec<u8>, String>,
    ) -> Result<Self, SpecError> {
        let spec: ReplaySpec = serde::Deserialize::deserialize(&trial.workload)?;
        if !spec.web.http.starts_with("1.") {
            return Err(
                format!("a log is replayed over HTTP/1: http must be 1.0 or 1.1, not `{}`", spec.web.http).into()
            );
        }
        let web = WebWorkload::new(&spec.web, 1, trial.secret)?;
        let Load::Rate(rate) = &trial.load else {
            return Err("a log says when each request begins: its load is a rate".to_owned().into());
        };
        let mut trace = read_trace(&spec, read)?;
        let pace = Pace {
            speed: rate.per_s / trace.per_s(),
            spread: spec.spread,
            loops: spec.loops,
            length_ns: (trial.length_s * 1e9).round() as Nanos,
            seed: trial.seed,
        };
        let starts = moments(&trace, pace).ok_or_else(|| {
            format!("the trial would make more than {STARTS_MAX} requests: give a shorter length or a lower speed")
        })?;
        trace.at_us = Vec::new();
        let shared = Shared {
            paths: Paths::new(&trace),
            ledger: Ledger::new(starts.len()),
            statuses: spec.statuses,
            prefix: prefix(&spec)?,
            tails: tails(&spec, &trace)?,
            asked_as: asked_as(&spec, &trace)?,
            http: spec.web.http,
            trace,
        };
        let (timeline, is_whole) = (trial.timeline(0), trial.is_whole());
        Ok(Self { web, shared: Arc::new(shared), moments: starts.into(), timeline, is_whole })
    }
}

fn read_trace(
    spec: &ReplaySpec,
    read: impl FnOnce(&str, usize) -> Result<Vec<u8>, String>,
) -> Result<Trace, SpecError> {
    let bytes = read(&spec.trace, TRACE_BYTES_MAX).map_err(|why| format!("the trace {} {why}", spec.trace))?;
    if to_hex(&Sha256::digest(&bytes)) != spec.sha256 {
        return Err(format!("the trace {} is not the one that the plan names", spec.trace).into());
    }
    Ok(Trace::decode(&bytes).ok_or_else(|| format!("{} is no trace of an access log", spec.trace))?)
}

fn prefix(spec: &ReplaySpec) -> Result<Vec<u8>, SpecError> {
    let plain = spec.prefix.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    if !plain || !spec.prefix.is_empty() && !spec.prefix.starts_with('/') {
        return Err(format!("prefix `{}` must start with / and be percent-encoded", spec.prefix.escape_debug()).into());
    }
    Ok(spec.prefix.clone().into_bytes())
}

/// The header fields for each host, made as the web workload makes them.
fn tails(spec: &ReplaySpec, trace: &Trace) -> Result<Vec<Vec<u8>>, SpecError> {
    let own = spec.web.host.clone();
    let virtuals = trace.hosts.iter().map(|host| String::from_utf8_lossy(host).into_owned());
    std::iter::once(own).chain(virtuals).map(|host| Ok(header_tail(&spec.web, &host)?.into_bytes())).collect()
}

/// Patterns first, one for each method; behind them, in the order of `learnt`, requests of whose replies something is known.
fn asked_as(spec: &ReplaySpec, trace: &Trace) -> Result<Vec<u32>, SpecError> {
    let patterns: usize = spec.web.classes.iter().map(|class| class.requests.len()).sum::<usize>() - spec.learnt.len();
    if spec.web.classes.len() != 3 - usize::from(spec.learnt.is_empty()) || patterns != 2 {
        return Err("a replay has two patterns, and a request for each that is learnt".to_owned().into());
    }
    let places: HashMap<(&str, Option<&str>, &str), u32> = (spec.learnt.iter().zip(2..))
        .map(|(learnt, place)| ((learnt.method.as_str(), learnt.host.as_deref(), learnt.path.as_str()), place))
        .collect();
    let text = |bytes: &'_ [u8]| String::from_utf8_lossy(bytes).into_owned();
    let (methods, hosts): (Vec<_>, Vec<_>) =
        (trace.methods.iter().map(|name| text(name)).collect(), trace.hosts.iter().map(|name| text(name)).collect());
    let place = |request: usize| {
        let asked = trace.asked(request);
        let pattern = if asked.method == HEAD { HEAD_ONLY } else { WHOLE };
        let host = asked.host.map(|host| hosts[usize::from(host)].as_str());
        let path = std::str::from_utf8(trace.path(request)).ok().filter(|_| asked.body.is_none());
        let key = path.map(|path| (methods[usize::from(asked.method)].as_str(), host, path));
        key.and_then(|key| places.get(&key).copied()).unwrap_or(pattern)
    };
    Ok((0..trace.requests()).map(place).collect())
}

impl ReplayWorkload {
    fn table(&self, ledger: &Ledger) -> Value {
        ledger.table(&self.shared.trace, &self.shared.paths, &self.moments, Some(&self.timeline))
    }
}

impl Workload for ReplayWorkload {
    type Session = ReplaySession;

    const DIVIDES: bool = true;

    fn operations(&self) -> Vec<String> {
        self.shared.paths.operations()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        self.web.endpoints()
    }

    fn stages(&self) -> Stages {
        self.web.stages()
    }

    fn moments(&self) -> Option<Arc<[Nanos]>> {
        Some(Arc::clone(&self.moments))
    }

    fn session(&self, identity: Identity) -> ReplaySession {
        ReplaySession::new(Arc::clone(&self.shared), self.web.session(identity))
    }

    /// One machine of several tells what became of its starts: which paths took the most time is for all to say.
    fn figures<'a>(&self, _: impl Iterator<Item = &'a ReplaySession>) -> Value {
        let mut figures = self.web.figures(std::iter::empty());
        if self.is_whole {
            figures["paths"] = self.table(&self.shared.ledger);
        } else {
            figures["ended"] = self.shared.ledger.packed().into();
        }
        figures
    }

    fn merged(&self, parts: &[&Value]) -> Result<Value, String> {
        let ledger = Ledger::new(self.moments.len());
        for part in parts {
            let ended = part["ended"].as_str().and_then(|text| ledger.take(text));
            ended.ok_or("a machine does not tell what became of its requests")?;
        }
        let mut figures = self.web.merged(parts)?;
        if let Some(figures) = figures.as_object_mut() {
            figures.remove("ended");
        }
        figures["paths"] = self.table(&ledger);
        Ok(figures)
    }
}
