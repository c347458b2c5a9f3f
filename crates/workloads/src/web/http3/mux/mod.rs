//! One connection of HTTP/3 (RFC 9114), the client's side: requests without a body, replies handed on as they come.
//!
//! QUIC's streams come and go as records (`engine/session/records.rs`). Memory is bounded whatever comes: a frame that
//! is not data waits for its payload, up to 64 KiB, on as many streams as QUIC lets the server open.

use super::frames::{PAYLOAD_BYTES_MAX, Piece, Reader, kind};
use super::request::SharedFields;
use super::{qpack, varint};
use crate::web::http2::message::{INTERIM_MAX, ReplyHead};
use bakeoff_engine::records::{self, Record, RecordKind};
use bakeoff_engine::{ErrorClass, MakeMux, Mux, MuxEvent, SpecError, StreamEvent};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The first stream of a client that goes one way: that of its control frames.
const CONTROL: u64 = 2;
/// Settings (RFC 9114, 7.2.4.1; RFC 9204, 5).
const QPACK_MAX_TABLE_CAPACITY: u64 = 1;
const MAX_FIELD_SECTION_SIZE: u64 = 6;
const QPACK_BLOCKED_STREAMS: u64 = 7;
/// What a server may send on a stream of unknown type, bytes.
const UNKNOWN_BYTES_MAX: usize = 1 << 20;
/// Codes (RFC 9114, 8.1).
const REQUEST_REJECTED: u64 = 0x10b;
const REQUEST_CANCELLED: u64 = 0x10c;

const BROKEN: ErrorClass = ErrorClass::Protocol;

/// What the connections of a workload share.
#[derive(Debug)]
pub(crate) struct Http3 {
    shared: Arc<SharedFields>,
    per_connection: usize,
    requests_per_connection: u32,
}

impl Http3 {
    /// `others` are the fields of each request beside scheme and authority. A connection takes so many requests.
    pub fn new(
        authority: &str,
        others: &[(String, String)],
        per_connection: usize,
        requests_per_connection: u32,
    ) -> Self {
        let shared = Arc::new(SharedFields::new("https", authority, others));
        Self { shared, per_connection, requests_per_connection }
    }

    /// Refuses a request whose own fields make it longer than servers take.
    pub fn check(&self, own: &[u8]) -> Result<(), SpecError> {
        if self.shared.length(own.len()) > PAYLOAD_BYTES_MAX {
            let most = PAYLOAD_BYTES_MAX / 1024;
            return Err(format!("a request with its headers is longer than {most} KiB: shorten path or headers").into());
        }
        Ok(())
    }
}

impl MakeMux for Http3 {
    fn make(&self, _: Option<u32>) -> Box<dyn Mux> {
        Box::new(Http3Mux::new(Arc::clone(&self.shared), self.per_connection, self.requests_per_connection))
    }
}

/// A request and what has come of its reply.
#[derive(Debug)]
struct OpenRequest {
    id: u64,
    vu: usize,
    bytes_in: u64,
    bytes_out: u64,
    has_head: bool,
    interims: u8,
    reader: Reader,
}

/// A stream of the server's own.
#[derive(Debug)]
enum ServerStream {
    /// Its type has not come whole.
    New(Vec<u8>),
    Control(Reader),
    /// Instructions for a table that we do not have.
    Encoder,
    Decoder,
    /// With the bytes that have come.
    Unknown(usize),
}

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Http3Mux {
    shared: Arc<SharedFields>,
    /// By virtual user; their places by number of stream.
    asked: Vec<Option<OpenRequest>>,
    index: HashMap<u64, usize>,
    own: HashMap<u64, ServerStream>,
    has_control: bool,
    settled: bool,
    /// Streams that may be used.
    free: VecDeque<u64>,
    streams_allowed: Option<u32>,
    requests_left: u32,
    /// The server takes requests below this number.
    gone_away: Option<u64>,
    unheard: VecDeque<usize>,
    /// The virtual user whose reply is over, and how.
    ended: Option<(usize, StreamEvent<'static>)>,
    /// The record that is being read.
    record: Option<Record>,
    text: Vec<u8>,
}

impl Http3Mux {
    pub fn new(shared: Arc<SharedFields>, per_connection: usize, requests: u32) -> Self {
        Self {
            shared,
            asked: (0..per_connection).map(|_| None).collect(),
            index: HashMap::new(),
            own: HashMap::new(),
            has_control: false,
            settled: false,
            free: VecDeque::new(),
            streams_allowed: None,
            requests_left: requests,
            gone_away: None,
            unheard: VecDeque::new(),
            ended: None,
            record: None,
            text: Vec::new(),
        }
    }

    fn close(&mut self, id: u64) -> Option<OpenRequest> {
        let place = self.index.remove(&id)?;
        self.asked[place].take()
    }

    fn of_vu(&self, vu: usize) -> Option<u64> {
        self.asked[vu % self.asked.len()].as_ref().map(|asked| asked.id)
    }

    /// A record begins.
    fn begin(&mut self, record: Record) {
        match record.kind {
            RecordKind::Free => self.free.push_back(record.stream),
            RecordKind::Limit => self.streams_allowed = u32::try_from(record.stream).ok(),
            RecordKind::Part | RecordKind::Last | RecordKind::Reset => {}
        }
        if let Some(asked) = self.index.get(&record.stream).and_then(|&place| self.asked[place].as_mut())
            && record.kind != RecordKind::Reset
        {
            asked.bytes_in += record.length as u64;
        }
    }

    /// What a server sends on the stream of a request.
    #[inline]
    fn reply<'a>(
        &mut self,
        record: Record,
        part: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<MuxEvent<'a>>, ErrorClass> {
        let id = record.stream;
        let Some(asked) = self.index.get(&id).and_then(|&place| self.asked[place].as_mut()) else {
            *part = &[]; // it was given up
            return Ok(None);
        };
        let (vu, has_head) = (asked.vu, asked.has_head);
        let wanted = |found| match found {
            kind::DATA if has_head => Ok(true),
            kind::HEADERS => Ok(true),
            kind::DATA | kind::CANCEL_PUSH | kind::SETTINGS | kind::PUSH_PROMISE => Err(BROKEN),
            kind::GOAWAY | kind::MAX_PUSH_ID => Err(BROKEN),
            found if kind::is_of_http2(found) => Err(BROKEN),
            _ => Ok(false),
        };
        let event = match asked.reader.next(part, wanted)? {
            None => None,
            Some(Piece::Data(data)) => Some(StreamEvent::Body(data)),
            Some(Piece::Whole(_)) => {
                let section = asked.reader.payload();
                self.head(id, &section)?
            }
        };
        if event == Some(StreamEvent::Malformed) {
            *part = &[];
            self.cancel(vu, out);
        } else if part.is_empty() && record.kind == RecordKind::Last {
            self.end(id);
        }
        Ok(event.map(|event| MuxEvent::Stream(vu, event)))
    }

    /// A whole header section.
    fn head(&mut self, id: u64, section: &[u8]) -> Result<Option<StreamEvent<'static>>, ErrorClass> {
        let mut reply = ReplyHead::default();
        let mut text = std::mem::take(&mut self.text);
        let result = qpack::decode(section, &mut text, |name, value| reply.take(name, value));
        self.text = text;
        result.map_err(|_| BROKEN)?;
        let Some(asked) = self.index.get(&id).and_then(|&place| self.asked[place].as_mut()) else { return Ok(None) };
        let is_right = if asked.has_head { reply.is_trailer() } else { reply.is_right(false) };
        if !is_right {
            return Ok(Some(StreamEvent::Malformed));
        }
        if asked.has_head || reply.is_interim() {
            asked.interims += 1;
            return if asked.interims > INTERIM_MAX { Err(BROKEN) } else { Ok(None) };
        }
        asked.has_head = true;
        Ok(Some(StreamEvent::Head { status: reply.status, length: reply.length }))
    }

    /// The server's side of a request's stream is over.
    #[inline]
    fn end(&mut self, id: u64) {
        let Some(asked) = self.close(id) else { return };
        let is_whole = asked.has_head && asked.reader.is_between();
        let end = StreamEvent::End { bytes_in: asked.bytes_in, bytes_out: asked.bytes_out };
        self.ended = Some((asked.vu, if is_whole { end } else { StreamEvent::Malformed }));
    }

    fn reset(&mut self, record: Record, part: &mut &[u8]) -> Result<Option<MuxEvent<'static>>, ErrorClass> {
        let code = std::mem::take(part).try_into().map_err(|_| BROKEN)?;
        let Some(asked) = self.close(record.stream) else {
            return match self.own.remove(&record.stream) {
                Some(ServerStream::Control(_) | ServerStream::Encoder | ServerStream::Decoder) => Err(BROKEN), // they last
                _ => Ok(None),
            };
        };
        let is_unheard = u64::from_be_bytes(code) == REQUEST_REJECTED && !asked.has_head;
        Ok(Some(if is_unheard { MuxEvent::Unheard(asked.vu) } else { MuxEvent::Stream(asked.vu, StreamEvent::Reset) }))
    }

    /// What a server sends on a stream of its own.
    fn own(&mut self, record: Record, part: &mut &[u8]) -> Result<(), ErrorClass> {
        let mut own = self.own.remove(&record.stream).unwrap_or(ServerStream::New(Vec::new()));
        if let ServerStream::New(gathered) = &mut own {
            gathered.extend_from_slice(&part[..part.len().min(8)]);
            let known = gathered.len() - part.len().min(8);
            let mut rest = gathered.as_slice();
            if let Some(kind) = varint::take(&mut rest) {
                let taken = gathered.len() - rest.len() - known;
                *part = &part[taken..];
                own = self.typed(kind)?;
            } else {
                *part = &[];
            }
        }
        match &mut own {
            ServerStream::Control(reader) => self.control(reader, part)?,
            // All that is allowed is to say that the table has no size.
            // Nobody needs more of what nobody knows.
            ServerStream::Unknown(bytes) => {
                *bytes += part.len();
                if *bytes > UNKNOWN_BYTES_MAX {
                    return Err(BROKEN);
                }
            }
            ServerStream::Encoder if part.iter().any(|&octet| octet != 0x20) => return Err(BROKEN),
            _ => *part = &[],
        }
        *part = &[];
        if record.kind != RecordKind::Last {
            self.own.insert(record.stream, own);
        } else if matches!(own, ServerStream::Control(_) | ServerStream::Encoder | ServerStream::Decoder) {
            return Err(BROKEN); // they last as long as the connection
        }
        Ok(())
    }

    fn typed(&mut self, kind: u64) -> Result<ServerStream, ErrorClass> {
        match kind {
            0 if std::mem::replace(&mut self.has_control, true) => Err(BROKEN),
            0 => Ok(ServerStream::Control(Reader::new())),
            1 => Err(BROKEN), // a push, which nobody allowed
            2 => Ok(ServerStream::Encoder),
            3 => Ok(ServerStream::Decoder),
            _ => Ok(ServerStream::Unknown(0)),
        }
    }

    fn control(&mut self, reader: &mut Reader, part: &mut &[u8]) -> Result<(), ErrorClass> {
        loop {
            let settled = self.settled;
            let wanted = |found| match found {
                kind::SETTINGS => {
                    if settled {
                        Err(BROKEN)
                    } else {
                        Ok(true)
                    }
                }
                _ if !settled => Err(BROKEN), // the first frame is the server's settings
                kind::GOAWAY => Ok(true),
                kind::DATA | kind::HEADERS | kind::PUSH_PROMISE | kind::MAX_PUSH_ID => Err(BROKEN),
                found if kind::is_of_http2(found) => Err(BROKEN),
                _ => Ok(false),
            };
            let Some(Piece::Whole(found)) = reader.next(part, wanted)? else { return Ok(()) };
            let payload = reader.payload();
            let mut rest = payload.as_slice();
            if found == kind::GOAWAY {
                let last = varint::take(&mut rest).filter(|_| rest.is_empty()).ok_or(BROKEN)?;
                self.go_away(last)?;
                continue;
            }
            self.settled = true;
            // None of them matters to requests without the dynamic table; what is wrong with them is wrong all the
            // same.
            while !rest.is_empty() {
                let name = varint::take(&mut rest).ok_or(BROKEN)?;
                varint::take(&mut rest).ok_or(BROKEN)?;
                if (2..=5).contains(&name) {
                    return Err(BROKEN);
                }
            }
        }
    }

    fn go_away(&mut self, id: u64) -> Result<(), ErrorClass> {
        if !id.is_multiple_of(4) || self.gone_away.is_some_and(|before| id > before) {
            return Err(BROKEN);
        }
        self.gone_away = Some(id);
        let mut ids: Vec<u64> = self.index.keys().copied().filter(|&own| own >= id).collect();
        ids.sort_unstable();
        for id in ids {
            let vu = self.close(id).map(|asked| asked.vu);
            self.unheard.extend(vu);
        }
        Ok(())
    }
}

impl Mux for Http3Mux {
    fn open(&mut self, out: &mut Vec<u8>) {
        let mut settings = Vec::new();
        for (name, value) in
            [(QPACK_MAX_TABLE_CAPACITY, 0), (MAX_FIELD_SECTION_SIZE, 256 * 1024), (QPACK_BLOCKED_STREAMS, 0)]
        {
            varint::put(name, &mut settings);
            varint::put(value, &mut settings);
        }
        let mut content = vec![0];
        varint::put(kind::SETTINGS, &mut content);
        varint::put(settings.len() as u64, &mut content);
        content.extend_from_slice(&settings);
        records::put(RecordKind::Part, CONTROL, &content, out);
    }

    #[inline]
    fn ask(&mut self, vu: usize, request: &[u8], out: &mut Vec<u8>) -> bool {
        if self.is_leaving() {
            return false;
        }
        let Some(id) = self.free.pop_front() else { return false };
        self.requests_left -= 1;
        self.ended.take_if(|(ended, _)| *ended == vu);
        let mut frame = std::mem::take(&mut self.text);
        frame.clear();
        self.shared.put(request, &mut frame);
        records::put(RecordKind::Last, id, &frame, out);
        let bytes_out = frame.len() as u64;
        self.text = frame;
        let place = vu % self.asked.len();
        self.asked[place] =
            Some(OpenRequest { id, vu, bytes_in: 0, bytes_out, has_head: false, interims: 0, reader: Reader::new() });
        self.index.insert(id, place);
        true
    }

    fn cancel(&mut self, vu: usize, out: &mut Vec<u8>) {
        self.ended.take_if(|(ended, _)| *ended == vu);
        self.unheard.retain(|unheard| *unheard != vu);
        if let Some(id) = self.of_vu(vu) {
            self.close(id);
            records::put(RecordKind::Reset, id, &REQUEST_CANCELLED.to_be_bytes(), out);
        }
    }

    #[inline]
    fn next<'a>(&mut self, bytes: &mut &'a [u8], out: &mut Vec<u8>) -> Result<Option<MuxEvent<'a>>, ErrorClass> {
        loop {
            if let Some((vu, event)) = self.ended.take() {
                return Ok(Some(MuxEvent::Stream(vu, event)));
            }
            if let Some(vu) = self.unheard.pop_front() {
                return Ok(Some(MuxEvent::Unheard(vu)));
            }
            let record = match self.record.take() {
                Some(record) => record,
                None if bytes.is_empty() => return Ok(None),
                None => {
                    let record = Record::take(bytes).ok_or(BROKEN)?;
                    self.begin(record);
                    record
                }
            };
            let (mut part, rest) = bytes.split_at_checked(record.length).ok_or(BROKEN)?;
            let event = match record.kind {
                RecordKind::Free | RecordKind::Limit => {
                    part = &[];
                    None
                }
                RecordKind::Reset => self.reset(record, &mut part)?,
                _ if record.stream.is_multiple_of(4) => self.reply(record, &mut part, out)?,
                _ if record.stream % 4 == 3 => self.own(record, &mut part).map(|()| None)?,
                _ => return Err(BROKEN), // the server may open no such stream
            };
            *bytes = &bytes[record.length - part.len()..];
            if part.is_empty() {
                *bytes = rest;
            } else {
                self.record = Some(Record { length: part.len(), ..record });
            }
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    fn is_leaving(&self) -> bool {
        self.gone_away.is_some() || self.requests_left == 0
    }

    fn server_ends(&self) -> bool {
        self.gone_away.is_some()
    }

    fn open_streams(&self) -> usize {
        self.index.len() + self.unheard.len() + usize::from(self.ended.is_some())
    }

    fn streams_allowed(&self) -> Option<u32> {
        self.streams_allowed
    }
}

#[cfg(test)]
mod tests;
