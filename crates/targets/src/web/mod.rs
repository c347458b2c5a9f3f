//! The web target: HTTP/1.0 and 1.1 over hyper, a corpus in memory, programmable faults, exact counts.

#[cfg(feature = "cli")]
mod arguments;
mod connection;
mod corpus;
mod dynamic;
mod reply;
mod service;
mod shared;
mod spec;
mod worker;

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, watch};

use crate::ServeError;
use crate::server::listen::Listener;
use crate::server::running::Running;
#[cfg(feature = "cli")]
pub use arguments::Arguments;
use shared::Shared;
pub use spec::WebSpec as Spec;
use worker::Worker;

struct WebServer {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

/// Binds, loads, and starts one thread per worker; the first also accepts and deals connections out in turn.
pub fn start(spec: &Spec) -> Result<impl Running + use<>, ServeError> {
    let listener = Listener::bind(&spec.place())?;
    let shared = Arc::new(Shared::new(spec.clone(), listener.address.clone())?);
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
