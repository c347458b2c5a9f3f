//! One whole reply, and that over HTTP/1, for checks before timing: read as the load reads it, kept, and refused with a
//! reason.

use super::body::{Body, Chunked, LINE_BYTES_MAX, Malformation};
use super::head;
use super::head::{HEAD_BYTES_MAX, HEADERS_MAX};
use crate::web::http2::message::INTERIM_MAX;

/// So much of what is wrong is shown, bytes.
const SHOWN_BYTES: usize = 256;

/// A reply.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WholeReply {
    /// Status code.
    pub status: u16,
    /// `1.0`, `1.1` or `2`.
    pub version: &'static str,
    /// Names in small letters, as they came.
    pub fields: Vec<(String, Vec<u8>)>,
    /// Bytes of status line and fields.
    pub head_bytes: usize,
    /// The body, as far as it was wanted.
    pub body: Vec<u8>,
    /// The server keeps the connection open.
    pub keeps_open: bool,
    /// Streams that the server takes at once, where it says so.
    pub streams_allowed: Option<u32>,
}

/// One request and what comes of it: told bytes, and asked for bytes.
pub trait Exchange {
    /// What is sent first.
    fn start(&mut self, request: &[u8]) -> Vec<u8>;

    /// Takes what came, and appends what it has to be answered by; whether that is all.
    ///
    /// # Errors
    /// It is no reply, contradicts itself, or is too much.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<bool, Faulty>;

    /// The connection has ended: the reply, where it is complete.
    ///
    /// # Errors
    /// It is not.
    fn end(self: Box<Self>) -> Result<WholeReply, Faulty>;

    /// What a connection that breaks now shows; `None` where it is no more than a broken connection.
    fn broken(&self) -> Option<ReplyFault> {
        None
    }
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFault {
    /// The first line is none of HTTP/1.
    NotHttp,
    /// A field is malformed.
    Field,
    /// The stated length is none, or contradicts itself.
    Length,
    /// The head is too long.
    LongHead,
    /// A line is too long.
    LongLine,
    /// Too many interim heads.
    Interims,
    /// The size of a chunk is malformed.
    ChunkSize,
    /// A chunk goes on behind its end.
    LongChunk,
    /// The trailer is malformed or too long.
    Trailer,
    /// The body ends before its stated length.
    ShortBody,
    /// The connection ends within the reply.
    Closed,
    /// Another protocol than HTTP/2 answers.
    OtherProtocol,
    /// The connection ends when it is spoken to in HTTP/2.
    ClosesAtOnce,
    /// The connection breaks when it is spoken to in HTTP/2.
    BreaksAtOnce,
    /// It is not HTTP/2.
    NotHttp2,
    /// The server gave the stream up.
    Reset,
    /// The server gave the connection up.
    GoneAway,
    /// The body is not as long as stated.
    OtherLength,
}

impl ReplyFault {
    /// The name of it, for the control plane.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotHttp => "not_http",
            Self::Field => "field",
            Self::Length => "length",
            Self::LongHead => "long_head",
            Self::LongLine => "long_line",
            Self::Interims => "interims",
            Self::ChunkSize => "chunk_size",
            Self::LongChunk => "long_chunk",
            Self::Trailer => "trailer",
            Self::ShortBody => "short_body",
            Self::Closed => "closed",
            Self::OtherProtocol => "other_protocol",
            Self::ClosesAtOnce => "closes_at_once",
            Self::BreaksAtOnce => "breaks_at_once",
            Self::NotHttp2 => "not_http2",
            Self::Reset => "reset",
            Self::GoneAway => "gone_away",
            Self::OtherLength => "other_length",
        }
    }
}

/// What is wrong, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulty {
    /// What.
    pub fault: ReplyFault,
    /// What the other side sent.
    pub shown: Vec<u8>,
    /// How many bytes or heads.
    pub count: usize,
}

impl Faulty {
    pub(crate) fn new(fault: ReplyFault, shown: &[u8], count: usize) -> Self {
        Self { fault, shown: shown[..shown.len().min(SHOWN_BYTES)].to_vec(), count }
    }
}

#[derive(Debug)]
enum State {
    Head,
    Body(Body),
    Done,
}

/// Reads one reply.
#[derive(Debug)]
pub struct WholeReader {
    head_only: bool,
    /// Of the body, bytes.
    most_bytes: usize,
    state: State,
    /// A head that is not complete.
    head: Vec<u8>,
    interims: u8,
    reply: WholeReply,
}

impl WholeReader {
    /// For the reply to a request, which has no body to `HEAD`; of a body so many bytes are wanted.
    pub fn new(head_only: bool, most_bytes: usize) -> Self {
        let (head, reply) = (Vec::new(), WholeReply::default());
        Self { head_only, most_bytes, state: State::Head, head, interims: 0, reply }
    }
}

impl Exchange for WholeReader {
    fn start(&mut self, request: &[u8]) -> Vec<u8> {
        request.to_vec()
    }

    fn take(&mut self, bytes: &[u8], _: &mut Vec<u8>) -> Result<bool, Faulty> {
        if matches!(self.state, State::Head) {
            self.head.extend_from_slice(bytes);
            if bytes.contains(&b'\n') || self.head.len() > HEAD_BYTES_MAX {
                self.heads()?;
            }
        } else {
            self.body(bytes)?;
        }
        Ok(matches!(self.state, State::Done))
    }

    fn end(self: Box<Self>) -> Result<WholeReply, Faulty> {
        match self.state {
            State::Done | State::Body(Body::ToEnd) => Ok(self.reply),
            State::Body(Body::Length(_)) => Err(Faulty::new(ReplyFault::ShortBody, &[], self.reply.body.len())),
            State::Head | State::Body(Body::Chunked(_)) => Err(Faulty::new(ReplyFault::Closed, &[], 0)),
        }
    }
}

impl WholeReader {
    fn heads(&mut self) -> Result<(), Faulty> {
        let whole = std::mem::take(&mut self.head);
        let mut rest = &whole[..];
        loop {
            let head = match head::parse(rest, self.head_only) {
                Err(_) => return Err(fault_of(rest)),
                Ok(Some(head)) => head,
                Ok(None) => {
                    self.head = rest.to_vec();
                    return Ok(());
                }
            };
            let (text, behind) = rest.split_at(head.bytes);
            // After 101 another protocol is spoken: nothing follows that could be read.
            if head.status < 200 && head.status != 101 {
                self.interims += 1;
                if self.interims > INTERIM_MAX {
                    let status = head.status.to_string();
                    return Err(Faulty::new(ReplyFault::Interims, status.as_bytes(), usize::from(INTERIM_MAX)));
                }
                rest = behind;
                continue;
            }
            self.reply.status = head.status;
            self.reply.head_bytes = head.bytes;
            self.reply.keeps_open = head.keeps_open;
            (self.reply.version, self.reply.fields) = fields_of(text);
            self.state = State::Body(Body::new(head.framing));
            return self.body(behind);
        }
    }

    fn body(&mut self, bytes: &[u8]) -> Result<(), Faulty> {
        let State::Body(rest) = &mut self.state else { return Ok(()) };
        let (body, most) = (&mut self.reply.body, self.most_bytes);
        let before = rest.clone();
        let taken = rest.take(bytes, |part| body.extend_from_slice(&part[..part.len().min(most - body.len())]));
        let is_full = body.len() == most;
        if let (Err(_), Body::Chunked(decoder)) = (taken, before)
            && !is_full
        {
            return Err(chunk_fault(decoder, bytes));
        }
        if is_full || rest.is_done() {
            self.state = State::Done;
        }
        Ok(())
    }
}

/// What is wrong with a head: the first line with which it is wrong.
fn fault_of(bytes: &[u8]) -> Faulty {
    let mut end = 0;
    for (number, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let text = line.trim_ascii_end();
        if text.len() > HEAD_BYTES_MAX / 2 {
            return Faulty::new(ReplyFault::LongLine, &[], HEAD_BYTES_MAX / 2);
        }
        let whole = [&bytes[..end], text, b"\r\n\r\n"].concat();
        end += line.len();
        if end > HEAD_BYTES_MAX || number > HEADERS_MAX {
            break;
        }
        if head::parse(&whole, false).is_ok() {
            continue;
        }
        let length = text.split_at_checked(15).filter(|(name, _)| name.eq_ignore_ascii_case(b"content-length:"));
        return match length {
            Some((_, value)) => Faulty::new(ReplyFault::Length, value.trim_ascii(), 0),
            None if number == 0 => Faulty::new(ReplyFault::NotHttp, text, 0),
            None => Faulty::new(ReplyFault::Field, text, 0),
        };
    }
    Faulty::new(ReplyFault::LongHead, &[], 0)
}

/// What is wrong with the framing of chunks that `decoder` was about to take: found again byte by byte.
fn chunk_fault(mut decoder: Chunked, bytes: &[u8]) -> Faulty {
    let wrong = (0..bytes.len()).find(|&at| decoder.take(&bytes[at..=at], |_| ()).is_err()).unwrap_or(0);
    let begin = bytes[..wrong].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let line = bytes[begin..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let fault = match decoder.stuck() {
        Malformation::Size => ReplyFault::ChunkSize,
        Malformation::LongLine => ReplyFault::LongLine,
        Malformation::DataEnd => ReplyFault::LongChunk,
        Malformation::Trailer => ReplyFault::Trailer,
    };
    Faulty::new(fault, line.trim_ascii_end(), LINE_BYTES_MAX as usize)
}

/// Version and fields of a head that was parsed.
fn fields_of(bytes: &[u8]) -> (&'static str, Vec<(String, Vec<u8>)>) {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    // It was parsed before: what it says is right.
    let _ = response.parse(bytes);
    let version = if response.version == Some(0) { "1.0" } else { "1.1" };
    let field = |header: &httparse::Header<'_>| (header.name.to_ascii_lowercase(), header.value.to_vec());
    (version, response.headers.iter().map(field).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY_BYTES_MAX: usize = 1000;

    /// A reply in pieces of so many bytes, after which the connection ends.
    fn read(wire: &[u8], piece: usize) -> Result<WholeReply, Faulty> {
        let mut reader = WholeReader::new(false, BODY_BYTES_MAX);
        for part in wire.chunks(piece) {
            if reader.take(part, &mut Vec::new())? {
                break;
            }
        }
        Box::new(reader).end()
    }

    #[test]
    fn a_reply_is_the_same_however_it_is_cut() {
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
        for (head, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: a\r\nx: b\r\n\r\n", "ok"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\no\r\n1\r\nk\r\n0\r\n\r\n"),
            ("HTTP/1.0 200 OK\r\n\r\n", "ok"),
        ] {
            let wire = format!("{interim}{head}{body}");
            let whole = read(wire.as_bytes(), wire.len()).unwrap();
            assert_eq!((whole.status, &whole.body[..], whole.head_bytes), (200, &b"ok"[..], head.len()));
            assert_eq!(whole.keeps_open, head.starts_with("HTTP/1.1"));
            for piece in 1..wire.len() {
                assert_eq!(read(wire.as_bytes(), piece).unwrap(), whole, "in pieces of {piece}");
            }
        }
        let fields = read(b"HTTP/1.0 204 No\r\nX: a\r\nx:  b \r\n\r\n", 9).unwrap();
        assert_eq!((fields.version, fields.status, fields.body.len()), ("1.0", 204, 0));
        assert_eq!(fields.fields, [("x".to_owned(), b"a".to_vec()), ("x".to_owned(), b"b".to_vec())]);
    }

    #[test]
    fn a_body_is_read_as_far_as_it_is_wanted() {
        let body = "x".repeat(BODY_BYTES_MAX + 500);
        for head in ["Content-Length: 1500", "Transfer-Encoding: chunked\r\n\r\n5dc", "Connection: close"] {
            let separator = if head.ends_with("5dc") { "\r\n" } else { "\r\n\r\n" };
            let wire = format!("HTTP/1.1 200 OK\r\n{head}{separator}{body}");
            for piece in [7, 5000] {
                assert_eq!(read(wire.as_bytes(), piece).unwrap().body.len(), BODY_BYTES_MAX, "{head}");
            }
        }
        let mut reader = WholeReader::new(true, BODY_BYTES_MAX);
        let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
        assert_eq!(reader.take(wire, &mut Vec::new()), Ok(true), "a HEAD has no body");
    }

    #[test]
    fn what_is_wrong_is_named_and_shown() {
        let head = "HTTP/1.1 200 OK\r\n";
        let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
        for (wire, fault, shown) in [
            ("SSH-2.0-OpenSSH\r\n".to_owned(), ReplyFault::NotHttp, "SSH-2.0-OpenSSH"),
            ("HTTP/1.1 700 No\r\n\r\n".to_owned(), ReplyFault::NotHttp, "HTTP/1.1 700 No"),
            (format!("{head}A: b\r\nno colon\r\n\r\n"), ReplyFault::Field, "no colon"),
            (format!("{head}Content-Length: -1\r\n\r\n"), ReplyFault::Length, "-1"),
            (format!("{head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n"), ReplyFault::Length, "3"),
            (format!("{head}{}", "A: b\r\n".repeat(200)), ReplyFault::LongHead, ""),
            (format!("{head}A: {}", "b".repeat(100_000)), ReplyFault::LongLine, ""),
            (format!("{head}{}\r\n", format!("A: {}\r\n", "b".repeat(9_000)).repeat(9)), ReplyFault::LongHead, ""),
            ("HTTP/1.1 100 Continue\r\n\r\n".repeat(100), ReplyFault::Interims, "100"),
            (format!("{chunked}2\r\nok\r\n5 garbage\r\n"), ReplyFault::ChunkSize, "5 garbage"),
            (format!("{chunked}5\r\nhelloworld\r\n"), ReplyFault::LongChunk, "helloworld"),
            (format!("{chunked}1{}", ";".repeat(20_000)), ReplyFault::LongLine, ""),
            (format!("{chunked}0\r\n{}", "A: b\r\n".repeat(5_000)), ReplyFault::Trailer, ""),
            (format!("{head}Content-Length: 3\r\n\r\nok"), ReplyFault::ShortBody, ""),
            (chunked.clone(), ReplyFault::Closed, ""),
            (String::new(), ReplyFault::Closed, ""),
        ] {
            for piece in [1, 1000, 200_000] {
                let faulty = read(wire.as_bytes(), piece).unwrap_err();
                assert_eq!(faulty.fault, fault, "{wire:.60}");
                if !shown.is_empty() && piece > 1 {
                    assert_eq!(faulty.shown, shown.as_bytes(), "{wire:.60}");
                }
            }
        }
    }

    #[test]
    fn random_bytes_end_in_a_reply_or_a_fault() {
        let right = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n";
        let mut rng = bakeoff_engine::Rng::for_thread(11, 0, 0);
        for _ in 0..20_000 {
            let mut wire = right.to_vec();
            for _ in 0..rng.below(4) {
                let at = rng.below(wire.len() as u64) as usize;
                wire[at] = rng.below(256) as u8;
            }
            let piece = 1 + rng.below(40) as usize;
            if let Ok(reply) = read(&wire, piece) {
                assert!(reply.body.len() <= BODY_BYTES_MAX && (100..600).contains(&reply.status));
            }
        }
    }
}
