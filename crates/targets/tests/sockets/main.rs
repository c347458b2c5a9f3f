//! The built-in servers over real sockets. One program: each test program is linked with all that a server needs.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod app;
mod common;
mod faults;
mod mail;
mod others;
mod web;
