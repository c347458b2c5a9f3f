//! Where a trial works: in a folder of this machine, or on a server that is met by its protocol.

use super::calls::Calls;
use super::folder::{FolderError, WorkFolder, advice};
use super::observe::Counters;
use super::psync::Files;
use super::server_folder::ServerFolder;
use bakeoff_engine::{FileNeeds, FileServer};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) enum WorkPlace {
    Folder(WorkFolder),
    Server(ServerFolder),
}

impl WorkPlace {
    /// Makes the trial's folder.
    pub fn make(server: Option<Arc<dyn FileServer>>, needs: &FileNeeds) -> Result<Self, FolderError> {
        match server {
            None => WorkFolder::make(needs).map(Self::Folder),
            Some(server) => ServerFolder::make(server, needs).map(Self::Server),
        }
    }

    /// What carries out the calls of session `number`; the error is a sentence.
    pub fn calls(&self, needs: &FileNeeds, number: u32) -> Result<Calls, String> {
        match self {
            Self::Folder(folder) => {
                let opened = folder.open().map_err(|error| advice(folder.parent(), &error))?;
                Ok(Calls::Folder(Files::new(opened, needs.handles)))
            }
            Self::Server(folder) => {
                folder.session(needs.depth, number).map(Calls::Server).map_err(|refused| refused.reason)
            }
        }
    }

    /// Opens the folder again, after a remount for one.
    pub fn reopen(&self) -> io::Result<Option<OwnedFd>> {
        match self {
            Self::Folder(folder) => folder.open().map(Some),
            Self::Server(_) => Ok(None),
        }
    }

    /// The counters of what it lies on; of a server those of the wire alone.
    pub fn counters(&self) -> Counters {
        match self {
            Self::Folder(folder) => Counters::of(folder.parent()),
            Self::Server(_) => Counters::default(),
        }
    }

    /// Whether the trial's folder is still there.
    pub fn is_there(&self) -> bool {
        match self {
            Self::Folder(folder) => folder.open().is_ok(),
            Self::Server(folder) => folder.is_there(),
        }
    }

    /// The contender's folder or address.
    pub fn parent(&self) -> String {
        match self {
            Self::Folder(folder) => folder.parent().display().to_string(),
            Self::Server(folder) => folder.address().to_owned(),
        }
    }

    /// See [`WorkFolder::remove`].
    pub fn remove(&self, failed: bool) -> Result<(), String> {
        match self {
            Self::Folder(folder) => folder.remove(failed),
            Self::Server(folder) => folder.remove(failed),
        }
    }

    /// Remembers that the folder could not be removed.
    pub fn left_behind(&self) {
        match self {
            Self::Folder(folder) => folder.left_behind(),
            Self::Server(folder) => folder.left_behind(),
        }
    }

    /// The trial's folder, as people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Folder(folder) => folder.shown(),
            Self::Server(folder) => folder.shown(),
        }
    }
}
