//! QUIC over a connected UDP socket, by quinn's state machine: streams go in and out as records.

pub(super) mod fetch;

use super::socket::{self, Moved};
use bakeoff_engine::ErrorClass;
use bakeoff_engine::records::{self, Record, RecordKind};
use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    ReadError, StreamEvent, StreamId, TransportConfig, VarInt, WriteError,
};
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Instant;

/// What a server may have sent and we not read: of a stream, and of all.
const STREAM_WINDOW_BYTES: u32 = 16 << 20;
const WINDOW_BYTES: u32 = 64 << 20;
/// Streams that a server may open by itself: HTTP/3 has three.
const SERVER_STREAMS: u32 = 16;
/// Codes of TLS alerts among those of QUIC (RFC 9000, 20.1).
const ALERTS: std::ops::Range<u64> = 0x100..0x200;
/// What a connection of HTTP/3 that is no longer wanted ends with (RFC 9114, 8.1).
const NO_ERROR: u32 = 0x100;

/// Makes connections to one server.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    endpoint: Arc<EndpointConfig>,
    client: ClientConfig,
    address: SocketAddr,
    name: String,
    /// Streams that are to be ready for use.
    spare: usize,
}

impl Connector {
    /// Towards a server of this name. The error says what is wrong with the settings.
    pub fn new(tls: Arc<rustls::ClientConfig>, address: SocketAddr, name: &str, spare: usize) -> Result<Self, String> {
        let crypto = QuicClientConfig::try_from(tls).map_err(|error| format!("QUIC: {error}"))?;
        let mut transport = TransportConfig::default();
        transport
            .stream_receive_window(STREAM_WINDOW_BYTES.into())
            .receive_window(WINDOW_BYTES.into())
            .max_concurrent_bidi_streams(0_u32.into())
            .max_concurrent_uni_streams(SERVER_STREAMS.into())
            .datagram_receive_buffer_size(None);
        let mut client = ClientConfig::new(Arc::new(crypto));
        client.transport_config(Arc::new(transport));
        Ok(Self { endpoint: Arc::new(EndpointConfig::default()), client, address, name: name.to_owned(), spare })
    }

    /// A new connection, which has nothing sent yet.
    pub fn session(&self) -> Result<Session, ErrorClass> {
        let mut endpoint = Endpoint::new(Arc::clone(&self.endpoint), None, true, None);
        let (handle, connection) = endpoint
            .connect(Instant::now(), self.client.clone(), self.address, &self.name)
            .map_err(|_| ErrorClass::Tls)?;
        Ok(Session {
            endpoint,
            handle,
            connection,
            address: self.address,
            wanted: self.spare,
            spare: 0,
            has_offered: false,
            is_up: false,
            waiting: HashMap::new(),
            datagram: Vec::new(),
            unsent: 0,
            lost: None,
            reason: None,
        })
    }
}

/// What has become of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuicEvent {
    None,
    /// Its handshake is over.
    Up,
    /// The server has ended it.
    Ended,
}

/// What a stream does not take yet.
#[derive(Debug, Default)]
struct Waiting {
    bytes: VecDeque<u8>,
    ends: bool,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Session {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    address: SocketAddr,
    wanted: usize,
    /// Streams that were offered and are not in use.
    spare: usize,
    has_offered: bool,
    is_up: bool,
    waiting: HashMap<u64, Waiting>,
    /// One that the socket did not take, `unsent` bytes of it.
    datagram: Vec<u8>,
    unsent: usize,
    lost: Option<ConnectionError>,
    reason: Option<String>,
}

impl Session {
    /// When [`Session::time_out`] is due.
    pub fn due(&mut self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    /// Time has passed.
    pub fn time_out(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
    }

    /// A datagram has come.
    pub fn take(&mut self, now: Instant, datagram: &[u8]) {
        let mut answer = Vec::new();
        let event = self.endpoint.handle(now, self.address, None, None, BytesMut::from(datagram), &mut answer);
        if let Some(DatagramEvent::ConnectionEvent(handle, event)) = event
            && handle == self.handle
        {
            self.connection.handle_event(event);
        }
    }

    /// What has happened, with what streams brought as records in `inbox`.
    pub fn read_news(&mut self, inbox: &mut Vec<u8>) -> Result<QuicEvent, ErrorClass> {
        let mut news = QuicEvent::None;
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => {
                    // The mux writes its control frames on the first stream that goes one way.
                    self.connection.streams().open(Dir::Uni).ok_or(ErrorClass::Protocol)?;
                    self.is_up = true;
                    news = QuicEvent::Up;
                }
                Event::ConnectionLost { reason } => self.lost = Some(reason),
                Event::Stream(StreamEvent::Readable { id }) => self.read(id, inbox),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = self.connection.streams().accept(dir) {
                        self.read(id, inbox);
                    }
                }
                Event::Stream(StreamEvent::Writable { id }) => self.write_waiting(id),
                Event::Stream(StreamEvent::Stopped { id, .. }) => {
                    self.waiting.remove(&VarInt::from(id).into_inner());
                }
                _ => {}
            }
        }
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        if self.is_up {
            self.offer(inbox);
        }
        match self.lost.take() {
            None => Ok(news),
            Some(reason) => self.class_of(&reason).map_or(Ok(QuicEvent::Ended), Err),
        }
    }

    /// Takes streams, as far as the server allows, so that requests find them at once.
    fn offer(&mut self, inbox: &mut Vec<u8>) {
        while self.spare < self.wanted {
            let Some(id) = self.connection.streams().open(Dir::Bi) else { break };
            records::put(RecordKind::Free, VarInt::from(id).into_inner(), &[], inbox);
            self.spare += 1;
        }
        let is_first = !std::mem::replace(&mut self.has_offered, true);
        if is_first && self.spare < self.wanted {
            records::put(RecordKind::Limit, self.spare as u64, &[], inbox);
        }
    }

    fn read(&mut self, id: StreamId, inbox: &mut Vec<u8>) {
        let number = VarInt::from(id).into_inner();
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => records::put(RecordKind::Part, number, &chunk.bytes, inbox),
                Ok(None) => {
                    records::put(RecordKind::Last, number, &[], inbox);
                    break;
                }
                Err(ReadError::Blocked) => break,
                Err(ReadError::Reset(code)) => {
                    records::put(RecordKind::Reset, number, &code.into_inner().to_be_bytes(), inbox);
                    break;
                }
            }
        }
        let _ = chunks.finalize(); // what it asks for is sent with the rest of the iteration
    }

    /// Takes records for the streams.
    pub fn write(&mut self, mut records: &[u8]) {
        while let Some(record) = Record::take(&mut records) {
            let (content, rest) = records.split_at(record.length);
            records = rest;
            let Ok(number) = VarInt::from_u64(record.stream) else { continue };
            let id = StreamId::from(number);
            match record.kind {
                RecordKind::Reset => {
                    let code = content.try_into().map_or(0, u64::from_be_bytes);
                    let code = VarInt::from_u64(code).unwrap_or(VarInt::MAX);
                    self.waiting.remove(&record.stream);
                    // One that is over already needs neither.
                    let _ = self.connection.send_stream(id).reset(code);
                    let _ = self.connection.recv_stream(id).stop(code);
                }
                RecordKind::Part | RecordKind::Last => {
                    self.spare -= usize::from(record.kind == RecordKind::Last);
                    let waiting = self.waiting.entry(record.stream).or_default();
                    waiting.bytes.extend(content);
                    waiting.ends |= record.kind == RecordKind::Last;
                    self.write_waiting(id);
                }
                RecordKind::Free | RecordKind::Limit => {}
            }
        }
    }

    fn write_waiting(&mut self, id: StreamId) {
        let number = VarInt::from(id).into_inner();
        let Some(waiting) = self.waiting.get_mut(&number) else { return };
        let mut stream = self.connection.send_stream(id);
        while !waiting.bytes.is_empty() {
            match stream.write(waiting.bytes.as_slices().0) {
                Ok(count) => drop(waiting.bytes.drain(..count)),
                Err(WriteError::Blocked) => return,
                Err(_) => break, // nobody reads it
            }
        }
        if waiting.ends {
            let _ = stream.finish();
        }
        self.waiting.remove(&number);
    }

    /// Sends what there is to send; `Ok(false)` when the socket takes no more for now.
    pub fn flush(&mut self, now: Instant, fd: RawFd) -> Result<bool, ErrorClass> {
        loop {
            if self.unsent == 0 {
                self.datagram.clear();
                let Some(transmit) = self.connection.poll_transmit(now, 1, &mut self.datagram) else {
                    return Ok(true);
                };
                self.unsent = transmit.size;
            }
            match socket::send(fd, &self.datagram[..self.unsent]) {
                Moved::Bytes(_) => self.unsent = 0,
                Moved::Blocked => return Ok(false),
                Moved::Failed(libc::EMSGSIZE | libc::ENOBUFS) => self.unsent = 0, // lost, as datagrams may be
                Moved::Failed(errno) => return Err(self.refused(errno)),
            }
        }
    }

    /// The class of an error of the socket.
    pub fn refused(&mut self, errno: i32) -> ErrorClass {
        let class = socket::class_of(errno);
        match class {
            ErrorClass::Refused if self.is_up => ErrorClass::ResetBeforeFirstByte,
            class => class,
        }
    }

    /// Tells the server that the connection is over.
    pub fn end(&mut self, fd: RawFd) {
        let now = Instant::now();
        self.connection.close(now, NO_ERROR.into(), bytes::Bytes::new());
        let _ = self.flush(now, fd); // a server that does not hear it times it out
    }

    /// Why the connection failed, in words.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The class of the end of a connection; `None` when the server has ended it in order.
    fn class_of(&mut self, reason: &ConnectionError) -> Option<ErrorClass> {
        let code = match reason {
            ConnectionError::TransportError(error) => Some(u64::from(error.code)),
            ConnectionError::ConnectionClosed(close) => Some(u64::from(close.error_code)),
            _ => None,
        };
        self.reason = Some(reason.to_string());
        Some(match reason {
            _ if code.is_some_and(|code| ALERTS.contains(&code)) => ErrorClass::Tls,
            ConnectionError::ApplicationClosed(_) => return None,
            ConnectionError::ConnectionClosed(_) if code == Some(0) => return None,
            ConnectionError::TimedOut if self.is_up => ErrorClass::ReplyTimeout,
            ConnectionError::TimedOut => ErrorClass::ConnectTimeout,
            ConnectionError::Reset => ErrorClass::ResetBeforeFirstByte,
            ConnectionError::CidsExhausted => ErrorClass::Other,
            _ => ErrorClass::Protocol,
        })
    }
}

/// From `now` to `due`, ns.
pub(crate) fn nanos_until(now: Instant, due: Instant) -> u64 {
    u64::try_from(due.saturating_duration_since(now).as_nanos()).unwrap_or(u64::MAX)
}
