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

impl Operation {
    /// Steps whose parts are kept apart: connect against banner, first against last byte, TLS.
    pub const SPLIT: &'static [Self] =
        &[Self::SmtpConnect, Self::SmtpStartTls, Self::PopConnect, Self::PopStartTls, Self::PopRetrieve];

    /// Whether its time counts as sending.
    pub fn sends(self) -> bool {
        (self as u16) < Self::PopConnect as u16
    }

    /// Whether it opens a connection.
    pub fn connects(self) -> bool {
        matches!(self, Self::SmtpConnect | Self::PopConnect)
    }
}
