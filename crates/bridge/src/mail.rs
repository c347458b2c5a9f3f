//! A few words with a mail server, for checks before timing.

use crate::SpecError;
use crate::fetch::{Fault, fault_of, time, told};
use bakeoff_platform::net::{ProbeConnection, ProbeLimits};
use bakeoff_workloads::mail::{MailFault, MailProbe, Next};
use pyo3::prelude::*;

/// What the server told of itself, what it said to each step that it took, and to the one that it refused; version and
/// cipher of TLS.
type MailGreeting = (Vec<u8>, Vec<Vec<u8>>, Option<Vec<u8>>, Option<String>);

/// Opens a session with one side of a mail server, which is told as in the specification of a trial, says `steps` until
/// one is refused, and takes leave. For limits and errors see [`crate::fetch::fetch_http`].
#[pyfunction]
pub(crate) fn probe_mail(
    py: Python<'_>,
    side_json: &str,
    steps: Vec<String>,
    connect_s: f64,
    reply_s: f64,
    most_bytes: usize,
) -> PyResult<MailGreeting> {
    let mut probe = MailProbe::new(side_json, steps).map_err(|error| SpecError::new_err(error.to_string()))?;
    let limits = ProbeLimits { connect: time(connect_s), reply: time(reply_s), most_bytes };
    let agreed = py.detach(|| hold(&mut probe, limits)).map_err(|fault| told(fault, 0))?;
    Ok((probe.greeting, probe.answers, probe.refusal, agreed))
}

fn hold(probe: &mut MailProbe, limits: ProbeLimits) -> Result<Option<String>, Fault> {
    let mut connection = ProbeConnection::open(probe.endpoint(), limits).map_err(fault_of)?;
    let mut part = Vec::new();
    loop {
        let next = probe.take(&part).map_err(wrong)?;
        part.clear();
        let next = match next {
            None if connection.receive(&mut part).map_err(fault_of)? => continue,
            None => return Err(("closed", Vec::new(), 0)),
            Some(Next::Secure) => {
                connection.secure().map_err(fault_of)?;
                probe.proceed()
            }
            Some(next) => next,
        };
        match next {
            Next::Say(words) => connection.send(words.as_bytes()).map_err(fault_of)?,
            Next::Secure | Next::Over => break,
        }
    }
    // A mailbox is free again when the server has said so; what it says does not matter.
    let _ = connection.send(b"QUIT\r\n").and_then(|()| connection.receive(&mut part));
    Ok(connection.agreed())
}

fn wrong(fault: MailFault) -> Fault {
    match fault {
        MailFault::Malformed(line) => ("malformed", line, 0),
        MailFault::Denied(line) => ("denied", line, 0),
        MailFault::Plain(line) => ("plain", line, 0),
        MailFault::Early => ("early", Vec::new(), 0),
    }
}
