//! One trial as it crosses the seam: JSON text, checked once, immutable afterwards.

use crate::load::{CLIENTS_MAX, RATE_MAX_PER_S};
use crate::{Distribution, Load, Nanos, SECOND_NS, Timeline};
use serde::Deserialize;
use std::ops::Range;

/// A trial specification that cannot be run, with the reason in words.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// Not JSON, an unknown key, or a value of the wrong type.
    #[error("the trial specification is malformed: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A value out of its range.
    #[error("{0}")]
    Range(String),
}

/// Which part of the clients a machine drives: part `index` of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// From 0.
    pub index: u32,
    /// How many machines share the trial.
    pub of: u32,
}

impl Default for Slice {
    fn default() -> Self {
        Self { index: 0, of: 1 }
    }
}

/// What one trial does. Times in seconds; `length_s` includes both ramps.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    /// The workload and its settings; `kind` names it.
    pub workload: serde_json::Value,
    /// What the contender is put under.
    pub load: Load,
    /// Virtual users of each client: each has its connection, and a session for each of its streams.
    #[serde(default = "one")]
    pub virtual_users: u32,
    /// Requests of a virtual user at once, which share its connection where the protocol has streams.
    #[serde(default = "one")]
    pub streams: u32,
    /// Traffic before the measured window, s.
    #[serde(default)]
    pub ramp_up_s: f64,
    /// Traffic after the measured window, s.
    #[serde(default)]
    pub ramp_down_s: f64,
    /// The whole trial with both ramps, s.
    pub length_s: f64,
    /// Each virtual user starts after a random time up to this, s.
    #[serde(default)]
    pub delay_s: f64,
    /// Pause after each operation, s.
    #[serde(default)]
    pub think_s: f64,
    /// Whether each pause has this length or is drawn at random with this mean.
    #[serde(default)]
    pub think_distribution: Distribution,
    /// Ends the trial after exactly so many operations; the window is then the whole trial.
    #[serde(default)]
    pub max_operations: Option<u64>,
    /// Length of an interval when the trial is a soak: intervals are told while it goes on, and take the place of seconds.
    #[serde(default)]
    pub interval_s: Option<f64>,
    /// Longest wait for a connection, s.
    #[serde(default = "five")]
    pub connect_timeout_s: f64,
    /// Longest wait for a whole reply, s.
    #[serde(default = "ten")]
    pub reply_timeout_s: f64,
    /// Load-generating threads of this process.
    #[serde(default = "one")]
    pub load_threads: u32,
    /// Processors to bind them to, in turn.
    #[serde(default)]
    pub pin: Option<Vec<u32>>,
    /// Whether load threads poll for replies instead of sleeping until they are woken.
    #[serde(default)]
    pub poll: bool,
    /// Seed of every random choice.
    #[serde(default)]
    pub seed: u64,
    /// Of this trial alone, from the system's randomness, and told to nobody before the trial is over: what contenders
    /// must not foresee, such as which of their replies are looked at closely, is drawn by it.
    #[serde(default)]
    pub secret: u64,
    /// The part of the trial that is this machine's.
    #[serde(default)]
    pub slice: Slice,
}

fn one() -> u32 {
    1
}
fn five() -> f64 {
    5.0
}
fn ten() -> f64 {
    10.0
}

/// Upper limits, so that a slip in a plan cannot exhaust the machine.
const SESSIONS_MAX: u64 = 200_000;
const LOAD_THREADS_MAX: u32 = 1024;
const LENGTH_MAX_S: f64 = 30.0 * 24.0 * 3600.0;
/// The shortest interval of a soak: load threads look every 50 ms whether one is over.
const INTERVAL_MIN_S: f64 = 0.1;
const INTERVALS_MAX: f64 = 10_000.0;

/// These limits by name, for whoever writes specifications.
pub fn limits() -> [(&'static str, f64); 7] {
    [
        ("clients", f64::from(CLIENTS_MAX)),
        ("rate_per_s", RATE_MAX_PER_S),
        ("sessions", SESSIONS_MAX as f64),
        ("load_threads", f64::from(LOAD_THREADS_MAX)),
        ("length_s", LENGTH_MAX_S),
        ("row_min_s", INTERVAL_MIN_S),
        ("intervals", INTERVALS_MAX),
    ]
}

impl TrialSpec {
    /// Reads and checks JSON text.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let spec: Self = serde_json::from_str(text)?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), SpecError> {
        let range = |text: String| Err(SpecError::Range(text));
        self.load.check().map_err(SpecError::Range)?;
        let of_client = u64::from(self.virtual_users) * u64::from(self.streams);
        if of_client == 0 || u64::from(self.clients()).saturating_mul(of_client) > SESSIONS_MAX {
            return range(format!("clients × virtual users × streams must be 1 to {SESSIONS_MAX}"));
        }
        let Slice { index, of } = self.slice;
        if index >= of {
            return range(format!("a slice must be one of {of}, counted from 0, not {index}"));
        }
        if self.own_clients().is_empty() {
            return range(format!("slice {index} of {of} has none of {} clients", self.clients()));
        }
        if matches!(self.load, Load::Rate(_)) && of > self.clients() {
            // A slice without a connection would leave its starts undone.
            return range(format!("a rate with {} connections cannot be divided by {of}", self.clients()));
        }
        if self.load_threads == 0 || self.load_threads > LOAD_THREADS_MAX {
            return range(format!("load_threads must be 1 to {LOAD_THREADS_MAX}, not {}", self.load_threads));
        }
        for (name, value) in [
            ("ramp_up_s", self.ramp_up_s),
            ("ramp_down_s", self.ramp_down_s),
            ("delay_s", self.delay_s),
            ("think_s", self.think_s),
        ] {
            if !(0.0..=LENGTH_MAX_S).contains(&value) {
                return range(format!("{name} must be 0 to {LENGTH_MAX_S}, not {value}"));
            }
        }
        for (name, value) in [
            ("length_s", self.length_s),
            ("connect_timeout_s", self.connect_timeout_s),
            ("reply_timeout_s", self.reply_timeout_s),
        ] {
            if !(value > 0.0 && value <= LENGTH_MAX_S) {
                return range(format!("{name} must be more than 0 and at most {LENGTH_MAX_S}, not {value}"));
            }
        }
        if matches!(self.load, Load::Rate(_)) && (self.think_s > 0.0 || self.delay_s > 0.0) {
            return range("a rate says when each operation begins: think_s and delay_s must be 0".to_owned());
        }
        if self.max_operations == Some(0) {
            return range("max_operations must be at least 1".to_owned());
        }
        if self.max_operations.is_none() && self.ramp_up_s + self.ramp_down_s >= self.length_s {
            return range(format!(
                "no time is left to measure: ramps of {} s and {} s fill the length of {} s",
                self.ramp_up_s, self.ramp_down_s, self.length_s
            ));
        }
        self.check_rows()
    }

    fn check_rows(&self) -> Result<(), SpecError> {
        let Some(interval_s) = self.interval_s else { return Ok(()) };
        let range = |text: String| Err(SpecError::Range(text));
        if !(INTERVAL_MIN_S..=LENGTH_MAX_S).contains(&interval_s) {
            return range(format!("interval_s must be {INTERVAL_MIN_S} to {LENGTH_MAX_S}, not {interval_s}"));
        }
        if self.length_s / interval_s > INTERVALS_MAX {
            return range(format!("intervals of {interval_s} s in {} s are more than {INTERVALS_MAX}", self.length_s));
        }
        Ok(())
    }

    /// The phases of the trial when it starts at `start_ns`.
    pub fn timeline(&self, start_ns: Nanos) -> Timeline {
        let (up, down) = if self.max_operations.is_some() { (0.0, 0.0) } else { (self.ramp_up_s, self.ramp_down_s) };
        Timeline::new(start_ns, nanos(up), nanos(self.length_s), nanos(down))
    }

    /// Simulated clients; of a rate, the most connections there may be.
    pub const fn clients(&self) -> u32 {
        self.load.clients()
    }

    /// Whether this machine drives all clients.
    pub const fn is_whole(&self) -> bool {
        self.slice.of == 1
    }

    /// The clients of this machine.
    pub fn own_clients(&self) -> Range<u32> {
        let Slice { index, of } = self.slice;
        let until = |part: u32| (u64::from(self.clients()) * u64::from(part) / u64::from(of)) as u32;
        until(index)..until(index + 1)
    }

    /// The sessions of this machine.
    pub fn own_sessions(&self) -> u32 {
        self.own_clients().len() as u32 * self.sessions_of_client()
    }

    /// This machine's share of a trial that is bounded by a count, by its clients.
    pub fn own_operations(&self) -> Option<u64> {
        let (own, clients) = (self.own_clients(), u128::from(self.clients()));
        let until = |client: u32, all: u64| (u128::from(all) * u128::from(client) / clients) as u64;
        self.max_operations.map(|all| until(own.end, all) - until(own.start, all))
    }

    /// Which share of a rate one of this machine's `threads` load threads begins, and of how many. Each slice takes every
    /// n-th start of the whole sequence, and each of its threads every so many-th of those: slices need not have as many
    /// threads as each other.
    pub const fn share(&self, thread: u32, threads: u32) -> (u32, u32) {
        (self.slice.index + self.slice.of * thread, self.slice.of * threads)
    }

    /// The seed of random choices that are made for each load thread: threads of different machines differ.
    pub fn thread_seed(&self) -> u64 {
        self.seed ^ u64::from(self.slice.index) << 32
    }

    /// Sessions that a client holds at once.
    pub const fn sessions_of_client(&self) -> u32 {
        self.virtual_users * self.streams
    }

    /// Sessions of the whole trial.
    pub const fn sessions(&self) -> u32 {
        self.clients() * self.sessions_of_client()
    }

    /// The processor that the user wants for a load-generating thread, if any.
    pub fn pinned(&self, thread: usize) -> Option<u32> {
        let processors = self.pin.as_ref().filter(|processors| !processors.is_empty())?;
        Some(processors[thread % processors.len()])
    }
}

/// Seconds as whole nanoseconds.
pub(crate) fn nanos(seconds: f64) -> Nanos {
    (seconds * SECOND_NS as f64).round() as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rate, Shape};

    fn parse_load(load: &str, extra: &str) -> Result<TrialSpec, SpecError> {
        TrialSpec::from_json(&format!(r#"{{"workload":{{"kind":"null"}},"load":{load},"length_s":3{extra}}}"#))
    }

    fn parse(extra: &str) -> Result<TrialSpec, SpecError> {
        parse_load(r#"{"clients":4}"#, extra)
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let spec = parse("").unwrap();
        assert_eq!((spec.virtual_users, spec.load_threads, spec.sessions()), (1, 1, 4));
        assert!((spec.connect_timeout_s - 5.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_spec_that_leaves_nothing_to_measure_is_refused() {
        let error = parse(r#","ramp_up_s":2,"ramp_down_s":1"#).unwrap_err();
        assert!(error.to_string().contains("no time is left"), "{error}");
        assert!(parse(r#","ramp_up_s":2,"ramp_down_s":1,"max_operations":10"#).is_ok());
    }

    #[test]
    fn slices_hold_every_client_once_and_the_bound_between_them() {
        for (clients, of) in [(4, 1), (4, 3), (7, 7), (100, 3), (100_000, 60)] {
            let text = |index| {
                format!(
                    r#"{{"workload":{{"kind":"null"}},"load":{{"clients":{clients}}},"length_s":3,"max_operations":1000,
                    "slice":{{"index":{index},"of":{of}}}}}"#
                )
            };
            let slices: Vec<_> = (0..of).map(|index| TrialSpec::from_json(&text(index)).unwrap()).collect();
            assert!(slices.iter().flat_map(TrialSpec::own_clients).eq(0..clients));
            assert_eq!(slices.iter().filter_map(TrialSpec::own_operations).sum::<u64>(), 1000);
            assert_eq!(slices.iter().map(TrialSpec::own_sessions).sum::<u32>(), clients);
            assert_eq!(slices[0].thread_seed(), slices[0].seed);
        }
        let error = parse(r#","slice":{"index":0,"of":5}"#).unwrap_err();
        assert_eq!(error.to_string(), "slice 0 of 5 has none of 4 clients");
        assert!(parse(r#","slice":{"index":2,"of":2}"#).is_err());
        assert!(parse(r#","slice":{"index":0,"of":0}"#).is_err());
        let rate = r#"{"rate":{"per_s":500,"most_connections":8}}"#;
        assert!(parse_load(rate, r#","slice":{"index":7,"of":8}"#).is_ok());
        let error = parse_load(rate, r#","slice":{"index":0,"of":9}"#).unwrap_err().to_string();
        assert!(error == "slice 0 of 9 has none of 8 clients", "{error}");
        let error = parse_load(rate, r#","slice":{"index":1,"of":9}"#).unwrap_err().to_string();
        assert!(error == "a rate with 8 connections cannot be divided by 9", "{error}");
    }

    #[test]
    fn unknown_keys_and_bad_values_are_refused() {
        for extra in [
            r#","colour":1"#,
            r#","virtual_users":0"#,
            r#","think_s":-1"#,
            r#","load_threads":0"#,
            r#","max_operations":0"#,
        ] {
            assert!(parse(extra).is_err(), "{extra}");
        }
    }
    #[test]
    fn a_rate_has_its_clients_and_leaves_no_room_for_pauses() {
        let rate = r#"{"rate":{"per_s":500,"arrivals":{"shape":"poisson"},"most_connections":8}}"#;
        let spec = parse_load(rate, r#","virtual_users":2"#).unwrap();
        let expected = Rate { per_s: 500.0, arrivals: Shape::Poisson {}, most_connections: 8 };
        assert_eq!((&spec.load, spec.clients(), spec.sessions()), (&Load::Rate(expected), 8, 16));
        for pause in [r#","think_s":0.1"#, r#","delay_s":1"#] {
            assert!(parse_load(rate, pause).unwrap_err().to_string().contains("a rate says when"), "{pause}");
        }
    }

    #[test]
    fn impossible_loads_are_refused() {
        for load in [
            "4",
            "{}",
            r#"{"clients":0}"#,
            r#"{"clients":100001}"#,
            r#"{"clients":1,"rate":{"per_s":1,"most_connections":1}}"#,
            r#"{"rate":{"per_s":1}}"#,
            r#"{"rate":{"per_s":0,"most_connections":1}}"#,
            r#"{"rate":{"per_s":1e8,"most_connections":1}}"#,
            r#"{"rate":{"per_s":1,"most_connections":0}}"#,
            r#"{"rate":{"per_s":1,"most_connections":1,"colour":1}}"#,
            r#"{"rate":{"per_s":1,"most_connections":1,"arrivals":"poisson"}}"#,
            r#"{"rate":{"per_s":1,"most_connections":1,"arrivals":{"shape":"burst","size":0}}}"#,
            r#"{"rate":{"per_s":1e6,"most_connections":1,"arrivals":{"shape":"ramp","from":0,"to":11}}}"#,
            r#"{"rate":{"per_s":1e6,"most_connections":1,"arrivals":{"shape":"on_off","on_s":1,"off_s":10}}}"#,
        ] {
            assert!(parse_load(load, "").is_err(), "{load}");
        }
    }
}
