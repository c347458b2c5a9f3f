//! The kind `httperf` as it crosses the seam: the options by httperf's names, read and checked once.

#[cfg(test)]
pub(super) mod for_tests;
pub(super) mod octets;
pub(super) mod uris;

use crate::http::page_check::PageSpec;
use bakeoff_engine::{Load, Shape, SpecError, TrialSpec};
use octets::Octets;
use serde::Deserialize;

/// Connections that one session may have at once, when nothing else is said.
const SESSION_CONNECTIONS: u32 = 4;
/// The most that are taken.
const CONNECTIONS_MAX: u32 = 1_000_000;
const PIPED_MAX: u32 = 1_000;
const COUNT_MAX: u64 = 1_000_000_000_000;
const SECONDS_MAX: f64 = 30.0 * 24.0 * 3600.0;
const SCRIPTS_MAX: usize = 100_000;
const SCRIPT_CALLS_MAX: usize = 10_000_000;
const PERIODS_MAX: usize = 1_000;

/// A server under load; connections take them in turn (`--server`, `--servers`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Its name as the user gave it: the `Host` header, the name for the certificate check and for SNI, unless another
    /// was given.
    pub host: String,
    /// Resolved, as `127.0.0.1:80` or `[::1]:80`.
    pub address: String,
}

/// Which of several that share the work this is (`--client I/N`).
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    /// From 0.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

/// The times between starts (`--rate X` is fixed with 1/X).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub enum PeriodSpec {
    /// Always the same: `--period dT`, `--rate`.
    Fixed {
        /// s.
        period_s: f64,
    },
    /// Any length between two is as likely: `--period uT1,T2`.
    Uniform {
        /// s.
        from_s: f64,
        /// s.
        to_s: f64,
    },
    /// Exponential: `--period eT`.
    Exponential {
        /// s.
        mean_s: f64,
    },
    /// One period for so long, then the next, then again from the first: `--period vT1,D1,…`.
    Variable {
        /// (period, duration), s.
        steps: Vec<(f64, f64)>,
    },
}

/// `--wsess N1,N2,X`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WsessSpec {
    /// Sessions in all.
    pub sessions: u64,
    /// Calls of each.
    pub calls: u64,
    /// From the last reply of a burst to the next burst, s.
    pub think_s: f64,
}

/// `--wsesslog N,X,F`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WsesslogSpec {
    /// Sessions in all; they take the scripts in turn.
    pub sessions: u64,
    /// What the file says.
    pub scripts: Vec<ScriptSpec>,
}

/// One session of a `--wsesslog` file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpec {
    /// In their order.
    pub bursts: Vec<BurstSpec>,
}

/// A call, what follows it at once when it was answered, and the pause after that.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstSpec {
    /// The first is sent alone, the others at once when its reply is there.
    pub calls: Vec<CallSpec>,
    /// From the last reply of this burst to the next burst, s: the line's `think` or the option's.
    pub think_s: f64,
}

/// One call of a script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallSpec {
    /// Begins with `/`.
    pub uri: Octets,
    /// `GET`, …
    pub method: Octets,
    /// The body, when there is one; `Content-length` is added.
    pub contents: Option<Octets>,
}

/// `--wsesspage N1,N2,X`: pages with all that they embed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WsesspageSpec {
    /// Sessions in all.
    pub sessions: u64,
    /// Pages of each.
    pub pages: u64,
    /// From the last reply of a page to the next page, s.
    pub think_s: f64,
}

/// `--wlog y|n,F`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WlogSpec {
    /// From the first again after the last; else calls end there.
    pub wrap: bool,
    /// In their order.
    pub uris: Vec<Octets>,
}

/// `--wset N,X`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WsetSpec {
    /// Files in the set.
    pub files: u32,
    /// Share of calls that ask for another file than the one before, 0 to 1.
    pub miss_rate: f64,
}

/// Which parts of messages are told as events (`--print-request`, `--print-reply`).
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintSpec {
    /// Its head.
    pub header: bool,
    /// Its body.
    pub body: bool,
}

impl PrintSpec {
    const fn any(self) -> bool {
        self.header || self.body
    }
}

/// `--ssl` and its fellows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SslSpec {
    /// `auto`, or one of httperf's names of which TLS 1.2 and 1.3 can be had.
    pub protocol: String,
    /// Names as OpenSSL, IANA or rustls has them; all when empty.
    pub ciphers: Vec<String>,
    /// Every handshake is a full one.
    pub no_reuse: bool,
    /// PEM file of the client's certificate.
    pub certificate: Option<String>,
    /// PEM file of its key.
    pub key: Option<String>,
    /// Check the server's certificate.
    pub verify: bool,
    /// PEM file of authorities to trust.
    pub ca_file: Option<String>,
    /// Folder of such files.
    pub ca_path: Option<String>,
    /// For SNI and the check; the server's own when `None`.
    pub server_name: Option<String>,
}

/// All options. Times in seconds, sizes in bytes; `None` is httperf's "not given".
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttperfSpec {
    /// Always `httperf`.
    pub kind: String,
    /// Where connections go, in turn.
    pub servers: Vec<ServerSpec>,
    /// For the `Host` header only (`--server-name`).
    pub server_name: Option<String>,
    /// What is asked for, or the prefix for `--wset`.
    pub uri: Octets,
    /// Of all calls but those of scripts.
    pub method: Octets,
    /// What the reply to that is held to; `None`: any reply will do.
    #[serde(default)]
    pub page: Option<PageSpec>,
    /// `1.0` or `1.1`.
    pub http_version: String,
    /// Leave the `Host` header out.
    pub no_host_hdr: bool,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// Further header lines, each with its line end; escapes are resolved (`--add-header`).
    pub add_header: Octets,
    /// Times between starts of connections or sessions; `None`: the next when the last is over.
    pub period: Option<PeriodSpec>,
    /// Connections in all, when no sessions are asked for.
    pub num_conns: u64,
    /// Calls of each.
    pub num_calls: u64,
    /// Calls of a burst.
    pub burst_length: u32,
    /// Sessions of equal bursts.
    pub wsess: Option<WsessSpec>,
    /// Sessions of a file.
    pub wsesslog: Option<WsesslogSpec>,
    /// Sessions of pages.
    pub wsesspage: Option<WsesspageSpec>,
    /// URIs of a list.
    pub wlog: Option<WlogSpec>,
    /// URIs of a set of files.
    pub wset: Option<WsetSpec>,
    /// Of a session, 4 unless given; without sessions, of all together, unbounded unless given.
    pub max_connections: Option<u32>,
    /// Calls that wait on one connection at once, in sessions.
    pub max_piped_calls: u32,
    /// Longest time without progress; `None` is for ever.
    pub timeout_s: Option<f64>,
    /// Added to it while the first byte of a reply is waited for.
    pub think_timeout_s: f64,
    /// The trial ends after so long.
    pub runtime_s: Option<f64>,
    /// Which of several.
    pub client: ClientSpec,
    /// Local ports of the whole range from 1024 on, chosen here, not by the kernel.
    pub hog: bool,
    /// Local addresses, taken in turn; the kernel chooses when empty.
    pub myaddr: Vec<String>,
    /// `SO_SNDBUF`; the kernel's when `None`.
    pub send_buffer: Option<u32>,
    /// `SO_RCVBUF`; the kernel's when `None`.
    pub recv_buffer: Option<u32>,
    /// Connections end with a reset.
    pub close_with_reset: bool,
    /// A reply with this status fails its session.
    pub failure_status: Option<u16>,
    /// … unless the call is to be tried again.
    pub retry_on_failure: bool,
    /// Each session sends back the cookie that it was given last.
    pub session_cookies: bool,
    /// Connections begin with a TLS handshake.
    pub ssl: Option<SslSpec>,
    /// Events of level `print` with what was sent.
    pub print_request: PrintSpec,
    /// Events of level `print` with what was received.
    pub print_reply: PrintSpec,
    /// Events of level `periodic`, once a second: counts of replies 200 and 302.
    pub periodic_stats: bool,
    /// Events of level `rate` with each sample of 5 s.
    pub verbose: bool,
    /// Events of level `figures` now and then, with all that was counted so far.
    pub tell_figures: bool,
    /// The part of all starts that is this machine's.
    #[serde(skip)]
    pub part: Part,
}

/// Which of the starts of one sequence are begun here: the `index`th and every `of`th after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub index: u32,
    /// How many machines there are.
    pub of: u32,
}

impl Default for Part {
    fn default() -> Self {
        Self { index: 0, of: 1 }
    }
}

impl Part {
    /// How many of so many things, numbered from 0, are its own.
    pub fn share(self, all: u64) -> u64 {
        (all + u64::from(self.of - 1 - self.index)) / u64::from(self.of)
    }

    /// Whether others have starts, too.
    pub const fn is_divided(self) -> bool {
        self.of > 1
    }
}

/// What is counted off: connections with their calls, or sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `--num-conns`, `--num-calls`.
    Connections,
    /// `--wsess`, `--wsesslog`, `--wsesspage`.
    Sessions,
}

impl HttperfSpec {
    /// Reads the workload of a trial and checks all of it.
    pub fn from_trial(trial: &TrialSpec) -> Result<Self, SpecError> {
        let mut spec = Self::deserialize(&trial.workload)?;
        spec.part = Part { index: trial.slice.index, of: trial.slice.of };
        if let (None, Load::Rate(rate)) = (&spec.period, &trial.load) {
            if rate.arrivals != (Shape::Constant {}) {
                return range("without a period the arrivals of a rate must be constant");
            }
            spec.period = Some(PeriodSpec::Fixed { period_s: 1.0 / rate.per_s });
        }
        spec.check().map_err(SpecError::Range)?;
        if trial.load_threads != 1 || trial.virtual_users != 1 {
            return range("httperf's load comes from one thread: load_threads and virtual_users must be 1");
        }
        if spec.period.is_some() && !matches!(trial.load, Load::Rate(_)) {
            return range("with a period the load must be a rate");
        }
        if matches!(trial.load, Load::Clients(clients) if clients != 1) {
            return range("without a rate one connection or session follows the other: the load must be 1 client");
        }
        let told = spec.print_request.any() || spec.print_reply.any() || spec.periodic_stats || spec.verbose;
        if spec.part.is_divided() && told {
            return range("several machines print no messages: leave print options, periodic-stats and verbose out");
        }
        if trial.ramp_up_s > 0.0 || trial.ramp_down_s > 0.0 || trial.delay_s > 0.0 || trial.think_s > 0.0 {
            return range("httperf has no ramps, delay or think time of the trial: they must be 0");
        }
        Ok(spec)
    }

    /// What is counted off.
    pub const fn mode(&self) -> Mode {
        if self.wsess.is_some() || self.wsesslog.is_some() || self.wsesspage.is_some() {
            Mode::Sessions
        } else {
            Mode::Connections
        }
    }

    /// Connections or sessions that begin here.
    pub fn own_starts(&self) -> u64 {
        self.part.share(self.starts())
    }

    /// Connections that may be open here at once, where that is bounded.
    pub fn own_connections(&self) -> Option<u64> {
        self.max_connections.map(|most| self.part.share(u64::from(most)))
    }

    /// The client whose files of a set are asked for here: those of each part are its own.
    pub const fn own_client(&self) -> ClientSpec {
        let ClientSpec { index, of } = self.client;
        ClientSpec { index: index.wrapping_add(of.wrapping_mul(self.part.index)), of: of.wrapping_mul(self.part.of) }
    }

    /// Connections or sessions in all.
    pub fn starts(&self) -> u64 {
        let sessions = self.wsess.as_ref().map(|sessions| sessions.sessions);
        let sessions = sessions.or(self.wsesslog.as_ref().map(|sessions| sessions.sessions));
        sessions.or(self.wsesspage.as_ref().map(|sessions| sessions.sessions)).unwrap_or(self.num_conns)
    }

    /// How long the starts take by the clock, s; 0 where each waits for the one before.
    pub fn planned_s(&self) -> f64 {
        let planned_s = self.period.as_ref().map_or(0.0, |period| period.mean_s() * self.starts() as f64);
        self.runtime_s.map_or(planned_s, |runtime_s| runtime_s.min(planned_s))
    }

    /// Connections that one session may have at once.
    pub fn session_connections(&self) -> u32 {
        self.max_connections.unwrap_or(SESSION_CONNECTIONS)
    }

    fn check(&self) -> Result<(), String> {
        if self.servers.is_empty() {
            return Err("there is no server to connect to".to_owned());
        }
        if !matches!(self.http_version.as_str(), "1.0" | "1.1") {
            return Err(format!("--http-version must be 1.0 or 1.1, not `{}`", self.http_version));
        }
        if self.client.index >= self.client.of {
            return Err(format!(
                "--client must be one of {}, counted from 0, not {}",
                self.client.of, self.client.index
            ));
        }
        self.check_counts()?;
        self.check_times()?;
        self.check_work()?;
        self.check_wire()
    }

    fn check_counts(&self) -> Result<(), String> {
        for (name, value, most) in [
            ("--num-conns", self.num_conns, COUNT_MAX),
            ("--num-calls", self.num_calls, COUNT_MAX),
            ("--burst-length", u64::from(self.burst_length), u64::from(PIPED_MAX)),
            ("--max-piped-calls", u64::from(self.max_piped_calls), u64::from(PIPED_MAX)),
            ("--max-connections", u64::from(self.max_connections.unwrap_or(1)), u64::from(CONNECTIONS_MAX)),
            ("the number of sessions", self.starts(), COUNT_MAX),
            ("the calls of a session", self.wsess.as_ref().map_or(1, |sessions| sessions.calls), COUNT_MAX),
            ("the pages of a session", self.wsesspage.as_ref().map_or(1, |sessions| sessions.pages), COUNT_MAX),
        ] {
            if value == 0 || value > most {
                return Err(format!("{name} must be 1 to {most}, not {value}"));
            }
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), String> {
        let bursts = self.wsesslog.iter().flat_map(|log| &log.scripts).flat_map(|script| &script.bursts);
        let thinks = bursts.map(|burst| burst.think_s);
        let thinks = thinks.chain(self.wsess.as_ref().map(|sessions| sessions.think_s));
        let thinks = thinks.chain(self.wsesspage.as_ref().map(|sessions| sessions.think_s));
        for value in thinks.chain([self.think_timeout_s]) {
            if !(0.0..=SECONDS_MAX).contains(&value) {
                return Err(format!("think times must be 0 to {SECONDS_MAX} s, not {value}"));
            }
        }
        for (name, value) in [("--timeout", self.timeout_s), ("--runtime", self.runtime_s)] {
            if value.is_some_and(|value| !(value > 0.0 && value <= SECONDS_MAX)) {
                return Err(format!("{name} must be more than 0 and at most {SECONDS_MAX} s"));
            }
        }
        match &self.period {
            Some(period) => period.check(),
            None => Ok(()),
        }
    }

    fn check_work(&self) -> Result<(), String> {
        let kinds = [self.wsess.is_some(), self.wsesslog.is_some(), self.wsesspage.is_some()];
        if kinds.iter().filter(|&&given| given).count() > 1 {
            return Err("only one of --wsess, --wsesslog and --wsesspage can be given".to_owned());
        }
        if self.wlog.is_some() && self.wset.is_some() {
            return Err("only one of --wlog and --wset can be given".to_owned());
        }
        if self.wlog.as_ref().is_some_and(|log| log.uris.is_empty()) {
            return Err("the list of --wlog has no URI".to_owned());
        }
        if self.wset.is_some_and(|set| set.files == 0 || !(0.0..=1.0).contains(&set.miss_rate)) {
            return Err("--wset needs at least one file and a miss rate from 0 to 1".to_owned());
        }
        let Some(log) = &self.wsesslog else { return Ok(()) };
        if log.scripts.is_empty() || log.scripts.len() > SCRIPTS_MAX {
            return Err(format!("--wsesslog needs 1 to {SCRIPTS_MAX} sessions, not {}", log.scripts.len()));
        }
        let empty = |script: &ScriptSpec| script.bursts.is_empty() || script.bursts.iter().any(|b| b.calls.is_empty());
        if log.scripts.iter().any(empty) {
            return Err("a session of --wsesslog has no calls".to_owned());
        }
        let calls: usize = log.scripts.iter().flat_map(|script| &script.bursts).map(|burst| burst.calls.len()).sum();
        if calls > SCRIPT_CALLS_MAX {
            return Err(format!("the sessions of --wsesslog have more than {SCRIPT_CALLS_MAX} calls"));
        }
        Ok(())
    }

    /// Nothing that is sent may end its line early, or what is measured is not what was asked for.
    fn check_wire(&self) -> Result<(), String> {
        let calls = self.wsesslog.iter().flat_map(|log| &log.scripts).flat_map(|script| &script.bursts);
        let calls = calls.flat_map(|burst| &burst.calls);
        let uris = calls.clone().map(|call| &call.uri).chain(self.wlog.iter().flat_map(|log| &log.uris));
        for uri in uris.chain([&self.uri]) {
            if uri.0.is_empty() || uri.0.iter().any(|byte| byte.is_ascii_whitespace() || *byte == 0) {
                return Err(format!("`{}` is no URI: it is empty or has blanks", uri.0.escape_ascii()));
            }
        }
        for method in calls.map(|call| &call.method).chain([&self.method]) {
            if method.0.is_empty() || !method.0.iter().all(u8::is_ascii_graphic) {
                return Err(format!("`{}` is no HTTP method", method.0.escape_ascii()));
            }
        }
        let names = self.servers.iter().map(|server| &server.host).chain(&self.server_name);
        for name in names.chain([&self.user_agent]) {
            if name.bytes().any(|byte| byte.is_ascii_control()) {
                return Err(format!("`{}` cannot stand in a header", name.escape_debug()));
            }
        }
        Ok(())
    }
}

impl PeriodSpec {
    /// Its mean, s.
    pub(crate) fn mean_s(&self) -> f64 {
        match self {
            Self::Fixed { period_s } => *period_s,
            Self::Uniform { from_s, to_s } => f64::midpoint(*from_s, *to_s),
            Self::Exponential { mean_s } => *mean_s,
            Self::Variable { steps } => {
                let (time_s, starts) = steps.iter().fold((0.0, 0.0), |(time_s, starts), (period_s, duration_s)| {
                    (time_s + duration_s, starts + duration_s / period_s)
                });
                time_s / starts
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let good = |value: f64| (0.0..=SECONDS_MAX).contains(&value);
        let (right, advice) = match self {
            Self::Fixed { period_s } => (good(*period_s) && *period_s > 0.0, "dT needs T over 0"),
            Self::Exponential { mean_s } => (good(*mean_s) && *mean_s > 0.0, "eT needs T over 0"),
            Self::Uniform { from_s, to_s } => {
                (good(*from_s) && good(*to_s) && from_s <= to_s && *to_s > 0.0, "uT1,T2 needs T1 <= T2 and T2 over 0")
            }
            Self::Variable { steps } => {
                let right = |&(period_s, duration_s): &(f64, f64)| {
                    good(period_s) && period_s > 0.0 && good(duration_s) && duration_s > 0.0
                };
                let count = (1..=PERIODS_MAX).contains(&steps.len());
                (count && steps.iter().all(right), "vT1,D1,… needs pairs of numbers over 0")
            }
        };
        if right { Ok(()) } else { Err(format!("--period: {advice}, at most {SECONDS_MAX} s")) }
    }
}

fn range<T>(text: &str) -> Result<T, SpecError> {
    Err(SpecError::Range(text.to_owned()))
}
