//! Sessions of several requests as they cross the seam.

use crate::web::WebSpec;
use serde::Deserialize;

/// Whose the cookies are that servers set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CookieScope {
    /// Each session begins without them.
    Session,
    /// A client keeps them from session to session.
    Client,
    /// They are not read.
    Off,
}

/// What a request carries.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// Hexadecimal.
    pub content: String,
    /// Words in braces stand for values.
    pub fill: bool,
}

/// How a value is taken from a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractorSpec {
    /// A field of the head.
    Header,
    /// A cookie, after those that the reply sets.
    Cookie,
    /// A JSON pointer (RFC 6901) into the body.
    Json,
    /// What stands between two marks in the body.
    Between,
}

/// A value that is taken from a reply.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeSpec {
    /// What later steps call it.
    pub name: String,
    /// How it is found.
    pub way: ExtractorSpec,
    /// The name of field or cookie, the pointer, or both marks.
    pub what: Vec<String>,
}

/// One request of a session. Method and statuses are those of the class of the same number in [`WebSpec::classes`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// In results.
    pub name: String,
    /// May have values.
    pub path: String,
    /// Beside those of every request; may have values.
    pub headers: Vec<(String, String)>,
    /// What it carries.
    pub body: Option<BodySpec>,
    /// What must be in the body of the reply.
    pub texts: Vec<String>,
    /// What is taken from the reply.
    pub take: Vec<TakeSpec>,
    /// Pause before the next step, s.
    pub think_s: f64,
}

/// Settings of the workload `web-session`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// Always `web-session`.
    pub kind: String,
    /// Connections, headers, and a class with one request for each step.
    pub web: WebSpec,
    /// Before each path that does not begin with a value.
    pub prefix: String,
    /// Whose cookies are.
    pub keep_cookies: CookieScope,
    /// Those that every session begins with.
    pub cookies: Vec<(String, String)>,
    /// In their order.
    pub steps: Vec<StepSpec>,
}
