//! What replies were, of a trial that is made to learn it.

use crate::web::hex::to_hex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Replies that are kept of each request, and requests of which some are.
const REPLIES_MAX: usize = 8;
const REQUESTS_MAX: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Learnt {
    pub status: u16,
    pub body_bytes: u64,
    pub sha256: [u8; 32],
    pub content_type: Box<[u8]>,
}

/// The replies to each request, in their order.
#[derive(Debug, Default)]
pub(crate) struct Lessons(Mutex<BTreeMap<usize, Vec<Learnt>>>);

impl Lessons {
    pub fn note(&self, request: usize, learnt: Learnt) {
        let mut replies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if replies.len() < REQUESTS_MAX || replies.contains_key(&request) {
            let of_request = replies.entry(request).or_default();
            if of_request.len() < REPLIES_MAX {
                of_request.push(learnt);
            }
        }
    }

    /// By the number of the request, as text.
    pub fn table(&self) -> Value {
        let replies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        replies.iter().map(|(request, all)| (request.to_string(), all.iter().map(told).collect::<Value>())).collect()
    }
}

fn told(learnt: &Learnt) -> Value {
    let sha256 = to_hex(&learnt.sha256);
    let content_type = String::from_utf8_lossy(&learnt.content_type);
    json!({"status": learnt.status, "length": learnt.body_bytes, "sha256": sha256, "content_type": content_type})
}
