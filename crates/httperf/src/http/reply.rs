//! Replies with what httperf tells of them, read by the parser of the web workload: bounded memory, whatever a server sends.

use bakeoff_workloads::web::{Body, HEAD_BYTES_MAX, Malformed, parse_head};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Any three digits are a status, and are counted.
const STATUSES: Range<u16> = 0..1000;
/// So much of a body is kept where it is wanted, bytes.
pub(crate) const KEPT_BYTES_MAX: usize = 1024 * 1024;
/// Longer cookies are not sent back, bytes.
const COOKIE_BYTES_MAX: usize = 245;
/// Longer addresses are not followed, bytes.
const LOCATION_BYTES_MAX: usize = 4 * 1024;
/// More interim replies than this before one reply are no HTTP.
const INTERIM_MAX: u64 = 100;

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
pub(crate) struct ReplyParts {
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

/// Reads the replies of one connection, one after the other.
#[derive(Debug, Default)]
pub(crate) struct ReplyReader {
    /// None until the head is whole.
    rest: Option<Body>,
    /// A head that came in parts.
    part: Vec<u8>,
    reply: Reply,
    begun: bool,
    hasher: Option<Box<Sha256>>,
}

impl ReplyReader {
    /// At the beginning of a connection again; keeps its memory.
    pub fn reset(&mut self) {
        let mut part = std::mem::take(&mut self.part);
        part.clear();
        part.shrink_to(4096);
        *self = Self { part, ..Self::default() };
    }

    /// So many bytes of the body can be dropped unread, when none of it is wanted.
    pub fn droppable_bytes(&self, wanted: ReplyParts) -> u64 {
        if self.hasher.is_some() || self.reply.keeps_body(wanted) {
            0
        } else {
            self.rest.as_ref().map_or(0, Body::left)
        }
    }

    /// So many bytes of the body were dropped unread; the reply, when that was its end.
    pub fn dropped(&mut self, bytes: u64) -> Option<Reply> {
        let Some(Body::Length(left)) = &mut self.rest else { return None };
        let bytes = bytes.min(*left);
        *left -= bytes;
        self.reply.content_bytes += bytes;
        (*left == 0).then(|| self.finish())
    }

    /// Takes bytes up to the end of one reply; returns how many, and the reply when it is whole.
    pub fn take(
        &mut self,
        bytes: &[u8],
        wanted: ReplyParts,
        to_head: bool,
    ) -> Result<(usize, Option<Reply>), Malformed> {
        let mut at = 0;
        while at < bytes.len() {
            self.begun = true;
            at += match &mut self.rest {
                None => self.take_head(&bytes[at..], wanted, to_head)?,
                Some(rest) => {
                    let (reply, hasher) = (&mut self.reply, &mut self.hasher);
                    rest.take(&bytes[at..], |data| reply.content(data, hasher.as_deref_mut(), wanted))?
                }
            };
            if self.rest.as_ref().is_some_and(Body::is_done) {
                return Ok((at, Some(self.finish())));
            }
        }
        Ok((at, None))
    }

    /// The server has ended the stream: a reply whose end that is, or what is missing.
    pub fn end(&mut self) -> Result<Reply, End> {
        match self.rest {
            Some(Body::ToEnd) => Ok(self.finish()),
            None if !self.begun => Err(End::Before),
            _ => Err(End::Within),
        }
    }

    fn finish(&mut self) -> Reply {
        self.begun = false;
        self.reply.footer_bytes = self.rest.take().map_or(0, |rest| rest.trailer_bytes());
        self.reply.hash = self.hasher.take().map(|hasher| hasher.finalize().into());
        std::mem::take(&mut self.reply)
    }

    /// Takes bytes of a head. One that comes as a whole is read where it lies.
    fn take_head(&mut self, bytes: &[u8], wanted: ReplyParts, to_head: bool) -> Result<usize, Malformed> {
        let mut part = std::mem::take(&mut self.part);
        let before = part.len();
        if before > 0 {
            part.extend_from_slice(bytes);
        }
        let parsed = self.parse(if before > 0 { &part } else { bytes }, wanted, to_head)?;
        // The part before was no whole head, so it ends in these bytes.
        let used = parsed.map_or(bytes.len(), |length| length - before);
        match parsed {
            Some(_) => part.clear(),
            None if before == 0 => part.extend_from_slice(bytes),
            None => {}
        }
        self.part = part;
        Ok(used)
    }

    /// Reads a head that is whole and makes ready for what follows; `None` when it is not.
    fn parse(&mut self, bytes: &[u8], wanted: ReplyParts, to_head: bool) -> Result<Option<usize>, Malformed> {
        // An empty line in front of a reply is none of it.
        if bytes.first() != Some(&b'H') {
            return Err(Malformed);
        }
        let mut extras = Extras::default();
        let head = parse_head(bytes, to_head, STATUSES, |name, value| extras.take(name, value, wanted))?;
        let Some(head) = head else { return Ok(None) };
        let reply = &mut self.reply;
        reply.header_bytes += head.bytes as u64;
        if wanted.head {
            let room = HEAD_BYTES_MAX - reply.head.len().min(HEAD_BYTES_MAX);
            reply.head.extend_from_slice(&bytes[..head.bytes.min(room)]);
        }
        if (100..200).contains(&head.status) && head.status != 101 {
            reply.interim += 1;
            return if reply.interim > INTERIM_MAX { Err(Malformed) } else { Ok(Some(head.bytes)) };
        }
        reply.status = head.status;
        reply.keeps_open = head.keeps_open && head.status != 101;
        (reply.cookie, reply.location, reply.is_page) = (extras.cookie, extras.location, extras.is_page);
        self.hasher = wanted.hash.then(Box::default);
        self.rest = Some(Body::new(head.framing));
        Ok(Some(head.bytes))
    }
}

impl Reply {
    fn keeps_body(&self, wanted: ReplyParts) -> bool {
        wanted.body || wanted.page && self.is_page
    }

    fn content(&mut self, data: &[u8], hasher: Option<&mut Sha256>, wanted: ReplyParts) {
        self.content_bytes += data.len() as u64;
        if let Some(hasher) = hasher {
            hasher.update(data);
        }
        if self.keeps_body(wanted) {
            let room = KEPT_BYTES_MAX - self.body.len().min(KEPT_BYTES_MAX);
            self.body.extend_from_slice(&data[..data.len().min(room)]);
        }
    }
}

/// What sessions and pages need of a head.
#[derive(Default)]
struct Extras {
    cookie: Option<Box<[u8]>>,
    location: Option<Box<[u8]>>,
    is_page: bool,
}

impl Extras {
    #[inline]
    fn take(&mut self, name: &str, value: &[u8], wanted: ReplyParts) {
        if wanted.cookie && name.eq_ignore_ascii_case("set-cookie") {
            let pair = before_semicolon(value);
            if !pair.is_empty() && pair.len() <= COOKIE_BYTES_MAX {
                self.cookie = Some(pair.into());
            }
        } else if wanted.page && name.eq_ignore_ascii_case("location") {
            self.location = Some(value.trim_ascii()).filter(|text| text.len() <= LOCATION_BYTES_MAX).map(Into::into);
        } else if wanted.page && name.eq_ignore_ascii_case("content-type") {
            let kind = before_semicolon(value);
            self.is_page =
                kind.eq_ignore_ascii_case(b"text/html") || kind.eq_ignore_ascii_case(b"application/xhtml+xml");
        }
    }
}

/// A value without what follows a semicolon.
fn before_semicolon(value: &[u8]) -> &[u8] {
    value.split(|&byte| byte == b';').next().unwrap_or(value).trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_engine::Rng;

    const ALL: ReplyParts = ReplyParts { cookie: true, page: true, head: true, body: true, hash: true };

    /// All replies in a stream that is cut at these places, and how it ended.
    fn read(parts: &[&[u8]], ends: bool) -> Result<(Vec<Reply>, Option<End>), Malformed> {
        let mut reader = ReplyReader::default();
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

    /// What else is none, the tests of the web workload's parser say.
    #[test]
    fn empty_lines_and_endless_interim_replies_are_no_reply() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(200);
        for text in ["SSH-2.0\r\n", "\r\nHTTP/1.1 204 No\r\n\r\n", "HTTQ", &interim] {
            assert_eq!(read(&[text.as_bytes()], false), Err(Malformed), "{text:.40}");
        }
    }

    #[test]
    fn a_head_may_come_in_parts_before_as_much_as_is_read_at_once() {
        let body = format!("1.1 200 OK\r\nContent-Length: 200000\r\n\r\n{}", "x".repeat(HEAD_BYTES_MAX));
        assert_eq!(read(&[b"HTTP/", body.as_bytes()], true).unwrap(), (Vec::new(), Some(End::Within)));
    }

    #[test]
    fn a_body_is_dropped_as_it_is_read() {
        let mut reader = ReplyReader::default();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789";
        assert_eq!(reader.take(head, ReplyParts::default(), false), Ok((head.len(), None)));
        assert_eq!(reader.droppable_bytes(ReplyParts::default()), 90);
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
