//! One worker of the null server: it accepts, waits for its connections, and ends them.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::lines::{Lines, Next, slot};
use crate::server::listen::{Listener, is_shortage};

const EVENTS: usize = 512;

/// One worker's figures. Only the worker writes; plain loads and stores are enough.
#[derive(Default)]
#[repr(align(128))]
pub struct Tally {
    pub connections: AtomicU64,
    pub closed: AtomicU64,
    pub replies: AtomicU64,
    pub bytes: AtomicU64,
}

pub fn bump(figure: &AtomicU64, by: u64) {
    figure.store(figure.load(Relaxed) + by, Relaxed);
}

/// What a connection is watched for, at the index of its descriptor.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Watched {
    #[default]
    Gone,
    Reading,
    Writing,
}

pub struct Worker {
    epoll: OwnedFd,
    listener: Arc<Listener>,
    stopped: UnixStream,
    lines: Box<dyn Lines>,
    tally: Arc<Tally>,
    watched: Vec<Watched>,
}

impl Worker {
    pub fn new(
        listener: Arc<Listener>,
        stopped: UnixStream,
        lines: Box<dyn Lines>,
        tally: Arc<Tally>,
    ) -> io::Result<Self> {
        // SAFETY: no pointers; the result is checked before it is owned.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was made just above and nobody else has it.
        let epoll = unsafe { OwnedFd::from_raw_fd(epoll) };
        stopped.set_nonblocking(true)?;
        let worker = Self { epoll, listener, stopped, lines, tally, watched: Vec::new() };
        worker.watch(libc::EPOLL_CTL_ADD, worker.listener.as_raw_fd(), libc::EPOLLIN | libc::EPOLLEXCLUSIVE)?;
        worker.watch(libc::EPOLL_CTL_ADD, worker.stopped.as_raw_fd(), libc::EPOLLIN)?;
        Ok(worker)
    }

    fn watch(&self, operation: libc::c_int, fd: RawFd, events: libc::c_int) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: fd as u64 };
        // SAFETY: a live epoll descriptor and a pointer to a live event.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn run(&mut self) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let (door, stopped) = (self.listener.as_raw_fd(), self.stopped.as_raw_fd());
        loop {
            // SAFETY: a live epoll descriptor and room for EVENTS events.
            let count =
                unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), EVENTS as libc::c_int, -1) };
            for event in &events[..count.max(0) as usize] {
                let (flags, fd) = (event.events, event.u64 as RawFd);
                if fd == stopped {
                    if !matches!(self.stopped.read(&mut [0]), Err(e) if e.kind() == io::ErrorKind::WouldBlock) {
                        return;
                    }
                } else if fd == door {
                    self.accept();
                } else {
                    let is_room = flags & libc::EPOLLOUT as u32 != 0;
                    let next = if is_room { self.lines.settle(fd) } else { self.lines.answer(fd) };
                    self.go_on(fd, next);
                }
            }
        }
    }

    fn accept(&mut self) {
        loop {
            // SAFETY: a live listening socket; the peer's address is not asked for.
            let fd = unsafe {
                let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
                libc::accept4(self.listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags)
            };
            if fd < 0 {
                if is_shortage(&io::Error::last_os_error()) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                return;
            }
            bump(&self.tally.connections, 1);
            self.lines.open(fd);
            let next = if self.lines.is_eager() { self.lines.answer(fd) } else { Next::Read };
            self.go_on(fd, next);
        }
    }

    /// Watches a connection for what it waits for; until what it owes is paid nothing more is read of it.
    fn go_on(&mut self, fd: RawFd, next: Next) {
        let was = *slot(&mut self.watched, fd);
        let (wanted, events) = match next {
            Next::End => return self.end(fd),
            Next::Read => (Watched::Reading, libc::EPOLLIN),
            Next::Write => (Watched::Writing, libc::EPOLLOUT),
        };
        if was == wanted {
            return;
        }
        let operation = if was == Watched::Gone { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_MOD };
        if self.watch(operation, fd, events).is_ok() {
            self.watched[fd as usize] = wanted;
        } else {
            self.end(fd);
        }
    }

    fn end(&mut self, fd: RawFd) {
        self.watched[fd as usize] = Watched::Gone;
        self.lines.forget(fd);
        bump(&self.tally.closed, 1);
        // SAFETY: the descriptor came from accept and is closed once: from now on it is not watched.
        unsafe { libc::close(fd) };
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        for fd in 0..self.watched.len() {
            if self.watched[fd] != Watched::Gone {
                self.end(fd as RawFd);
            }
        }
    }
}
