//! HTTP/1.0 and HTTP/1.1 clients.

mod body;
mod head;
mod plan;
mod session;
mod spec;

pub use plan::WebWorkload;
pub use session::WebSession;
pub use spec::{ClassSpec, RequestSpec, WebSpec};

#[cfg(test)]
mod tests;
