//! Messages that can be recognised again: each carries its id three times and the hash of its body.

use crate::mail::spec::Bodies;
use bakeoff_engine::Rng;
use memchr::memmem;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Which message of a trial: client, thread and number in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(pub u64);

const THREAD_BITS: u32 = 12;
const NUMBER_BITS: u32 = 32;

impl Id {
    pub fn new(client: u32, thread: u32, number: u32) -> Self {
        Self(u64::from(client) << (THREAD_BITS + NUMBER_BITS) | u64::from(thread) << NUMBER_BITS | u64::from(number))
    }

    /// Client, thread and number.
    pub fn parts(self) -> (u32, u32, u32) {
        let thread = self.0 >> NUMBER_BITS & ((1 << THREAD_BITS) - 1);
        ((self.0 >> (THREAD_BITS + NUMBER_BITS)) as u32, thread as u32, self.0 as u32)
    }

    /// An id of such parts, when they can be some.
    pub fn checked(client: u64, thread: u64, number: u64) -> Option<Self> {
        let fits = client < 1 << 20 && thread < 1 << THREAD_BITS && number < 1 << NUMBER_BITS;
        fits.then(|| Self::new(client as u32, thread as u32, number as u32))
    }

    /// `client.thread.number`
    pub fn text(self) -> String {
        let (client, thread, number) = self.parts();
        format!("{client}.{thread}.{number}")
    }
}

/// The first half of a SHA-256: enough to tell any two bodies apart.
pub(crate) type Hash = u128;

pub(crate) fn hash_of(digest: &[u8]) -> Hash {
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    Hash::from_be_bytes(half)
}

/// Length of a filler line with its end, bytes.
const LINE_BYTES: usize = 78;
/// Longest line that RFC 5322 allows, with its end.
const LONG_LINE_BYTES: usize = 1000;
const POOL_LINES: usize = 1024;
const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789";

/// Text that bodies are cut from, the same for every client of a trial.
#[derive(Debug)]
pub(crate) struct Pool {
    text: Vec<u8>,
    /// Where lines begin, so that a body begins with a whole one.
    starts: Vec<usize>,
    stuff: bool,
}

impl Pool {
    pub fn new(bodies: Bodies, seed: u64) -> Self {
        let mut rng = Rng::for_thread(seed ^ 0xB0D1, 0, 0);
        let mut text = Vec::with_capacity(POOL_LINES * LINE_BYTES);
        let mut starts = Vec::with_capacity(POOL_LINES);
        for number in 0..POOL_LINES {
            starts.push(text.len());
            let hard = bodies == Bodies::Hard;
            let (prefix, length): (&[u8], usize) = match number % 16 {
                1 if hard => (b".", LINE_BYTES),
                3 if hard => (b"..", LINE_BYTES),
                5 if hard => (b".", 3),
                7 if hard => (b"From ", LINE_BYTES),
                9 if hard => (b"long ", LONG_LINE_BYTES),
                11 if hard => (b"blanks at the end", 17 + 2),
                13 if hard => (b"", 2),
                _ => (b"", LINE_BYTES),
            };
            text.extend_from_slice(prefix);
            let end = starts[number] + length - 2;
            while text.len() < end {
                text.push(LETTERS[(rng.next_u64() & 63) as usize]);
            }
            if !hard {
                plain_ends(&mut text[starts[number]..]);
            }
            if hard && number % 16 == 11 {
                text.extend_from_slice(b"   \t ");
            }
            text.extend_from_slice(b"\r\n");
        }
        Self { text, starts, stuff: bodies == Bodies::Hard }
    }

    /// Appends about `bytes` bytes of lines; at least one line end.
    fn fill(&self, out: &mut Vec<u8>, bytes: usize, rng: &mut Rng) {
        let mut at = self.starts[rng.below(self.starts.len() as u64) as usize];
        let mut left = bytes.saturating_sub(2);
        while left > 0 {
            let part = left.min(self.text.len() - at);
            out.extend_from_slice(&self.text[at..at + part]);
            left -= part;
            at = 0;
        }
        // A cut through a line end would leave a bare carriage return.
        if out.last() == Some(&b'\r') {
            out.pop();
        }
        // Blanks at the end of a body are for hard ones: GreenMail, for one, drops them.
        if !self.stuff && out.last() == Some(&b' ') {
            out.pop();
            out.push(b'x');
        }
        if out.last() != Some(&b'\n') {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Lines of plain bodies neither begin nor end with a blank.
fn plain_ends(line: &mut [u8]) {
    if let [first, .., last] = line {
        for end in [first, last] {
            if *end == b' ' {
                *end = b'x';
            }
        }
    }
}

/// The fixed parts of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope<'a> {
    pub run: &'a str,
    pub id: Id,
    pub from: &'a str,
    pub to: &'a str,
    /// Whole message as the server stores it, bytes.
    pub bytes: usize,
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends a message with its final dot to `out`; `head` is scratch. Returns the hash of its body.
pub(crate) fn render(out: &mut Vec<u8>, head: &mut String, pool: &Pool, rng: &mut Rng, envelope: Envelope<'_>) -> Hash {
    let Envelope { run, id, from, to, bytes } = envelope;
    let id = id.text();
    head.clear();
    // Writing to a string cannot fail.
    let _ = write!(
        head,
        "From: <{from}>\r\nTo: <{to}>\r\nSubject: bakeoff {id}\r\nDate: Thu, 01 Jan 2026 00:00:00 +0000\r\n\
         Message-ID: <{run}.{id}@bakeoff.invalid>\r\nX-Bake-Id: {run}.{id}\r\nX-Bake-SHA256: "
    );
    let begin = out.len();
    out.extend_from_slice(head.as_bytes());
    let digest_at = out.len();
    out.resize(digest_at + 64, b'0');
    out.extend_from_slice(b"\r\n\r\n");
    let body_at = out.len();
    out.extend_from_slice(run.as_bytes());
    out.push(b'.');
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b"\r\n");
    let left = bytes.saturating_sub(out.len() - begin);
    pool.fill(out, left, rng);
    let digest = Sha256::digest(&out[body_at..]);
    for (at, byte) in digest.iter().enumerate() {
        out[digest_at + 2 * at] = HEX[usize::from(byte >> 4)];
        out[digest_at + 2 * at + 1] = HEX[usize::from(byte & 15)];
    }
    if pool.stuff {
        stuff(out, body_at);
    }
    out.extend_from_slice(b".\r\n");
    hash_of(&digest)
}

/// Doubles the dots at the beginnings of lines from `from` on.
fn stuff(out: &mut Vec<u8>, from: usize) {
    let body = out.split_off(from);
    let mut at = 0;
    for end in memmem::find_iter(&body, b"\n.") {
        out.extend_from_slice(&body[at..=end]);
        out.push(b'.');
        at = end + 1;
    }
    out.extend_from_slice(&body[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(bodies: Bodies, bytes: usize) -> (Vec<u8>, Hash) {
        let pool = Pool::new(bodies, 3);
        let mut out = Vec::new();
        let mut rng = Rng::for_thread(9, 0, 0);
        let envelope =
            Envelope { run: "00112233445566aa", id: Id::new(3, 1, 17), from: "a@x.test", to: "b@x.test", bytes };
        let hash = render(&mut out, &mut String::new(), &pool, &mut rng, envelope);
        (out, hash)
    }

    #[test]
    fn a_message_has_the_size_asked_for() {
        for bytes in [1_024, 4_096, 102_400, 2_675 * 1024] {
            let (wire, _) = sample(Bodies::Plain, bytes);
            let stored = wire.len() - 3;
            assert!(stored.abs_diff(bytes) <= 2, "{stored} for {bytes}");
        }
    }

    #[test]
    fn the_hash_is_that_of_the_body_before_stuffing() {
        let (wire, hash) = sample(Bodies::Hard, 60_000);
        let text = String::from_utf8(wire).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let body = body.strip_suffix(".\r\n").unwrap().replace("\r\n..", "\r\n.");
        assert_eq!(hash_of(&Sha256::digest(body.as_bytes())), hash);
        assert!(head.contains("X-Bake-Id: 00112233445566aa.3.1.17\r\n"), "{head}");
        assert!(body.starts_with("00112233445566aa.3.1.17\r\n"));
        assert!(body.contains("\r\n.") && body.contains("\r\n..") && body.contains("\r\nFrom "));
        assert!(body.contains("\t \r\n") && body.lines().any(|line| line.len() == 998));
        assert!(body.lines().all(|line| line.len() <= 998) && !body.replace("\r\n", "").contains('\r'));
    }

    #[test]
    fn no_size_gives_a_broken_line() {
        for bytes in 300..1_500 {
            let (wire, _) = sample(Bodies::Hard, bytes);
            let (plain, _) = sample(Bodies::Plain, bytes);
            assert!(!String::from_utf8(plain).unwrap().contains(" \r\n"), "{bytes}");
            let text = String::from_utf8(wire).unwrap();
            assert!(text.ends_with("\r\n.\r\n") && !text.replace("\r\n", "").contains(['\r', '\n']), "{bytes}");
        }
    }
}
