//! Where a sending session is, and what is known of it.

use super::replies::{Capabilities, Replies};
use crate::mail::operation::Operation;

/// Where a sending session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Connect,
    Hello,
    StartTls,
    /// The handshake after `STARTTLS`.
    Secure,
    Login,
    Mail,
    Recipient(u32),
    Data,
    /// MAIL, RCPT and DATA in one go.
    Envelope,
    Body,
    Quit,
}

impl Step {
    /// As what it is timed.
    pub const fn operation(self) -> Operation {
        match self {
            Self::Connect => Operation::SmtpConnect,
            Self::Hello => Operation::SmtpHello,
            Self::StartTls | Self::Secure => Operation::SmtpStartTls,
            Self::Login => Operation::SmtpLogin,
            Self::Mail => Operation::SmtpMail,
            Self::Recipient(_) => Operation::SmtpRecipient,
            Self::Data => Operation::SmtpData,
            Self::Envelope => Operation::SmtpEnvelope,
            Self::Body => Operation::SmtpBody,
            Self::Quit => Operation::SmtpQuit,
        }
    }
}

/// What is known of the session in progress.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// What comes next; none between sessions.
    pub step: Option<Step>,
    pub replies: Replies,
    pub capabilities: Capabilities,
    pub encrypted: bool,
    pub logged_in: bool,
    /// Messages sent over this connection.
    pub messages: u32,
    /// Replies that have come for the step.
    pub replies_seen: usize,
}

impl State {
    /// Whether QUIT comes next.
    pub const fn is_leaving(&self) -> bool {
        matches!(self.step, Some(Step::Quit))
    }

    /// Whether a message is over and the next one on this connection has not begun.
    pub fn is_between_messages(&self) -> bool {
        self.messages > 0 && matches!(self.step, Some(Step::Mail | Step::Envelope))
    }
}
