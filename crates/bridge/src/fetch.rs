//! One request at a time, for checks before timing.

use crate::{EngineError, SpecError};
use bakeoff_engine::Workload;
use bakeoff_platform::net::{FetchLimits, ProbeConnection, ProbeError, ProbeLimits, TlsFault, fetch, words};
use bakeoff_workloads::web::{Exchange, Faulty, WebWorkload, WholeReply};
use pyo3::prelude::*;
use std::time::Duration;

/// Status, version, fields, bytes of the head, body, whether the connection is kept, version and cipher of TLS, bytes
/// that came, streams that the server takes at once.
type FetchedReply =
    (u16, &'static str, Vec<(String, Vec<u8>)>, usize, Vec<u8>, bool, Option<String>, usize, Option<u32>);

/// Connects as a workload does, and drops the connection. For errors see [`fetch_http`].
#[pyfunction]
pub(crate) fn connect(py: Python<'_>, workload_json: &str, streams: u32, connect_s: f64, reply_s: f64) -> PyResult<()> {
    let workload = read(workload_json, streams)?;
    let limits = ProbeLimits { connect: time(connect_s), reply: time(reply_s), most_bytes: usize::MAX };
    py.detach(|| ProbeConnection::open(workload.endpoint(), limits)).map(drop).map_err(|error| told(fault_of(error), 0))
}

/// Makes the first request of a workload over HTTP/1 or HTTP/2 on a connection of its own, or over HTTP/1 `request` in
/// its place. `connect_s` is for the connection, `reply_s` for all behind it; at most `most_bytes` may come, and the
/// body is cut off at `largest` bytes. `EngineError` has the name of what is wrong, what shows it, a count, and the
/// bytes that came.
#[pyfunction]
#[pyo3(signature = (workload_json, streams, connect_s, reply_s, most_bytes, largest, request=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fetch_http(
    py: Python<'_>,
    workload_json: &str,
    streams: u32,
    connect_s: f64,
    reply_s: f64,
    most_bytes: usize,
    largest: usize,
    request: Option<&[u8]>,
) -> PyResult<FetchedReply> {
    let workload = read(workload_json, streams)?;
    let (Some(own), false) = (workload.first(), workload.endpoint().is_quic) else {
        return Err(SpecError::new_err("a request over HTTP/1 or HTTP/2 is needed"));
    };
    let limits = ProbeLimits { connect: time(connect_s), reply: time(reply_s), most_bytes };
    py.detach(|| {
        let mut connection =
            ProbeConnection::open(workload.endpoint(), limits).map_err(|error| (fault_of(error), 0))?;
        match exchange(&mut connection, request.unwrap_or(own), workload.exchange(largest)) {
            Ok(reply) => Ok((reply, connection.agreed(), connection.received())),
            Err(fault) => Err((fault, connection.received())),
        }
    })
    .map(|(reply, tls, received)| {
        let WholeReply { status, version, fields, head_bytes, body, keeps_open, streams_allowed } = reply;
        (status, version, fields, head_bytes, body, keeps_open, tls, received, streams_allowed)
    })
    .map_err(|(fault, received)| told(fault, received))
}

fn exchange(
    connection: &mut ProbeConnection,
    request: &[u8],
    mut reader: Box<dyn Exchange>,
) -> Result<WholeReply, Fault> {
    let wrong = |faulty: Faulty| (faulty.fault.name(), faulty.shown, faulty.count);
    let mut out = reader.start(request);
    let mut part = Vec::new();
    loop {
        let moved = connection.send(&out).and_then(|()| connection.receive(&mut part));
        if !moved
            .map_err(|error| reader.broken().map_or_else(|| fault_of(error), |fault| (fault.name(), Vec::new(), 0)))?
        {
            break;
        }
        out.clear();
        if reader.take(&part, &mut out).map_err(wrong)? {
            break;
        }
        part.clear();
    }
    reader.end().map_err(wrong)
}

/// The name of what is wrong, what shows it, and a count.
pub(crate) type Fault = (&'static str, Vec<u8>, usize);

pub(crate) fn fault_of(error: ProbeError) -> Fault {
    let (name, shown) = match error {
        ProbeError::Setting(why) => ("setting", why),
        ProbeError::Refused => ("refused", String::new()),
        ProbeError::NotConnected => ("not_connected", String::new()),
        ProbeError::Unreachable(errno) => ("unreachable", words(errno)),
        ProbeError::Tls(fault, why) => (tls_name(fault), why),
        ProbeError::SlowTls => ("tls_slow", String::new()),
        ProbeError::Slow => ("slow", String::new()),
        ProbeError::Long => ("long", String::new()),
        ProbeError::Broken(why) => ("broken", why),
    };
    (name, shown.into_bytes(), 0)
}

const fn tls_name(fault: TlsFault) -> &'static str {
    match fault {
        TlsFault::Expired => "expired",
        TlsFault::NotYetValid => "not_yet_valid",
        TlsFault::OtherName => "other_name",
        TlsFault::Untrusted => "untrusted",
        TlsFault::ClearText => "clear_text",
        TlsFault::OtherApplication => "other_application",
        TlsFault::Other => "tls",
    }
}

pub(crate) fn told((name, shown, count): Fault, received: usize) -> PyErr {
    if name == "setting" {
        return SpecError::new_err(String::from_utf8_lossy(&shown).into_owned());
    }
    EngineError::new_err((name, shown, count, received))
}

fn read(workload_json: &str, streams: u32) -> PyResult<WebWorkload> {
    WebWorkload::from_json(workload_json, streams).map_err(|error| SpecError::new_err(error.to_string()))
}

pub(crate) fn time(length_s: f64) -> Duration {
    Duration::try_from_secs_f64(length_s).unwrap_or(Duration::from_mins(1))
}

/// Status, stated length, body, and the streams that the server takes at once where these are fewer than `streams`.
type Reply = (u16, Option<u64>, Vec<u8>, Option<u32>);

/// Makes the first request of a workload over HTTP/3, with `connect_s` for the handshake and `reply_s` for the reply,
/// whose body is cut off at `largest` bytes. `EngineError` has the class of the error and what is known of it in words.
#[pyfunction]
pub(crate) fn fetch_http3(
    py: Python<'_>,
    workload_json: &str,
    streams: u32,
    connect_s: f64,
    reply_s: f64,
    largest: usize,
) -> PyResult<Reply> {
    let workload = read(workload_json, streams)?;
    let endpoint = workload.endpoint();
    let (Some(streams), Some(request), true) = (workload.streams(), workload.first(), endpoint.is_quic) else {
        return Err(SpecError::new_err("a workload over HTTP/3 is needed"));
    };
    let limits = FetchLimits { connect: time(connect_s), reply: time(reply_s), largest };
    match py.detach(|| fetch(endpoint, &streams, request, limits)) {
        Ok(reply) => Ok((reply.status, reply.length, reply.body, reply.streams_allowed)),
        Err(error) => Err(EngineError::new_err((error.class.name(), error.reason))),
    }
}
