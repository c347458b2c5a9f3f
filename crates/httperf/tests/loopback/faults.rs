//! Twenty ways in which a server can be rude: what is counted adds up, and is what the server has counted.

use crate::common::{Peer, Server, figure, run, seen};
use serde_json::{Value, json};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// What must be true of any trial; returns (connections, requests, replies, errors).
fn audit(told: &bakeoff_engine::TrialResult, server: &Server) -> [u64; 4] {
    let errors: Vec<u64> = told.workload["errors"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).collect();
    let [connections, requests, replies] = ["/connections", "/requests", "/replies"].map(|name| figure(told, name));
    let statuses: u64 = ["s1xx", "s2xx", "s3xx", "s4xx", "s5xx", "other"]
        .iter()
        .map(|class| figure(told, &format!("/statuses/{class}")))
        .sum();
    assert_eq!(statuses, replies, "every reply has a status");
    let lost = figure(told, "/requests_failed") + figure(told, "/requests_unfinished");
    assert_eq!(requests, replies + lost, "every request was answered or was not");
    assert_eq!(figure(told, "/response/count"), replies);
    assert_eq!(figure(told, "/transfer/count"), replies);
    let operation = |name: &str| {
        let row = told.per_operation.iter().find(|row| row.name == name).unwrap();
        (row.measured.operations, row.measured.errors.values().sum::<u64>())
    };
    let wrong = told.measured.errors.get("wrong_status").copied().unwrap_or(0);
    assert_eq!(
        operation("call").0 + wrong,
        replies,
        "a reply that says that the server failed is an error of its call"
    );
    let (well, badly) = operation("connection");
    let ended = connections - figure(told, "/connections_unfinished");
    assert_eq!(well + badly, ended + figure(told, "/errors/fd_unavail") + figure(told, "/errors/addrunavail"));
    assert_eq!(badly, errors.iter().sum::<u64>(), "every failed connection has its error");
    if !told.workload["sessions"].is_null() {
        let [completed, failed] = ["/sessions/completed", "/sessions/failed"].map(|name| figure(told, name));
        assert_eq!(operation("session"), (completed, failed));
        let lengths = told.workload["sessions"]["lengths"].as_array().unwrap();
        let (count, sum) = lengths.iter().zip(0_u64..).fold((0, 0), |(count, sum), (n, length)| {
            (count + n.as_u64().unwrap(), sum + n.as_u64().unwrap() * length)
        });
        assert_eq!((count, sum), (completed + failed, replies), "the histogram of lengths has all replies");
    }
    // A server that did not read a request may still have been sent it; it never saw more than were sent.
    assert!(seen(&server.counts.requests) <= requests);
    assert!(replies <= seen(&server.counts.replies));
    [connections, requests, replies, errors.iter().sum()]
}

/// Runs a trial against a server that behaves like this on every connection.
fn against(extra: &Value, behave: impl Fn(Peer) + Send + Sync + 'static) -> (bakeoff_engine::TrialResult, [u64; 4]) {
    let mut server = Server::new(behave);
    let (told, _) = run(&server.address, extra);
    let sums = {
        server.stop();
        audit(&told, &server)
    };
    (told, sums)
}

/// Answers all requests, the nth with what is given for it.
fn answer(mut peer: Peer, bytes: &[u8]) {
    while peer.request().is_some() {
        peer.reply(bytes);
    }
}

#[test]
fn nobody_listens() {
    // Bound and without listening: nobody else gets the port meanwhile.
    let held = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    held.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    let address = held.local_addr().unwrap().as_socket().unwrap().to_string();
    let (told, _) = run(&address, &json!({"num_conns": 7}));
    assert_eq!(figure(&told, "/errors/connrefused"), 7);
    assert_eq!((figure(&told, "/connections"), figure(&told, "/requests")), (7, 0));
}

#[test]
fn all_is_well() {
    let (told, sums) = against(&json!({"num_conns": 20, "num_calls": 5}), |peer| answer(peer, OK));
    assert_eq!(sums, [20, 100, 100, 0]);
    assert_eq!(figure(&told, "/reply_content_bytes"), 200);
    assert_eq!(figure(&told, "/reply_header_bytes"), 100 * (OK.len() as u64 - 2));
    assert_eq!(figure(&told, "/lifetime/count"), 20);
    assert_eq!(figure(&told, "/request_bytes"), 100 * 56);
}

#[test]
fn pipelined_bursts_are_all_answered() {
    let (_, sums) = against(&json!({"num_conns": 5, "num_calls": 10, "burst_length": 4}), |peer| answer(peer, OK));
    assert_eq!(sums, [5, 50, 50, 0]);
}

#[test]
fn the_connection_is_closed_at_once() {
    let (told, sums) = against(&json!({"num_conns": 9}), drop);
    assert_eq!((sums[0], sums[2], sums[3]), (9, 0, 9));
    assert_eq!(figure(&told, "/errors/connreset"), 9);
}

#[test]
fn the_connection_is_reset_at_once() {
    let (told, sums) = against(&json!({"num_conns": 9}), Peer::reset);
    assert_eq!((sums[0], sums[2], sums[3]), (9, 0, 9));
    assert_eq!(figure(&told, "/errors/connreset"), 9);
}

#[test]
fn the_request_is_read_and_never_answered() {
    let (told, sums) = against(&json!({"num_conns": 2, "timeout_s": 2.0}), |mut peer| {
        peer.request();
        peer.wait_for_end();
    });
    assert_eq!(sums, [2, 2, 0, 2]);
    assert_eq!(figure(&told, "/errors/client_timo"), 2);
}

#[test]
fn the_request_is_read_and_the_connection_reset() {
    let (told, sums) = against(&json!({"num_conns": 9}), |mut peer| {
        peer.request();
        peer.reset();
    });
    assert_eq!(sums, [9, 9, 0, 9]);
    assert_eq!(figure(&told, "/errors/connreset"), 9);
}

#[test]
fn the_body_is_short() {
    let (told, sums) = against(&json!({"num_conns": 9}), |mut peer| {
        peer.request();
        peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
    });
    assert_eq!(sums, [9, 9, 0, 9]);
    assert_eq!(figure(&told, "/errors/connreset"), 9);
}

#[test]
fn the_head_is_cut() {
    let (_, sums) = against(&json!({"num_conns": 9}), |mut peer| {
        peer.request();
        peer.say(b"HTTP/1.1 200 OK\r\nContent-Le");
    });
    assert_eq!(sums, [9, 9, 0, 9]);
}

#[test]
fn the_body_stalls() {
    let (told, sums) = against(&json!({"num_conns": 2, "timeout_s": 2.0}), |mut peer| {
        peer.request();
        peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
        peer.wait_for_end();
    });
    assert_eq!(sums, [2, 2, 0, 2]);
    assert_eq!(figure(&told, "/errors/client_timo"), 2);
}

#[test]
fn garbage_comes() {
    let (told, sums) = against(&json!({"num_conns": 9}), |mut peer| {
        peer.request();
        peer.say(b"SSH-2.0-nonsense\r\n");
        peer.wait_for_end();
    });
    assert_eq!(sums, [9, 9, 0, 9]);
    assert_eq!(figure(&told, "/errors/other"), 9);
    assert_eq!(told.measured.errors["protocol"], 18, "of the connections and of their calls");
}

#[test]
fn a_greeting_comes_that_nobody_asked_for() {
    let (told, sums) = against(&json!({"num_conns": 5, "num_calls": 2}), |mut peer| {
        peer.request();
        peer.reply(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more\r\n");
        peer.wait_for_end();
    });
    assert_eq!((sums[0], sums[2], sums[3]), (5, 5, 5));
    assert_eq!(figure(&told, "/errors/other"), 5);
}

#[test]
fn the_chunks_are_bad() {
    let (told, sums) = against(&json!({"num_conns": 9}), |mut peer| {
        peer.request();
        peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n");
        peer.wait_for_end();
    });
    assert_eq!(sums, [9, 9, 0, 9]);
    assert_eq!(figure(&told, "/errors/other"), 9);
}

#[test]
fn the_last_chunk_is_missing() {
    let (told, sums) = against(&json!({"num_conns": 9}), |mut peer| {
        peer.request();
        peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    });
    assert_eq!(sums, [9, 9, 0, 9]);
    assert_eq!(figure(&told, "/errors/connreset"), 9);
}

#[test]
fn the_end_of_the_stream_is_the_end_of_the_body() {
    let (told, sums) = against(&json!({"num_conns": 9, "num_calls": 2}), |mut peer| {
        peer.request();
        peer.reply(b"HTTP/1.1 200 OK\r\n\r\nall of it");
    });
    assert_eq!(sums, [9, 9, 9, 0]);
    assert_eq!(figure(&told, "/reply_content_bytes"), 81);
}

#[test]
fn the_server_closes_after_each_reply_as_it_says() {
    let (_, sums) = against(&json!({"num_conns": 9, "num_calls": 3}), |mut peer| {
        peer.request();
        peer.reply(LAST);
        peer.wait_for_end();
    });
    assert_eq!(sums, [9, 9, 9, 0]);
}

#[test]
fn the_server_closes_after_each_reply_and_does_not_say_so() {
    let (told, sums) = against(&json!({"num_conns": 9, "num_calls": 3}), |mut peer| {
        peer.request();
        peer.reply(OK);
    });
    assert_eq!((sums[0], sums[2], sums[3]), (9, 9, 9));
    assert_eq!(figure(&told, "/errors/connreset"), 9);
}

#[test]
fn the_status_is_odd() {
    for (line, class) in [("650 Odd", "other"), ("099 Low", "other"), ("599 High", "s5xx"), ("302 Found", "s302")] {
        let reply = format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n").into_bytes();
        let (told, sums) = against(&json!({"num_conns": 3}), move |peer| answer(peer, &reply));
        assert_eq!(sums, [3, 3, 3, 0], "{line}");
        assert_eq!(figure(&told, &format!("/statuses/{class}")), 3);
    }
}

#[test]
fn interim_replies_come_first() {
    let (told, sums) = against(&json!({"num_conns": 4}), |mut peer| {
        peer.request();
        peer.say(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n");
        peer.reply(OK);
        peer.wait_for_end();
    });
    assert_eq!(sums, [4, 4, 4, 0]);
    assert_eq!(figure(&told, "/statuses/interim"), 8);
}

#[test]
fn every_third_connection_is_reset() {
    let extra = json!({"num_conns": 30, "num_calls": 2, "period": {"shape": "fixed", "period_s": 0.002}});
    let (_, sums) = against(&extra, |peer| if peer.nth % 3 == 2 { peer.reset() } else { answer(peer, OK) });
    assert_eq!((sums[0], sums[2], sums[3]), (30, 40, 10));
}

#[test]
fn sessions_survive_a_server_that_closes_after_every_other_reply() {
    let wsess = json!({"sessions": 6, "calls": 9, "think_s": 0.001});
    let (told, sums) = against(&json!({"wsess": wsess, "burst_length": 3}), |mut peer| {
        for reply in [OK, LAST] {
            if peer.request().is_some() {
                peer.reply(reply);
            }
        }
        peer.wait_for_end();
    });
    assert_eq!((sums[2], sums[3]), (54, 0));
    assert_eq!((figure(&told, "/sessions/completed"), figure(&told, "/sessions/failed")), (6, 0));
    assert_eq!(told.workload["sessions"]["lengths"].as_array().unwrap().len(), 10);
}

#[test]
fn sessions_whose_connections_break_without_a_reply_fail() {
    let wsess = json!({"sessions": 8, "calls": 4, "think_s": 0});
    let (told, sums) = against(&json!({"wsess": wsess, "burst_length": 2}), |mut peer| {
        peer.request();
        if peer.nth % 2 == 0 {
            return;
        }
        peer.reply(OK);
        answer(peer, OK);
    });
    assert_eq!((figure(&told, "/sessions/completed"), figure(&told, "/sessions/failed")), (4, 4));
    assert_eq!(sums[3], 4);
}

#[test]
fn sessions_that_get_the_status_of_failure_fail() {
    let wsess = json!({"sessions": 4, "calls": 2, "think_s": 0});
    let extra = json!({"wsess": wsess, "failure_status": 503});
    let (told, sums) = against(&extra, |peer| answer(peer, b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"));
    assert_eq!(sums, [4, 4, 4, 0]);
    assert_eq!((figure(&told, "/sessions/completed"), figure(&told, "/sessions/failed")), (0, 4));
}

#[test]
fn a_large_body_is_counted_to_the_byte_whether_it_is_kept_or_dropped() {
    for extra in [json!({}), json!({"print_reply": {"header": false, "body": true}})] {
        let (told, sums) = against(&extra, |mut peer| {
            peer.request();
            let mut reply = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n".to_vec();
            reply.resize(reply.len() + 3_000_000, b'x');
            peer.reply(&reply);
            peer.wait_for_end();
        });
        assert_eq!(sums, [1, 1, 1, 0]);
        assert_eq!(figure(&told, "/reply_content_bytes"), 3_000_000);
    }
}

#[test]
fn a_trial_that_is_stopped_tells_what_was_under_way() {
    let extra = json!({"num_conns": 5, "runtime_s": 5.0, "period": {"shape": "fixed", "period_s": 0.001}});
    let (told, sums) = against(&extra, |mut peer| {
        peer.request();
        peer.wait_for_end();
    });
    assert_eq!(sums[3], 0);
    assert_eq!((figure(&told, "/connections_unfinished"), figure(&told, "/requests_unfinished")), (5, 5));
}
