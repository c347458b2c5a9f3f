//! The web target: HTTP/1.0 and 1.1 over hyper, a corpus in memory, programmable faults, exact counts.

mod connection;
mod corpus;
mod dynamic;
mod reply;
mod service;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

use crate::clock::now_ns;
use crate::counts::Counts;
use crate::faults::{EveryNth, Limiter, Refusal, Stalls};
use crate::listen::Listener;
use crate::spec::WebSpec;
use crate::tls::acceptor;
use crate::{Running, ServeError};
use corpus::Corpus;
use worker::Worker;

const ALPN: &[&[u8]] = &[b"http/1.1", b"http/1.0"];

/// What all workers and connections of one server have in common.
pub struct Shared {
    spec: WebSpec,
    corpus: Corpus,
    tls: Option<TlsAcceptor>,
    address: String,
    counts: Counts,
    started_ns: u64,
    limiter: Limiter,
    refusal: Refusal,
    stalls: Option<Stalls>,
    every_status: EveryNth,
    every_truncate: EveryNth,
    every_corrupt: EveryNth,
    every_unanswered: EveryNth,
    every_bad_chunk: EveryNth,
    every_unsolicited: EveryNth,
    open: AtomicUsize,
    ended: AtomicBool,
}

impl Shared {
    fn new(spec: WebSpec, address: String) -> Result<Self, ServeError> {
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

    fn counts_json(&self) -> serde_json::Value {
        self.counts.sum().to_json("web", &self.address, self.elapsed_ns())
    }
}

struct WebServer {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

/// Binds, loads, and starts one thread per worker; the first also accepts and deals connections out in turn.
pub fn start(spec: WebSpec) -> Result<impl Running + use<>, ServeError> {
    let listener = Listener::bind(&spec.place())?;
    let shared = Arc::new(Shared::new(spec, listener.address.clone())?);
    let (stop, stopped) = watch::channel(false);
    let (inboxes, receivers): (Vec<_>, Vec<_>) = (0..shared.spec.threads).map(|_| mpsc::unbounded_channel()).unzip();
    let mut server = WebServer { shared: Arc::clone(&shared), stop, threads: Vec::new() };
    let (report, reports) = std::sync::mpsc::channel();
    let mut door = Some((listener, inboxes));
    for (number, inbox) in receivers.into_iter().enumerate() {
        let worker = Worker { shared: Arc::clone(&shared), number, inbox, stopped: stopped.clone(), door: door.take() };
        let report = report.clone();
        let thread = std::thread::Builder::new()
            .name(format!("target-web-{number}"))
            .spawn(move || worker.run(&report))
            .map_err(|e| ServeError::Start(format!("cannot start a thread: {e}; use fewer threads")))?;
        server.threads.push(thread);
    }
    drop(report);
    for started in reports.iter().take(shared.spec.threads) {
        started.map_err(ServeError::Start)?;
    }
    Ok(server)
}

impl Running for WebServer {
    fn address(&self) -> String {
        self.shared.address.clone()
    }

    fn counts(&self) -> serde_json::Value {
        self.shared.counts_json()
    }

    fn stop(&mut self) {
        self.shared.ended.store(true, std::sync::atomic::Ordering::Relaxed);
        // Without receivers the workers have ended already.
        let _ = self.stop.send(true);
        for thread in self.threads.drain(..) {
            // A worker that panicked has ended too.
            let _ = thread.join();
        }
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    fn ask(address: &str, path: &str) -> String {
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        write!(socket, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_panic_ends_its_own_connection_only() {
        let server = crate::serve(r#"{"kind":"web"}"#).unwrap();
        assert_eq!(ask(&server.address(), "/panic"), "");
        assert!(ask(&server.address(), "/").starts_with("HTTP/1.0 200"));
        let counts: serde_json::Value = serde_json::from_str(&server.counts()).unwrap();
        assert_eq!(counts["requests"], 1);
    }
}
