//! Where a reading session is, and what is known of it.

use super::responses::{Capabilities, Responses};
use crate::mail::ledger::inspect::Inspector;
use crate::mail::operation::Operation;

/// Where a reading session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Connect,
    Capabilities,
    StartTls,
    /// The handshake after `STLS`.
    Secure,
    User,
    Pass,
    /// `AUTH PLAIN`.
    Login,
    Stat,
    Uidl,
    List,
    /// The head of a message that is there before the trial: whose is it?
    Head(u32),
    Retrieve(u32),
    Delete(u32),
    Quit,
}

impl Step {
    /// As what it is timed.
    pub const fn operation(self) -> Operation {
        match self {
            Self::Connect => Operation::PopConnect,
            Self::Capabilities => Operation::PopCapabilities,
            Self::StartTls | Self::Secure => Operation::PopStartTls,
            Self::User => Operation::PopUser,
            Self::Pass => Operation::PopPass,
            Self::Login => Operation::PopLogin,
            Self::Stat => Operation::PopStat,
            Self::Uidl => Operation::PopUidl,
            Self::List => Operation::PopList,
            Self::Head(_) | Self::Retrieve(_) => Operation::PopRetrieve,
            Self::Delete(_) => Operation::PopDelete,
            Self::Quit => Operation::PopQuit,
        }
    }
}

/// What is known of the session in progress, and of the server.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// What comes next; none between sessions.
    pub step: Option<Step>,
    pub responses: Responses,
    /// What the server offers, once it was asked.
    pub capabilities: Option<Capabilities>,
    pub encrypted: bool,
    pub listing: Vec<u8>,
    pub inspector: Inspector,
}

impl State {
    pub fn knows_top(&self) -> bool {
        self.capabilities.is_none_or(|offered| offered.top)
    }

    pub fn knows_uidl(&self) -> bool {
        self.capabilities.is_none_or(|offered| offered.uidl)
    }
}
