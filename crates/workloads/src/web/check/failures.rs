//! Which requests failed, and how: what a single count of errors does not tell.

use bakeoff_engine::{ErrorClass, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Requests that are told by name.
const ROWS: usize = 100;
/// Pairs of request and fault that are counted apart; what comes later is counted as one.
const PAIRS_MAX: usize = 10_000;
/// Longer names are cut off, characters.
const NAME_MAX: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Status(u16),
    Other(&'static str),
    /// One that the work has words for, by their number.
    Described(u16),
}

impl Fault {
    /// What an operation that ended so suffered from.
    pub fn of(error: ErrorClass, outcome: &Outcome) -> Self {
        if error == ErrorClass::WrongStatus { Self::Status(outcome.status) } else { Self::Other(error.name()) }
    }
}

#[derive(Debug, Default)]
struct Counts {
    pairs: BTreeMap<(usize, Fault), u64>,
    more: u64,
}

/// Failed operations of the measured window. Only who fails writes here.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    counts: Mutex<Counts>,
}

impl Failures {
    /// Writes down how a request failed.
    #[cold]
    pub fn note(&self, request: usize, fault: Fault) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.pairs.len() < PAIRS_MAX || counts.pairs.contains_key(&(request, fault)) {
            *counts.pairs.entry((request, fault)).or_default() += 1;
        } else {
            counts.more += 1;
        }
    }

    /// The requests that failed most, by name, each with how often by status or class of error; and all other failures.
    /// `said` has the words of [`Fault::Described`].
    pub fn table<'a>(&self, name_of: impl Fn(usize) -> &'a str, said: impl Fn(u16) -> String) -> Value {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows: BTreeMap<String, (u64, BTreeMap<String, u64>)> = BTreeMap::new();
        for (&(request, fault), &count) in &counts.pairs {
            let name: String = name_of(request).chars().take(NAME_MAX).collect();
            let (sum, faults) = rows.entry(name).or_default();
            let fault = match fault {
                Fault::Status(status) => status.to_string(),
                Fault::Other(class) => class.to_owned(),
                Fault::Described(number) => said(number),
            };
            *sum += count;
            *faults.entry(fault).or_default() += count;
        }
        let mut order: Vec<_> = rows.into_iter().collect();
        order.sort_by_key(|(_, (sum, _))| std::cmp::Reverse(*sum));
        let rest: u64 = order.iter().skip(ROWS).map(|(_, (sum, _))| sum).sum();
        order.truncate(ROWS);
        let requests: BTreeMap<_, _> = order.into_iter().map(|(name, (_, faults))| (name, faults)).collect();
        json!({"requests": requests, "others": counts.more + rest})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(failures: &Failures, request: usize, status: u16, error: ErrorClass) {
        let outcome = Outcome { operation: 0, error: Some(error), bytes_in: 0, bytes_out: 0, status };
        failures.note(request, Fault::of(error, &outcome));
    }

    #[test]
    fn failures_are_told_by_request_and_status_or_class() {
        let failures = Failures::default();
        for (request, status, error) in [
            (1, 404, ErrorClass::WrongStatus),
            (0, 302, ErrorClass::WrongStatus),
            (1, 404, ErrorClass::WrongStatus),
            (1, 200, ErrorClass::WrongContent),
            (1, 0, ErrorClass::Refused),
        ] {
            fail(&failures, request, status, error);
        }
        let told = failures.table(|request| ["GET /a", "POST /b"][request], |_| String::new());
        let expected = json!({"GET /a": {"302": 1}, "POST /b": {"404": 2, "wrong_content": 1, "refused": 1}});
        assert_eq!(told, json!({"requests": expected, "others": 0}));
    }

    #[test]
    fn the_table_is_bounded_and_nothing_is_left_out_of_its_sum() {
        let failures = Failures::default();
        let names: Vec<String> = (0..PAIRS_MAX + 5).map(|n| format!("GET /{n}{}", "x".repeat(2 * NAME_MAX))).collect();
        for request in 0..names.len() {
            (0..=u64::from(request == 7)).for_each(|_| fail(&failures, request, 500, ErrorClass::WrongStatus));
        }
        let told = failures.table(|request| &names[request], |_| String::new());
        let rows = told["requests"].as_object().unwrap();
        assert_eq!(rows.len(), ROWS);
        assert!(rows.iter().all(|(name, _)| name.chars().count() == NAME_MAX));
        assert!(rows.keys().any(|name| name.starts_with("GET /7x")), "the one that failed most");
        let listed: u64 = rows.values().map(|faults| faults["500"].as_u64().unwrap()).sum();
        assert_eq!(listed + told["others"].as_u64().unwrap(), names.len() as u64 + 1);
    }
}
