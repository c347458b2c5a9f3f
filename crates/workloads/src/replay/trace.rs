//! The trace: what of an access log is replayed, in a compact form of its own.
//!
//! ```text
//! "bakeoff replay trace 1\n", numbers as LEB128, texts as length and bytes:
//!   exact (0 or 1) · period, µs
//!   how many methods, each a text                                  GET and HEAD first
//!   how many hosts, each a text
//!   how many bodies, each a content type and the bytes
//!   how many paths, each method, host + 1 or 0, body + 1 or 0, and a text
//!   how many lines, each µs since the one before, number of its path, status
//! ```

use crate::packed::{Reader, Writer};
use std::fmt::Write as _;

const MAGIC: &[u8] = b"bakeoff replay trace 1\n";

/// The most that a trace may have.
pub(crate) const LINES_MAX: usize = 20_000_000;
pub(crate) const PATHS_MAX: usize = 4_000_000;
pub(crate) const PATH_BYTES_MAX: usize = 1 << 30;
pub(crate) const HOSTS_MAX: usize = 10_000;

/// Longest name of a path in results, bytes.
const LABEL_BYTES_MAX: usize = 160;

/// GET and HEAD, by number.
pub(crate) const GET: u8 = 0;
pub(crate) const HEAD: u8 = 1;

/// A request that lines of the log ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoggedRequest {
    pub method: u8,
    pub host: Option<u16>,
    pub body: Option<u32>,
    /// Where its path ends; it begins where that of the one before ends.
    end: usize,
}

/// A body that requests carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    pub content_type: Vec<u8>,
    pub bytes: Vec<u8>,
}

/// What of a log is replayed, in the order of time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    /// The stamps have fractions of seconds; else lines of a second are to be spread over it.
    pub exact: bool,
    /// From the first moment to the one at which the log would begin again, µs.
    pub period_us: u64,
    pub methods: Vec<Vec<u8>>,
    pub hosts: Vec<Vec<u8>>,
    pub bodies: Vec<Body>,
    pub(super) asked: Vec<LoggedRequest>,
    pub(super) paths: Vec<u8>,
    /// Since the first line, µs, rising. Taken by whoever makes moments of it.
    pub at_us: Vec<u64>,
    /// Which request each line asks for, and how it was answered.
    pub lines: Vec<(u32, u16)>,
}

impl Trace {
    /// Adds a request; its number.
    pub fn ask(&mut self, method: u8, host: Option<u16>, body: Option<u32>, path: &[u8]) -> u32 {
        self.paths.extend_from_slice(path);
        self.asked.push(LoggedRequest { method, host, body, end: self.paths.len() });
        (self.asked.len() - 1) as u32
    }

    pub fn requests(&self) -> usize {
        self.asked.len()
    }

    pub fn path_bytes(&self) -> usize {
        self.paths.len()
    }

    pub fn asked(&self, request: usize) -> LoggedRequest {
        self.asked[request]
    }

    /// Path with its query.
    pub fn path(&self, request: usize) -> &[u8] {
        let start = request.checked_sub(1).map_or(0, |before| self.asked[before].end);
        &self.paths[start..self.asked[request].end]
    }

    /// Lines a second at the pace of the log.
    pub fn per_s(&self) -> f64 {
        self.lines.len() as f64 / (self.period_us as f64 / 1e6)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.number(u64::from(self.exact));
        out.number(self.period_us);
        out.texts(&self.methods);
        out.texts(&self.hosts);
        out.number(self.bodies.len() as u64);
        for body in &self.bodies {
            out.text(&body.content_type);
            out.text(&body.bytes);
        }
        out.number(self.asked.len() as u64);
        for (number, asked) in self.asked.iter().enumerate() {
            out.number(u64::from(asked.method));
            out.number(asked.host.map_or(0, |host| u64::from(host) + 1));
            out.number(asked.body.map_or(0, |body| u64::from(body) + 1));
            out.text(self.path(number));
        }
        out.number(self.lines.len() as u64);
        let mut before_us = 0;
        for (at_us, (request, status)) in self.at_us.iter().zip(&self.lines) {
            out.number(at_us - before_us);
            out.number(u64::from(*request));
            out.number(u64::from(*status));
            before_us = *at_us;
        }
        out.0
    }

    /// Reads what [`Trace::encode`] wrote; `None` for anything else.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes.strip_prefix(MAGIC)?);
        let mut trace = Self { exact: from.number()? == 1, period_us: from.number()?, ..Self::default() };
        trace.methods = from.texts(usize::from(u8::MAX))?;
        trace.hosts = from.texts(HOSTS_MAX)?;
        for _ in 0..from.count(usize::MAX)? {
            trace.bodies.push(Body { content_type: from.text()?.to_vec(), bytes: from.text()?.to_vec() });
        }
        for _ in 0..from.count(PATHS_MAX)? {
            let method = from.index(trace.methods.len())? as u8;
            let host = from.index(trace.hosts.len() + 1)?.checked_sub(1).map(|host| host as u16);
            let body = from.index(trace.bodies.len() + 1)?.checked_sub(1).map(|body| body as u32);
            let path = from.text()?;
            let fits = path.first() == Some(&b'/') && path.iter().all(|&byte| byte > b' ' && byte != 0x7f);
            fits.then(|| trace.ask(method, host, body, path))?;
        }
        let lines = from.count(LINES_MAX)?;
        trace.at_us.reserve_exact(lines);
        trace.lines.reserve_exact(lines);
        let mut at_us = 0_u64;
        for _ in 0..lines {
            at_us = at_us.checked_add(from.number()?)?;
            let request = from.index(trace.asked.len())? as u32;
            let status = u16::try_from(from.number()?).ok().filter(|status| (100..600).contains(status))?;
            trace.at_us.push(at_us);
            trace.lines.push((request, status));
        }
        (from.0.is_empty() && lines > 0 && at_us < trace.period_us).then_some(trace)
    }

    /// What groups requests in results: method and path without the query, in plain letters, as far as
    /// [`LABEL_BYTES_MAX`]; before the path the virtual host, where there is one.
    pub fn label(&self, request: usize) -> String {
        let path = self.path(request);
        let path = &path[..memchr::memchr(b'?', path).unwrap_or(path.len())];
        let mut label = String::from_utf8_lossy(&self.methods[usize::from(self.asked[request].method)]).into_owned();
        label.push(' ');
        let host = self.asked[request].host.map_or(&[][..], |host| &self.hosts[usize::from(host)]);
        for &byte in host.iter().chain(path) {
            if label.len() >= LABEL_BYTES_MAX {
                label.push('…');
                break;
            }
            if byte.is_ascii_graphic() {
                label.push(byte as char);
            } else {
                let _ = write!(label, "%{byte:02X}");
            }
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        let mut trace = Trace {
            period_us: 2_000_000,
            methods: vec![b"GET".to_vec(), b"HEAD".to_vec(), b"POST".to_vec()],
            hosts: vec![b"www.example.org".to_vec()],
            bodies: vec![Body { content_type: b"text/plain".to_vec(), bytes: b"hello".to_vec() }],
            ..Trace::default()
        };
        trace.ask(GET, None, None, b"/a?q=1");
        trace.ask(2, Some(0), Some(0), b"/\xc3\xa9");
        trace.at_us = vec![0, 0, 1_000_000];
        trace.lines = vec![(0, 200), (1, 404), (0, 304)];
        trace
    }

    #[test]
    fn a_trace_is_read_as_it_was_written() {
        let bytes = trace().encode();
        let read = Trace::decode(&bytes).unwrap();
        assert_eq!(read, trace());
        assert_eq!((read.label(0), read.label(1)), ("GET /a".to_owned(), "POST www.example.org/%C3%A9".to_owned()));
        assert!((read.per_s() - 1.5).abs() < 1e-12);
    }

    #[test]
    fn what_was_cut_or_changed_is_refused_or_a_trace_and_never_a_panic() {
        let bytes = trace().encode();
        for cut in 0..bytes.len() {
            assert_eq!(Trace::decode(&bytes[..cut]), None, "cut at {cut}");
        }
        let mut rng = bakeoff_engine::Rng::for_thread(5, 0, 0);
        for _ in 0..100_000 {
            let mut spoilt = bytes.clone();
            for _ in 0..=rng.below(3) {
                let at = rng.below(spoilt.len() as u64) as usize;
                spoilt[at] = rng.next_u64() as u8;
            }
            if let Some(read) = Trace::decode(&spoilt) {
                assert!(read.lines.iter().all(|(request, _)| (*request as usize) < read.requests()));
                assert!(read.at_us.is_sorted());
                (0..read.requests()).for_each(|request| drop(read.label(request)));
            }
        }
    }
}
