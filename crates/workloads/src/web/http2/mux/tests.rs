//! The client's side of a connection against a scripted server: no socket.

use super::super::hpack::{Indexing, put_field};
use super::super::request::put_own;
use super::*;

/// A connection with what its client has written.
struct Client {
    mux: Http2Mux,
    out: Vec<u8>,
}

/// An event without its borrow.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Head(usize, u16, Option<u64>),
    Body(usize, Vec<u8>),
    End(usize, u64, u64),
    Reset(usize),
    Malformed(usize),
    Unheard(usize),
}

const VUS: usize = 4;

impl Client {
    fn new() -> Self {
        let fields = [("User-Agent".to_owned(), "bakeoff".to_owned())];
        let http2 = Http2::new("http", "example.test", &fields, VUS, u32::MAX);
        let mut client = Self { mux: Http2Mux::new(Arc::clone(&http2.shared), VUS, u32::MAX), out: Vec::new() };
        client.mux.open(&mut client.out);
        client
    }

    /// One that has heard the server's settings.
    fn settled(settings: &[(u16, u32)]) -> Self {
        let mut client = Self::new();
        let mut wire = Vec::new();
        frame::put_settings(settings, &mut wire);
        assert_eq!(client.hear(&wire), Ok(vec![]));
        client.out.clear();
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
                MuxEvent::Stream(vu, event) => match event {
                    StreamEvent::Head { status, length } => Seen::Head(vu, status, length),
                    StreamEvent::Body(bytes) => Seen::Body(vu, bytes.to_vec()),
                    StreamEvent::End { bytes_in, bytes_out } => Seen::End(vu, bytes_in, bytes_out),
                    StreamEvent::Reset => Seen::Reset(vu),
                    StreamEvent::Malformed => Seen::Malformed(vu),
                },
            });
        }
        assert!(bytes.is_empty());
        Ok(seen)
    }

    /// Kind, flags, stream and payload of each frame that was written since the last look.
    fn written(&mut self) -> Vec<(u8, u8, u32, Vec<u8>)> {
        let out = std::mem::take(&mut self.out);
        let mut rest = out.strip_prefix(frame::PREFACE).unwrap_or(&out);
        let mut frames = Vec::new();
        while let Some((head, after)) = rest.split_first_chunk::<HEAD_BYTES>() {
            let head = Head::parse(head);
            let (payload, after) = after.split_at(head.length);
            frames.push((head.kind, head.flags, head.stream, payload.to_vec()));
            rest = after;
        }
        assert!(rest.is_empty());
        frames
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut wire = Vec::new();
    frame::put(kind, flags, stream, payload, &mut wire);
    wire
}

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    fields.iter().for_each(|(name, value)| put_field(name, value, Indexing::Plain, &mut block));
    block
}

/// A reply of two frames.
fn reply(stream: u32, body: &[u8]) -> Vec<u8> {
    let length = body.len().to_string();
    let head = block(&[(":status", "200"), ("content-length", &length)]);
    [frame(kind::HEADERS, flag::END_HEADERS, stream, &head), frame(kind::DATA, flag::END_STREAM, stream, body)].concat()
}

/// One event for each part of a body that was cut.
fn joined(events: Vec<Seen>) -> Vec<Seen> {
    let mut joined: Vec<Seen> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(Seen::Body(vu, so_far)), Seen::Body(other, part)) if *vu == other => so_far.extend(part),
            (_, event) => joined.push(event),
        }
    }
    joined
}

#[test]
fn a_connection_begins_as_the_rfc_says_and_its_later_requests_are_short() {
    let mut client = Client::new();
    assert!(client.out.starts_with(frame::PREFACE));
    assert!(client.ask(0) && client.ask(1));
    let written = client.written();
    let kinds: Vec<_> = written.iter().map(|frame| (frame.0, frame.2)).collect();
    assert_eq!(kinds, [(kind::SETTINGS, 0), (kind::WINDOW_UPDATE, 0), (kind::HEADERS, 1), (kind::HEADERS, 3)]);
    assert!(written[2].3.len() > 20 && written[3].3.len() == 8, "{written:?}");
    let mut decoder = Decoder::new();
    for frame in &written[2..] {
        let mut fields = Vec::new();
        let take = |name: &[u8], value: &[u8]| {
            fields.push([name, b" ", value].concat());
            Ok(())
        };
        decoder.decode(&frame.3, take).unwrap();
        assert_eq!(
            fields.join(&b'\n'),
            b":scheme http\n:authority example.test\n:method GET\n:path /a\nuser-agent bakeoff"
        );
        assert_eq!(frame.1, flag::END_STREAM | flag::END_HEADERS);
    }
}

#[test]
fn replies_are_the_same_however_their_bytes_are_cut_and_interleave_as_they_come() {
    let head = block(&[(":status", "200"), ("content-length", "6")]);
    let wire = [
        frame(kind::HEADERS, flag::END_HEADERS, 3, &head),
        frame(kind::DATA, 0, 3, b"abc"),
        frame(kind::HEADERS, flag::END_HEADERS, 1, &head),
        frame(kind::PING, 0, 0, b"12345678"),
        frame(kind::DATA, flag::PADDED, 3, b"\x02de\0\0"),
        frame(99, 0xff, 1, b"whatever"),
        frame(kind::DATA, flag::END_STREAM | flag::PADDED, 3, b"\x01f\0"),
        frame(kind::DATA, 0, 1, b"uvwxyz"),
        frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &block(&[("x-trailer", "1")])),
    ]
    .concat();
    let request_bytes =
        |client: &mut Client| client.written().iter().map(|frame| frame.3.len() as u64 + 9).collect::<Vec<_>>();
    for cut in 0..=wire.len() {
        let mut client = Client::settled(&[]);
        assert!(client.ask(0) && client.ask(1));
        let sent = request_bytes(&mut client);
        let mut seen = client.hear(&wire[..cut]).unwrap();
        seen.extend(client.hear(&wire[cut..]).unwrap());
        let in_3 = (9 + head.len() + 9 + 3 + 9 + 5 + 9 + 3) as u64;
        let in_1 = (9 + head.len() + 9 + 6 + 9 + block(&[("x-trailer", "1")]).len()) as u64;
        let of = |vu| {
            joined(
                seen.iter()
                    .filter(
                        |event| matches!(event, Seen::Head(l, ..) | Seen::Body(l, _) | Seen::End(l, ..) if *l == vu),
                    )
                    .cloned()
                    .collect(),
            )
        };
        assert_eq!(
            of(1),
            [Seen::Head(1, 200, Some(6)), Seen::Body(1, b"abcdef".into()), Seen::End(1, in_3, sent[1])],
            "cut at {cut}"
        );
        assert_eq!(
            of(0),
            [Seen::Head(0, 200, Some(6)), Seen::Body(0, b"uvwxyz".into()), Seen::End(0, in_1, sent[0])],
            "cut at {cut}"
        );
        assert_eq!(client.written(), [(kind::PING, flag::ACK, 0, b"12345678".to_vec())]);
        assert_eq!(client.mux.open_streams(), 0);
    }
}

#[test]
fn a_head_may_come_in_continuations_and_behind_interim_ones() {
    let mut client = Client::settled(&[]);
    client.ask(2);
    let head = block(&[(":status", "204"), ("server", "x")]);
    let wire = [
        frame(kind::HEADERS, flag::END_HEADERS, 1, &block(&[(":status", "103"), ("link", "x")])),
        frame(
            kind::HEADERS,
            flag::END_STREAM | flag::PADDED | flag::PRIORITY,
            1,
            &[&[1, 0, 0, 0, 0, 9], &head[..2], &[0]].concat(),
        ),
        frame(kind::CONTINUATION, 0, 1, &head[2..3]),
        frame(kind::CONTINUATION, flag::END_HEADERS, 1, &head[3..]),
    ]
    .concat();
    let seen = client.hear(&wire).unwrap();
    assert_eq!(seen, [Seen::Head(2, 204, None), Seen::End(2, wire.len() as u64, seen_out(&seen))]);
}

fn seen_out(seen: &[Seen]) -> u64 {
    seen.iter().find_map(|event| if let Seen::End(_, _, out) = event { Some(*out) } else { None }).unwrap()
}

#[test]
fn a_server_is_asked_for_no_more_streams_than_it_allows() {
    let mut client = Client::settled(&[(setting::MAX_CONCURRENT_STREAMS, 2)]);
    assert!(client.ask(0) && client.ask(1) && !client.ask(2));
    assert_eq!(client.mux.streams_allowed(), Some(2));
    client.hear(&reply(1, b"x")).unwrap();
    assert!(client.ask(2) && !client.ask(0));
}

#[test]
fn what_a_server_puts_back_is_unheard_and_what_it_resets_has_failed() {
    let mut client = Client::settled(&[]);
    (0..VUS).for_each(|vu| assert!(client.ask(vu)));
    let refused = frame(kind::RST_STREAM, 0, 3, &code::REFUSED_STREAM.to_be_bytes());
    let reset = frame(kind::RST_STREAM, 0, 1, &2_u32.to_be_bytes());
    assert_eq!(client.hear(&[refused, reset].concat()).unwrap(), [Seen::Unheard(1), Seen::Reset(0)]);
    assert!(!client.mux.is_leaving());
    // The third request is answered still, the fourth was never looked at.
    let away = frame(kind::GOAWAY, 0, 0, &[5_u32.to_be_bytes(), 0_u32.to_be_bytes()].concat());
    assert_eq!(client.hear(&away).unwrap(), [Seen::Unheard(3)]);
    assert!(client.mux.is_leaving() && client.mux.server_ends() && !client.ask(0));
    assert_eq!(client.hear(&reply(5, b"x")).unwrap()[1], Seen::Body(2, b"x".into()));
    assert_eq!(client.mux.open_streams(), 0);
}

#[test]
fn a_stream_that_was_given_up_is_reset_and_what_still_comes_is_nobodys() {
    let mut client = Client::settled(&[]);
    client.ask(0);
    client.written();
    client.mux.cancel(0, &mut client.out);
    client.ask(0);
    let written = client.written();
    assert_eq!(
        (written[0].0, written[0].2, &written[0].3),
        (kind::RST_STREAM, 1, &code::CANCEL.to_be_bytes().to_vec())
    );
    assert_eq!(client.hear(&reply(1, b"late")).unwrap(), []);
    assert_eq!(client.hear(&reply(3, b"x")).unwrap()[1], Seen::Body(0, b"x".into()));
}

#[test]
fn the_end_of_a_reply_whose_virtual_user_has_gone_on_is_not_told_to_its_next_request() {
    let mut client = Client::settled(&[]);
    client.ask(0);
    let wire = reply(1, b"x");
    let mut rest = &wire[..];
    for _ in 0..2 {
        assert!(client.mux.next(&mut rest, &mut client.out).unwrap().is_some());
    }
    client.mux.cancel(0, &mut client.out);
    assert!(client.ask(0));
    assert_eq!(client.mux.next(&mut rest, &mut client.out), Ok(None));
}

#[test]
fn a_server_that_keeps_less_gets_requests_that_it_can_decode() {
    for (size, settles_first) in [(0_u32, true), (0, false), (100, true), (100, false), (4000, true), (4000, false)] {
        let mut client = Client::new();
        let mut blocks = Vec::new();
        let mut ask = |client: &mut Client| {
            client.out.clear();
            assert!(client.ask(0));
            blocks.push(client.written().remove(0).3);
            client.mux.cancel(0, &mut client.out);
        };
        if !settles_first {
            ask(&mut client);
        }
        let mut settings = Vec::new();
        frame::put_settings(&[(setting::HEADER_TABLE_SIZE, size)], &mut settings);
        client.hear(&settings).unwrap();
        (0..3).for_each(|_| ask(&mut client));
        let mut decoder = Decoder::new();
        for (number, block) in blocks.iter().enumerate() {
            let told = block[0] & 0xe0 == 0x20;
            assert_eq!(told, number == usize::from(!settles_first), "the size is told once");
            let mut fields = 0;
            decoder
                .decode(block, |_, _| {
                    fields += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(fields, 5);
            assert!(number < usize::from(!settles_first) || decoder.table_bytes() <= size as usize);
        }
    }
}

#[test]
fn windows_are_opened_again_when_half_of_them_is_used_and_one_that_is_overrun_is_an_error() {
    let mut client = Client::settled(&[]);
    client.ask(0);
    client.out.clear();
    client.hear(&frame(kind::HEADERS, flag::END_HEADERS, 1, &block(&[(":status", "200")]))).unwrap();
    let data = frame(kind::DATA, 0, 1, &[0; PAYLOAD_BYTES_MAX]);
    let half = (WINDOW_BYTES / 2) as usize / PAYLOAD_BYTES_MAX;
    for _ in 0..half {
        let mut rest = &data[..];
        while client.mux.next(&mut rest, &mut client.out).unwrap().is_some() {}
    }
    assert!(client.out.is_empty());
    client.hear(&data).unwrap();
    let increment = (WINDOW_BYTES / 2 + PAYLOAD_BYTES_MAX as u32).to_be_bytes().to_vec();
    let expected = [0, 1].map(|stream| (kind::WINDOW_UPDATE, 0, stream, increment.clone()));
    assert_eq!(client.written(), expected);
    assert_eq!(refill(&mut (WINDOW_BYTES - 1), 0, 2, &mut Vec::new()), Err(BROKEN));
}

#[test]
fn what_breaks_the_protocol_ends_the_connection() {
    let settings = frame(kind::SETTINGS, 0, 0, &[]);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("HTTP/1 instead", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
        ("no settings first", frame(kind::PING, 0, 0, &[0; 8])),
        ("an acknowledgement first", frame(kind::SETTINGS, flag::ACK, 0, &[])),
        ("settings of a stream", frame(kind::SETTINGS, 0, 1, &[])),
        ("settings cut short", frame(kind::SETTINGS, 0, 0, &[0; 5])),
        ("push enabled", frame(kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1])),
        ("too large a window", frame(kind::SETTINGS, 0, 0, &[0, 4, 0xff, 0xff, 0xff, 0xff])),
        ("too small a frame", frame(kind::SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 1])),
        ("too long a frame", [&settings[..], &[0, 0x40, 1, 0, 0, 0, 0, 0, 1]].concat()),
        ("data of no stream", [&settings[..], &frame(kind::DATA, 0, 3, b"x")].concat()),
        ("data of stream 0", [&settings[..], &frame(kind::DATA, 0, 0, b"x")].concat()),
        ("more padding than data", [&settings[..], &frame(kind::DATA, flag::PADDED, 1, b"\x09x")].concat()),
        ("a head of no stream", [&settings[..], &frame(kind::HEADERS, flag::END_HEADERS, 2, &[0x88])].concat()),
        ("a head of no table", [&settings[..], &frame(kind::HEADERS, flag::END_HEADERS, 1, &[0xbe])].concat()),
        (
            "a continuation of nothing",
            [&settings[..], &frame(kind::CONTINUATION, flag::END_HEADERS, 1, &[0x88])].concat(),
        ),
        (
            "a frame within a head",
            [&settings[..], &frame(kind::HEADERS, 0, 1, &[0x88]), &frame(kind::PING, 0, 0, &[0; 8])].concat(),
        ),
        (
            "data within a head",
            [&settings[..], &frame(kind::HEADERS, 0, 1, &[0x88]), &frame(kind::DATA, 0, 1, b"x")].concat(),
        ),
        (
            "an empty continuation",
            [&settings[..], &frame(kind::HEADERS, 0, 1, &[0x88]), &frame(kind::CONTINUATION, 0, 1, b"")].concat(),
        ),
        ("a reset cut short", [&settings[..], &frame(kind::RST_STREAM, 0, 1, &[0; 3])].concat()),
        ("a reset of no stream", [&settings[..], &frame(kind::RST_STREAM, 0, 5, &[0; 4])].concat()),
        ("a window that does not grow", [&settings[..], &frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4])].concat()),
        ("a ping cut short", [&settings[..], &frame(kind::PING, 0, 0, &[0; 7])].concat()),
        ("a promise", [&settings[..], &frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2, 0x82])].concat()),
        ("a short farewell", [&settings[..], &frame(kind::GOAWAY, 0, 0, &[0; 7])].concat()),
        ("a second answer", [&settings[..], &reply(1, b"x"), &reply(1, b"x")].concat()),
    ];
    for (what, wire) in cases {
        let mut client = Client::new();
        client.ask(0);
        assert_eq!(client.hear(&wire), Err(ErrorClass::Protocol), "{what}");
    }
}

#[test]
fn what_is_no_reply_ends_its_stream_alone() {
    let head = |fields: &[(&str, &str)], flags| frame(kind::HEADERS, flag::END_HEADERS | flags, 1, &block(fields));
    let right = [(":status", "200")];
    for wire in [
        head(&[("x", "1")], 0),
        head(&[(":status", "103")], flag::END_STREAM),
        frame(kind::DATA, 0, 1, b"x"),
        [head(&right, 0), head(&right, flag::END_STREAM)].concat(),
        [head(&right, 0), head(&[("x", "1")], 0)].concat(),
    ] {
        let mut client = Client::settled(&[]);
        assert!(client.ask(0) && client.ask(1));
        client.out.clear();
        assert_eq!(client.hear(&wire).unwrap().last(), Some(&Seen::Malformed(0)));
        assert_eq!(client.written()[0].0, kind::RST_STREAM);
        assert_eq!(client.hear(&reply(3, b"x")).unwrap().len(), 3);
    }
}

#[test]
fn a_server_that_does_not_read_its_answers_is_left() {
    let mut client = Client::settled(&[]);
    let ping = frame(kind::PING, 0, 0, &[0; 8]).repeat(1000);
    let outcome = (0..100).try_for_each(|_| client.hear(&ping).map(drop));
    assert_eq!(outcome, Err(ErrorClass::Protocol));
    assert!(client.out.len() <= OUT_BYTES_MAX + 17);
}

/// Frames that nearly make sense, and bytes that do not, in random cuts: no panic, bounded memory, and the streams
/// that the mux counts are those that were neither answered nor given up.
#[test]
fn hostile_frames_never_panic() {
    let mut rng = bakeoff_engine::Rng::for_thread(11, 0, 0);
    let (mut broken, mut ends, mut heads) = (0, 0, 0);
    for _ in 0..20_000 {
        let mut client = if rng.below(8) == 0 { Client::new() } else { Client::settled(&[]) };
        let mut open = [false; VUS];
        for _ in 0..rng.below(20) {
            let vu = rng.below(VUS as u64) as usize;
            if !open[vu] {
                open[vu] = client.ask(vu);
            } else if rng.below(6) == 0 {
                client.mux.cancel(vu, &mut client.out);
                open[vu] = client.ask(vu);
            }
            let own = client.mux.streams.of_vu(vu).filter(|_| rng.below(50) > 0);
            let is_within_head = client.mux.continues.is_some();
            let stream = own.unwrap_or(rng.below(12) as u32);
            let wire = random_frame(&mut rng, stream, is_within_head);
            let cut = rng.below(wire.len() as u64 + 1) as usize;
            let heard = client.hear(&wire[..cut]).and_then(|mut seen| {
                seen.extend(client.hear(&wire[cut..])?);
                Ok(seen)
            });
            let Ok(seen) = heard else {
                broken += 1;
                break;
            };
            for event in seen {
                match event {
                    Seen::End(vu, ..) | Seen::Reset(vu) | Seen::Malformed(vu) | Seen::Unheard(vu) => {
                        assert!(std::mem::take(&mut open[vu]));
                        ends += 1;
                    }
                    Seen::Head(vu, ..) | Seen::Body(vu, _) => {
                        assert!(open[vu]);
                        heads += 1;
                    }
                }
            }
            assert_eq!(client.mux.open_streams(), open.iter().filter(|open| **open).count());
            assert!(client.mux.block.capacity() <= 2 * BLOCK_BYTES_MAX && client.out.len() <= 2 * OUT_BYTES_MAX);
        }
    }
    assert!(broken > 1_000 && ends > 10_000 && heads > 10_000, "{broken} broken, {ends} ends, {heads} heads");
}

fn random_frame(rng: &mut bakeoff_engine::Rng, stream: u32, is_within_head: bool) -> Vec<u8> {
    let random =
        |rng: &mut bakeoff_engine::Rng, most| (0..rng.below(most)).map(|_| rng.below(256) as u8).collect::<Vec<_>>();
    if is_within_head && rng.below(50) > 0 {
        return frame(kind::CONTINUATION, rng.below(8) as u8, stream, &[0x0f, 0x0d, 0x01, b'5']);
    }
    match rng.below(50) {
        0..=19 => reply(stream, b"hello"),
        20..=29 => frame(kind::HEADERS, flag::END_HEADERS, stream, &block(&[(":status", "200")])),
        30..=39 => frame(kind::DATA, rng.below(2) as u8, stream, b"hello"),
        40..=42 => frame(kind::RST_STREAM, 0, stream, &[0, 0, 0, rng.below(9) as u8]),
        43..=46 => frame(kind::HEADERS, 0, stream, &[0x88]),
        47 => frame(kind::GOAWAY, 0, 0, &[&stream.to_be_bytes()[..], &[0; 4]].concat()),
        48 => {
            let payload = random(rng, 20);
            frame(rng.below(11) as u8, rng.below(256) as u8, stream, &payload)
        }
        _ => random(rng, 20),
    }
}

/// Frames that bring no reply any further, in whatever mixture, end the connection; those of a lively server do not.
#[test]
fn frames_that_carry_nothing_are_bounded() {
    let idle = [
        frame(kind::DATA, 0, 1, b""),
        frame(kind::PING, 0, 0, b"12345678"),
        frame(kind::SETTINGS, 0, 0, b""),
        frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        frame(kind::PRIORITY, 0, 1, &[0; 5]),
        frame(99, 0, 0, b"whatever"),
    ];
    let begun = || {
        let mut client = Client::settled(&[]);
        assert!(client.ask(0));
        let head = frame(kind::HEADERS, flag::END_HEADERS, 1, &block(&[(":status", "200")]));
        assert_eq!(client.hear(&head), Ok(vec![Seen::Head(0, 200, None)]));
        client
    };
    for one in &idle {
        let mut client = begun();
        let frames = (0..20_000).take_while(|_| client.hear(one).is_ok()).count();
        client.out.clear();
        assert!((9_000..=10_000).contains(&frames), "{frames} frames of kind {}", one[3]);
    }
    let mut client = begun();
    for nth in 0..100_000_u32 {
        // As many as one for each part of a body: a body may be sent so.
        client.hear(&frame(kind::DATA, 0, 1, b"x")).unwrap();
        assert!(client.hear(&idle[nth as usize % 2]).is_ok());
        client.out.clear();
    }
}

#[test]
fn interim_heads_are_bounded() {
    let interim = frame(kind::HEADERS, flag::END_HEADERS, 1, &block(&[(":status", "103")]));
    let mut client = Client::settled(&[]);
    assert!(client.ask(0));
    assert_eq!(client.hear(&interim.repeat(32)), Ok(vec![]));
    assert_eq!(client.hear(&interim), Err(BROKEN));
}
