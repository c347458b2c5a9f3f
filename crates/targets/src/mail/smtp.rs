//! The SMTP and LMTP side.

use std::io;
use std::sync::Arc;

use super::shared::{Shared, plain_login};
use super::wire::{NoLine, Wire};

const RECIPIENTS_MAX: usize = 1000;

struct Transaction {
    from: Option<String>,
    to: Vec<String>,
}

/// Serves one connection to its end.
pub async fn serve(shared: &Arc<Shared>, wire: &mut Wire) -> io::Result<()> {
    if let Some(code) = shared.rejects("CONNECT") {
        wire.say(&format!("{code} try another time"));
        return wire.answer().await;
    }
    wire.say("220 bakeoff.test ESMTP bakeoff");
    let mut transaction = Transaction { from: None, to: Vec::new() };
    let mut greeted = false;
    loop {
        wire.hold().await;
        wire.flush().await?;
        let line = match wire.line().await {
            Ok(line) => line,
            Err(NoLine::Closed) => return Ok(()),
            Err(NoLine::TooLong) => {
                wire.say("500 line too long");
                continue;
            }
        };
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" | "HELO" | "LHLO" => {
                greeted = hello(shared, wire, verb);
                transaction = Transaction { from: None, to: Vec::new() };
            }
            "STARTTLS" if shared.tls.is_some() && !wire.is_secure() => {
                wire.say("220 go ahead");
                wire.answer().await?;
                if let Some(acceptor) = &shared.tls {
                    wire.secure(acceptor).await?;
                }
                greeted = false;
            }
            "AUTH" => auth(shared, wire, rest),
            "MAIL" if greeted => mail(shared, wire, &mut transaction, rest),
            "RCPT" if transaction.from.is_some() => recipient(shared, wire, &mut transaction, rest),
            "DATA" if !transaction.to.is_empty() => {
                if !data(shared, wire, &mut transaction).await? {
                    return Ok(());
                }
            }
            "MAIL" | "RCPT" | "DATA" => wire.say("503 bad sequence of commands"),
            "RSET" => {
                transaction = Transaction { from: None, to: Vec::new() };
                wire.say("250 reset");
            }
            "NOOP" => wire.say("250 ok"),
            "VRFY" => wire.say("252 perhaps"),
            "QUIT" => {
                wire.say("221 bye");
                return wire.answer().await;
            }
            _ => wire.say("500 unknown command"),
        }
    }
}

fn hello(shared: &Shared, wire: &mut Wire, verb: &str) -> bool {
    if let Some(code) = shared.rejects("EHLO") {
        wire.say(&format!("{code} not now"));
        return false;
    }
    if shared.spec.lmtp != verb.eq_ignore_ascii_case("LHLO") {
        wire.say("500 unknown command");
        return false;
    }
    if verb.eq_ignore_ascii_case("HELO") {
        wire.say("250 bakeoff.test");
        return true;
    }
    wire.say("250-bakeoff.test");
    if shared.spec.pipelining {
        wire.say("250-PIPELINING");
    }
    if shared.tls.is_some() && !wire.is_secure() {
        wire.say("250-STARTTLS");
    }
    wire.say("250-AUTH PLAIN");
    wire.say("250-8BITMIME");
    wire.say(&format!("250 SIZE {}", shared.spec.size_limit_bytes));
    true
}

fn auth(shared: &Shared, wire: &mut Wire, rest: &str) {
    let token =
        rest.split_once(' ').filter(|(mechanism, _)| mechanism.eq_ignore_ascii_case("PLAIN")).map(|(_, token)| token);
    match token.and_then(plain_login) {
        Some((user, password)) if shared.store.lets_in(&shared.store.address_of(&user), &password) => {
            wire.say("235 welcome");
        }
        Some(_) => wire.say("535 wrong user or password"),
        None => wire.say("501 write AUTH PLAIN with an initial response"),
    }
}

fn path_of(rest: &str, keyword: &str) -> Option<String> {
    let head = rest.get(..keyword.len())?;
    if !head.eq_ignore_ascii_case(keyword) {
        return None;
    }
    let path = rest[keyword.len()..].trim_start();
    let (path, _) = path.strip_prefix('<')?.split_once('>')?;
    Some(path.to_owned())
}

fn mail(shared: &Shared, wire: &mut Wire, transaction: &mut Transaction, rest: &str) {
    if let Some(code) = shared.rejects("MAIL") {
        return wire.say(&format!("{code} not now"));
    }
    match path_of(rest, "FROM:") {
        Some(from) => {
            *transaction = Transaction { from: Some(from), to: Vec::new() };
            wire.say("250 ok");
        }
        None => wire.say("501 write MAIL FROM:<address>"),
    }
}

fn recipient(shared: &Shared, wire: &mut Wire, transaction: &mut Transaction, rest: &str) {
    if let Some(code) = shared.rejects("RCPT") {
        return wire.say(&format!("{code} not this one"));
    }
    match path_of(rest, "TO:") {
        Some(_) if transaction.to.len() >= RECIPIENTS_MAX => wire.say("452 too many recipients"),
        Some(to) if shared.store.knows(&to) => {
            transaction.to.push(to);
            wire.say("250 ok");
        }
        Some(_) => wire.say("550 no such user"),
        None => wire.say("501 write RCPT TO:<address>"),
    }
}

/// `false` when the connection was dropped on purpose.
async fn data(shared: &Arc<Shared>, wire: &mut Wire, transaction: &mut Transaction) -> io::Result<bool> {
    if let Some(code) = shared.rejects("DATA") {
        wire.say(&format!("{code} not now"));
        return Ok(true);
    }
    wire.say("354 go ahead");
    wire.hold().await;
    wire.flush().await?;
    let Ok(text) = wire.text(shared.spec.size_limit_bytes).await else { return Ok(false) };
    let Transaction { to, .. } = std::mem::replace(transaction, Transaction { from: None, to: Vec::new() });
    shared.count(|counts| counts.messages += 1);
    let replies = if shared.spec.lmtp { to.len() } else { 1 };
    let Some(text) = text else {
        (0..replies).for_each(|_| wire.say("552 message too large"));
        return Ok(true);
    };
    if let Some(code) = shared.rejects("DOT") {
        (0..replies).for_each(|_| wire.say(&format!("{code} not this one")));
        return Ok(true);
    }
    if shared.faults.drop_after_dot.hit() {
        shared.count(|counts| counts.dropped += 1);
        return Ok(false);
    }
    wire.hold().await;
    let mut stored = true;
    for user in &to {
        stored &= shared.deliver(user, &text).is_ok();
    }
    shared.count(|counts| counts.accepted += to.len() as u64);
    let reply = if stored { "250 stored" } else { "452 no room" };
    (0..replies).for_each(|_| wire.say(reply));
    Ok(true)
}
