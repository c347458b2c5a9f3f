//! What must be said of a log.

use super::LogReader;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

const HOSTS_TOLD: usize = 10;
const PATHS_TOLD: usize = 20;
/// Requests without a body that are told whole, the most asked, so that they can be tried.
const SAMPLES: usize = 20;

impl LogReader {
    pub(super) fn summary(&self, first_us: i64) -> Value {
        let counts = &self.counts;
        let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
        let mut of_request = vec![0_u64; self.trace.requests()];
        for (request, status) in &self.trace.lines {
            *statuses.entry(status.to_string()).or_default() += 1;
            of_request[*request as usize] += 1;
        }
        let mut methods: BTreeMap<String, u64> = BTreeMap::new();
        let mut paths: HashMap<String, u64> = HashMap::new();
        for (request, count) in of_request.iter().enumerate() {
            let method = &self.trace.methods[usize::from(self.trace.asked(request).method)];
            *methods.entry(String::from_utf8_lossy(method).into_owned()).or_default() += count;
            *paths.entry(self.trace.label(request)).or_default() += count;
        }
        let faults = counts.faults.iter().map(|(reason, faults)| {
            json!({"reason": reason.words(), "lines": faults.lines, "first_line": faults.first_line,
                   "example": faults.example})
        });
        let hosts = counts.hosts.iter().map(|(host, lines)| (String::from_utf8_lossy(host).into_owned(), *lines));
        json!({
            "lines": counts.lines, "blank": counts.blank, "requests": self.trace.lines.len(),
            "different": self.trace.requests(), "paths": paths.len(), "exact": self.trace.exact,
            "first_s": first_us as f64 / 1e6, "period_s": self.trace.period_us as f64 / 1e6,
            "combined": counts.combined, "extra": counts.extra, "newer_http": counts.newer_http,
            "backwards": counts.backwards, "backwards_s": counts.backwards_us as f64 / 1e6,
            "backwards_line": counts.backwards_line,
            "methods": methods, "left_out": counts.left_out, "statuses": statuses,
            "faults": faults.collect::<Vec<_>>(),
            "samples": self.samples(&of_request),
            "hosts": most(hosts.collect(), HOSTS_TOLD), "top": most(paths.into_iter().collect(), PATHS_TOLD),
        })
    }

    /// Method, virtual host, path and first status of the requests that are asked for most.
    fn samples(&self, of_request: &[u64]) -> Vec<Value> {
        let trace = &self.trace;
        let mut order: Vec<usize> = (0..of_request.len())
            .filter(|request| trace.asked(*request).body.is_none() && trace.path(*request).is_ascii())
            .collect();
        order.sort_by(|one, other| of_request[*other].cmp(&of_request[*one]).then(one.cmp(other)));
        order.truncate(SAMPLES);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let sample = |request: usize| {
            let asked = trace.asked(request);
            let status = trace.lines.iter().find(|(line, _)| *line as usize == request).map(|(_, status)| *status);
            let host = asked.host.map(|host| text(&trace.hosts[usize::from(host)]));
            json!([text(&trace.methods[usize::from(asked.method)]), host, text(trace.path(request)), status])
        };
        order.into_iter().map(sample).collect()
    }
}

/// The `told` largest, those of equal size by name.
fn most(mut counts: Vec<(String, u64)>, told: usize) -> Vec<(String, u64)> {
    counts.sort_by(|(name, count), (other, than)| than.cmp(count).then_with(|| name.cmp(other)));
    counts.truncate(told);
    counts
}
