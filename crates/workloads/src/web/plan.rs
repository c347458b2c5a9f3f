//! From the specification to prepared requests: everything the loop needs, computed once.

use super::spec::{ClassSpec, RequestSpec, WebSpec};
use crate::deck::Deck;
use bakeoff_engine::SpecError;
use std::ops::Range;
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
    /// Replies, or what else came, that no request had asked for.
    pub unsolicited: AtomicU64,
    pub close_with_reset: bool,
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
    /// Checks the specification and prepares its requests.
    pub fn new(spec: &WebSpec) -> Result<Self, SpecError> {
        let http11 = check(spec)?;
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
            unsolicited: AtomicU64::new(0),
            close_with_reset: spec.close_with_reset,
        };
        let tail = header_tail(spec, &spec.host)?;
        for (number, class) in spec.classes.iter().enumerate() {
            plan.add_class(number as u16, class, http11, &tail)?;
        }
        Ok(plan)
    }

    fn add_class(&mut self, number: u16, class: &ClassSpec, http11: bool, tail: &str) -> Result<(), SpecError> {
        if class.requests.is_empty() {
            return Err(format!("class `{}` has no requests", class.name).into());
        }
        let first = self.requests.len();
        for request in &class.requests {
            let prepared = self.prepare(number, request, http11, tail)?;
            self.requests.push(prepared);
        }
        if self.requests.len() > REQUESTS_MAX {
            return Err(format!("more than {REQUESTS_MAX} requests").into());
        }
        self.classes.push(Class { expect: class.expect.clone(), requests: first..self.requests.len() });
        Ok(())
    }

    fn prepare(&mut self, class: u16, request: &RequestSpec, http11: bool, tail: &str) -> Result<Prepared, SpecError> {
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
        let version = if http11 { "1.1" } else { "1.0" };
        self.wire.extend_from_slice(format!("{} {} HTTP/{version}\r\n{tail}", request.method, request.path).as_bytes());
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

/// Checks what does not depend on single requests; whether it is HTTP/1.1.
fn check(spec: &WebSpec) -> Result<bool, SpecError> {
    let http11 = match spec.http.as_str() {
        "1.1" => true,
        "1.0" => false,
        other => return Err(format!("http must be 1.0 or 1.1, not `{other}`").into()),
    };
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
    Ok(http11)
}

/// What follows the request line of every request to `host`.
pub(crate) fn header_tail(spec: &WebSpec, host: &str) -> Result<String, SpecError> {
    let connection = match (spec.http == "1.1", spec.keep_alive) {
        (true, true) | (false, false) => None,
        (true, false) => Some("close"),
        (false, true) => Some("keep-alive"),
    };
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
