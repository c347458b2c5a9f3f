//! Why sessions were not served: the ways of refusing look alike in a count of errors, and mean different limits.

use bakeoff_engine::{ErrorClass, Nanos};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

macro_rules! refusals {
    ($($variant:ident = $name:literal,)+) => {
        /// A way of not serving a session.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Refusal { $($variant,)+ }
        const NAMES: &[&str] = &[$($name,)+];
    };
}

refusals! {
    // RST in answer to SYN: nobody listens, or a firewall says no.
    Refused = "refused",
    // Accepted by the kernel, then reset or closed without a banner.
    Reset = "reset",
    // No answer to SYN within the time-out: the accept queue is full.
    ConnectTimeout = "connect_timeout",
    // Connected, but no banner in time.
    BannerTimeout = "banner_timeout",
    // A banner with 421 or another 4xx.
    Busy = "busy_421",
    // A banner with 5xx or -ERR.
    Denied = "denied",
    // POP3: the maildrop is locked by another session.
    InUse = "in_use",
    // The TLS handshake failed.
    Tls = "tls",
    Other = "other",
}

impl Refusal {
    /// What a failure below the protocol means for a connection that was not yet served.
    pub fn of(error: ErrorClass) -> Self {
        match error {
            ErrorClass::Refused => Self::Refused,
            ErrorClass::ResetBeforeFirstByte | ErrorClass::ResetAfterFirstByte | ErrorClass::ClosedEarly => Self::Reset,
            ErrorClass::ConnectTimeout => Self::ConnectTimeout,
            ErrorClass::ReplyTimeout => Self::BannerTimeout,
            ErrorClass::Tls => Self::Tls,
            _ => Self::Other,
        }
    }

    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// Connect times that tell of SYNs that the kernel dropped and the client's kernel sent again, ms: after 1, 3 and 7 s,
/// from Linux 6.5 on after 1, 2, 3, 4, 5 and 7 s.
const SPIKES: [(&str, Nanos, Nanos); 6] = [
    ("connect_1s", 950, 1_900),
    ("connect_2s", 1_950, 2_900),
    ("connect_3s", 2_950, 3_900),
    ("connect_4s", 3_950, 4_900),
    ("connect_5s", 4_950, 5_900),
    ("connect_7s", 6_950, 7_900),
];
const MILLISECOND_NS: Nanos = 1_000_000;
/// Samples of what servers said, bytes each and in number.
const TEXT_BYTES: usize = 200;
const TEXTS: usize = 5;

/// Counts of one session, or of all.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Refusals {
    counts: [u64; NAMES.len()],
    spikes: [u64; SPIKES.len()],
    texts: Vec<String>,
}

impl Refusals {
    pub fn count(&mut self, refusal: Refusal) {
        self.counts[refusal as usize] += 1;
    }

    /// Keeps what a server said, if there is room.
    pub fn sample(&mut self, text: &str) {
        let text: String = text.trim().chars().take(TEXT_BYTES).collect();
        if self.texts.len() < TEXTS && !self.texts.contains(&text) {
            self.texts.push(text);
        }
    }

    /// A connection was opened in so long.
    #[inline]
    pub fn connected(&mut self, connect_ns: Nanos) {
        if connect_ns >= SPIKES[0].1 * MILLISECOND_NS {
            let at = SPIKES
                .iter()
                .position(|(_, from, to)| (from * MILLISECOND_NS..to * MILLISECOND_NS).contains(&connect_ns));
            if let Some(at) = at {
                self.spikes[at] += 1;
            }
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.spikes.iter_mut().zip(other.spikes).for_each(|(mine, theirs)| *mine += theirs);
        other.texts.iter().for_each(|text| self.sample(text));
    }

    pub fn json(&self) -> Value {
        let counts = NAMES.iter().zip(self.counts);
        let spikes = SPIKES.iter().map(|spike| &spike.0).zip(self.spikes);
        let all: Map<_, _> = counts
            .chain(spikes)
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| ((*name).to_owned(), json!(count)))
            .collect();
        json!({"counts": all, "texts": self.texts})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_kept_apart_and_slow_connects_are_noticed() {
        let mut refusals = Refusals::default();
        refusals.count(Refusal::of(ErrorClass::Refused));
        refusals.count(Refusal::of(ErrorClass::ClosedEarly));
        refusals.count(Refusal::InUse);
        for connect_ms in [1, 900, 1_020, 1_930, 2_000, 3_050, 4_010, 5_300, 6_500, 7_100] {
            refusals.connected(connect_ms * MILLISECOND_NS);
        }
        refusals.sample("421 too many connections\r\n");
        refusals.sample("421 too many connections");
        let expected = json!({
            "counts": {"refused": 1, "reset": 1, "in_use": 1, "connect_1s": 1, "connect_2s": 1, "connect_3s": 1,
                       "connect_4s": 1, "connect_5s": 1, "connect_7s": 1},
            "texts": ["421 too many connections"],
        });
        assert_eq!(refusals.json(), expected);
    }
}
