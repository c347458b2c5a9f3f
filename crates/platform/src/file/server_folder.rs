//! The trial's own folder on a file server, made and removed by the server's protocol.

use super::folder::{FailedRemovals, FolderError, FolderLifetime, work_name};
use super::server_session::{NoSession, ServerSession};
use bakeoff_engine::{FileCall, FileNeeds, FileServer};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::Duration;

/// Sessions that make, look at and remove folders have this number.
const KEEPER: u32 = u16::MAX as u32;

/// See the module.
#[derive(Debug)]
pub(crate) struct ServerFolder {
    server: Arc<dyn FileServer>,
    name: CString,
    stays: FolderLifetime,
    patience: Duration,
}

impl ServerFolder {
    /// Makes (or, when it is to be reused, finds) the folder, after what earlier trials could not remove.
    pub fn make(server: Arc<dyn FileServer>, needs: &FileNeeds) -> Result<Self, FolderError> {
        let refused = |reason: String| FolderError { reason, full: false };
        let (name, reused) = work_name(needs).map_err(refused)?;
        let patience = Duration::from_nanos(needs.stall_ns);
        let folder = Self { server, name, stays: FolderLifetime::of(needs, reused), patience };
        let mut session = folder.keeper().map_err(|why| refused(why.reason))?;
        FailedRemovals::again(folder.server.address().as_ref(), |name| remove_tree(&mut session, name).is_ok());
        let free = session.call(&FileCall::FileSystem, [c"", c""], &[]);
        if free >= 0 && (free as u64) < needs.space_bytes {
            let (address, free, needed) =
                (folder.server.address(), free / 1_000_000, needs.space_bytes.div_ceil(1_000_000));
            let reason = format!(
                "{address} has {free} MB free, the trial needs {needed} MB: free some space or use smaller files"
            );
            return Err(FolderError { reason, full: true });
        }
        match session.call(&FileCall::MakeFolder { name: 0 }, [&folder.name, c""], &[]) {
            made if made >= 0 || (reused && made == -i64::from(libc::EEXIST)) => Ok(folder),
            error => {
                let errno = -error as i32;
                let full = matches!(errno, libc::ENOSPC | libc::EDQUOT);
                Err(FolderError { reason: refusal(folder.server.address(), errno), full })
            }
        }
    }

    /// A session that works at the server's address itself.
    fn keeper(&self) -> Result<ServerSession, NoSession> {
        ServerSession::open(&self.server, "", 1, KEEPER, self.patience)
    }

    /// A session of the trial, in the folder.
    pub fn session(&self, depth: u32, number: u32) -> Result<ServerSession, NoSession> {
        ServerSession::open(&self.server, &self.name.to_string_lossy(), depth, number, self.patience)
    }

    /// The server's address.
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Whether the folder is still there.
    pub fn is_there(&self) -> bool {
        let look = |mut session: ServerSession| session.call(&FileCall::Stat { name: 0 }, [&self.name, c""], &[]);
        self.keeper().is_ok_and(|session| look(session) >= 0)
    }

    /// See [`super::folder::WorkFolder::remove`].
    pub fn remove(&self, failed: bool) -> Result<(), String> {
        if self.stays.after(failed) {
            return Ok(());
        }
        let removed = self.keeper().map_err(|why| why.reason).and_then(|mut session| {
            remove_tree(&mut session, &self.name).map_err(|errno| std::io::Error::from_raw_os_error(errno).to_string())
        });
        removed.map_err(|why| {
            self.left_behind();
            format!("{} could not be removed ({why}): remove it yourself", self.shown())
        })
    }

    /// Remembers a folder that could not be removed.
    pub fn left_behind(&self) {
        FailedRemovals::add(self.server.address().into(), self.name.clone());
    }

    /// Its address, as people read it.
    pub fn shown(&self) -> String {
        format!("{} (folder {})", self.server.address(), self.name.to_string_lossy())
    }
}

/// Removes a folder with all that is in it; a missing one is fine. The error is its number.
pub(crate) fn remove_tree(session: &mut ServerSession, name: &CStr) -> Result<(), i32> {
    match session.call(&FileCall::RemoveTree { name: 0 }, [name, c""], &[]) {
        error if error < 0 => Err(-error as i32),
        _ => Ok(()),
    }
}

/// Why an address cannot be worked on, and what to do.
pub(crate) fn refusal(address: &str, errno: i32) -> String {
    match errno {
        libc::EROFS => format!("{address} is exported read-only: export it for writing"),
        libc::EACCES | libc::EPERM => {
            format!("{address} may not be written to as this user: give the user the right to, or name another one")
        }
        libc::ENOSPC | libc::EDQUOT => format!("{address} is full: free some space"),
        libc::ETIMEDOUT => format!("{address} does not answer: is the server up?"),
        _ => format!("{address} cannot be used: {}", std::io::Error::from_raw_os_error(errno)),
    }
}
