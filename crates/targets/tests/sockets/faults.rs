//! Each fault, seen from a client, to the connection, the byte and the instant.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::common::{Client, Folder, HEADS_MAX, PAIRS, Reply, counts, counts_when, tcp, web};
use bakeoff_targets::ServerHandle;
use serde_json::json;

fn page(bytes: usize) -> Vec<u8> {
    Client::to(&web(&format!(r#""page_bytes":{bytes}"#))).get("/").unwrap().body
}

/// Seconds of one request on a kept connection.
fn once(client: &mut Client) -> f64 {
    let begin = Instant::now();
    assert_eq!(client.get("/").unwrap().status, 200);
    begin.elapsed().as_secs_f64()
}

/// Seconds of so many clients with so many requests each, all together.
fn together(server: &ServerHandle, clients: usize, requests: usize) -> f64 {
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut client = Client::to(server);
                for _ in 0..requests {
                    once(&mut client);
                }
            });
        }
    });
    begin.elapsed().as_secs_f64()
}

/// A delay must not be told from a timer of this test's own, asked in turn with it: both wake three times for a
/// request, and whatever holds the machine up holds up both.
#[test]
fn a_delay_is_never_shorter_and_no_later_than_a_timer() {
    let (delayed, prompt) = (web(r#""delay_s":0.005"#), web(""));
    let (mut waiting, mut asking) = (Client::to(&delayed), Client::to(&prompt));
    let mut later = 0;
    for _ in 0..PAIRS {
        let seen_s = once(&mut waiting);
        assert!(seen_s >= 0.005, "a reply came early: {seen_s} s");
        let begin = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        once(&mut asking);
        later += usize::from(seen_s > begin.elapsed().as_secs_f64() + 0.0005);
    }
    assert!(later <= HEADS_MAX, "later by half a millisecond in {later} of {PAIRS} pairs");
}

#[test]
fn delays_of_many_clients_do_not_add_up() {
    let server = web(r#""delay_s":0.05,"threads":2"#);
    // One client before and one after: forty must not take forty times as long as one does in these moments.
    let before_s = together(&server, 1, 5);
    let all_s = together(&server, 40, 5);
    let after_s = together(&server, 1, 5);
    assert!(all_s >= 0.25 && before_s >= 0.25);
    assert!(all_s < 10.0 * (before_s + after_s), "{all_s} s beside {before_s} s and {after_s} s");
    assert_eq!(counts(&server)["requests"], 210);
}

/// The times of stalls are arithmetic, held without a clock beside it; here each of them must be felt, and none may end
/// early: what is asked in a stall is answered when it is over. How long anything takes besides is the machine's affair.
#[test]
fn every_stall_stops_everything_and_is_not_early() {
    let begin = Instant::now();
    let server = web(r#""stall":{"for_s":0.2,"every_s":0.5}"#);
    let started_s = begin.elapsed().as_secs_f64();
    let mut client = Client::to(&server);
    let (mut felt, mut replies) = ([false; 3], 0);
    let mut came_s = begin.elapsed().as_secs_f64();
    // The third stall ends so long after the server's start, which was somewhere before `started_s`.
    while came_s < 1.5 + started_s {
        let asked_s = begin.elapsed().as_secs_f64();
        once(&mut client);
        let before_s = std::mem::replace(&mut came_s, begin.elapsed().as_secs_f64());
        replies += 1;
        for (felt, end_s) in felt.iter_mut().zip([0.5, 1.0, 1.5]) {
            // Of a reply that was on its way when it began only half of it may be seen.
            *felt |= came_s - before_s > 0.09 && before_s < end_s + started_s && came_s > end_s - 0.2;
            // A thread that lost its processor at the edge may answer with the clock of before.
            let in_the_stall = asked_s > end_s - 0.15 + started_s && asked_s < end_s;
            assert!(!in_the_stall || came_s >= end_s, "asked at {asked_s} s, answered at {came_s} s");
        }
    }
    assert_eq!(felt, [true; 3]);
    assert!(replies > 2 * felt.len() || came_s > 2.0 + started_s, "between stalls it serves: {replies} replies");
}

#[test]
fn a_stall_does_not_hold_up_the_end() {
    let mut server = web(r#""stall":{"for_s":50,"every_s":50.01}"#);
    let mut held = tcp(&server.address());
    held.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    // Until a request is not answered: then the stall is on.
    while std::io::Write::write_all(&mut held, b"GET / HTTP/1.1\r\nHost: t\r\n\r\n").is_ok()
        && std::io::Read::read(&mut held, &mut [0; 4096]).is_ok()
    {}
    let begin = Instant::now();
    server.stop();
    assert!(begin.elapsed().as_secs_f64() < 25.0, "half of the stall");
}

/// Outcome of `count` connections with one request each: true where it was reset before the first byte.
fn resets(server: &ServerHandle, count: usize) -> Vec<bool> {
    let once = |_| match Client::to(server).get("/") {
        Ok(reply) => {
            assert_eq!((reply.status, reply.complete), (200, true));
            false
        }
        Err(e) => {
            assert_eq!(e.kind(), ErrorKind::ConnectionReset);
            true
        }
    };
    (0..count).map(once).collect()
}

#[test]
fn exactly_every_tenth_connection_is_refused() {
    let server = web(r#""refuse":{"count":1,"of":10}"#);
    let seen = resets(&server, 200);
    for (number, reset) in seen.iter().enumerate() {
        assert_eq!(*reset, number % 10 == 9, "connection {}", number + 1);
    }
    let counted = counts_when(&server, |counts| counts["refused"] == 20);
    assert_eq!((&counted["connections"], &counted["requests"]), (&json!(200), &json!(180)));
}

#[test]
fn the_refused_share_is_exact_for_clients_in_parallel() {
    let server = web(r#""refuse":{"count":3,"of":7},"threads":2"#);
    let refused: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..7).map(|_| scope.spawn(|| resets(&server, 100))).collect();
        clients.into_iter().map(|client| client.join().unwrap().iter().filter(|reset| **reset).count()).sum()
    });
    assert_eq!(refused, 300);
}

#[test]
fn neither_silent_connections_nor_those_for_the_counts_take_a_number() {
    let server = web(r#""refuse":{"count":1,"of":2}"#);
    assert_eq!(resets(&server, 1), [false]);
    for _ in 0..3 {
        drop(Client::to(&server));
        assert_eq!(Client::to(&server).get("/.bakeoff/counts").unwrap().status, 200);
    }
    assert_eq!(resets(&server, 2), [true, false]);
}

#[test]
fn unix_connections_are_refused_by_a_reset_too() {
    let folder = Folder::new("refuse");
    let server = web(&format!(r#""unix":"{}/s","refuse":{{"count":1,"of":3}}"#, folder.text()));
    assert_eq!(resets(&server, 6), [false, false, true, false, false, true]);
}

/// That it gives no less is arithmetic and held without a clock beside it.
#[test]
fn never_more_than_the_limit_has_been_answered_at_any_second() {
    let server = web(r#""limit_per_s":1000"#);
    for clients in [1, 40] {
        let taken_s = together(&server, clients, 400 / clients);
        assert!(taken_s >= 0.399, "{clients} clients: 400 requests in {taken_s} s");
    }
    let counted = counts(&server);
    let mut answered = 0;
    for (second, row) in counted["per_second"].as_array().unwrap().iter().enumerate() {
        answered += row["replies"].as_u64().unwrap();
        assert!(answered <= 1000 * (second as u64 + 1) + 1, "{answered} replies after second {second}");
    }
    assert_eq!((answered, &counted["requests"]), (800, &json!(800)));
}

#[test]
fn the_forced_status_comes_every_nth_time() {
    let server = web(r#""status":{"code":503,"every":3}"#);
    let mut client = Client::to(&server);
    let statuses: Vec<u16> = (0..7).map(|_| client.get("/").unwrap().status).collect();
    assert_eq!(statuses, [200, 200, 503, 200, 200, 503, 200]);
    assert_eq!(counts(&server)["replies"], json!({"200": 5, "503": 2}));
    let always = web(r#""status":{"code":204}"#);
    let reply = Client::to(&always).get("/").unwrap();
    assert_eq!((reply.status, reply.header("content-length")), (204, None));
}

fn cut_bodies(server: &ServerHandle, count: usize) -> Vec<Reply> {
    let replies: Vec<Reply> = (0..count).map(|_| Client::to(server).get("/").unwrap()).collect();
    assert!(replies.iter().all(|reply| reply.status == 200));
    replies
}

#[test]
fn every_nth_body_is_cut_in_the_middle() {
    for bytes in [1, 1000, 3_000_000] {
        let whole = page(bytes);
        let server = web(&format!(r#""truncate_every":3,"page_bytes":{bytes}"#));
        for (number, reply) in cut_bodies(&server, 6).iter().enumerate() {
            let cut = number % 3 == 2;
            let expected = if cut { &whole[..bytes / 2] } else { &whole[..] };
            assert_eq!(reply.complete, !cut);
            assert!(reply.body == expected, "{bytes} bytes, reply {}: {} came", number + 1, reply.body.len());
            assert_eq!(reply.header("content-length"), Some(bytes.to_string().as_str()));
        }
        let counted = counts(&server);
        assert_eq!(counted["truncated"], 2);
        assert_eq!(counted["body_bytes"], 4 * bytes + 2 * (bytes / 2));
    }
}

#[test]
fn heads_and_errors_are_not_numbered_as_bodies() {
    let folder = Folder::new("bodies");
    folder.file("page", &[b'x'; 100]);
    let server = web(&format!(r#""root":"{}","truncate_every":2"#, folder.text()));
    let mut client = Client::to(&server);
    for _ in 0..3 {
        assert_eq!(client.ask("HEAD /page HTTP/1.1\r\nHost: t\r\n\r\n").unwrap().status, 200);
        assert!(client.get("/none").unwrap().complete);
    }
    assert!(client.get("/page").unwrap().complete);
    assert!(!client.get("/page").unwrap().complete);
    assert!(client.at_end());
}

#[test]
fn chunked_bodies_are_cut_too() {
    let server = web(r#""chunked":true,"truncate_every":1,"page_bytes":50000"#);
    let reply = Client::to(&server).get("/").unwrap();
    assert_eq!((reply.header("content-length"), reply.complete, reply.body.len()), (None, false, 25_000));
}

#[test]
fn exactly_one_byte_of_every_nth_body_is_wrong() {
    let whole = page(10_000);
    let server = web(r#""corrupt_every":4,"page_bytes":10000"#);
    let mut client = Client::to(&server);
    for number in 1..=12 {
        let reply = client.get("/").unwrap();
        let wrong = reply.body.iter().zip(&whole).filter(|(seen, right)| seen != right).count();
        assert_eq!((reply.complete, reply.body.len(), wrong), (true, 10_000, usize::from(number % 4 == 0)));
    }
    assert_eq!(counts(&server)["corrupted"], 3);
}

#[test]
fn bodies_longer_than_the_limit_are_dropped_there() {
    let whole = page(300_000);
    let server = web(r#""close_after_bytes":123456,"page_bytes":300000"#);
    let reply = Client::to(&server).get("/").unwrap();
    assert_eq!((reply.complete, reply.body == whole[..123_456]), (false, true));
    let fits = web(r#""close_after_bytes":1024"#);
    assert!(Client::to(&fits).get("/").unwrap().complete);
    assert_eq!((&counts(&server)["closed_after"], &counts(&fits)["closed_after"]), (&json!(1), &json!(0)));
}

#[test]
fn a_cut_can_be_a_reset() {
    let server = web(r#""truncate_every":1,"cut_with_reset":true"#);
    let error = Client::to(&server).get("/").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn faults_combine() {
    let server =
        web(r#""delay_s":0.01,"corrupt_every":1,"truncate_every":2,"chunked":true,"status":{"code":500,"every":4},
           "refuse":{"count":1,"of":5},"limit_per_s":50"#);
    let whole = page(1024);
    let begin = Instant::now();
    let mut seen = Vec::new();
    for _ in 0..10 {
        seen.push(match Client::to(&server).get("/") {
            Err(_) => "reset",
            Ok(reply) if reply.status == 500 => "500",
            Ok(reply) => {
                assert!(reply.body != whole[..reply.body.len()]);
                if reply.complete { "wrong" } else { "short" }
            }
        });
    }
    assert_eq!(seen, ["wrong", "short", "wrong", "500", "reset", "short", "wrong", "short", "500", "reset"]);
    // Eight requests at 50 per second, each 10 ms late.
    assert!(begin.elapsed().as_secs_f64() >= 0.15, "{:?}", begin.elapsed());
}
