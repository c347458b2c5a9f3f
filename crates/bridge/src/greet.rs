//! The first words with an app server, for checks before timing.

use crate::fetch::{Fault, fault_of, time, told};
use bakeoff_engine::Endpoint;
use bakeoff_platform::net::{ProbeConnection, ProbeLimits};
use bakeoff_workloads::app::{Greeting, GreetingFault};
use pyo3::prelude::*;

/// More than a greeting has.
const ANSWER_BYTES: usize = 64 * 1024;

/// Sizes of data segment, service time in ns, threads, processors, direct, fsync, largest payload, most records.
type AppGreeting = (u64, u64, u32, u32, bool, bool, u32, u32);

/// How an app server says that it was set up: at a numeric `host:port`, or a path. `record_bytes` 0 asks for no data
/// segment. For errors see [`crate::fetch::fetch_http`].
#[pyfunction]
pub(crate) fn greet_app(py: Python<'_>, place: &str, record_bytes: u32, timeout_s: f64) -> PyResult<AppGreeting> {
    let is_path = place.starts_with('/');
    let endpoint = Endpoint {
        addresses: if is_path { Vec::new() } else { vec![place.to_owned()] },
        unix: is_path.then(|| place.to_owned()),
        ..Endpoint::default()
    };
    let limits = ProbeLimits { connect: time(timeout_s), reply: time(timeout_s), most_bytes: ANSWER_BYTES };
    py.detach(|| greet(&endpoint, record_bytes, limits)).map_err(|fault| told(fault, 0))
}

fn greet(endpoint: &Endpoint, record_bytes: u32, limits: ProbeLimits) -> Result<AppGreeting, Fault> {
    let mut connection = ProbeConnection::open(endpoint, limits).map_err(fault_of)?;
    connection.send(&Greeting::request(record_bytes)).map_err(fault_of)?;
    let (mut greeting, mut part) = (Greeting::default(), Vec::new());
    while connection.receive(&mut part).map_err(fault_of)? {
        if let Some(hello) = greeting.take(&part).map_err(wrong)? {
            let (direct, fsync) = (hello.direct, hello.fsync);
            let set_up = (hello.segment_bytes, hello.service_ns, hello.threads, hello.processors);
            return Ok((set_up.0, set_up.1, set_up.2, set_up.3, direct, fsync, hello.payload_max, hello.records_max));
        }
        part.clear();
    }
    Err(wrong(greeting.end()))
}

fn wrong(fault: GreetingFault) -> Fault {
    match fault {
        GreetingFault::OtherProtocol => ("other_protocol", Vec::new(), 0),
        GreetingFault::Refused(status) => ("client_refused", status.name().into(), 0),
        GreetingFault::OtherVersion => ("other_version", Vec::new(), 0),
        GreetingFault::Closed(count) => ("closed", Vec::new(), count),
    }
}
