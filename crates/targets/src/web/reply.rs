//! The body of a reply: whole, in chunks, or cut off after an exact number of bytes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::connection::Conn;

const CHUNK_BYTES: usize = 16 * 1024;

/// Bytes on their way to hyper.
pub struct ReplyBody {
    data: Bytes,
    shape: Shape,
}

enum Shape {
    /// Length known, sent in one piece.
    Whole,
    /// Length not told: chunked in HTTP/1.1, read to the end in 1.0.
    Chunks,
    /// After the data the connection is dropped, though the head promised more.
    Cut { conn: Arc<Conn>, asked: bool },
}

impl ReplyBody {
    /// What it still holds.
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    pub fn whole(data: Bytes) -> Self {
        Self { data, shape: Shape::Whole }
    }

    pub fn chunks(data: Bytes) -> Self {
        Self { data, shape: Shape::Chunks }
    }

    /// Sends the first `keep` bytes and then ends the connection.
    pub fn cut(mut data: Bytes, keep: usize, conn: Arc<Conn>) -> Self {
        data.truncate(keep);
        Self { data, shape: Shape::Cut { conn, asked: false } }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        if !this.data.is_empty() {
            let max = if matches!(this.shape, Shape::Whole) { usize::MAX } else { CHUNK_BYTES };
            let piece = this.data.split_to(this.data.len().min(max));
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let Shape::Cut { conn, asked } = &mut this.shape else { return Poll::Ready(None) };
        // An error makes hyper drop the connection with whatever it still holds, so first everything must be out.
        let first = !std::mem::replace(asked, true);
        ready!(conn.poll_flushed(first, cx));
        conn.reset.store(conn.shared.spec.cut_with_reset, Relaxed);
        Poll::Ready(Some(Err(io::Error::other("cut off on purpose"))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_empty() && !matches!(self.shape, Shape::Cut { .. })
    }

    fn size_hint(&self) -> SizeHint {
        match self.shape {
            Shape::Whole => SizeHint::with_exact(self.data.len() as u64),
            Shape::Chunks | Shape::Cut { .. } => SizeHint::default(),
        }
    }
}
