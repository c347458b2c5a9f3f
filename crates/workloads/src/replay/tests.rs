use super::*;
use bakeoff_engine::{Actions, ErrorClass, Event, Outcome, Progress, Session, Stage, Stamps, Timeline};
use serde_json::{Value, json};

const LOG: &str = r#"h - - [10/Oct/2000:13:55:36 -0700] "GET /a?q HTTP/1.1" 200 5
h - - [10/Oct/2000:13:55:36 -0700] "HEAD /b HTTP/1.1" 304 5
h - - [10/Oct/2000:13:55:37 -0700] "POST /form HTTP/1.1" 201 5
v.test:80 h - - [10/Oct/2000:13:55:37 -0700] "GET /b HTTP/1.1" 404 5
"#;

fn trace(keep_hosts: bool) -> Vec<u8> {
    let body = GivenBody {
        method: "POST".to_owned(),
        path: "/form".to_owned(),
        content_type: "text/plain".to_owned(),
        bytes: b"hello".to_vec(),
    };
    let mut reader = LogReader::new(vec![body], keep_hosts);
    reader.feed(LOG.as_bytes()).unwrap();
    reader.finish().unwrap().0
}

fn spec(trace: &[u8]) -> Value {
    let request = |method: &str| json!({"name": method, "weight": 1, "requests": [{"method": method, "path": "/"}]});
    json!({
        "kind": "replay",
        "web": {
            "kind": "web", "scheme": "http", "host": "127.0.0.1:80", "addresses": ["127.0.0.1:80"], "keep_alive": true,
            "headers": [["User-Agent", "t"]], "classes": [request("GET"), request("HEAD")],
        },
        "prefix": "/site", "trace": "log.trace", "sha256": to_hex(&Sha256::digest(trace)),
        "spread": "even", "loops": true, "statuses": "log",
    })
}

fn workload_of(workload: &Value, bytes: &[u8], per_s: f64, length_s: f64) -> Result<ReplayWorkload, SpecError> {
    ramped(workload, bytes, per_s, length_s, 0.0)
}

fn ramped(workload: &Value, bytes: &[u8], per_s: f64, length_s: f64, ramp_s: f64) -> Result<ReplayWorkload, SpecError> {
    let trial = json!({
        "workload": workload, "length_s": length_s, "ramp_up_s": ramp_s, "ramp_down_s": ramp_s,
        "load": {"rate": {"per_s": per_s, "arrivals": {"shape": "replay", "at_s": []}, "most_connections": 9}},
    });
    let trial = TrialSpec::from_json(&trial.to_string())?;
    ReplayWorkload::from_spec(&trial, |path, _| {
        assert_eq!(path, "log.trace");
        Ok(bytes.to_vec())
    })
}

fn workload() -> ReplayWorkload {
    let bytes = trace(false);
    workload_of(&spec(&bytes), &bytes, 4.0, 2.0).unwrap()
}

/// One start, answered by `reply`: what was sent, and how it ended.
fn answered(session: &mut ReplaySession, start: u64, reply: &[u8]) -> (String, Outcome) {
    let mut actions = Actions::default();
    session.assigned(start);
    session.begin(&mut actions);
    let sent = String::from_utf8(session.outgoing().to_vec()).unwrap();
    if actions.connect.is_some() {
        assert_eq!(session.advance(Event::Connected, &mut actions), Progress::Pending);
    }
    match session.advance(Event::Received(reply), &mut actions) {
        Progress::Done(outcome) => {
            session.finished(&outcome, &Stamps { end_ns: 1_000 * (start + 1), ..Stamps::default() });
            (sent, outcome)
        }
        Progress::Pending | Progress::Part(_) => panic!("no end after {reply:?}"),
    }
}

fn reply(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn the_moments_are_those_of_the_log_at_the_speed_of_the_rate() {
    let millis = |workload: &ReplayWorkload| -> Vec<u64> {
        workload.moments().unwrap().iter().map(|at| at / 1_000_000).collect()
    };
    assert_eq!(millis(&workload()), [0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750]);
    let bytes = trace(false);
    let once = json!({"loops": false});
    let mut spec = spec(&bytes);
    spec["loops"] = once["loops"].clone();
    assert_eq!(millis(&workload_of(&spec, &bytes, 2.0, 9.0).unwrap()), [0, 500, 1_000, 1_500]);
}

#[test]
fn each_start_asks_what_its_line_asks() {
    let workload = workload();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    let head = "HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: t\r\n";
    let (sent, outcome) = answered(&mut session, 0, &reply(200, "x"));
    assert_eq!(sent, format!("GET /site/a?q {head}\r\n"));
    assert_eq!((outcome.error, outcome.status, outcome.bytes_out), (None, 200, sent.len() as u64));
    let (sent, outcome) = answered(&mut session, 1, b"HTTP/1.1 200 X\r\nContent-Length: 99\r\n\r\n");
    assert_eq!((sent, outcome.error), (format!("HEAD /site/b {head}\r\n"), None));
    let (sent, outcome) = answered(&mut session, 2, &reply(201, ""));
    assert_eq!(sent, format!("POST /site/form {head}Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"));
    assert_eq!(outcome.error, None);
    // The log begins again.
    assert!(answered(&mut session, 4, &reply(200, "x")).0.starts_with("GET /site/a?q "));
}

#[test]
fn a_status_that_does_not_fit_the_line_is_an_error_and_is_told() {
    let workload = workload();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    assert_eq!(answered(&mut session, 3, &reply(200, "x")).1.error, Some(ErrorClass::WrongStatus));
    assert_eq!(answered(&mut session, 7, &reply(404, "x")).1.error, None);
    let rows = &workload.figures([&session].into_iter())["paths"]["rows"];
    let row = rows.as_array().unwrap().iter().find(|row| row["path"] == "GET /b").unwrap();
    assert_eq!((&row["asked"], &row["answered"], &row["other_status"]), (&json!(2), &json!(1), &json!(1)));
    assert_eq!(row["statuses"], json!({"200": 1, "404": 1}));
    assert_eq!(
        (&row["logged_status"], &row["got_status"], &row["p99_ns"]),
        (&json!(404), &json!(200), &json!(8_000.0))
    );

    let bytes = trace(false);
    let mut any = spec(&bytes);
    any["statuses"] = json!("any");
    let workload = workload_of(&any, &bytes, 4.0, 2.0).unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    assert_eq!(answered(&mut session, 3, &reply(200, "x")).1.error, None);
    let rows = &workload.figures([&session].into_iter())["paths"]["rows"];
    assert_eq!(rows.as_array().unwrap().iter().map(|row| row["other_status"].as_u64().unwrap()).sum::<u64>(), 1);
}

#[test]
fn what_ends_outside_of_the_window_is_in_no_row() {
    let bytes = trace(false);
    let workload = ramped(&spec(&bytes), &bytes, 4.0, 2.0, 0.5).unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    let half_ns = 500_000_000;
    session.enter(Stage::Measure, &Timeline::new(0, half_ns, 4 * half_ns, half_ns));
    answered(&mut session, 0, &reply(200, "x"));
    let rows = &workload.figures([&session].into_iter())["paths"]["rows"];
    let of = |name: &str| rows.as_array().unwrap().iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((of("asked"), of("answered"), of("in_log")), (4, 0, 4));
}

#[test]
fn hosts_are_the_given_one_or_the_lines_own() {
    let bytes = trace(true);
    let mut given = spec(&bytes);
    given["web"]["host"] = json!("www.test");
    let workload = workload_of(&given, &bytes, 4.0, 2.0).unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    assert!(answered(&mut session, 0, &reply(200, "")).0.contains("\r\nHost: www.test\r\n"));
    assert!(answered(&mut session, 3, &reply(404, "")).0.contains("\r\nHost: v.test\r\n"));
}

#[test]
fn a_request_with_a_body_is_not_asked_again() {
    let workload = workload();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    answered(&mut session, 0, &reply(200, "x"));
    let mut again = |start| {
        session.assigned(start);
        session.begin(&mut Actions::default());
        session.ask_again(&mut Actions::default())
    };
    assert!(!again(2));
    assert!(again(0));
}

#[test]
fn what_is_not_the_log_of_the_plan_is_refused() {
    let bytes = trace(false);
    let refusal = |spec: &Value, bytes: &[u8], per_s, length_s| {
        workload_of(spec, bytes, per_s, length_s).expect_err("a refusal").to_string()
    };
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    assert!(refusal(&spec(&bytes), &other, 4.0, 2.0).contains("is not the one that the plan names"));
    assert!(refusal(&spec(b"x"), b"x", 4.0, 2.0).contains("is no trace"));
    assert!(refusal(&spec(&bytes), &bytes, 1e6, 60.0).contains("more than 20000000 requests"));
    let mut bad = spec(&bytes);
    bad["prefix"] = json!("site\r\n");
    assert!(refusal(&bad, &bytes, 4.0, 2.0).contains("prefix"));
}

/// What is known of the reply to a request of the log is held, to its status, its length and its bytes; others are not.
#[test]
fn replies_that_were_learnt_are_held() {
    let bytes = trace(false);
    let mut spec = spec(&bytes);
    let known = json!({
        "method": "GET", "path": "/site/a?q", "length": 5, "sha256": to_hex(&Sha256::digest(b"hello")),
        "reply": {"status": 200, "exact": true},
    });
    spec["web"]["check_every"] = json!(1);
    spec["web"]["classes"].as_array_mut().unwrap().push(json!({"name": "learnt", "weight": 1, "requests": [known]}));
    assert!(workload_of(&spec, &bytes, 4.0, 2.0).is_err(), "a request that nothing was learnt of");
    spec["learnt"] = json!([{"method": "GET", "host": null, "path": "/a?q"}]);
    let workload = workload_of(&spec, &bytes, 4.0, 2.0).unwrap();
    let mut session = workload.session(Identity { client: 0, vu: 0, seed: 1 });
    for (start, reply, error) in [
        (0, reply(200, "hello"), None),
        (0, reply(200, "jello"), Some(ErrorClass::WrongContent)),
        (0, reply(200, "hell"), Some(ErrorClass::WrongContent)),
        (0, reply(206, "hello"), Some(ErrorClass::WrongStatus)),
        (3, reply(404, "anything"), None),
    ] {
        let (sent, outcome) = answered(&mut session, start, &reply);
        assert_eq!(outcome.error, error, "{sent}");
    }
    assert_eq!(workload.figures([session].iter())["bodies_hashed"], json!(2));
}
