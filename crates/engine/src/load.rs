//! What a trial puts on its contender: so many clients that wait for their replies, or so many starts a second that
//! do not.

use crate::schedule::Shape;
use serde::Deserialize;

/// How pauses are spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// All alike.
    #[default]
    Fixed,
    /// Exponential, as between the starts of independent users.
    Exponential,
}

/// The load of a trial, in JSON `{"clients": 8}` or `{"rate": {"per_s": 500, …}}`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Closed loop: so many clients, each of which asks again when it was answered and has paused.
    Clients(u32),
    /// Open loop: starts are planned, whether or not earlier operations are over.
    Rate(Rate),
}

/// Starts that are planned ahead.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Iterations that begin, per second: the mean, unless the shape's factors say otherwise.
    pub per_s: f64,
    /// How the starts are spread over time.
    #[serde(default)]
    pub arrivals: Shape,
    /// The most connections that carry it. A start that finds all of them busy is late.
    pub most_connections: u32,
}

/// Upper limits, so that a slip in a plan cannot exhaust the machine.
pub(crate) const CLIENTS_MAX: u32 = 100_000;
pub(crate) const RATE_MAX_PER_S: f64 = 10e6;

impl Load {
    /// Simulated clients; of a rate, the most connections there may be.
    pub const fn clients(&self) -> u32 {
        match self {
            Self::Clients(clients) => *clients,
            Self::Rate(rate) => rate.most_connections,
        }
    }

    /// Whether it leaves the moments of its starts to the workload.
    pub fn wants_moments(&self) -> bool {
        matches!(self, Self::Rate(Rate { arrivals: Shape::Replay { at_s }, .. }) if at_s.is_empty())
    }

    /// What is wrong with it, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Clients(clients) => within("clients", *clients),
            Self::Rate(rate) => rate.check(),
        }
    }
}

impl Rate {
    fn check(&self) -> Result<(), String> {
        let Self { per_s, arrivals, most_connections } = self;
        within("most_connections", *most_connections)?;
        if !(*per_s > 0.0 && *per_s <= RATE_MAX_PER_S) {
            return Err(format!("a rate must be over 0 and at most {RATE_MAX_PER_S} a second, not {per_s}"));
        }
        arrivals.check()?;
        let peak = per_s * arrivals.peak();
        if peak > RATE_MAX_PER_S {
            return Err(format!("these arrivals rise to {peak} a second, over the limit of {RATE_MAX_PER_S}"));
        }
        Ok(())
    }
}

fn within(name: &str, count: u32) -> Result<(), String> {
    if count == 0 || count > CLIENTS_MAX {
        return Err(format!("{name} must be 1 to {CLIENTS_MAX}, not {count}"));
    }
    Ok(())
}
