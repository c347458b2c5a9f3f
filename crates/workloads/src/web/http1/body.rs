//! The body of an HTTP/1 reply, handed on without copying.

use super::head::{Framing, Malformed};

/// Longest chunk-size line and trailer that are read, bytes.
pub(crate) const LINE_BYTES_MAX: u32 = 16 * 1024;

/// What is still to come of a body.
#[derive(Debug, Clone)]
pub enum Body {
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunked(Chunked),
    /// All that comes.
    ToEnd,
}

impl Body {
    /// After a head that says this.
    #[inline]
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::Length(left) => Self::Length(left),
            Framing::Chunked => Self::Chunked(Chunked::default()),
            Framing::ToEnd => Self::ToEnd,
        }
    }

    /// Takes bytes, hands the body's part of them to `sink`; returns how many bytes it used.
    /// Fewer than given only when the body is complete.
    ///
    /// # Errors
    /// The chunks are malformed.
    #[inline]
    pub fn take(&mut self, bytes: &[u8], mut sink: impl FnMut(&[u8])) -> Result<usize, Malformed> {
        match self {
            Self::Length(left) => {
                let part = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= part as u64;
                sink(&bytes[..part]);
                Ok(part)
            }
            Self::Chunked(chunked) => chunked.take(bytes, sink),
            Self::ToEnd => {
                sink(bytes);
                Ok(bytes.len())
            }
        }
    }

    /// So many bytes are known to follow, and are nothing but the body.
    #[inline]
    pub const fn left(&self) -> u64 {
        match self {
            Self::Length(left) => *left,
            Self::Chunked(_) | Self::ToEnd => 0,
        }
    }

    /// Whether the body is complete; one that the connection ends never knows.
    #[inline]
    pub fn is_done(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunked(chunked) => chunked.is_done(),
            Self::ToEnd => false,
        }
    }

    /// Bytes of the trailer's lines so far.
    #[inline]
    pub const fn trailer_bytes(&self) -> u64 {
        match self {
            Self::Chunked(chunked) => chunked.trailer_bytes,
            Self::Length(_) | Self::ToEnd => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size {
        digits: u8,
    },
    /// Blanks between the size and its extension.
    Blank,
    Extension,
    SizeEnd,
    Data,
    DataEnd,
    DataLineFeed,
    TrailerStart,
    LastLineFeed,
    TrailerName,
    TrailerValue,
    TrailerLineFeed,
    Done,
}

/// Where a body is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformation {
    Size,
    LongLine,
    DataEnd,
    Trailer,
}

/// A decoder for one body in chunks.
#[derive(Debug, Clone)]
pub struct Chunked {
    state: State,
    trailer_bytes: u64,
    left: u64,
    line_bytes: u32,
}

impl Default for Chunked {
    /// At the first chunk's size.
    fn default() -> Self {
        Self { state: State::Size { digits: 0 }, trailer_bytes: 0, left: 0, line_bytes: 0 }
    }
}

impl Chunked {
    /// After an error: what is wrong.
    pub(crate) fn stuck(&self) -> Malformation {
        match self.state {
            State::TrailerStart
            | State::LastLineFeed
            | State::TrailerName
            | State::TrailerValue
            | State::TrailerLineFeed => Malformation::Trailer,
            _ if self.line_bytes > LINE_BYTES_MAX => Malformation::LongLine,
            State::DataEnd | State::DataLineFeed => Malformation::DataEnd,
            _ => Malformation::Size,
        }
    }

    /// Whether the body is complete.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes bytes, hands the body's part of them to `sink`; returns how many bytes it used.
    /// Fewer than given only when the body is complete.
    pub fn take(&mut self, bytes: &[u8], mut sink: impl FnMut(&[u8])) -> Result<usize, Malformed> {
        let mut at = 0;
        while at < bytes.len() && self.state != State::Done {
            if self.state == State::Data {
                let part = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len() - at);
                sink(&bytes[at..at + part]);
                at += part;
                self.left -= part as u64;
                if self.left == 0 {
                    self.state = State::DataEnd;
                }
                continue;
            }
            self.step(bytes[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn step(&mut self, byte: u8) -> Result<(), Malformed> {
        self.line_bytes += 1;
        if self.line_bytes > LINE_BYTES_MAX {
            return Err(Malformed);
        }
        let in_trailer = matches!(self.state, State::TrailerName | State::TrailerValue | State::TrailerLineFeed);
        let begins_line = self.state == State::TrailerStart && byte != b'\r';
        self.trailer_bytes += u64::from(in_trailer || begins_line);
        // RFC 9112, 7.1, to the letter: who is lenient here takes `0x5` for an empty body.
        self.state = match (self.state, byte) {
            (State::Size { digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if digits >= 15 {
                    return Err(Malformed);
                }
                let digit = (byte as char).to_digit(16).ok_or(Malformed)?;
                self.left = self.left << 4 | u64::from(digit);
                State::Size { digits: digits + 1 }
            }
            (State::Size { digits: 1.. } | State::Blank | State::Extension, b'\r') => State::SizeEnd,
            (State::Size { digits: 1.. } | State::Blank, b';') => State::Extension,
            (State::Size { digits: 1.. } | State::Blank, b' ' | b'\t') => State::Blank,
            (State::Extension, _) if is_text(byte) => State::Extension,
            (State::SizeEnd, b'\n') => {
                self.line_bytes = 0;
                if self.left == 0 { State::TrailerStart } else { State::Data }
            }
            (State::DataEnd, b'\r') => State::DataLineFeed,
            (State::DataLineFeed, b'\n') => {
                self.line_bytes = 0;
                State::Size { digits: 0 }
            }
            (State::TrailerStart, b'\r') => State::LastLineFeed,
            (State::LastLineFeed, b'\n') => State::Done,
            (State::TrailerName, b':') => State::TrailerValue,
            (State::TrailerStart | State::TrailerName, _) if is_token(byte) => State::TrailerName,
            (State::TrailerValue, b'\r') => State::TrailerLineFeed,
            (State::TrailerValue, _) if is_text(byte) => State::TrailerValue,
            (State::TrailerLineFeed, b'\n') => State::TrailerStart,
            _ => return Err(Malformed),
        };
        Ok(())
    }
}

/// What a field value or a chunk extension may hold.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// What the name of a field may hold.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(parts: &[&[u8]]) -> Result<(Vec<u8>, bool, usize), Malformed> {
        let mut decoder = Chunked::default();
        let mut body = Vec::new();
        let mut unused = 0;
        for part in parts {
            let used = decoder.take(part, |data| body.extend_from_slice(data))?;
            unused += part.len() - used;
        }
        Ok((body, decoder.is_done(), unused))
    }

    #[test]
    fn a_body_is_the_same_however_it_is_cut() {
        let wire = b"4;name=x\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: y\r\n\r\n";
        for cut in 0..wire.len() {
            let (body, done, unused) = decode(&[&wire[..cut], &wire[cut..]]).unwrap();
            assert_eq!((body.as_slice(), done, unused), (&b"Wikipedia"[..], true, 0), "cut at {cut}");
        }
    }

    #[test]
    fn the_bytes_of_a_trailer_are_those_of_its_lines() {
        for (wire, bytes) in [(&b"1\r\na\r\n0\r\n\r\n"[..], 0), (b"0\r\nA: b\r\nC: d\r\n\r\n", 12)] {
            let mut decoder = Body::new(Framing::Chunked);
            decoder.take(wire, |_| ()).unwrap();
            assert!(decoder.is_done());
            assert_eq!(decoder.trailer_bytes(), bytes);
        }
    }

    #[test]
    fn bytes_after_the_end_are_not_used() {
        assert_eq!(decode(&[b"0\r\n\r\nHTTP"]).unwrap(), (Vec::new(), true, 4));
    }

    #[test]
    fn nonsense_is_malformed() {
        let wires: [&[u8]; 17] = [
            b"x\r\n",
            b"\r\n",
            b"fffffffffffffffff\r\n",
            b"1\r\nab",
            b"0x5\r\n",
            b"5 garbage\0",
            b"5 garbage\r\n",
            b"5\0\r\n",
            b"+5\r\n",
            b"5;a\0b\r\n",
            b"5\n",
            b"5\r\r\n",
            b"1\r\na\n",
            b"0\r\nno colon\r\n",
            b"0\r\n: no name\r\n",
            b"0\r\nA: \x01\r\n",
            b"0\r\n\n",
        ];
        for wire in wires {
            assert_eq!(decode(&[wire]), Err(Malformed), "{}", wire.escape_ascii());
        }
        assert_eq!(decode(&[b"1", b";".repeat(20_000).as_slice()]), Err(Malformed));
    }

    /// Whatever comes, in whatever pieces: the same bytes give the same body, and what is taken is what RFC 9112
    /// allows, as a second reader that splits lines sees it.
    #[test]
    fn random_bodies_are_taken_as_a_reader_of_lines_takes_them() {
        let words: [&[u8]; 16] = [
            b"0",
            b"1",
            b"5",
            b"a",
            b"0x5",
            b"\r\n",
            b"\r\n",
            b"\n",
            b"\r",
            b";x=1",
            b" ",
            b"\0",
            b"hello",
            b"A: b",
            b"0\r\n\r\n",
            b"5\r\nhello\r\n",
        ];
        let mut rng = bakeoff_engine::Rng::for_thread(7, 0, 0);
        let mut whole = 0;
        for _ in 0..200_000 {
            let mut wire = Vec::new();
            for _ in 0..=rng.below(7) {
                wire.extend_from_slice(words[rng.below(words.len() as u64) as usize]);
            }
            let cut = rng.below(wire.len() as u64 + 1) as usize;
            let decoded = decode(&[&wire]);
            assert_eq!(decoded, decode(&[&wire[..cut], &wire[cut..]]), "{}", wire.escape_ascii());
            let complete = decoded.ok().filter(|(_, done, _)| *done).map(|(body, _, unused)| (body, unused));
            assert_eq!(complete, by_lines(&wire), "{}", wire.escape_ascii());
            whole += u32::from(complete.is_some());
        }
        assert!(whole > 1_000, "{whole} bodies were whole: the words are badly chosen");
    }

    /// A body and the bytes after it; `None` when it is malformed or not complete.
    fn by_lines(mut wire: &[u8]) -> Option<(Vec<u8>, usize)> {
        let mut body = Vec::new();
        loop {
            let line = std::str::from_utf8(next_line(&mut wire)?).ok()?;
            let (size, extension) = line.split_once(';').unwrap_or((line, ""));
            let digits = size.trim_end_matches([' ', '\t']);
            let right = digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && (1..=15).contains(&digits.len());
            if !right || !extension.bytes().all(is_text) {
                return None;
            }
            let length = usize::from_str_radix(digits, 16).ok()?;
            if length == 0 {
                break;
            }
            body.extend_from_slice(wire.get(..length)?);
            wire = wire[length..].strip_prefix(b"\r\n")?;
        }
        loop {
            let line = next_line(&mut wire)?;
            if line.is_empty() {
                return Some((body, wire.len()));
            }
            let colon = line.iter().position(|&byte| byte == b':')?;
            let right =
                colon > 0 && line[..colon].iter().all(|&b| is_token(b)) && line[colon..].iter().all(|&b| is_text(b));
            right.then_some(())?;
        }
    }

    /// The next line without its end; a carriage return or line feed on its own is no end.
    fn next_line<'a>(wire: &mut &'a [u8]) -> Option<&'a [u8]> {
        let end = wire.iter().position(|byte| b"\r\n".contains(byte))?;
        let (line, rest) = wire.split_at(end);
        *wire = rest.strip_prefix(b"\r\n")?;
        Some(line)
    }
}
