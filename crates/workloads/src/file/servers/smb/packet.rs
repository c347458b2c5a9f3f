//! Messages of SMB 2 and 3 (MS-SMB2 2.2.1): requests are numbered, signed or encrypted, and sent; replies are found in
//! what comes, and proved.

use super::super::wire::{EIO, Errno, Message, Wire};
use super::status;
use smb2::crypto::encryption::{Cipher, NonceGenerator, decrypt_message, encrypt_message};
use smb2::crypto::signing::{SigningAlgorithm, sign_message, verify_signature};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

pub(super) const HEADER: usize = 64;
const TRANSFORM: usize = 52;
const RELATED: u32 = 0x4;
const SIGNED: u32 = 0x8;
const IS_RESPONSE: u32 = 0x1;
const IS_ASYNC: u32 = 0x2;
/// Credits that a session wants to have, for calls in flight and transfers of several credits.
const CREDITS_WANTED: u32 = 512;
/// The server grants no credits.
const EAGAIN: Errno = -11;
/// A credit is worth so many bytes.
const CREDIT_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Negotiate = 0,
    SessionSetup = 1,
    TreeConnect = 3,
    Create = 5,
    Close = 6,
    Flush = 7,
    Read = 8,
    Write = 9,
    Lock = 10,
    QueryDirectory = 14,
    QueryInfo = 16,
    SetInfo = 17,
}

/// How messages are protected once the session is there.
pub(super) struct Keys {
    pub signing: Vec<u8>,
    pub algorithm: SigningAlgorithm,
    pub encryption: Option<Encryption>,
    /// Requests are signed, and replies must be.
    pub signs: bool,
    /// `TREE_CONNECT` is signed in any case, as SMB 3.1.1 wants it of who has logged in (MS-SMB2 3.2.4.1.1).
    pub signs_tree: bool,
}

/// Keys and cipher of a session that is encrypted.
pub(super) struct Encryption {
    pub sending: Vec<u8>,
    pub receiving: Vec<u8>,
    pub cipher: Cipher,
    pub nonces: RefCell<NonceGenerator>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

/// A request before it is sent.
#[derive(Debug)]
pub(super) struct Request {
    pub command: Command,
    pub body: Vec<u8>,
    /// Bytes that it or its reply carries.
    pub payload: usize,
}

/// The numbers and keys of a connection.
#[derive(Debug)]
pub(super) struct Channel {
    pub wire: Rc<Wire>,
    next: Cell<u64>,
    credits: Cell<u32>,
    /// Slots that wait for credits.
    pub starved: RefCell<Vec<u32>>,
    pub session_id: Cell<u64>,
    pub tree_id: Cell<u32>,
    pub keys: RefCell<Option<Keys>>,
    /// Requests may be charged several credits.
    pub large: Cell<bool>,
    /// The bytes of the last request and reply, for the hash of the login.
    pub last: RefCell<(Vec<u8>, Vec<u8>)>,
    /// The login goes on: its messages are kept in `last`.
    pub is_logging_in: Cell<bool>,
}

impl Channel {
    pub fn new(wire: Rc<Wire>) -> Self {
        Self {
            wire,
            next: Cell::new(0),
            credits: Cell::new(1),
            starved: RefCell::default(),
            session_id: Cell::default(),
            tree_id: Cell::default(),
            keys: RefCell::default(),
            large: Cell::default(),
            last: RefCell::default(),
            is_logging_in: Cell::new(true),
        }
    }

    /// A new connection has neither session nor credits.
    pub fn connected(&self) {
        self.next.set(0);
        self.credits.set(1);
        self.session_id.set(0);
        self.tree_id.set(0);
        self.keys.take();
        self.large.set(false);
        self.is_logging_in.set(true);
    }

    pub fn credits(&self) -> u32 {
        self.credits.get()
    }

    const fn charge(&self, payload: usize) -> u32 {
        if payload <= CREDIT_BYTES { 1 } else { payload.div_ceil(CREDIT_BYTES) as u32 }
    }

    /// Sends requests as one chain, each about the file of the one before; their numbers.
    fn send(&self, requests: &[Request]) -> Vec<u64> {
        let mut chain = Vec::new();
        let mut numbers = Vec::with_capacity(requests.len());
        let keys = self.keys.borrow();
        let encrypted = keys.as_ref().and_then(|keys| keys.encryption.as_ref());
        let to_tree = requests.iter().any(|request| request.command == Command::TreeConnect);
        let signs = encrypted.is_none() && keys.as_ref().is_some_and(|keys| keys.signs || keys.signs_tree && to_tree);
        for (at, request) in requests.iter().enumerate() {
            let from = chain.len();
            let charge = self.charge(request.payload);
            let number = self.next.get();
            self.next.set(number + u64::from(charge));
            self.credits.set(self.credits.get().saturating_sub(charge));
            numbers.push(number);
            let wanted = CREDITS_WANTED.saturating_sub(self.credits.get()).clamp(charge, 256);
            let flags = if at > 0 { RELATED } else { 0 } | if signs { SIGNED } else { 0 };
            chain.extend_from_slice(b"\xFESMB\x40\0");
            chain.extend_from_slice(&(if self.large.get() { charge as u16 } else { 0 }).to_le_bytes());
            chain.extend_from_slice(&[0; 4]);
            chain.extend_from_slice(&(request.command as u16).to_le_bytes());
            chain.extend_from_slice(&(wanted as u16).to_le_bytes());
            chain.extend_from_slice(&flags.to_le_bytes());
            chain.extend_from_slice(&[0; 4]);
            chain.extend_from_slice(&number.to_le_bytes());
            chain.extend_from_slice(&[0; 4]);
            chain.extend_from_slice(&self.tree_id.get().to_le_bytes());
            chain.extend_from_slice(&self.session_id.get().to_le_bytes());
            chain.extend_from_slice(&[0; 16]);
            chain.extend_from_slice(&request.body);
            if at + 1 < requests.len() {
                chain.resize(chain.len().next_multiple_of(8), 0);
                let next = (chain.len() - from) as u32;
                chain[from + 20..from + 24].copy_from_slice(&next.to_le_bytes());
            }
            if signs && let Some(keys) = keys.as_ref() {
                // It fails for short messages and wrong keys alone.
                _ = sign_message(&mut chain[from..], &keys.signing, keys.algorithm, number, false);
            }
        }
        if self.is_logging_in.get() {
            self.last.borrow_mut().0.clone_from(&chain);
        }
        let mut out = self.wire.out.borrow_mut();
        match encrypted {
            None => frame(&mut out, &[&chain]),
            Some(how) => {
                let nonce = how.nonces.borrow_mut().next(how.cipher);
                let sealed = encrypt_message(&chain, &how.sending, how.cipher, &nonce, self.session_id.get());
                if let Ok((header, body)) = sealed {
                    frame(&mut out, &[&header, &body]);
                }
            }
        }
        numbers
    }

    /// Bytes of a transfer for which there are credits; those of one at least.
    pub fn affordable(&self) -> u32 {
        self.credits.get().clamp(1, 1 << 10) * CREDIT_BYTES as u32
    }

    /// Waits for the credits of a chain; who lacks them is asked again when a reply came. Without any on the way they
    /// will never come.
    async fn afford(&self, requests: &[Request]) -> Result<(), Errno> {
        let needed: u32 = requests.iter().map(|request| self.charge(request.payload)).sum();
        std::future::poll_fn(|_| {
            if self.credits.get() >= needed || self.wire.is_gone() {
                return std::task::Poll::Ready(Ok(()));
            }
            if !self.wire.awaits_replies() {
                return std::task::Poll::Ready(Err(EAGAIN));
            }
            self.starved.borrow_mut().push(self.wire.current_slot());
            std::task::Poll::Pending
        })
        .await
    }

    /// Sends one request and waits for its reply.
    pub async fn call<T, P>(&self, request: Request, parse: P) -> Result<T, Errno>
    where
        P: FnOnce(u32, &[u8]) -> Result<T, Errno> + Unpin,
    {
        let requests = [request];
        self.afford(&requests).await?;
        let numbers = self.send(&requests);
        self.wire.reply(numbers[0], move |message| parse(status_of(message)?, message)).await
    }

    /// Sends three requests as a chain; the second one's reply counts, unless an earlier one failed.
    pub async fn chain<T, P>(&self, requests: [Request; 3], parse: P) -> Result<T, Errno>
    where
        P: FnOnce(&[u8]) -> Result<T, Errno> + Unpin,
    {
        self.afford(&requests).await?;
        let numbers = self.send(&requests);
        // All are waited for from the start: they come in one message.
        let first = self.wire.reply(numbers[0], succeeded);
        let second = self.wire.reply(numbers[1], move |message| succeeded(message).and_then(|()| parse(message)));
        let third = self.wire.reply(numbers[2], succeeded);
        first.await?;
        let found = second.await?;
        third.await?;
        Ok(found)
    }

    /// The replies in a message.
    pub fn read(&self, bytes: &[u8]) -> Result<Message, String> {
        if bytes.starts_with(b"\xFDSMB") {
            let opened = self.opened(bytes)?;
            let replies = self.replies(&opened, false)?;
            return Ok(Message::Several(Some(opened), replies));
        }
        if self.is_logging_in.get() {
            self.last.borrow_mut().1 = bytes.to_vec();
        } else if self.keys.borrow().as_ref().is_some_and(|keys| keys.encryption.is_some()) {
            return Err("the server answers in the clear what was encrypted".to_owned());
        }
        let mut replies = self.replies(bytes, true)?;
        Ok(match replies.len() {
            1 => replies.pop().map_or(Message::Several(None, Vec::new()), |(number, at)| Message::One(number, at)),
            _ => Message::Several(None, replies),
        })
    }

    fn opened(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let keys = self.keys.borrow();
        let how = keys.as_ref().and_then(|keys| keys.encryption.as_ref());
        let how = how.ok_or("the server encrypts what was not agreed")?;
        let (header, body) = bytes.split_at_checked(TRANSFORM).ok_or("the server sends a short encrypted message")?;
        decrypt_message(header, body, &how.receiving, how.cipher)
            .map_err(|_| "the server sends a message that its key does not open".to_owned())
    }

    fn replies(&self, bytes: &[u8], in_the_clear: bool) -> Result<Vec<(u64, Range<usize>)>, String> {
        let broken = || "the server sends a message that is no SMB 2 reply".to_owned();
        let mut replies = Vec::new();
        let mut from = 0;
        loop {
            let rest = bytes.get(from..).ok_or_else(broken)?;
            if rest.len() < HEADER || !rest.starts_with(b"\xFESMB") {
                return Err(broken());
            }
            let next = u32_at(rest, 20).map_err(|_| broken())? as usize;
            if next != 0 && (next < HEADER || !next.is_multiple_of(8) || next > rest.len()) {
                return Err(broken());
            }
            let to = if next == 0 { bytes.len() } else { from + next };
            let part = &bytes[from..to];
            let (flags, number) = (u32_at(part, 16).map_err(|_| broken())?, u64_at(part, 24).map_err(|_| broken())?);
            if flags & IS_RESPONSE == 0 {
                return Err(broken());
            }
            let granted = u32::from(u16_at(part, 14).map_err(|_| broken())?);
            self.credits.set(self.credits.get().saturating_add(granted).min(1 << 20));
            let is_interim = flags & IS_ASYNC != 0 && u32_at(part, 8).map_err(|_| broken())? == status::PENDING;
            // Breaks of oplocks, which nobody holds here, have no number.
            if !is_interim && number != u64::MAX {
                if in_the_clear {
                    self.prove(part, number)?;
                }
                replies.push((number, from..to));
            }
            if next == 0 {
                return Ok(replies);
            }
            from = to;
        }
    }

    fn prove(&self, part: &[u8], number: u64) -> Result<(), String> {
        let keys = self.keys.borrow();
        match keys.as_ref().filter(|keys| keys.signs) {
            None => Ok(()),
            Some(keys) => verify_signature(part, &keys.signing, keys.algorithm, number, false)
                .map_err(|_| "the server sends a reply with a wrong signature".to_owned()),
        }
    }
}

/// A message as it goes over TCP: its length, then its parts.
fn frame(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&(length as u32).to_be_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

fn status_of(message: &[u8]) -> Result<u32, Errno> {
    u32_at(message, 8)
}

fn succeeded(message: &[u8]) -> Result<(), Errno> {
    match status_of(message)? {
        status::SUCCESS => Ok(()),
        failed => Err(status::errno(failed)),
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Errno> {
    bytes.get(at..at + 2).and_then(|part| part.first_chunk()).map(|part| u16::from_le_bytes(*part)).ok_or(EIO)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Errno> {
    bytes.get(at..at + 4).and_then(|part| part.first_chunk()).map(|part| u32::from_le_bytes(*part)).ok_or(EIO)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Result<u64, Errno> {
    bytes.get(at..at + 8).and_then(|part| part.first_chunk()).map(|part| u64::from_le_bytes(*part)).ok_or(EIO)
}
