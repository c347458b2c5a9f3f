//! The description of the mail target.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::ServeError;
use crate::server::faults::RefuseSpec;
use crate::server::tls::TlsSpec;
use crate::spec::check::need;
use crate::spec::place::LOCALHOST;

/// So many of each so many commands are answered with `code`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectSpec {
    /// `CONNECT`, `EHLO`, `MAIL`, `RCPT`, `DATA` or `DOT` (the end of the body).
    pub command: String,
    /// 400 to 599.
    pub code: u16,
    /// Rejected ones in each group.
    #[serde(default = "one")]
    pub count: u64,
    /// Size of the group.
    #[serde(default = "one")]
    pub of: u64,
}

/// So many of each so many deliveries become visible later.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeferSpec {
    /// Deferred deliveries in each group.
    pub count: u64,
    /// Size of the group.
    pub of: u64,
    /// How much later, seconds.
    pub for_s: f64,
}

/// Messages that are in every mailbox from the start.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillSpec {
    /// Messages in each mailbox.
    pub messages: usize,
    /// Size of each, bytes.
    pub bytes: usize,
    /// They carry the marks of Bakeoff's own messages, and are there again at each login, deleted or not.
    #[serde(default)]
    pub endless: bool,
}

fn one() -> u64 {
    1
}

/// The mail target. Times are in seconds, sizes in bytes.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)] // One line per key in docs/reference/targets.md.
pub struct MailSpec {
    pub host: IpAddr,
    pub smtp_port: u16,
    pub pop3_port: u16,
    pub threads: usize,
    pub users_file: Option<PathBuf>,
    pub maildir: Option<PathBuf>,
    pub lmtp: bool,
    pub pipelining: bool,
    pub uidl: bool,
    pub lock: bool,
    pub tls: Option<TlsSpec>,
    pub implicit_tls: bool,
    pub size_limit_bytes: usize,
    pub max_sessions: Option<usize>,
    pub fill: Option<FillSpec>,
    pub delay_s: f64,
    pub pop3_refuse_first: u64,
    pub refuse: Option<RefuseSpec>,
    pub reject: Vec<RejectSpec>,
    pub drop_after_dot: Option<RefuseSpec>,
    pub lose: Option<RefuseSpec>,
    pub duplicate: Option<RefuseSpec>,
    pub damage: Option<RefuseSpec>,
    pub misdeliver: Option<RefuseSpec>,
    pub pop3_ends_after: Option<u64>,
    pub defer: Option<DeferSpec>,
    pub idle_timeout_s: f64,
}

impl Default for MailSpec {
    fn default() -> Self {
        Self {
            host: LOCALHOST,
            smtp_port: 0,
            pop3_port: 0,
            threads: 1,
            users_file: None,
            maildir: None,
            lmtp: false,
            pipelining: true,
            uidl: true,
            lock: true,
            tls: None,
            implicit_tls: false,
            size_limit_bytes: 50 << 20,
            max_sessions: None,
            fill: None,
            delay_s: 0.0,
            pop3_refuse_first: 0,
            refuse: None,
            reject: Vec::new(),
            drop_after_dot: None,
            lose: None,
            duplicate: None,
            damage: None,
            misdeliver: None,
            pop3_ends_after: None,
            defer: None,
            idle_timeout_s: 60.0,
        }
    }
}

const COMMANDS: [&str; 6] = ["CONNECT", "EHLO", "MAIL", "RCPT", "DATA", "DOT"];

impl MailSpec {
    pub fn check(&self) -> Result<(), ServeError> {
        need((1..=1024).contains(&self.threads), "threads must be 1 to 1024")?;
        need((0.0..=86_400.0).contains(&self.delay_s), "delay_s must be 0 to 86400")?;
        need((0.001..=86_400.0).contains(&self.idle_timeout_s), "idle_timeout_s must be 0.001 to 86400")?;
        need(!self.implicit_tls || self.tls.is_some(), "implicit_tls needs tls")?;
        need(self.max_sessions != Some(0), "max_sessions must be at least 1")?;
        let fill = self.fill.is_none_or(|fill| fill.messages <= 100_000 && fill.bytes <= 64 << 20);
        need(fill, "fill must be at most 100000 messages of 64 MiB")?;
        let defer = self.defer.map(|defer| RefuseSpec { count: defer.count, of: defer.of });
        let faults = [self.drop_after_dot, self.lose, self.duplicate, self.damage, self.misdeliver];
        for share in faults.into_iter().chain([self.refuse, defer]).flatten() {
            need(share.of >= 1 && share.count <= share.of, "a share needs count <= of and of >= 1, as in 1 of 100")?;
        }
        need(self.defer.is_none_or(|defer| (0.0..=86_400.0).contains(&defer.for_s)), "defer.for_s must be 0 to 86400")?;
        for reject in &self.reject {
            need(
                COMMANDS.contains(&reject.command.as_str()),
                "reject.command must be CONNECT, EHLO, MAIL, RCPT, DATA or DOT",
            )?;
            need((400..=599).contains(&reject.code), "reject.code must be 400 to 599")?;
            need(reject.of >= 1 && reject.count <= reject.of, "reject needs count <= of and of >= 1")?;
        }
        Ok(())
    }
}
