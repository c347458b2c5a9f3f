//! The web session against scripted replies: no socket.

use super::hex::to_hex;
use super::{ClassSpec, ReplySpec, RequestSpec, WebSession, WebSpec, WebWorkload};
use bakeoff_engine::{Actions, ErrorClass, Event, Identity, Outcome, Progress, Rng, Session, Workload};
use sha2::{Digest, Sha256};

fn spec(change: impl FnOnce(&mut WebSpec)) -> WebSpec {
    let request = RequestSpec {
        method: "GET".into(),
        path: "/a".into(),
        length: Some(5),
        sha256: None,
        reply: None,
        body: None,
        content_type: None,
    };
    let mut spec = WebSpec {
        kind: "web".into(),
        scheme: "http".into(),
        host: "example.test:8080".into(),
        addresses: vec!["127.0.0.1:8080".into()],
        unix: None,
        http: "1.1".into(),
        keep_alive: true,
        receive_buffer_bytes: None,
        close_with_reset: false,
        source_addresses: Vec::new(),
        requests_per_connection: None,
        tls: None,
        check_every: 0,
        learn: false,
        headers: Vec::new(),
        bodies: Vec::new(),
        classes: vec![ClassSpec { name: "a".into(), weight: 1.0, expect: vec![200], requests: vec![request] }],
    };
    change(&mut spec);
    spec
}

fn session(change: impl FnOnce(&mut WebSpec)) -> WebSession {
    let workload = WebWorkload::new(&spec(change), 1, 0).unwrap();
    workload.session(Identity { client: 0, vu: 0, seed: 1 })
}

/// Begins an operation, connects when asked to, feeds the parts, then closes when `closes`.
fn exchange(session: &mut WebSession, parts: &[&[u8]], closes: bool) -> (Option<Outcome>, Actions) {
    let mut actions = Actions::NONE;
    session.begin(&mut actions);
    if actions.connect.is_some() {
        assert_eq!(session.advance(Event::Connected, &mut actions), Progress::Pending);
    }
    let events = parts.iter().map(|part| Event::Received(part)).chain(closes.then_some(Event::Closed));
    for event in events {
        actions.clear();
        if let Progress::Done(outcome) = session.advance(event, &mut actions) {
            return (Some(outcome), actions);
        }
    }
    (None, actions)
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn a_reply_is_complete_however_it_is_cut() {
    for cut in 0..=OK.len() {
        let mut session = session(|_| ());
        let (outcome, actions) = exchange(&mut session, &[&OK[..cut], &OK[cut..]], false);
        let outcome = outcome.unwrap_or_else(|| panic!("no outcome when cut at {cut}"));
        assert_eq!((outcome.error, outcome.status, outcome.bytes_in), (None, 200, OK.len() as u64));
        assert!(!actions.close);
    }
}

#[test]
fn a_kept_connection_is_used_again_and_a_closed_one_is_not() {
    let mut session = session(|_| ());
    exchange(&mut session, &[OK], false);
    let mut actions = Actions::NONE;
    session.begin(&mut actions);
    assert_eq!((actions.connect, actions.send), (None, true));
    session.advance(Event::Received(OK), &mut Actions::NONE.clone());
    session.advance(Event::Closed, &mut Actions::NONE.clone());
    actions.clear();
    session.begin(&mut actions);
    assert_eq!(actions.connect, Some(0));
}

#[test]
fn the_request_on_the_wire_says_what_the_settings_say() {
    let wire = |change: fn(&mut WebSpec)| {
        let mut session = session(change);
        session.begin(&mut Actions::NONE.clone());
        String::from_utf8(session.outgoing().to_vec()).unwrap()
    };
    assert_eq!(wire(|_| ()), "GET /a HTTP/1.1\r\nHost: example.test:8080\r\n\r\n");
    assert!(wire(|spec| spec.keep_alive = false).contains("Connection: close\r\n"));
    assert!(wire(|spec| spec.http = "1.0".into()).contains("HTTP/1.0\r\n"));
    assert!(wire(|spec| spec.http = "1.0".into()).contains("Connection: keep-alive\r\n"));
}

#[test]
fn any_method_is_asked_with_and_what_it_carries_has_its_length_and_type() {
    let asked = |method: &'static str, body: Option<&'static str>, kind: Option<&'static str>| {
        let mut session = session(|spec| {
            let request = &mut spec.classes[0].requests[0];
            (request.method, request.content_type) = (method.into(), kind.map(str::to_owned));
            request.body = body.map(|_| 0);
            spec.bodies.extend(body.map(str::to_owned));
        });
        session.begin(&mut Actions::NONE.clone());
        String::from_utf8(session.outgoing().to_vec()).unwrap()
    };
    let head = |method: &str| format!("{method} /a HTTP/1.1\r\nHost: example.test:8080\r\n");
    assert_eq!(asked("DELETE", None, None), head("DELETE") + "\r\n");
    assert_eq!(asked("POST", None, None), head("POST") + "Content-Length: 0\r\n\r\n");
    let whole = head("POST") + "Content-Type: a/b\r\nContent-Length: 3\r\n\r\nk=v";
    assert_eq!(asked("POST", Some("6b3d76"), Some("a/b")), whole);
    assert_eq!(asked("purge-x", None, None), head("purge-x") + "\r\n");
}

#[test]
fn requests_that_cannot_be_made_are_refused() {
    let refused = |change: fn(&mut WebSpec)| WebWorkload::new(&spec(change), 1, 0).unwrap_err().to_string();
    for method in ["", "CONNECT", "GE T", "G\r\nX: y", "G:"] {
        let made = WebWorkload::new(&spec(|spec| spec.classes[0].requests[0].method = method.into()), 1, 0);
        assert!(made.is_err(), "{method}");
    }
    assert!(refused(|spec| spec.classes[0].requests[0].body = Some(0)).contains("no body 0"));
    assert!(refused(|spec| spec.bodies.push("6".into())).contains("hexadecimal"));
    assert!(refused(|spec| spec.bodies.push("zz".into())).contains("hexadecimal"));
    assert!(refused(|spec| spec.bodies.push("é".into())).contains("hexadecimal"));
    let injected = |spec: &mut WebSpec| spec.classes[0].requests[0].content_type = Some("a\r\nX: y".into());
    assert!(refused(injected).contains("not valid"));
    for http in ["2", "3"] {
        let with_body = |spec: &mut WebSpec| {
            (spec.http, spec.scheme) = (http.into(), "https".into());
            let request = &mut spec.classes[0].requests[0];
            (request.method, request.body) = ("POST".into(), Some(0));
            spec.bodies.push("6b".into());
        };
        assert!(WebWorkload::new(&spec(with_body), 1, 0).unwrap_err().to_string().contains("HTTP/1"));
    }
}

#[test]
fn what_may_not_be_done_twice_is_not_asked_again() {
    for (method, again) in [("PUT", true), ("DELETE", true), ("POST", false), ("PATCH", false), ("purge", false)] {
        let mut session = session(|spec| spec.classes[0].requests[0].method = method.into());
        exchange(&mut session, &[OK], false);
        let mut actions = Actions::NONE;
        session.begin(&mut actions);
        assert_eq!(session.ask_again(&mut actions), again, "{method}");
    }
}

#[test]
fn an_operation_ends_with_its_reply_and_an_announced_close_is_left_to_the_server() {
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
    for keep_alive in [false, true] {
        let mut session = session(|spec| spec.keep_alive = keep_alive);
        let (outcome, actions) = exchange(&mut session, &[reply], false);
        assert_eq!(outcome.unwrap().error, None);
        assert_eq!((actions.leave, actions.close, actions.timer_ns), (true, false, None));
        let mut actions = Actions::NONE;
        session.begin(&mut actions);
        assert_eq!(actions.connect, Some(0), "the next request has a connection of its own");
    }
}

#[test]
fn a_client_that_ends_by_reset_waits_for_no_close() {
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
    let mut session = session(|spec| (spec.keep_alive, spec.close_with_reset) = (false, true));
    let (outcome, actions) = exchange(&mut session, &[reply], false);
    assert_eq!((outcome.unwrap().error, actions.leave, actions.close), (None, false, true));
}

#[test]
fn a_reply_to_head_ends_with_its_head_whatever_length_it_states() {
    for stated in ["Content-Length: 5", "Transfer-Encoding: chunked", "X-Length: none"] {
        let mut session = session(|spec| spec.classes[0].requests[0].method = "HEAD".into());
        let head = format!("HTTP/1.1 200 OK\r\n{stated}\r\n\r\n");
        let (outcome, actions) = exchange(&mut session, &[head.as_bytes()], false);
        let outcome = outcome.expect("no body follows");
        assert_eq!((outcome.error, outcome.bytes_in, actions.close), (None, head.len() as u64, false));
        let with_body = format!("{head}hello");
        let (outcome, actions) = exchange(&mut session, &[with_body.as_bytes()], false);
        assert_eq!((outcome.unwrap().error, actions.close), (Some(ErrorClass::Protocol), true));
    }
}

#[test]
fn a_reply_whose_end_is_the_close_ends_with_it() {
    let mut session = session(|spec| spec.keep_alive = false);
    let reply = b"HTTP/1.0 200 OK\r\n\r\nhello";
    assert_eq!(exchange(&mut session, &[reply], false).0, None);
    let mut actions = Actions::NONE;
    let Progress::Done(outcome) = session.advance(Event::Closed, &mut actions) else { panic!("not done") };
    assert_eq!((outcome.error, actions.close, actions.leave), (None, true, false));
}

#[test]
fn a_reset_before_the_end_of_the_reply_is_an_error() {
    let mut session = session(|spec| spec.keep_alive = false);
    exchange(&mut session, &[&OK[..OK.len() - 1]], false);
    assert_eq!(session.fail(ErrorClass::ResetAfterFirstByte).error, Some(ErrorClass::ResetAfterFirstByte));
}

#[test]
fn a_request_that_did_not_reach_the_server_is_asked_again_once_within_the_operation() {
    let mut session = session(|_| ());
    let mut actions = Actions::NONE;
    session.begin(&mut actions);
    assert!(!session.ask_again(&mut actions), "a new connection is not tried again");
    session.advance(Event::Connected, &mut actions);
    session.advance(Event::Received(OK), &mut actions);
    actions.clear();
    session.begin(&mut actions);
    assert_eq!(actions.connect, None);
    assert!(session.ask_again(&mut actions));
    assert_eq!((actions.close, actions.connect, actions.send), (true, Some(0), true));
    assert!(!session.ask_again(&mut actions), "once");
    let Progress::Done(outcome) = session.advance(Event::Closed, &mut actions) else { panic!("not done") };
    assert_eq!(outcome.error, Some(ErrorClass::ClosedEarly));
}

#[test]
fn a_request_that_reached_the_server_and_was_not_answered_is_an_error() {
    let mut session = session(|_| ());
    exchange(&mut session, &[OK], false);
    let (outcome, _) = exchange(&mut session, &[], true);
    assert_eq!(outcome.unwrap().error, Some(ErrorClass::ClosedEarly));
}

#[test]
fn what_nobody_asked_for_is_counted_and_its_connection_given_up() {
    let counted = |unasked: &[u8]| {
        let workload = WebWorkload::new(&spec(|_| ()), 1, 0).unwrap();
        let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
        exchange(&mut session, &[OK], false);
        let mut actions = Actions::NONE;
        assert_eq!(session.advance(Event::Received(unasked), &mut actions), Progress::Pending);
        assert!(actions.close);
        workload.figures([session].iter())["unsolicited"].as_u64().unwrap()
    };
    assert_eq!((counted(OK), counted(b"x")), (1, 1));
    assert_eq!(
        counted(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"),
        0,
        "that is how servers end idle ones"
    );
}

#[test]
fn each_way_to_break_a_reply_has_its_class() {
    let cases: &[(&[u8], bool, ErrorClass)] = &[
        (b"", true, ErrorClass::ClosedEarly),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", true, ErrorClass::ShortBody),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!", false, ErrorClass::Protocol),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell", false, ErrorClass::WrongContent),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, ErrorClass::WrongStatus),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", true, ErrorClass::ShortBody),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false, ErrorClass::Protocol),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n", false, ErrorClass::Protocol),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 garbage\0", false, ErrorClass::Protocol),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n", false, ErrorClass::Protocol),
        (b"220 ready\r\n", false, ErrorClass::Protocol),
        (b"HTTP/1.1 200 OK\r\nConte", true, ErrorClass::Protocol),
    ];
    for (reply, closes, class) in cases {
        let parts: &[&[u8]] = if reply.is_empty() { &[] } else { &[reply] };
        let (outcome, actions) = exchange(&mut session(|_| ()), parts, *closes);
        let outcome = outcome.unwrap_or_else(|| panic!("no outcome for {class:?}"));
        assert_eq!(outcome.error, Some(*class));
        assert!(actions.close || matches!(class, ErrorClass::WrongContent | ErrorClass::WrongStatus));
    }
}

#[test]
fn an_expected_404_is_a_success() {
    let mut session = session(|spec| {
        spec.classes[0].expect = vec![404];
        spec.classes[0].requests[0].length = None;
    });
    let (outcome, _) = exchange(&mut session, &[b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"], false);
    assert_eq!(outcome.unwrap().error, None);
}

#[test]
fn read_to_end_and_chunked_bodies_have_their_length_checked_too() {
    let to_end: &[&[u8]] = &[b"HTTP/1.0 200 OK\r\n\r\n", b"hel", b"lo"];
    assert_eq!(exchange(&mut session(|_| ()), to_end, true).0.unwrap().error, None);
    let short: &[&[u8]] = &[b"HTTP/1.0 200 OK\r\n\r\n", b"hel"];
    assert_eq!(exchange(&mut session(|_| ()), short, true).0.unwrap().error, Some(ErrorClass::WrongContent));
    let chunked: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", b"llo\r\n0\r\n\r\n"];
    assert_eq!(exchange(&mut session(|_| ()), chunked, false).0.unwrap().error, None);
}

#[test]
fn interim_replies_are_passed_over() {
    let parts: &[&[u8]] = &[b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", OK];
    assert_eq!(exchange(&mut session(|_| ()), parts, false).0.unwrap().status, 200);
}

fn of_hello(spec: &mut WebSpec) {
    spec.check_every = 100;
    spec.classes[0].requests[0].sha256 = Some(to_hex(&Sha256::digest(b"hello")));
}

const JELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\njello";

#[test]
fn where_replies_are_few_every_changed_byte_is_caught() {
    let mut session = session(of_hello);
    for iteration in 0..999 {
        let reply = if iteration % 3 == 0 { JELLO } else { OK };
        let error = exchange(&mut session, &[reply], false).0.unwrap().error;
        assert_eq!(error, (iteration % 3 == 0).then_some(ErrorClass::WrongContent), "reply {iteration}");
    }
}

/// Right for a thousand replies and for every hundredth: what is drawn by a secret finds it all the same.
#[test]
fn later_bodies_are_drawn_by_the_secret_of_the_trial() {
    let caught = |secret: u64| {
        let workload = WebWorkload::new(&spec(of_hello), 1, secret).unwrap();
        let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
        (0..1_000).for_each(|_| assert_eq!(exchange(&mut session, &[OK], false).0.unwrap().error, None));
        let iterations = (0..20_000).filter(|iteration| {
            let reply = if iteration % 100 == 0 { OK } else { JELLO };
            exchange(&mut session, &[reply], false).0.unwrap().error.is_some()
        });
        iterations.collect::<Vec<_>>()
    };
    let (one, other) = (caught(0x5eed), caught(0xfeed));
    assert!((130..280).contains(&one.len()), "one in a hundred of 20,000, not {}", one.len());
    assert_eq!(one, caught(0x5eed));
    assert_ne!(one, other);
}

#[test]
fn no_body_is_hashed_where_none_is_to_be() {
    let mut session = session(|spec| {
        of_hello(spec);
        spec.check_every = 0;
    });
    assert!((0..100).all(|_| exchange(&mut session, &[JELLO], false).0.unwrap().error.is_none()));
}

/// What a check has learnt is held by every reply, whatever its class takes.
#[test]
fn status_length_and_type_that_were_learnt_are_held() {
    let learnt = |reply: &[u8]| {
        let mut session = session(|spec| {
            spec.classes[0].expect = (200..300).collect();
            let request = &mut spec.classes[0].requests[0];
            request.length = None;
            let (least_bytes, most_bytes) = (Some(4), Some(6));
            let content_type = Some("text/html".into());
            request.reply = Some(ReplySpec { status: 200, exact: true, least_bytes, most_bytes, content_type });
        });
        exchange(&mut session, &[reply], false).0.unwrap().error
    };
    let reply = |status: u16, kind: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
    };
    for body in ["1234", "12345", "123456"] {
        assert_eq!(learnt(&reply(200, "Text/HTML;charset=utf-8", body)), None);
    }
    assert_eq!(learnt(&reply(200, "text/html", "123")), Some(ErrorClass::WrongContent));
    assert_eq!(learnt(&reply(200, "text/html", "1234567")), Some(ErrorClass::WrongContent));
    assert_eq!(learnt(&reply(200, "text/plain", "12345")), Some(ErrorClass::WrongContent));
    for status in [203, 206] {
        assert_eq!(learnt(&reply(status, "text/html", "12345")), Some(ErrorClass::WrongStatus));
    }
    assert_eq!(learnt(b"HTTP/1.1 204 No Content\r\n\r\n"), Some(ErrorClass::WrongStatus));
}

#[test]
fn a_trial_that_learns_tells_what_replies_were() {
    let workload =
        WebWorkload::new(&spec(|spec| (spec.learn, spec.classes[0].requests[0].length) = (true, None)), 1, 0);
    let workload = workload.unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    for kind in ["", "Content-Type: a/b\r\n"] {
        let reply = format!("HTTP/1.1 200 OK\r\n{kind}Content-Length: 5\r\n\r\nhello");
        exchange(&mut session, &[reply.as_bytes()], false);
    }
    let sha256 = to_hex(&Sha256::digest(b"hello"));
    let one = |kind: &str| serde_json::json!({"status": 200, "length": 5, "sha256": sha256, "content_type": kind});
    assert_eq!(workload.figures([session].iter())["learnt"], serde_json::json!({"0": [one(""), one("a/b")]}));
}

#[test]
fn interim_heads_without_end_break_the_connection() {
    let interim: &[u8] = b"HTTP/1.1 102 Processing\r\n\r\n";
    let mut few = vec![interim; 32];
    few.push(OK);
    assert_eq!(exchange(&mut session(|_| ()), &few, false).0.unwrap().error, None);
    let together = interim.repeat(33);
    for parts in [&vec![interim; 33][..], &[&together[..]]] {
        let (outcome, actions) = exchange(&mut session(|_| ()), parts, false);
        assert_eq!((outcome.unwrap().error, actions.close), (Some(ErrorClass::Protocol), true));
    }
}

#[test]
fn the_rest_of_a_long_body_is_discarded_unless_it_is_hashed() {
    let mut session = session(|spec| spec.classes[0].requests[0].length = Some(1_000));
    let (outcome, actions) = exchange(&mut session, &[b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc"], false);
    assert_eq!((outcome, actions.discard_bytes), (None, 997));
    let mut actions = Actions::NONE;
    assert_eq!(session.advance(Event::Discarded(900), &mut actions), Progress::Pending);
    assert_eq!(actions.discard_bytes, 97);
    let Progress::Done(outcome) = session.advance(Event::Discarded(97), &mut actions) else { panic!("not done") };
    assert_eq!(outcome.error, None);
}

#[test]
fn two_sessions_of_one_seed_ask_for_the_same_and_two_clients_do_not() {
    let many = |spec: &mut WebSpec| {
        let request = spec.classes[0].requests[0].clone();
        spec.classes[0].requests = (0..50).map(|n| RequestSpec { path: format!("/{n}"), ..request.clone() }).collect();
    };
    let paths = |client| {
        let workload = WebWorkload::new(&spec(many), 1, 0).unwrap();
        let mut session = workload.session(Identity { client, vu: 0, seed: 9 });
        (0..20)
            .map(|_| {
                session.begin(&mut Actions::NONE.clone());
                session.outgoing().to_vec()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(0), paths(0));
    assert_ne!(paths(0), paths(1));
}

#[test]
fn bad_specifications_are_refused_in_words() {
    for (change, word) in [
        (Box::new(|spec: &mut WebSpec| spec.classes.clear()) as Box<dyn FnOnce(&mut WebSpec)>, "classes"),
        (Box::new(|spec: &mut WebSpec| spec.http = "9".into()), "1.0, 1.1, 2 or 3"),
        (Box::new(|spec: &mut WebSpec| (spec.http, spec.keep_alive) = ("2".into(), false)), "keep_alive"),
        (Box::new(|spec: &mut WebSpec| (spec.http, spec.host) = ("2".into(), "~".repeat(20_000))), "16 KiB"),
        (Box::new(|spec: &mut WebSpec| spec.addresses.clear()), "address"),
        (Box::new(|spec: &mut WebSpec| spec.classes[0].requests[0].path = "/a b".into()), "percent-encoded"),
        (Box::new(|spec: &mut WebSpec| spec.classes[0].requests[0].path = "/\r\nX: y".into()), "percent-encoded"),
        (Box::new(|spec: &mut WebSpec| spec.classes[0].requests[0].method = "CONNECT".into()), "CONNECT"),
        (Box::new(|spec: &mut WebSpec| spec.headers.push(("A".into(), "b\r\nC: d".into()))), "header"),
        (Box::new(|spec: &mut WebSpec| spec.classes[0].requests[0].sha256 = Some("é".repeat(32))), "SHA-256"),
    ] {
        let error = WebWorkload::new(&spec(change), 1, 0).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// Random bytes, biased towards the grammar, in random cuts: the session never panics, never keeps more than
/// its bounds, and always ends in a known state.
#[test]
fn hostile_bytes_never_panic() {
    let words: [&[u8]; 14] = [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.0 ",
        b"\r\n",
        b"\r\n\r\n",
        b"Content-Length: ",
        b"5",
        b"18446744073709551615",
        b"Transfer-Encoding: chunked\r\n",
        b"0\r\n\r\n",
        b"ffffffffffffffff\r\n",
        b"Connection: close\r\n",
        b"\0",
        b"hello",
        b"\n",
    ];
    let mut rng = Rng::for_thread(42, 0, 0);
    for _ in 0..20_000 {
        let mut session = session(|spec| spec.check_every = 1);
        let mut actions = Actions::NONE;
        session.begin(&mut actions);
        session.advance(Event::Connected, &mut actions);
        for _ in 0..rng.below(12) {
            let mut bytes = Vec::new();
            for _ in 0..rng.below(6) {
                match rng.below(4) {
                    0 => bytes.push(rng.next_u64() as u8),
                    _ => bytes.extend_from_slice(words[rng.below(words.len() as u64) as usize]),
                }
            }
            actions.clear();
            let event = if bytes.is_empty() { Event::Closed } else { Event::Received(&bytes) };
            if let Progress::Done(_) = session.advance(event, &mut actions) {
                actions.clear();
                session.begin(&mut actions);
            } else if actions.discard_bytes > 0 && rng.below(2) == 0 {
                let part = rng.below(actions.discard_bytes) + 1;
                session.advance(Event::Discarded(part), &mut Actions::NONE.clone());
            }
        }
    }
}

#[test]
fn a_request_that_fails_is_told_with_how_often_it_succeeded() {
    let workload = WebWorkload::new(
        &spec(|spec| {
            let mut other = spec.classes[0].requests[0].clone();
            other.path = "/b".into();
            spec.classes[0].requests.push(other);
        }),
        1,
        0,
    )
    .unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    let (mut actions, mut asked) = (Actions::NONE, [0_u64; 2]);
    for round in 0..60 {
        actions.clear();
        session.begin(&mut actions);
        if actions.connect.is_some() {
            session.advance(Event::Connected, &mut actions);
        }
        // The one never succeeds, the other fails once.
        let is_other = session.outgoing().starts_with(b"GET /b");
        asked[usize::from(is_other)] += 1;
        let fails = is_other || (asked[0] == 1 && round < 30);
        let reply: &[u8] = if fails { b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" } else { OK };
        let Progress::Done(outcome) = session.advance(Event::Received(reply), &mut actions) else { panic!("cut") };
        session.finished(&outcome, &bakeoff_engine::Stamps::default());
    }
    assert!(asked.iter().all(|count| *count > 1));
    let told = workload.figures(std::iter::empty());
    assert_eq!(told["failed"]["requests"], serde_json::json!({"GET /a": {"500": 1}, "GET /b": {"500": asked[1]}}));
    assert_eq!(told["failed"]["answered"], serde_json::json!({"GET /a": asked[0] - 1, "GET /b": 0}));
    // Of two machines only one saw it fail: how often it succeeded is not known.
    let other = serde_json::json!({"failed": {"requests": {}, "answered": {}, "others": 0}});
    let both = workload.merged(&[&told, &other]).unwrap();
    assert_eq!(both["failed"]["answered"].as_object().unwrap().len(), 0);
    assert_eq!(both["failed"]["requests"], told["failed"]["requests"]);
}
