//! What a session has learnt beside what the engine records.

use super::read_back::Found;
use super::watch::Watch;
use bakeoff_app_protocol::Hello;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What servers say of their own times, held against what can be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// Replies that told queue and service times.
    pub told: u64,
    /// Of them, those that told more than the whole transaction took.
    pub too_long: u64,
    /// Those that told less than any processor takes for the work.
    pub too_short: u64,
}

/// Answers to processor work that were worked out again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct VerifiedAnswers {
    pub answers: u64,
    pub checked: u64,
    pub wrong: u64,
}

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub server: Option<Hello>,
    /// What the server had used, told inside the window.
    pub used: Watch,
    pub records_read: u64,
    pub damaged: u64,
    pub lost: u64,
    pub wrong_results: u64,
    pub times: Times,
    /// After the trial; none when it was broken off.
    pub read_back: Option<Found>,
    pub worked: Option<VerifiedAnswers>,
    pub refusals: BTreeMap<Cow<'static, str>, u64>,
}

impl Tally {
    /// As one machine of several tells it.
    pub fn json(&self) -> Value {
        json!({
            "hello": self.server.map(|hello| hello.to_bytes().to_vec()),
            "used": self.used.looks(),
            "counts": [self.records_read, self.damaged, self.lost, self.wrong_results],
            "times": [self.times.told, self.times.too_long, self.times.too_short],
            "read_back": self.read_back.map(|found| found.numbers()),
            "worked": self.worked.map(|worked| [worked.answers, worked.checked, worked.wrong]),
            "refusals": self.refusals,
        })
    }

    /// Reads what [`Tally::json`] tells; `None` for anything else.
    pub fn from_json(value: &Value) -> Option<Self> {
        let read = |name: &str| value.get(name).cloned();
        let hello: Option<Vec<u8>> = serde_json::from_value(read("hello")?).ok()?;
        let [records_read, damaged, lost, wrong_results] = serde_json::from_value(read("counts")?).ok()?;
        let [told, too_long, too_short] = serde_json::from_value(read("times")?).ok()?;
        let read_back: Option<[u64; 6]> = serde_json::from_value(read("read_back")?).ok()?;
        let worked: Option<[u64; 3]> = serde_json::from_value(read("worked")?).ok()?;
        Some(Self {
            server: hello.map(|bytes| Hello::from_bytes(&bytes).ok_or(())).transpose().ok()?,
            used: Watch::of(serde_json::from_value(read("used")?).ok()?),
            records_read,
            damaged,
            lost,
            wrong_results,
            times: Times { told, too_long, too_short },
            read_back: read_back.map(Found::of),
            worked: worked.map(|[answers, checked, wrong]| VerifiedAnswers { answers, checked, wrong }),
            refusals: serde_json::from_value(read("refusals")?).ok()?,
        })
    }

    /// Adds another session's.
    pub fn add(&mut self, other: &Self) {
        if let Some(server) = other.server {
            // One that asked for a segment knows its size.
            if self.server.is_none_or(|known| known.segment_bytes == 0) {
                self.server = Some(server);
            }
        }
        self.used.add(&other.used);
        self.records_read += other.records_read;
        self.damaged += other.damaged;
        self.lost += other.lost;
        self.wrong_results += other.wrong_results;
        self.times.told += other.times.told;
        self.times.too_long += other.times.too_long;
        self.times.too_short += other.times.too_short;
        if let Some(theirs) = &other.read_back {
            self.read_back.get_or_insert_default().add(theirs);
        }
        if let Some(theirs) = &other.worked {
            let mine = self.worked.get_or_insert_default();
            mine.answers += theirs.answers;
            mine.checked += theirs.checked;
            mine.wrong += theirs.wrong;
        }
        for (name, count) in &other.refusals {
            *self.refusals.entry(name.clone()).or_default() += count;
        }
    }
}
