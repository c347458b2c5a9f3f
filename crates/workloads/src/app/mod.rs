//! Clients of the application server: one request outstanding each, every reply checked.

mod plan;
mod session;
mod shadow;
mod spec;
mod watch;

pub use plan::AppWorkload;
pub use session::AppSession;
pub use spec::{AppSpec, ClassSpec};

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
