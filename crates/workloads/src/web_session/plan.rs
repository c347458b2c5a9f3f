//! From the specification to steps that can be taken.

use super::jar::Jar;
use super::spec::{CookieScope, SessionSpec, StepSpec};
use super::take::Take;
use super::template::{CLIENT, Escape, Template};
use crate::web::{Failures, check_field, from_hex, header_tail, may_carry};
use bakeoff_engine::{Nanos, SpecError};

/// Steps of a session. As many rows of failures are told by name.
const STEPS_MAX: usize = 100;
/// Values of a session, and texts that are looked for in one reply.
const VALUES_MAX: usize = 100;
const CLIENT_NAME: &str = "client";

/// A request and what is done with its reply.
#[derive(Debug)]
pub(crate) struct Step {
    pub name: String,
    method: String,
    path: Template,
    headers: Vec<(Vec<u8>, Template)>,
    body: Option<Template>,
    says_length: bool,
    pub texts: Vec<Vec<u8>>,
    pub take: Vec<Take>,
    pub think_ns: Nanos,
}

impl Step {
    /// Whether somebody reads the head, or the body, of its reply.
    pub fn reads(&self, keep: CookieScope) -> (bool, bool) {
        let head = keep != CookieScope::Off || self.take.iter().any(Take::reads_head);
        (head, !self.texts.is_empty() || self.take.iter().any(Take::reads_body))
    }
}

/// What all sessions of a trial share.
#[derive(Debug)]
pub(crate) struct SessionPlan {
    pub steps: Vec<Step>,
    /// Names of the values, by slot.
    pub values: Vec<String>,
    pub keep: CookieScope,
    /// What a client has before the first reply.
    pub jar: Jar,
    prefix: Vec<u8>,
    http: String,
    tail: Vec<u8>,
    /// Sessions that broke in the window, by step.
    pub failures: Failures,
}

/// A value does not fit where it is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnfitValue {
    pub slot: usize,
}

impl SessionPlan {
    pub fn new(spec: &SessionSpec) -> Result<Self, SpecError> {
        if spec.steps.is_empty() || spec.steps.len() > STEPS_MAX || spec.steps.len() != spec.web.classes.len() {
            return Err(format!("a session has 1 to {STEPS_MAX} steps, each with a class").into());
        }
        let tail = header_tail(&spec.web, &spec.web.host)?.into_bytes();
        let mut plan = Self {
            steps: Vec::new(),
            values: vec![CLIENT_NAME.to_owned()],
            keep: spec.keep_cookies,
            jar: Jar::with(&spec.cookies),
            prefix: spec.prefix.clone().into_bytes(),
            http: spec.web.http.clone(),
            tail: tail[..tail.len() - 2].to_vec(),
            failures: Failures::default(),
        };
        for (step, class) in spec.steps.iter().zip(&spec.web.classes) {
            let [request] = class.requests.as_slice() else {
                return Err(format!("step {}: its class has one request", step.name).into());
            };
            let ready = plan.step(step, &request.method).map_err(|why| format!("step {}: {why}", step.name))?;
            plan.steps.push(ready);
        }
        Ok(plan)
    }

    fn step(&mut self, spec: &StepSpec, method: &str) -> Result<Step, SpecError> {
        let known = |name: &str| self.values.iter().position(|value| value == name);
        let path = Template::parse(spec.path.as_bytes(), Some(Escape::Url), known)?;
        if path.begins_with().is_none() && !spec.path.starts_with('/') {
            return Err("its path must begin with / or a value".to_owned().into());
        }
        let headers = spec.headers.iter().map(|(name, value)| {
            check_field(name, value)?;
            Ok((name.clone().into_bytes(), Template::parse(value.as_bytes(), Some(Escape::Plain), known)?))
        });
        let headers = headers.collect::<Result<_, SpecError>>()?;
        let body = spec.body.as_ref().map(|body| {
            let content = from_hex(&body.content)?;
            if body.fill { Template::parse(&content, None, known) } else { Ok(Template::plain(&content)) }
        });
        let body = body.transpose()?;
        let mut take = Vec::new();
        for one in &spec.take {
            let slot = self.values.iter().position(|value| *value == one.name).unwrap_or(self.values.len());
            if slot == CLIENT {
                return Err(format!("{CLIENT_NAME} is the number of the client: take it under another name").into());
            }
            if slot == self.values.len() {
                self.values.push(one.name.clone());
            }
            let ready = Take::new(one, slot)?;
            if ready.reads_cookies() && self.keep == CookieScope::Off {
                return Err(format!("{}: cookies are not read", one.name).into());
            }
            take.push(ready);
        }
        if self.values.len() > VALUES_MAX || spec.texts.len() > VALUES_MAX || spec.texts.iter().any(String::is_empty) {
            return Err(format!("at most {VALUES_MAX} values and texts are needed, none of them empty").into());
        }
        if !(0.0..=86_400.0).contains(&spec.think_s) {
            return Err("a pause lasts a day at most".to_owned().into());
        }
        Ok(Step {
            name: spec.name.clone(),
            method: method.to_owned(),
            path,
            headers,
            says_length: body.is_some() || may_carry(method),
            body,
            texts: spec.texts.iter().map(|text| text.clone().into_bytes()).collect(),
            take,
            think_ns: (spec.think_s * 1e9).round() as Nanos,
        })
    }

    /// Writes the request of a step to `out` and its target to `target`.
    pub fn write(
        &self,
        step: usize,
        values: &[Vec<u8>],
        jar: &Jar,
        target: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<(), UnfitValue> {
        let step = &self.steps[step];
        target.clear();
        out.clear();
        self.write_target(step, values, target)?;
        for part in [step.method.as_bytes(), b" ", target, b" HTTP/", self.http.as_bytes(), b"\r\n", &self.tail] {
            out.extend_from_slice(part);
        }
        for (name, value) in &step.headers {
            out.extend_from_slice(name);
            out.extend_from_slice(b": ");
            let fits = |byte| byte == b'\t' || byte >= b' ' && byte != 0x7f;
            value.write(values, fits, out).map_err(|slot| UnfitValue { slot })?;
            out.extend_from_slice(b"\r\n");
        }
        if self.keep != CookieScope::Off {
            jar.write(target, out);
        }
        if !step.says_length {
            out.extend_from_slice(b"\r\n");
            return Ok(());
        }
        // The length stands before the body, which is written first: room for it is left.
        let mut body = Vec::new();
        if let Some(template) = &step.body {
            template.write(values, |_| true, &mut body).map_err(|slot| UnfitValue { slot })?;
        }
        out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        out.extend_from_slice(&body);
        Ok(())
    }

    /// A path that begins with a value is the server's own: of a whole URL its path, and no prefix before it.
    fn write_target(&self, step: &Step, values: &[Vec<u8>], target: &mut Vec<u8>) -> Result<(), UnfitValue> {
        let fits = |byte| byte > b' ' && byte != 0x7f;
        let begins_with = step.path.begins_with();
        if begins_with.is_none() {
            target.extend_from_slice(&self.prefix);
        }
        step.path.write(values, fits, target).map_err(|slot| UnfitValue { slot })?;
        if let Some(slot) = begins_with {
            let skip = origin_bytes(target);
            target.drain(..skip);
            if target.first() != Some(&b'/') {
                return Err(UnfitValue { slot });
            }
        }
        Ok(())
    }
}

/// How long `http://host:port` at the beginning of a URL is; 0 where there is none.
fn origin_bytes(url: &[u8]) -> usize {
    let lower = url[..url.len().min(8)].to_ascii_lowercase();
    let scheme = [&b"http://"[..], b"https://"].into_iter().find(|scheme| lower.starts_with(scheme));
    scheme.map_or(0, |scheme| memchr::memchr(b'/', &url[scheme.len()..]).map_or(0, |at| scheme.len() + at))
}
