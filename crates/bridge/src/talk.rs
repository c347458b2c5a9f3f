//! A few words with a mail server, for checks before timing.

use crate::SpecError;
use crate::fetch::{Fault, fault_of, time, told};
use bakeoff_platform::net::{Wire, WireLimits};
use bakeoff_workloads::mail::{MailFault, MailTalk, Next};
use pyo3::prelude::*;

/// What the server told of itself, what it said to each step that it took, and to the one that it refused; version and cipher
/// of TLS.
type Told = (Vec<u8>, Vec<Vec<u8>>, Option<Vec<u8>>, Option<String>);

/// Opens a session with one side of a mail server, which is told as in the specification of a trial, says `steps` until one is
/// refused, and takes leave. For limits and errors see [`crate::fetch::fetch_http`].
#[pyfunction]
pub(crate) fn talk_mail(
    py: Python<'_>,
    side_json: &str,
    steps: Vec<String>,
    connect_s: f64,
    reply_s: f64,
    most_bytes: usize,
) -> PyResult<Told> {
    let mut talk = MailTalk::new(side_json, steps).map_err(|error| SpecError::new_err(error.to_string()))?;
    let limits = WireLimits { connect: time(connect_s), reply: time(reply_s), most_bytes };
    let agreed = py.detach(|| hold(&mut talk, limits)).map_err(|fault| told(fault, 0))?;
    Ok((talk.greeting, talk.answers, talk.refusal, agreed))
}

fn hold(talk: &mut MailTalk, limits: WireLimits) -> Result<Option<String>, Fault> {
    let mut wire = Wire::open(talk.endpoint(), limits).map_err(fault_of)?;
    let mut part = Vec::new();
    loop {
        let next = talk.take(&part).map_err(wrong)?;
        part.clear();
        let next = match next {
            None if wire.receive(&mut part).map_err(fault_of)? => continue,
            None => return Err(("closed", Vec::new(), 0)),
            Some(Next::Secure) => {
                wire.secure().map_err(fault_of)?;
                talk.proceed()
            }
            Some(next) => next,
        };
        match next {
            Next::Say(words) => wire.send(words.as_bytes()).map_err(fault_of)?,
            Next::Secure | Next::Over => break,
        }
    }
    // A mailbox is free again when the server has said so; what it says does not matter.
    let _ = wire.send(b"QUIT\r\n").and_then(|()| wire.receive(&mut part));
    Ok(wire.agreed())
}

fn wrong(fault: MailFault) -> Fault {
    match fault {
        MailFault::Malformed(line) => ("malformed", line, 0),
        MailFault::Denied(line) => ("denied", line, 0),
        MailFault::Plain(line) => ("plain", line, 0),
        MailFault::Early => ("early", Vec::new(), 0),
    }
}
