//! Checks that the descriptions of all kinds share.

use crate::ServeError;

/// Longest time in a description (a day): anything longer is a slip of the pen.
pub const SECONDS_MAX: f64 = 86_400.0;

pub fn need(good: bool, text: &str) -> Result<(), ServeError> {
    if good { Ok(()) } else { Err(ServeError::Spec(text.to_owned())) }
}

/// NaN fails too.
pub fn within(key: &str, value: f64, least: f64, max: f64) -> Result<(), ServeError> {
    need(value >= least && value <= max, &format!("{key} must be {least} to {max}, not {value}"))
}

/// A value that counts something and cannot be 0.
pub fn at_least_one(key: &str, value: Option<u64>) -> Result<(), ServeError> {
    need(value != Some(0), &format!("{key} must be at least 1"))
}
