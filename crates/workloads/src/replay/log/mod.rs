//! From an access log, piece by piece, to its trace and to what must be said of it.

mod counts;

use super::line::{self, LINE_BYTES_MAX, Line, Reason};
use super::stamp::Stamp;
use super::trace::{Body, GET, HEAD, HOSTS_MAX, LINES_MAX, PATH_BYTES_MAX, PATHS_MAX, Trace};
use counts::Counts;
use serde_json::Value;
use std::collections::HashMap;

/// A line may be stamped so much before one above it, s: servers write a line when its request is over, and some stamp
/// it with its beginning.
const BACKWARDS_S_MAX: i64 = 600;

/// Other methods than those that are replayed are told by name, up to so many.
const METHODS_TOLD: usize = 20;
const EXAMPLE_BYTES: usize = 120;

/// A request with a body that the user gives for lines that ask for `path` by `method`; several are used in turn.
#[derive(Debug, Clone)]
pub struct GivenBody {
    /// In capitals.
    pub method: String,
    /// As in the log; without a query it stands for those with any.
    pub path: String,
    /// Of its `Content-Type`; none when empty.
    pub content_type: String,
    /// What is sent.
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at_us: i64,
    request: u32,
    status: u16,
}

/// Reads an access log that comes in pieces.
#[derive(Debug)]
pub struct LogReader {
    trace: Trace,
    entries: Vec<Entry>,
    requests: HashMap<Box<[u8]>, u32>,
    hosts: HashMap<Vec<u8>, u16>,
    keep_hosts: bool,
    bodies: HashMap<(Vec<u8>, Vec<u8>), BodyRotation>,
    key: Vec<u8>,
    /// The start of a line whose end has not come yet; with `too_long` what is thrown away.
    partial: Vec<u8>,
    too_long: bool,
    latest: Option<(i64, u64)>,
    counts: Counts,
}

#[derive(Debug)]
struct BodyRotation {
    method: u8,
    bodies: Vec<u32>,
    next: usize,
}

impl LogReader {
    /// `bodies` are what lines of other methods than GET and HEAD are replayed with; with `keep_hosts` requests go to the
    /// virtual host of their line.
    pub fn new(bodies: Vec<GivenBody>, keep_hosts: bool) -> Self {
        let mut trace = Trace { methods: vec![b"GET".to_vec(), b"HEAD".to_vec()], exact: true, ..Trace::default() };
        let mut rules: HashMap<(Vec<u8>, Vec<u8>), BodyRotation> = HashMap::new();
        for given in bodies {
            let (method, path) = (given.method.into_bytes(), given.path.into_bytes());
            let known = trace.methods.iter().position(|known| *known == method);
            let number = known.unwrap_or_else(|| {
                trace.methods.push(method.clone());
                trace.methods.len() - 1
            });
            let body = trace.bodies.len() as u32;
            trace.bodies.push(Body { content_type: given.content_type.into_bytes(), bytes: given.bytes });
            let rule = rules.entry((method, path));
            rule.or_insert_with(|| BodyRotation { method: number as u8, bodies: Vec::new(), next: 0 })
                .bodies
                .push(body);
        }
        Self {
            trace,
            entries: Vec::new(),
            requests: HashMap::new(),
            hosts: HashMap::new(),
            keep_hosts,
            bodies: rules,
            key: Vec::new(),
            partial: Vec::new(),
            too_long: false,
            latest: None,
            counts: Counts::default(),
        }
    }

    /// Takes the next bytes of the log. Errors are sentences on the line at fault.
    pub fn feed(&mut self, mut piece: &[u8]) -> Result<(), String> {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            let (line, rest) = (&piece[..end], &piece[end + 1..]);
            piece = rest;
            if self.partial.is_empty() && !self.too_long {
                self.line(line)?;
            } else {
                self.keep(line);
                self.end_of_partial()?;
            }
        }
        self.keep(piece);
        Ok(())
    }

    /// The log is over: its trace, and what must be said of it.
    pub fn finish(mut self) -> Result<(Vec<u8>, Value), String> {
        if !self.partial.is_empty() || self.too_long {
            self.end_of_partial()?;
        }
        self.refuse_what_is_no_log()?;
        let first_us = self.in_order();
        let summary = self.counts.summary(&self.trace, first_us);
        Ok((self.trace.encode(), summary))
    }

    fn keep(&mut self, part: &[u8]) {
        let room = (LINE_BYTES_MAX + 1).saturating_sub(self.partial.len());
        self.partial.extend_from_slice(&part[..part.len().min(room)]);
        self.too_long |= self.partial.len() > LINE_BYTES_MAX;
    }

    fn end_of_partial(&mut self) -> Result<(), String> {
        let mut line = std::mem::take(&mut self.partial);
        let outcome = self.line(&line);
        line.clear();
        self.partial = line;
        self.too_long = false;
        outcome
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        self.counts.lines += 1;
        let plain = line.strip_suffix(b"\r").unwrap_or(line);
        if plain.trim_ascii().is_empty() {
            self.counts.blank += 1;
            return Ok(());
        }
        if plain.len() > LINE_BYTES_MAX {
            self.fault(Reason::TooLong, plain);
            return Ok(());
        }
        match line::parse(plain) {
            Ok(read) => self.take(&read),
            Err(reason) => {
                self.fault(reason, plain);
                Ok(())
            }
        }
    }

    fn fault(&mut self, reason: Reason, line: &[u8]) {
        let faults = self.counts.faults.entry(reason).or_default();
        faults.lines += 1;
        if faults.lines == 1 {
            faults.first_line = self.counts.lines;
            faults.example = example(line);
        }
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), String> {
        self.order(line.stamp)?;
        self.counts.fractions += u64::from(line.stamp.fraction);
        self.counts.combined += u64::from(line.combined);
        self.counts.extra += u64::from(line.extra);
        self.counts.newer_http += u64::from(line.newer_http);
        if let Some(host) = line.host
            && (self.counts.hosts.len() < HOSTS_MAX || self.counts.hosts.contains_key(host))
        {
            *self.counts.hosts.entry(host.to_vec()).or_default() += 1;
        }
        let Some((method, body)) = self.method(line) else {
            self.leave_out(line.method());
            return Ok(());
        };
        let host = self.host(line)?;
        let request = self.request(method, host, body, line.path())?;
        if self.entries.len() == LINES_MAX {
            return Err(format!("it has more than {LINES_MAX} requests: split it, and replay a part"));
        }
        self.entries.push(Entry { at_us: line.stamp.at_us, request, status: line.status });
        Ok(())
    }

    /// Refuses a line that is stamped long before one above it.
    fn order(&mut self, stamp: Stamp) -> Result<(), String> {
        let number = self.counts.lines;
        let (latest_us, at_line) = *self.latest.get_or_insert((stamp.at_us, number));
        let back_us = latest_us - stamp.at_us;
        if back_us > BACKWARDS_S_MAX * 1_000_000 {
            let back_s = back_us / 1_000_000;
            return Err(format!(
                "line {number} is stamped {back_s} s before line {at_line}: up to {BACKWARDS_S_MAX} s are put in order; \
                 are parts of the log joined in the wrong order?"
            ));
        }
        if back_us > 0 {
            self.counts.backwards += 1;
            if back_us > self.counts.backwards_us {
                (self.counts.backwards_us, self.counts.backwards_line) = (back_us, number);
            }
        } else {
            self.latest = Some((stamp.at_us, number));
        }
        Ok(())
    }

    /// The number of a method that is replayed, and of the body that its line gets.
    fn method(&mut self, line: &Line<'_>) -> Option<(u8, Option<u32>)> {
        match line.method() {
            b"GET" => return Some((GET, None)),
            b"HEAD" => return Some((HEAD, None)),
            _ if self.bodies.is_empty() => return None,
            _ => {}
        }
        let path = line.path();
        let mut key = (line.method().to_vec(), path.to_vec());
        if !self.bodies.contains_key(&key) {
            key.1.truncate(memchr::memchr(b'?', path).unwrap_or(path.len()));
        }
        let rule = self.bodies.get_mut(&key)?;
        let body = rule.bodies[rule.next];
        rule.next = (rule.next + 1) % rule.bodies.len();
        Some((rule.method, Some(body)))
    }

    fn leave_out(&mut self, method: &[u8]) {
        let name = String::from_utf8_lossy(method).into_owned();
        let left_out = &mut self.counts.left_out;
        let name =
            if left_out.len() < METHODS_TOLD || left_out.contains_key(&name) { name } else { "other".to_owned() };
        *left_out.entry(name).or_default() += 1;
    }

    fn host(&mut self, line: &Line<'_>) -> Result<Option<u16>, String> {
        let Some(host) = line.host.filter(|_| self.keep_hosts) else { return Ok(None) };
        if let Some(number) = self.hosts.get(host) {
            return Ok(Some(*number));
        }
        if self.hosts.len() == HOSTS_MAX {
            return Err(format!("it has more than {HOSTS_MAX} virtual hosts: name one with --host"));
        }
        let number = self.hosts.len() as u16;
        self.hosts.insert(host.to_vec(), number);
        self.trace.hosts.push(host.to_vec());
        Ok(Some(number))
    }

    fn request(&mut self, method: u8, host: Option<u16>, body: Option<u32>, path: &[u8]) -> Result<u32, String> {
        self.key.clear();
        self.key.push(method);
        self.key.extend_from_slice(&host.unwrap_or(u16::MAX).to_le_bytes());
        self.key.extend_from_slice(&body.unwrap_or(u32::MAX).to_le_bytes());
        self.key.extend_from_slice(path);
        if let Some(request) = self.requests.get(self.key.as_slice()) {
            return Ok(*request);
        }
        if self.trace.requests() == PATHS_MAX || self.trace.path_bytes() + path.len() > PATH_BYTES_MAX {
            return Err(format!(
                "it has more than {PATHS_MAX} different requests, or more than {} MiB of them: replay a part",
                PATH_BYTES_MAX >> 20
            ));
        }
        let number = self.trace.ask(method, host, body, path);
        self.requests.insert(self.key.as_slice().into(), number);
        Ok(number)
    }

    fn refuse_what_is_no_log(&self) -> Result<(), String> {
        let read = self.counts.lines - self.counts.blank;
        let faults: u64 = self.counts.faults.values().map(|faults| faults.lines).sum();
        if read == 0 {
            return Err("it has no lines".to_owned());
        }
        if 2 * faults > read {
            let worst = self.counts.faults.iter().max_by_key(|(_, faults)| faults.lines);
            let worst = worst.map(|(reason, faults)| {
                format!(
                    " (in {} of them: {}; first line {}: {})",
                    faults.lines,
                    reason.words(),
                    faults.first_line,
                    faults.example
                )
            });
            return Err(format!(
                "{faults} of {read} lines are no requests{}: is it an access log in the common or the combined format?",
                worst.unwrap_or_default()
            ));
        }
        if self.entries.is_empty() {
            let methods: Vec<_> = self.counts.left_out.keys().map(String::as_str).collect();
            return Err(format!(
                "none of its {read} lines is a GET or a HEAD (there are {}): give bodies for the others with --bodies",
                methods.join(", ")
            ));
        }
        Ok(())
    }

    /// Puts the lines in the order of time, those of one moment as they stood; the first moment, µs since 1970.
    fn in_order(&mut self) -> i64 {
        let mut entries = std::mem::take(&mut self.entries);
        self.requests = HashMap::new();
        entries.sort_by_key(|entry| entry.at_us);
        self.trace.exact = self.counts.fractions > 0 && entries.iter().any(|entry| entry.at_us % 1_000_000 != 0);
        let (first_us, last_us) = (entries[0].at_us, entries[entries.len() - 1].at_us);
        // Where stamps are whole seconds the last one lasts until its end. Else the mean gap follows the last line.
        let gap_us = if self.trace.exact {
            (last_us - first_us).checked_div(entries.len() as i64 - 1).unwrap_or(1_000_000).max(1)
        } else {
            1_000_000
        };
        self.trace.period_us = (last_us - first_us + gap_us) as u64;
        self.trace.at_us = entries.iter().map(|entry| (entry.at_us - first_us) as u64).collect();
        self.trace.lines = entries.iter().map(|entry| (entry.request, entry.status)).collect();
        first_us
    }
}

/// The beginning of a line in plain letters, without the address of the client before it.
fn example(line: &[u8]) -> String {
    let from = memchr::memchr2(b'[', b'"', line).unwrap_or(0);
    let part = &line[from..line.len().min(from + EXAMPLE_BYTES)];
    part.escape_ascii().to_string().replace("\\\"", "\"").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests;
