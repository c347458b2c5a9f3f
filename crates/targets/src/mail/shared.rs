//! What all connections of one mail target have in common: its mailboxes, faults and counts.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, PoisonError};

use tokio_rustls::TlsAcceptor;

use super::spec::MailSpec;
use super::store::Store;
use crate::ServeError;
use crate::server::clock::{now_ns, to_ns};
use crate::server::faults::{Refusal, RefuseSpec};
use crate::server::tls;

/// Ids listed for each fault.
const LISTED: usize = 100_000;

#[derive(Default)]
pub struct Counts {
    pub smtp_connections: u64,
    pub pop3_connections: u64,
    pub refused: u64,
    pub connections_refused: u64,
    pub messages: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub dropped: u64,
    pub logins: u64,
    pub in_use: u64,
    pub retrieved: u64,
    pub deleted: u64,
    pub lost: Vec<String>,
    pub duplicated: Vec<String>,
    pub damaged: Vec<String>,
    pub misdelivered: Vec<String>,
    pub deferred: Vec<String>,
}

pub struct Faults {
    pub refuse: Refusal,
    pub reject: Vec<(String, u16, Refusal)>,
    pub drop_after_dot: Refusal,
    pub lose: Refusal,
    pub duplicate: Refusal,
    pub damage: Refusal,
    pub misdeliver: Refusal,
    pub defer: Refusal,
    pub pop3_refusals_left: AtomicU64,
}

impl Faults {
    fn new(spec: &MailSpec) -> Self {
        Self {
            refuse: Refusal::new(spec.refuse),
            reject: spec
                .reject
                .iter()
                .map(|reject| {
                    let group = RefuseSpec { count: reject.count, of: reject.of };
                    (reject.command.clone(), reject.code, Refusal::new(Some(group)))
                })
                .collect(),
            drop_after_dot: Refusal::new(spec.drop_after_dot),
            lose: Refusal::new(spec.lose),
            duplicate: Refusal::new(spec.duplicate),
            damage: Refusal::new(spec.damage),
            misdeliver: Refusal::new(spec.misdeliver),
            defer: Refusal::new(spec.defer.map(|defer| RefuseSpec { count: defer.count, of: defer.of })),
            pop3_refusals_left: AtomicU64::new(spec.pop3_refuse_first),
        }
    }
}

/// What all connections of one server have in common.
pub struct Shared {
    pub spec: MailSpec,
    pub store: Store,
    /// Whom the last message was for.
    pub last: Mutex<String>,
    pub tls: Option<TlsAcceptor>,
    pub faults: Faults,
    pub counts: Mutex<Counts>,
    /// Sessions that are served: POP3, SMTP.
    pub open: [AtomicUsize; 2],
    pub started_ns: u64,
    pub address: String,
}

impl Shared {
    pub fn new(spec: MailSpec, address: String) -> Result<Self, ServeError> {
        Ok(Self {
            store: Store::new(spec.users_file.as_deref(), spec.maildir.as_deref(), spec.fill)?,
            last: Mutex::default(),
            tls: spec.tls.as_ref().map(|spec| tls::acceptor(spec, &[])).transpose()?,
            faults: Faults::new(&spec),
            counts: Mutex::default(),
            open: Default::default(),
            started_ns: now_ns(),
            address,
            spec,
        })
    }

    /// Whether the POP3 side has died, as its description asks.
    pub fn pop3_is_gone(&self) -> bool {
        let Some(max) = self.spec.pop3_ends_after else { return false };
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).accepted >= max
    }

    pub fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The code with which this command is to be rejected this time.
    pub fn rejects(&self, command: &str) -> Option<u16> {
        let (_, code, _) = self.faults.reject.iter().find(|(of, _, share)| of == command && share.hit())?;
        self.count(|counts| counts.rejected += 1);
        Some(*code)
    }

    /// Delivers a message, or does to it what the description asks.
    pub fn deliver(&self, user: &str, text: &[u8]) -> io::Result<()> {
        let faults = &self.faults;
        let note = |list: fn(&mut Counts) -> &mut Vec<String>| {
            let id = format!(
                "{} to {user}",
                header(text, "x-bake-id").or_else(|| header(text, "message-id")).unwrap_or_default()
            );
            self.count(|counts| {
                let list = list(counts);
                if list.len() < LISTED {
                    list.push(id);
                }
            });
        };
        if faults.lose.hit() {
            note(|counts| &mut counts.lost);
            return Ok(());
        }
        if faults.duplicate.hit() {
            note(|counts| &mut counts.duplicated);
            self.store.deliver(user, text, 0)?;
            return self.store.deliver(user, text, 0);
        }
        if faults.damage.hit() {
            note(|counts| &mut counts.damaged);
            return self.store.deliver(user, &with_one_byte_wrong(text), 0);
        }
        let other = std::mem::replace(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner), user.to_owned());
        if faults.misdeliver.hit() && !other.is_empty() && other != user {
            note(|counts| &mut counts.misdelivered);
            return self.store.deliver(&other, text, 0);
        }
        if faults.defer.hit() {
            note(|counts| &mut counts.deferred);
            return self.store.deliver(user, text, self.spec.defer.map_or(0, |defer| to_ns(defer.for_s)));
        }
        self.store.deliver(user, text, 0)
    }
}

fn header(text: &[u8], name: &str) -> Option<String> {
    for line in text.split(|byte| *byte == b'\n').take(50) {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() {
            return None;
        }
        if let Some((key, value)) = line.split_once(':')
            && key.eq_ignore_ascii_case(name)
        {
            return Some(value.trim().to_owned());
        }
    }
    None
}

/// A letter near the end of the body, so that the id in front stays readable.
fn with_one_byte_wrong(text: &[u8]) -> Vec<u8> {
    let mut wrong = text.to_vec();
    let place = wrong.iter().rposition(u8::is_ascii_alphanumeric);
    if let Some(place) = place {
        wrong[place] = if wrong[place] == b'x' { b'y' } else { b'x' };
    }
    wrong
}

/// User and password of a base64 `AUTH PLAIN` token.
pub fn plain_login(token: &str) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let (mut word, mut bits) = (0_u32, 0);
    for letter in token.trim().trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut parts = text.split('\0').skip(1);
    Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
}
