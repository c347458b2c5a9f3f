//! Addresses of shares, and the machine against a server of canned answers and of spoilt ones.

use super::*;
use bakeoff_engine::{OpenMode, Rng};
use std::ffi::CString;

#[test]
fn addresses_say_user_host_share_and_folder() {
    let server = SmbServer::of("smb://anna@box:4450/my%20share/a/b?dialect=2.1&signing=required", "secret").unwrap();
    assert_eq!((server.host.as_str(), server.port), ("box", 4450));
    assert_eq!((server.share.as_str(), server.folder.as_str()), ("my share", "a/b"));
    assert_eq!(server.login.dialects, [Dialect::Smb2_1]);
    assert!(server.login.must_sign && !server.login.must_encrypt);
    let shown = format!("{server:?}");
    assert!(shown.contains("anna") && !shown.contains("secret"), "{shown}");
    for wrong in ["smb://", "smb://box", "smb://box/", "smb:///share", "smb://box/sh*re", "smb://box/s?dialect=1.0"] {
        let error = SmbServer::of(wrong, "").unwrap_err();
        assert!(error.contains("write smb://user@host/share/folder"), "{error}");
    }
    assert!(SmbServer::of("smb://anna:secret@box/share", "").unwrap_err().contains("holds no password"));
}

const FILE_BYTES: usize = 10_000;

/// Answers a chain of requests as a server does that knows one file and one folder.
fn answer(chain: &[u8], calls: &mut Vec<u16>) -> Vec<u8> {
    let word = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let long = |bytes: &[u8], at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let (mut out, mut from) = (vec![0; 4], 4);
    loop {
        let request = &chain[from..];
        let command = word(request, 12);
        calls.push(command);
        let body = match command {
            5 => {
                let mut body = vec![0; 88];
                body[0] = 89;
                body[48..56].copy_from_slice(&(FILE_BYTES as u64).to_le_bytes());
                // What is opened as a folder is one.
                body[56] = if request[64 + 40] & 1 == 1 { 0x10 } else { 0x80 };
                body[64..80].fill(7);
                body
            }
            8 => {
                let (length, offset) = (long(request, 68) as usize, long(request, 72) as usize);
                let bytes: Vec<u8> = (offset..FILE_BYTES.min(offset + length)).map(|at| (at % 251) as u8).collect();
                let mut body = vec![17, 0, 80, 0];
                body.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                body.extend_from_slice(&[0; 8]);
                body.extend_from_slice(&bytes);
                body
            }
            9 => [&[17, 0, 0, 0][..], &request[68..72], &[0; 8]].concat(),
            14 | 16 => {
                let mut body = vec![9, 0, 72, 0];
                let mut info = vec![0; 110];
                info[8..16].copy_from_slice(&(FILE_BYTES as u64).to_le_bytes());
                info[60] = 6;
                info[104..110].copy_from_slice(&super::session::utf16("one"));
                body.extend_from_slice(&(info.len() as u32).to_le_bytes());
                body.extend_from_slice(&info);
                body
            }
            _ => vec![4, 0, 0, 0],
        };
        // A folder is listed once.
        let is_over = command == 14 && calls.iter().filter(|&&call| call == 14).count() % 2 == 0;
        let status: u32 = if is_over { status::NO_MORE_FILES } else { 0 };
        let at = out.len();
        out.extend_from_slice(
            &[b"\xFESMB\x40\0\x01\0", &status.to_le_bytes()[..], &request[12..14], b"\x20\0"].concat(),
        );
        out.extend_from_slice(&[&[1, 0, 0, 0][..], &[0; 4], &request[24..32], &[0; 32]].concat());
        out.extend_from_slice(&body);
        let next = long(request, 20) as usize;
        if next == 0 {
            break;
        }
        out.resize(4 + (out.len() - 4).next_multiple_of(8), 0);
        let length = (out.len() - at) as u32;
        out[at + 20..at + 24].copy_from_slice(&length.to_le_bytes());
        from += next;
    }
    let length = (out.len() - 4) as u32;
    out[..4].copy_from_slice(&length.to_be_bytes());
    out
}

/// A client whose login is over, without keys.
fn logged_in() -> SmbClient {
    let server = SmbServer::of("smb://box/share/base", "").unwrap();
    let tasks = Tasks::new(FRAMING, 1);
    let channel = Channel::new(Rc::clone(&tasks.wire));
    channel.is_logging_in.set(false);
    channel.large.set(true);
    let session = Rc::new(Session::new(channel, "base".to_owned(), 1));
    session.agreed.replace(login::Negotiated { read: 4096, write: 2048, ..login::Negotiated::default() });
    let state = Rc::new(State { ready: Cell::new(true), refusal: RefCell::default() });
    SmbClient { server, number: 0, tasks, session, state, sent: Vec::new() }
}

/// The value of a call; `spoil` may change what comes back. `None` where the client waits for more.
fn call(
    client: &mut SmbClient,
    what: FileCall,
    name: &str,
    data: &[u8],
    calls: &mut Vec<u16>,
    spoil: &mut dyn FnMut(&mut Vec<u8>),
) -> Result<Option<i64>, String> {
    let name = CString::new(name).unwrap();
    client.begin(0, &what, [&name, c"to"], data);
    loop {
        if let Some((_, value)) = client.finished() {
            return Ok(Some(value));
        }
        let sent = std::mem::take(client.outgoing());
        if sent.is_empty() {
            return Ok(None);
        }
        let mut reply = answer(&sent, calls);
        spoil(&mut reply);
        for piece in reply.chunks(1400) {
            client.space()[..piece.len()].copy_from_slice(piece);
            client.received(piece.len())?;
        }
    }
}

const BOTH: OpenMode = OpenMode {
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

fn script() -> Vec<(FileCall, i64, &'static [u16])> {
    let transfer = (0, 0, 5000, 1000);
    let (file, buffer, length, offset) = transfer;
    vec![
        (FileCall::Open { file, name: 0, mode: BOTH, permissions: 0 }, 0, &[5]),
        (FileCall::ReadAt { file, buffer, length, offset }, 5000, &[8, 8]),
        (FileCall::WriteAt { file, buffer, length, offset }, 5000, &[9, 9, 9]),
        (FileCall::Sync { file }, 0, &[7]),
        (FileCall::HandleStat { file }, FILE_BYTES as i64, &[16]),
        (FileCall::Lock { file, exclusive: true }, 0, &[10]),
        (FileCall::Close { file }, 0, &[6]),
        (FileCall::Close { file }, -9, &[]),
        (FileCall::Stat { name: 0 }, FILE_BYTES as i64, &[5, 16, 6]),
        (FileCall::Rename { from: 0, to: 1 }, 0, &[5, 17, 6]),
        (FileCall::Unlink { name: 0 }, 0, &[5, 17, 6]),
        (FileCall::MakeFolder { name: 0 }, 0, &[5, 6]),
        (FileCall::ReadFolder { name: 0 }, 1, &[5, 14, 14, 6]),
        (FileCall::RemoveTree { name: 0 }, 0, &[5, 14, 14, 6, 5, 17, 6, 5, 17, 6]),
        (FileCall::Permissions { name: 0, permissions: 0 }, -38, &[]),
    ]
}

#[test]
fn each_call_is_what_a_redirector_sends() {
    let mut client = logged_in();
    for (what, value, sent) in script() {
        let mut calls = Vec::new();
        let found = call(&mut client, what, "folder/name", &[1; 5000], &mut calls, &mut |_| ());
        assert_eq!((found, calls.as_slice()), (Ok(Some(value)), sent), "{what:?}");
    }
    let mut data = vec![0; 5000];
    assert_eq!(client.data(0, &mut data), 5000);
    assert!(data.iter().enumerate().all(|(at, &byte)| usize::from(byte) == (at + 1000) % 251));
    for name in ["a/../b", "a:b", "a*"] {
        let found = call(&mut client, FileCall::Stat { name: 0 }, name, b"", &mut Vec::new(), &mut |_| ());
        assert_eq!(found, Ok(Some(-22)), "{name}");
    }
}

#[test]
fn no_bytes_of_a_server_break_the_client() {
    let mut rng = Rng::for_thread(28, 1, 0);
    let (mut refused, mut failed) = (0, 0);
    for _ in 0..3000 {
        let mut client = logged_in();
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
        for (what, ..) in script() {
            match call(&mut client, what, "folder/name", &[1; 5000], &mut Vec::new(), &mut spoil) {
                Ok(Some(value)) => failed += u32::from(value < 0),
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

/// The value of a call whose replies are all replaced.
fn answered(client: &mut SmbClient, what: FileCall, replace: impl Fn(&[u8]) -> Vec<u8>) -> Result<Option<i64>, String> {
    call(client, what, "folder/name", b"", &mut Vec::new(), &mut |reply| *reply = replace(reply))
}

#[test]
fn entries_that_overlap_are_refused_before_they_fill_the_memory() {
    let mut client = logged_in();
    let begun = answered(&mut client, FileCall::ReadFolder { name: 0 }, |reply| {
        let mut reply = reply.to_vec();
        // Of a listing: each entry begins 8 bytes after the one before.
        if reply.get(16) == Some(&14) && reply.len() > 150 {
            reply[4 + 64 + 8] = 8;
        }
        reply
    });
    assert_eq!(begun, Ok(Some(-5)));
}

#[test]
fn a_reply_that_is_not_signed_ends_the_session() {
    let mut client = logged_in();
    client.session.channel.keys.replace(Some(packet::Keys {
        signing: vec![1; 16],
        algorithm: smb2::crypto::signing::SigningAlgorithm::AesCmac,
        encryption: None,
        signs: true,
        signs_tree: true,
    }));
    let open = FileCall::Open { file: 0, name: 0, mode: BOTH, permissions: 0 };
    let refused = answered(&mut client, open, <[u8]>::to_vec);
    assert_eq!(refused, Err("the server sends a reply with a wrong signature".to_owned()));
}

#[test]
fn a_server_that_grants_no_credits_is_an_error_and_does_not_hang() {
    let mut client = logged_in();
    let none = |reply: &[u8]| {
        let mut reply = reply.to_vec();
        (reply[18], reply[19]) = (0, 0);
        reply
    };
    let open = FileCall::Open { file: 0, name: 0, mode: BOTH, permissions: 0 };
    assert_eq!(answered(&mut client, open, none), Ok(Some(0)), "there is one credit at first");
    let read = FileCall::ReadAt { file: 0, buffer: 0, length: 100, offset: 0 };
    assert_eq!(answered(&mut client, read, none), Ok(Some(-11)));
}
