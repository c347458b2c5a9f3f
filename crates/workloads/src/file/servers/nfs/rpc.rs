//! ONC RPC version 2 (RFC 5531) with the credentials of `AUTH_SYS`.

use super::super::wire::{EIO, Errno, Message, Wire};
use super::xdr::{Xdr, XdrWrite};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(super) const PORTMAP: (u32, u32) = (100_000, 2);
pub(super) const NFS: (u32, u32) = (100_003, 3);
pub(super) const MOUNT: (u32, u32) = (100_005, 3);

/// The bit of a fragment's header that says that the record ends with it.
pub(super) const LAST_FRAGMENT: u32 = 0x8000_0000;
const EACCES: Errno = -13;
const EPROTONOSUPPORT: Errno = -93;
const AUTH_SYS: u32 = 1;
/// The verifier of a reply at most, bytes (RFC 5531).
const VERIFIER_MAX: usize = 400;

/// Calls on one connection.
#[derive(Debug)]
pub(super) struct Rpc {
    pub wire: Rc<Wire>,
    next: Cell<u32>,
    credentials: Vec<u8>,
    /// A record of several fragments, as far as it came.
    record: RefCell<Vec<u8>>,
}

impl Rpc {
    pub fn new(wire: Rc<Wire>, uid: u32, gid: u32, session: u32) -> Self {
        let mut body = Vec::new();
        body.u32(session).opaque(b"bakeoff").u32(uid).u32(gid).u32(0);
        let mut credentials = Vec::new();
        credentials.u32(AUTH_SYS).opaque(&body).u32(0).u32(0);
        Self { wire, next: Cell::new(session << 16 | 1), credentials, record: RefCell::default() }
    }

    /// Sends a call and waits for what it returns.
    pub async fn call<T, P>(
        &self,
        (program, version): (u32, u32),
        procedure: u32,
        arguments: impl FnOnce(&mut Vec<u8>),
        results: P,
    ) -> Result<T, Errno>
    where
        P: FnOnce(&mut Xdr<'_>) -> Result<T, Errno> + Unpin,
    {
        let number = self.next.get();
        self.next.set(number.wrapping_add(1));
        {
            let mut out = self.wire.out.borrow_mut();
            let begin = out.len();
            out.u32(0).u32(number).u32(0).u32(2).u32(program).u32(version).u32(procedure);
            out.extend_from_slice(&self.credentials);
            arguments(&mut out);
            let header = (out.len() - begin - 4) as u32 | LAST_FRAGMENT;
            out[begin..begin + 4].copy_from_slice(&header.to_be_bytes());
        }
        self.wire.reply(u64::from(number), move |bytes| accepted(bytes).and_then(|mut at| results(&mut at))).await
    }

    /// Takes a fragment; a reply is there when the last one of its record has come.
    pub fn record(&self, header: u32, fragment: &[u8], limit: usize) -> Result<Message, String> {
        let is_last = header & LAST_FRAGMENT != 0;
        let mut record = self.record.borrow_mut();
        if is_last && record.is_empty() {
            return Ok(Message::One(number_of(fragment)?, 0..fragment.len()));
        }
        if record.len() + fragment.len() > limit {
            return Err("the server sends a record without an end".to_owned());
        }
        record.extend_from_slice(fragment);
        if !is_last {
            return Ok(Message::Several(None, Vec::new()));
        }
        let whole = std::mem::take(&mut *record);
        let reply = (number_of(&whole)?, 0..whole.len());
        Ok(Message::Several(Some(whole), vec![reply]))
    }

    /// The connection is new.
    pub fn connected(&self) {
        self.record.borrow_mut().clear();
    }
}

fn number_of(record: &[u8]) -> Result<u64, String> {
    Xdr::new(record).u32().map(u64::from).map_err(|_| "the server sends an empty record".to_owned())
}

/// The results of a reply that the server accepted.
fn accepted(bytes: &[u8]) -> Result<Xdr<'_>, Errno> {
    let mut at = Xdr::new(bytes);
    at.skip(4)?;
    if at.u32()? != 1 {
        return Err(EIO);
    }
    if at.u32()? != 0 {
        return Err(EACCES);
    }
    at.skip(4)?;
    at.opaque(VERIFIER_MAX)?;
    match at.u32()? {
        0 => Ok(at),
        1..=3 => Err(EPROTONOSUPPORT),
        _ => Err(EIO),
    }
}
