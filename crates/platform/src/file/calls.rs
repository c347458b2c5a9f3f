//! What carries out the calls of a session.

use super::psync::Files;
use super::server_session::ServerSession;
use bakeoff_engine::Handle;
use std::os::fd::RawFd;

/// See the module.
#[derive(Debug)]
pub(crate) enum Calls {
    /// System calls in the trial's folder.
    Folder(Files),
    /// A session with a file server.
    Server(ServerSession),
}

impl Calls {
    /// The open files, where there is a folder.
    pub fn files(&mut self) -> Option<&mut Files> {
        if let Self::Folder(files) = self { Some(files) } else { None }
    }

    /// The descriptor of a handle, -1 when no file of this machine is open there.
    #[inline]
    pub fn descriptor(&self, file: Handle) -> RawFd {
        if let Self::Folder(files) = self { files.descriptor(file) } else { -1 }
    }

    /// How many files of this machine may be open.
    pub fn handles(&self) -> usize {
        if let Self::Folder(files) = self { files.handles() } else { 0 }
    }
}
