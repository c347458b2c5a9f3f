//! What iterations have to do, burst by burst: made when it is asked for, so that it may be without end.

use crate::http::page;
use crate::http::pipeline::Call;
use crate::http::reply::Reply;
use crate::spec::HttperfSpec;
use crate::spec::uris::{Uri, UriTexts, Uris};
use bakeoff_engine::Nanos;
use std::sync::Arc;

/// A redirect is followed so often.
const DEPTH_MAX: u8 = 10;
/// The depth of what a page embeds: it is not looked into.
const EMBEDDED: u8 = u8::MAX;

/// Calls that belong together, and the pause after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Burst {
    pub calls: u64,
    pub think_ns: Nanos,
}

/// One per trial.
#[derive(Debug)]
pub(crate) struct Work {
    spec: Arc<HttperfSpec>,
    uris: Uris,
    texts: UriTexts,
    /// Names by which pages may call our servers.
    hosts: Vec<Vec<u8>>,
    serial: u64,
}

impl Work {
    pub fn new(spec: &Arc<HttperfSpec>) -> Self {
        let names = spec.servers.iter().flat_map(|server| {
            let port = server.address.rsplit(':').next().unwrap_or_default();
            [server.host.clone(), format!("{}:{port}", server.host), server.address.clone()]
        });
        let hosts = names.chain(spec.server_name.clone()).map(String::into_bytes).collect();
        let (spec, uris) = (Arc::clone(spec), Uris::new(spec));
        Self { texts: UriTexts::new(Arc::clone(&spec)), spec, uris, hosts, serial: 0 }
    }

    /// The script of the nth session.
    pub fn script(&self, nth: u64) -> u32 {
        self.spec.wsesslog.as_ref().map_or(0, |log| (nth % log.scripts.len() as u64) as u32)
    }

    /// What follows after so many bursts and calls; `None` at the end.
    pub fn burst(&self, script: u32, bursts: u64, calls: u64) -> Option<Burst> {
        if let Some(log) = &self.spec.wsesslog {
            let burst = log.scripts[script as usize].bursts.get(usize::try_from(bursts).ok()?)?;
            return Some(Burst { calls: burst.calls.len() as u64, think_ns: nanos(burst.think_s) });
        }
        if let Some(pages) = &self.spec.wsesspage {
            return (bursts < pages.pages).then(|| Burst { calls: 1, think_ns: nanos(pages.think_s) });
        }
        let wsess = self.spec.wsess.as_ref();
        let (all, think_s) = wsess.map_or((self.spec.num_calls, 0.0), |sessions| (sessions.calls, sessions.think_s));
        let calls = all.saturating_sub(calls).min(u64::from(self.spec.burst_length));
        (calls > 0 && !self.uris.is_exhausted()).then(|| Burst { calls, think_ns: nanos(think_s) })
    }

    /// Whether anything follows.
    pub fn has_burst(&self, script: u32, bursts: u64, calls: u64) -> bool {
        self.burst(script, bursts, calls).is_some()
    }

    /// Whether no iteration finds anything to do any more.
    pub fn is_exhausted(&self) -> bool {
        self.spec.wsesslog.is_none() && self.uris.is_exhausted()
    }

    /// The next call of the burst that was begun last.
    pub fn uri(&mut self, script: u32, bursts: u64, call: u32) -> Option<Uri> {
        if self.spec.wsesslog.is_some() {
            return Some(Uri::Script(script, bursts.saturating_sub(1) as u32, call));
        }
        self.uris.next()
    }

    /// The number of a new call.
    pub fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial - 1
    }

    /// Calls that a reply asks for: where a page has gone, or what it embeds.
    pub fn found_in(&mut self, call: &Call, reply: &Reply) -> Vec<Call> {
        if self.spec.wsesspage.is_none() || call.depth == EMBEDDED {
            return Vec::new();
        }
        let mut base = Vec::new();
        self.texts.write(&call.uri, &mut base);
        let hosts: Vec<&[u8]> = self.hosts.iter().map(Vec::as_slice).collect();
        let (uris, depth) = match (reply.status / 100, &reply.location) {
            (3, Some(location)) if call.depth < DEPTH_MAX => {
                (page::resolve(location, &base, &hosts).into_iter().collect(), call.depth + 1)
            }
            (2, _) if reply.is_page => (page::embedded(&reply.body, &base, &hosts), EMBEDDED),
            _ => (Vec::new(), 0),
        };
        let (tries, due_ns) = (0, 0);
        uris.into_iter().map(|uri| Call { uri: Uri::Page(uri), serial: self.serial(), tries, due_ns, depth }).collect()
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}
