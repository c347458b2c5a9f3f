//! One line of an access log in the common or the combined format of nginx and Apache.

use super::stamp::{self, Stamp};
use std::borrow::Cow;
use std::ops::Range;

/// Longest method, bytes.
const METHOD_BYTES_MAX: usize = 32;

/// Longest line that is read, bytes.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024;

/// Why a line is no request that could be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Reason {
    TooLong,
    NoStamp,
    NoRequest,
    NotHttp,
    NoStatus,
    BadPath,
    Proxy,
    Upgrade,
}

impl Reason {
    pub const fn words(self) -> &'static str {
        match self {
            Self::TooLong => "longer than 64 KiB",
            Self::NoStamp => "no time stamp such as [10/Oct/2000:13:55:36 -0700]",
            Self::NoRequest => "no request in quotation marks after the time stamp",
            Self::NotHttp => "what is quoted is no HTTP request",
            Self::NoStatus => "no status after the request",
            Self::BadPath => "a path with blanks or control characters, or none that begins with /",
            Self::Proxy => "a request to a proxy",
            Self::Upgrade => "a connection that was given to another protocol (status 101)",
        }
    }
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub stamp: Stamp,
    request: Cow<'a, [u8]>,
    method: Range<usize>,
    path: Range<usize>,
    /// The request came over HTTP/2 or HTTP/3.
    pub newer_http: bool,
    pub status: u16,
    /// The virtual host before the address of the client, without its port.
    pub host: Option<&'a [u8]>,
    /// Referrer and browser follow.
    pub combined: bool,
    /// More follows.
    pub extra: bool,
}

impl Line<'_> {
    pub fn method(&self) -> &[u8] {
        &self.request[self.method.clone()]
    }

    /// Path with its query.
    pub fn path(&self) -> &[u8] {
        &self.request[self.path.clone()]
    }
}

/// Reads a line without its end.
pub(crate) fn parse(line: &[u8]) -> Result<Line<'_>, Reason> {
    let (before, stamp, rest) = split_stamp(line).ok_or(Reason::NoStamp)?;
    let quoted = rest.strip_prefix(b" \"").ok_or(Reason::NoRequest)?;
    let (request, rest) = split_quoted(quoted).ok_or(Reason::NoRequest)?;
    let (status, rest) = take_status(rest).ok_or(Reason::NoStatus)?;
    let (combined, extra) = what_follows(rest);
    let request = unescaped(request);
    let (method, path, newer_http) = split_request(&request)?;
    if status == 101 {
        return Err(Reason::Upgrade);
    }
    Ok(Line { stamp, request, method, path, newer_http, status, host: virtual_host(before), combined, extra })
}

/// What stands before the first bracket that holds a moment, that moment, and what follows the bracket.
fn split_stamp(line: &[u8]) -> Option<(&[u8], Stamp, &[u8])> {
    memchr::memchr_iter(b'[', line).find_map(|open| {
        let inside = &line[open + 1..];
        let close = memchr::memchr(b']', &inside[..inside.len().min(48)])?;
        Some((&line[..open], stamp::parse(&inside[..close])?, &inside[close + 1..]))
    })
}

/// What stands up to the closing quotation mark, as written, and what follows it.
fn split_quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &text[from..])?;
        if text[at] == b'"' {
            return Some((&text[..at], &text[at + 1..]));
        }
        from = (at + 2).min(text.len());
    }
}

/// nginx writes `\x22` for what is not plain, Apache also `\"` and `\\`.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', text).is_none() {
        return text.into();
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let (byte, used) = match (text[at], text.get(at + 1)) {
            (b'\\', Some(b'x')) => match text.get(at + 2..at + 4).and_then(hex) {
                Some(byte) => (byte, 4),
                None => (b'\\', 1),
            },
            (b'\\', Some(&next @ (b'"' | b'\\'))) => (next, 2),
            (b'\\', Some(b't')) => (b'\t', 2),
            (b'\\', Some(b'n')) => (b'\n', 2),
            (b'\\', Some(b'r')) => (b'\r', 2),
            (byte, _) => (byte, 1),
        };
        plain.push(byte);
        at += used;
    }
    plain.into()
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    Some((digit(digits[0])? * 16 + digit(digits[1])?) as u8)
}

/// Where method and path with its query stand, and whether the version is 2 or higher.
fn split_request(request: &[u8]) -> Result<(Range<usize>, Range<usize>, bool), Reason> {
    let space = memchr::memchr(b' ', request).ok_or(Reason::NotHttp)?;
    let last = memchr::memrchr(b' ', request).filter(|last| *last > space).ok_or(Reason::NotHttp)?;
    let (method, path, version) = (&request[..space], &request[space + 1..last], &request[last + 1..]);
    let newer_http = match version {
        b"HTTP/1.0" | b"HTTP/1.1" => false,
        b"HTTP/2.0" | b"HTTP/2" | b"HTTP/3.0" | b"HTTP/3" => true,
        _ => return Err(Reason::NotHttp),
    };
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    if !(1..=METHOD_BYTES_MAX).contains(&method.len()) || !method.iter().all(token) {
        return Err(Reason::NotHttp);
    }
    if method == b"CONNECT" || path.starts_with(b"http://") || path.starts_with(b"https://") {
        return Err(Reason::Proxy);
    }
    let plain = path.iter().all(|&byte| byte > b' ' && byte != 0x7f);
    if !plain || path.first() != Some(&b'/') && !(path == b"*" && method == b"OPTIONS") {
        return Err(Reason::BadPath);
    }
    Ok((0..space, space + 1..last, newer_http))
}

fn take_status(rest: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, rest) = rest.strip_prefix(b" ")?.split_at_checked(3)?;
    let status =
        digits.iter().try_fold(0, |sum: u16, byte| byte.is_ascii_digit().then(|| sum * 10 + u16::from(byte - b'0')))?;
    let ends = matches!(rest.first(), None | Some(b' ' | b'\t'));
    ((100..600).contains(&status) && ends).then_some((status, rest))
}

/// Whether referrer and browser follow the length, and whether anything else does.
fn what_follows(rest: &[u8]) -> (bool, bool) {
    let rest = rest.trim_ascii();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let mut rest = rest[digits..].trim_ascii_start();
    let mut quoted = 0;
    while quoted < 2
        && let Some((_, after)) = rest.strip_prefix(b"\"").and_then(split_quoted)
    {
        rest = after.trim_ascii_start();
        quoted += 1;
    }
    (quoted == 2, !rest.is_empty() || quoted == 1)
}

/// `www.example.org:443 192.0.2.1 - frank` begins with a virtual host: its third field after it is the `-` that the
/// second is in lines without one.
fn virtual_host(before: &[u8]) -> Option<&[u8]> {
    let mut fields = before.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let (first, second, third) = (fields.next()?, fields.next()?, fields.next()?);
    fields.next()?;
    if second == b"-" || third != b"-" {
        return None;
    }
    let digits = first.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let port = first.len() - digits;
    let host = if digits > 0 && port > 0 && first[port - 1] == b':' { &first[..port - 1] } else { first };
    let fits = host.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(byte));
    (fits && !host.is_empty() && host.len() <= 255).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMBINED: &str =
        r#"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.1" 200 2326 "-" "Mozilla/5.0 (x) \"y\"""#;

    fn line(text: &str) -> Result<Line<'_>, Reason> {
        parse(text.as_bytes())
    }

    #[test]
    fn the_formats_of_nginx_and_apache_are_read() {
        let read = line(COMBINED).unwrap();
        assert_eq!((read.method(), read.path(), read.status), (&b"GET"[..], &b"/a?b=1"[..], 200));
        assert_eq!((read.combined, read.extra, read.host, read.newer_http), (true, false, None, false));
        let common = line(r#"h - frank o'hara [10/Oct/2000:13:55:36 -0700] "HEAD / HTTP/1.0" 304 -"#).unwrap();
        assert_eq!((common.method(), common.combined, common.extra, common.host), (&b"HEAD"[..], false, false, None));
        let other = format!("www.example.org:8443 {COMBINED} rt=0.002 \"-\"");
        let other = line(&other).unwrap();
        assert_eq!((other.host, other.combined, other.extra), (Some(&b"www.example.org"[..]), true, true));
        let newer = line(r#"::1 - - [10/Oct/2000:13:55:36 +0000] "GET /b HTTP/2.0" 200 1"#).unwrap();
        assert!(newer.newer_http);
    }

    #[test]
    fn what_servers_escape_is_what_the_client_sent() {
        let read = line(r#"h - - [10/Oct/2000:13:55:36 -0700] "GET /\"q\"/\\/\xC3\xA9\x HTTP/1.1" 404 0"#).unwrap();
        assert_eq!(read.path(), b"/\"q\"/\\/\xc3\xa9\\x");
    }

    #[test]
    fn lines_that_are_no_requests_say_why() {
        let stamped = |rest: &str| format!("h - - [10/Oct/2000:13:55:36 -0700] {rest}");
        for (text, reason) in [
            (String::new(), Reason::NoStamp),
            ("{\"path\": \"/\"}".to_owned(), Reason::NoStamp),
            (COMBINED.replace("Oct", "Oktober"), Reason::NoStamp),
            (stamped("GET / HTTP/1.1 200 5"), Reason::NoRequest),
            (stamped("\"GET / HTTP/1.1 200 5"), Reason::NoRequest),
            (stamped(r#""-" 408 0"#), Reason::NotHttp),
            (stamped(r#""\x16\x03\x01" 400 150"#), Reason::NotHttp),
            (stamped(r#""GET /" 200 150"#), Reason::NotHttp),
            (stamped(r#""GET / HTTP/1.1" 999 150"#), Reason::NoStatus),
            (stamped(r#""GET / HTTP/1.1" 2000 150"#), Reason::NoStatus),
            (stamped(r#""GET /a b HTTP/1.1" 400 150"#), Reason::BadPath),
            (stamped(r#""GET a HTTP/1.1" 400 150"#), Reason::BadPath),
            (stamped(r#""GET * HTTP/1.1" 400 150"#), Reason::BadPath),
            (stamped(r#""GET /\x00 HTTP/1.1" 400 150"#), Reason::BadPath),
            (stamped(r#""GET http://a/ HTTP/1.1" 400 150"#), Reason::Proxy),
            (stamped(r#""CONNECT a:443 HTTP/1.1" 400 150"#), Reason::Proxy),
            (stamped(r#""GET /ws HTTP/1.1" 101 150"#), Reason::Upgrade),
        ] {
            assert_eq!(line(&text).unwrap_err(), reason, "{text}");
        }
    }

    /// Whatever comes is a line or a reason, and what is taken can be sent.
    #[test]
    fn random_lines_never_give_what_cannot_be_sent() {
        let words: [&[u8]; 20] = [
            b" HTTP/1.1\" 200 5",
            b" HTTP/1.1\" 404",
            b"192.0.2.1 - - ",
            b"[10/Oct/2000:13:55:36 -0700]",
            b" \"",
            b"GET ",
            b"/",
            b"/a",
            b" HTTP/1.1",
            b"\"",
            b" 200 ",
            b"5",
            b"\\",
            b"\\x0",
            b"\\x22",
            b"[",
            b"]",
            b"\r",
            b"\0",
            b"\xff",
        ];
        let mut rng = bakeoff_engine::Rng::for_thread(11, 0, 0);
        let mut taken = 0;
        for round in 0..300_000 {
            let mut text = Vec::new();
            if round % 2 == 0 {
                text.extend_from_slice(b"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /");
            }
            for _ in 0..rng.below(9) {
                text.extend_from_slice(words[rng.below(words.len() as u64) as usize]);
            }
            if let Ok(line) = parse(&text) {
                taken += 1;
                assert!(line.path().starts_with(b"/") && !line.path().contains(&b' '));
                assert!(line.path().iter().chain(line.method()).all(|byte| *byte > b' ' && *byte != 0x7f));
            }
        }
        assert!(taken > 100, "{taken} lines were taken: the words are badly chosen");
    }
}
