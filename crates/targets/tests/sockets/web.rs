//! The web target when it behaves: what it serves, over which sockets, and what it counts.

use std::io::Write;

use crate::common::{Client, Folder, counts, counts_when, tcp, web};
use bakeoff_targets::{ServeError, serve};
use serde_json::json;

#[test]
fn a_folder_is_served_with_lengths_and_types() {
    let folder = Folder::new("folder");
    let image: Vec<u8> = (0..550_000u32).map(|n| (n % 251) as u8).collect();
    folder.file("a/b/large.gif", &image);
    folder.file("sub/index.html", b"<p>index");
    folder.file("with space.txt", b"text");
    folder.file("empty.bin", b"");
    let server = web(&format!(r#""root":"{}""#, folder.text()));
    let mut client = Client::to(&server);

    let large = client.get("/a/b/large.gif").unwrap();
    assert_eq!((large.status, large.body == image), (200, true));
    assert_eq!((large.header("content-type"), large.header("content-length")), (Some("image/gif"), Some("550000")));
    assert_eq!(client.get("/sub/").unwrap().body, b"<p>index");
    assert_eq!(client.get("/sub/index.html?x=1").unwrap().header("content-type"), Some("text/html"));
    assert_eq!(client.get("/with%20space.txt").unwrap().body, b"text");
    let empty = client.get("/empty.bin").unwrap();
    assert_eq!((empty.status, empty.header("content-length"), empty.body.len()), (200, Some("0"), 0));

    for missing in ["/nothing", "/sub", "/../Cargo.toml", "/%2e%2e/x", "/a/b/../b/large.gif", "/%zz"] {
        let reply = client.get(missing).unwrap();
        assert_eq!((reply.status, reply.body.as_slice()), (404, b"404 Not Found\n".as_slice()), "{missing}");
    }
    let head = client.ask("HEAD /a/b/large.gif HTTP/1.1\r\nHost: t\r\n\r\n").unwrap();
    assert_eq!((head.status, head.header("content-length")), (200, Some("550000")));
    let post = client.ask("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nab").unwrap();
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")));

    let counted = counts(&server);
    assert_eq!(counted["requests"], 13);
    assert_eq!(counted["replies"], json!({"200": 6, "404": 6, "405": 1}));
    assert_eq!(counted["connections"], 1);
    assert_eq!(counted["body_bytes"], 550_000 + 2 * 8 + 4 + 6 * 14 + "405 Method Not Allowed\n".len());
}

#[test]
fn links_and_too_large_folders_are_not_served() {
    let folder = Folder::new("links");
    folder.file("file", b"0123456789");
    std::os::unix::fs::symlink("/etc/passwd", folder.0.join("passwd")).unwrap();
    let server = web(&format!(r#""root":"{}","memory_bytes":10"#, folder.text()));
    assert_eq!(Client::to(&server).get("/passwd").unwrap().status, 404);
    assert_eq!(Client::to(&server).get("/file").unwrap().status, 200);
    let small = serve(&format!(r#"{{"kind":"web","root":"{}","memory_bytes":9}}"#, folder.text()));
    assert!(matches!(small, Err(ServeError::Start(text)) if text.contains("raise memory_bytes")));
}

#[test]
fn http_1_0_and_1_1_keep_or_close_as_asked() {
    let server = web("");
    let ask = |request: &str| {
        let mut client = Client::to(&server);
        let reply = client.ask(request).unwrap();
        assert_eq!((reply.status, reply.body.len(), reply.complete), (200, 1024, true), "{request}");
        (reply, client)
    };
    let (reply, mut client) = ask("GET / HTTP/1.0\r\n\r\n");
    assert!(reply.head.starts_with("HTTP/1.0 200") && client.at_end());
    let (_, mut client) = ask("GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    assert!(client.at_end());
    let (reply, mut client) = ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(reply.header("connection"), Some("keep-alive"));
    assert_eq!(client.get("/").unwrap().status, 200);
    let (_, mut client) = ask("GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_eq!(client.get("/").unwrap().status, 200);

    let closing = web(r#""keep_alive":false"#);
    let mut client = Client::to(&closing);
    assert_eq!(client.get("/").unwrap().header("connection"), Some("close"));
    assert!(client.at_end());

    let three = web(r#""requests_per_connection":3"#);
    let mut client = Client::to(&three);
    assert_eq!(client.get("/").unwrap().header("connection"), None);
    assert_eq!(client.get("/").unwrap().header("connection"), None);
    assert_eq!(client.get("/").unwrap().header("connection"), Some("close"));
    assert!(client.at_end());
}

#[test]
fn chunked_bodies_have_no_length_and_the_same_bytes() {
    let server = web(r#""chunked":true,"page_bytes":100000"#);
    let whole = web(r#""page_bytes":100000"#);
    let mut client = Client::to(&server);
    for _ in 0..2 {
        let reply = client.get("/").unwrap();
        assert_eq!((reply.header("transfer-encoding"), reply.header("content-length")), (Some("chunked"), None));
        assert_eq!(reply.body, Client::to(&whole).get("/").unwrap().body);
    }
    let old = Client::to(&server).ask("GET / HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!((old.header("transfer-encoding"), old.body.len()), (None, 100_000));
}

#[test]
fn the_dynamic_page_is_computed_and_can_be_switched_off() {
    let server = web("");
    let mut client = Client::to(&server);
    let page = client.get("/cgi-bin/bakeoff.cgi?n=7&size=300").unwrap();
    assert_eq!((page.status, page.body.len()), (200, 300));
    assert_eq!((page.header("cache-control"), page.header("content-type")), (Some("no-store"), Some("text/html")));
    assert!(page.body.starts_with(b"<!DOCTYPE html><title>bakeoff</title><pre>\n1000000007 1000055433 ..."));
    let bad = client.get("/cgi-bin/bakeoff.cgi?n=7").unwrap();
    assert_eq!((bad.status, bad.header("content-type")), (400, Some("text/plain")));
    assert_eq!(bad.body, b"bad query: use ?n=0..999999999&size=64..131072\n");
    let without = web(r#""dynamic":false"#);
    assert_eq!(Client::to(&without).get("/cgi-bin/bakeoff.cgi?n=7&size=300").unwrap().status, 404);
}

#[test]
fn ipv6_and_unix_sockets_work() {
    let six = web(r#""host":"::1""#);
    assert!(six.address().starts_with("[::1]:"));
    assert_eq!(Client::to(&six).get("/").unwrap().status, 200);

    let folder = Folder::new("unix");
    let path = folder.0.join("socket");
    let spec = format!(r#""unix":"{}","threads":2"#, path.display());
    let mut server = web(&spec);
    assert_eq!(server.address(), format!("unix:{}", path.display()));
    for _ in 0..4 {
        assert_eq!(Client::to(&server).get("/").unwrap().body.len(), 1024);
    }
    let taken = serve(&format!(r#"{{"kind":"web",{spec}}}"#));
    assert!(matches!(taken, Err(ServeError::Start(text)) if text.contains("choose another path")));
    server.stop();
    assert!(!path.exists());
    // One that nobody listens on any more is replaced.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    assert_eq!(Client::to(&web(&spec)).get("/").unwrap().status, 200);
    // A file that is no socket is never touched.
    folder.file("file", b"precious");
    assert!(serve(&format!(r#"{{"kind":"web","unix":"{}"}}"#, folder.0.join("file").display())).is_err());
    assert_eq!(std::fs::read(folder.0.join("file")).unwrap(), b"precious");
}

#[test]
fn connections_are_dealt_out_to_all_threads_and_counted_once() {
    let server = web(r#""threads":3"#);
    let mut clients: Vec<Client> = (0..9).map(|_| Client::to(&server)).collect();
    for _ in 0..10 {
        for client in &mut clients {
            assert_eq!(client.get("/").unwrap().status, 200);
        }
    }
    let counted = counts(&server);
    assert_eq!((&counted["requests"], &counted["connections"], &counted["open"]), (&json!(90), &json!(9), &json!(9)));
    drop(clients);
    counts_when(&server, |counts| counts["open"] == 0);
}

#[test]
fn the_counts_can_be_fetched_without_being_counted() {
    let server = web("");
    let mut client = Client::to(&server);
    let reply = client.get("/one").unwrap();
    let seen: serde_json::Value =
        serde_json::from_slice(&Client::to(&server).get("/.bakeoff/counts").unwrap().body).unwrap();
    assert_eq!((&seen["requests"], &seen["connections"], &seen["kind"]), (&json!(1), &json!(1), &json!("web")));
    let bytes = reply.head.len() + 4 + reply.body.len();
    assert_eq!((&seen["bytes"], &seen["body_bytes"]), (&json!(bytes), &json!(1024)));
    // On a connection that is counted, and at an unknown place beside the counts.
    assert_eq!(client.get("/.bakeoff/counts").unwrap().status, 200);
    assert_eq!(client.get("/.bakeoff/other").unwrap().status, 404);
    assert_eq!(client.get("/two").unwrap().status, 200);
    let seen = counts_when(&server, |counts| counts["open"] == 1 && counts["bytes"] == 2 * bytes);
    assert_eq!((&seen["requests"], &seen["connections"]), (&json!(2), &json!(1)));
    let seconds = seen["per_second"].as_array().unwrap();
    for figure in ["connections", "requests", "replies", "bytes", "refused"] {
        let sum: u64 = seconds.iter().map(|second| second[figure].as_u64().unwrap()).sum();
        let total = if figure == "replies" { &seen["replies"]["200"] } else { &seen[figure] };
        assert_eq!(Some(sum), total.as_u64(), "{figure}");
    }
}

#[test]
fn hostile_input_does_not_disturb_others() {
    let server = web(r#""max_connections":50"#);
    let mut good = Client::to(&server);
    assert_eq!(good.get("/").unwrap().status, 200);
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(200_000));
    for bad in
        ["\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n", "\u{16}\u{3}\u{1}", &long]
    {
        let mut socket = tcp(&server.address());
        let _ = socket.write_all(bad.as_bytes());
        drop(socket);
        assert_eq!(good.get("/").unwrap().status, 200);
    }
}

#[test]
fn a_head_that_never_ends_is_ended_whether_or_not_bytes_keep_trickling_in() {
    let server = web(r#""idle_timeout_s":0.3"#);
    let mut slow = Client::to(&server);
    slow.socket.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    // Each byte comes long before the time-out; a tenth of these would do.
    let refused = (0..1_000).find(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        slow.socket.write_all(b"x").is_err()
    });
    assert!(refused.is_some());
    counts_when(&server, |counts| counts["timed_out"].as_u64() >= Some(1));
}

#[test]
fn more_connections_than_allowed_are_refused() {
    let server = web(r#""max_connections":3"#);
    let mut clients: Vec<Client> = (0..3).map(|_| Client::to(&server)).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").unwrap().status, 200);
    }
    assert!(Client::to(&server).get("/").is_err());
    assert_eq!(counts(&server)["connections_refused"], 1);
    drop(clients);
    counts_when(&server, |counts| counts["open"] == 0);
    assert_eq!(Client::to(&server).get("/").unwrap().status, 200);
}

#[test]
fn wrong_descriptions_say_what_is_wrong() {
    for (spec, words) in [
        ("{", "server description"),
        (r#"{"kind":"ftp"}"#, "ftp"),
        (r#"{"kind":"web","dealy_s":1}"#, "dealy_s"),
        (r#"{"kind":"web","host":"localhost"}"#, "IP address"),
        (r#"{"kind":"web","delay_s":-1}"#, "delay_s"),
        (r#"{"kind":"web","stall":{"for_s":2,"every_s":1}}"#, "stall.for_s"),
        (r#"{"kind":"web","refuse":{"count":2,"of":1}}"#, "refuse"),
        (r#"{"kind":"web","limit_per_s":0}"#, "limit_per_s"),
        (r#"{"kind":"web","status":{"code":99}}"#, "status.code"),
        (r#"{"kind":"web","truncate_every":0}"#, "truncate_every"),
        (r#"{"kind":"web","threads":0}"#, "threads"),
        (r#"{"kind":"null","root":"/"}"#, "root"),
        (r#"{"kind":"null","pin":[]}"#, "pin"),
    ] {
        match serve(spec) {
            Err(ServeError::Spec(text)) => assert!(text.contains(words), "{spec}: {text}"),
            other => panic!("{spec}: {other:?}"),
        }
    }
    let server = web("");
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    for (spec, words) in [
        (r#"{"kind":"web","root":"/nonexistent"}"#.to_owned(), "/nonexistent"),
        (format!(r#"{{"kind":"web","port":{port}}}"#), "choose another address or port"),
        (r#"{"kind":"web","pin":[900]}"#.to_owned(), "core 900"),
        (r#"{"kind":"null","pin":[99999]}"#.to_owned(), "core 99999"),
    ] {
        match serve(&spec) {
            Err(ServeError::Start(text)) => assert!(text.contains(words), "{spec}: {text}"),
            other => panic!("{spec}: {other:?}"),
        }
    }
}
