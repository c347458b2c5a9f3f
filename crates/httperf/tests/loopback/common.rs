//! A server whose every connection is told what to do, and a trial against it.

use bakeoff_engine::{TrialResult, TrialSpec};
use bakeoff_httperf::HttperfSpec;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A trial that hangs is broken off, s.
pub const PATIENCE_S: u64 = 600;

/// What the other side saw and did.
#[derive(Debug, Default)]
pub struct Counts {
    pub connections: AtomicU64,
    pub requests: AtomicU64,
    pub replies: AtomicU64,
}

pub fn seen(count: &AtomicU64) -> u64 {
    count.load(Ordering::SeqCst)
}

/// One connection at the server.
pub struct Peer {
    pub stream: TcpStream,
    /// Counted from 0.
    pub nth: u64,
    pub counts: Arc<Counts>,
    unread: Vec<u8>,
}

impl Peer {
    /// The next request as text; `None` at the end of the stream.
    pub fn request(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.unread.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.unread[..end + 4]).into_owned();
                let length = head.to_ascii_lowercase();
                let length = length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
                let whole = end + 4 + length.unwrap_or(0_usize);
                if self.unread.len() >= whole {
                    let request = String::from_utf8_lossy(&self.unread[..whole]).into_owned();
                    self.unread.drain(..whole);
                    self.counts.requests.fetch_add(1, Ordering::SeqCst);
                    return Some(request);
                }
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
            }
        }
    }

    /// Sends bytes that are no whole reply.
    pub fn say(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Sends a whole reply.
    pub fn reply(&mut self, bytes: &[u8]) {
        self.counts.replies.fetch_add(1, Ordering::SeqCst);
        self.say(bytes);
    }

    /// Closes with a reset.
    pub fn reset(self) {
        let socket = socket2::SockRef::from(&self.stream);
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// Waits until the other side has closed.
    pub fn wait_for_end(&mut self) {
        let mut buffer = [0; 4096];
        while matches!(self.stream.read(&mut buffer), Ok(count) if count > 0) {}
    }
}

/// A server in threads of its own.
pub struct Server {
    pub address: String,
    pub counts: Arc<Counts>,
    over: Arc<AtomicBool>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    pub fn new(behave: impl Fn(Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (counts, over) = (Arc::new(Counts::default()), Arc::new(AtomicBool::new(false)));
        let threads = Arc::new(Mutex::new(Vec::new()));
        let (told, done, running) = (Arc::clone(&counts), Arc::clone(&over), Arc::clone(&threads));
        let behave = Arc::new(behave);
        let acceptor = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if done.load(Ordering::SeqCst) {
                    return;
                }
                let nth = told.connections.fetch_add(1, Ordering::SeqCst);
                let peer = Peer { stream: stream.unwrap(), nth, counts: Arc::clone(&told), unread: Vec::new() };
                let behave = Arc::clone(&behave);
                running.lock().unwrap().push(std::thread::spawn(move || behave(peer)));
            }
        });
        Self { address, counts, over, threads, acceptor: Some(acceptor) }
    }

    /// Stops it; all its connections have been served then.
    pub fn stop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(&self.address);
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap();
        }
        for thread in std::mem::take(&mut *self.threads.lock().unwrap()) {
            thread.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.acceptor.is_some() {
            self.stop();
        }
    }
}

/// The specification of a trial against an address, with some options changed.
pub fn trial(address: &str, extra: &Value) -> Value {
    let mut workload: Value = serde_json::from_str(include_str!("plain.json")).unwrap();
    workload["servers"][0]["address"] = address.into();
    for (name, value) in extra.as_object().unwrap() {
        workload[name] = value.clone();
    }
    let load = if workload["period"].is_null() {
        json!({"clients": 1})
    } else {
        json!({"rate": {"per_s": 1.0, "most_connections": 1}})
    };
    json!({"workload": workload, "load": load, "length_s": 600})
}

/// What a trial told, and its events.
pub fn run(address: &str, extra: &Value) -> (TrialResult, Vec<Value>) {
    let handle = start(address, extra);
    let outcome = handle.wait(Duration::from_secs(PATIENCE_S)).expect("the trial hangs");
    let events = handle.drain_events().iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    (outcome.unwrap(), events)
}

pub fn start(address: &str, extra: &Value) -> bakeoff_platform::TrialHandle {
    let trial = TrialSpec::from_json(&trial(address, extra).to_string()).unwrap();
    let spec = HttperfSpec::from_trial(&trial).unwrap();
    let handle = bakeoff_httperf::start(spec, trial).unwrap();
    handle.go(0);
    handle
}

/// A whole number among the figures of a trial's result.
pub fn figure(result: &TrialResult, pointer: &str) -> u64 {
    result.workload.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no figure {pointer}"))
}
