//! What the sessions of a trial tell each other between its stages.

use super::message::Id;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// Accepted and seen copies by mailbox, so that the drain knows what is still to come.
#[derive(Debug, Default)]
pub(crate) struct Books {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    accepted: HashMap<u32, Vec<Id>>,
    seen: HashSet<(u32, Id)>,
}

impl Books {
    /// A session deposits what it knows.
    pub fn deposit(&self, accepted: impl Iterator<Item = (u32, Id)>, seen: impl Iterator<Item = (u32, Id)>) {
        if let Ok(mut inner) = self.inner.lock() {
            for (mailbox, id) in accepted {
                inner.accepted.entry(mailbox).or_default().push(id);
            }
            inner.seen.extend(seen);
        }
    }

    /// What a mailbox is still to show.
    pub fn outstanding(&self, mailbox: u32) -> HashSet<Id> {
        let Ok(inner) = self.inner.lock() else { return HashSet::new() };
        let accepted = inner.accepted.get(&mailbox).into_iter().flatten();
        accepted.filter(|id| !inner.seen.contains(&(mailbox, **id))).copied().collect()
    }
}
