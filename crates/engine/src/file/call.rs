//! The calls that file sessions ask for, whoever carries them out.

/// A file of a session: index into its table of open files, below [`FileNeeds::handles`].
pub type Handle = u16;
/// A name of a session: [`FileSession::path`] gives its text.
pub type Name = u32;
/// One of the session's page-aligned buffers, below [`FileNeeds::buffers`].
pub type BufferIndex = u16;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenMode {
    /// Open for reading.
    pub read: bool,
    /// Open for writing.
    pub write: bool,
    /// Make the file when it is missing.
    pub create: bool,
    /// With `create`: fail when it exists.
    pub exclusive: bool,
    /// Cut to length 0.
    pub truncate: bool,
    /// Write at the end.
    pub append: bool,
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Each write returns when its data are stable (`O_DSYNC`).
    pub data_sync: bool,
    /// Each write returns when data and metadata are stable (`O_SYNC`).
    pub sync: bool,
    /// The name is a folder's (`O_DIRECTORY`).
    pub folder: bool,
}

/// One file call. Names are relative to the trial's own folder and may not lead out of it.
///
/// The value of a call is what the system call returns (bytes for transfers), or the negative error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are named after what they are; units are bytes")]
pub enum FileCall {
    /// Opens a name into a free handle.
    Open { file: Handle, name: Name, mode: OpenMode, permissions: u16 },
    /// Closes a handle, or unmaps and closes a mapped one.
    Close { file: Handle },
    /// Reads at an offset.
    ReadAt { file: Handle, buffer: BufferIndex, length: u32, offset: u64 },
    /// Writes at an offset.
    WriteAt { file: Handle, buffer: BufferIndex, length: u32, offset: u64 },
    /// Reads at the file's own position.
    Read { file: Handle, buffer: BufferIndex, length: u32 },
    /// Writes at the file's own position.
    Write { file: Handle, buffer: BufferIndex, length: u32 },
    /// Makes data and metadata stable.
    Sync { file: Handle },
    /// Makes data stable.
    DataSync { file: Handle },
    /// Sets the length.
    Truncate { file: Handle, length: u64 },
    /// Reserves space.
    Allocate { file: Handle, length: u64 },
    /// Locks (`flock`) exclusively, or shared.
    Lock { file: Handle, exclusive: bool },
    /// Unlocks.
    Unlock { file: Handle },
    /// Looks at an open file; the value is its size.
    HandleStat { file: Handle },
    /// Looks at a name without following links; the value is its size.
    Stat { name: Name },
    /// Sets access and modification time of a name to now.
    Touch { name: Name },
    /// Sets the permissions of a name.
    Permissions { name: Name, permissions: u16 },
    /// Renames, replacing what is there.
    Rename { from: Name, to: Name },
    /// Removes a file.
    Unlink { name: Name },
    /// Makes a folder.
    MakeFolder { name: Name },
    /// Removes an empty folder.
    RemoveFolder { name: Name },
    /// Removes a folder with all that is in it; a missing one is fine.
    RemoveTree { name: Name },
    /// Reads all names of a folder; the value is their number.
    ReadFolder { name: Name },
    /// Looks at the file system of the trial's folder; the value is its free space in bytes.
    FileSystem,
    /// Opens a name as a C stream with a buffer of its own of so many bytes (`fopen`, `setvbuf`).
    StreamOpen { file: Handle, name: Name, mode: OpenMode, buffer_bytes: u32 },
    /// `fread`.
    StreamRead { file: Handle, buffer: BufferIndex, length: u32 },
    /// `fwrite`.
    StreamWrite { file: Handle, buffer: BufferIndex, length: u32 },
    /// `fflush`.
    StreamFlush { file: Handle },
    /// `fclose`.
    StreamClose { file: Handle },
    /// Maps so many bytes of an open file into memory.
    Map { file: Handle, length: u64, write: bool },
    /// Copies from the mapped file into a buffer.
    MapRead { file: Handle, buffer: BufferIndex, length: u32, offset: u64 },
    /// Copies from a buffer into the mapped file.
    MapWrite { file: Handle, buffer: BufferIndex, length: u32, offset: u64 },
    /// Makes the mapped bytes stable (`msync`), waiting for it or not.
    MapSync { file: Handle, wait: bool },
    /// Unmaps.
    Unmap { file: Handle },
    /// Writes a file's dirty pages and drops its pages from the cache; the value is the number of pages that
    /// stayed, or -1 when the kernel cannot count them.
    DropFileCache { name: Name },
    /// Drops the caches of the whole machine (needs root).
    DropAllCaches,
    /// Lets go of the trial's folder, so that its file system can be unmounted. No handle may be open.
    LeaveFolder,
    /// Runs the plan's shell command that makes caches cold (a remount …).
    ColdCommand,
    /// Comes back to the trial's folder.
    EnterFolder,
    /// Reads the counters of disk, wire and cache; the figures come by [`FileSession::observe`].
    /// `name` is the file whose cached pages are counted; without `counters` nothing else is.
    Observe { name: Option<Name>, counters: bool },
}

impl FileCall {
    /// Buffer and length of a transfer.
    #[inline]
    pub const fn transfer(&self) -> Option<(BufferIndex, u32)> {
        match *self {
            Self::ReadAt { buffer, length, .. }
            | Self::WriteAt { buffer, length, .. }
            | Self::Read { buffer, length, .. }
            | Self::Write { buffer, length, .. }
            | Self::StreamRead { buffer, length, .. }
            | Self::StreamWrite { buffer, length, .. }
            | Self::MapRead { buffer, length, .. }
            | Self::MapWrite { buffer, length, .. } => Some((buffer, length)),
            _ => None,
        }
    }

    /// The names that it is about.
    pub const fn names(&self) -> (Option<Name>, Option<Name>) {
        match *self {
            Self::Open { name, .. }
            | Self::Stat { name }
            | Self::Touch { name }
            | Self::Permissions { name, .. }
            | Self::Unlink { name }
            | Self::MakeFolder { name }
            | Self::RemoveFolder { name }
            | Self::RemoveTree { name }
            | Self::ReadFolder { name }
            | Self::StreamOpen { name, .. }
            | Self::DropFileCache { name } => (Some(name), None),
            Self::Rename { from, to } => (Some(from), Some(to)),
            _ => (None, None),
        }
    }
}
