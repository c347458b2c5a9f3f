//! The client's side of a connection against a scripted server: no socket.

use super::super::put_own;
use super::*;

/// A connection with what its client has written.
struct Client {
    mux: Http3Mux,
    out: Vec<u8>,
}

/// An event without its borrow.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Head(usize, u16, Option<u64>),
    Body(usize, Vec<u8>),
    End(usize, u64),
    Reset(usize),
    Malformed(usize),
    Unheard(usize),
}

const VUS: usize = 4;
/// The server's control stream.
const SERVER: u64 = 3;

impl Client {
    /// One that may use so many streams.
    fn new(free: u64) -> Self {
        let http3 = Http3::new("example.test", &[("User-Agent".to_owned(), "bakeoff".to_owned())], VUS, u32::MAX);
        let mut client = Self { mux: Http3Mux::new(Arc::clone(&http3.shared), VUS, u32::MAX), out: Vec::new() };
        client.mux.open(&mut client.out);
        let mut wire = Vec::new();
        (0..free).for_each(|number| records::put(RecordKind::Free, number * 4, &[], &mut wire));
        assert_eq!(client.hear(&wire), Ok(vec![]));
        client
    }

    fn ask(&mut self, vu: usize) -> bool {
        let mut own = Vec::new();
        put_own("GET", "/a", &mut own);
        self.mux.ask(vu, &own, &mut self.out)
    }

    fn hear(&mut self, mut bytes: &[u8]) -> Result<Vec<Seen>, ErrorClass> {
        let mut seen = Vec::new();
        while let Some(event) = self.mux.next(&mut bytes, &mut self.out)? {
            seen.push(match event {
                MuxEvent::Unheard(vu) => Seen::Unheard(vu),
                MuxEvent::Stream(vu, StreamEvent::Head { status, length }) => Seen::Head(vu, status, length),
                MuxEvent::Stream(vu, StreamEvent::Body(bytes)) => Seen::Body(vu, bytes.to_vec()),
                MuxEvent::Stream(vu, StreamEvent::End { bytes_in, .. }) => Seen::End(vu, bytes_in),
                MuxEvent::Stream(vu, StreamEvent::Reset) => Seen::Reset(vu),
                MuxEvent::Stream(vu, StreamEvent::Malformed) => Seen::Malformed(vu),
            });
        }
        assert!(bytes.is_empty());
        Ok(seen)
    }

    fn part(&mut self, stream: u64, content: &[u8]) -> Result<Vec<Seen>, ErrorClass> {
        self.say(RecordKind::Part, stream, content)
    }

    fn last(&mut self, stream: u64, content: &[u8]) -> Result<Vec<Seen>, ErrorClass> {
        self.say(RecordKind::Last, stream, content)
    }

    fn say(&mut self, kind: RecordKind, stream: u64, content: &[u8]) -> Result<Vec<Seen>, ErrorClass> {
        let mut wire = Vec::new();
        records::put(kind, stream, content, &mut wire);
        self.hear(&wire)
    }

    /// What was written since the last look.
    fn written(&mut self) -> Vec<(RecordKind, u64, Vec<u8>)> {
        let out = std::mem::take(&mut self.out);
        let (mut rest, mut records) = (out.as_slice(), Vec::new());
        while let Some(record) = Record::take(&mut rest) {
            let (content, after) = rest.split_at(record.length);
            records.push((record.kind, record.stream, content.to_vec()));
            rest = after;
        }
        assert!(rest.is_empty());
        records
    }
}

fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut wire = Vec::new();
    varint::put(kind, &mut wire);
    varint::put(payload.len() as u64, &mut wire);
    wire.extend_from_slice(payload);
    wire
}

fn head(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut section = Vec::new();
    qpack::put_prefix(&mut section);
    fields.iter().for_each(|(name, value)| qpack::put_field(name, value, &mut section));
    frame(kind::HEADERS, &section)
}

fn reply() -> Vec<u8> {
    [head(&[(":status", "200"), ("content-length", "5"), ("x-own", "a value")]), frame(kind::DATA, b"hello")].concat()
}

#[test]
fn settings_and_a_request_are_written_and_the_reply_is_told() {
    let mut client = Client::new(2);
    assert!(client.ask(2));
    let written = client.written();
    assert_eq!(written[0], (RecordKind::Part, CONTROL, vec![0, 4, 9, 1, 0, 6, 0x80, 4, 0, 0, 7, 0]));
    assert_eq!((written[1].0, written[1].1, written.len()), (RecordKind::Last, 0, 2));
    let mut fields = Vec::new();
    let add = |name: &[u8], value: &[u8]| fields.push([name, b" ", value].concat());
    qpack::decode(&written[1].2[2..], &mut Vec::new(), add).unwrap();
    let expected: [&[u8]; 5] =
        [b":scheme https", b":authority example.test", b":method GET", b":path /a", b"user-agent bakeoff"];
    assert_eq!(fields, expected);
    let length = reply().len() as u64;
    let told = vec![Seen::Head(2, 200, Some(5)), Seen::Body(2, b"hello".to_vec()), Seen::End(2, length)];
    assert_eq!(client.last(0, &reply()), Ok(told));
    assert_eq!(client.mux.open_streams(), 0);
}

#[test]
fn a_reply_is_the_same_however_it_is_cut_and_unknown_frames_are_skipped() {
    let wire = [frame(0x21, b"grease"), reply(), frame(0x40, &[0; 70]), head(&[("x-trailer", "1")])].concat();
    for cut in 0..wire.len() {
        let mut client = Client::new(1);
        client.ask(0);
        let mut seen = client.part(0, &wire[..cut]).unwrap();
        seen.extend(client.part(0, &wire[cut..]).unwrap());
        seen.extend(client.last(0, b"").unwrap());
        let body: Vec<u8> = seen
            .iter()
            .filter_map(|s| if let Seen::Body(_, b) = s { Some(b.clone()) } else { None })
            .flatten()
            .collect();
        assert_eq!((body.as_slice(), &seen[0]), (&b"hello"[..], &Seen::Head(0, 200, Some(5))));
        assert_eq!(seen.last(), Some(&Seen::End(0, wire.len() as u64)));
    }
}

#[test]
fn no_request_is_made_without_a_stream_and_none_after_goaway() {
    let mut client = Client::new(3);
    assert!(client.ask(0) && client.ask(1) && client.ask(2) && !client.ask(3));
    let control = [vec![0], frame(kind::SETTINGS, &[6, 0]), frame(0x21, b"x"), frame(kind::GOAWAY, &[4])].concat();
    let mut seen = Vec::new();
    control.iter().for_each(|octet| seen.extend(client.part(SERVER, &[*octet]).unwrap()));
    assert_eq!(seen, [Seen::Unheard(1), Seen::Unheard(2)]);
    assert!(client.mux.is_leaving() && client.mux.server_ends() && client.mux.open_streams() == 1);
    assert_eq!(client.last(0, &reply()).map(|seen| seen.len()), Ok(3));
    assert_eq!(client.part(SERVER, &frame(kind::GOAWAY, &[8])), Err(BROKEN), "it may only fall");
}

#[test]
fn streams_that_are_reset_or_given_up_are_gone() {
    let mut client = Client::new(4);
    (0..4).for_each(|vu| assert!(client.ask(vu)));
    client.written();
    assert_eq!(client.say(RecordKind::Reset, 0, &REQUEST_REJECTED.to_be_bytes()), Ok(vec![Seen::Unheard(0)]));
    assert_eq!(client.say(RecordKind::Reset, 4, &0x102_u64.to_be_bytes()), Ok(vec![Seen::Reset(1)]));
    client.mux.cancel(2, &mut client.out);
    assert_eq!(client.written(), [(RecordKind::Reset, 8, REQUEST_CANCELLED.to_be_bytes().to_vec())]);
    assert_eq!(client.last(8, &reply()), Ok(vec![]));
    // A reply that ends within a frame, and one without a head.
    assert_eq!(client.last(12, &reply()[..6]), Ok(vec![Seen::Malformed(3)]));
    assert_eq!(client.mux.open_streams(), 0);
}

#[test]
fn what_breaks_the_protocol_ends_the_connection_and_a_wrong_head_the_stream() {
    for wrong in [
        frame(kind::DATA, b"x"),
        frame(kind::SETTINGS, b""),
        frame(kind::PUSH_PROMISE, b"\0"),
        frame(8, b""),
        frame(kind::HEADERS, &[0, 0, 0x80]),
        [1, 0x80, 1, 0, 1].to_vec(),
    ] {
        let mut client = Client::new(1);
        client.ask(0);
        assert_eq!(client.part(0, &wrong), Err(BROKEN), "{wrong:?}");
    }
    for wrong in [
        frame(kind::GOAWAY, &[0]),
        frame(kind::SETTINGS, &[2, 0]),
        frame(kind::SETTINGS, &[6]),
        [frame(kind::SETTINGS, b""), frame(kind::SETTINGS, b"")].concat(),
        [frame(kind::SETTINGS, b""), frame(kind::GOAWAY, &[1])].concat(),
        [frame(kind::SETTINGS, b""), frame(kind::HEADERS, b"")].concat(),
    ] {
        assert_eq!(Client::new(1).part(SERVER, &[&[0], wrong.as_slice()].concat()), Err(BROKEN), "{wrong:?}");
    }
    let mut client = Client::new(1);
    assert_eq!(client.part(SERVER, &[0]), Ok(vec![]));
    assert_eq!(client.part(7, &[0]), Err(BROKEN), "a second control stream");
    assert_eq!(Client::new(1).last(SERVER, &[0]), Err(BROKEN), "it lasts");
    assert_eq!(Client::new(1).part(7, &[1, 0]), Err(BROKEN), "a push");
    assert_eq!(Client::new(1).part(7, &[2, 0x20]), Ok(vec![]));
    assert_eq!(Client::new(1).part(7, &[2, 0x3f]), Err(BROKEN), "the table has no size");
    assert_eq!(Client::new(1).last(11, &[0x40, 0x41, 9, 9]), Ok(vec![]), "of no known type");
    let mut client = Client::new(1);
    client.ask(0);
    assert_eq!(client.part(0, &head(&[("x", "1")])), Ok(vec![Seen::Malformed(0)]));
    assert_eq!(client.mux.open_streams(), 0);
}

/// Random records of streams, with frames that are nearly right among them: nothing panics, nothing grows, and a
/// virtual user is told its end once.
#[test]
fn random_bytes_never_panic_and_are_never_kept() {
    let mut rng = bakeoff_engine::Rng::for_thread(9, 0, 0);
    let mut below = move |limit: u64| rng.below(limit);
    let mut ends = 0;
    for _ in 0..3_000 {
        let mut client = Client::new(6);
        let mut open = [false; VUS];
        'connection: for _ in 0..30 {
            let vu = below(VUS as u64) as usize;
            if !open[vu] {
                open[vu] = client.ask(vu);
            }
            let content = match below(6) {
                0 => (0..below(20)).map(|_| below(256) as u8).collect(),
                1 => vec![0],
                2 => frame(kind::SETTINGS, &[6, below(64) as u8]),
                3 => frame(below(16), &(0..below(9)).map(|_| below(256) as u8).collect::<Vec<_>>()),
                _ => reply(),
            };
            let kind = [RecordKind::Part, RecordKind::Last, RecordKind::Last, RecordKind::Reset][below(4) as usize];
            let stream = [0, 4, 8, 12, 3, 7, 11, below(40)][below(8) as usize];
            let code = (0x100 + below(16)).to_be_bytes();
            let content = if kind == RecordKind::Reset { code.to_vec() } else { content };
            let Ok(seen) = client.say(kind, stream, &content) else { break 'connection };
            for seen in seen {
                let (Seen::End(vu, _) | Seen::Reset(vu) | Seen::Malformed(vu) | Seen::Unheard(vu)) = seen else {
                    continue;
                };
                assert!(std::mem::replace(&mut open[vu], false), "{vu} has ended before");
                ends += 1;
            }
            assert_eq!(client.mux.open_streams(), open.iter().filter(|&&is_open| is_open).count());
            assert!(client.out.len() < 64 * 1024);
        }
        let mut raw: Vec<u8> = (0..below(40)).map(|_| below(256) as u8).collect();
        raw.first_mut().into_iter().for_each(|first| *first %= 5);
        let _ = client.hear_any(&raw);
    }
    assert!(ends > 1_000);
}

impl Client {
    /// Bytes that need not be records.
    fn hear_any(&mut self, mut bytes: &[u8]) -> Result<(), ErrorClass> {
        while self.mux.next(&mut bytes, &mut self.out)?.is_some() {}
        Ok(())
    }
}

/// Frames that bring no reply any further, and interim heads, end the connection when they are too many.
#[test]
fn frames_that_carry_nothing_are_bounded() {
    for (idle, most) in [
        (frame(kind::DATA, b""), 10_000),
        (frame(0x21, b"grease"), 10_000),
        (head(&[(":status", "103")]), 32),
        (head(&[("x", "trailer")]), 32),
    ] {
        let mut client = Client::new(1);
        assert!(client.ask(0));
        if idle[0] == 0 || idle != head(&[(":status", "103")]) {
            client.part(0, &head(&[(":status", "200")])).unwrap();
        }
        let frames = (0..20_000).take_while(|_| client.part(0, &idle).is_ok()).count();
        assert!((most - 1..=most).contains(&frames), "{frames} instead of {most}");
    }
    let mut client = Client::new(1);
    let mut unknown = Vec::new();
    varint::put(0x21, &mut unknown);
    assert_eq!(client.part(7, &unknown), Ok(vec![]));
    let frames = (0..100).take_while(|_| client.part(7, &[0; 65_536]).is_ok()).count();
    assert!((15..=16).contains(&frames), "{frames}");
}
