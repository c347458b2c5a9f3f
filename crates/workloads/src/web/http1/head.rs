//! The head of an HTTP/1 reply.

use std::ops::Range;

/// Longest head that is read, bytes.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Fields of a head.
pub(crate) const HEADERS_MAX: usize = 128;
/// Statuses that there are (RFC 9110, 15).
const STATUSES: Range<u16> = 100..600;

/// How the body's end is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// By the chunked transfer coding.
    Chunked,
    /// By the end of the connection.
    ToEnd,
}

/// What matters of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the head itself.
    pub bytes: usize,
    /// Status code.
    pub status: u16,
    /// How the body's end is found.
    pub framing: Framing,
    /// The server keeps the connection open.
    pub keeps_open: bool,
}

/// The reply is not HTTP/1, or contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// Parses a head; `None` when it is not complete yet.
#[inline]
pub(crate) fn parse(bytes: &[u8], head_only: bool) -> Result<Option<Head>, Malformed> {
    parse_with(bytes, head_only, STATUSES, |_, _| ())
}

/// Parses a head with one of these statuses; `other` is told each field that says nothing of length and connection.
///
/// # Errors
/// It is no head, too long, or contradicts itself.
#[inline]
pub fn parse_with(
    bytes: &[u8],
    head_only: bool,
    statuses: Range<u16>,
    mut other: impl FnMut(&str, &[u8]),
) -> Result<Option<Head>, Malformed> {
    let mut headers = [const { std::mem::MaybeUninit::uninit() }; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut response, bytes, &mut headers)
        .map_err(|_| Malformed)?;
    let httparse::Status::Complete(length) = parsed else {
        return if bytes.len() > HEAD_BYTES_MAX { Err(Malformed) } else { Ok(None) };
    };
    if length > HEAD_BYTES_MAX {
        return Err(Malformed);
    }
    let status = response.code.ok_or(Malformed)?;
    if !statuses.contains(&status) {
        return Err(Malformed);
    }
    let mut fields = Fields::default();
    for header in response.headers.iter() {
        fields.take(header.name, header.value, &mut other)?;
    }
    let keeps_open = match response.version {
        Some(1) => !fields.close,
        _ => fields.keep_alive && !fields.close,
    };
    let no_body = head_only || matches!(status, 100..200 | 204 | 304);
    let framing = if no_body {
        Framing::Length(0)
    } else if fields.chunked {
        Framing::Chunked
    } else {
        fields.length.map_or(Framing::ToEnd, Framing::Length)
    };
    let keeps_open = keeps_open && framing != Framing::ToEnd;
    Ok(Some(Head { bytes: length, status, framing, keeps_open }))
}

#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    #[inline]
    fn take(&mut self, name: &str, value: &[u8], other: impl FnOnce(&str, &[u8])) -> Result<(), Malformed> {
        // The length of the name decides nearly always, without a look at its letters.
        match name.len() {
            14 if name.eq_ignore_ascii_case("content-length") => {
                let length = parse_decimal(value).ok_or(Malformed)?;
                if self.length.is_some_and(|seen| seen != length) {
                    return Err(Malformed);
                }
                self.length = Some(length);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                // Anything but a final `chunked` could only be read to the end; a coding in front of it is opaque to us.
                self.chunked = last_token(value).eq_ignore_ascii_case(b"chunked");
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                for token in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                    self.close |= token.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            _ => other(name, value),
        }
        Ok(())
    }
}

fn last_token(value: &[u8]) -> &[u8] {
    value.rsplit(|&byte| byte == b',').next().unwrap_or(value).trim_ascii()
}

/// A number without sign; blanks around it do not matter.
pub(crate) fn parse_decimal(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, &byte| {
        byte.is_ascii_digit().then_some(())?;
        sum.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Option<Head>, Malformed> {
        parse(text.as_bytes(), false)
    }

    fn head_of(text: &str) -> Head {
        head(text).unwrap().unwrap()
    }

    #[test]
    fn framing_follows_rfc_9112() {
        assert_eq!(head_of("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n").framing, Framing::Length(12));
        assert_eq!(head_of("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").framing, Framing::Chunked);
        let both = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n\r\n";
        assert_eq!(head_of(both).framing, Framing::Chunked);
        assert_eq!(head_of("HTTP/1.0 200 OK\r\n\r\n").framing, Framing::ToEnd);
        assert_eq!(head_of("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n").framing, Framing::Length(0));
        let to_head = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true).unwrap().unwrap();
        assert_eq!(to_head.framing, Framing::Length(0));
    }

    #[test]
    fn persistence_depends_on_version_and_header() {
        for (text, keeps) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: upgrade, Keep-Alive\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\n\r\n", false),
        ] {
            assert_eq!(head_of(text).keeps_open, keeps, "{text}");
        }
    }

    #[test]
    fn contradictions_and_nonsense_are_malformed() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "HTTP/1.1 999 No\r\n\r\n",
            "SSH-2.0-OpenSSH\r\n",
            "\0\0\0\0",
        ] {
            assert_eq!(head(text), Err(Malformed), "{text}");
        }
        assert_eq!(head("HTTP/1.1 200 OK\r\nContent-"), Ok(None));
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(HEAD_BYTES_MAX));
        assert_eq!(head(&long), Err(Malformed));
        assert_eq!(head(&(long + "\r\n\r\n")), Err(Malformed), "however it is cut");
    }
}
