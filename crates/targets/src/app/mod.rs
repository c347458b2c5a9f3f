//! The application server: service threads on one queue, a data segment per client, every time told in the reply.

#[cfg(feature = "cli")]
mod arguments;
mod connection;
mod counts;
mod pause;
mod pool;
mod segment;
mod service;
mod spec;

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::ServeError;
use crate::server::clock::now_ns;
use crate::server::listen::{Listener, pin_thread};
use crate::server::running::Running;
#[cfg(feature = "cli")]
pub use arguments::Arguments;
use pool::Pool;
use service::Service;
pub use spec::AppSpec as Spec;

struct AppServer {
    pool: Arc<Pool>,
    spec: Spec,
    threads: Vec<JoinHandle<()>>,
    /// Closing it wakes and ends the threads.
    stop: Option<UnixStream>,
}

/// Binds and starts the threads.
pub fn start(spec: &Spec) -> Result<impl Running + use<>, ServeError> {
    let failed = |e: io::Error| ServeError::Start(format!("cannot start the app server: {e}"));
    let service = Service::new(spec)?;
    let listener = Listener::bind(&spec.place())?;
    let (stop, stopped) = UnixStream::pair().map_err(failed)?;
    let pool = Arc::new(Pool::new(spec, listener, stopped, service).map_err(failed)?);
    let mut server = AppServer { pool: Arc::clone(&pool), spec: spec.clone(), threads: Vec::new(), stop: Some(stop) };
    let (report, reports) = std::sync::mpsc::channel();
    let threads = spec.service_threads() + 1;
    for number in 0..threads {
        let (pool, cores, report) = (Arc::clone(&pool), spec.pin.clone(), report.clone());
        let work = move || {
            let pinned = pin_thread(cores.as_deref(), number);
            let good = pinned.is_ok();
            // The receiver is gone if another thread failed first.
            let _ = report.send(pinned);
            if good {
                pool.work(number);
            }
        };
        let thread = std::thread::Builder::new().name(format!("target-app-{number}")).spawn(work).map_err(failed)?;
        server.threads.push(thread);
    }
    for pinned in reports.iter().take(threads) {
        pinned.map_err(ServeError::Start)?;
    }
    Ok(server)
}

impl Running for AppServer {
    fn address(&self) -> String {
        self.pool.address().to_owned()
    }

    fn counts(&self) -> Value {
        let service = &self.pool.service;
        let mut counts = counts::totals(&self.pool.tallies);
        let mut put = |key: &str, value: Value| counts.insert(key.to_owned(), value);
        put("kind", json!("app"));
        put("address", json!(self.pool.address()));
        put("elapsed_s", json!((now_ns() - service.started_ns()) as f64 / 1e9));
        put("queued", json!(self.pool.queued()));
        put("serving", json!(self.pool.serving()));
        put("threads", json!(self.spec.service_threads()));
        put("processors", json!(spec::processors()));
        put("segments", json!(service.segments()));
        put("segment_bytes", json!(self.spec.segment_bytes));
        put("direct", json!(self.spec.direct));
        put("fsync", json!(self.spec.fsync));
        put("service_s", json!(self.spec.service_s));
        put("process", counts::process_json(&service.used));
        counts.into()
    }

    fn stop(&mut self) {
        self.stop = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended too.
            let _ = thread.join();
        }
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        self.stop();
    }
}
