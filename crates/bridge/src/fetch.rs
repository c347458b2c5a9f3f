//! One request over QUIC, for checks before timing.

use crate::{EngineError, SpecError};
use bakeoff_platform::net::{FetchLimits, fetch};
use bakeoff_workloads::web::WebWorkload;
use pyo3::prelude::*;
use std::time::Duration;

/// Status, stated length, body, and the streams that the server takes at once where these are fewer than `streams`.
type Reply = (u16, Option<u64>, Vec<u8>, Option<u32>);

/// Makes the first request of a workload over HTTP/3, with `connect_s` for the handshake and `reply_s` for the reply, whose
/// body is cut off at `largest` bytes. `EngineError` has the class of the error and what is known of it in words.
#[pyfunction]
pub(crate) fn fetch_http3(
    py: Python<'_>,
    workload_json: &str,
    streams: u32,
    connect_s: f64,
    reply_s: f64,
    largest: usize,
) -> PyResult<Reply> {
    let workload =
        WebWorkload::from_json(workload_json, streams).map_err(|error| SpecError::new_err(error.to_string()))?;
    let Some((endpoint, streams, request)) = workload.first() else {
        return Err(SpecError::new_err("a workload over HTTP/3 is needed"));
    };
    let time = |length_s| Duration::try_from_secs_f64(length_s).unwrap_or(Duration::from_secs(60));
    let limits = FetchLimits { connect: time(connect_s), reply: time(reply_s), largest };
    match py.detach(|| fetch(&endpoint, &streams, request, limits)) {
        Ok(reply) => Ok((reply.status, reply.length, reply.body, reply.streams_allowed)),
        Err(error) => Err(EngineError::new_err((error.class.name(), error.reason))),
    }
}
