//! httperf's way of making load, again: connections or sessions begin by the clock, each with calls that may be
//! pipelined and spread over several connections. What is done and how it is told are facts of its manual; no code of
//! it is here.

mod generator;
mod http;
mod result;
mod spec;

use bakeoff_engine::TrialSpec;
use bakeoff_platform::net::{DialOptions, Dialer, TlsOptions, connector};
use bakeoff_platform::{TrialError, TrialHandle, start_custom_loop};
use generator::run::{Prepared, Run};
use http::page_check::PageCheck;
pub use http::page_check::PageSpec;
pub use result::figures::{Errors, HttperfFigures, SessionFigures, Spread, Statuses, Sum};
pub use result::merge::merged;
pub use spec::octets::{Octets, text_of};
pub use spec::{
    BurstSpec, CallSpec, ClientSpec, HttperfSpec, Mode, Part, PeriodSpec, PrintSpec, ScriptSpec, ServerSpec, SslSpec,
    WlogSpec, WsessSpec, WsesslogSpec, WsesspageSpec, WsetSpec,
};
use std::sync::Arc;

/// Begins a trial and returns at once: it makes itself ready and waits for [`TrialHandle::go`].
pub fn start(spec: HttperfSpec, trial: TrialSpec) -> Result<TrialHandle, TrialError> {
    let prepared = prepare(spec, &trial).map_err(TrialError::Endpoint)?;
    let operations = result::counters::OPERATIONS.map(str::to_owned).to_vec();
    start_custom_loop(trial, operations, move |live, timeline, at_start| {
        let run = Run::new(prepared, live, timeline)?;
        at_start();
        Ok(run.run())
    })
}

/// All that can be found to be wrong before the first connection.
fn prepare(spec: HttperfSpec, trial: &TrialSpec) -> Result<Prepared, String> {
    let options = DialOptions {
        send_buffer: spec.send_buffer,
        receive_buffer: spec.recv_buffer,
        sources: spec.myaddr.clone(),
        own_ports: spec.hog,
        close_with_reset: spec.close_with_reset,
    };
    let addresses: Vec<&str> = spec.servers.iter().map(|server| server.address.as_str()).collect();
    let dialer = Dialer::new(&addresses, options)?;
    let connectors = match &spec.ssl {
        Some(ssl) => {
            let config = tls_options(ssl).configure()?;
            let named = |server: &ServerSpec| connector(&config, ssl.server_name.as_ref().unwrap_or(&server.host));
            spec.servers.iter().map(named).collect::<Result<_, _>>()?
        }
        None => Vec::new(),
    };
    let length_ns = (trial.length_s * 1e9).round() as u64;
    let page_check = spec.page.as_ref().map(|page| PageCheck::new(page, trial.secret, spec.part.index)).transpose();
    let page_check = page_check.map_err(|error| error.to_string())?;
    Ok(Prepared { spec: Arc::new(spec), page_check, dialer, connectors, poll: trial.poll, length_ns })
}

fn tls_options(ssl: &SslSpec) -> TlsOptions {
    let identity = match (&ssl.certificate, &ssl.key) {
        (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
        // Both in one file.
        (Some(file), None) | (None, Some(file)) => Some((file.clone(), file.clone())),
        (None, None) => None,
    };
    TlsOptions {
        protocol: ssl.protocol.clone(),
        ciphers: ssl.ciphers.clone(),
        resumption: !ssl.no_reuse,
        identity,
        verify: ssl.verify,
        ca_file: ssl.ca_file.clone(),
        ca_path: ssl.ca_path.clone(),
    }
}
