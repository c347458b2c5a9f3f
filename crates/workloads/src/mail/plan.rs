//! The mail workload, checked and made ready once per trial.

use super::books::Books;
use super::deck::Deck;
use super::doors::Crowd;
use super::flow::flow_json;
use super::ledger::{Ledger, Rules};
use super::message::Pool;
use super::operation::{DOORS, Door, Operation};
use super::refusals::Refusals;
use super::response::Response;
use super::session::MailSession;
use super::spec::{Initialise, MailSpec, MailboxSpec, Pop3Spec, Protocol, Security, SmtpSpec};
use bakeoff_engine::{Endpoint, Identity, Nanos, Rng, SpecError, Stages, Timeline, TlsSettings, TrialSpec, Workload};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
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
    pub threads: u32,
    pub sending_share: f64,
    pub sizes: Deck,
    pub recipients: Deck,
    pub pool: Pool,
    pub sender: Option<String>,
    pub initialise: Initialise,
    pub retries: u32,
    late_ns: Nanos,
    /// Refusals in a row of each client.
    refusals: Vec<AtomicU32>,
    pub books: Books,
}

impl Plan {
    pub fn smtp_endpoint(&self) -> u8 {
        0
    }

    pub fn pop3_endpoint(&self) -> u8 {
        u8::from(self.smtp.is_some())
    }

    /// Whether what was sent can be compared with what was read.
    pub fn keeps_books(&self) -> bool {
        self.smtp.is_some() && self.pop3.as_ref().is_some_and(|pop3| pop3.delete)
    }

    /// Whether messages that are read are looked into: for the books, and not to delete what is not ours.
    pub fn inspects(&self) -> bool {
        self.pop3.as_ref().is_some_and(|pop3| pop3.delete)
    }

    /// A client was refused a connection: how many times in a row, with this one.
    pub fn refused(&self, client: u32) -> u32 {
        self.refusals[client as usize].fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A client was served.
    pub fn served(&self, client: u32) {
        self.refusals[client as usize].store(0, Ordering::Relaxed);
    }

    /// Sessions inside each door at most and on average, and how many waited in front of it on average.
    fn doors_json(sessions: &[&MailSession], timeline: &Timeline) -> Value {
        let length_ns = timeline.end_ns - timeline.start_ns;
        let mut times_ns: [Nanos; Operation::COUNT] = [0; Operation::COUNT];
        for session in sessions {
            times_ns.iter_mut().zip(session.times_ns).for_each(|(sum, more)| *sum += more);
        }
        let spent = |of: &dyn Fn(Operation) -> bool| -> f64 {
            let steps = Operation::all().filter(|step| of(*step));
            steps.map(|step| times_ns[step as usize] as f64).sum::<f64>() / length_ns.max(1) as f64
        };
        let one = |(at, door): (usize, &Door)| {
            let inside = |step: Operation| step.sends() == door.sends && !door.before.contains(&step);
            let crowd = Crowd::new(at, timeline.end_ns, sessions.iter().map(|session| &session.visits));
            let peak = crowd.peak();
            let value = json!({
                "peak": peak,
                "at_peak": crowd.at_peak(peak),
                "mean": spent(&inside),
                "waiting": spent(&|step| door.waits.contains(&step)),
            });
            (door.name.to_owned(), value)
        };
        Value::Object(DOORS.iter().enumerate().map(one).collect())
    }

    /// The mailboxes that a thread of a client reads.
    pub fn mailboxes_of(&self, identity: Identity) -> std::ops::Range<u32> {
        let first = identity.client * self.per_client;
        if self.shared {
            return first..first + self.per_client;
        }
        let share =
            |thread: u32| first + (u64::from(thread) * u64::from(self.per_client) / u64::from(self.threads)) as u32;
        share(identity.thread)..share(identity.thread + 1)
    }
}

/// The workload.
#[derive(Debug)]
pub struct MailWorkload {
    plan: Arc<Plan>,
    endpoints: Vec<Endpoint>,
    stages: Stages,
    names: Vec<String>,
    clients: u32,
}

impl MailWorkload {
    /// Checks a trial's specification and makes it ready.
    pub fn new(trial: &TrialSpec) -> Result<Self, SpecError> {
        let spec = MailSpec::deserialize(&trial.workload)?;
        check(&spec, trial)?;
        let needed = trial.clients() as usize * spec.mailboxes_per_client as usize;
        let mut mailboxes = spec.mailboxes;
        mailboxes.truncate(needed);
        let smtp_endpoint = spec.smtp.as_ref().map(|smtp| {
            endpoint(&smtp.addresses, &smtp.server_name, smtp.tls.as_ref(), smtp.security, smtp.close_with_reset)
        });
        let pop3_endpoint = spec.pop3.as_ref().map(|pop3| {
            endpoint(&pop3.addresses, &pop3.server_name, pop3.tls.as_ref(), pop3.security, pop3.close_with_reset)
        });
        let lmtp = spec.smtp.as_ref().is_some_and(|smtp| smtp.protocol == Protocol::Lmtp);
        let plan = Plan {
            sizes: Deck::new(&spec.sizes, trial.seed).map_err(|text| format!("sizes: {text}"))?,
            recipients: Deck::new(&spec.recipients, trial.seed ^ 1).map_err(|text| format!("recipients: {text}"))?,
            pool: Pool::new(spec.bodies, trial.seed),
            run: spec.run,
            smtp: spec.smtp,
            pop3: spec.pop3,
            mailboxes,
            per_client: spec.mailboxes_per_client,
            shared: spec.shared_mailboxes,
            threads: trial.threads,
            sending_share: spec.sending_share,
            sender: spec.sender,
            initialise: spec.initialise,
            retries: spec.retries,
            late_ns: (spec.late_after_s * 1e9).round() as Nanos,
            refusals: (0..trial.clients()).map(|_| AtomicU32::new(0)).collect(),
            books: Books::default(),
        };
        let stages = Stages {
            listen_s: 0.0,
            prepare_s: (plan.initialise != Initialise::Nothing && plan.pop3.is_some()).then_some(spec.init_limit_s),
            linger_s: spec.linger_s,
            drain_s: (plan.keeps_books() && plan.initialise != Initialise::Look).then_some(spec.drain_limit_s),
        };
        let name = |name: &&str| match (lmtp, *name) {
            (true, "smtp-ehlo") => "lmtp-lhlo".to_owned(),
            (true, name) => name.replace("smtp-", "lmtp-"),
            (false, name) => name.to_owned(),
        };
        Ok(Self {
            plan: Arc::new(plan),
            endpoints: smtp_endpoint.into_iter().chain(pop3_endpoint).collect(),
            stages,
            names: Operation::NAMES.iter().map(name).collect(),
            clients: trial.clients(),
        })
    }
}

fn endpoint(
    addresses: &[String],
    server_name: &str,
    tls: Option<&TlsSettings>,
    security: Security,
    close_with_reset: bool,
) -> Endpoint {
    let defaults = || TlsSettings { verify: true, ca_file: None, resumption: true };
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
        trial.clients() < 1 << 20 && trial.threads < 1 << 12,
        "a mail trial has at most 1048575 clients of 4095 threads".to_owned(),
    )?;
    let enough = spec.shared_mailboxes || trial.threads <= spec.mailboxes_per_client;
    need(
        enough,
        format!(
            "{} threads cannot share {} mailboxes: use fewer threads, more mailboxes or shared_mailboxes",
            trial.threads, spec.mailboxes_per_client
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

impl MailWorkload {
    #[cfg(test)]
    pub(crate) fn plan_for_tests(&self) -> &Plan {
        &self.plan
    }

    /// By what the books are judged, and how many mailboxes could not be looked at for which reason.
    fn rules(&self, sessions: &[&MailSession], timeline: Timeline) -> (Rules, BTreeMap<&'static str, u64>) {
        let mut why: BTreeMap<_, u64> = BTreeMap::new();
        let mut unchecked = HashSet::new();
        for (mailbox, reason) in sessions.iter().flat_map(|session| session.reader.unchecked()) {
            unchecked.insert(mailbox);
            *why.entry(reason).or_default() += 1;
        }
        (Rules { timeline, late_ns: self.plan.late_ns, unchecked }, why)
    }
}

impl Workload for MailWorkload {
    type Session = MailSession;

    fn operations(&self) -> Vec<String> {
        self.names.clone()
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        self.endpoints.clone()
    }

    fn stages(&self) -> Stages {
        self.stages
    }

    fn split(&self) -> Vec<u16> {
        Operation::SPLIT.iter().map(|operation| *operation as u16).collect()
    }

    fn session(&self, identity: Identity) -> MailSession {
        let rng = Rng::for_thread(identity.seed, identity.client, identity.thread);
        let player = u64::from(identity.client) * u64::from(self.plan.threads) + u64::from(identity.thread);
        let players = u64::from(self.clients) * u64::from(self.plan.threads);
        MailSession::new(Arc::clone(&self.plan), identity, rng, player, players)
    }

    fn figures<'a>(&self, sessions: impl Iterator<Item = &'a MailSession>) -> Value {
        let sessions: Vec<_> = sessions.collect();
        let mut figures = serde_json::Map::new();
        let mut preparing = Refusals::default();
        let mut measured = Refusals::default();
        let (mut send_ns, mut read_ns, mut accepted) = (0, 0, 0);
        let (mut polls, mut empty_polls, mut removed) = (0, 0, 0);
        let mut response = Response::default();
        let (mut ours, mut foreign) = (0, serde_json::Map::new());
        let address = |at: u32| self.plan.mailboxes[at as usize].address.as_str();
        for session in &sessions {
            preparing.add(&session.preparing);
            measured.add(&session.measured);
            send_ns += session.send_ns;
            read_ns += session.read_ns;
            accepted += session.sender.accepted;
            polls += session.reader.polls;
            empty_polls += session.reader.empty_polls;
            removed += session.reader.removed;
            response.join(&session.response);
            ours += session.reader.found.ours;
            let found = session.reader.found.foreign.iter();
            foreign.extend(found.map(|(mailbox, count)| (address(*mailbox).to_owned(), json!(count))));
        }
        let total_ns = send_ns + read_ns;
        let share = if total_ns == 0 { 0.0 } else { send_ns as f64 / total_ns as f64 };
        figures.insert(
            "share".to_owned(),
            json!({
                "send_s": send_ns as f64 / 1e9, "read_s": read_ns as f64 / 1e9, "sending": share,
                "planned": self.plan.sending_share,
            }),
        );
        figures.insert(
            "init".to_owned(),
            json!({
                "mailboxes": self.plan.mailboxes.len(), "removed": removed, "ours": ours, "foreign": foreign,
            }),
        );
        figures.insert("response".to_owned(), response.json());
        figures.insert("refusals".to_owned(), json!({"init": preparing.json(), "measured": measured.json()}));
        figures.insert("polls".to_owned(), json!({"all": polls, "empty": empty_polls}));
        if let Some(timeline) = sessions.first().map(|session| session.timeline) {
            figures.insert("sessions".to_owned(), Plan::doors_json(&sessions, &timeline));
            let sent = || sessions.iter().flat_map(|session| &session.sender.book);
            let seen = || sessions.iter().flat_map(|session| &session.reader.book);
            let ledger = self.plan.keeps_books().then(|| {
                let (rules, why) = self.rules(&sessions, timeline);
                (Ledger::join(rules, accepted, sent(), seen()), why)
            });
            let books = ledger.as_ref().map(|(ledger, _)| ledger);
            figures.insert("flow".to_owned(), flow_json(&timeline, books, sent(), seen()));
            if let Some((ledger, why)) = &ledger {
                let mut books = ledger.json(address);
                books["unchecked_mailboxes"] = json!(why);
                figures.insert("ledger".to_owned(), books);
                figures.insert("visible".to_owned(), ledger.visible_json());
            }
        }
        Value::Object(figures)
    }
}
