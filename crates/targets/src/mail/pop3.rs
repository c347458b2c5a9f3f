//! The POP3 side.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use super::shared::{Shared, plain_login};
use super::store::Stored;
use super::wire::{NoLine, Wire};

/// A maildrop that a session holds; its end gives it back.
struct Drop<'a> {
    shared: &'a Shared,
    user: String,
    messages: Vec<Stored>,
    deleted: HashSet<usize>,
}

impl std::ops::Drop for Drop<'_> {
    fn drop(&mut self) {
        if self.shared.spec.lock {
            self.shared.store.unlock(&self.user);
        }
    }
}

impl Drop<'_> {
    fn get(&self, word: &str) -> Option<(usize, &Stored)> {
        let at = word.trim().parse::<usize>().ok()?.checked_sub(1)?;
        if self.deleted.contains(&at) {
            return None;
        }
        Some((at, self.messages.get(at)?))
    }

    fn left(&self) -> impl Iterator<Item = (usize, &Stored)> {
        self.messages.iter().enumerate().filter(|(at, _)| !self.deleted.contains(at))
    }

    /// One line of a listing, or all.
    fn listing(&self, wire: &mut Wire, word: &str, value: impl Fn(&Stored) -> String) {
        if word.trim().is_empty() {
            wire.say("+OK");
            self.left().for_each(|(at, stored)| wire.say(&format!("{} {}", at + 1, value(stored))));
            return wire.say(".");
        }
        match self.get(word) {
            Some((at, stored)) => wire.say(&format!("+OK {} {}", at + 1, value(stored))),
            None => wire.say("-ERR no such message"),
        }
    }
}

/// Serves one connection to its end.
pub async fn serve(shared: &Arc<Shared>, wire: &mut Wire) -> io::Result<()> {
    wire.say("+OK bakeoff ready");
    let mut user = String::new();
    let mut maildrop: Option<Drop<'_>> = None;
    loop {
        wire.hold().await;
        wire.flush().await?;
        let line = match wire.line().await {
            Ok(line) => line,
            Err(NoLine::Closed) => return Ok(()),
            Err(NoLine::TooLong) => {
                wire.say("-ERR line too long");
                continue;
            }
        };
        if shared.pop3_is_gone() {
            return Ok(());
        }
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match (verb.to_ascii_uppercase().as_str(), &mut maildrop) {
            ("QUIT", maildrop) => {
                if let Some(held) = maildrop.take() {
                    update(shared, &held);
                }
                wire.say("+OK bye");
                return wire.answer().await;
            }
            ("CAPA", _) => capabilities(shared, wire),
            ("NOOP", _) => wire.say("+OK"),
            ("STLS", None) if shared.tls.is_some() && !wire.is_secure() => {
                wire.say("+OK go ahead");
                wire.answer().await?;
                if let Some(acceptor) = &shared.tls {
                    wire.secure(acceptor).await?;
                }
            }
            ("USER", None) => {
                rest.trim().clone_into(&mut user);
                wire.say("+OK");
            }
            ("PASS", None) => maildrop = log_in(shared, wire, &user, rest),
            ("AUTH", None) => {
                let token = rest.strip_prefix("PLAIN ").or_else(|| rest.strip_prefix("plain "));
                match token.and_then(plain_login) {
                    Some((user, password)) => maildrop = log_in(shared, wire, &user, &password),
                    None => wire.say("-ERR write AUTH PLAIN with an initial response"),
                }
            }
            (verb, Some(held)) => transaction(shared, wire, held, verb, rest),
            _ => wire.say("-ERR unknown command"),
        }
    }
}

fn capabilities(shared: &Shared, wire: &mut Wire) {
    wire.say("+OK");
    for line in ["USER", "SASL PLAIN", "TOP", "PIPELINING"] {
        wire.say(line);
    }
    if shared.spec.uidl {
        wire.say("UIDL");
    }
    if shared.tls.is_some() && !wire.is_secure() {
        wire.say("STLS");
    }
    wire.say(".");
}

fn log_in<'a>(shared: &'a Shared, wire: &mut Wire, user: &str, password: &str) -> Option<Drop<'a>> {
    let user = &shared.store.address_of(user);
    if !shared.store.lets_in(user, password) {
        wire.say("-ERR [AUTH] wrong user or password");
        return None;
    }
    if shared.spec.lock && !shared.store.lock(user) {
        shared.count(|counts| counts.in_use += 1);
        wire.say("-ERR [IN-USE] the maildrop is locked");
        return None;
    }
    shared.count(|counts| counts.logins += 1);
    wire.say("+OK");
    Some(Drop { shared, user: user.to_owned(), messages: shared.store.list(user), deleted: HashSet::new() })
}

fn transaction(shared: &Shared, wire: &mut Wire, held: &mut Drop<'_>, verb: &str, rest: &str) {
    match verb {
        "STAT" => {
            let (count, bytes) = held.left().fold((0, 0), |sum, (_, stored)| (sum.0 + 1, sum.1 + stored.bytes));
            wire.say(&format!("+OK {count} {bytes}"));
        }
        "LIST" => held.listing(wire, rest, |stored| stored.bytes.to_string()),
        "UIDL" if shared.spec.uidl => held.listing(wire, rest, |stored| stored.uid.clone()),
        "RETR" => match held.get(rest).map(|(_, stored)| stored.read()) {
            Some(Ok(message)) => {
                shared.count(|counts| counts.retrieved += 1);
                wire.say("+OK");
                wire.say_message(&message);
            }
            _ => wire.say("-ERR no such message"),
        },
        "TOP" => match held.get(rest.split(' ').next().unwrap_or("")).map(|(_, stored)| stored.read()) {
            Some(Ok(message)) => {
                let end = message.windows(4).position(|four| four == b"\r\n\r\n").map_or(message.len(), |at| at + 4);
                wire.say("+OK");
                wire.say_message(&message[..end]);
            }
            _ => wire.say("-ERR no such message"),
        },
        "DELE" => match held.get(rest).map(|(at, _)| at) {
            Some(at) => {
                held.deleted.insert(at);
                wire.say("+OK");
            }
            None => wire.say("-ERR no such message"),
        },
        "RSET" => {
            held.deleted.clear();
            wire.say("+OK");
        }
        _ => wire.say("-ERR unknown command"),
    }
}

/// The deletions take effect.
fn update(shared: &Shared, held: &Drop<'_>) {
    if held.deleted.is_empty() {
        return;
    }
    let uids: HashSet<String> = held.deleted.iter().map(|at| held.messages[*at].uid.clone()).collect();
    shared.count(|counts| counts.deleted += uids.len() as u64);
    shared.store.remove(&held.user, &uids);
}
