//! Trials of httperf over loopback. One program: each test program is linked with all that a trial needs.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;
mod faults;
mod options;
mod targets;
