//! TLS, the null server, and the program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::common::{Client, Folder, counts, counts_when, tcp, web};
use bakeoff_targets::{ServerHandle, serve};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned};
use serde_json::json;

fn trusting(file: &std::path::Path) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    Arc::new(config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots).with_no_client_auth())
}

/// One request over a new TLS connection: the body's length and how the handshake went.
fn over_tls(
    server: &ServerHandle,
    config: &Arc<ClientConfig>,
    name: &'static str,
) -> std::io::Result<(usize, HandshakeKind)> {
    let session = ClientConnection::new(Arc::clone(config), ServerName::try_from(name).unwrap()).unwrap();
    let mut stream = StreamOwned::new(session, tcp(&server.address()));
    stream.write_all(b"GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")?;
    let mut text = Vec::new();
    // To the end, so that the server's close_notify is checked as well.
    stream.read_to_end(&mut text)?;
    let head = text.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    Ok((text.len() - head, stream.conn.handshake_kind().unwrap()))
}

#[test]
fn tls_is_trusted_by_its_certificate_and_resumes_when_allowed() {
    let folder = Folder::new("tls");
    let file = folder.0.join("certificate.pem");
    for (resumption, second) in [("true", HandshakeKind::Resumed), ("false", HandshakeKind::Full)] {
        let server = web(&format!(r#""tls":{{"certificate_file":"{}","resumption":{resumption}}}"#, file.display()));
        let config = trusting(&file);
        assert_eq!(over_tls(&server, &config, "localhost").unwrap(), (1024, HandshakeKind::Full));
        assert_eq!(over_tls(&server, &config, "localhost").unwrap(), (1024, second));
        assert_eq!(over_tls(&server, &config, "127.0.0.1").unwrap().0, 1024);
        assert!(over_tls(&server, &config, "other.example").is_err());
        let counted = counts_when(&server, |counts| counts["open"] == 0);
        assert_eq!((&counted["requests"], &counted["tls_failed"]), (&json!(3), &json!(1)));
    }
}

#[test]
fn faults_work_over_tls() {
    let folder = Folder::new("tls-faults");
    let file = folder.0.join("c.pem");
    let server = web(&format!(
        r#""tls":{{"certificate_file":"{}"}},"refuse":{{"count":1,"of":2}},"truncate_every":2"#,
        file.display()
    ));
    let config = trusting(&file);
    assert_eq!(over_tls(&server, &config, "localhost").unwrap().0, 1024);
    assert_eq!(over_tls(&server, &config, "localhost").unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    // Cut without the end mark of TLS: a careful client must notice.
    assert_eq!(over_tls(&server, &config, "localhost").unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
    assert_eq!(counts(&server)["truncated"], 1);
}

#[test]
fn the_null_server_answers_heads_however_they_arrive() {
    let server = serve(r#"{"kind":"null","page_bytes":500}"#).unwrap();
    let mut client = Client::to(&server);
    assert_eq!(client.get("/any").unwrap().body.len(), 500);
    for byte in b"GET / HTTP/1.1\r\nHost: t\r\n\r\n" {
        client.socket.write_all(&[*byte]).unwrap();
        client.socket.flush().unwrap();
    }
    assert_eq!(client.reply(false).unwrap().body.len(), 500);
    client.socket.write_all(&b"GET / HTTP/1.1\r\nHost: t\r\n\r\n".repeat(3)).unwrap();
    for _ in 0..3 {
        assert_eq!(client.reply(false).unwrap().status, 200);
    }
    let counted = counts(&server);
    assert_eq!((&counted["requests"], &counted["body_bytes"], &counted["open"]), (&json!(5), &json!(2500), &json!(1)));
    drop(client);
    counts_when(&server, |counts| counts["open"] == 0);
}

#[test]
fn the_null_server_waits_for_slow_readers() {
    for close in [false, true] {
        let server = serve(&format!(r#"{{"kind":"null","page_bytes":30000000,"close":{close}}}"#)).unwrap();
        let mut slow = Client::to(&server);
        slow.socket.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        counts_when(&server, |counts| counts["requests"] == 1);
        assert_eq!(Client::to(&server).get("/").unwrap().body.len(), 30_000_000);
        assert_eq!(slow.reply(false).unwrap().body.len(), 30_000_000);
        if close {
            assert!(slow.at_end());
        } else {
            assert_eq!(slow.get("/").unwrap().body.len(), 30_000_000);
        }
        counts_when(&server, |counts| counts["bytes"].as_u64() > counts["body_bytes"].as_u64());
    }
}

#[test]
fn the_null_server_closes_when_told_to() {
    let folder = Folder::new("null");
    let unix = format!(r#","unix":"{}/s""#, folder.text());
    for place in ["", r#","threads":2"#, &unix] {
        let server = serve(&format!(r#"{{"kind":"null","close":true{place}}}"#)).unwrap();
        for _ in 0..50 {
            let mut client = Client::to(&server);
            let reply = client.get("/").unwrap();
            assert_eq!((reply.header("connection"), reply.body.len()), (Some("close"), 1024));
            assert!(client.at_end());
        }
        let counted = counts_when(&server, |counts| counts["open"] == 0);
        assert_eq!((&counted["requests"], &counted["connections"]), (&json!(50), &json!(50)));
    }
}

/// Ends with its test, whatever happens.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program(arguments: &[&str]) -> (Program, BufReader<std::process::ChildStdout>, String) {
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_bakeoff-targets")).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let first: serde_json::Value = serde_json::from_str(&line).unwrap();
    (Program(child), output, first["address"].as_str().unwrap().to_owned())
}

#[test]
fn the_program_tells_its_address_and_at_the_end_its_counts() {
    for (arguments, signal) in [
        (vec!["web", "--delay", "20ms", "--status", "503/2", "--size", "10", "--close"], "-TERM"),
        (vec!["null", "--size", "10", "--close"], "-INT"),
    ] {
        let (mut child, mut output, address) = program(&arguments);
        for _ in 0..4 {
            let mut client = Client::new(tcp(&address));
            let begin = std::time::Instant::now();
            assert!(matches!(client.get("/").unwrap().status, 200 | 503));
            assert!(arguments[0] == "null" || begin.elapsed().as_millis() >= 20);
            assert!(client.at_end());
        }
        assert!(Command::new("kill").args([signal, &child.0.id().to_string()]).status().unwrap().success());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let counted: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&counted["requests"], &counted["kind"]), (&json!(4), &json!(arguments[0])));
        assert!(child.0.wait().unwrap().success());
    }
}

#[test]
fn the_program_refuses_nonsense_with_code_2() {
    for arguments in [
        ["web", "--delay", "5"],
        ["web", "--stall", "1s"],
        ["web", "--refuse", "11/10"],
        ["web", "--root", "/nonexistent"],
        ["null", "--threads", "0"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_bakeoff-targets")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}
