//! Sessions against scripted replies: no socket.

use super::{ClientSession, SessionSpec, SessionWorkload};
use bakeoff_engine::{
    Actions, ErrorClass, Event, Identity, Outcome, Progress, Rng, Session, SpecError, Stamps, Workload,
};
use serde_json::{Value, json};

/// A page with a token, a form that wants it, and the page behind.
fn shop(change: impl FnOnce(&mut Value)) -> SessionWorkload {
    made(change).unwrap()
}

fn made(change: impl FnOnce(&mut Value)) -> Result<SessionWorkload, SpecError> {
    let class = |name: &str, method: &str, expect: u16| {
        let request = json!({"method": method, "path": "/"});
        json!({"name": name, "weight": 1, "expect": [expect], "requests": [request]})
    };
    let step = |name: &str, path: &str, take: Value| json!({"name": name, "path": path, "headers": [], "body": null, "texts": [], "take": take, "think_s": 0});
    let mut spec = json!({
        "kind": "web-session",
        "web": {
            "kind": "web", "scheme": "http", "host": "h:1", "addresses": ["127.0.0.1:1"], "keep_alive": true,
            "classes": [class("page", "GET", 200), class("login", "POST", 302), class("inside", "GET", 200)],
        },
        "prefix": "/app", "keep_cookies": "session", "cookies": [["theme", "dark"]],
        "steps": [
            step("page", "/login?c={client}", json!([{"name": "csrf", "way": "between", "what": ["v='", "'"]}])),
            step("login", "/login", json!([{"name": "next", "way": "header", "what": ["Location"]}])),
            step("inside", "{next:none}", json!([])),
        ],
    });
    // t={csrf:url}
    spec["steps"][1]["body"] = json!({"content": "743d7b637372663a75726c7d", "fill": true});
    spec["steps"][1]["headers"] = json!([["X-Token", "{csrf}"]]);
    spec["steps"][2]["texts"] = json!(["Welcome"]);
    change(&mut spec);
    SessionWorkload::new(&serde_json::from_value::<SessionSpec>(spec).unwrap(), 0)
}

fn client(workload: &SessionWorkload) -> ClientSession {
    workload.session(Identity { client: 6, vu: 0, seed: 1 })
}

fn reply(status: u16, fields: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len()).into_bytes()
}

fn good() -> [Vec<u8>; 3] {
    [
        reply(200, "Set-Cookie: sid=1; Path=/\r\n", "<input v='a b' >"),
        reply(302, "Location: http://h:1/in?x=1\r\n", ""),
        reply(200, "", "Welcome!"),
    ]
}

/// Requests of one session as they were sent, and its end, when it came to one.
fn run(session: &mut ClientSession, replies: &[Vec<u8>]) -> (Vec<String>, Option<Outcome>) {
    let (mut actions, mut sent) = (Actions::NONE, Vec::new());
    session.begin(&mut actions);
    for reply in replies {
        if actions.send {
            sent.push(String::from_utf8_lossy(session.outgoing()).into_owned());
        }
        if actions.connect.is_some() {
            assert_eq!(session.advance(Event::Connected, &mut actions), Progress::Pending);
        }
        actions.clear();
        let mut progress = session.advance(Event::Received(reply), &mut actions);
        if let Progress::Part(_) = progress {
            progress = session.go_on(&mut actions);
        }
        if let Progress::Pending = progress
            && actions.timer_ns.is_some()
        {
            actions.clear();
            progress = session.advance(Event::Timer, &mut actions);
        }
        if let Progress::Done(outcome) = progress {
            session.finished(&outcome, &Stamps::default());
            return (sent, Some(outcome));
        }
    }
    (sent, None)
}

#[test]
fn values_and_cookies_of_replies_go_into_later_requests() {
    let workload = shop(|_| ());
    let mut session = client(&workload);
    for _ in 0..2 {
        let (sent, outcome) = run(&mut session, &good());
        let outcome = outcome.unwrap();
        assert_eq!((outcome.error, outcome.status, outcome.operation), (None, 200, 0));
        assert_eq!(outcome.bytes_in, good().iter().map(|reply| reply.len() as u64).sum::<u64>());
        assert_eq!(outcome.bytes_out, sent.iter().map(|request| request.len() as u64).sum::<u64>());
        assert_eq!(sent[0], "GET /app/login?c=7 HTTP/1.1\r\nHost: h:1\r\nCookie: theme=dark\r\n\r\n");
        let head = "POST /app/login HTTP/1.1\r\nHost: h:1\r\nX-Token: a b\r\nCookie: theme=dark; sid=1\r\n";
        assert_eq!(sent[1], format!("{head}Content-Length: 7\r\n\r\nt=a%20b"));
        assert!(sent[2].starts_with("GET /in?x=1 HTTP/1.1\r\n"), "a value that begins a path has no prefix");
    }
    assert_eq!(workload.steps(), ["session/page", "session/login", "session/inside"]);
    assert_eq!(workload.figures(std::iter::empty())["failed"], json!({"requests": {}, "others": 0}));
}

#[test]
fn a_client_keeps_its_cookies_where_that_is_said() {
    let mut session = client(&shop(|spec| spec["keep_cookies"] = json!("client")));
    run(&mut session, &good());
    assert!(run(&mut session, &good()).0[0].contains("Cookie: theme=dark; sid=1\r\n"));
    let mut session = client(&shop(|spec| spec["keep_cookies"] = json!("off")));
    assert!(!run(&mut session, &good()).0[2].contains("Cookie"));
}

#[test]
fn a_session_breaks_at_the_step_that_failed_and_says_why() {
    let no_token = reply(200, "", "<input v=''>");
    let outer = reply(200, "", "<form>Log in</form>");
    let long = reply(200, "", &format!("v='{}'", "x".repeat(70_000)));
    let huge = reply(200, "", &"x".repeat((1 << 20) + 1));
    let odd = reply(302, "Location: next page\r\n", "");
    let [page, login, _] = good();
    for (replies, class, step, fault) in [
        (vec![no_token], ErrorClass::WrongContent, "page", "value not found: csrf"),
        (vec![long], ErrorClass::WrongContent, "page", "value too long: csrf"),
        (vec![huge], ErrorClass::WrongContent, "page", "reply too long to look at"),
        (vec![page.clone(), reply(200, "", "")], ErrorClass::WrongStatus, "login", "200"),
        (vec![page.clone(), reply(302, "", "")], ErrorClass::WrongContent, "login", "value not found: next"),
        (vec![page.clone(), odd], ErrorClass::WrongContent, "inside", "value does not fit: next"),
        (vec![page.clone(), login.clone(), outer], ErrorClass::WrongContent, "inside", "text not found"),
        (vec![page, login, b"nonsense\r\n\r\n".to_vec()], ErrorClass::Protocol, "inside", "protocol"),
    ] {
        let workload = shop(|_| ());
        let (_, outcome) = run(&mut client(&workload), &replies);
        assert_eq!(outcome.unwrap().error, Some(class), "{fault}");
        let failed = workload.figures(std::iter::empty())["failed"].clone();
        assert_eq!(failed, json!({"requests": {step: {fault: 1}}, "others": 0}));
    }
}

#[test]
fn a_pause_is_asked_for_as_a_timer_and_survives_a_close() {
    let mut session = client(&shop(|spec| spec["steps"][0]["think_s"] = json!(1.5)));
    let mut actions = Actions::NONE;
    session.begin(&mut actions);
    session.advance(Event::Connected, &mut actions);
    actions.clear();
    assert_eq!(session.advance(Event::Received(&good()[0]), &mut actions), Progress::Part(0));
    assert_eq!(session.go_on(&mut actions), Progress::Pending);
    assert_eq!((actions.timer_ns, actions.send), (Some(1_500_000_000), false));
    actions.clear();
    assert_eq!(session.advance(Event::Closed, &mut actions), Progress::Pending);
    actions.clear();
    assert_eq!(session.advance(Event::Timer, &mut actions), Progress::Pending);
    assert_eq!((actions.connect, actions.send), (Some(0), true));
}

#[test]
fn replies_in_pieces_and_chunks_are_read_alike() {
    let chunked = |body: &str| {
        let chunks =
            body.bytes().fold(String::new(), |chunks, byte| chunks + "1\r\n" + &char::from(byte).to_string() + "\r\n");
        format!("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n").into_bytes()
    };
    let [page, login, _] = good();
    for page in [page, chunked("<input v='a b' >")] {
        for cut in 1..page.len() {
            let mut session = client(&shop(|_| ()));
            let parts = [page[..cut].to_vec(), page[cut..].to_vec(), login.clone(), chunked("so Welcome")];
            let (sent, outcome) = run(&mut session, &parts);
            assert_eq!(outcome.unwrap().error, None, "cut at {cut}");
            assert!(sent[1].ends_with("t=a%20b"));
        }
    }
}

#[test]
fn what_cannot_be_a_session_is_refused_by_its_step() {
    let refused = |change: fn(&mut Value)| made(change).unwrap_err().to_string();
    assert!(refused(|spec| spec["steps"][1]["path"] = json!("/{crsf}")).contains("step login: {crsf}: no step before"));
    assert!(refused(|spec| spec["steps"][0]["path"] = json!("/{csrf}")).contains("step page"), "taken later");
    assert!(refused(|spec| spec["steps"][0]["path"] = json!("x")).contains("must begin with /"));
    assert!(refused(|spec| spec["steps"][0]["take"][0]["name"] = json!("client")).contains("number of the client"));
    assert!(refused(|spec| spec["steps"] = json!([])).contains("1 to 100 steps"));
    assert!(refused(|spec| spec["web"]["http"] = json!("2")).contains("over HTTP/1"));
    assert!(refused(|spec| spec["steps"][1]["headers"][0][1] = json!("a\r\nb")).contains("not valid"));
}

/// Whatever a server sends: no panic, bounded memory, and an end or more to come.
#[test]
fn random_replies_break_nothing() {
    let words: [&[u8]; 17] = [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 302 X\r\n",
        b"Content-Length: 9\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Set-Cookie: a=b; Path=/; Max-Age=0\r\n",
        b"Set-Cookie: ;;=\r\n",
        b"Location: http://\r\n",
        b"Location: /\xff\r\n",
        b"\r\n",
        b"v='",
        b"'",
        b"Welcome",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"\0\xff\xfe",
        b"{csrf}",
        b"HTTP/1.1 100 Continue\r\n\r\n",
    ];
    let workload = shop(|spec| {
        let json = json!({"name": "more", "way": "json", "what": ["/a/0"]});
        spec["steps"][2]["take"] = json!([json, {"name": "sid", "way": "cookie", "what": ["a"]}]);
    });
    let mut session = client(&workload);
    let mut rng = Rng::for_thread(5, 0, 0);
    let mut ends = 0;
    for _ in 0..60_000 {
        let mut replies: Vec<Vec<u8>> = good()[..rng.below(3) as usize].to_vec();
        for _ in 0..rng.below(4) {
            replies.push(
                (0..=rng.below(9)).flat_map(|_| words[rng.below(words.len() as u64) as usize].to_vec()).collect(),
            );
        }
        match run(&mut session, &replies).1 {
            Some(_) => ends += 1,
            None => drop(session.fail(ErrorClass::ReplyTimeout)),
        }
    }
    assert!(ends > 10_000, "{ends}");
}
