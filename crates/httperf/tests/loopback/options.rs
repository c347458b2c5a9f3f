//! What each option does, as the other side sees it.

use crate::common::{PATIENCE_S, Peer, Server, figure, run, seen, start};
use bakeoff_engine::TrialSpec;
use bakeoff_httperf::{HttperfSpec, PeriodSpec};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn answer(peer: &mut Peer, bytes: &[u8]) {
    while peer.request().is_some() {
        peer.reply(bytes);
    }
}

/// All requests that a trial sends to a server which answers each with these bytes, in the order of their connections.
fn requests(extra: &Value, bytes: &'static [u8]) -> (bakeoff_engine::TrialResult, Vec<Value>, Vec<Vec<String>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&told);
    let mut server = Server::new(move |mut peer| {
        let mut mine = Vec::new();
        while let Some(request) = peer.request() {
            mine.push(request);
            peer.reply(bytes);
        }
        asked.lock().unwrap().push((peer.nth, mine));
    });
    let (result, events) = run(&server.address, extra);
    server.stop();
    let mut told = std::mem::take(&mut *told.lock().unwrap());
    told.sort();
    // Who stops the server connects once, too.
    let asked = told.into_iter().map(|(_, requests)| requests).filter(|requests| !requests.is_empty());
    (result, events, asked.collect())
}

/// The addresses from which a trial's connections came.
fn peers(extra: &Value) -> Vec<SocketAddr> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let came = Arc::clone(&told);
    let mut server = Server::new(move |mut peer| {
        came.lock().unwrap().push((peer.nth, peer.stream.peer_addr().unwrap()));
        answer(&mut peer, OK);
    });
    run(&server.address, extra);
    let count = seen(&server.counts.connections) as usize;
    server.stop();
    let mut told = std::mem::take(&mut *told.lock().unwrap());
    told.sort();
    told.into_iter().map(|(_, address)| address).take(count).collect()
}

#[test]
fn every_start_of_a_period_is_made() {
    for period in [
        json!({"shape": "fixed", "period_s": 0.002}),
        json!({"shape": "uniform", "from_s": 0.0, "to_s": 0.002}),
        json!({"shape": "exponential", "mean_s": 0.001}),
        json!({"shape": "variable", "steps": [[0.001, 0.01], [0.002, 0.01]]}),
    ] {
        let (result, _, asked) = requests(&json!({"num_conns": 50, "period": period}), OK);
        assert_eq!((asked.len(), figure(&result, "/replies")), (50, 50), "{period}");
        let starts = result.starts.as_ref().unwrap();
        assert_eq!((starts.offered, starts.started), (50, 50));
        assert_eq!((figure(&result, "/starts"), figure(&result, "/starts_planned")), (50, 50));
        let call = &result.per_operation[1].measured;
        let response = &call.response.as_ref().unwrap().summary;
        assert!(response.p50_ns >= call.service.summary.p50_ns);
        // Connections end with their calls: their times beside those of calls would tell each twice.
        assert_eq!((response.count, result.measured.response.unwrap().summary.count), (50, 50));
    }
}

#[test]
fn a_rate_alone_says_when_to_start() {
    let mut server = Server::new(|mut peer| {
        while peer.request().is_some() {
            peer.reply(OK);
        }
    });
    for per_s in [100.0, 400.0] {
        let mut trial = crate::common::trial(&server.address, &json!({"num_conns": 20}));
        trial["load"] = json!({"rate": {"per_s": per_s, "most_connections": 20}});
        let trial = TrialSpec::from_json(&trial.to_string()).unwrap();
        let spec = HttperfSpec::from_trial(&trial).unwrap();
        assert_eq!(spec.period, Some(PeriodSpec::Fixed { period_s: 1.0 / per_s }));
        let handle = bakeoff_httperf::start(spec, trial).unwrap();
        handle.go(0);
        let result = handle.wait(Duration::from_secs(PATIENCE_S)).unwrap().unwrap();
        let length_s = result.workload["test_duration_s"].as_f64().unwrap();
        assert!(length_s >= 19.0 / per_s, "{length_s} s at {per_s}/s");
    }
    server.stop();
}

/// A server that takes its time to take a connection is slow, though its reply comes at once then.
#[test]
fn a_call_that_was_due_waits_for_its_connection() {
    let server = Server::new(|mut peer| {
        peer.request();
        std::thread::sleep(Duration::from_millis(20));
        peer.reply(OK);
        peer.wait_for_end();
    });
    let period = json!({"shape": "fixed", "period_s": 0.001});
    let (result, _) = run(&server.address, &json!({"num_conns": 5, "max_connections": 1, "period": period}));
    let call = &result.per_operation[1].measured;
    let response_ns = call.response.as_ref().unwrap().summary.max_ns.unwrap();
    assert!(response_ns > 4 * 20_000_000, "the last was due when four others were before it: {call:?}");
    assert!(call.service.summary.max_ns.unwrap() < response_ns, "{call:?}");
}

#[test]
fn sessions_over_http_1_0_have_a_connection_for_each_call() {
    let wsess = json!({"sessions": 3, "calls": 6, "think_s": 0});
    let (result, _, asked) =
        requests(&json!({"wsess": wsess, "burst_length": 3, "http_version": "1.0", "max_connections": 2}), OK);
    assert_eq!((figure(&result, "/connections"), figure(&result, "/replies")), (18, 18));
    assert!(asked.len() == 18 && asked.iter().all(|on_one| on_one.len() == 1));
    let calls = json!({"num_conns": 3, "num_calls": 4, "http_version": "1.0"});
    assert_eq!(requests(&calls, OK).2.len(), 3, "calls of a connection stay on it");
}

#[test]
fn a_bound_of_connections_holds_starts_up_and_loses_none() {
    // Nobody is answered before the second is there and the moments of all starts are past.
    let gate = Arc::new((Mutex::new(0), Condvar::new()));
    let server = Server::new(move |mut peer| {
        peer.request();
        let (count, changed) = &*gate;
        *count.lock().unwrap() += 1;
        changed.notify_all();
        let waiting = changed.wait_while(count.lock().unwrap(), |count| *count < 2).unwrap();
        drop(waiting);
        if peer.nth < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
        peer.reply(OK);
        peer.wait_for_end();
    });
    let extra = json!({"num_conns": 30, "max_connections": 2, "period": {"shape": "fixed", "period_s": 0.0001}});
    let (result, _) = run(&server.address, &extra);
    assert_eq!((figure(&result, "/replies"), figure(&result, "/concurrent_max")), (30, 2));
    let starts = result.starts.unwrap();
    assert_eq!((starts.late.summary.count, starts.ran_out), (28, 28), "{starts:?}");
}

#[test]
fn more_than_1024_connections_are_open_at_once() {
    const MANY: u64 = 1_500;
    let open = Arc::new(Mutex::new(Vec::new()));
    let server = Server::new(move |peer| {
        let mut open = open.lock().unwrap();
        open.push(peer);
        if open.len() as u64 == MANY {
            open.iter_mut().for_each(|peer| peer.reply(OK));
        }
    });
    let extra = json!({"num_conns": MANY, "period": {"shape": "fixed", "period_s": 0.0002}});
    let (result, _) = run(&server.address, &extra);
    assert_eq!((figure(&result, "/replies"), figure(&result, "/concurrent_max")), (MANY, MANY));
}

#[test]
fn sessions_send_their_scripts_in_turn() {
    let call = |uri: &str| json!({"uri": uri, "method": "GET", "contents": null});
    let post = json!({"uri": "/post", "method": "POST", "contents": "a=1"});
    let scripts = json!([
        {"bursts": [{"think_s": 0.001, "calls": [call("/a"), call("/b")]}, {"think_s": 0, "calls": [post]}]},
        {"bursts": [{"think_s": 0, "calls": [call("/c")]}]},
    ]);
    let (result, _, asked) = requests(&json!({"wsesslog": {"sessions": 3, "scripts": scripts}}), OK);
    let lines: Vec<Vec<_>> = asked.iter().map(|all| all.iter().map(|r| r.lines().next().unwrap()).collect()).collect();
    let first = vec!["GET /a HTTP/1.1", "GET /b HTTP/1.1", "POST /post HTTP/1.1"];
    assert_eq!(lines, [first.clone(), vec!["GET /c HTTP/1.1"], first]);
    assert!(asked[0][2].ends_with("Content-length: 3\r\n\r\na=1"), "{}", asked[0][2]);
    assert_eq!(result.workload["sessions"]["lengths"], json!([0, 1, 0, 2]));
}

#[test]
fn a_session_sends_its_cookie_back_and_no_other_s() {
    const WITH: &[u8] = b"HTTP/1.1 200 OK\r\nSet-Cookie: id=7; Path=/\r\nContent-Length: 0\r\n\r\n";
    let extra = json!({"wsess": {"sessions": 2, "calls": 2, "think_s": 0}, "session_cookies": true});
    let (_, _, asked) = requests(&extra, WITH);
    let has: Vec<Vec<_>> =
        asked.iter().map(|all| all.iter().map(|r| r.contains("\r\nCookie: id=7\r\n")).collect()).collect();
    assert_eq!(has, [[false, true], [false, true]]);
}

#[test]
fn pages_are_fetched_with_what_they_embed() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&told);
    let mut server = Server::new(move |mut peer| {
        while let Some(request) = peer.request() {
            let uri = request.split(' ').nth(1).unwrap().to_owned();
            match uri.as_str() {
                "/p" => peer.reply(b"HTTP/1.1 302 Go\r\nLocation: /q/i.html\r\nContent-Length: 0\r\n\r\n"),
                "/q/i.html" => peer.reply(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n\
                      9\r\n<img src=\r\n10\r\na.gif><img src='\r\n6\r\n/b'> .\r\n0\r\n\r\n",
                ),
                _ => peer.reply(OK),
            }
            asked.lock().unwrap().push(uri);
        }
    });
    let (result, _) =
        run(&server.address, &json!({"wsesspage": {"sessions": 1, "pages": 2, "think_s": 0}, "uri": "/p"}));
    server.stop();
    let page = ["/p", "/q/i.html", "/q/a.gif", "/b"];
    assert_eq!(*told.lock().unwrap(), [page, page].concat());
    assert_eq!((figure(&result, "/sessions/completed"), figure(&result, "/replies")), (1, 8));
}

#[test]
fn lists_and_sets_of_files_are_asked_for_in_their_order() {
    let uris = |extra: &Value| {
        let (_, _, asked) = requests(extra, OK);
        let uri = |request: &String| request.split(' ').nth(1).unwrap().to_owned();
        asked.iter().flatten().map(uri).collect::<Vec<_>>()
    };
    let list = json!({"num_conns": 9, "num_calls": 2, "wlog": {"wrap": false, "uris": ["/a", "/b", "/c"]}});
    assert_eq!(uris(&list), ["/a", "/b", "/c"]);
    let set =
        json!({"num_calls": 3, "uri": "/w", "wset": {"files": 20, "miss_rate": 1.0}, "client": {"index": 1, "of": 2}});
    assert_eq!(uris(&set), ["/w/0/1.html", "/w/0/3.html", "/w/0/5.html"]);
}

#[test]
fn hog_takes_ports_below_the_kernel_s() {
    let ports: HashSet<_> = peers(&json!({"num_conns": 100, "hog": true})).iter().map(SocketAddr::port).collect();
    assert_eq!(ports.len(), 100);
    assert!(ports.iter().all(|port| (1024..32_768).contains(port)), "{ports:?}");
}

#[test]
fn local_addresses_are_taken_in_turn() {
    for hog in [false, true] {
        let extra = json!({"num_conns": 6, "myaddr": ["127.0.0.5", "127.0.0.6", "127.0.0.7"], "hog": hog});
        let last: Vec<_> = peers(&extra).iter().map(|peer| peer.ip().to_string().pop().unwrap()).collect();
        assert_eq!(last, ['5', '6', '7', '5', '6', '7'], "hog: {hog}");
    }
}

#[test]
fn an_address_that_is_not_ours_is_no_address_available() {
    let server = Server::new(drop);
    let (result, _) = run(&server.address, &json!({"num_conns": 3, "myaddr": ["192.0.2.1"]}));
    assert_eq!((figure(&result, "/errors/addrunavail"), figure(&result, "/errors/other")), (3, 0));
    assert_eq!(result.measured.errors["ports_exhausted"], 3);
}

#[test]
fn servers_take_connections_in_turn_each_under_its_name() {
    let servers: Vec<_> = (0..2).map(|_| Server::new(|mut peer| answer(&mut peer, OK))).collect();
    let named: Vec<_> = servers
        .iter()
        .zip(["one", "two"])
        .map(|(server, host)| json!({"host": host, "address": server.address}))
        .collect();
    let extra = json!({"num_conns": 7, "servers": named, "print_request": {"header": true, "body": false}});
    let (_, events) = run("", &extra);
    assert_eq!(servers.iter().map(|server| seen(&server.counts.requests)).collect::<Vec<_>>(), [4, 3]);
    let printed: Vec<_> = events.iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert!(printed[0].contains("SH0:Host: one\n") && printed[1].contains("SH1:Host: two\n"), "{printed:?}");
}

#[test]
fn an_ipv6_server_is_reached() {
    let listener = std::net::TcpListener::bind("[::1]:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 1024];
        let _ = stream.read(&mut buffer);
        std::io::Write::write_all(&mut stream, OK).unwrap();
    });
    let (result, _) = run(&address, &json!({}));
    server.join().unwrap();
    assert_eq!(figure(&result, "/replies"), 1);
}

#[test]
fn a_connection_can_end_with_a_reset() {
    for (reset, expected) in [(true, Some(std::io::ErrorKind::ConnectionReset)), (false, None)] {
        let ends = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&ends);
        let mut server = Server::new(move |mut peer| {
            if peer.request().is_some() {
                peer.reply(OK);
                told.lock().unwrap().push(peer.stream.read(&mut [0; 16]).err().map(|error| error.kind()));
            }
        });
        run(&server.address, &json!({"num_conns": 3, "close_with_reset": reset}));
        server.stop();
        assert_eq!(*ends.lock().unwrap(), [expected; 3]);
    }
}

#[test]
fn time_to_think_is_given_before_the_first_byte_only() {
    let slow = Server::new(|mut peer| {
        peer.request();
        std::thread::sleep(Duration::from_secs(4));
        peer.reply(OK);
        peer.wait_for_end();
    });
    let (result, _) = run(&slow.address, &json!({"timeout_s": 3.0, "think_timeout_s": 300.0}));
    assert_eq!((figure(&result, "/replies"), figure(&result, "/errors/client_timo")), (1, 0));
    let silent = Server::new(|mut peer| {
        peer.request();
        peer.wait_for_end();
    });
    let (result, _) = run(&silent.address, &json!({"timeout_s": 0.5}));
    assert_eq!((figure(&result, "/replies"), figure(&result, "/errors/client_timo")), (0, 1));
}

#[test]
fn messages_are_told_as_events() {
    let extra = json!({"print_reply": {"header": true, "body": true}, "print_request": {"header": true, "body": true}});
    let (_, events, _) = requests(&extra, OK);
    let told: Vec<_> =
        events.iter().map(|event| (event["level"].as_str().unwrap(), event["text"].as_str().unwrap())).collect();
    let request = "SH0:GET / HTTP/1.1\nSH0:User-Agent: httperf/0.9.0\nSH0:Host: www\nSH0:\nSS0: header 56 content 0";
    let reply = "RH0:HTTP/1.1 200 OK\nRH0:Content-Length: 2\nRH0:\nRB0:ok\nRS0: header 38 content 2 footer 0";
    assert_eq!(told, [("print", request), ("print", reply)]);
}

#[test]
fn events_that_nobody_fetches_are_lost_and_counted() {
    let extra = json!({"num_conns": 1, "num_calls": 1_500, "print_reply": {"header": true, "body": false}});
    let (result, events, _) = requests(&extra, OK);
    assert_eq!((events.len(), figure(&result, "/prints_lost")), (1_000, 500));
}

#[test]
fn rates_are_sampled_from_the_client_s_own_moment_on() {
    let extra = json!({"num_conns": 60, "period": {"shape": "fixed", "period_s": 0.02}, "verbose": true,
                       "periodic_stats": true, "client": {"index": 0, "of": 100}});
    let (result, events, _) = requests(&extra, OK);
    assert_eq!(figure(&result, "/reply_rate/count"), 1, "at 50 ms; the next would be 5 s later");
    let rate = events.iter().find(|event| event["level"] == "rate").unwrap();
    let told: Value = serde_json::from_str(rate["text"].as_str().unwrap()).unwrap();
    // A number that went through text may come back with another last digit.
    let most = result.workload["reply_rate"]["max"].as_f64().unwrap();
    assert!((told["replies_per_s"].as_f64().unwrap() - most).abs() <= 1e-9 * most, "{told} {most}");
    let second = events.iter().find(|event| event["level"] == "periodic").unwrap();
    let told: Value = serde_json::from_str(second["text"].as_str().unwrap()).unwrap();
    assert!(told["200"].as_u64().unwrap() <= 60 && told["302"] == 0, "{told}");
}

#[test]
fn live_figures_move_and_a_cancel_ends_the_trial() {
    let server = Server::new(|mut peer| answer(&mut peer, OK));
    let extra = json!({"num_conns": 1_000_000_000, "period": {"shape": "fixed", "period_s": 0.001}});
    let handle = start(&server.address, &extra);
    let mut before = 0;
    for _ in 0..3 {
        // A trial that stands still is found by the harness's patience.
        while handle.snapshot().operations <= before {
            std::thread::sleep(Duration::from_millis(1));
        }
        before = handle.snapshot().operations;
    }
    let names: Vec<_> = handle.snapshot().per_operation.into_iter().map(|count| count.name).collect();
    assert_eq!(names, ["connection", "call"]);
    handle.cancel();
    let result = handle.wait(Duration::from_secs(PATIENCE_S)).unwrap().unwrap();
    assert!(result.cancelled);
    assert!(figure(&result, "/replies") >= 1);
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let refusal = |extra: Value| {
        let trial =
            bakeoff_engine::TrialSpec::from_json(&crate::common::trial("127.0.0.1:9", &extra).to_string()).unwrap();
        match bakeoff_httperf::HttperfSpec::from_trial(&trial) {
            Err(error) => error.to_string(),
            Ok(spec) => bakeoff_httperf::start(spec, trial).unwrap_err().to_string(),
        }
    };
    for (extra, words) in [
        (json!({"servers": []}), "no server"),
        (json!({"num_conns": 0}), "--num-conns must be 1 to"),
        (json!({"uri": "/a b"}), "is no URI"),
        (json!({"method": "GE T"}), "no HTTP method"),
        (json!({"client": {"index": 2, "of": 2}}), "--client"),
        (json!({"period": {"shape": "fixed", "period_s": 0.0}}), "dT needs T over 0"),
        (json!({"period": {"shape": "uniform", "from_s": 2.0, "to_s": 1.0}}), "T1 <= T2"),
        (json!({"wlog": {"wrap": true, "uris": []}}), "no URI"),
        (json!({"wset": {"files": 5, "miss_rate": 1.5}}), "miss rate"),
        (json!({"wsesslog": {"sessions": 1, "scripts": [{"bursts": []}]}}), "no calls"),
        (json!({"myaddr": ["here"]}), "`here` is not an IP address"),
        (json!({"myaddr": ["::1"]}), "one is IPv4, one IPv6"),
    ] {
        let told = refusal(extra);
        assert!(told.contains(words), "{told}");
    }
    let ssl = |changes: &Value| {
        let mut ssl = json!({"protocol": "auto", "ciphers": [], "no_reuse": false, "certificate": null, "key": null,
                             "verify": false, "ca_file": null, "ca_path": null, "server_name": null});
        changes.as_object().unwrap().iter().for_each(|(name, value)| ssl[name] = value.clone());
        json!({"ssl": ssl})
    };
    assert!(refusal(ssl(&json!({"protocol": "SSLv2"}))).contains("choose auto, TLSv1.2 or TLSv1.3"));
    assert!(refusal(ssl(&json!({"ciphers": ["RC4-MD5"]}))).contains("cannot be had"));
    assert!(refusal(ssl(&json!({"verify": true, "ca_file": "/nowhere"}))).contains("/nowhere"));
}
