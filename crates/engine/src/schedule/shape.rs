//! The shapes that a rate can have over time, as they are asked for.

use serde::Deserialize;

/// How the starts of a rate are spread over time, in JSON `{"shape": "ramp", "from": 0.2, "to": 1.8}`.
///
/// Their mean rate is the load's, but where factors of it are given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// An even grid.
    Constant {},
    /// A Poisson process: independent users.
    Poisson {},
    /// The times between starts are spread evenly from 0 to twice their mean.
    Uniform {},
    /// The rate changes evenly over the whole length of the trial.
    Ramp {
        /// Factor of the rate at the beginning.
        from: f64,
        /// Factor of the rate at the end.
        to: f64,
    },
    /// One rate after the other, and again from the first.
    Steps {
        /// Factor of the rate, and for how long, s.
        steps: Vec<(f64, f64)>,
    },
    /// So many starts at one moment.
    Burst {
        /// How many.
        size: u32,
    },
    /// An even grid with pauses; as dense as it takes for the mean over both to be the rate.
    OnOff {
        /// Time with starts, s.
        on_s: f64,
        /// Time without, s.
        off_s: f64,
    },
    /// Moments that were recorded elsewhere.
    Replay {
        /// From the beginning of the trial, s; empty when the workload has them.
        at_s: Vec<f64>,
    },
}

impl Default for Shape {
    fn default() -> Self {
        Self::Constant {}
    }
}

/// The longest part of a shape, s.
const LONGEST_S: f64 = 30.0 * 24.0 * 3600.0;
const STEPS_MAX: usize = 10_000;
const BURST_MAX: u32 = 1_000_000;

impl Shape {
    /// What is wrong with it, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Constant {} | Self::Poisson {} | Self::Uniform {} => Ok(()),
            Self::Ramp { from, to } => {
                factor("the ramp's first", *from)?;
                factor("the ramp's last", *to)?;
                some(*from + *to, "a ramp from 0 to 0 starts nothing: one of its factors must be over 0")
            }
            Self::Steps { steps } => check_steps(steps),
            Self::Burst { size } if (1..=BURST_MAX).contains(size) => Ok(()),
            Self::Burst { size } => Err(format!("a burst must have 1 to {BURST_MAX} starts, not {size}")),
            Self::OnOff { on_s, off_s } => {
                length("the time on", *on_s)?;
                if *off_s == 0.0 { Ok(()) } else { length("the time off", *off_s) }
            }
            Self::Replay { at_s } => check_moments(at_s),
        }
    }

    /// The highest factor of the rate, where there is one.
    pub(crate) fn peak(&self) -> f64 {
        match self {
            Self::Constant {} | Self::Poisson {} | Self::Uniform {} | Self::Burst { .. } | Self::Replay { .. } => 1.0,
            Self::Ramp { from, to } => from.max(*to),
            Self::Steps { steps } => steps.iter().fold(0.0, |most, step| step.0.max(most)),
            Self::OnOff { on_s, off_s } => (on_s + off_s) / on_s,
        }
    }
}

fn factor(what: &str, factor: f64) -> Result<(), String> {
    if factor.is_finite() && factor >= 0.0 {
        return Ok(());
    }
    Err(format!("{what} factor of the rate must be 0 or more, not {factor}"))
}

fn length(what: &str, length_s: f64) -> Result<(), String> {
    if length_s > 0.0 && length_s <= LONGEST_S {
        return Ok(());
    }
    Err(format!("{what} must be over 0 and at most {LONGEST_S} s, not {length_s} s"))
}

fn some(factors: f64, otherwise: &str) -> Result<(), String> {
    if factors > 0.0 { Ok(()) } else { Err(otherwise.to_owned()) }
}

fn check_steps(steps: &[(f64, f64)]) -> Result<(), String> {
    if steps.is_empty() || steps.len() > STEPS_MAX {
        return Err(format!("there must be 1 to {STEPS_MAX} steps, not {}", steps.len()));
    }
    for &(of_rate, length_s) in steps {
        factor("a step's", of_rate)?;
        length("a step", length_s)?;
    }
    let factors = steps.iter().map(|step| step.0).sum();
    some(factors, "steps that are all 0 start nothing: one of their factors must be over 0")
}

fn check_moments(at_s: &[f64]) -> Result<(), String> {
    let mut last_s = 0.0;
    for (index, &moment_s) in at_s.iter().enumerate() {
        if !(0.0..=LONGEST_S).contains(&moment_s) {
            return Err(format!("moment {} must be 0 to {LONGEST_S} s, not {moment_s} s", index + 1));
        }
        if moment_s < last_s {
            return Err(format!("time runs backwards: moment {} is {moment_s} s, after {last_s} s", index + 1));
        }
        last_s = moment_s;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<(), String> {
        serde_json::from_str::<Shape>(json).map_err(|error| error.to_string())?.check()
    }

    #[test]
    fn each_shape_is_read_by_its_name() {
        for json in [
            r#"{"shape":"constant"}"#,
            r#"{"shape":"poisson"}"#,
            r#"{"shape":"uniform"}"#,
            r#"{"shape":"ramp","from":0.2,"to":1.8}"#,
            r#"{"shape":"ramp","from":0,"to":1}"#,
            r#"{"shape":"steps","steps":[[1,5],[0,0.5],[2.5,1]]}"#,
            r#"{"shape":"burst","size":50}"#,
            r#"{"shape":"on_off","on_s":1,"off_s":0}"#,
            r#"{"shape":"replay","at_s":[]}"#,
            r#"{"shape":"replay","at_s":[0,0,0.5,2]}"#,
        ] {
            assert_eq!(read(json), Ok(()), "{json}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_sentence() {
        for (json, why) in [
            (r#"{"shape":"square"}"#, "unknown variant"),
            (r#"{"shape":"constant","size":1}"#, "unknown field"),
            (r#"{"shape":"burst","size":5,"at_s":[]}"#, "unknown field"),
            (r#"{"shape":"ramp","from":0,"to":0}"#, "starts nothing"),
            (r#"{"shape":"ramp","from":-1,"to":1}"#, "0 or more, not -1"),
            (r#"{"shape":"steps","steps":[]}"#, "1 to 10000 steps"),
            (r#"{"shape":"steps","steps":[[1,0]]}"#, "a step must be over 0"),
            (r#"{"shape":"steps","steps":[[0,1],[0,2]]}"#, "all 0"),
            (r#"{"shape":"burst","size":0}"#, "1 to 1000000 starts"),
            (r#"{"shape":"on_off","on_s":0,"off_s":1}"#, "the time on"),
            (r#"{"shape":"on_off","on_s":1,"off_s":-1}"#, "the time off"),
            (r#"{"shape":"replay","at_s":[0.5,0.4]}"#, "time runs backwards: moment 2 is 0.4 s, after 0.5 s"),
            (r#"{"shape":"replay","at_s":[-1]}"#, "moment 1 must be 0"),
        ] {
            let refused = read(json).unwrap_err();
            assert!(refused.contains(why), "{json}: {refused}");
        }
    }
}
