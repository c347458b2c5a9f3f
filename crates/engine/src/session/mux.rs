//! The seam for protocols that carry several requests at once over one connection.
//!
//! Each stream of a connection is a virtual user with a session of its own. Between them and the connection stands a
//! *mux*: it turns what its virtual users ask into what is written, and what is read into their events. It owns no
//! socket, reads no clock, and is fuzzed by feeding it bytes.

use crate::ErrorClass;
use std::fmt::Debug;
use std::sync::Arc;

/// What a server did on the stream of a virtual user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent<'a> {
    /// The head of the reply, with the length that it states for the body.
    Head {
        /// Status code.
        status: u16,
        /// Bytes.
        length: Option<u64>,
    },
    /// A part of the body. It is gone after the call.
    Body(&'a [u8]),
    /// The reply is over: what it and its request took on the wire, the protocol's overhead included.
    End {
        /// Bytes received.
        bytes_in: u64,
        /// Bytes sent.
        bytes_out: u64,
    },
    /// The server gave the stream up, and the connection stands.
    Reset,
    /// What came is no reply; the stream was given up over it.
    Malformed,
}

/// What a mux found in the bytes of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MuxEvent<'a> {
    /// For the session of this virtual user. After `End`, `Reset` and `Malformed` the virtual user has no stream any
    /// more.
    Stream(usize, StreamEvent<'a>),
    /// The server says that it has not looked at the request of this virtual user, and never will: it may be asked
    /// elsewhere.
    Unheard(usize),
}

/// The protocol of one connection with streams.
pub trait Mux: Send + Debug {
    /// Appends what a client says first.
    fn open(&mut self, out: &mut Vec<u8>);

    /// Appends `request` ([`crate::Session::outgoing`]) for `vu`; `false` when no stream is free for it.
    fn ask(&mut self, vu: usize, request: &[u8], out: &mut Vec<u8>) -> bool;

    /// Appends what gives the stream of `vu` up, if it has one.
    fn cancel(&mut self, vu: usize, out: &mut Vec<u8>);

    /// Takes from `bytes` up to the next event and appends what the protocol has to answer; `None` when nothing is
    /// left.
    ///
    /// # Errors
    /// The connection cannot go on: the server broke the protocol.
    fn next<'a>(&mut self, bytes: &mut &'a [u8], out: &mut Vec<u8>) -> Result<Option<MuxEvent<'a>>, ErrorClass>;

    /// Whether the connection takes no more requests: those that it has are still answered.
    fn is_leaving(&self) -> bool;

    /// Whether the server has said that it will end the connection.
    fn server_ends(&self) -> bool;

    /// Streams that are open, and those whose end was read and is still to be told.
    fn open_streams(&self) -> usize;

    /// The most streams that the server takes at once, as far as it has said so.
    fn streams_allowed(&self) -> Option<u32>;

    /// From now on the fields of heads are kept, for a check before timing.
    fn keep_fields(&mut self) {}

    /// Name and value of the fields of the last head, where they are kept.
    fn fields(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &[]
    }

    /// The protocol's number for why the server gave up a stream, or the connection.
    fn given_up_for(&self) -> Option<u32> {
        None
    }
}

/// How the connections of a workload carry streams.
#[derive(Debug, Clone)]
pub struct Streams {
    /// Virtual users that share a connection.
    pub per_connection: usize,
    /// Makes the mux of a new connection.
    pub mux: Arc<dyn MakeMux>,
}

/// Makes muxes, one for each connection.
pub trait MakeMux: Send + Sync + Debug {
    /// A mux for a connection that is about to open. Until the server says otherwise, it takes as many streams as it
    /// said last.
    fn make(&self, streams_allowed: Option<u32>) -> Box<dyn Mux>;
}
