//! Replies, read as they come: bounded memory, whatever a server sends.

use bakeoff_workloads::web::Chunked;
use sha2::{Digest, Sha256};

/// Longest head that is read, bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// So much of a body is kept where it is wanted, bytes.
pub(crate) const KEPT_BYTES_MAX: usize = 1024 * 1024;
const HEADERS_MAX: usize = 128;
/// Longer cookies are not sent back, bytes.
const COOKIE_BYTES_MAX: usize = 245;
/// Longer addresses are not followed, bytes.
const LOCATION_BYTES_MAX: usize = 4 * 1024;
/// More interim replies than this before one reply are no HTTP.
const INTERIM_MAX: u64 = 100;

/// What came is no reply of HTTP/1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Garbage;

/// What a stream ended in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Before anything of a reply.
    Before,
    /// In a reply that is not whole.
    Within,
}

/// What is to be kept of replies beside the figures.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    pub cookie: bool,
    /// Where to go on, and the body of a page.
    pub page: bool,
    pub head: bool,
    pub body: bool,
    pub hash: bool,
}

/// A whole reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub status: u16,
    pub header_bytes: u64,
    pub content_bytes: u64,
    pub footer_bytes: u64,
    /// 1xx that came before it.
    pub interim: u64,
    /// The server goes on listening on this connection.
    pub keeps_open: bool,
    pub cookie: Option<Box<[u8]>>,
    pub location: Option<Box<[u8]>>,
    /// Its media type is that of a page.
    pub is_page: bool,
    /// As far as wanted, and bounded.
    pub head: Vec<u8>,
    pub body: Vec<u8>,
    /// SHA-256 of the body, where that was wanted.
    pub hash: Option<[u8; 32]>,
}

#[derive(Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    ToEnd,
}

/// Reads the replies of one connection, one after the other.
#[derive(Debug)]
pub(crate) struct ReplyReader {
    state: State,
    /// A head that came in parts.
    part: Vec<u8>,
    reply: Reply,
    begun: bool,
    hasher: Option<Box<Sha256>>,
}

impl ReplyReader {
    pub fn new() -> Self {
        Self { state: State::Head, part: Vec::new(), reply: Reply::default(), begun: false, hasher: None }
    }

    /// At the beginning of a connection again; keeps its memory.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.part.clear();
        self.part.shrink_to(4096);
        self.reply = Reply::default();
        self.begun = false;
        self.hasher = None;
    }

    /// So many bytes of the body can be dropped unread, when none of it is wanted.
    pub fn droppable_bytes(&self, wanted: Wanted) -> u64 {
        match self.state {
            State::Length(left) if self.hasher.is_none() && !self.keeps_body(wanted) => left,
            _ => 0,
        }
    }

    /// So many bytes of the body were dropped unread; the reply, when that was its end.
    pub fn dropped(&mut self, bytes: u64) -> Option<Reply> {
        let State::Length(left) = &mut self.state else { return None };
        let bytes = bytes.min(*left);
        *left -= bytes;
        self.reply.content_bytes += bytes;
        (*left == 0).then(|| self.finish())
    }

    /// Takes bytes up to the end of one reply; returns how many, and the reply when it is whole.
    pub fn take(&mut self, bytes: &[u8], wanted: Wanted, to_head: bool) -> Result<(usize, Option<Reply>), Garbage> {
        let mut at = 0;
        while at < bytes.len() {
            self.begun = true;
            let rest = &bytes[at..];
            match &mut self.state {
                State::Head => {
                    at += self.take_head(rest, wanted, to_head)?;
                    if matches!(self.state, State::Length(0)) {
                        return Ok((at, Some(self.finish())));
                    }
                }
                State::Length(left) => {
                    let part = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= part as u64;
                    let done = *left == 0;
                    self.content(&rest[..part], wanted);
                    at += part;
                    if done {
                        return Ok((at, Some(self.finish())));
                    }
                }
                State::ToEnd => {
                    self.content(rest, wanted);
                    at = bytes.len();
                }
                State::Chunked(chunked) => {
                    let mut decoder = std::mem::take(chunked);
                    at += decoder.take(rest, |data| self.content(data, wanted)).map_err(|_| Garbage)?;
                    if decoder.is_done() {
                        self.reply.footer_bytes = decoder.trailer_bytes();
                        return Ok((at, Some(self.finish())));
                    }
                    self.state = State::Chunked(decoder);
                }
            }
        }
        Ok((at, None))
    }

    /// The server has ended the stream: a reply whose end that is, or what is missing.
    pub fn end(&mut self) -> Result<Reply, End> {
        match self.state {
            State::ToEnd => Ok(self.finish()),
            State::Head if !self.begun => Err(End::Before),
            _ => Err(End::Within),
        }
    }

    fn finish(&mut self) -> Reply {
        self.state = State::Head;
        self.begun = false;
        self.reply.hash = self.hasher.take().map(|hasher| hasher.finalize().into());
        std::mem::take(&mut self.reply)
    }

    fn keeps_body(&self, wanted: Wanted) -> bool {
        wanted.body || wanted.page && self.reply.is_page
    }

    fn content(&mut self, data: &[u8], wanted: Wanted) {
        self.reply.content_bytes += data.len() as u64;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(data);
        }
        if self.keeps_body(wanted) {
            let room = KEPT_BYTES_MAX - self.reply.body.len().min(KEPT_BYTES_MAX);
            self.reply.body.extend_from_slice(&data[..data.len().min(room)]);
        }
    }

    /// Takes bytes of a head. One that comes as a whole is read where it lies.
    fn take_head(&mut self, bytes: &[u8], wanted: Wanted, to_head: bool) -> Result<usize, Garbage> {
        if self.part.is_empty() {
            if let Some(length) = self.parse(bytes, wanted, to_head)? {
                return Ok(length);
            }
            self.keep_part(bytes)?;
            return Ok(bytes.len());
        }
        let before = self.part.len();
        self.keep_part(bytes)?;
        let part = std::mem::take(&mut self.part);
        let parsed = self.parse(&part, wanted, to_head);
        self.part = part;
        match parsed? {
            Some(length) => {
                self.part.clear();
                // The part before was no whole head, so it ends in these bytes.
                Ok(length.saturating_sub(before))
            }
            None => Ok(bytes.len()),
        }
    }

    fn keep_part(&mut self, bytes: &[u8]) -> Result<(), Garbage> {
        let room = HEAD_BYTES_MAX + 1 - self.part.len().min(HEAD_BYTES_MAX);
        self.part.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if self.part.len() > HEAD_BYTES_MAX { Err(Garbage) } else { Ok(()) }
    }

    /// Reads a head that is whole and makes ready for what follows; `None` when it is not.
    fn parse(&mut self, bytes: &[u8], wanted: Wanted, to_head: bool) -> Result<Option<usize>, Garbage> {
        // A server that sends less than a line must be known by how it begins.
        let known = bytes.len().min(5);
        if bytes[..known] != b"HTTP/"[..known] {
            return Err(Garbage);
        }
        let mut headers = [const { std::mem::MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut response, bytes, &mut headers)
            .map_err(|_| Garbage)?;
        let httparse::Status::Complete(length) = parsed else { return Ok(None) };
        let status = response.code.ok_or(Garbage)?;
        let mut fields = Fields::default();
        for header in response.headers.iter() {
            fields.take(header.name, header.value, wanted)?;
        }
        self.reply.header_bytes += length as u64;
        if wanted.head {
            let room = HEAD_BYTES_MAX - self.reply.head.len().min(HEAD_BYTES_MAX);
            self.reply.head.extend_from_slice(&bytes[..length.min(room)]);
        }
        if (100..200).contains(&status) && status != 101 {
            self.reply.interim += 1;
            if self.reply.interim > INTERIM_MAX {
                return Err(Garbage);
            }
            return Ok(Some(length));
        }
        self.state = if to_head || matches!(status, 101 | 204 | 304) {
            State::Length(0)
        } else if fields.chunked {
            State::Chunked(Chunked::new())
        } else {
            fields.length.map_or(State::ToEnd, State::Length)
        };
        let asks_to_stay = if response.version == Some(1) { !fields.close } else { fields.keep_alive && !fields.close };
        self.reply.status = status;
        self.hasher = wanted.hash.then(Box::default);
        self.reply.keeps_open = asks_to_stay && !matches!(self.state, State::ToEnd) && status != 101;
        self.reply.cookie = fields.cookie;
        self.reply.location = fields.location;
        self.reply.is_page = fields.is_page;
        Ok(Some(length))
    }
}

#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    is_page: bool,
    cookie: Option<Box<[u8]>>,
    location: Option<Box<[u8]>>,
}

impl Fields {
    fn take(&mut self, name: &str, value: &[u8], wanted: Wanted) -> Result<(), Garbage> {
        // The length of the name decides nearly always, without a look at its letters.
        match name.len() {
            14 if name.eq_ignore_ascii_case("content-length") => {
                let length = std::str::from_utf8(value.trim_ascii()).ok().filter(|text| !text.starts_with('+'));
                let length: u64 = length.and_then(|text| text.parse().ok()).ok_or(Garbage)?;
                if self.length.is_some_and(|seen| seen != length) {
                    return Err(Garbage);
                }
                self.length = Some(length);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                let last = value.rsplit(|&byte| byte == b',').next().unwrap_or(value);
                self.chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                for token in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                    self.close |= token.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            10 if wanted.cookie && name.eq_ignore_ascii_case("set-cookie") => {
                let pair = value.split(|&byte| byte == b';').next().unwrap_or(value).trim_ascii();
                if !pair.is_empty() && pair.len() <= COOKIE_BYTES_MAX {
                    self.cookie = Some(pair.into());
                }
            }
            8 if wanted.page && name.eq_ignore_ascii_case("location") => {
                self.location =
                    Some(value.trim_ascii()).filter(|text| text.len() <= LOCATION_BYTES_MAX).map(Into::into);
            }
            12 if wanted.page && name.eq_ignore_ascii_case("content-type") => {
                let kind = value.split(|&byte| byte == b';').next().unwrap_or(value).trim_ascii();
                self.is_page =
                    kind.eq_ignore_ascii_case(b"text/html") || kind.eq_ignore_ascii_case(b"application/xhtml+xml");
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_engine::Rng;

    const ALL: Wanted = Wanted { cookie: true, page: true, head: true, body: true, hash: true };

    /// All replies in a stream that is cut at these places, and how it ended.
    fn read(parts: &[&[u8]], ends: bool) -> Result<(Vec<Reply>, Option<End>), Garbage> {
        let mut reader = ReplyReader::new();
        let mut replies = Vec::new();
        for part in parts {
            let mut at = 0;
            while at < part.len() {
                let (used, reply) = reader.take(&part[at..], ALL, false)?;
                at += used;
                replies.extend(reply);
            }
        }
        if !ends {
            return Ok((replies, None));
        }
        match reader.end() {
            Ok(reply) => {
                replies.push(reply);
                Ok((replies, None))
            }
            Err(end) => Ok((replies, Some(end))),
        }
    }

    const STREAM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\
        Set-Cookie: a=b; path=/\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 302 Found\r\nLocation: /x\r\n\
        Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: v\r\n\r\nHTTP/1.1 204 No\r\n\r\nHTTP/1.0 650 Odd\r\n\r\nrest";

    #[test]
    fn replies_are_the_same_however_their_bytes_are_cut() {
        let (whole, end) = read(&[STREAM], true).unwrap();
        assert_eq!((whole.len(), end), (4, None));
        let status: Vec<_> = whole.iter().map(|reply| reply.status).collect();
        assert_eq!(status, [200, 302, 204, 650]);
        let sizes: Vec<_> = whole.iter().map(|r| (r.content_bytes, r.footer_bytes, r.interim, r.keeps_open)).collect();
        assert_eq!(sizes, [(5, 0, 1, true), (3, 6, 0, true), (0, 0, 0, true), (4, 0, 0, false)]);
        assert_eq!((whole[0].cookie.as_deref(), whole[0].is_page), (Some(&b"a=b"[..]), true));
        assert_eq!((whole[1].location.as_deref(), whole[1].body.as_slice()), (Some(&b"/x"[..]), &b"abc"[..]));
        for cut in 0..STREAM.len() {
            assert_eq!(read(&[&STREAM[..cut], &STREAM[cut..]], true).unwrap().0, whole, "cut at {cut}");
        }
        let bytes: Vec<_> = STREAM.chunks(1).collect();
        assert_eq!(read(&bytes, true).unwrap().0, whole);
    }

    #[test]
    fn an_end_is_told_from_a_whole_reply() {
        for (text, end) in [
            ("", Some(End::Before)),
            ("HTT", Some(End::Within)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", Some(End::Within)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Some(End::Before)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", Some(End::Within)),
            ("HTTP/1.1 200 OK\r\n\r\n", None),
            ("HTTP/1.1 100 Continue\r\n\r\n", Some(End::Within)),
        ] {
            assert_eq!(read(&[text.as_bytes()], true).unwrap().1, end, "{text}");
        }
    }

    #[test]
    fn what_is_no_reply_is_garbage_at_once() {
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(HEAD_BYTES_MAX));
        let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(200);
        for text in [
            "SSH-2.0\r\n",
            "\0",
            "HTTQ",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            &long,
            &interim,
        ] {
            assert_eq!(read(&[text.as_bytes()], false), Err(Garbage), "{text:.40}");
        }
    }

    #[test]
    fn a_body_is_dropped_as_it_is_read() {
        let mut reader = ReplyReader::new();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789";
        assert_eq!(reader.take(head, Wanted::default(), false), Ok((head.len(), None)));
        assert_eq!(reader.droppable_bytes(Wanted::default()), 90);
        assert_eq!(reader.droppable_bytes(ALL), 0);
        assert_eq!(reader.dropped(80), None);
        assert_eq!(reader.dropped(10).map(|reply| reply.content_bytes), Some(100));
    }

    /// Whatever comes, in whatever pieces: no panic, bounded memory, and the same bytes give the same replies.
    #[test]
    fn random_streams_are_read_alike_however_they_are_cut() {
        let words: [&[u8]; 14] = [
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.0 404 Not\r\n",
            b"HTTP/1.1 100 C\r\n\r\n",
            b"Content-Length: 3\r\n",
            b"Content-Length: 999999999999999999999\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Connection: close\r\n",
            b"\r\n",
            b"\r\n",
            b"abc",
            b"3\r\nabc\r\n",
            b"0\r\n\r\n",
            b"\0\xff",
            b"HTTP/1.1 204 N\r\n\r\n",
        ];
        let mut rng = Rng::for_thread(3, 0, 0);
        let mut replies = 0;
        for _ in 0..100_000 {
            let mut wire = if rng.below(4) > 0 { b"HTTP/1.1 200 OK\r\n".to_vec() } else { Vec::new() };
            for _ in 0..rng.below(7) {
                wire.extend_from_slice(words[rng.below(words.len() as u64) as usize]);
            }
            let cut = rng.below(wire.len() as u64 + 1) as usize;
            let whole = read(&[&wire], true);
            let parts = read(&[&wire[..cut], &wire[cut..]], true);
            assert_eq!(whole, parts, "{} cut at {cut}", wire.escape_ascii());
            replies += whole.map_or(0, |(replies, _)| replies.len());
        }
        assert!(replies > 10_000, "{replies}: the words are badly chosen");
    }
}
