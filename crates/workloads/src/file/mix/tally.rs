//! What both modes of the mix count alike.

use crate::file::pattern::PAGE;
use bakeoff_engine::ErrorClass;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// Pages that were read or written, one bit each.
#[derive(Debug, Clone, Default)]
pub(super) struct Pages(Vec<u64>);

impl Pages {
    /// Room for so many, so that nothing is allocated while they are marked.
    pub fn with_room(pages: u64) -> Self {
        Self(vec![0; pages.div_ceil(64) as usize])
    }

    pub fn mark(&mut self, pages: Range<u64>) {
        let words = pages.end.div_ceil(64) as usize;
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
        pages.for_each(|page| self.0[page as usize / 64] |= 1 << (page % 64));
    }

    /// Bytes of the different pages.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() * PAGE as u64
    }
}

/// Whether a call that failed so will fail for the rest of the trial as well.
pub(super) const fn is_final(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::Vanished
            | ErrorClass::NoSpace
            | ErrorClass::ReadOnly
            | ErrorClass::FileTooLarge
            | ErrorClass::TooManyFiles
    )
}

/// Counts by the names of their operations, without those that are 0, summed over all sessions.
pub(super) fn by_name<const N: usize>(names: &[&str; N], parts: &[&[u64; N]]) -> BTreeMap<String, u64> {
    let sum = |index: usize| parts.iter().map(|counts| counts[index]).sum::<u64>();
    let counts = names.iter().enumerate().map(|(index, name)| ((*name).to_owned(), sum(index)));
    counts.filter(|count| count.1 > 0).collect()
}

/// The working set of clients: the least, the most and the mean.
pub(super) fn spread(bytes: &[u64]) -> Value {
    json!({
        "min": bytes.iter().min(), "max": bytes.iter().max(),
        "mean": bytes.iter().sum::<u64>() as f64 / bytes.len().max(1) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_once() {
        let mut pages = Pages::default();
        pages.mark(0..3);
        pages.mark(2..4);
        pages.mark(63..65);
        pages.mark(200..200);
        assert_eq!(pages.bytes(), 6 * 4096);
    }

    #[test]
    fn counts_are_summed_and_zeros_left_out() {
        assert_eq!(json!(by_name(&["a", "b", "c"], &[&[1, 0, 2], &[3, 0, 0]])), json!({"a": 4, "c": 2}));
        assert_eq!(spread(&[2, 4]), json!({"min": 2, "max": 4, "mean": 3.0}));
        assert_eq!(spread(&[]), json!({"min": null, "max": null, "mean": 0.0}));
    }
}
