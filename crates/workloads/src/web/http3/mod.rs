//! HTTP/3 as its client sees it: frames on streams of QUIC, header compression by the static table.

mod frames;
mod mux;
mod qpack;
mod request;
mod static_table;
mod varint;

pub(crate) use mux::Http3;
pub(crate) use request::put_own;
