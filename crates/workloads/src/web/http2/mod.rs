//! HTTP/2 as its client sees it: frames, header compression, streams.

mod frame;
pub(crate) mod hpack;
pub(crate) mod huffman;
pub(crate) mod message;
mod mux;
mod reader;
mod request;
mod static_table;
mod streams;
pub(super) mod whole;

pub(crate) use mux::Http2;
pub(crate) use request::put_own;
