//! HTTP/2 (RFC 9113) as far as a server must know it that answers every request alike: where frames begin and end, and on
//! which stream. Windows are taken to be wide, which those of the generator are.

use std::collections::VecDeque;
use std::sync::Arc;

use super::spoken::Dialogue;

const PREFACE_BYTES: usize = 24;
const HEAD_BYTES: usize = 9;
const FRAME_BYTES: usize = 16 * 1024;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// Of the head of a frame: its type, its flags, and its stream.
const KIND_AT: usize = 3;
const FLAGS_AT: usize = 4;
const STREAM_AT: usize = 5;

/// The frames of a reply, in which the stream is still to be written.
pub struct Reply {
    frames: Vec<u8>,
    streams_at: Vec<usize>,
}

impl Reply {
    pub fn new(body_bytes: usize) -> Self {
        let mut reply = Self { frames: Vec::new(), streams_at: Vec::new() };
        // Status 200, then names of the static table with values in full (RFC 7541, appendix A and 6.2.2).
        let mut block = vec![0x88];
        for (index, value) in [(54, "bakeoff-null"), (31, "text/plain"), (28, &body_bytes.to_string())] {
            block.extend_from_slice(&[0x0f, index - 0x0f, value.len() as u8]);
            block.extend_from_slice(value.as_bytes());
        }
        let ends = if body_bytes == 0 { END_STREAM } else { 0 };
        reply.put(HEADERS, END_HEADERS | ends, &block);
        let body = vec![b'x'; body_bytes];
        let mut rest = body.as_slice();
        while !rest.is_empty() {
            let (frame, behind) = rest.split_at(rest.len().min(FRAME_BYTES));
            reply.put(DATA, if behind.is_empty() { END_STREAM } else { 0 }, frame);
            rest = behind;
        }
        reply
    }

    fn put(&mut self, kind: u8, flags: u8, payload: &[u8]) {
        self.streams_at.push(self.frames.len() + STREAM_AT);
        self.frames.extend_from_slice(&head(payload.len(), kind, flags));
        self.frames.extend_from_slice(payload);
    }
}

/// The head of a frame without a stream.
fn head(length: usize, kind: u8, flags: u8) -> [u8; HEAD_BYTES] {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    [a, b, c, kind, flags, 0, 0, 0, 0]
}

pub struct Http2 {
    reply: Arc<Reply>,
    /// Bytes that come before the next head of a frame: of the preface, then of payloads.
    skip: usize,
    head: [u8; HEAD_BYTES],
    have: usize,
    owed: VecDeque<[u8; 4]>,
}

impl Http2 {
    pub fn new(reply: Arc<Reply>) -> Self {
        Self { reply, skip: PREFACE_BYTES, head: [0; HEAD_BYTES], have: 0, owed: VecDeque::new() }
    }
}

impl Dialogue for Http2 {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&head(0, SETTINGS, 0));
    }

    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> u64 {
        let mut requests = 0;
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            if bytes.is_empty() {
                return requests;
            }
            let count = (HEAD_BYTES - self.have).min(bytes.len());
            self.head[self.have..self.have + count].copy_from_slice(&bytes[..count]);
            self.have += count;
            bytes = &bytes[count..];
            if self.have < HEAD_BYTES {
                return requests;
            }
            self.have = 0;
            let [a, b, c, ..] = self.head;
            self.skip = u32::from_be_bytes([0, a, b, c]) as usize;
            match self.head[KIND_AT] {
                HEADERS => {
                    let stream = &self.head[STREAM_AT..];
                    self.owed.push_back([stream[0], stream[1], stream[2], stream[3]]);
                    requests += 1;
                }
                SETTINGS if self.head[FLAGS_AT] & ACK == 0 => out.extend_from_slice(&head(0, SETTINGS, ACK)),
                _ => {}
            }
        }
    }

    fn pay(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(stream) = self.owed.pop_front() else { return false };
        let begin = out.len();
        out.extend_from_slice(&self.reply.frames);
        for at in &self.reply.streams_at {
            out[begin + at..begin + at + stream.len()].copy_from_slice(&stream);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_found_wherever_the_reads_are_split() {
        let mut stream = vec![b'P'; PREFACE_BYTES];
        stream.extend_from_slice(&head(6, SETTINGS, 0));
        stream.extend_from_slice(&[0; 6]);
        for (kind, flags, stream_id, payload) in
            [(HEADERS, 5, 1, 3), (SETTINGS, ACK, 0, 0), (8, 0, 0, 4), (HEADERS, 5, 3, 0)]
        {
            let mut bytes = head(payload, kind, flags);
            bytes[HEAD_BYTES - 1] = stream_id;
            stream.extend_from_slice(&bytes);
            stream.extend_from_slice(&vec![1; payload]);
        }
        let reply = Arc::new(Reply::new(FRAME_BYTES + 1));
        for split in 0..=stream.len() {
            let (mut talk, mut out) = (Http2::new(Arc::clone(&reply)), Vec::new());
            let requests = talk.take(&stream[..split], &mut out) + talk.take(&stream[split..], &mut out);
            assert_eq!((requests, out.as_slice()), (2, &head(0, SETTINGS, ACK)[..]), "split at {split}");
            out.clear();
            assert!(talk.pay(&mut out) && talk.pay(&mut out) && !talk.pay(&mut out));
            let half = out.len() / 2;
            assert_eq!(half, reply.frames.len());
            for (id, frames) in [(1, &out[..half]), (3, &out[half..])] {
                assert!(reply.streams_at.iter().all(|at| frames[*at..at + 4] == [0, 0, 0, id]));
            }
            assert_eq!(reply.streams_at.len(), 3, "a head, a full frame and one of a byte");
        }
    }
}
