//! A worker thread: a runtime of its own, its timer, its connections.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{mpsc, watch};

use super::connection::{Conn, Transport, Wire};
use super::service::{COUNTS_REQUEST, answer};
use super::shared::Shared;
use crate::server::clock::{Timer, block_until};
use crate::server::faults::Stalls;
use crate::server::listen::{Listener, Stream, is_shortage, pin_thread, reset_on_close};

/// Longest request head, in bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Wait before accepting again when the system ran short of something.
const SHORTAGE_WAIT: Duration = Duration::from_millis(10);

type Inbox = mpsc::UnboundedSender<Stream>;

pub struct Worker {
    pub shared: Arc<Shared>,
    pub number: usize,
    pub inbox: mpsc::UnboundedReceiver<Stream>,
    pub stopped: watch::Receiver<bool>,
    /// Only the first worker has it: the listening socket and everyone's inbox.
    pub door: Option<(Listener, Vec<Inbox>)>,
}

impl Worker {
    /// Runs until stopped. Says on `report` whether it could start.
    pub fn run(self, report: &std::sync::mpsc::Sender<Result<(), String>>) {
        let started = pin_thread(self.shared.spec.pin.as_deref(), self.number).and_then(|()| {
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())
        });
        match started {
            Ok(runtime) => {
                runtime.block_on(self.work(report));
                runtime.shutdown_background();
            }
            // Nobody listens any more if another worker failed first.
            Err(text) => drop(report.send(Err(text))),
        }
    }

    async fn work(mut self, report: &std::sync::mpsc::Sender<Result<(), String>>) {
        let timer = match self.set_up() {
            Ok(timer) => timer,
            Err(e) => return drop(report.send(Err(format!("cannot start a worker: {e}")))),
        };
        let _ = report.send(Ok(()));
        let (shared, number, mut inbox) = (self.shared, self.number, self.inbox);
        tokio::spawn(async move {
            while let Some(stream) = inbox.recv().await {
                let conn = Arc::new(Conn::new(Arc::clone(&shared), number, Arc::clone(&timer)));
                tokio::spawn(watched(conn, stream));
            }
        });
        // An error means that the server is gone: an end as well.
        let _ = self.stopped.wait_for(|stopped| *stopped).await;
    }

    fn set_up(&mut self) -> io::Result<Arc<Timer>> {
        let timer = Timer::new()?;
        tokio::spawn(Arc::clone(&timer).drive());
        if let Some(stalls) = self.shared.stalls {
            tokio::spawn(stall(Arc::clone(&self.shared), stalls, Arc::clone(&timer)));
        }
        if let Some((listener, inboxes)) = self.door.take() {
            // SAFETY: a Listener owns its descriptor and keeps the same one for life.
            let listener = unsafe { AsyncFd::register_with_interest(listener, Interest::READABLE) }?;
            tokio::spawn(accept(Arc::clone(&self.shared), listener, inboxes));
        }
        Ok(timer)
    }
}

/// Stands still at the appointed times: the thread sleeps, with everything it does.
async fn stall(shared: Arc<Shared>, stalls: Stalls, timer: Arc<Timer>) {
    loop {
        let (from_ns, to_ns) = stalls.next(shared.elapsed_ns());
        timer.until(shared.started_ns + from_ns).await;
        block_until(shared.started_ns + to_ns, || shared.ended.load(Relaxed));
        if shared.ended.load(Relaxed) {
            return;
        }
    }
}

/// Accepts for all workers and deals the connections out in turn.
async fn accept(shared: Arc<Shared>, listener: AsyncFd<Listener>, inboxes: Vec<Inbox>) {
    for inbox in inboxes.iter().cycle() {
        let stream = loop {
            match listener.async_io(Interest::READABLE, Listener::accept).await {
                Ok(stream) => break stream,
                Err(e) if is_shortage(&e) => tokio::time::sleep(SHORTAGE_WAIT).await,
                // That connection ended before it was accepted; the next one may be good.
                Err(_) => tokio::task::yield_now().await,
            }
        };
        if shared.open.fetch_add(1, Relaxed) >= shared.spec.max_connections {
            shared.open.fetch_sub(1, Relaxed);
            shared.counts.of(0, |totals| totals.connections_refused += 1);
            match &stream {
                Stream::Tcp(stream) => reset_on_close(stream.as_fd()),
                Stream::Unix(stream) => reset_on_close(stream.as_fd()),
            }
        } else if inbox.send(stream).is_err() {
            return;
        }
    }
}

/// Serves a connection, and ends it when a whole time-out passes without a new request or any progress of a reply.
async fn watched(conn: Arc<Conn>, stream: Stream) {
    let timeout = Duration::from_secs_f64(conn.shared.spec.idle_timeout_s);
    let mut served = pin!(admit(Arc::clone(&conn), stream));
    let mut watch = pin!(tokio::time::sleep(timeout));
    let mut before = (u64::MAX, 0);
    std::future::poll_fn(|cx| {
        if served.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while watch.as_mut().poll(cx).is_ready() {
            let now = conn.progress();
            if now == before && !conn.waiting.load(Relaxed) {
                conn.count(|totals| totals.timed_out += 1);
                return Poll::Ready(());
            }
            before = now;
            watch.as_mut().reset(tokio::time::Instant::now() + timeout);
        }
        Poll::Pending
    })
    .await;
}

async fn admit(conn: Arc<Conn>, stream: Stream) {
    // An error here means that the connection is already gone.
    match stream {
        Stream::Tcp(stream) => {
            if let Ok(stream) = TcpStream::from_std(stream)
                && (!conn.shared.refusal.active() || (stream.readable().await.is_ok() && !refused(&conn, &stream)))
            {
                secure(conn, stream).await;
            }
        }
        Stream::Unix(stream) => {
            if let Ok(stream) = UnixStream::from_std(stream)
                && (!conn.shared.refusal.active() || (stream.readable().await.is_ok() && !refused(&conn, &stream)))
            {
                secure(conn, stream).await;
            }
        }
    }
}

/// Whether this connection is one to be refused. Asked when the client's first bytes are there: it has then seen its
/// connect succeed and has sent its request, so what it gets is always a reset before the first byte.
fn refused(conn: &Conn, stream: &impl Transport) -> bool {
    let mut start = [MaybeUninit::uninit(); COUNTS_REQUEST.len()];
    let Ok(seen) = SockRef::from(&stream.socket()).peek(&mut start) else { return false };
    // SAFETY: peek has filled the first `seen` bytes.
    let start = start[..seen].iter().map(|byte| unsafe { byte.assume_init() });
    // Closed without a word, or come for the counts: not among those that are numbered.
    if seen == 0 || start.eq(COUNTS_REQUEST.iter().copied()) || !conn.shared.refusal.hit() {
        return false;
    }
    reset_on_close(stream.socket());
    let at_ns = conn.shared.elapsed_ns();
    conn.count(|totals| {
        totals.refused += 1;
        if let Some(second) = totals.second(at_ns) {
            second.refused += 1;
        }
    });
    true
}

async fn secure<T: Transport>(conn: Arc<Conn>, stream: T) {
    let Some(acceptor) = conn.shared.tls.clone() else { return serve(conn, stream).await };
    match acceptor.accept(stream).await {
        Ok(stream) => serve(conn, stream).await,
        Err(_) => conn.count(|totals| totals.tls_failed += 1),
    }
}

async fn serve<T: Transport>(conn: Arc<Conn>, transport: T) {
    let leave_open = conn.shared.spec.leave_open;
    let service = service_fn(|request| answer(Arc::clone(&conn), request));
    // An error is the client's going away, a malformed request (answered with 400), or a cut made on purpose.
    let served = http1::Builder::new()
        .keep_alive(conn.shared.spec.keep_alive)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(Wire::new(transport, Arc::clone(&conn)), service);
    if !leave_open {
        let _ = served.await;
    } else if let Ok(parts) = served.without_shutdown().await {
        parts.io.until_closed().await;
    }
}
