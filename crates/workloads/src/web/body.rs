//! The chunked transfer coding, decoded without copying.

use super::head::Malformed;

/// Longest chunk-size line and trailer that are read, bytes.
const LINE_BYTES_MAX: u32 = 16 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size { digits: u8 },
    Extension,
    Data,
    DataEnd,
    TrailerStart,
    Trailer,
    Done,
}

/// A decoder for one body.
#[derive(Debug, Clone)]
pub(crate) struct Chunked {
    state: State,
    left: u64,
    line_bytes: u32,
}

impl Chunked {
    pub fn new() -> Self {
        Self { state: State::Size { digits: 0 }, left: 0, line_bytes: 0 }
    }

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
        self.state = match (self.state, byte) {
            (State::Size { digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if digits >= 15 {
                    return Err(Malformed);
                }
                let digit = (byte as char).to_digit(16).ok_or(Malformed)?;
                self.left = self.left << 4 | u64::from(digit);
                State::Size { digits: digits + 1 }
            }
            (State::Size { digits: 1.. } | State::Extension, b'\n') => {
                self.line_bytes = 0;
                if self.left == 0 { State::TrailerStart } else { State::Data }
            }
            (State::Size { digits: 1.. } | State::Extension, _) => State::Extension,
            (State::DataEnd, b'\n') => {
                self.line_bytes = 0;
                State::Size { digits: 0 }
            }
            // A carriage return in front of a line feed changes nothing.
            (same @ (State::DataEnd | State::TrailerStart), b'\r') => same,
            (State::TrailerStart, b'\n') => State::Done,
            (State::Trailer, b'\n') => State::TrailerStart,
            (State::TrailerStart | State::Trailer, _) => State::Trailer,
            _ => return Err(Malformed),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(parts: &[&[u8]]) -> Result<(Vec<u8>, bool, usize), Malformed> {
        let mut decoder = Chunked::new();
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
    fn bytes_after_the_end_are_not_used() {
        assert_eq!(decode(&[b"0\r\n\r\nHTTP"]).unwrap(), (Vec::new(), true, 4));
    }

    #[test]
    fn nonsense_is_malformed() {
        for wire in [&b"x\r\n"[..], b"\r\n", b"fffffffffffffffff\r\n", b"1\r\nab"] {
            assert_eq!(decode(&[wire]), Err(Malformed), "{wire:?}");
        }
        assert_eq!(decode(&[b"1", b";".repeat(20_000).as_slice()]), Err(Malformed));
    }
}
