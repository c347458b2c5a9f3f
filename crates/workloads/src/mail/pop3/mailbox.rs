//! What is known of one mailbox, and what is to be done with its messages.

use crate::mail::ledger::message::Id;
use bakeoff_engine::Nanos;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// How the last look into a mailbox ended that the drain took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inspection {
    /// There was none.
    Never,
    /// Everything that was listed was read.
    Whole,
    /// It broke off.
    Broken(&'static str),
}

/// What is known of one mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub index: u32,
    /// Unique ids that were read: whose message, and whether its deletion was confirmed.
    pub known: HashMap<u64, (Option<Id>, bool)>,
    /// Unique ids of mail that is not Bakeoff's.
    pub foreign: HashSet<u64>,
    pub inspection: Inspection,
    /// Begin of the last session that listed the mailbox.
    pub listed_ns: Nanos,
    /// While preparing: seen empty. While draining: polled once more after all had come.
    pub settled: bool,
    pub cleanings: u32,
    pub expected: HashSet<Id>,
}

/// One message in the listing of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub number: u32,
    pub uid: u64,
    pub todo: MessageAction,
}

/// What is to be done with a message of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageAction {
    /// It is to be read.
    Read,
    /// It is to be deleted: read in an earlier session that could not delete it, or not wanted.
    Delete,
    /// It is nobody's business.
    LeaveAlone,
}

impl Mailbox {
    pub fn new(index: u32) -> Self {
        Self {
            index,
            known: HashMap::new(),
            foreign: HashSet::new(),
            inspection: Inspection::Never,
            listed_ns: 0,
            settled: false,
            cleanings: 0,
            expected: HashSet::new(),
        }
    }

    /// A message of its listing; `delete` tells whether what was read is to be deleted at all.
    pub fn item(&self, number: u32, uid: &[u8], delete: bool) -> Item {
        let uid = short(uid);
        let todo = if self.foreign.contains(&uid) {
            MessageAction::LeaveAlone
        } else if delete && self.known.get(&uid).is_some_and(|(_, gone)| !gone) {
            MessageAction::Delete
        } else {
            MessageAction::Read
        };
        Item { number, uid, todo }
    }
}

/// A unique id of up to 70 characters in one word.
fn short(uid: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    uid.hash(&mut hasher);
    hasher.finish()
}
