//! One connection of HTTP/2 (RFC 9113), the client's side: requests without a body, replies handed on as they come.
//!
//! Memory is bounded whatever comes: a frame that is not data waits for its whole payload, a header block for its
//! continuations up to [`BLOCK_BYTES_MAX`], answers to a server that does not read them up to [`OUT_BYTES_MAX`].

use super::frame::{self, HEAD_BYTES, Head, PAYLOAD_BYTES_MAX, code, flag, kind, setting};
use super::hpack::{Decoder, LIST_BYTES_MAX, TABLE_BYTES, put_integer};
use super::message::{INTERIM_MAX, ReplyHead};
use super::reader::{Piece, Reader};
use super::request::{Form, SharedFields};
use super::streams::StreamTable;
use bakeoff_engine::{ErrorClass, MakeMux, Mux, MuxEvent, SpecError, StreamEvent};
use std::collections::VecDeque;
use std::sync::Arc;

/// Longest header block, its continuations included, bytes.
const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// Answers that may wait to be written, bytes.
const OUT_BYTES_MAX: usize = 1024 * 1024;
/// The window for each stream and for the connection. It is opened again when half of it is used.
const WINDOW_BYTES: u32 = 1 << 30;
/// What the window of a connection is at first (RFC 9113, 6.9.2).
const FIRST_WINDOW_BYTES: u32 = 65_535;
/// Streams that are opened before the server has said how many it takes: it is asked to take as many (6.5.2).
const FIRST_STREAMS: usize = 100;

/// Frames that bring no reply any further (empty data, pings, settings, windows …) from the end of one reply to that of
/// the next. A server that sends more keeps its client busy with nothing.
const IDLE_FRAMES_MAX: u32 = 10_000;

const BROKEN: ErrorClass = ErrorClass::Protocol;

/// What the connections of a workload share.
#[derive(Debug)]
pub(crate) struct Http2 {
    shared: Arc<SharedFields>,
    per_connection: usize,
    requests_per_connection: u32,
}

impl Http2 {
    /// `others` are the fields of each request beside scheme and authority. A connection takes so many requests.
    pub fn new(
        scheme: &str,
        authority: &str,
        others: &[(String, String)],
        per_connection: usize,
        requests_per_connection: u32,
    ) -> Self {
        let shared = Arc::new(SharedFields::new(scheme, authority, others));
        Self { shared, per_connection, requests_per_connection }
    }

    /// Refuses a request whose own fields make it longer than a frame may be.
    pub fn check(&self, own: &[u8]) -> Result<(), SpecError> {
        if self.shared.longest(own.len()) + 8 > PAYLOAD_BYTES_MAX {
            let most = PAYLOAD_BYTES_MAX / 1024;
            return Err(format!("a request with its headers is longer than {most} KiB: shorten path or headers").into());
        }
        Ok(())
    }
}

impl MakeMux for Http2 {
    fn make(&self, streams_allowed: Option<u32>) -> Box<dyn Mux> {
        let shared = Arc::clone(&self.shared);
        let mux = Http2Mux::new(shared, self.per_connection, self.requests_per_connection);
        Box::new(Http2Mux { streams_allowed, ..mux })
    }
}

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Http2Mux {
    shared: Arc<SharedFields>,
    form: Form,
    /// The size of the server's table, to be told with the next block.
    resize_bytes: Option<usize>,
    decoder: Decoder,
    /// What the last header block said.
    reply: ReplyHead,
    reader: Reader,
    /// A header block in pieces: its stream, and whether that ends with it.
    block: Vec<u8>,
    continues: Option<(u32, bool)>,
    /// The server's first settings have come.
    settled: bool,
    streams: StreamTable,
    streams_allowed: Option<u32>,
    requests_left: u32,
    gone_away: bool,
    /// Virtual users whose requests the server has put back.
    unheard: VecDeque<usize>,
    /// The virtual user whose reply is over, with the bytes of both ways: told behind the last of its body.
    ended: Option<(usize, u64, u64)>,
    /// Data bytes since the connection's window was opened.
    window_used: u32,
    /// We gave up a stream, of which more may come.
    gave_up: bool,
    /// Frames since the end of the last reply that brought nothing.
    idle_frames: u32,
    /// The fields of the last head, where somebody wants them.
    fields: Option<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Why the server gave up a stream, or the connection.
    given_up_for: Option<u32>,
}

impl Http2Mux {
    pub fn new(shared: Arc<SharedFields>, per_connection: usize, requests: u32) -> Self {
        Self {
            form: shared.first_form(),
            shared,
            resize_bytes: None,
            decoder: Decoder::new(),
            reply: ReplyHead::default(),
            reader: Reader::new(),
            block: Vec::new(),
            continues: None,
            settled: false,
            streams: StreamTable::new(per_connection),
            streams_allowed: None,
            requests_left: requests,
            gone_away: false,
            unheard: VecDeque::new(),
            ended: None,
            window_used: 0,
            gave_up: false,
            idle_frames: 0,
            fields: None,
            given_up_for: None,
        }
    }

    /// A frame that is not of data.
    fn frame(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<MuxEvent<'static>>, ErrorClass> {
        if !self.settled && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(BROKEN); // the first frame is the server's settings
        }
        if self.continues.is_some() != (head.kind == kind::CONTINUATION) {
            return Err(BROKEN);
        }
        match head.kind {
            kind::HEADERS => self.headers(head, payload, out),
            kind::CONTINUATION => self.continuation(head, payload, out),
            kind::RST_STREAM => self.reset(head, payload),
            kind::SETTINGS => self.settings(head, payload, out).map(|()| None),
            kind::PING => ping(head, payload, out).map(|()| None),
            kind::GOAWAY => self.go_away(head, payload).map(|()| None),
            kind::WINDOW_UPDATE => self.window_update(head, payload).map(|()| None),
            kind::PUSH_PROMISE => Err(BROKEN), // it was told not to
            kind::PRIORITY if head.length != 5 || head.stream == 0 => Err(BROKEN),
            _ => Ok(None),
        }
    }

    fn headers(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<MuxEvent<'static>>, ErrorClass> {
        let mut block = payload;
        let mut padding = 0;
        if head.has(flag::PADDED) {
            let (&length, rest) = block.split_first().ok_or(BROKEN)?;
            (padding, block) = (usize::from(length), rest);
        }
        if head.has(flag::PRIORITY) {
            block = block.get(5..).ok_or(BROKEN)?;
        }
        block = &block[..block.len().checked_sub(padding).ok_or(BROKEN)?];
        if !self.streams.was_opened(head.stream) {
            return Err(BROKEN);
        }
        let ends = head.has(flag::END_STREAM);
        self.count_in(head);
        if head.has(flag::END_HEADERS) {
            return self.block(head.stream, ends, block, out);
        }
        self.block.clear();
        self.block.extend_from_slice(block);
        self.continues = Some((head.stream, ends));
        Ok(None)
    }

    fn continuation(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<MuxEvent<'static>>, ErrorClass> {
        let Some((stream, ends)) = self.continues else { return Err(BROKEN) };
        // One without content would cost its sender nothing, and could go on for ever.
        let is_idle = payload.is_empty() && !head.has(flag::END_HEADERS);
        if head.stream != stream || is_idle || self.block.len() + payload.len() > BLOCK_BYTES_MAX {
            return Err(BROKEN);
        }
        self.block.extend_from_slice(payload);
        self.count_in(head);
        if !head.has(flag::END_HEADERS) {
            return Ok(None);
        }
        self.continues = None;
        let block = std::mem::take(&mut self.block);
        let event = self.block(stream, ends, &block, out);
        self.block = block;
        event
    }

    #[inline]
    fn count_in(&mut self, head: Head) {
        if let Some(stream) = self.streams.get(head.stream) {
            stream.bytes_in += (HEAD_BYTES + head.length) as u64;
        }
    }

    fn decode(&mut self, block: &[u8]) -> Result<(), ErrorClass> {
        self.reply = ReplyHead::default();
        if let Some(fields) = &mut self.fields {
            fields.clear();
        }
        let take = |name: &[u8], value: &[u8]| {
            self.reply.take(name, value);
            if let Some(fields) = &mut self.fields {
                fields.push((name.to_vec(), value.to_vec()));
            }
            Ok(())
        };
        self.decoder.decode(block, take).map_err(|_| BROKEN)
    }

    /// A whole header block. It is looked at even when nobody waits for it: it may change the table.
    #[inline]
    fn block(
        &mut self,
        id: u32,
        ends: bool,
        block: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<MuxEvent<'static>>, ErrorClass> {
        if !self.decoder.repeats(block) {
            self.decode(block)?;
        }
        let reply = self.reply;
        // Who answers twice breaks the protocol.
        let Some(stream) = self.streams.get(id) else { return if self.gave_up { Ok(None) } else { Err(BROKEN) } };
        let vu = stream.vu;
        let is_right = if stream.has_head { ends && reply.is_trailer() } else { reply.is_right(ends) };
        if !is_right {
            self.cancel(vu, out);
            return Ok(Some(MuxEvent::Stream(vu, StreamEvent::Malformed)));
        }
        if !stream.has_head && reply.is_interim() {
            stream.interims += 1;
            return if stream.interims > INTERIM_MAX { Err(BROKEN) } else { Ok(None) };
        }
        let is_trailer = std::mem::replace(&mut stream.has_head, true);
        if ends {
            self.end(id);
        }
        let event = StreamEvent::Head { status: reply.status, length: reply.length };
        Ok((!is_trailer).then_some(MuxEvent::Stream(vu, event)))
    }

    /// The server's side of a stream is over.
    #[inline]
    fn end(&mut self, id: u32) {
        if let Some(stream) = self.streams.close(id) {
            self.ended = Some((stream.vu, stream.bytes_in, stream.bytes_out));
        }
    }

    /// A data frame begins: its windows are used, whoever still wants it.
    #[inline]
    fn data_begins(&mut self, head: Head, out: &mut Vec<u8>) -> Result<(), ErrorClass> {
        if !self.settled || self.continues.is_some() || !self.streams.was_opened(head.stream) {
            return Err(BROKEN);
        }
        refill(&mut self.window_used, 0, head.length, out)?;
        let Some(stream) = self.streams.get(head.stream) else {
            return if self.gave_up { Ok(()) } else { Err(BROKEN) };
        };
        stream.bytes_in += (HEAD_BYTES + head.length) as u64;
        refill(&mut stream.window_used, head.stream, head.length, out)
    }

    #[inline]
    fn data<'a>(&mut self, head: Head, data: &'a [u8], last: bool, out: &mut Vec<u8>) -> Option<MuxEvent<'a>> {
        let stream = self.streams.get(head.stream)?;
        let vu = stream.vu;
        if !stream.has_head {
            self.cancel(vu, out);
            return Some(MuxEvent::Stream(vu, StreamEvent::Malformed));
        }
        if last && head.has(flag::END_STREAM) {
            self.end(head.stream);
        }
        (!data.is_empty()).then_some(MuxEvent::Stream(vu, StreamEvent::Body(data)))
    }

    fn reset(&mut self, head: Head, payload: &[u8]) -> Result<Option<MuxEvent<'static>>, ErrorClass> {
        let code = u32::from_be_bytes(payload.try_into().map_err(|_| BROKEN)?);
        if !self.streams.was_opened(head.stream) {
            return Err(BROKEN);
        }
        let Some(stream) = self.streams.close(head.stream) else { return Ok(None) };
        self.given_up_for = Some(code);
        let is_unheard = code == code::REFUSED_STREAM && !stream.has_head;
        Ok(Some(if is_unheard {
            MuxEvent::Unheard(stream.vu)
        } else {
            MuxEvent::Stream(stream.vu, StreamEvent::Reset)
        }))
    }

    fn settings(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorClass> {
        if head.stream != 0 || !payload.len().is_multiple_of(6) || (head.has(flag::ACK) && !payload.is_empty()) {
            return Err(BROKEN);
        }
        if head.has(flag::ACK) {
            return Ok(());
        }
        self.settled = true;
        for entry in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            match name {
                setting::HEADER_TABLE_SIZE => self.resize(value as usize),
                setting::ENABLE_PUSH if value != 0 => return Err(BROKEN),
                setting::MAX_CONCURRENT_STREAMS => self.streams_allowed = Some(value),
                setting::INITIAL_WINDOW_SIZE if value > 0x7fff_ffff => return Err(BROKEN),
                setting::MAX_FRAME_SIZE if !(16_384..=16_777_215).contains(&value) => return Err(BROKEN),
                _ => {}
            }
        }
        frame::put(kind::SETTINGS, flag::ACK, 0, &[], out);
        Ok(())
    }

    /// The server keeps so much of what requests share; it must hear that we know before the next block.
    fn resize(&mut self, bytes: usize) {
        if bytes >= TABLE_BYTES && self.resize_bytes.is_none() {
            return;
        }
        if bytes < self.shared.kept_bytes {
            self.form = Form::Plain;
        }
        let kept_bytes = if self.form == Form::Plain { 0 } else { bytes.min(TABLE_BYTES) };
        self.resize_bytes = Some(kept_bytes);
    }

    fn go_away(&mut self, head: Head, payload: &[u8]) -> Result<(), ErrorClass> {
        let (last, rest) = payload.split_first_chunk::<4>().ok_or(BROKEN)?;
        let code = u32::from_be_bytes(*rest.first_chunk::<4>().ok_or(BROKEN)?);
        if head.stream != 0 {
            return Err(BROKEN);
        }
        self.gone_away = true;
        self.given_up_for = Some(code);
        let last = u32::from_be_bytes(*last) & 0x7fff_ffff;
        for id in self.streams.above(last) {
            self.unheard.extend(self.streams.close(id).map(|stream| stream.vu));
        }
        Ok(())
    }

    /// Windows matter to who sends bodies. What is wrong with one is wrong all the same.
    fn window_update(&self, head: Head, payload: &[u8]) -> Result<(), ErrorClass> {
        let increment = u32::from_be_bytes(payload.try_into().map_err(|_| BROKEN)?) & 0x7fff_ffff;
        let known = head.stream == 0 || self.streams.was_opened(head.stream);
        if increment == 0 || !known { Err(BROKEN) } else { Ok(()) }
    }
}

/// Takes `length` bytes from a window, and opens it again when half of it is used.
#[inline]
fn refill(used: &mut u32, stream: u32, length: usize, out: &mut Vec<u8>) -> Result<(), ErrorClass> {
    *used += length as u32;
    if *used > WINDOW_BYTES {
        return Err(BROKEN);
    }
    if *used > WINDOW_BYTES / 2 {
        frame::put_number(kind::WINDOW_UPDATE, stream, std::mem::take(used), out);
    }
    Ok(())
}

fn ping(head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorClass> {
    if head.stream != 0 || payload.len() != 8 {
        return Err(BROKEN);
    }
    if !head.has(flag::ACK) {
        frame::put(kind::PING, flag::ACK, 0, payload, out);
    }
    Ok(())
}

impl Mux for Http2Mux {
    fn open(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(frame::PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, WINDOW_BYTES),
            (setting::MAX_HEADER_LIST_SIZE, LIST_BYTES_MAX as u32),
        ];
        frame::put_settings(&settings, out);
        frame::put_number(kind::WINDOW_UPDATE, 0, WINDOW_BYTES - FIRST_WINDOW_BYTES, out);
    }

    #[inline]
    fn ask(&mut self, vu: usize, request: &[u8], out: &mut Vec<u8>) -> bool {
        let allowed = match self.streams_allowed {
            Some(allowed) => allowed as usize,
            None if self.settled => usize::MAX,
            None => FIRST_STREAMS,
        };
        if self.is_leaving() || self.streams.open() >= allowed {
            return false;
        }
        self.requests_left -= 1;
        self.ended.take_if(|(ended, ..)| *ended == vu);
        let begin = out.len();
        out.extend_from_slice(&[0; HEAD_BYTES]);
        if let Some(bytes) = self.resize_bytes.take() {
            put_integer(0x20, 5, bytes, out);
        }
        self.shared.put(self.form, request, out);
        if self.form == Form::First {
            self.form = Form::Later;
        }
        let stream = self.streams.open_for(vu);
        stream.bytes_out = (out.len() - begin) as u64;
        let length = out.len() - begin - HEAD_BYTES;
        let head = Head { length, kind: kind::HEADERS, flags: flag::END_STREAM | flag::END_HEADERS, stream: stream.id };
        out[begin..begin + HEAD_BYTES].copy_from_slice(&head.bytes());
        true
    }

    fn cancel(&mut self, vu: usize, out: &mut Vec<u8>) {
        self.ended.take_if(|(ended, ..)| *ended == vu);
        self.unheard.retain(|unheard| *unheard != vu);
        if let Some(id) = self.streams.of_vu(vu) {
            self.streams.close(id);
            self.gave_up = true;
            frame::put_number(kind::RST_STREAM, id, code::CANCEL, out);
        }
    }

    #[inline]
    fn next<'a>(&mut self, bytes: &mut &'a [u8], out: &mut Vec<u8>) -> Result<Option<MuxEvent<'a>>, ErrorClass> {
        loop {
            if let Some((vu, bytes_in, bytes_out)) = self.ended.take() {
                self.idle_frames = 0;
                return Ok(Some(MuxEvent::Stream(vu, StreamEvent::End { bytes_in, bytes_out })));
            }
            if let Some(vu) = self.unheard.pop_front() {
                return Ok(Some(MuxEvent::Unheard(vu)));
            }
            let event = match self.reader.next(bytes)? {
                None => return Ok(None),
                Some(Piece::Begun(head)) => {
                    self.data_begins(head, out)?;
                    continue;
                }
                Some(Piece::Data { head, data, last }) => self.data(head, data, last, out),
                Some(Piece::Whole(head, payload)) => self.frame(head, payload, out)?,
                Some(Piece::Gathered(head)) => {
                    let payload = self.reader.gathered();
                    let event = self.frame(head, &payload, out);
                    self.reader.reuse(payload);
                    event?
                }
            };
            if out.len() > OUT_BYTES_MAX {
                return Err(BROKEN);
            }
            if event.is_some() {
                // Padding is read behind the data of its frame.
                self.idle_frames = self.idle_frames.saturating_sub(1);
                return Ok(event);
            }
            if self.ended.is_none() {
                self.idle_frames += 1;
                if self.idle_frames > IDLE_FRAMES_MAX {
                    return Err(BROKEN);
                }
            }
        }
    }

    fn is_leaving(&self) -> bool {
        self.gone_away || self.requests_left == 0 || self.streams.is_used_up()
    }

    fn server_ends(&self) -> bool {
        self.gone_away
    }

    fn open_streams(&self) -> usize {
        self.streams.open() + self.unheard.len() + usize::from(self.ended.is_some())
    }

    fn streams_allowed(&self) -> Option<u32> {
        self.streams_allowed
    }

    fn keep_fields(&mut self) {
        self.fields = Some(Vec::new());
    }

    fn fields(&self) -> &[(Vec<u8>, Vec<u8>)] {
        self.fields.as_deref().unwrap_or_default()
    }

    fn given_up_for(&self) -> Option<u32> {
        self.given_up_for
    }
}

#[cfg(test)]
mod tests;
