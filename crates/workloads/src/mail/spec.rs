//! The mail workload as it crosses the seam.

use bakeoff_engine::TlsSettings;
use serde::Deserialize;

/// When a connection becomes encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// Never.
    #[default]
    None,
    /// By `STARTTLS` or `STLS`.
    StartTls,
    /// From the first byte.
    Tls,
}

/// Which protocol takes the mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// RFC 5321.
    #[default]
    Smtp,
    /// RFC 2033: one reply per recipient.
    Lmtp,
}

/// How POP3 users are logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Login {
    /// `USER` unless the server offers `AUTH PLAIN` alone.
    #[default]
    Auto,
    /// `USER` and `PASS`.
    User,
    /// `AUTH PLAIN`.
    Plain,
}

/// What the bodies of messages look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Bodies {
    /// Lines of text.
    #[default]
    Plain,
    /// Lines that begin with dots, `From `, 998 bytes long, with trailing blanks, without text.
    Hard,
}

/// What is done to the mailboxes before the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Initialise {
    /// Nothing.
    Nothing,
    /// Bakeoff's own messages, of whichever trial, are deleted; other mail is left alone.
    #[default]
    Own,
    /// All messages are deleted.
    All,
    /// Messages are counted, none is deleted, and nothing is measured.
    Look,
}

/// Where mail is delivered to the contender.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmtpSpec {
    /// `host:port`, already resolved; the first is used.
    pub addresses: Vec<String>,
    /// Name for SNI and the certificate check.
    #[serde(default = "localhost")]
    pub server_name: String,
    /// TLS settings; the defaults when null and `security` needs some.
    #[serde(default)]
    pub tls: Option<TlsSettings>,
    /// When the connection becomes encrypted.
    #[serde(default)]
    pub security: Security,
    /// End connections by a TCP reset.
    #[serde(default)]
    pub close_with_reset: bool,
    /// SMTP or LMTP.
    #[serde(default)]
    pub protocol: Protocol,
    /// Name given with EHLO.
    #[serde(default = "hello")]
    pub hello: String,
    /// Log in (`AUTH PLAIN`) as the sender.
    #[serde(default)]
    pub auth: bool,
    /// Send MAIL, RCPT and DATA together where the server says PIPELINING.
    #[serde(default)]
    pub pipelining: bool,
    /// Messages sent over one connection.
    #[serde(default = "one")]
    pub messages_per_connection: u32,
}

/// Where mail is read from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pop3Spec {
    /// As [`SmtpSpec::addresses`].
    pub addresses: Vec<String>,
    /// Name for SNI and the certificate check.
    #[serde(default = "localhost")]
    pub server_name: String,
    /// TLS settings; the defaults when null and `security` needs some.
    #[serde(default)]
    pub tls: Option<TlsSettings>,
    /// When the connection becomes encrypted.
    #[serde(default)]
    pub security: Security,
    /// End connections by a TCP reset.
    #[serde(default)]
    pub close_with_reset: bool,
    /// How users are logged in.
    #[serde(default)]
    pub login: Login,
    /// Delete what was read. Without it there is no ledger: the same messages are read again and again.
    #[serde(default = "yes")]
    pub delete: bool,
}

/// One account.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailboxSpec {
    /// Where mail for it is sent.
    pub address: String,
    /// Name of the login.
    pub user: String,
    /// Password of the login.
    pub password: String,
}

/// The whole workload. At least one of `smtp` and `pop3` is needed; the ledger needs both.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSpec {
    /// Always `mail`.
    pub kind: String,
    /// The sending side.
    #[serde(default)]
    pub smtp: Option<SmtpSpec>,
    /// The reading side.
    #[serde(default)]
    pub pop3: Option<Pop3Spec>,
    /// Accounts; the first `clients` × `mailboxes_per_client` are used.
    pub mailboxes: Vec<MailboxSpec>,
    /// Accounts of each client, shared out among its virtual users.
    pub mailboxes_per_client: u32,
    /// Every thread reads all mailboxes of its client, so that sessions collide.
    #[serde(default)]
    pub shared_mailboxes: bool,
    /// Share of each thread's time that goes into sending, 0 … 1.
    #[serde(default = "thirty_percent")]
    pub sending_share: f64,
    /// Sizes of whole messages, bytes, with their weights.
    pub sizes: Vec<(u32, f64)>,
    /// Numbers of recipients with their weights.
    #[serde(default = "one_recipient")]
    pub recipients: Vec<(u32, f64)>,
    /// What bodies look like.
    #[serde(default)]
    pub bodies: Bodies,
    /// Envelope sender; the sending client's first mailbox when null.
    #[serde(default)]
    pub sender: Option<String>,
    /// Marks the messages of this trial: 16 hexadecimal digits.
    pub run: String,
    /// What is done to the mailboxes before the trial.
    #[serde(default)]
    pub initialise: Initialise,
    /// A client that initialises tries refused connections again, so many times in a row.
    #[serde(default = "hundred")]
    pub retries: u32,
    /// A message that was not visible so long after its acceptance is late, s.
    #[serde(default = "five_seconds")]
    pub late_after_s: f64,
    /// Longest initialisation, s.
    #[serde(default = "ten_minutes")]
    pub init_limit_s: f64,
    /// Longest drain, s.
    #[serde(default = "one_minute")]
    pub drain_limit_s: f64,
    /// Steps that run at the end of the trial may go on for so long, s.
    #[serde(default = "ten_seconds")]
    pub linger_s: f64,
    /// Where several machines divide the clients: after all is over, mail of the others is waited for until none has come
    /// for so long, s.
    #[serde(default = "ten_seconds")]
    pub quiet_s: f64,
}

fn localhost() -> String {
    "localhost".to_owned()
}
fn hello() -> String {
    "bakeoff.invalid".to_owned()
}
fn one() -> u32 {
    1
}
fn yes() -> bool {
    true
}
fn hundred() -> u32 {
    100
}
fn thirty_percent() -> f64 {
    0.30
}
fn one_recipient() -> Vec<(u32, f64)> {
    vec![(1, 1.0)]
}
fn ten_minutes() -> f64 {
    600.0
}
fn five_seconds() -> f64 {
    5.0
}
fn one_minute() -> f64 {
    60.0
}
fn ten_seconds() -> f64 {
    10.0
}
