//! What a trial puts on its contender: so many clients that wait for their replies, or so many starts a second that
//! do not.

use serde::Deserialize;

/// How pauses, or the times between arrivals, are spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// All alike.
    #[default]
    Fixed,
    /// Exponential: the arrivals are a Poisson process.
    Exponential,
}

/// The load of a trial, in JSON `{"clients": 8}` or `{"rate": {"per_s": 500, …}}`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Closed loop: so many clients, each of which asks again when it was answered and has paused.
    Clients(u32),
    /// Open loop: starts are planned, whether or not earlier operations are over.
    Rate(Rate),
}

/// Starts that are planned ahead.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Operations that begin, per second.
    pub per_s: f64,
    /// How the times between them are spread.
    #[serde(default)]
    pub arrivals: Distribution,
    /// The most clients that carry it. A start that finds all of them busy is late.
    pub most_clients: u32,
}

/// Upper limits, so that a slip in a plan cannot exhaust the machine.
pub(crate) const CLIENTS_MAX: u32 = 100_000;
pub(crate) const RATE_MAX_PER_S: f64 = 10e6;

impl Load {
    /// Simulated clients; of a rate, the most there may be.
    pub const fn clients(&self) -> u32 {
        match self {
            Self::Clients(clients) => *clients,
            Self::Rate(rate) => rate.most_clients,
        }
    }

    /// What is wrong with it, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let clients = self.clients();
        if clients == 0 || clients > CLIENTS_MAX {
            return Err(format!("clients must be 1 to {CLIENTS_MAX}, not {clients}"));
        }
        match self {
            Self::Rate(Rate { per_s, .. }) if !(*per_s > 0.0 && *per_s <= RATE_MAX_PER_S) => {
                Err(format!("a rate must be over 0 and at most {RATE_MAX_PER_S} a second, not {per_s}"))
            }
            _ => Ok(()),
        }
    }
}
