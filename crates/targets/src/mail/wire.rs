//! Lines over a connection that may turn to TLS.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::spec::MailSpec;
use crate::server::clock::{Timer, now_ns, to_ns};

/// Longest command line, bytes.
const LINE_BYTES_MAX: usize = 4096;
const READ_BYTES: usize = 32 * 1024;

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// While the handshake runs.
    Gone,
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Gone => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Gone => Poll::Ready(Ok(bytes.len())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Self::Gone => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Gone => Poll::Ready(Ok(())),
        }
    }
}

/// One connection of either protocol.
pub struct Wire {
    stream: Stream,
    buffer: Vec<u8>,
    at: usize,
    out: Vec<u8>,
    /// Longest wait for the client.
    idle: Duration,
    timer: Arc<Timer>,
    /// How long each reply is held back.
    delay_ns: u64,
    /// When the last bytes came.
    came_ns: u64,
    /// When the reply that is being made may leave, once.
    due_ns: Option<u64>,
    last_due_ns: u64,
}

/// Why there is no next line.
pub enum NoLine {
    /// The client has gone.
    Closed,
    /// Longer than a line may be; the line is dropped.
    TooLong,
}

impl Wire {
    pub fn new(stream: TcpStream, timer: Arc<Timer>, spec: &MailSpec) -> Self {
        let mut wire = Self {
            stream: Stream::Plain(stream),
            buffer: Vec::new(),
            at: 0,
            out: Vec::new(),
            idle: Duration::from_secs_f64(spec.idle_timeout_s),
            timer,
            delay_ns: to_ns(spec.delay_s),
            came_ns: now_ns(),
            due_ns: None,
            last_due_ns: 0,
        };
        wire.taken();
        wire
    }

    /// A command was taken: its reply leaves the delay after its bytes came, or after the reply before it.
    fn taken(&mut self) {
        if self.delay_ns > 0 {
            self.last_due_ns = self.came_ns.max(self.last_due_ns) + self.delay_ns;
            self.due_ns = Some(self.last_due_ns);
        }
    }

    /// Holds the reply back until it is due.
    pub async fn hold(&mut self) {
        if let Some(due_ns) = self.due_ns.take() {
            self.timer.until(due_ns).await;
        }
    }

    /// Turns to TLS. What the client sent ahead in clear is dropped.
    pub async fn secure(&mut self, acceptor: &TlsAcceptor) -> io::Result<()> {
        self.buffer.clear();
        self.at = 0;
        if let Stream::Plain(stream) = std::mem::replace(&mut self.stream, Stream::Gone) {
            self.stream = Stream::Tls(Box::new(acceptor.accept(stream).await?));
        }
        Ok(())
    }

    pub fn is_secure(&self) -> bool {
        matches!(self.stream, Stream::Tls(_))
    }

    /// Whether the client has sent more than was read.
    fn has_more(&self) -> bool {
        self.buffer[self.at..].contains(&b'\n')
    }

    async fn fill(&mut self) -> bool {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.reserve(READ_BYTES);
        let read = tokio::time::timeout(self.idle, self.stream.read_buf(&mut self.buffer)).await;
        if self.delay_ns > 0 {
            self.came_ns = now_ns();
        }
        matches!(read, Ok(Ok(count)) if count > 0)
    }

    /// The next line without its end.
    pub async fn line(&mut self) -> Result<String, NoLine> {
        let mut dropped = false;
        loop {
            if let Some(end) = self.buffer[self.at..].iter().position(|byte| *byte == b'\n') {
                let line = &self.buffer[self.at..self.at + end];
                let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
                self.at += end + 1;
                self.taken();
                return if dropped || text.len() > LINE_BYTES_MAX { Err(NoLine::TooLong) } else { Ok(text) };
            }
            if self.buffer.len() - self.at > LINE_BYTES_MAX {
                self.at = self.buffer.len();
                dropped = true;
            }
            if !self.fill().await {
                return Err(NoLine::Closed);
            }
        }
    }

    /// The lines up to the final dot, unstuffed; `None` for the text when it is over `max` bytes. An error when the
    /// client goes away first.
    pub async fn text(&mut self, max: usize) -> Result<Option<Vec<u8>>, NoLine> {
        let mut text = Vec::new();
        let mut too_long = false;
        let mut in_line = false;
        loop {
            while let Some(end) = self.buffer[self.at..].iter().position(|byte| *byte == b'\n') {
                let line = &self.buffer[self.at..=self.at + end];
                self.at += end + 1;
                if !in_line && (line == b".\r\n" || line == b".\n") {
                    self.taken();
                    return Ok((!too_long).then_some(text));
                }
                too_long |= text.len() + line.len() > max;
                if !too_long {
                    text.extend_from_slice(if in_line { line } else { line.strip_prefix(b".").unwrap_or(line) });
                }
                in_line = false;
            }
            // A line without end in sight is taken in parts, so that nobody can make the buffer grow for ever.
            if self.buffer.len() - self.at > 2 * READ_BYTES {
                let part = &self.buffer[self.at..];
                too_long |= text.len() + part.len() > max;
                if !too_long {
                    text.extend_from_slice(if in_line { part } else { part.strip_prefix(b".").unwrap_or(part) });
                }
                in_line = true;
                self.at = self.buffer.len();
            }
            if !self.fill().await {
                return Err(NoLine::Closed);
            }
        }
    }

    /// Puts text into the reply.
    pub fn say(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    /// Puts a message into the reply, stuffed, with its final dot.
    pub fn say_message(&mut self, message: &[u8]) {
        if message.first() == Some(&b'.') {
            self.out.push(b'.');
        }
        let mut from = 0;
        for end in memmem::find_iter(message, b"\n.") {
            self.out.extend_from_slice(&message[from..=end]);
            self.out.push(b'.');
            from = end + 1;
        }
        self.out.extend_from_slice(&message[from..]);
        if message.last().is_some_and(|last| *last != b'\n') {
            self.out.extend_from_slice(b"\r\n");
        }
        self.out.extend_from_slice(b".\r\n");
    }

    /// Sends the reply, unless the client has already sent the next command.
    pub async fn flush(&mut self) -> io::Result<()> {
        if self.has_more() && self.out.len() < READ_BYTES {
            return Ok(());
        }
        self.send().await
    }

    /// Sends the reply when it is due, whatever else the client has sent.
    pub async fn answer(&mut self) -> io::Result<()> {
        self.hold().await;
        self.send().await
    }

    /// Sends the reply.
    async fn send(&mut self) -> io::Result<()> {
        let out = std::mem::take(&mut self.out);
        self.stream.write_all(&out).await?;
        self.stream.flush().await?;
        self.out = out;
        self.out.clear();
        Ok(())
    }

    pub async fn close(&mut self) {
        // A client that is gone already is as good.
        let _ = self.stream.shutdown().await;
    }
}
