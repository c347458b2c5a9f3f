//! Protocol state machines of Bakeoff, one module per kind of work. No I/O, no clock.

pub mod app;
mod deck;
pub mod file;
pub mod mail;
pub mod null;
mod packed;
pub mod replay;
pub mod web;
pub mod web_session;
