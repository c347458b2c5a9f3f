//! One connection: bytes in, at most one request in work, bytes out. Its lock is held for moments only.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use bakeoff_app_protocol::{Kind, Request, Status};

use super::segment::Segment;

const INPUT_BYTES: usize = 4096;
/// Buffers that grew beyond this are given up when a connection ends.
const KEEP_BYTES: usize = 64 * 1024;
/// A refused client has so long to read why, ns.
const DRAIN_NS: u64 = 1_000_000_000;

/// What is known of a client since its hello.
#[derive(Debug)]
pub(super) struct Session {
    pub epoch: u64,
    pub record_bytes: u32,
    pub segment: Option<Segment>,
}

/// A complete request on its way through the queue, with all that serving it needs.
#[derive(Debug)]
pub(super) struct Job {
    pub slot: usize,
    pub request: Request,
    pub input: Vec<u8>,
    filled: usize,
    pub output: Vec<u8>,
    pub session: Option<Box<Session>>,
    pub began_ns: u64,
    pub received_ns: u64,
}

impl Job {
    /// The request's payload.
    pub fn payload(&self) -> &[u8] {
        &self.input[bakeoff_app_protocol::REQUEST_BYTES..self.request.frame_bytes()]
    }
}

/// Time limits, ns, and the largest upload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub payload_max: u32,
    pub request_ns: u64,
    pub idle_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// Waiting for a request or in the middle of one.
    Reading,
    /// Its request is in the queue or in service.
    Busy,
    /// The reply did not fit into the socket.
    Writing,
    /// Refused: what still comes is thrown away.
    Draining,
}

/// What is to be done with a connection.
pub(super) enum Step {
    /// Nothing until the next event.
    Wait,
    Job(Job),
    /// Tell it so and end it.
    Refuse(Status, Option<Kind>, u64),
    /// It is over.
    End,
}

/// A place for a connection.
#[derive(Debug)]
pub(super) struct Slot {
    fd: Option<OwnedFd>,
    state: State,
    pub generation: u32,
    input: Vec<u8>,
    filled: usize,
    output: Vec<u8>,
    sent: usize,
    refused: bool,
    /// The first byte of the request was read; 0 before.
    began_ns: u64,
    deadline_ns: u64,
    /// Bytes or the end may have come while nobody was reading.
    unread: bool,
    session: Option<Box<Session>>,
}

impl Slot {
    pub fn new() -> Self {
        Self {
            fd: None,
            state: State::Free,
            generation: 0,
            input: Vec::new(),
            filled: 0,
            output: Vec::new(),
            sent: 0,
            refused: false,
            began_ns: 0,
            deadline_ns: u64::MAX,
            unread: false,
            session: None,
        }
    }

    pub fn open(&mut self, fd: OwnedFd, deadline_ns: u64) {
        self.fd = Some(fd);
        self.state = State::Reading;
        self.deadline_ns = deadline_ns;
        self.input.resize(INPUT_BYTES, 0);
    }

    /// Ends the connection; returns the session, whose segment is free for others. Never while busy.
    pub fn close(&mut self) -> Option<Box<Session>> {
        let session = self.session.take();
        let generation = self.generation.wrapping_add(1);
        let (input, output) = (std::mem::take(&mut self.input), std::mem::take(&mut self.output));
        *self = Self { generation, ..Self::new() };
        if input.len() <= KEEP_BYTES {
            self.input = input;
        }
        if output.capacity() <= KEEP_BYTES {
            self.output = output;
        }
        session
    }

    fn raw(&self) -> RawFd {
        self.fd.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// The socket can be read or written, or has ended.
    pub fn ready(&mut self, limits: &Limits, now_ns: u64) -> Step {
        match self.state {
            State::Free => Step::Wait,
            State::Reading => self.receive(limits, now_ns),
            State::Busy => {
                self.unread = true;
                Step::Wait
            }
            State::Writing => {
                self.unread = true;
                self.flush(limits, now_ns)
            }
            State::Draining => self.drain(now_ns),
        }
    }

    /// Reads until a request is complete or nothing is left.
    fn receive(&mut self, limits: &Limits, now_ns: u64) -> Step {
        loop {
            let head = Request::parse(&self.input[..self.filled], limits.payload_max);
            let wanted = match head {
                Err(status) => return self.wrong(status),
                Ok(Some(request)) if self.filled >= request.frame_bytes() => return self.job(request, now_ns),
                Ok(Some(request)) => request.frame_bytes(),
                Ok(None) => INPUT_BYTES,
            };
            if self.filled == self.input.len() || self.input.len() <= wanted {
                // No more than is announced, and that only as it comes: an announcement alone costs no memory. One
                // byte over shows by a short read that the socket is empty.
                let length = (wanted + 1).min((self.filled * 2).max(KEEP_BYTES)).max(self.input.len());
                self.input.resize(length, 0);
            }
            let fd = self.raw();
            let room = &mut self.input[self.filled..];
            let asked = room.len();
            // SAFETY: the room is live and as long as said.
            let count = unsafe { libc::recv(fd, room.as_mut_ptr().cast(), asked, 0) };
            match count {
                0 => return Step::End,
                1.. => {
                    if self.began_ns == 0 {
                        self.began_ns = now_ns;
                        self.deadline_ns = now_ns + limits.request_ns;
                    }
                    self.filled += count as usize;
                    self.unread = count as usize == asked;
                }
                _ if would_block() => return Step::Wait,
                _ => return Step::End,
            }
        }
    }

    fn wrong(&mut self, status: Status) -> Step {
        let kind = self.input.get(5).filter(|_| self.filled > 5).and_then(|&byte| Kind::from_byte(byte));
        Step::Refuse(status, kind, 0)
    }

    fn job(&mut self, request: Request, now_ns: u64) -> Step {
        self.state = State::Busy;
        self.deadline_ns = u64::MAX;
        let began_ns = std::mem::take(&mut self.began_ns);
        Step::Job(Job {
            slot: 0,
            request,
            input: std::mem::take(&mut self.input),
            filled: self.filled,
            output: std::mem::take(&mut self.output),
            session: self.session.take(),
            began_ns: if began_ns == 0 { now_ns } else { began_ns },
            received_ns: now_ns,
        })
    }

    /// The job is done and its output is the reply; `refused` ends the connection after it.
    pub fn finish(&mut self, job: Job, refused: bool, limits: &Limits, now_ns: u64) -> Step {
        let frame_bytes = job.request.frame_bytes();
        self.input = job.input;
        self.input.copy_within(frame_bytes..job.filled, 0);
        self.filled = job.filled - frame_bytes;
        self.session = job.session;
        self.reply(job.output, refused, limits, now_ns)
    }

    /// Sends a reply.
    pub fn reply(&mut self, output: Vec<u8>, refused: bool, limits: &Limits, now_ns: u64) -> Step {
        self.output = output;
        self.sent = 0;
        self.refused = refused;
        self.state = State::Writing;
        self.deadline_ns = now_ns + limits.request_ns;
        self.flush(limits, now_ns)
    }

    fn flush(&mut self, limits: &Limits, now_ns: u64) -> Step {
        while self.sent < self.output.len() {
            let rest = &self.output[self.sent..];
            // SAFETY: the rest is live and as long as said.
            let count = unsafe { libc::send(self.raw(), rest.as_ptr().cast(), rest.len(), libc::MSG_NOSIGNAL) };
            if count < 0 {
                return if would_block() { Step::Wait } else { Step::End };
            }
            self.sent += count as usize;
        }
        if self.refused {
            self.state = State::Draining;
            self.deadline_ns = now_ns + DRAIN_NS;
            // SAFETY: no pointers. A socket that is gone already is noticed by the reading that follows.
            unsafe { libc::shutdown(self.raw(), libc::SHUT_WR) };
            return self.drain(now_ns);
        }
        self.state = State::Reading;
        self.deadline_ns = now_ns + limits.idle_ns;
        if self.filled == 0 && !self.unread {
            return Step::Wait;
        }
        if self.filled > 0 {
            self.began_ns = now_ns;
            self.deadline_ns = now_ns + limits.request_ns;
        }
        self.receive(limits, now_ns)
    }

    /// Throws away what comes, so that closing does not reset the connection under the unread refusal.
    fn drain(&mut self, now_ns: u64) -> Step {
        if now_ns >= self.deadline_ns {
            return Step::End;
        }
        self.input.resize(INPUT_BYTES, 0);
        let fd = self.raw();
        // Bounded: who sends without end is cut off.
        for _ in 0..64 {
            // SAFETY: the input is live and as long as said.
            let count = unsafe { libc::recv(fd, self.input.as_mut_ptr().cast(), self.input.len(), 0) };
            match count {
                1.. => {}
                0 => return Step::End,
                _ => return if would_block() { Step::Wait } else { Step::End },
            }
        }
        Step::End
    }

    /// Whether its time is up.
    pub fn overdue(&self, now_ns: u64) -> Step {
        match self.state {
            State::Free | State::Busy => Step::Wait,
            _ if now_ns < self.deadline_ns => Step::Wait,
            State::Reading if self.began_ns > 0 => {
                let kind = self.input.get(5).filter(|_| self.filled > 5).and_then(|&byte| Kind::from_byte(byte));
                Step::Refuse(Status::TooSlow, kind, 0)
            }
            State::Reading | State::Writing | State::Draining => Step::End,
        }
    }
}

fn would_block() -> bool {
    matches!(io::Error::last_os_error().kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
