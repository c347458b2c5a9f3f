//! Caches of a cell: what they are to be, and how cold they were made.

use super::evidence::CacheVerdict;
use serde::Deserialize;
use serde_json::{Value, json};

/// What state caches are brought to before each test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// As the test before left them.
    Warm,
    /// As cold as allowed.
    Cold,
}

impl Cache {
    fn name(self) -> &'static str {
        if self == Self::Cold { "cold" } else { "warm" }
    }
}

/// How cold the caches were before the clock of a cell started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coldness {
    pub asked: Cache,
    /// Rung of the ladder: from 2 on something was dropped.
    pub level: u8,
    pub name: &'static str,
    /// Pages of the files that were in the page cache all the same.
    pub resident_pages: Option<u64>,
    pub file_bytes: u64,
}

impl Coldness {
    /// As figures, with whether the coldness was seen.
    pub fn json(&self) -> Value {
        json!({
            "asked": self.asked.name(),
            "level": self.level,
            "name": self.name,
            "resident_pages": self.resident_pages,
            "resident_share": self.resident_pages.map(|pages| pages as f64 * 4096.0 / self.file_bytes as f64),
            "proved": self.level >= 2 && self.resident_pages == Some(0),
        })
    }
}

/// The figures of a cell with what is known of its caches.
pub(super) fn with_caches(mut figures: Value, coldness: &Coldness, judgement: &CacheVerdict) -> Value {
    figures["cache"] = coldness.json();
    figures["cached"] = json!(judgement.cached);
    figures["cached_reason"] = json!(judgement.reason);
    figures["carried_bytes"] = json!(judgement.carried_bytes);
    figures
}
