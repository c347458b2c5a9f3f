//! One request over QUIC and its whole reply: for checks before timing, never for timing.

use super::{QuicEvent, nanos_until};
use crate::net::quic;
use crate::net::socket;
use crate::net::socket::Moved;
use crate::net::socket::remote::resolve;
use bakeoff_engine::{Endpoint, ErrorClass, Mux, MuxEvent, StreamEvent, Streams};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// The largest datagram.
const DATAGRAM_BYTES: usize = 64 * 1024;

/// How long a fetch may take, and how much it may bring.
#[derive(Debug, Clone, Copy)]
pub struct FetchLimits {
    /// For the handshake.
    pub connect: Duration,
    /// For the reply.
    pub reply: Duration,
    /// Of the body, bytes; what goes beyond is cut off.
    pub largest: usize,
}

/// A reply.
#[derive(Debug, Default)]
pub struct Fetched {
    /// Status code.
    pub status: u16,
    /// Length that the head states for the body, bytes.
    pub length: Option<u64>,
    /// The body.
    pub body: Vec<u8>,
    /// Streams that the server takes at once, where these are fewer than asked for.
    pub streams_allowed: Option<u32>,
}

/// Why there is no reply.
#[derive(Debug)]
pub struct FetchError {
    /// Its class.
    pub class: ErrorClass,
    /// What is known of it, in words; may be empty.
    pub reason: String,
}

/// Fetches on a connection of its own; `streams` and `endpoint` are of one workload over QUIC, as is `request`.
pub fn fetch(
    endpoint: &Endpoint,
    streams: &Streams,
    request: &[u8],
    limits: FetchLimits,
) -> Result<Fetched, FetchError> {
    let told = |class: ErrorClass| FetchError { class, reason: String::new() };
    let setting = |reason| FetchError { class: ErrorClass::Tls, reason };
    let remote = resolve(endpoint, streams.per_connection).map_err(setting)?;
    let Some(connector) = &remote.quic else { return Err(told(ErrorClass::Other)) };
    let quic = connector.session().map_err(told)?;
    let mut mux = streams.mux.make(None);
    let mut out = Vec::new();
    mux.open(&mut out);
    let fd = remote.connect().map_err(told)?;
    let mut fetch = Fetch { fd, quic, mux, out, fetched: Fetched::default(), is_up: false, is_over: false };
    let result = fetch.run(request, limits);
    fetch.quic.end(fd);
    socket::close(fd, false);
    let reason = fetch.quic.reason().unwrap_or_default().to_owned();
    match result {
        Ok(()) => Ok(Fetched { streams_allowed: fetch.mux.streams_allowed(), ..fetch.fetched }),
        Err(class) => Err(FetchError { class, reason }),
    }
}

struct Fetch {
    fd: RawFd,
    quic: quic::Session,
    mux: Box<dyn Mux>,
    /// What the mux has for the streams.
    out: Vec<u8>,
    fetched: Fetched,
    is_up: bool,
    is_over: bool,
}

impl Fetch {
    fn run(&mut self, request: &[u8], limits: FetchLimits) -> Result<(), ErrorClass> {
        let mut deadline = Instant::now() + limits.connect;
        let mut buffer = vec![0; DATAGRAM_BYTES];
        while !self.is_over {
            let now = Instant::now();
            if now >= deadline {
                return Err(if self.is_up { ErrorClass::ReplyTimeout } else { ErrorClass::ConnectTimeout });
            }
            let is_sent = self.quic.flush(now, self.fd)?;
            let due = self.quic.due();
            self.wait(now, due.unwrap_or(deadline).min(deadline), is_sent);
            self.read(&mut buffer)?;
            if due.is_some_and(|due| due <= Instant::now()) {
                self.quic.time_out(Instant::now());
            }
            let mut inbox = Vec::new();
            let news = self.quic.read_news(&mut inbox);
            self.hear(&inbox, limits.largest)?;
            match news? {
                QuicEvent::Up => {
                    self.is_up = true;
                    deadline = Instant::now() + limits.reply;
                    if !self.mux.ask(0, request, &mut self.out) {
                        return Err(ErrorClass::Protocol); // a server that takes no request
                    }
                }
                QuicEvent::Ended if !self.is_over => return Err(ErrorClass::ClosedEarly),
                QuicEvent::Ended | QuicEvent::None => {}
            }
            if self.is_up {
                self.quic.write(&std::mem::take(&mut self.out));
            }
        }
        Ok(())
    }

    fn wait(&self, now: Instant, until: Instant, is_sent: bool) {
        let wait_ms = nanos_until(now, until).div_ceil(1_000_000).min(60_000) as libc::c_int;
        let events = libc::POLLIN | if is_sent { 0 } else { libc::POLLOUT };
        let mut polled = libc::pollfd { fd: self.fd, events, revents: 0 };
        // SAFETY: one descriptor, which is open. What it tells, the read tells as well.
        unsafe { libc::poll(&raw mut polled, 1, wait_ms) };
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<(), ErrorClass> {
        loop {
            match socket::receive(self.fd, buffer) {
                Moved::Bytes(count) => self.quic.take(Instant::now(), &buffer[..count]),
                Moved::Blocked => return Ok(()),
                Moved::Failed(errno) => return Err(self.quic.refused(errno)),
            }
        }
    }

    fn hear(&mut self, mut inbox: &[u8], largest: usize) -> Result<(), ErrorClass> {
        while let Some(event) = self.mux.next(&mut inbox, &mut self.out)? {
            match event {
                MuxEvent::Unheard(_) => return Err(ErrorClass::ClosedEarly),
                MuxEvent::Stream(_, StreamEvent::Head { status, length }) => {
                    (self.fetched.status, self.fetched.length) = (status, length);
                }
                MuxEvent::Stream(_, StreamEvent::Body(part)) => {
                    let room = largest - self.fetched.body.len();
                    self.fetched.body.extend_from_slice(&part[..part.len().min(room)]);
                    self.is_over |= self.fetched.body.len() == largest;
                }
                MuxEvent::Stream(_, StreamEvent::End { .. }) => self.is_over = true,
                MuxEvent::Stream(_, StreamEvent::Reset) => return Err(ErrorClass::StreamReset),
                MuxEvent::Stream(_, StreamEvent::Malformed) => return Err(ErrorClass::Protocol),
            }
        }
        Ok(())
    }
}
