//! The null server: a bare epoll loop that answers every request with one prebuilt reply.
//!
//! It is there to be faster than any client, so it parses no more than where a request ends. Clients are trusted to be
//! well-behaved: there are no time-outs, and what no client of ours sends is not understood.

mod app;
#[cfg(feature = "cli")]
mod arguments;
mod bare;
mod heads;
mod http1;
mod http2;
mod lines;
mod spec;
mod spoken;
mod worker;

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

use crate::ServeError;
use crate::server::clock::now_ns;
use crate::server::counts::Totals;
use crate::server::listen::{Listener, pin_thread};
use crate::server::running::Running;
use crate::server::tls;
#[cfg(feature = "cli")]
pub use arguments::Arguments;
use bare::Bare;
use http1::Http1;
use http2::Http2;
use lines::Lines;
use spec::NullProtocol;
pub use spec::NullSpec as Spec;
use spoken::{Begin, DialogueServer};
use worker::{Tally, Worker};

struct NullServer {
    address: String,
    body_bytes: u64,
    started_ns: u64,
    tallies: Vec<Arc<Tally>>,
    threads: Vec<JoinHandle<()>>,
    /// Closing it wakes and ends the workers.
    stop: Option<UnixStream>,
}

/// Binds and starts the workers; all accept from the same socket.
pub fn start(spec: &Spec) -> Result<impl Running + use<>, ServeError> {
    let place = spec.place();
    let listener = Listener::bind(&place)?;
    let address = listener.address.clone();
    if spec.close {
        accept_with_data(&listener);
    }
    let listener = Arc::new(listener);
    let lines = lines_of(spec)?;
    let failed = |e: io::Error| ServeError::Start(format!("cannot start the null server: {e}"));
    let (stop, stopped) = UnixStream::pair().map_err(failed)?;
    let (body_bytes, started_ns) = (spec.page_bytes as u64, now_ns());
    let mut server =
        NullServer { address, body_bytes, started_ns, tallies: Vec::new(), threads: Vec::new(), stop: Some(stop) };
    let (report, reports) = std::sync::mpsc::channel();
    for number in 0..spec.threads {
        let tally = Arc::new(Tally::default());
        let stopped = stopped.try_clone().map_err(failed)?;
        let mut worker = Worker::new(Arc::clone(&listener), stopped, lines(Arc::clone(&tally)), Arc::clone(&tally))
            .map_err(failed)?;
        let (cores, report) = (spec.pin.clone(), report.clone());
        let work = move || {
            let pinned = pin_thread(cores.as_deref(), number);
            let good = pinned.is_ok();
            // The receiver is gone if another worker failed first.
            let _ = report.send(pinned);
            if good {
                worker.run();
            }
        };
        let thread = std::thread::Builder::new().name(format!("target-null-{number}")).spawn(work).map_err(failed)?;
        server.tallies.push(tally);
        server.threads.push(thread);
    }
    for pinned in reports.iter().take(spec.threads) {
        pinned.map_err(ServeError::Start)?;
    }
    Ok(server)
}

/// What makes the connections of a worker, which counts by a tally.
fn lines_of(spec: &Spec) -> Result<impl Fn(Arc<Tally>) -> Box<dyn Lines> + use<>, ServeError> {
    let close = spec.close;
    let page: Arc<[u8]> = reply(spec.page_bytes, close).into();
    let protocol: &[u8] = if spec.speaks == NullProtocol::Http2 { b"h2" } else { b"http/1.1" };
    let tls = spec.tls.as_ref().map(|tls| tls::config(tls, &[protocol])).transpose()?;
    let begin: Option<Begin> = match spec.speaks {
        NullProtocol::Http1 if tls.is_none() => None,
        NullProtocol::Http1 => {
            let page = Arc::clone(&page);
            Some(Arc::new(move || Box::new(Http1::new(Arc::clone(&page), close))))
        }
        NullProtocol::Http2 => {
            let reply = Arc::new(http2::Reply::new(spec.page_bytes));
            Some(Arc::new(move || Box::new(Http2::new(Arc::clone(&reply)))))
        }
        NullProtocol::App => {
            let known = Arc::new(app::PreparedReplies::default());
            Some(Arc::new(move || Box::new(app::App::new(Arc::clone(&known)))))
        }
    };
    Ok(move |tally| -> Box<dyn Lines> {
        match &begin {
            None => Box::new(Bare::new(Arc::clone(&page), close, tally)),
            Some(begin) => Box::new(DialogueServer::new(Arc::clone(begin), tls.clone(), tally)),
        }
    })
}

/// In close mode the kernel hands a connection over together with its request, which saves a wake-up.
fn accept_with_data(listener: &Listener) {
    let seconds: libc::c_int = 1;
    // SAFETY: a live socket and a pointer to an int of the size given. Refused on unix sockets, which is harmless.
    unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
}

fn reply(body_bytes: usize, close: bool) -> Vec<u8> {
    let connection = if close { "close" } else { "keep-alive" };
    let mut reply = format!(
        "HTTP/1.1 200 OK\r\nServer: bakeoff-null\r\nContent-Type: text/plain\r\nContent-Length: {body_bytes}\r\n\
         Connection: {connection}\r\n\r\n"
    )
    .into_bytes();
    reply.resize(reply.len() + body_bytes, b'x');
    reply
}

impl Running for NullServer {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn counts(&self) -> serde_json::Value {
        let mut sum = Totals::default();
        let mut replies = 0;
        for tally in &self.tallies {
            let connections = tally.connections.load(Relaxed) as i64;
            sum.connections += connections;
            sum.open += connections - tally.closed.load(Relaxed) as i64;
            sum.bytes += tally.bytes.load(Relaxed);
            replies += tally.replies.load(Relaxed);
        }
        sum.requests = replies;
        sum.body_bytes = replies * self.body_bytes;
        if replies > 0 {
            sum.replies.insert(200, replies);
        }
        sum.to_json("null", &self.address, now_ns() - self.started_ns)
    }

    fn stop(&mut self) {
        self.stop = None;
        for thread in self.threads.drain(..) {
            // A worker that panicked has ended too.
            let _ = thread.join();
        }
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.stop();
    }
}
