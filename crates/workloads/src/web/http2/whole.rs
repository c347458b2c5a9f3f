//! One whole reply on a stream, for checks before timing: as the load's own mux reads it.

use crate::web::http1::whole::{Exchange, Faulty, ReplyFault, WholeReply};
use bakeoff_engine::{Mux, MuxEvent, StreamEvent, Streams};

/// What a server that speaks HTTP/1 alone begins with.
const HTTP1: &[u8] = b"HTTP/";
/// A limit of streams from which on there is none.
const NO_LIMIT: u32 = 1 << 31;

/// Reads one reply over HTTP/2.
#[derive(Debug)]
pub struct StreamReader {
    mux: Box<dyn Mux>,
    head_only: bool,
    /// Of the body, bytes.
    most_bytes: usize,
    reply: WholeReply,
    stated: Option<u64>,
    /// Something has come.
    has_begun: bool,
    is_over: bool,
}

impl StreamReader {
    /// For the reply to a request, which has no body to `HEAD`; of a body so many bytes are wanted.
    pub fn new(streams: &Streams, head_only: bool, most_bytes: usize) -> Self {
        let mut mux = streams.mux.make(None);
        mux.keep_fields();
        let reply = WholeReply { version: "2", keeps_open: true, ..WholeReply::default() };
        Self { mux, head_only, most_bytes, reply, stated: None, has_begun: false, is_over: false }
    }

    fn hear(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Faulty> {
        let broken = || Faulty::new(ReplyFault::NotHttp2, &[], 0);
        while let Some(event) = self.mux.next(&mut bytes, out).map_err(|_| broken())? {
            match event {
                MuxEvent::Stream(_, StreamEvent::Head { status, length }) => {
                    (self.reply.status, self.stated) = (status, length);
                    for (name, value) in self.mux.fields() {
                        self.reply.head_bytes += name.len() + value.len();
                        if !name.starts_with(b":") {
                            let name = String::from_utf8_lossy(name).into_owned();
                            self.reply.fields.push((name, value.clone()));
                        }
                    }
                }
                MuxEvent::Stream(_, StreamEvent::Body(part)) => {
                    let room = self.most_bytes - self.reply.body.len();
                    self.reply.body.extend_from_slice(&part[..part.len().min(room)]);
                    self.is_over |= self.reply.body.len() == self.most_bytes;
                }
                MuxEvent::Stream(_, StreamEvent::End { .. }) => self.is_over = true,
                MuxEvent::Stream(_, StreamEvent::Malformed) => return Err(broken()),
                MuxEvent::Stream(_, StreamEvent::Reset) => return Err(self.given_up(ReplyFault::Reset)),
                MuxEvent::Unheard(_) if self.mux.server_ends() => return Err(self.given_up(ReplyFault::GoneAway)),
                MuxEvent::Unheard(_) => return Err(self.given_up(ReplyFault::Reset)),
            }
            if self.is_over {
                break;
            }
        }
        Ok(())
    }

    fn given_up(&self, fault: ReplyFault) -> Faulty {
        Faulty::new(fault, &[], self.mux.given_up_for().unwrap_or(0) as usize)
    }
}

impl Exchange for StreamReader {
    fn start(&mut self, request: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.mux.open(&mut out);
        self.mux.ask(0, request, &mut out);
        out
    }

    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<bool, Faulty> {
        let answers_http1 = bytes.iter().zip(HTTP1).all(|(byte, other)| byte == other);
        if !self.has_begun && answers_http1 {
            let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            return Err(Faulty::new(ReplyFault::OtherProtocol, line.trim_ascii_end(), 0));
        }
        self.has_begun = true;
        self.hear(bytes, out)?;
        Ok(self.is_over)
    }

    fn end(mut self: Box<Self>) -> Result<WholeReply, Faulty> {
        if !self.is_over {
            let fault = if self.has_begun { ReplyFault::Closed } else { ReplyFault::ClosesAtOnce };
            return Err(Faulty::new(fault, &[], 0));
        }
        let length = self.reply.body.len();
        let is_bodiless = self.head_only || matches!(self.reply.status, 204 | 304);
        if let Some(stated) = self.stated.filter(|_| !is_bodiless && length < self.most_bytes)
            && stated != length as u64
        {
            return Err(Faulty::new(ReplyFault::OtherLength, stated.to_string().as_bytes(), length));
        }
        self.reply.streams_allowed = self.mux.streams_allowed().filter(|&allowed| allowed < NO_LIMIT);
        Ok(self.reply)
    }

    fn broken(&self) -> Option<ReplyFault> {
        (!self.has_begun).then_some(ReplyFault::BreaksAtOnce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::WebWorkload;
    use bakeoff_engine::Workload;

    const BODY_BYTES_MAX: usize = 1000;
    const SETTINGS: &[u8] = &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 7];
    /// `:status 200` and `x: a`, whole and the last of its stream, or not.
    const FIELDS: &[u8] = &[0x88, 0x00, 1, b'x', 1, b'a'];

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        [&[0, (payload.len() >> 8) as u8, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    fn read(wire: &[u8], piece: usize) -> Result<WholeReply, Faulty> {
        let json = r#"{"kind": "web", "scheme": "http", "host": "h", "addresses": ["127.0.0.1:1"], "http": "2",
            "keep_alive": true, "classes": [{"name": "a", "weight": 1, "requests": [{"path": "/"}]}]}"#;
        let streams = WebWorkload::from_json(json, 4).unwrap().streams().unwrap();
        let mut reader = StreamReader::new(&streams, false, BODY_BYTES_MAX);
        assert!(reader.start(&[]).starts_with(b"PRI * HTTP/2.0"));
        let mut out = Vec::new();
        for part in wire.chunks(piece) {
            if reader.take(part, &mut out)? {
                break;
            }
        }
        Box::new(reader).end()
    }

    #[test]
    fn a_reply_is_the_same_however_it_is_cut() {
        let wire = [SETTINGS.to_vec(), frame(1, 4, 1, FIELDS), frame(0, 0, 1, b"o"), frame(0, 1, 1, b"k")].concat();
        for piece in 1..wire.len() {
            let reply = read(&wire, piece).unwrap();
            assert_eq!((reply.status, &reply.body[..], reply.streams_allowed), (200, &b"ok"[..], Some(7)));
            assert_eq!(reply.fields, [("x".to_owned(), b"a".to_vec())]);
            assert_eq!((reply.head_bytes, reply.version), (":status200xa".len(), "2"));
        }
        let long = [SETTINGS.to_vec(), frame(1, 4, 1, FIELDS), frame(0, 0, 1, &[0; BODY_BYTES_MAX + 9])].concat();
        assert_eq!(read(&long, 100).unwrap().body.len(), BODY_BYTES_MAX);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let stated = [FIELDS, &[0x0f, 0x0d, 1, b'3']].concat();
        for (behind, fault, count) in [
            (frame(3, 0, 1, &[0, 0, 0, 2]), ReplyFault::Reset, 2),
            (frame(3, 0, 1, &[0, 0, 0, 7]), ReplyFault::Reset, 7),
            (frame(7, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11]), ReplyFault::GoneAway, 11),
            (frame(0, 1, 1, b"no head"), ReplyFault::NotHttp2, 0),
            (frame(1, 5, 1, &[0xff, 0xff]), ReplyFault::NotHttp2, 0),
            (frame(6, 0, 0, b"12345678").repeat(20_000), ReplyFault::NotHttp2, 0),
            ([frame(1, 4, 1, &stated), frame(0, 1, 1, b"ok")].concat(), ReplyFault::OtherLength, 2),
            (frame(1, 4, 1, FIELDS), ReplyFault::Closed, 0),
        ] {
            let faulty = read(&[SETTINGS.to_vec(), behind].concat(), 1 << 20).unwrap_err();
            assert_eq!((faulty.fault, faulty.count), (fault, count));
        }
        assert_eq!(read(b"", 1).unwrap_err().fault, ReplyFault::ClosesAtOnce);
        let text = read(b"HTTP/1.1 400 Bad Request\r\n\r\n", 100).unwrap_err();
        assert_eq!((text.fault, &text.shown[..]), (ReplyFault::OtherProtocol, &b"HTTP/1.1 400 Bad Request"[..]));
        assert_eq!(read(b"SSH-2.0-OpenSSH\r\n", 100).unwrap_err().fault, ReplyFault::NotHttp2);
    }
}
