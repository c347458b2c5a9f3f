//! Looks at a message as it arrives: whose it is and whether its body is whole.

use super::message::{Hash, Id, hash_of};
use memchr::memchr;
use sha2::{Digest, Sha256};

/// Of a message so many bytes are kept, to be shown when it turns out to be damaged.
const KEPT_BYTES: usize = 4096;
const LINE_BYTES_MAX: usize = 1000;
/// Length of the mark of a run.
pub(crate) const RUN_DIGITS: usize = 16;

/// What one message showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inspected {
    /// `None` when it is not from this trial.
    pub id: Option<Id>,
    /// Of the body as it arrived.
    pub hash: Hash,
    /// As the header says.
    pub announced: Option<Hash>,
    /// A delivery report about this message of ours.
    pub bounce_of: Option<Id>,
    /// A message of another trial, or a report about one.
    pub stale: bool,
}

impl Inspected {
    /// Whether it is Bakeoff's own, of whichever trial. Anything else is not ours to delete.
    pub fn is_ours(&self) -> bool {
        self.id.is_some() || self.stale || self.bounce_of.is_some()
    }

    /// Whether it is of this trial and its body is not what its header says.
    pub fn is_damaged(&self) -> bool {
        self.id.is_some() && self.announced != Some(self.hash)
    }
}

/// Whose message an id tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    This(Id),
    Other,
}

/// Reads a message in portions.
#[derive(Debug)]
pub(crate) struct Inspector {
    in_body: bool,
    line: Vec<u8>,
    header_mark: Option<Mark>,
    body_mark: Option<Mark>,
    announced: Option<Hash>,
    first_line: bool,
    hasher: Sha256,
    kept: Vec<u8>,
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            in_body: false,
            line: Vec::new(),
            header_mark: None,
            body_mark: None,
            announced: None,
            first_line: false,
            hasher: Sha256::new(),
            kept: Vec::with_capacity(KEPT_BYTES),
        }
    }
}

impl Inspector {
    /// Makes ready for the next message.
    pub fn clear(&mut self) {
        self.in_body = false;
        self.line.clear();
        self.header_mark = None;
        self.body_mark = None;
        self.announced = None;
        self.first_line = false;
        self.hasher = Sha256::new();
        self.kept.clear();
    }

    /// The beginning of the message as it arrived.
    pub fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Takes the next bytes, dots already unstuffed.
    pub fn feed(&mut self, run: &str, mut bytes: &[u8]) {
        let room = KEPT_BYTES - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        while !self.in_body {
            let Some(end) = memchr(b'\n', bytes) else {
                return self.hold(bytes);
            };
            self.hold(&bytes[..=end]);
            bytes = &bytes[end + 1..];
            self.header_line(run);
            self.line.clear();
        }
        self.hasher.update(bytes);
        if self.first_line && !bytes.is_empty() {
            let end = memchr(b'\n', bytes);
            self.hold(&bytes[..end.map_or(bytes.len(), |end| end + 1)]);
            if end.is_some() {
                self.body_mark = parse_mark(&self.line, run);
                self.first_line = false;
                self.line.clear();
            }
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn header_line(&mut self, run: &str) {
        let line = self.line.trim_ascii();
        if line.is_empty() {
            self.in_body = true;
            self.first_line = true;
        } else if let Some(value) = value_of(line, b"x-bake-id:") {
            self.header_mark = parse_mark(value, run);
        } else if let Some(value) = value_of(line, b"x-bake-sha256:") {
            self.announced = parse_hash(value);
        }
    }

    /// The message is complete.
    pub fn finish(&mut self, run: &str) -> Inspected {
        let hash = hash_of(&std::mem::take(&mut self.hasher).finalize());
        let mark = self.header_mark.or(self.body_mark);
        let quoted = if mark.is_none() { self.bounce(run) } else { None };
        let this = |mark| if let Some(Mark::This(id)) = mark { Some(id) } else { None };
        let stale = mark == Some(Mark::Other) || quoted == Some(Mark::Other);
        Inspected { id: this(mark), hash, announced: self.announced, bounce_of: this(quoted), stale }
    }

    /// A message that is not ours but quotes the header of one that is.
    fn bounce(&self, run: &str) -> Option<Mark> {
        let mut rest = &self.kept[..];
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            if let Some(mark) = value_of(line.trim_ascii(), b"x-bake-id:").and_then(|value| parse_mark(value, run)) {
                return Some(mark);
            }
            rest = &after[1..];
        }
        None
    }
}

fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let head = line.get(..name.len())?;
    head.eq_ignore_ascii_case(name).then(|| line[name.len()..].trim_ascii())
}

/// `run.client.thread.number`, of this run or of another one.
fn parse_mark(text: &[u8], run: &str) -> Option<Mark> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (of, rest) = text.split_once('.')?;
    if of.len() != RUN_DIGITS || !of.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut parts = rest.split('.');
    let mut next = |most: u32| parts.next()?.parse::<u32>().ok().filter(|number| *number <= most);
    let id = Id::new(next((1 << 20) - 1)?, next((1 << 12) - 1)?, next(u32::MAX)?);
    let mark = if of == run { Mark::This(id) } else { Mark::Other };
    parts.next().is_none().then_some(mark)
}

fn parse_hash(text: &[u8]) -> Option<Hash> {
    let text = std::str::from_utf8(text.get(..32)?).ok()?;
    Hash::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::ledger::message::{Envelope, Pool, render};
    use crate::mail::spec::Bodies;
    use bakeoff_engine::Rng;

    const RUN: &str = "00112233445566aa";

    fn message(bytes: usize) -> (Vec<u8>, Hash) {
        let mut out = b"Return-Path: <a@x.test>\r\nReceived: from y\r\n\tby z; date\r\n".to_vec();
        let envelope = Envelope { run: RUN, id: Id::new(70_000, 2, 9), from: "a@x.test", to: "b@x.test", bytes };
        let pool = Pool::new(Bodies::Plain, 1);
        let hash = render(&mut out, &mut String::new(), &pool, &mut Rng::for_thread(1, 0, 0), envelope);
        out.truncate(out.len() - 3);
        (out, hash)
    }

    fn inspect(text: &[u8], portion: usize) -> Inspected {
        let mut inspector = Inspector::default();
        text.chunks(portion).for_each(|part| inspector.feed(RUN, part));
        inspector.finish(RUN)
    }

    #[test]
    fn a_message_is_recognised_however_it_is_cut() {
        let (text, hash) = message(3_000);
        for portion in [1, 2, 3, 7, 64, 1_460, 100_000] {
            let seen = inspect(&text, portion);
            assert_eq!(seen.id, Some(Id::new(70_000, 2, 9)), "{portion}");
            assert_eq!((seen.hash, seen.announced), (hash, Some(hash)), "{portion}");
        }
    }

    #[test]
    fn a_changed_body_has_another_hash_and_a_lost_header_is_made_good_by_the_body() {
        let (mut text, hash) = message(3_000);
        let last = text.len() - 10;
        text[last] ^= 1;
        assert_ne!(inspect(&text, 500).hash, hash);
        let headless = String::from_utf8(message(3_000).0).unwrap().replace("X-Bake-Id", "X-Other");
        assert_eq!(inspect(headless.as_bytes(), 500).id, Some(Id::new(70_000, 2, 9)));
    }

    #[test]
    fn other_mail_is_foreign_and_a_report_is_a_bounce() {
        assert_eq!(inspect(b"Subject: hi\r\n\r\nhello\r\n", 5).id, None);
        assert!(!inspect(b"Subject: hi\r\n\r\nhello\r\n", 5).is_ours());
        let other_run = String::from_utf8(message(800).0).unwrap().replace(RUN, "ffffffffffffffff");
        let seen = inspect(other_run.as_bytes(), 100);
        assert_eq!((seen.id, seen.stale, seen.is_ours()), (None, true, true));
        let report = format!("From: MAILER-DAEMON\r\n\r\nSorry\r\n\r\nX-Bake-Id: {RUN}.1.2.3\r\n");
        let seen = inspect(report.as_bytes(), 11);
        assert_eq!((seen.id, seen.bounce_of), (None, Some(Id::new(1, 2, 3))));
        let of_another = inspect(report.replace(RUN, "ffffffffffffffff").as_bytes(), 11);
        assert_eq!((of_another.bounce_of, of_another.is_ours()), (None, true));
    }
}
