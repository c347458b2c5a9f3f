//! From the specification to prepared requests: everything the loop needs, computed once.

use super::http2::{self, Http2};
use super::http3::{self, Http3};
use super::spec::{ClassSpec, RequestSpec, WebSpec};
use crate::deck::Deck;
use bakeoff_engine::{MakeMux, SpecError, Streams};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A request ready to be written and the reply it must have.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub wire: Range<usize>,
    pub class: u16,
    pub head_only: bool,
    pub length: Option<u64>,
    pub sha256: Option<[u8; 32]>,
    fetched: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct Class {
    pub expect: Vec<u16>,
    pub requests: Range<usize>,
}

/// What all sessions of a trial share.
#[derive(Debug)]
pub(crate) struct WebPlan {
    pub wire: Vec<u8>,
    pub requests: Vec<Prepared>,
    pub classes: Vec<Class>,
    /// Class numbers in proportion to the weights.
    pub deck: Deck,
    pub keep_alive: bool,
    pub requests_per_connection: u32,
    pub check_every: u32,
    pub hashed: AtomicU64,
    /// Requests asked again because the server had closed their connection before they reached it.
    pub stale_connections: AtomicU64,
    /// Requests on streams that servers put back unread (`REFUSED_STREAM`, `GOAWAY`).
    pub put_back: AtomicU64,
    /// Replies, or what else came, that no request had asked for.
    pub unsolicited: AtomicU64,
    pub close_with_reset: bool,
    /// How requests share connections; `None` in HTTP/1, where they do not.
    pub streams: Option<Streams>,
    /// Its connections are those of QUIC.
    pub is_quic: bool,
}

impl WebPlan {
    /// Whether this is the first fetch of the request in this trial.
    #[inline]
    pub fn is_first_fetch(&self, request: usize) -> bool {
        let fetched = &self.requests[request].fetched;
        !fetched.load(Ordering::Relaxed) && !fetched.swap(true, Ordering::Relaxed)
    }
}

/// Upper limits of a specification.
const CLASSES_MAX: usize = 1_000;
const REQUESTS_MAX: usize = 1_000_000;

impl WebPlan {
    /// Checks the specification and prepares its requests; `streams` of them share a connection, where they can.
    pub fn new(spec: &WebSpec, streams: u32) -> Result<Self, SpecError> {
        let version = check(spec, streams)?;
        let mut plan = Self {
            wire: Vec::new(),
            requests: Vec::new(),
            classes: Vec::new(),
            deck: Deck::new(spec.classes.iter().map(|class| class.weight))?,
            keep_alive: spec.keep_alive,
            requests_per_connection: spec.requests_per_connection.unwrap_or(u32::MAX),
            check_every: spec.check_every,
            hashed: AtomicU64::new(0),
            stale_connections: AtomicU64::new(0),
            put_back: AtomicU64::new(0),
            unsolicited: AtomicU64::new(0),
            close_with_reset: spec.close_with_reset,
            streams: None,
            is_quic: false,
        };
        let form = plan.form(spec, version, streams as usize)?;
        for (number, class) in spec.classes.iter().enumerate() {
            plan.add_class(number as u16, class, &form)?;
        }
        let mux: Option<Arc<dyn MakeMux>> = match form {
            Form::Text { .. } => None,
            Form::Http2(http2) => Some(Arc::new(http2)),
            Form::Http3(http3) => Some(Arc::new(http3)),
        };
        plan.streams = mux.map(|mux| Streams { per_connection: streams as usize, mux });
        plan.is_quic = version == Version::Http3;
        Ok(plan)
    }

    /// How requests are written.
    fn form(&self, spec: &WebSpec, version: Version, streams: usize) -> Result<Form, SpecError> {
        if version.has_streams() {
            fields_tail([].into_iter(), spec, &spec.host)?; // for its checks
        }
        let (host, headers, requests) = (&spec.host, &spec.headers, self.requests_per_connection);
        let text = match version {
            Version::Http2 => return Ok(Form::Http2(Http2::new(&spec.scheme, host, headers, streams, requests))),
            Version::Http3 => return Ok(Form::Http3(Http3::new(host, headers, streams, requests))),
            Version::Http11 => "1.1",
            Version::Http10 => "1.0",
        };
        Ok(Form::Text { version: text, tail: header_tail(spec, &spec.host)? })
    }

    fn add_class(&mut self, number: u16, class: &ClassSpec, form: &Form) -> Result<(), SpecError> {
        if class.requests.is_empty() {
            return Err(format!("class `{}` has no requests", class.name).into());
        }
        let first = self.requests.len();
        for request in &class.requests {
            let prepared = self.prepare(number, request, form)?;
            self.requests.push(prepared);
        }
        if self.requests.len() > REQUESTS_MAX {
            return Err(format!("more than {REQUESTS_MAX} requests").into());
        }
        self.classes.push(Class { expect: class.expect.clone(), requests: first..self.requests.len() });
        Ok(())
    }

    fn prepare(&mut self, class: u16, request: &RequestSpec, form: &Form) -> Result<Prepared, SpecError> {
        let head_only = match request.method.as_str() {
            "GET" => false,
            "HEAD" => true,
            other => return Err(format!("method `{other}` is not supported: use GET or HEAD").into()),
        };
        if !request.path.starts_with('/') || request.path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(
                format!("path `{}` must start with / and be percent-encoded", request.path.escape_debug()).into()
            );
        }
        let start = self.wire.len();
        match form {
            Form::Text { version, tail } => {
                let text = format!("{} {} HTTP/{version}\r\n{tail}", request.method, request.path);
                self.wire.extend_from_slice(text.as_bytes());
            }
            Form::Http2(http2) => {
                http2::put_own(&request.method, &request.path, &mut self.wire);
                http2.check(&self.wire[start..])?;
            }
            Form::Http3(http3) => {
                http3::put_own(&request.method, &request.path, &mut self.wire);
                http3.check(&self.wire[start..])?;
            }
        }
        let sha256 = request.sha256.as_deref().map(parse_sha256).transpose()?;
        Ok(Prepared {
            wire: start..self.wire.len(),
            class,
            head_only,
            length: request.length,
            sha256,
            fetched: AtomicBool::new(false),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Http10,
    Http11,
    Http2,
    Http3,
}

impl Version {
    const fn has_streams(self) -> bool {
        matches!(self, Self::Http2 | Self::Http3)
    }
}

/// How requests are written.
enum Form {
    Text { version: &'static str, tail: String },
    Http2(Http2),
    Http3(Http3),
}

/// Checks what does not depend on single requests; which HTTP it is.
fn check(spec: &WebSpec, streams: u32) -> Result<Version, SpecError> {
    let version = match spec.http.as_str() {
        "1.0" => Version::Http10,
        "1.1" => Version::Http11,
        "2" => Version::Http2,
        "3" => Version::Http3,
        other => return Err(format!("http must be 1.0, 1.1, 2 or 3, not `{other}`").into()),
    };
    if version.has_streams() && !spec.keep_alive {
        return Err(format!("connections of HTTP/{} are kept: keep_alive cannot be off", spec.http).into());
    }
    if version == Version::Http3 && (spec.scheme != "https" || spec.unix.is_some()) {
        return Err("HTTP/3 is spoken over QUIC: give an https:// address".to_owned().into());
    }
    if !version.has_streams() && streams != 1 {
        return Err(format!("connections of HTTP/{} carry one request at a time: streams must be 1", spec.http).into());
    }
    if !matches!(spec.scheme.as_str(), "http" | "https") {
        return Err(format!("scheme must be http or https, not `{}`", spec.scheme).into());
    }
    if spec.addresses.is_empty() && spec.unix.is_none() {
        return Err("the contender has neither an address nor a Unix socket".to_owned().into());
    }
    if spec.classes.is_empty() || spec.classes.len() > CLASSES_MAX {
        return Err(format!("1 to {CLASSES_MAX} classes are needed, not {}", spec.classes.len()).into());
    }
    if spec.receive_buffer_bytes.is_some_and(|bytes| !(256..=16 << 20).contains(&bytes)) {
        return Err("the receive buffer must have 256 B to 16 MiB".to_owned().into());
    }
    Ok(version)
}

/// What follows the request line of every request to `host`.
pub(crate) fn header_tail(spec: &WebSpec, host: &str) -> Result<String, SpecError> {
    let connection = match (spec.http == "1.1", spec.keep_alive) {
        (true, true) | (false, false) => None,
        (true, false) => Some("close"),
        (false, true) => Some("keep-alive"),
    };
    fields_tail(connection.into_iter(), spec, host)
}

/// The header fields of every request, checked.
fn fields_tail(
    connection: impl Iterator<Item = &'static str>,
    spec: &WebSpec,
    host: &str,
) -> Result<String, SpecError> {
    let mut fields = vec![("Host", host)];
    fields.extend(spec.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    fields.extend(connection.map(|value| ("Connection", value)));
    let mut tail = String::new();
    for (name, value) in fields {
        let clean = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte >= b' ' && byte != 0x7f);
        if !clean(name) || !clean(value) || name.contains([':', ' ']) {
            return Err(format!("header `{}` is not valid", name.escape_debug()).into());
        }
        tail.extend([name, ": ", value, "\r\n"]);
    }
    tail.push_str("\r\n");
    Ok(tail)
}

fn parse_sha256(text: &str) -> Result<[u8; 32], SpecError> {
    let bad = || SpecError::Range(format!("`{text}` is not a SHA-256 in hexadecimal"));
    if text.len() != 64 || !text.is_ascii() {
        return Err(bad());
    }
    let mut hash = [0; 32];
    for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| bad())?;
    }
    Ok(hash)
}
