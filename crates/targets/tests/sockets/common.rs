//! A plain blocking HTTP client: it shows exactly what a client sees.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use bakeoff_targets::{ServerHandle, serve};
use serde_json::Value;

/// A watchdog for what hangs, and nothing else: it must not run out on the slowest machine.
pub const TIMEOUT: Duration = Duration::from_mins(5);

/// So many times a figure is compared with its control, one right after the other.
pub const PAIRS: usize = 120;
/// A fair coin falls on one side more often than this, of `PAIRS` throws, less than once in a million tests: 4.9
/// standard deviations above the half.
pub const HEADS_MAX: usize = 87;

/// What came back for one request.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Reply {
    pub status: u16,
    /// The head without the empty line, as sent.
    pub head: String,
    pub body: Vec<u8>,
    /// False if the connection ended before the body did.
    pub complete: bool,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &str| line.split_once(':').is_some_and(|(key, _)| key.eq_ignore_ascii_case(name));
        self.head.lines().find(|line| named(line)).and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }
}

pub trait Socket: Read + Write {}
impl<T: Read + Write> Socket for T {}

/// One connection, kept open between requests.
pub struct Client {
    pub socket: Box<dyn Socket>,
    held: Vec<u8>,
}

pub fn web(faults: &str) -> ServerHandle {
    let comma = if faults.is_empty() { "" } else { "," };
    serve(&format!(r#"{{"kind":"web"{comma}{faults}}}"#)).unwrap()
}

pub fn tcp(address: &str) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

pub fn counts(server: &ServerHandle) -> Value {
    serde_json::from_str(&server.counts()).unwrap()
}

/// The counts once `good` holds: a figure may follow the client's last byte by some microseconds.
pub fn counts_when(server: &ServerHandle, good: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..30_000 {
        let now = counts(server);
        if good(&now) {
            return now;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never so: {}", server.counts());
}

impl Client {
    pub fn new(socket: impl Socket + 'static) -> Self {
        Self { socket: Box::new(socket), held: Vec::new() }
    }

    pub fn to(server: &ServerHandle) -> Self {
        let address = server.address();
        match address.strip_prefix("unix:") {
            Some(path) => {
                let socket = UnixStream::connect(path).unwrap();
                socket.set_read_timeout(Some(TIMEOUT)).unwrap();
                Self::new(socket)
            }
            None => Self::new(tcp(&address)),
        }
    }

    pub fn get(&mut self, path: &str) -> io::Result<Reply> {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n"))
    }

    pub fn ask(&mut self, request: &str) -> io::Result<Reply> {
        self.socket.write_all(request.as_bytes())?;
        self.reply(request.starts_with("HEAD"))
    }

    /// Reads one reply; an end before its first byte is an error.
    pub fn reply(&mut self, head_only: bool) -> io::Result<Reply> {
        let end = loop {
            if let Some(end) = self.held.windows(4).position(|w| w == b"\r\n\r\n") {
                break end;
            }
            if self.more()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let head = String::from_utf8(self.held[..end].to_vec()).unwrap();
        self.held.drain(..end + 4);
        let status = head[9..12].parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new(), complete: true };
        if head_only || matches!(status, 204 | 304) {
            return Ok(reply);
        }
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.complete = self.chunks(&mut reply.body)?;
        } else if let Some(length) = reply.header("content-length").map(|length| length.parse().unwrap()) {
            reply.complete = self.exactly(length, &mut reply.body)?;
        } else {
            while self.more()? > 0 {}
            reply.body = std::mem::take(&mut self.held);
        }
        Ok(reply)
    }

    /// True when the server has closed the connection and nothing is left.
    pub fn at_end(&mut self) -> bool {
        self.held.is_empty() && matches!(self.more(), Ok(0))
    }

    fn more(&mut self) -> io::Result<usize> {
        let mut buffer = vec![0; 65536];
        let count = self.socket.read(&mut buffer)?;
        self.held.extend_from_slice(&buffer[..count]);
        Ok(count)
    }

    fn exactly(&mut self, length: usize, body: &mut Vec<u8>) -> io::Result<bool> {
        while self.held.len() < length {
            match self.more() {
                Ok(0) => {
                    body.append(&mut self.held);
                    return Ok(false);
                }
                Ok(_) => {}
                Err(e) => return Err(e),
            }
        }
        body.extend(self.held.drain(..length));
        Ok(true)
    }

    fn chunks(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let end = loop {
                if let Some(end) = self.held.windows(2).position(|w| w == b"\r\n") {
                    break end;
                }
                if self.more()? == 0 {
                    return Ok(false);
                }
            };
            let size = usize::from_str_radix(std::str::from_utf8(&self.held[..end]).unwrap(), 16).unwrap();
            self.held.drain(..end + 2);
            let mut chunk = Vec::new();
            let whole = self.exactly(size + 2, &mut chunk)?;
            chunk.truncate(size);
            body.append(&mut chunk);
            if !whole || size == 0 {
                return Ok(whole);
            }
        }
    }
}

/// A folder for one test, removed at its end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bakeoff-targets-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str, bytes: &[u8]) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}
