//! What all sessions of a trial share, checked and made ready once.

use super::ledger::exchange::Exchange;
use super::ledger::message::Pool;
use super::spec::{Initialise, MailSpec, MailboxSpec, Pop3Spec, Protocol, Security, SmtpSpec};
use crate::deck::Spread;
use bakeoff_engine::{Endpoint, Identity, Load, Nanos, SpecError, Stages, TlsSettings, TrialSpec};
use serde::Deserialize;
use std::sync::atomic::{AtomicU32, Ordering};

/// What all sessions of a trial share.
#[derive(Debug)]
pub(crate) struct Plan {
    pub run: String,
    pub smtp: Option<SmtpSpec>,
    pub pop3: Option<Pop3Spec>,
    /// The accounts of this trial.
    pub mailboxes: Vec<MailboxSpec>,
    pub per_client: u32,
    pub shared: bool,
    pub clients: u32,
    pub virtual_users: u32,
    /// Of the time; of the iterations when the load is a rate.
    pub sending_share: f64,
    /// Whether the load is a rate.
    pub rated: bool,
    pub sizes: Spread,
    pub recipients: Spread,
    pub pool: Pool,
    pub sender: Option<String>,
    pub initialise: Initialise,
    pub retries: u32,
    pub late_ns: Nanos,
    /// Refusals in a row of each client.
    refusals: Vec<AtomicU32>,
    pub exchange: Exchange,
    pub stages: Stages,
    /// All clients are this machine's, so that it knows all that was sent.
    pub is_whole: bool,
    /// Operations of other machines may go on for so long after the measured part.
    linger_ns: Nanos,
    /// Nothing comes any more when nothing has come for so long.
    quiet_ns: Nanos,
}

impl Plan {
    /// Reads and checks the `workload` part of a trial's specification.
    pub fn new(trial: &TrialSpec) -> Result<Self, SpecError> {
        let spec = MailSpec::deserialize(&trial.workload)?;
        check(&spec, trial)?;
        let needed = trial.clients() as usize * spec.mailboxes_per_client as usize;
        let mut mailboxes = spec.mailboxes;
        mailboxes.truncate(needed);
        let prepares = spec.initialise != Initialise::Nothing && spec.pop3.is_some();
        let reads_to_the_end =
            spec.initialise != Initialise::Look && has_ledger(spec.smtp.as_ref(), spec.pop3.as_ref());
        Ok(Self {
            stages: Stages {
                listen_s: 0.0,
                prepare_s: prepares.then_some(spec.init_limit_s),
                linger_s: spec.linger_s,
                drain_s: reads_to_the_end.then_some(spec.drain_limit_s),
            },
            sizes: Spread::new(&spec.sizes, trial.seed).map_err(|text| format!("sizes: {text}"))?,
            recipients: Spread::new(&spec.recipients, trial.seed ^ 1).map_err(|text| format!("recipients: {text}"))?,
            pool: Pool::new(spec.bodies, trial.seed),
            run: spec.run,
            smtp: spec.smtp,
            pop3: spec.pop3,
            mailboxes,
            per_client: spec.mailboxes_per_client,
            shared: spec.shared_mailboxes,
            clients: trial.clients(),
            virtual_users: trial.virtual_users,
            sending_share: spec.sending_share,
            rated: matches!(trial.load, Load::Rate(_)),
            sender: spec.sender,
            initialise: spec.initialise,
            retries: spec.retries,
            late_ns: nanos(spec.late_after_s),
            refusals: (0..trial.clients()).map(|_| AtomicU32::new(0)).collect(),
            exchange: Exchange::default(),
            is_whole: trial.is_whole(),
            linger_ns: nanos(spec.linger_s),
            quiet_ns: nanos(spec.quiet_s),
        })
    }

    /// Where its sessions connect to, by the numbers that follow.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let smtp = self.smtp.iter().map(|smtp| {
            endpoint(&smtp.addresses, &smtp.server_name, smtp.tls.as_ref(), smtp.security, smtp.close_with_reset)
        });
        let pop3 = self.pop3.iter().map(|pop3| {
            endpoint(&pop3.addresses, &pop3.server_name, pop3.tls.as_ref(), pop3.security, pop3.close_with_reset)
        });
        smtp.chain(pop3).collect()
    }

    pub fn smtp_endpoint(&self) -> u8 {
        0
    }

    pub fn pop3_endpoint(&self) -> u8 {
        u8::from(self.smtp.is_some())
    }

    pub fn is_lmtp(&self) -> bool {
        self.smtp.as_ref().is_some_and(|smtp| smtp.protocol == Protocol::Lmtp)
    }

    /// The account that a client sends as.
    pub fn account(&self, client: u32) -> &MailboxSpec {
        &self.mailboxes[(client * self.per_client) as usize]
    }

    /// Sender in the envelopes of a client.
    pub fn return_path(&self, client: u32) -> &str {
        self.sender.as_deref().unwrap_or(&self.account(client).address)
    }

    /// Whether what was sent can be compared with what was read.
    pub fn has_ledger(&self) -> bool {
        has_ledger(self.smtp.as_ref(), self.pop3.as_ref())
    }

    /// Whether messages that are read are looked into: for the ledger, and not to delete what is not ours.
    pub fn inspects(&self) -> bool {
        self.pop3.as_ref().is_some_and(|pop3| pop3.delete)
    }

    /// Whether what other machines sent has come, as far as a quiet time tells, the measured part having ended at
    /// `end_ns`; `None` when there are no others.
    pub fn others_are_quiet(&self, now_ns: Nanos, end_ns: Nanos) -> Option<bool> {
        let quiet = now_ns >= (end_ns + self.linger_ns).max(self.exchange.news_ns()) + self.quiet_ns;
        (!self.is_whole).then_some(quiet)
    }

    /// A client was refused a connection: how many times in a row, with this one.
    pub fn refused(&self, client: u32) -> u32 {
        self.refusals[client as usize].fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A client was served.
    pub fn served(&self, client: u32) {
        self.refusals[client as usize].store(0, Ordering::Relaxed);
    }

    /// The mailboxes that a thread of a client reads.
    pub fn mailboxes_of(&self, identity: Identity) -> std::ops::Range<u32> {
        let first = identity.client * self.per_client;
        if self.shared {
            return first..first + self.per_client;
        }
        let share =
            |vu: u32| first + (u64::from(vu) * u64::from(self.per_client) / u64::from(self.virtual_users)) as u32;
        share(identity.vu)..share(identity.vu + 1)
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

fn has_ledger(smtp: Option<&SmtpSpec>, pop3: Option<&Pop3Spec>) -> bool {
    smtp.is_some() && pop3.is_some_and(|pop3| pop3.delete)
}

pub(super) fn endpoint(
    addresses: &[String],
    server_name: &str,
    tls: Option<&TlsSettings>,
    security: Security,
    close_with_reset: bool,
) -> Endpoint {
    let defaults = || TlsSettings { verify: true, ca_file: None, resumption: true, handshake_apart: false };
    Endpoint {
        addresses: addresses.to_vec(),
        server_name: server_name.to_owned(),
        tls: (security != Security::None).then(|| tls.cloned().unwrap_or_else(defaults)),
        tls_on_connect: security == Security::Tls,
        close_with_reset,
        ..Endpoint::default()
    }
}

fn check(spec: &MailSpec, trial: &TrialSpec) -> Result<(), SpecError> {
    let need = |good: bool, text: String| if good { Ok(()) } else { Err(SpecError::Range(text)) };
    need(spec.smtp.is_some() || spec.pop3.is_some(), "mail needs an SMTP or a POP3 address, or both".to_owned())?;
    let hexadecimal = spec.run.len() == 16 && spec.run.bytes().all(|byte| byte.is_ascii_hexdigit());
    need(hexadecimal, "run must be 16 hexadecimal digits".to_owned())?;
    need(
        (0.0..=1.0).contains(&spec.sending_share),
        format!("sending_share must be 0 to 1, not {}", spec.sending_share),
    )?;
    need(spec.mailboxes_per_client >= 1, "mailboxes_per_client must be at least 1".to_owned())?;
    let late = spec.late_after_s;
    need((0.0..=86_400.0).contains(&late), format!("late_after_s must be 0 to 86400, not {late}"))?;
    need(
        trial.clients() < 1 << 20 && trial.virtual_users < 1 << 12,
        "a mail trial has at most 1048575 clients of 4095 virtual users".to_owned(),
    )?;
    let enough = spec.shared_mailboxes || trial.virtual_users <= spec.mailboxes_per_client;
    need(
        enough,
        format!(
            "{} virtual users cannot share {} mailboxes: use fewer virtual users, more mailboxes or shared_mailboxes",
            trial.virtual_users, spec.mailboxes_per_client
        ),
    )?;
    let needed = u64::from(trial.clients()) * u64::from(spec.mailboxes_per_client);
    need(
        spec.mailboxes.len() as u64 >= needed,
        format!(
            "{} clients with {} mailboxes each need {needed} accounts; the users file has {}",
            trial.clients(),
            spec.mailboxes_per_client,
            spec.mailboxes.len()
        ),
    )?;
    let sizes_fit = spec.sizes.iter().all(|(bytes, _)| *bytes <= 1 << 30);
    need(sizes_fit, "message sizes must be at most 1 GiB".to_owned())?;
    let most = spec.recipients.iter().map(|(count, _)| u64::from(*count)).max().unwrap_or(0);
    let least = spec.recipients.iter().map(|(count, _)| *count).min().unwrap_or(0);
    need(
        least >= 1 && most <= needed.max(1),
        format!("messages must have 1 to {needed} recipients, the mailboxes of the trial"),
    )?;
    for mailbox in &spec.mailboxes {
        let clean = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte > b' ' && byte != 0x7f);
        let good = clean(&mailbox.address) && clean(&mailbox.user) && !mailbox.address.contains(['<', '>']);
        let password = mailbox.password.bytes().all(|byte| byte >= b' ' && byte != 0x7f);
        need(
            good && password,
            format!("account `{}` has characters that mail cannot carry", mailbox.address.escape_debug()),
        )?;
    }
    Ok(())
}
