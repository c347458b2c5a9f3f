//! HTTP/1 where the reply is copied: over TLS it is encrypted anyway.

use std::sync::Arc;

use super::heads::count_heads;
use super::spoken::Dialogue;

pub struct Http1 {
    reply: Arc<[u8]>,
    close: bool,
    matched: u8,
    owed: u64,
    is_over: bool,
}

impl Http1 {
    /// With `close` the connection ends after its reply.
    pub const fn new(reply: Arc<[u8]>, close: bool) -> Self {
        Self { reply, close, matched: 0, owed: 0, is_over: false }
    }
}

impl Dialogue for Http1 {
    fn take(&mut self, bytes: &[u8], _: &mut Vec<u8>) -> u64 {
        let heads = count_heads(bytes, &mut self.matched);
        let taken = if self.close { heads.min(u64::from(!self.is_over)) } else { heads };
        self.is_over |= self.close && heads > 0;
        self.owed += taken;
        taken
    }

    fn pay(&mut self, out: &mut Vec<u8>) -> bool {
        if self.owed == 0 {
            return false;
        }
        self.owed -= 1;
        out.extend_from_slice(&self.reply);
        true
    }

    fn is_over(&self) -> bool {
        self.is_over && self.owed == 0
    }
}
