//! POP3 responses from bytes that arrive in any portions.

use bakeoff_engine::ErrorClass;
use memchr::{memchr, memmem};

/// Longest status line, bytes. RFC 2449 allows 512; some servers are more talkative.
const STATUS_BYTES_MAX: usize = 4096;

/// Undoes the dot-stuffing of a multi-line response and finds its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Line {
    #[default]
    Start,
    Dot,
    DotReturn,
    Middle,
}

/// Reads one response after the other.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    /// The status line so far, or the last complete one, without its end.
    status: Vec<u8>,
    in_body: bool,
    line: Line,
}

impl Responses {
    /// Forgets a response that was begun.
    pub fn clear(&mut self) {
        self.status.clear();
        self.in_body = false;
        self.line = Line::Start;
    }

    /// The last status line, for instance `+OK 2 320`.
    pub fn status(&self) -> &[u8] {
        &self.status
    }

    /// Takes the next response off `bytes`: `Some(positive)` when it is complete. The lines of a positive
    /// multi-line response go to `sink` in portions, unstuffed and with their ends.
    pub fn next(
        &mut self,
        bytes: &mut &[u8],
        multiline: bool,
        sink: &mut impl FnMut(&[u8]),
    ) -> Result<Option<bool>, ErrorClass> {
        if !self.in_body {
            let Some(positive) = self.take_status(bytes)? else { return Ok(None) };
            if !positive || !multiline {
                return Ok(Some(positive));
            }
            self.in_body = true;
            self.line = Line::Start;
        }
        let complete = self.take_body(bytes, sink);
        self.in_body = !complete;
        Ok(complete.then_some(true))
    }

    fn take_status(&mut self, bytes: &mut &[u8]) -> Result<Option<bool>, ErrorClass> {
        if self.status.last() == Some(&b'\n') {
            self.status.clear();
        }
        let end = memchr(b'\n', bytes);
        let part = &bytes[..end.map_or(bytes.len(), |end| end + 1)];
        *bytes = &bytes[part.len()..];
        if self.status.len() + part.len() > STATUS_BYTES_MAX {
            return Err(ErrorClass::Protocol);
        }
        self.status.extend_from_slice(part);
        let early = self.status.first().is_some_and(|byte| !matches!(byte, b'+' | b'-'));
        if early {
            return Err(ErrorClass::Protocol);
        }
        if end.is_none() {
            return Ok(None);
        }
        let positive = self.status.starts_with(b"+OK");
        if !positive && !self.status.starts_with(b"-ERR") {
            return Err(ErrorClass::Protocol);
        }
        Ok(Some(positive))
    }

    /// `true` when the final dot was found; what follows stays in `bytes`.
    fn take_body(&mut self, bytes: &mut &[u8], sink: &mut impl FnMut(&[u8])) -> bool {
        while let Some(&first) = bytes.first() {
            match (self.line, first) {
                (Line::Start, b'.') => {
                    self.line = Line::Dot;
                    *bytes = &bytes[1..];
                }
                (Line::Start, _) => self.line = Line::Middle,
                (Line::Dot, b'\r') => {
                    self.line = Line::DotReturn;
                    *bytes = &bytes[1..];
                }
                (Line::Dot | Line::DotReturn, b'\n') => {
                    *bytes = &bytes[1..];
                    return true;
                }
                (Line::Dot, _) => self.line = Line::Middle,
                (Line::DotReturn, _) => {
                    sink(b"\r");
                    self.line = Line::Middle;
                }
                (Line::Middle, _) => {
                    // Up to the next line that begins with a dot in one go.
                    let end = memmem::find(bytes, b"\n.").map_or(bytes.len(), |at| at + 1);
                    let (run, rest) = bytes.split_at(end);
                    sink(run);
                    self.line = if run.last() == Some(&b'\n') { Line::Start } else { Line::Middle };
                    *bytes = rest;
                }
            }
        }
        false
    }
}

/// The two numbers of `+OK 2 320`.
pub(crate) fn stat(status: &[u8]) -> Option<(u32, u64)> {
    let text = std::str::from_utf8(status).ok()?;
    let mut words = text.split_ascii_whitespace().skip(1);
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The lines `number word` of a listing (UIDL, LIST).
pub(crate) fn listing(text: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let blank = memchr(b' ', line)?;
        let number = std::str::from_utf8(&line[..blank]).ok()?.parse().ok()?;
        let word = line[blank + 1..].split(|byte| *byte == b' ').next()?;
        (!word.is_empty()).then_some((number, word))
    })
}

/// What a server said it can do (CAPA).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub uidl: bool,
    pub user: bool,
    pub sasl_plain: bool,
    pub stls: bool,
    pub top: bool,
}

impl Capabilities {
    /// A server that does not know CAPA: what RFC 1939 asks of every server, and UIDL, which nearly all have.
    pub const UNSPOKEN: Self = Self { uidl: true, user: true, sasl_plain: false, stls: false, top: false };

    pub fn from_capa(text: &[u8]) -> Self {
        let mut offered = Self { uidl: false, user: false, sasl_plain: false, stls: false, top: false };
        for line in String::from_utf8_lossy(text).lines() {
            let mut words = line.split_ascii_whitespace();
            match words.next().unwrap_or_default().to_ascii_uppercase().as_str() {
                "UIDL" => offered.uidl = true,
                "USER" => offered.user = true,
                "STLS" => offered.stls = true,
                "TOP" => offered.top = true,
                "SASL" => offered.sasl_plain = words.any(|word| word.eq_ignore_ascii_case("PLAIN")),
                _ => {}
            }
        }
        offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(portions: &[&[u8]], multiline: bool) -> (Option<bool>, Vec<u8>) {
        let mut responses = Responses::default();
        let mut body = Vec::new();
        let mut outcome = None;
        for portion in portions {
            let mut rest = *portion;
            outcome = responses.next(&mut rest, multiline, &mut |run| body.extend_from_slice(run)).unwrap();
            assert!(rest.is_empty(), "{rest:?}");
        }
        (outcome, body)
    }

    #[test]
    fn dots_are_unstuffed_however_the_bytes_are_cut() {
        let wire = b"+OK 99\r\nSubject: x\r\n\r\n..one\r\n...\r\n..\r\n. \r\ntrailing  \r\n\r\n.\r\n";
        let body = b"Subject: x\r\n\r\n.one\r\n..\r\n.\r\n \r\ntrailing  \r\n\r\n";
        assert_eq!(read(&[wire], true), (Some(true), body.to_vec()));
        for first in 1..wire.len() {
            for second in [first, (first + 1).min(wire.len()), (first + 3).min(wire.len())] {
                let portions = [&wire[..first], &wire[first..second], &wire[second..]];
                let portions: Vec<_> = portions.into_iter().filter(|portion| !portion.is_empty()).collect();
                assert_eq!(read(&portions, true), (Some(true), body.to_vec()), "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_refusal_has_no_lines() {
        assert_eq!(read(&[b"-ERR no such message\r\n"], true), (Some(false), vec![]));
        assert_eq!(read(&[b"+OK\r\n"], false), (Some(true), vec![]));
    }

    #[test]
    fn anything_else_breaks_the_protocol() {
        for wire in [&b"220 smtp\r\n"[..], b"+MAYBE\r\n", b"-NO\r\n"] {
            let outcome = Responses::default().next(&mut &*wire, false, &mut |_| ());
            assert_eq!(outcome, Err(ErrorClass::Protocol), "{wire:?}");
        }
        let long = b"+OK ".iter().copied().chain(std::iter::repeat_n(b'x', 5_000)).collect::<Vec<_>>();
        assert_eq!(Responses::default().next(&mut &long[..], false, &mut |_| ()), Err(ErrorClass::Protocol));
    }

    #[test]
    fn listings_and_numbers_are_read() {
        assert_eq!(stat(b"+OK 2 320\r\n"), Some((2, 320)));
        assert_eq!(stat(b"+OK two\r\n"), None);
        let rows: Vec<_> = listing(b"1 abc\r\n2 def more\r\nx y\r\n3\r\n").collect();
        assert_eq!(rows, [(1, &b"abc"[..]), (2, &b"def"[..])]);
        let offered = Capabilities::from_capa(b"UIDL\r\nSASL LOGIN PLAIN\r\nTOP\r\n");
        assert_eq!(offered, Capabilities { uidl: true, user: false, sasl_plain: true, stls: false, top: true });
    }
}
