//! The mail target by hand, and under random bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bakeoff_targets::{ServerHandle, serve};
use serde_json::Value;

fn start(settings: &str) -> (ServerHandle, String, String) {
    let comma = if settings.is_empty() { "" } else { "," };
    let server = serve(&format!(r#"{{"kind":"mail"{comma}{settings}}}"#)).unwrap();
    let address = server.address();
    let (smtp, pop3) = address.split_once(",pop3=").unwrap();
    let smtp = smtp.split_once('=').unwrap().1.to_owned();
    let pop3 = pop3.to_owned();
    (server, smtp, pop3)
}

struct Talk(BufReader<TcpStream>);

impl Talk {
    fn to(address: &str) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(crate::common::TIMEOUT)).unwrap();
        Self(BufReader::new(socket))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn ask(&mut self, text: &str) -> String {
        write!(self.0.get_mut(), "{text}\r\n").unwrap();
        self.line()
    }
}

fn counts(server: &ServerHandle) -> Value {
    serde_json::from_str(&server.counts()).unwrap()
}

#[test]
fn a_message_goes_in_and_comes_out_unchanged() {
    let (server, smtp, pop3) = start("");
    let mut talk = Talk::to(&smtp);
    assert!(talk.line().starts_with("220 "));
    assert!(talk.ask("HELO me").starts_with("250 "));
    assert!(talk.ask("RCPT TO:<b@x>").starts_with("503"));
    assert!(talk.ask("MAIL FROM:<a@x> SIZE=10").starts_with("250"));
    assert!(talk.ask("RCPT TO:<b@x>").starts_with("250"));
    assert!(talk.ask("DATA").starts_with("354"));
    assert!(talk.ask("Subject: x\r\n\r\n..dot\r\n...\r\nend  \r\n.").starts_with("250"));
    assert!(talk.ask("QUIT").starts_with("221"));
    let mut talk = Talk::to(&pop3);
    talk.line();
    assert_eq!(talk.ask("USER b@x"), "+OK");
    assert_eq!(talk.ask("PASS any"), "+OK");
    assert_eq!(talk.ask("STAT"), "+OK 1 31");
    assert_eq!(talk.ask("RETR 1"), "+OK");
    let lines: Vec<_> = (0..6).map(|_| talk.line()).collect();
    assert_eq!(lines, ["Subject: x", "", "..dot", "...", "end", "."]);
    assert_eq!(talk.ask("DELE 1"), "+OK");
    let mut other = Talk::to(&pop3);
    other.line();
    other.ask("USER b@x");
    assert!(other.ask("PASS any").starts_with("-ERR [IN-USE]"));
    assert_eq!(talk.ask("QUIT"), "+OK bye");
    let mut again = Talk::to(&pop3);
    again.line();
    again.ask("USER b@x");
    again.ask("PASS any");
    assert_eq!(again.ask("STAT"), "+OK 0 0");
    assert_eq!(counts(&server)["deleted"], 1);
}

#[test]
fn a_session_that_breaks_off_deletes_nothing_and_frees_the_maildrop() {
    let (_server, _, pop3) = start(r#""fill":{"messages":2,"bytes":200}"#);
    for _ in 0..2 {
        let mut talk = Talk::to(&pop3);
        talk.line();
        talk.ask("USER b@x");
        let mut answer = talk.ask("PASS any");
        let begun = Instant::now();
        while answer != "+OK" && begun.elapsed() < crate::common::TIMEOUT {
            std::thread::sleep(Duration::from_millis(10));
            talk.ask("USER b@x");
            answer = talk.ask("PASS any");
        }
        assert!(talk.ask("STAT").starts_with("+OK 2 "));
        talk.ask("DELE 1");
    }
}

#[test]
fn descriptions_that_make_no_sense_are_refused() {
    for settings in [
        r#""lose":{"count":2,"of":1}"#,
        r#""reject":[{"command":"HUH","code":450}]"#,
        r#""implicit_tls":true"#,
        r#""colour":1"#,
    ] {
        assert!(serve(&format!(r#"{{"kind":"mail",{settings}}}"#)).is_err(), "{settings}");
    }
}

/// A client that talks nonsense gets an answer or a closed connection, and harms nobody else.
#[test]
fn random_bytes_do_no_harm() {
    let (server, smtp, pop3) = start(r#""idle_timeout_s":1.0,"size_limit_bytes":100000"#);
    let mut state = 0x1234_5678_9ABC_DEF0_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: &[&[u8]] = &[
        b"EHLO x\r\n",
        b"MAIL FROM:<a@x>\r\n",
        b"RCPT TO:<b@x>\r\n",
        b"DATA\r\n",
        b".\r\n",
        b"..",
        b"\r\n",
        b"\n",
        b"\0",
        b"RSET\r\n",
        b"USER b@x\r\n",
        b"PASS x\r\n",
        b"STAT\r\n",
        b"UIDL\r\n",
        b"LIST 9999999999999999999\r\n",
        b"RETR 0\r\n",
        b"DELE 1\r\n",
        b"TOP 1\r\n",
        b"AUTH PLAIN ====\r\n",
        b"AUTH PLAIN AGEAYg==\r\n",
        b"STARTTLS\r\n",
        b"QUIT\r\n",
        b"CAPA\r\n",
        b"LHLO x\r\n",
    ];
    for round in 0..200 {
        let address = if round % 2 == 0 { &smtp } else { &pop3 };
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(crate::common::TIMEOUT)).unwrap();
        let mut bytes = Vec::new();
        for _ in 0..40 {
            let pick = next() as usize % (words.len() + 2);
            match words.get(pick) {
                Some(word) => bytes.extend_from_slice(word),
                None if pick == words.len() => bytes.extend((0..next() % 64).map(|_| 0x80_u8)),
                None => bytes.extend(std::iter::repeat_n(b'x', (next() % 9_000) as usize)),
            }
        }
        // The server may have closed already.
        let _ = socket.write_all(&bytes);
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert!(answer.starts_with(b"220 ") || answer.starts_with(b"+OK"), "{answer:?}");
    }
    let mut talk = Talk::to(&smtp);
    assert!(talk.line().starts_with("220 "));
    assert!(talk.ask("NOOP").starts_with("250"));
    drop(server);
}
