//! The app protocol: every request is answered at once and right, with what takes work known beforehand.
//!
//! Of a data segment only who wrote each record last is kept: bytes and checksum of a record follow from that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bakeoff_app_protocol::{
    Figures, Hello, Kind, PAYLOAD_BYTES_MAX, REPLY_BYTES, REQUEST_BYTES, ReadEntry, Reply, Request, Status, UNKNOWN,
    checksum, fill_record, is_record_size, pattern, process, record_at,
};

use super::spoken::Dialogue;

/// As large as those of the app target are by default.
const SEGMENT_BYTES: u64 = 16 << 20;
const RECORDS_MAX: u32 = 65_536;
/// What a server has from before has the epoch 0.
const EPOCH: u64 = 1;

/// With its checksum.
type Pattern = (Arc<[u8]>, u64);

/// What all connections know: results by seed and rounds, and the pattern of uploads and downloads by its length.
#[derive(Default)]
pub struct PreparedReplies {
    results: Mutex<HashMap<(u64, u32), u64>>,
    patterns: Mutex<HashMap<u32, Pattern>>,
}

impl PreparedReplies {
    fn result(&self, seed: u64, rounds: u32) -> u64 {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        *results.entry((seed, rounds)).or_insert_with(|| process(seed, rounds))
    }

    fn pattern(&self, bytes: u32) -> Pattern {
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || {
            let made: Arc<[u8]> = pattern(bytes as usize).into();
            let sum = u64::from(checksum(&made));
            (made, sum)
        };
        patterns.entry(bytes).or_insert_with(made).clone()
    }
}

pub struct App {
    known: Arc<PreparedReplies>,
    head: [u8; REQUEST_BYTES],
    have: usize,
    /// An upload, of which so many bytes are still to come.
    upload: Option<(Request, usize)>,
    /// The sequence number of the last write of each record; 0 where there was none.
    sequences: Vec<u64>,
    record: Vec<u8>,
    is_over: bool,
}

impl App {
    pub const fn new(known: Arc<PreparedReplies>) -> Self {
        let head = [0; REQUEST_BYTES];
        Self { known, head, have: 0, upload: None, sequences: Vec::new(), record: Vec::new(), is_over: false }
    }

    fn answer(&mut self, request: &Request, out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + REPLY_BYTES, 0);
        let value = match request.kind {
            Kind::Hello => self.greet(request.c, out),
            Kind::Upload => self.known.pattern(request.payload_bytes).1,
            Kind::Download => {
                let bytes = request.b.min(PAYLOAD_BYTES_MAX);
                out.extend_from_slice(&self.known.pattern(bytes).0);
                u64::from(bytes)
            }
            Kind::Processor => self.known.result(request.a, request.b),
            Kind::Read => self.access(request, |app, index| app.read(index, out)),
            Kind::Write => self.access(request, |app, index| app.sequences[index as usize] = request.sequence),
        };
        let reply = Reply {
            kind: Some(request.kind),
            status: Status::Ok,
            sequence: request.sequence,
            queue_ns: 0,
            service_ns: 0,
            server_ns: 0,
            value,
            figures: Figures { disk_read_bytes: UNKNOWN, disk_written_bytes: UNKNOWN, ..Figures::default() },
            payload_bytes: (out.len() - begin - REPLY_BYTES) as u32,
        };
        reply.write(&mut out[begin..]);
    }

    fn greet(&mut self, record_bytes: u32, out: &mut Vec<u8>) -> u64 {
        let record_bytes = if is_record_size(record_bytes) { record_bytes } else { 0 };
        let segment_bytes = if record_bytes == 0 { 0 } else { SEGMENT_BYTES };
        self.record = vec![0; record_bytes as usize];
        self.sequences = vec![0; (segment_bytes / u64::from(record_bytes.max(1))) as usize];
        let hello = Hello {
            segment_bytes,
            service_ns: 0,
            threads: 1,
            processors: 1,
            direct: false,
            fsync: false,
            payload_max: PAYLOAD_BYTES_MAX,
            records_max: RECORDS_MAX,
        };
        out.extend_from_slice(&hello.to_bytes());
        EPOCH
    }

    /// Goes to each record of a request; how many these are.
    fn access(&mut self, request: &Request, mut go: impl FnMut(&mut Self, u64)) -> u64 {
        let all = self.sequences.len() as u64;
        let in_play = if request.c == 0 { all } else { all.min(u64::from(request.c)) };
        let count = if in_play == 0 { 0 } else { request.b.min(RECORDS_MAX) };
        for nth in 0..count {
            go(self, record_at(request.a, nth, in_play));
        }
        u64::from(count)
    }

    fn read(&mut self, index: u64, out: &mut Vec<u8>) {
        let sequence = self.sequences[index as usize];
        let epoch = if sequence == 0 { 0 } else { EPOCH };
        fill_record(&mut self.record, index, epoch, sequence);
        out.extend_from_slice(&ReadEntry { epoch, sequence, checksum: checksum(&self.record) }.to_bytes());
    }
}

impl Dialogue for App {
    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> u64 {
        let mut requests = 0;
        while !bytes.is_empty() && !self.is_over {
            if let Some((request, left)) = self.upload {
                let count = left.min(bytes.len());
                bytes = &bytes[count..];
                self.upload = (count < left).then_some((request, left - count));
                if self.upload.is_none() {
                    self.answer(&request, out);
                    requests += 1;
                }
                continue;
            }
            let count = (REQUEST_BYTES - self.have).min(bytes.len());
            self.head[self.have..self.have + count].copy_from_slice(&bytes[..count]);
            self.have += count;
            bytes = &bytes[count..];
            if self.have < REQUEST_BYTES {
                break;
            }
            self.have = 0;
            match Request::parse(&self.head, PAYLOAD_BYTES_MAX) {
                Ok(Some(request)) if request.payload_bytes > 0 => {
                    self.upload = Some((request, request.payload_bytes as usize));
                }
                Ok(Some(request)) => {
                    self.answer(&request, out);
                    requests += 1;
                }
                // No client of ours sends that.
                _ => self.is_over = true,
            }
        }
        requests
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
