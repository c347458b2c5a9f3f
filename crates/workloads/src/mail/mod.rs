//! Mail: sending by SMTP or LMTP and reading by POP3, step by step, with books on every message.

mod books;
mod deck;
mod doors;
mod flow;
mod inspect;
mod ledger;
mod message;
mod operation;
mod plan;
mod pop3;
mod read;
mod reader;
mod refusals;
mod reply;
mod response;
mod sasl;
mod send;
mod sender;
mod session;
mod spec;
#[cfg(test)]
mod tests;

pub use plan::MailWorkload;
pub use session::MailSession;
pub use spec::{Bodies, Initialise, Login, MailSpec, MailboxSpec, Pop3Spec, Protocol, Security, SmtpSpec};
