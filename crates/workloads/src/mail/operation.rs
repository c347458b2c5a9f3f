//! The timed steps.

macro_rules! operations {
    ($($variant:ident = $name:literal,)+) => {
        /// One step of a session.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u16)]
        pub(crate) enum Operation { $($variant,)+ }

        impl Operation {
            /// Names in results, by number.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];
            const ALL: &'static [Self] = &[$(Self::$variant,)+];
        }
    };
}

operations! {
    SmtpConnect = "smtp-connect",
    SmtpHello = "smtp-ehlo",
    SmtpStartTls = "smtp-starttls",
    SmtpLogin = "smtp-auth",
    SmtpMail = "smtp-mail",
    SmtpRecipient = "smtp-rcpt",
    SmtpData = "smtp-data",
    SmtpEnvelope = "smtp-envelope",
    SmtpBody = "smtp-body",
    SmtpQuit = "smtp-quit",
    PopConnect = "pop3-connect",
    PopCapabilities = "pop3-capa",
    PopStartTls = "pop3-stls",
    PopUser = "pop3-user",
    PopPass = "pop3-pass",
    PopLogin = "pop3-auth",
    PopStat = "pop3-stat",
    PopUidl = "pop3-uidl",
    PopList = "pop3-list",
    PopRetrieve = "pop3-retr",
    PopDelete = "pop3-dele",
    PopQuit = "pop3-quit",
}

/// Where a server may bound how many sessions it serves, and the steps that wait for it: to be greeted by SMTP and by
/// POP3, and to be logged in by POP3. `before` are the steps until a session is inside.
pub(crate) struct Service {
    pub name: &'static str,
    pub waits: &'static [Operation],
    pub before: &'static [Operation],
    pub sends: bool,
}

pub(crate) const SERVICES: [Service; 3] = [
    Service { name: "smtp", waits: &[Operation::SmtpConnect], before: &[Operation::SmtpConnect], sends: true },
    Service { name: "pop3", waits: &[Operation::PopConnect], before: &[Operation::PopConnect], sends: false },
    Service {
        name: "pop3_logged_in",
        waits: &[Operation::PopPass, Operation::PopLogin],
        before: &[
            Operation::PopConnect,
            Operation::PopCapabilities,
            Operation::PopStartTls,
            Operation::PopUser,
            Operation::PopPass,
            Operation::PopLogin,
        ],
        sends: false,
    },
];

impl Operation {
    /// How many there are.
    pub const COUNT: usize = Self::NAMES.len();

    /// All of them, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied()
    }

    /// Steps whose parts are kept apart: connect against banner, body against final reply, first against last byte,
    /// TLS.
    pub const SPLIT: &'static [Self] = &[
        Self::SmtpConnect,
        Self::SmtpStartTls,
        Self::SmtpBody,
        Self::PopConnect,
        Self::PopStartTls,
        Self::PopRetrieve,
    ];

    /// Whether its time counts as sending.
    pub fn sends(self) -> bool {
        (self as u16) < Self::PopConnect as u16
    }

    /// Whether it opens a connection.
    pub fn connects(self) -> bool {
        matches!(self, Self::SmtpConnect | Self::PopConnect)
    }
}
