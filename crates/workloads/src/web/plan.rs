//! From the specification to prepared requests: everything the loop needs, computed once.

use super::check::agreed::KnownReply;
use super::check::failures::Failures;
use super::check::learnt::Lessons;
use super::hex::from_hex;
use super::http2::{self, Http2};
use super::http3::{self, Http3};
use super::spec::{ClassSpec, RequestSpec, WebSpec};
use crate::deck::Deck;
use bakeoff_engine::{MakeMux, SpecError, Streams};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A request ready to be written and the reply it must have.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub wire: Range<usize>,
    /// Method and path.
    pub name: Box<str>,
    pub class: u16,
    pub head_only: bool,
    /// Whether asking twice does what asking once does (RFC 9110, 9.2.2).
    pub idempotent: bool,
    pub agreed: KnownReply,
    fetched: AtomicBool,
    /// How often it succeeded in the window, where its class has others as well.
    answered: AtomicU64,
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
    /// By which the bodies to hash are drawn.
    pub secret: u64,
    pub hashed: AtomicU64,
    pub hashed_bytes: AtomicU64,
    /// What replies were, where that is to be told.
    pub lessons: Option<Lessons>,
    /// Requests asked again because the server had closed their connection before they reached it.
    pub stale_connections: AtomicU64,
    /// Requests on streams that servers put back unread (`REFUSED_STREAM`, `GOAWAY`).
    pub put_back: AtomicU64,
    /// Replies, or what else came, that no request had asked for.
    pub unsolicited: AtomicU64,
    pub failures: Failures,
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

    /// Counts a success where the count of its class would not say whose it is.
    #[inline]
    pub fn count_answered(&self, request: usize, in_window: impl FnOnce() -> bool) {
        let prepared = &self.requests[request];
        if self.classes[usize::from(prepared.class)].requests.len() > 1 && in_window() {
            prepared.answered.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The requests that failed, and how often those of them succeeded whose classes have others as well.
    pub fn failed(&self) -> Value {
        let mut failed = self.failures.table(|request| &self.requests[request].name, |_| String::new());
        let told = |name: &str| failed["requests"].get(name).is_some();
        let mut answered = BTreeMap::<&str, u64>::new();
        let grouped = |prepared: &&Prepared| self.classes[usize::from(prepared.class)].requests.len() > 1;
        for prepared in self.requests.iter().filter(grouped).filter(|prepared| told(&prepared.name)) {
            *answered.entry(&prepared.name).or_default() += prepared.answered.load(Ordering::Relaxed);
        }
        let answered = json!(answered);
        failed["answered"] = answered;
        failed
    }
}

/// Upper limits of a specification.
const CLASSES_MAX: usize = 1_000;
const REQUESTS_MAX: usize = 1_000_000;
const WIRE_BYTES_MAX: usize = 512 << 20;

impl WebPlan {
    /// Checks the specification and prepares its requests; `streams` of them share a connection, where they can. Bodies to
    /// hash are drawn by the `secret` of the trial.
    pub fn new(spec: &WebSpec, streams: u32, secret: u64) -> Result<Self, SpecError> {
        let version = check(spec, streams)?;
        let mut plan = Self {
            wire: Vec::new(),
            requests: Vec::new(),
            classes: Vec::new(),
            deck: Deck::new(spec.classes.iter().map(|class| class.weight))?,
            keep_alive: spec.keep_alive,
            requests_per_connection: spec.requests_per_connection.unwrap_or(u32::MAX),
            check_every: spec.check_every,
            secret,
            hashed: AtomicU64::new(0),
            hashed_bytes: AtomicU64::new(0),
            lessons: spec.learn.then(Lessons::default),
            stale_connections: AtomicU64::new(0),
            put_back: AtomicU64::new(0),
            unsolicited: AtomicU64::new(0),
            failures: Failures::default(),
            close_with_reset: spec.close_with_reset,
            streams: None,
            is_quic: false,
        };
        let form = plan.form(spec, version, streams as usize)?;
        let bodies = spec.bodies.iter().map(|body| from_hex(body)).collect::<Result<Vec<_>, _>>()?;
        for (number, class) in spec.classes.iter().enumerate() {
            plan.add_class(number as u16, class, &form, &bodies)?;
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

    fn add_class(&mut self, number: u16, class: &ClassSpec, form: &Form, bodies: &[Vec<u8>]) -> Result<(), SpecError> {
        if class.requests.is_empty() {
            return Err(format!("class `{}` has no requests", class.name).into());
        }
        let first = self.requests.len();
        for request in &class.requests {
            let prepared = self.prepare(number, request, form, bodies)?;
            self.requests.push(prepared);
        }
        if self.requests.len() > REQUESTS_MAX {
            return Err(format!("more than {REQUESTS_MAX} requests").into());
        }
        self.classes.push(Class { expect: class.expect.clone(), requests: first..self.requests.len() });
        Ok(())
    }

    fn prepare(
        &mut self,
        class: u16,
        request: &RequestSpec,
        form: &Form,
        bodies: &[Vec<u8>],
    ) -> Result<Prepared, SpecError> {
        let method = request.method.as_str();
        if !is_token(method) || method == "CONNECT" {
            return Err(format!("method `{}` is none that can be asked with", method.escape_debug()).into());
        }
        if !request.path.starts_with('/') || request.path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(
                format!("path `{}` must start with / and be percent-encoded", request.path.escape_debug()).into()
            );
        }
        let body = match request.body {
            None => None,
            Some(number) => Some(bodies.get(number).ok_or_else(|| format!("there is no body {number}"))?),
        };
        if body.is_some() && !matches!(form, Form::Text { .. }) {
            return Err("requests with a body are made over HTTP/1".to_owned().into());
        }
        let start = self.wire.len();
        match form {
            Form::Text { version, tail } => {
                let text = format!("{method} {} HTTP/{version}\r\n{}", request.path, &tail[..tail.len() - 2]);
                self.wire.extend_from_slice(text.as_bytes());
                put_body(method, body.map(Vec::as_slice), request.content_type.as_deref(), &mut self.wire)?;
                if self.wire.len() > WIRE_BYTES_MAX {
                    let most = WIRE_BYTES_MAX >> 20;
                    return Err(format!("all requests together are longer than {most} MiB: use fewer").into());
                }
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
        Ok(Prepared {
            wire: start..self.wire.len(),
            name: format!("{method} {}", request.path).into(),
            class,
            head_only: method == "HEAD",
            idempotent: matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"),
            agreed: KnownReply::new(request)?,
            fetched: AtomicBool::new(false),
            answered: AtomicU64::new(0),
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
        check_field(name, value)?;
        tail.extend([name, ": ", value, "\r\n"]);
    }
    tail.push_str("\r\n");
    Ok(tail)
}

pub(crate) fn check_field(name: &str, value: &str) -> Result<(), SpecError> {
    let clean = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte >= b' ' && byte != 0x7f);
    if !clean(name) || !clean(value) || name.contains([':', ' ']) {
        return Err(format!("header `{}` is not valid", name.escape_debug()).into());
    }
    Ok(())
}

/// Writes the end of a request's head, and its body. What may have one says its length, even when it has none (RFC 9110,
/// 8.6).
fn put_body(
    method: &str,
    body: Option<&[u8]>,
    content_type: Option<&str>,
    wire: &mut Vec<u8>,
) -> Result<(), SpecError> {
    if let Some(content_type) = content_type {
        check_field("Content-Type", content_type)?;
        wire.extend_from_slice(format!("Content-Type: {content_type}\r\n").as_bytes());
    }
    if body.is_some() || may_carry(method) {
        let length = body.map_or(0, <[u8]>::len);
        wire.extend_from_slice(format!("Content-Length: {length}\r\n").as_bytes());
    }
    wire.extend_from_slice(b"\r\n");
    wire.extend_from_slice(body.unwrap_or_default());
    Ok(())
}

/// Whether requests of this method say the length of their body even when they have none.
pub(crate) fn may_carry(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=32).contains(&text.len()) && text.bytes().all(fits)
}
