//! One connection: its state, and the wire between hyper and the socket that counts and can be cut.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes};
use hyper::rt::ReadBufCursor;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

use super::shared::Shared;
use crate::server::clock::Timer;
use crate::server::counts::Totals;
use crate::server::listen::reset_on_close;

/// State of one connection, shared by its wire, its requests and its watch.
pub struct Conn {
    pub shared: Arc<Shared>,
    pub worker: usize,
    pub timer: Arc<Timer>,
    pub accepted_ns: u64,
    /// Requests begun.
    pub requests: AtomicU64,
    /// A reply is held back on purpose.
    pub waiting: AtomicBool,
    /// The request in hand is one for the counts, itself not counted.
    pub for_counts: AtomicBool,
    /// It came for the counts first, and is not counted for that.
    pub came_for_counts: AtomicBool,
    /// The close must be a reset.
    pub reset: AtomicBool,
    written: AtomicU64,
    flush_wanted: AtomicBool,
    flush_waker: Mutex<Option<Waker>>,
    /// Sent after the reply in hand, though nobody asked for it.
    pub extra: Mutex<Bytes>,
    /// Sent as the last words before the close.
    pub last_words: Mutex<Bytes>,
}

impl Conn {
    /// Counts the connection as accepted and open.
    pub fn new(shared: Arc<Shared>, worker: usize, timer: Arc<Timer>) -> Self {
        let accepted_ns = shared.elapsed_ns();
        shared.counts.of(worker, |totals| {
            totals.connections += 1;
            totals.open += 1;
            if let Some(second) = totals.second(accepted_ns) {
                second.connections += 1;
            }
        });
        Self {
            shared,
            worker,
            timer,
            accepted_ns,
            requests: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            for_counts: AtomicBool::new(false),
            came_for_counts: AtomicBool::new(false),
            reset: AtomicBool::new(false),
            written: AtomicU64::new(0),
            flush_wanted: AtomicBool::new(false),
            flush_waker: Mutex::new(None),
            extra: Mutex::default(),
            last_words: Mutex::default(),
        }
    }

    pub fn count<R>(&self, change: impl FnOnce(&mut Totals) -> R) -> R {
        self.shared.counts.of(self.worker, change)
    }

    /// Takes the connection out of the counts: it only came for them.
    pub fn uncount(&self) {
        self.count(|totals| {
            totals.connections -= 1;
            if let Some(second) = totals.second(self.accepted_ns) {
                second.connections = second.connections.saturating_sub(1);
            }
        });
    }

    /// Figures that change while the connection makes progress.
    pub fn progress(&self) -> (u64, u64) {
        (self.requests.load(Relaxed), self.written.load(Relaxed))
    }

    /// Ready once everything given to hyper before the first call has left for the socket.
    pub fn poll_flushed(&self, first: bool, cx: &Context<'_>) -> Poll<()> {
        if first {
            *self.flush_waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            self.flush_wanted.store(true, Relaxed);
        }
        if self.flush_wanted.load(Relaxed) { Poll::Pending } else { Poll::Ready(()) }
    }

    fn flushed(&self) {
        if self.flush_wanted.swap(false, Relaxed)
            && let Some(waker) = self.flush_waker.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            waker.wake();
        }
    }

    fn wrote(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Relaxed);
        if self.for_counts.load(Relaxed) {
            return;
        }
        let at_ns = self.shared.elapsed_ns();
        self.count(|totals| {
            totals.bytes += bytes as u64;
            if let Some(second) = totals.second(at_ns) {
                second.bytes += bytes as u64;
            }
        });
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        self.count(|totals| totals.open -= 1);
        self.shared.open.fetch_sub(1, Relaxed);
    }
}

/// A transport whose socket can be reached, for a reset.
pub trait Transport: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    fn socket(&self) -> BorrowedFd<'_>;
}

impl Transport for tokio::net::TcpStream {
    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

impl Transport for tokio::net::UnixStream {
    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

impl<T: Transport> Transport for TlsStream<T> {
    fn socket(&self) -> BorrowedFd<'_> {
        self.get_ref().0.socket()
    }
}

/// hyper's view of a transport. Counts what was written; closes with a reset if asked to.
pub struct Wire<T: Transport> {
    transport: T,
    conn: Arc<Conn>,
}

impl<T: Transport> Wire<T> {
    pub fn new(transport: T, conn: Arc<Conn>) -> Self {
        Self { transport, conn }
    }

    /// Waits for the client to close, and says nothing meanwhile.
    pub async fn until_closed(mut self) {
        let mut dropped = [0; 256];
        while matches!(self.transport.read(&mut dropped).await, Ok(1..)) {}
    }

    /// Sends what nobody asked for, after a reply.
    fn poll_extra(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let conn = Arc::clone(&self.conn);
        let mut extra = conn.extra.lock().unwrap_or_else(PoisonError::into_inner);
        while !extra.is_empty() {
            let written = ready!(Pin::new(&mut self.transport).poll_write(cx, &extra))?;
            extra.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: Transport> Drop for Wire<T> {
    fn drop(&mut self) {
        let last_words = std::mem::take(&mut *self.conn.last_words.lock().unwrap_or_else(PoisonError::into_inner));
        if !last_words.is_empty() {
            // They are few: the socket takes them at once, or the client is gone.
            let _ = SockRef::from(&self.transport.socket()).send(&last_words);
        }
        if self.conn.reset.load(Relaxed) {
            reset_on_close(self.transport.socket());
        }
    }
}

impl<T: Transport> hyper::rt::Read for Wire<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: the bytes are only written by the transport's read, through a ReadBuf that keeps track of what is filled.
        let mut buffer = ReadBuf::uninit(unsafe { cursor.as_mut() });
        let result = Pin::new(&mut self.transport).poll_read(cx, &mut buffer);
        if matches!(result, Poll::Ready(Ok(()))) {
            let filled = buffer.filled().len();
            // SAFETY: the transport has just filled so many bytes.
            unsafe { cursor.advance(filled) };
        }
        result
    }
}

impl<T: Transport> hyper::rt::Write for Wire<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.transport).poll_write(cx, bytes);
        if let Poll::Ready(Ok(written)) = &result {
            self.conn.wrote(*written);
        }
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.transport).poll_write_vectored(cx, parts);
        if let Poll::Ready(Ok(written)) = &result {
            self.conn.wrote(*written);
        }
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.transport).poll_flush(cx);
        if matches!(result, Poll::Ready(Ok(()))) {
            ready!(self.poll_extra(cx))?;
            self.conn.flushed();
        }
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_shutdown(cx)
    }
}
