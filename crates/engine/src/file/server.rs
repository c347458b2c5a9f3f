//! The seam for file servers that are met by their own protocol: a machine for each session turns file calls into
//! messages. It has no socket and no clock.

use super::call::FileCall;
use std::ffi::CStr;
use std::fmt::Debug;

/// The slot in which [`FileClient::connected`] makes a connection ready.
pub const CONNECTING: u32 = u32::MAX;

/// A contender that is a server's address, made once per trial.
pub trait FileServer: Send + Sync + Debug + 'static {
    /// The address, without any password.
    fn address(&self) -> &str;

    /// Name or address of the machine.
    fn host(&self) -> &str;

    /// Whether a connection is to come from a port below 1024, as far as this user may.
    fn wants_reserved_port(&self) -> bool {
        false
    }

    /// The client of session `session`, whose names are relative to `folder` below the address ("" is the address
    /// itself), with `depth` slots.
    fn client(&self, folder: &str, depth: u32, session: u32) -> Box<dyn FileClient>;
}

/// One session's side of the protocol.
///
/// The executor connects as long as [`FileClient::port`] names a port, each time followed by
/// [`FileClient::connected`] and by bytes until slot [`CONNECTING`] has ended. Then it begins calls.
pub trait FileClient: Debug {
    /// The port of the connection that is needed next, in place of the one that is there; `None` when calls can begin.
    fn port(&self) -> Option<u16>;

    /// That connection is there.
    fn connected(&mut self);

    /// Begins the call of a free slot. `names` are those of the call, "" where it has none or one; `data` is what it
    /// writes.
    fn begin(&mut self, slot: u32, call: &FileCall, names: [&CStr; 2], data: &[u8]);

    /// Bytes to be sent; the executor takes them away.
    fn outgoing(&mut self) -> &mut Vec<u8>;

    /// Where the next bytes of the server are to be put; never empty.
    fn space(&mut self) -> &mut [u8];

    /// So many bytes were put there. The error is a sentence about a server that breaks the protocol.
    fn received(&mut self, count: usize) -> Result<(), String>;

    /// A slot whose call is over, and its value: bytes, or the negative error number.
    fn finished(&mut self) -> Option<(u32, i64)>;

    /// Copies what the last call of a slot has read, as far as there is room; the value is the number of bytes.
    fn data(&self, slot: u32, to: &mut [u8]) -> usize;

    /// The connection is gone: all that is under way ends with this error number.
    fn lost(&mut self, errno: i32);

    /// Why the server refused the session, in a sentence for the user.
    fn refusal(&self) -> Option<String>;

    /// What was agreed with the server: dialect, signing, sizes.
    fn facts(&self) -> serde_json::Value;
}
