//! What is counted of a log, and what must be said of it.

use crate::replay::line::Reason;
use crate::replay::trace::Trace;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

const HOSTS_TOLD: usize = 10;
const PATHS_TOLD: usize = 20;
/// Requests without a body that are told whole, the most asked, so that they can be tried and their replies learnt.
const SAMPLES: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Faults {
    pub lines: u64,
    pub first_line: u64,
    pub example: String,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub lines: u64,
    pub blank: u64,
    pub fractions: u64,
    pub combined: u64,
    pub extra: u64,
    pub newer_http: u64,
    pub backwards: u64,
    pub backwards_us: i64,
    pub backwards_line: u64,
    pub left_out: BTreeMap<String, u64>,
    pub faults: BTreeMap<Reason, Faults>,
    pub hosts: HashMap<Vec<u8>, u64>,
}

impl Counts {
    /// What the plan has of it, as JSON; the log begins at `first_us` since 1970.
    pub fn summary(&self, trace: &Trace, first_us: i64) -> Value {
        let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
        let mut of_request = vec![0_u64; trace.requests()];
        for (request, status) in &trace.lines {
            *statuses.entry(*status).or_default() += 1;
            of_request[*request as usize] += 1;
        }
        let mut methods: BTreeMap<String, u64> = BTreeMap::new();
        let mut paths: HashMap<String, u64> = HashMap::new();
        for (request, count) in of_request.iter().enumerate() {
            let method = &trace.methods[usize::from(trace.asked(request).method)];
            *methods.entry(String::from_utf8_lossy(method).into_owned()).or_default() += count;
            *paths.entry(trace.label(request)).or_default() += count;
        }
        let faults = self.faults.iter().map(|(reason, faults)| {
            json!({"reason": reason.words(), "lines": faults.lines, "first_line": faults.first_line,
                   "example": faults.example})
        });
        let hosts = self.hosts.iter().map(|(host, lines)| (String::from_utf8_lossy(host).into_owned(), *lines));
        json!({
            "lines": self.lines, "blank": self.blank, "requests": trace.lines.len(),
            "different": trace.requests(), "paths": paths.len(), "exact": trace.exact,
            "first_s": first_us as f64 / 1e6, "period_s": trace.period_us as f64 / 1e6,
            "combined": self.combined, "extra": self.extra, "newer_http": self.newer_http,
            "backwards": self.backwards, "backwards_s": self.backwards_us as f64 / 1e6,
            "backwards_line": self.backwards_line,
            "methods": methods, "left_out": self.left_out, "statuses": statuses,
            "faults": faults.collect::<Vec<_>>(),
            "samples": samples(trace, &of_request),
            "hosts": most(hosts.collect(), HOSTS_TOLD), "top": most(paths.into_iter().collect(), PATHS_TOLD),
        })
    }
}

/// Method, virtual host, path and first status of the requests that are asked for most.
fn samples(trace: &Trace, of_request: &[u64]) -> Vec<Value> {
    let mut order: Vec<usize> = (0..of_request.len())
        .filter(|request| trace.asked(*request).body.is_none() && trace.path(*request).is_ascii())
        .collect();
    order.sort_by(|one, other| of_request[*other].cmp(&of_request[*one]).then(one.cmp(other)));
    order.truncate(SAMPLES);
    let mut statuses: HashMap<usize, Option<u16>> = order.iter().map(|request| (*request, None)).collect();
    for (request, status) in &trace.lines {
        if let Some(first) = statuses.get_mut(&(*request as usize)) {
            first.get_or_insert(*status);
        }
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let sample = |request: usize| {
        let asked = trace.asked(request);
        let status = statuses[&request];
        let host = asked.host.map(|host| text(&trace.hosts[usize::from(host)]));
        json!([text(&trace.methods[usize::from(asked.method)]), host, text(trace.path(request)), status])
    };
    order.into_iter().map(sample).collect()
}

/// The `told` largest, those of equal size by name.
fn most(mut counts: Vec<(String, u64)>, told: usize) -> Vec<(String, u64)> {
    counts.sort_by(|(name, count), (other, than)| than.cmp(count).then_with(|| name.cmp(other)));
    counts.truncate(told);
    counts
}
