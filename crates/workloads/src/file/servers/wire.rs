//! Calls under way on one connection: each is a task that asks and waits for replies, polled when one comes.
//!
//! Tasks are futures without a runtime: a protocol writes each call down in the order of its messages, and nothing here
//! blocks, reads a clock or touches a socket.

use bakeoff_engine::CONNECTING;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The negative error number that a call ends with.
pub(super) type Errno = i64;

pub(super) const EIO: Errno = -5;
/// More entries than this no folder of a trial has: a server that goes on listing is broken.
pub(super) const ENTRIES_MAX: usize = 4_000_000;
/// What a call comes to that the protocol has no words for; no server's answer is told by this number.
pub const NOT_EXPRESSIBLE: i64 = -38;
/// Messages are framed by a header of so many bytes, which ends with their length.
const HEADER: usize = 4;
/// Bytes for which the inbox always has room.
const ROOM: usize = 64 * 1024;

/// How a protocol frames its messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Framing {
    /// Bits of the header that are the length.
    pub length_mask: u32,
    /// The longest message that is taken, bytes.
    pub limit: usize,
}

/// The replies in a message of the server.
pub(super) enum Message {
    /// One: its number and where it lies.
    One(u64, Range<usize>),
    /// Several, or some that lie in bytes of their own, since the message was encrypted.
    Several(Option<Vec<u8>>, Vec<(u64, Range<usize>)>),
}

/// Bytes of the server, cut into messages.
#[derive(Debug, Default)]
struct Inbox {
    bytes: Vec<u8>,
    filled: usize,
    read: usize,
}

impl Inbox {
    fn header(&self) -> Option<u32> {
        self.bytes.get(self.read..self.filled)?.first_chunk::<HEADER>().map(|header| u32::from_be_bytes(*header))
    }

    /// Room for the rest of the message that has begun, and for [`ROOM`] at least.
    fn space(&mut self, framing: Framing) -> &mut [u8] {
        if self.read > 0 {
            self.bytes.copy_within(self.read..self.filled, 0);
            self.filled -= self.read;
            self.read = 0;
        }
        let message = self.header().map_or(0, |header| HEADER + (header & framing.length_mask) as usize);
        let needed = (self.filled + ROOM).max(message.min(HEADER + framing.limit));
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// The header of the next whole message, and where it lies.
    fn message(&self, framing: Framing) -> Result<Option<(u32, Range<usize>)>, String> {
        let Some(header) = self.header() else { return Ok(None) };
        let length = (header & framing.length_mask) as usize;
        if length > framing.limit {
            return Err(format!("the server announces a message of {length} bytes"));
        }
        let from = self.read + HEADER;
        Ok((self.filled >= from + length).then_some((header, from..from + length)))
    }
}

/// What the tasks of a session share: bytes to be sent, and the reply that has just come.
#[derive(Debug, Default)]
pub(super) struct Wire {
    pub out: RefCell<Vec<u8>>,
    bytes: RefCell<Vec<u8>>,
    arrived: RefCell<Option<(u64, Range<usize>)>>,
    gone: Cell<Option<Errno>>,
    current: Cell<u32>,
    waiting: RefCell<Vec<(u64, u32)>>,
}

impl Wire {
    /// Waits for the reply with this number; `parse` reads it where it lies. Replies of one task are awaited in the
    /// order in which they come.
    pub fn reply<T, P>(self: &Rc<Self>, number: u64, parse: P) -> Reply<P>
    where
        P: FnOnce(&[u8]) -> Result<T, Errno>,
    {
        self.waiting.borrow_mut().push((number, self.current.get()));
        Reply { wire: Rc::clone(self), number, parse: Some(parse) }
    }

    /// The slot whose task is polled.
    pub fn current_slot(&self) -> u32 {
        self.current.get()
    }

    /// Some task waits for a reply.
    pub fn awaits_replies(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// The connection is gone.
    pub fn is_gone(&self) -> bool {
        self.gone.get().is_some()
    }

    fn slot_of(&self, number: u64) -> Option<u32> {
        let mut waiting = self.waiting.borrow_mut();
        let at = waiting.iter().position(|entry| entry.0 == number)?;
        Some(waiting.swap_remove(at).1)
    }
}

/// See [`Wire::reply`].
pub(super) struct Reply<P> {
    wire: Rc<Wire>,
    number: u64,
    parse: Option<P>,
}

impl<P: Unpin, T> Future for Reply<P>
where
    P: FnOnce(&[u8]) -> Result<T, Errno>,
{
    type Output = Result<T, Errno>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(errno) = self.wire.gone.get() {
            return Poll::Ready(Err(errno));
        }
        let arrived = self.wire.arrived.borrow_mut().take_if(|(number, _)| *number == self.number);
        let Some((_, range)) = arrived else { return Poll::Pending };
        let Some(parse) = self.parse.take() else { return Poll::Ready(Err(EIO)) };
        Poll::Ready(parse(self.wire.bytes.borrow().get(range).unwrap_or(&[])))
    }
}

type Task = Pin<Box<dyn Future<Output = i64>>>;

/// The tasks of a session: one for each slot, and one that makes the connection ready.
pub(super) struct Tasks {
    pub wire: Rc<Wire>,
    inbox: Inbox,
    framing: Framing,
    slots: Vec<Option<Task>>,
    finished: VecDeque<(u32, i64)>,
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("wire", &self.wire).finish_non_exhaustive()
    }
}

impl Tasks {
    pub fn new(framing: Framing, depth: u32) -> Self {
        let slots = (0..=depth).map(|_| None).collect();
        Self { wire: Rc::default(), inbox: Inbox::default(), framing, slots, finished: VecDeque::new() }
    }

    fn place(&self, slot: u32) -> usize {
        if slot == CONNECTING { self.slots.len() - 1 } else { slot as usize }
    }

    /// Begins the task of a free slot.
    pub fn begin(&mut self, slot: u32, task: impl Future<Output = i64> + 'static) {
        if let Some(errno) = self.wire.gone.get() {
            self.finished.push_back((slot, errno));
            return;
        }
        let place = self.place(slot);
        self.slots[place] = Some(Box::pin(task));
        self.poll(slot);
    }

    /// Goes on with a task, where there is one.
    pub fn poll(&mut self, slot: u32) {
        let place = self.place(slot);
        self.wire.current.set(slot);
        let Some(task) = self.slots.get_mut(place).and_then(Option::as_mut) else { return };
        if let Poll::Ready(value) = task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            self.slots[place] = None;
            self.finished.push_back((slot, value));
        }
    }

    /// The connection is new: nothing of an older one is left.
    pub fn connected(&mut self) {
        self.inbox = Inbox::default();
        self.wire.out.borrow_mut().clear();
        self.wire.waiting.borrow_mut().clear();
        self.wire.gone.set(None);
    }

    /// The connection is gone: every task ends with this error, and so does what is begun before there is another.
    pub fn lost(&mut self, errno: i32) {
        self.wire.gone.set(Some(-i64::from(errno)));
        let depth = self.slots.len() as u32 - 1;
        (0..depth).for_each(|slot| self.poll(slot));
        self.poll(CONNECTING);
    }

    pub fn finished(&mut self) -> Option<(u32, i64)> {
        self.finished.pop_front()
    }

    pub fn space(&mut self) -> &mut [u8] {
        self.inbox.space(self.framing)
    }

    /// So many bytes came: cuts them into messages, in which `read`, given the header as well, finds the replies.
    pub fn received(
        &mut self,
        count: usize,
        mut read: impl FnMut(u32, &[u8]) -> Result<Message, String>,
    ) -> Result<(), String> {
        self.inbox.filled += count;
        while let Some((header, range)) = self.inbox.message(self.framing)? {
            let from = range.start;
            match read(header, &self.inbox.bytes[range.clone()])? {
                Message::One(number, at) => {
                    let bytes = std::mem::take(&mut self.inbox.bytes);
                    self.inbox.bytes = self.deliver(bytes, [(number, from + at.start..from + at.end)])?;
                }
                Message::Several(Some(opened), replies) => _ = self.deliver(opened, replies)?,
                Message::Several(None, replies) => {
                    let bytes = std::mem::take(&mut self.inbox.bytes);
                    let placed = replies.into_iter().map(|(number, at)| (number, from + at.start..from + at.end));
                    self.inbox.bytes = self.deliver(bytes, placed)?;
                }
            }
            self.inbox.read = range.end;
        }
        Ok(())
    }

    /// Gives replies to the tasks that wait for them, and the bytes in which they lie back.
    fn deliver(
        &mut self,
        bytes: Vec<u8>,
        replies: impl IntoIterator<Item = (u64, Range<usize>)>,
    ) -> Result<Vec<u8>, String> {
        self.wire.bytes.replace(bytes);
        for (number, range) in replies {
            let Some(slot) = self.wire.slot_of(number) else {
                return Err(format!("the server answers what was not asked (message {number})"));
            };
            self.wire.arrived.replace(Some((number, range)));
            self.poll(slot);
        }
        self.wire.arrived.take();
        Ok(self.wire.bytes.take())
    }
}
