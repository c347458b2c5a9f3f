//! SMTP replies from bytes that arrive in any portions.

use crate::mail::ledger::Sent;
use bakeoff_engine::ErrorClass;
use memchr::memchr;
use smtp_proto::Error;
use smtp_proto::response::parser::ResponseReceiver;

/// Longest reply, bytes. The parser's own limit does not hold for many short lines.
const REPLY_BYTES_MAX: usize = 64 * 1024;

/// One reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub code: u16,
    /// Its lines, separated by `\n`; empty for a plain success, whose text nobody reads.
    pub text: String,
}

impl Reply {
    /// The outcome that it means when it refuses.
    pub fn refused(&self) -> Sent {
        if self.code < 500 { Sent::Temporary } else { Sent::Permanent }
    }

    /// 4xx is an honest answer: not now. 5xx to what a server was set up to take is a wrong one.
    pub fn class(&self) -> ErrorClass {
        if (400..500).contains(&self.code) { ErrorClass::PutOff } else { ErrorClass::WrongStatus }
    }

    /// As the server gave it, when its text was kept.
    pub fn quoted(&self) -> String {
        format!("{} {}", self.code, self.text.lines().next().unwrap_or_default())
    }
}

/// Reads replies one after the other.
#[derive(Default)]
pub(crate) struct Replies {
    receiver: ResponseReceiver,
    partial: bool,
    /// Bytes of the reply so far.
    taken: usize,
}

impl std::fmt::Debug for Replies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replies").field("partial", &self.partial).finish_non_exhaustive()
    }
}

impl Replies {
    /// Forgets a reply that was begun.
    pub fn clear(&mut self) {
        if self.partial {
            self.receiver.reset();
            self.partial = false;
        }
        self.taken = 0;
    }

    /// Takes the next reply off `bytes`; `None` when more bytes are needed (all are taken then).
    pub fn next(&mut self, bytes: &mut &[u8], wants_text: bool) -> Result<Option<Reply>, ErrorClass> {
        if !self.partial
            && !wants_text
            && let Some(reply) = plain_success(bytes)
        {
            return Ok(Some(reply));
        }
        let mut iterator = bytes.iter();
        let parsed = self.receiver.parse(&mut iterator);
        self.taken += bytes.len() - iterator.as_slice().len();
        *bytes = iterator.as_slice();
        match parsed {
            Ok(response) => {
                self.receiver.reset();
                self.partial = false;
                self.taken = 0;
                if !(200..600).contains(&response.code) {
                    return Err(ErrorClass::Protocol);
                }
                Ok(Some(Reply { code: response.code, text: response.message }))
            }
            Err(Error::NeedsMoreData { .. }) if self.taken <= REPLY_BYTES_MAX => {
                self.partial = true;
                Ok(None)
            }
            Err(_) => {
                self.receiver.reset();
                self.partial = false;
                self.taken = 0;
                Err(ErrorClass::Protocol)
            }
        }
    }
}

/// The common case, a whole `2xx` or `3xx` line, without a copy of its text.
#[inline]
fn plain_success(bytes: &mut &[u8]) -> Option<Reply> {
    let [hundreds @ (b'2' | b'3'), tens, ones, b' ', ..] = **bytes else { return None };
    if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
        return None;
    }
    let end = memchr(b'\n', bytes)?;
    *bytes = &bytes[end + 1..];
    let digit = |byte: u8| u16::from(byte - b'0');
    Some(Reply { code: digit(hundreds) * 100 + digit(tens) * 10 + digit(ones), text: String::new() })
}

/// What a server said it can do, from the text of its reply to EHLO.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub pipelining: bool,
    pub starttls: bool,
    pub size: bool,
    pub auth_plain: bool,
}

impl Capabilities {
    pub fn from_ehlo(text: &str) -> Self {
        let mut offered = Self::default();
        for line in text.lines().skip(1) {
            let mut words = line.split_ascii_whitespace();
            let keyword = words.next().unwrap_or_default();
            if keyword.eq_ignore_ascii_case("PIPELINING") {
                offered.pipelining = true;
            } else if keyword.eq_ignore_ascii_case("STARTTLS") {
                offered.starttls = true;
            } else if keyword.eq_ignore_ascii_case("SIZE") {
                offered.size = true;
            } else if keyword.eq_ignore_ascii_case("AUTH") {
                offered.auth_plain = words.any(|word| word.eq_ignore_ascii_case("PLAIN"));
            }
        }
        offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(portions: &[&[u8]], wants_text: bool) -> Vec<Reply> {
        let mut replies = Replies::default();
        let mut read = Vec::new();
        for portion in portions {
            let mut rest = *portion;
            while let Some(reply) = replies.next(&mut rest, wants_text).unwrap() {
                read.push(reply);
            }
            assert!(rest.is_empty());
        }
        read
    }

    #[test]
    fn replies_are_the_same_however_they_are_cut() {
        let wire = b"220 ready\r\n250-one\r\n250 two\r\n354 go\r\n450 4.2.0 later\r\n";
        let whole = all(&[wire], true);
        assert_eq!(whole.iter().map(|reply| reply.code).collect::<Vec<_>>(), [220, 250, 354, 450]);
        for cut in 1..wire.len() {
            assert_eq!(all(&[&wire[..cut], &wire[cut..]], true), whole, "cut at {cut}");
            let codes: Vec<_> = all(&[&wire[..cut], &wire[cut..]], false).iter().map(|reply| reply.code).collect();
            assert_eq!(codes, [220, 250, 354, 450], "cut at {cut}");
        }
    }

    #[test]
    fn nonsense_and_endless_replies_are_protocol_errors() {
        for wire in [&b"hello\r\n"[..], b"+OK\r\n", b"2\xff0 x\r\n", b"999 x\r\n", b"150 x\r\n"] {
            let mut rest = wire;
            assert_eq!(Replies::default().next(&mut rest, false), Err(ErrorClass::Protocol), "{wire:?}");
        }
        let mut replies = Replies::default();
        let endless = b"250-x\r\n".repeat(20_000);
        assert_eq!(replies.next(&mut &endless[..], true), Err(ErrorClass::Protocol));
    }

    #[test]
    fn capabilities_are_read_in_any_case() {
        let mut rest =
            &b"250-mx.test hi\r\n250-pipelining\r\n250-SIZE 1000\r\n250-AUTH LOGIN PLAIN\r\n250 8BITMIME\r\n"[..];
        let reply = Replies::default().next(&mut rest, true).unwrap().unwrap();
        let offered = Capabilities::from_ehlo(&reply.text);
        assert_eq!(offered, Capabilities { pipelining: true, starttls: false, size: true, auth_plain: true });
    }
}
