//! The machine against a server of a few canned answers, and against bytes that no server should send.

use super::*;
use bakeoff_engine::{OpenMode, Rng};
use std::ffi::CString;

const FILE_BYTES: usize = 10_000;

fn put(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
}

fn opaque(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, &[bytes.len() as u32]);
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(4), 0);
}

fn attributes(out: &mut Vec<u8>, kind: u32, size: u64) {
    put(out, &[1, kind, 0o644, 1, 0, 0, (size >> 32) as u32, size as u32]);
    put(out, &[0; 14]);
}

/// What the canned server makes of a call: the whole reply, framed.
struct Canned {
    calls: Vec<(u32, u32)>,
    content: Vec<u8>,
    verifier: u32,
    fragments: bool,
}

impl Canned {
    fn new() -> Self {
        let content = (0..FILE_BYTES).map(|at| (at % 251) as u8).collect();
        Self { calls: Vec::new(), content, verifier: 7, fragments: false }
    }

    fn word(call: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(*call[at..].first_chunk().unwrap())
    }

    fn reply(&mut self, call: &[u8]) -> Vec<u8> {
        let (number, program, procedure) = (Self::word(call, 0), Self::word(call, 12), Self::word(call, 20));
        self.calls.push((program, procedure));
        let credentials = Self::word(call, 28) as usize;
        let arguments = &call[32 + credentials + 8..];
        let mut out = Vec::new();
        put(&mut out, &[number, 1, 0, 0, 0, 0]);
        match (program, procedure) {
            (100_000, _) => put(&mut out, &[if Self::word(arguments, 0) == 100_005 { 20_048 } else { 2049 }]),
            (100_005, _) => {
                put(&mut out, &[0]);
                opaque(&mut out, b"root");
                put(&mut out, &[1, 1]);
            }
            (_, procedure) => self.nfs(procedure, arguments, &mut out),
        }
        self.framed(&out)
    }

    fn nfs(&mut self, procedure: u32, arguments: &[u8], out: &mut Vec<u8>) {
        put(out, &[0]);
        match procedure {
            19 => {
                put(out, &[0, 4096, 4096, 1, 2048, 2048]);
            }
            18 => {
                put(out, &[0, 0, 9, 0, 9, 0, 5]);
            }
            1 => {
                attributes(out, 1, FILE_BYTES as u64);
                out.drain(28..32);
            }
            3 => {
                opaque(out, b"file");
                attributes(out, if arguments.ends_with(b"d\0\0\0") { 2 } else { 1 }, FILE_BYTES as u64);
                put(out, &[0]);
            }
            6 => {
                let handle = 4 + (Self::word(arguments, 0) as usize).next_multiple_of(4);
                let from = Self::word(arguments, handle + 4) as usize;
                let to = self.content.len().min(from + Self::word(arguments, handle + 8) as usize);
                put(out, &[0, (to - from) as u32, u32::from(to == self.content.len())]);
                let bytes = self.content[from..to].to_vec();
                opaque(out, &bytes);
            }
            7 => {
                let handle = 4 + (Self::word(arguments, 0) as usize).next_multiple_of(4);
                put(out, &[0, 0, Self::word(arguments, handle + 8), Self::word(arguments, handle + 12)]);
                put(out, &[0, self.verifier]);
            }
            21 => put(out, &[0, 0, 0, self.verifier]),
            8 | 9 => put(out, &[0, 0, 0, 0]),
            17 => {
                put(out, &[0, 0, 0]);
                for name in [&b"."[..], b"..", b"one"] {
                    put(out, &[1, 0, 1]);
                    opaque(out, name);
                    put(out, &[0, 3, 0, 0]);
                }
                put(out, &[0, 1]);
            }
            _ => put(out, &[0, 0]),
        }
    }

    fn framed(&self, reply: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let pieces: Vec<&[u8]> = if self.fragments { reply.chunks(12).collect() } else { vec![reply] };
        for (at, piece) in pieces.iter().enumerate() {
            let last = if at + 1 == pieces.len() { LAST_FRAGMENT } else { 0 };
            put(&mut out, &[piece.len() as u32 | last]);
            out.extend_from_slice(piece);
        }
        out
    }
}

/// Hands bytes of the server over, in pieces of `most`.
fn hand(client: &mut dyn FileClient, bytes: &[u8], most: usize) -> Result<(), String> {
    for piece in bytes.chunks(most) {
        client.space()[..piece.len()].copy_from_slice(piece);
        client.received(piece.len())?;
    }
    Ok(())
}

/// Answers until a slot ends; `change` may spoil a reply.
fn pump(
    client: &mut dyn FileClient,
    server: &mut Canned,
    change: &mut dyn FnMut(&mut Vec<u8>),
) -> Result<Option<i64>, String> {
    for _ in 0..1000 {
        if let Some((_, value)) = client.finished() {
            return Ok(Some(value));
        }
        let sent = std::mem::take(client.outgoing());
        if sent.is_empty() {
            return Ok(None);
        }
        let mut reply = server.reply(&sent[4..]);
        change(&mut reply);
        hand(client, &reply, 1400)?;
    }
    Ok(None)
}

fn connected(server: &mut Canned) -> Box<dyn FileClient> {
    let mut client = NfsServer::of("nfs://server/export?uid=1&gid=2").unwrap().client("work", 2, 3);
    while client.port().is_some() {
        client.connected();
        assert_eq!(pump(&mut *client, server, &mut |_| ()), Ok(Some(0)));
    }
    client
}

fn call(client: &mut dyn FileClient, server: &mut Canned, call: FileCall, name: &str, data: &[u8]) -> i64 {
    let name = CString::new(name).unwrap();
    client.begin(0, &call, [&name, c""], data);
    pump(client, server, &mut |_| ()).unwrap().unwrap()
}

const WRITING: OpenMode = OpenMode {
    read: true,
    write: true,
    create: false,
    exclusive: false,
    truncate: false,
    append: false,
    direct: false,
    data_sync: false,
    sync: false,
    folder: false,
};

#[test]
fn addresses_say_host_export_ports_and_user() {
    let server = NfsServer::of("nfs://[::1]:2049/srv/a%20b?mountport=20048&uid=7&gid=8").unwrap();
    assert_eq!((server.host.as_str(), server.export.as_str()), ("::1", "/srv/a b"));
    assert_eq!(server.ports, Some(Ports { mount: 20_048, nfs: 2049 }));
    assert_eq!((server.uid, server.gid), (7, 8));
    let plain = NfsServer::of("nfs://box/export/").unwrap();
    assert_eq!((plain.ports, plain.uid, plain.export.as_str()), (None, NOBODY, "/export"));
    for wrong in
        ["nfs://", "nfs://box", "nfs:///export", "nfs://a@box/x", "nfs://box:0/x", "nfs://box/x?uid=me", "nfs://box/%2"]
    {
        let error = NfsServer::of(wrong).unwrap_err();
        assert!(error.contains("write nfs://host/export"), "{error}");
    }
}

#[test]
fn a_session_asks_what_rfc_1813_says() {
    let mut server = Canned::new();
    let client = &mut *connected(&mut server);
    let setup = [(100_000, 3), (100_000, 3), (100_005, 1), (100_003, 19), (100_003, 3)];
    assert_eq!(std::mem::take(&mut server.calls), setup);
    assert_eq!(client.facts()["read_bytes_max"], 4096);
    let open = FileCall::Open { file: 0, name: 0, mode: WRITING, permissions: 0o600 };
    assert_eq!(call(client, &mut server, open, "a", b""), 0);
    assert_eq!(call(client, &mut server, open, "a", b""), -9, "the handle is in use");
    let read = FileCall::ReadAt { file: 0, buffer: 0, length: 9000, offset: 1000 };
    assert_eq!(call(client, &mut server, read, "", b""), 9000);
    let mut data = vec![0; 9000];
    assert_eq!(client.data(0, &mut data), 9000);
    assert_eq!(data, server.content[1000..]);
    let write = FileCall::WriteAt { file: 0, buffer: 0, length: 5000, offset: 0 };
    assert_eq!(call(client, &mut server, write, "", &[1; 5000]), 5000);
    assert_eq!(call(client, &mut server, FileCall::Close { file: 0 }, "", b""), 0);
    assert_eq!(call(client, &mut server, FileCall::Close { file: 0 }, "", b""), -9);
    assert_eq!(call(client, &mut server, FileCall::ReadFolder { name: 0 }, "d", b""), 3);
    assert_eq!(call(client, &mut server, FileCall::FileSystem, "", b""), 5);
    assert_eq!(call(client, &mut server, FileCall::Stat { name: 0 }, "a", b""), FILE_BYTES as i64);
    assert_eq!(call(client, &mut server, FileCall::Lock { file: 0, exclusive: true }, "", b""), -38);
    let nfs: Vec<u32> = server.calls.iter().map(|call| call.1).collect();
    // Lookup; three reads of 4 KiB; three writes of 2 KiB; commit at the close; the folder's handle and its entries.
    assert_eq!(nfs, [3, 6, 6, 6, 7, 7, 7, 21, 3, 17, 18, 3]);
}

#[test]
fn what_a_server_forgot_between_write_and_commit_is_an_error() {
    let mut server = Canned::new();
    let client = &mut *connected(&mut server);
    let open = FileCall::Open { file: 0, name: 0, mode: WRITING, permissions: 0o600 };
    let write = FileCall::WriteAt { file: 0, buffer: 0, length: 10, offset: 0 };
    for (sync, expected) in [(FileCall::Sync { file: 0 }, -5), (FileCall::Close { file: 0 }, -5)] {
        server.verifier = 7;
        assert_eq!(call(client, &mut server, open, "a", b""), 0);
        assert_eq!(call(client, &mut server, write, "", &[1; 10]), 10);
        server.verifier = 8;
        assert_eq!(call(client, &mut server, sync, "", b""), expected);
        call(client, &mut server, FileCall::Close { file: 0 }, "", b"");
    }
    // What is asked to be stable at once needs no commit.
    server.calls.clear();
    let mode = OpenMode { sync: true, ..WRITING };
    call(client, &mut server, FileCall::Open { file: 0, name: 0, mode, permissions: 0 }, "a", b"");
    call(client, &mut server, write, "", &[1; 10]);
    call(client, &mut server, FileCall::Close { file: 0 }, "", b"");
    assert_eq!(server.calls.iter().map(|call| call.1).collect::<Vec<_>>(), [3, 7]);
}

#[test]
fn replies_of_several_fragments_are_put_together() {
    let mut server = Canned { fragments: true, ..Canned::new() };
    let client = &mut *connected(&mut server);
    assert_eq!(call(client, &mut server, FileCall::Stat { name: 0 }, "a", b""), FILE_BYTES as i64);
}

#[test]
fn a_lost_connection_ends_what_is_under_way_and_the_next_one_goes_on() {
    let mut server = Canned::new();
    let client = &mut *connected(&mut server);
    client.begin(1, &FileCall::FileSystem, [c"", c""], b"");
    client.lost(104);
    assert_eq!(client.finished(), Some((1, -104)));
    client.begin(0, &FileCall::FileSystem, [c"", c""], b"");
    assert_eq!(client.finished(), Some((0, -104)));
    assert_eq!(client.port(), Some(2049), "neither port mapper nor mount are asked again");
    client.connected();
    assert_eq!(pump(client, &mut server, &mut |_| ()), Ok(Some(0)));
    assert_eq!(call(client, &mut server, FileCall::FileSystem, "", b""), 5);
}

#[test]
fn two_calls_may_be_answered_in_any_order() {
    let mut server = Canned::new();
    let client = &mut *connected(&mut server);
    client.begin(0, &FileCall::Stat { name: 0 }, [c"a", c""], b"");
    client.begin(1, &FileCall::FileSystem, [c"", c""], b"");
    let sent = std::mem::take(client.outgoing());
    let first = 4 + (Canned::word(&sent, 0) & !LAST_FRAGMENT) as usize;
    let (one, two) = (server.reply(&sent[4..first]), server.reply(&sent[first + 4..]));
    hand(client, &[two, one].concat(), 1400).unwrap();
    assert_eq!(client.finished(), Some((1, 5)));
    assert_eq!(client.finished(), Some((0, FILE_BYTES as i64)));
}

#[test]
fn no_bytes_of_a_server_break_the_client() {
    let mut rng = Rng::for_thread(28, 0, 0);
    let (mut refused, mut failed) = (0, 0);
    for round in 0..4000 {
        let mut server = Canned { fragments: round % 5 == 0, ..Canned::new() };
        let client = &mut *connected(&mut server);
        let mut spoil = |reply: &mut Vec<u8>| {
            for _ in 0..=rng.below(3) {
                let at = rng.below(reply.len() as u64) as usize;
                match rng.below(4) {
                    0 => reply[at] ^= 1 << rng.below(8),
                    1 => reply[at] = 0xFF,
                    2 => reply.truncate(at.max(1)),
                    _ => _ = reply.splice(at..at, (0..4).map(|byte| byte * 85)),
                }
            }
        };
        let calls = [
            FileCall::Open { file: 0, name: 0, mode: WRITING, permissions: 0 },
            FileCall::ReadAt { file: 0, buffer: 0, length: 9000, offset: 0 },
            FileCall::WriteAt { file: 0, buffer: 0, length: 10, offset: 0 },
            FileCall::ReadFolder { name: 0 },
            FileCall::RemoveTree { name: 0 },
        ];
        for call in calls {
            client.begin(0, &call, [c"d", c""], &[0; 10]);
            match pump(client, &mut server, &mut spoil) {
                Ok(Some(value)) => failed += u32::from(value < 0),
                // A spoilt length: the client waits for the rest, as it would for a server that stalls.
                Ok(None) => break,
                Err(reason) => {
                    refused += 1;
                    assert!(reason.starts_with("the server"), "{reason}");
                    break;
                }
            }
            assert!(client.space().len() < FRAMING.limit + 128 * 1024);
        }
    }
    assert!(refused > 100 && failed > 100, "{refused} {failed}");
}
