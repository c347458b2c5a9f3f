//! What the sessions of a trial tell each other between its stages.

use super::message::Id;
use bakeoff_engine::Nanos;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Accepted and seen copies by mailbox, so that the drain knows what is still to come.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    inner: Mutex<Inner>,
    /// When the drain last read a message.
    news_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct Inner {
    accepted: HashMap<u32, Vec<Id>>,
    seen: HashSet<(u32, Id)>,
}

impl Exchange {
    /// A session deposits what it knows.
    pub fn deposit(&self, accepted: impl Iterator<Item = (u32, Id)>, seen: impl Iterator<Item = (u32, Id)>) {
        if let Ok(mut inner) = self.inner.lock() {
            for (mailbox, id) in accepted {
                inner.accepted.entry(mailbox).or_default().push(id);
            }
            inner.seen.extend(seen);
        }
    }

    /// The drain has read a message.
    pub fn note_news(&self, now_ns: Nanos) {
        self.news_ns.fetch_max(now_ns, Ordering::Relaxed);
    }

    /// When it last did, from whichever mailbox.
    pub fn news_ns(&self) -> Nanos {
        self.news_ns.load(Ordering::Relaxed)
    }

    /// What a mailbox is still to show.
    pub fn outstanding(&self, mailbox: u32) -> HashSet<Id> {
        let Ok(inner) = self.inner.lock() else { return HashSet::new() };
        let accepted = inner.accepted.get(&mailbox).into_iter().flatten();
        accepted.filter(|id| !inner.seen.contains(&(mailbox, **id))).copied().collect()
    }
}
