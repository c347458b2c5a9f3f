//! Whether a file server can be worked on: tried before timing, by the calls that trials make.

use super::folder::unique;
use super::owner::folder_name;
use super::server_folder::{refusal, remove_tree};
use super::server_session::ServerSession;
use bakeoff_engine::{FileCall, FileServer, OpenMode};
use serde_json::{Value, json};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of the file that is tried.
const SAMPLE: usize = 4096;

/// Makes a folder and a file on a server, reads the file and removes both: what was agreed with the server and its free
/// space. The error is a sentence.
pub fn try_server(server: &Arc<dyn FileServer>, patience: Duration) -> Result<Value, String> {
    let mut session = ServerSession::open(server, "", 1, 0, patience).map_err(|refused| refused.reason)?;
    let name = CString::new(folder_name(&format!("check-{:08x}", unique()))).map_err(|error| error.to_string())?;
    let refuse = |errno: i32| refusal(server.address(), errno);
    let tried = try_out(&mut session, &name);
    let removed = remove_tree(&mut session, &name);
    tried.map_err(refuse)?.map_err(|what| format!("{} {what}", server.address()))?;
    removed.map_err(refuse)?;
    let free = session.call(&FileCall::FileSystem, [c"", c""], &[]);
    let mut facts = session.facts();
    if let Some(facts) = facts.as_object_mut() {
        facts.insert("host".to_owned(), json!(server.host()));
        facts.insert("peer".to_owned(), json!(session.peer()));
        facts.insert("free_bytes".to_owned(), json!((free >= 0).then_some(free)));
    }
    Ok(facts)
}

/// Removes a work folder from a server; one that is not there is fine. The error is a sentence.
pub fn remove_from_server(server: &Arc<dyn FileServer>, name: &str, patience: Duration) -> Result<(), String> {
    let mut session = ServerSession::open(server, "", 1, 0, patience).map_err(|refused| refused.reason)?;
    let name = CString::new(name).map_err(|error| error.to_string())?;
    remove_tree(&mut session, &name).map_err(|errno| refusal(server.address(), errno))
}

/// The outer error is the number of a call that failed, the inner one says what a server does that cannot be trusted.
fn try_out(session: &mut ServerSession, name: &CStr) -> Result<Result<(), &'static str>, i32> {
    let file = CString::new([name.to_bytes(), b"/sample"].concat()).unwrap_or_default();
    let sample: Vec<u8> = (0..SAMPLE).map(|at| (at * 7 + at / 256) as u8).collect();
    let length = SAMPLE as u32;
    let transfer = (0, 0, length, 0);
    let mode = OpenMode { read: true, write: true, create: true, exclusive: true, ..OpenMode::default() };
    checked(session, &FileCall::MakeFolder { name: 0 }, name, &[])?;
    checked(session, &FileCall::Open { file: 0, name: 0, mode, permissions: 0o600 }, &file, &[])?;
    let (handle, buffer, length, offset) = transfer;
    checked(session, &FileCall::WriteAt { file: handle, buffer, length, offset }, c"", &sample)?;
    checked(session, &FileCall::Close { file: 0 }, c"", &[])?;
    let mode = OpenMode { read: true, ..OpenMode::default() };
    checked(session, &FileCall::Open { file: 0, name: 0, mode, permissions: 0 }, &file, &[])?;
    let read = checked(session, &FileCall::ReadAt { file: handle, buffer, length, offset }, c"", &[])?;
    let mut back = vec![0; SAMPLE];
    let copied = session.copy_read(&mut back);
    checked(session, &FileCall::Close { file: 0 }, c"", &[])?;
    let same = read == SAMPLE as i64 && copied == SAMPLE && back == sample;
    Ok(if same { Ok(()) } else { Err("gives back other bytes than were written: it cannot be trusted") })
}

fn checked(session: &mut ServerSession, call: &FileCall, name: &CStr, data: &[u8]) -> Result<i64, i32> {
    match session.call(call, [name, c""], data) {
        error if error < 0 => Err(-error as i32),
        value => Ok(value),
    }
}
