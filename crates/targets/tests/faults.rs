//! Each fault, seen from a client, to the connection, the byte and the instant.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::io::ErrorKind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bakeoff_targets::ServerHandle;
use common::{Client, Folder, Reply, counts, counts_when, web};
use serde_json::json;

/// Held by each test that looks at the clock: they would disturb one another.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn page(bytes: usize) -> Vec<u8> {
    Client::to(&web(&format!(r#""page_bytes":{bytes}"#))).get("/").unwrap().body
}

/// Seconds for each of `count` requests on one connection.
fn times(server: &ServerHandle, count: usize) -> Vec<f64> {
    let mut client = Client::to(server);
    let once = |client: &mut Client| {
        let begin = Instant::now();
        assert_eq!(client.get("/").unwrap().status, 200);
        begin.elapsed().as_secs_f64()
    };
    once(&mut client);
    let mut times: Vec<f64> = (0..count).map(|_| once(&mut client)).collect();
    times.sort_by(f64::total_cmp);
    times
}

#[test]
fn a_delay_is_never_shorter_and_hardly_longer() {
    let _alone = alone();
    let server = web(r#""delay_s":0.005"#);
    // A busy machine holds the client up now and then, so the worst of each stretch counts, in the best stretch.
    let mut worst = Vec::new();
    for _ in 0..80 {
        let times = times(&server, 30);
        assert!(times[0] >= 0.005, "a reply came early: {} s", times[0]);
        worst.push(times[29]);
        if times[29] < 0.0052 {
            return;
        }
    }
    panic!("longest of 30 in each stretch: {worst:?}");
}

#[test]
fn delays_of_many_clients_do_not_add_up() {
    let _alone = alone();
    let server = web(r#""delay_s":0.05,"threads":2"#);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| assert!(times(&server, 4)[0] >= 0.05));
        }
    });
    assert!(begin.elapsed().as_secs_f64() < 0.05 * 5.0 * 4.0);
    assert_eq!(counts(&server)["requests"], 200);
}

#[test]
fn a_stall_stops_everything_at_its_time_and_nothing_else() {
    let _alone = alone();
    let server = web(r#""stall":{"for_s":0.2,"every_s":0.5}"#);
    let begin = Instant::now();
    let mut client = Client::to(&server);
    let mut gaps = Vec::new();
    while begin.elapsed().as_secs_f64() < 2.2 {
        let sent = begin.elapsed().as_secs_f64();
        assert_eq!(client.get("/").unwrap().status, 200);
        let came = begin.elapsed().as_secs_f64();
        if came - sent > 0.15 {
            gaps.push((came, came - sent));
        }
    }
    assert_eq!(gaps.len(), 4, "{gaps:?}");
    for (number, (end, length)) in gaps.iter().enumerate() {
        assert!((end - 0.5 * (number + 1) as f64).abs() < 0.05, "{gaps:?}");
        assert!((length - 0.2).abs() < 0.05, "{gaps:?}");
    }
}

#[test]
fn a_stall_does_not_hold_up_the_end() {
    let _alone = alone();
    let mut server = web(r#""stall":{"for_s":50,"every_s":50.01}"#);
    std::thread::sleep(Duration::from_millis(50));
    let begin = Instant::now();
    server.stop();
    assert!(begin.elapsed().as_secs_f64() < 2.0);
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

/// Requests per second of so many clients together.
fn rate_of(server: &ServerHandle, clients: usize, requests: usize) -> f64 {
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| times(server, requests / clients - 1));
        }
    });
    requests as f64 / begin.elapsed().as_secs_f64()
}

#[test]
fn the_limit_holds_evenly() {
    let _alone = alone();
    let server = web(r#""limit_per_s":1000"#);
    // Enough clients always leave one waiting, so the limit alone sets the rate, unless the machine is held up for long.
    let mut rates = Vec::new();
    for _ in 0..5 {
        let rate = rate_of(&server, 40, 1200);
        assert!(rate < 1002.0, "{rate} per second");
        let most = counts(&server)["per_second"].as_array().unwrap().iter().filter_map(|s| s["replies"].as_u64()).max();
        assert!(most <= Some(1020), "{most:?} replies in one second");
        rates.push(rate);
        if rate > 990.0 {
            return;
        }
    }
    panic!("never near 1000 per second: {rates:?}");
}

#[test]
fn the_limit_gives_a_single_client_its_full_rate() {
    let _alone = alone();
    let server = web(r#""limit_per_s":1000"#);
    // A single client that is kept off the processor loses its turns: the best of some short stretches counts.
    let mut rates = Vec::new();
    for _ in 0..60 {
        let rate = rate_of(&server, 1, 200);
        assert!(rate < 1006.0, "{rate} per second");
        rates.push(rate);
        if rate > 990.0 {
            return;
        }
    }
    panic!("never near 1000 per second: {rates:?}");
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
    let _alone = alone();
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
    assert!((begin.elapsed().as_secs_f64() - 0.15).abs() < 0.03, "{:?}", begin.elapsed());
}
