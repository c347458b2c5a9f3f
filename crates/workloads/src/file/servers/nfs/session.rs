//! What each file call is in procedures of NFS version 3.
//!
//! Nothing is cached but the handles of folders: a name is looked up each time that it is used. A file that has bytes
//! which the server may still lose is committed when it is closed, as a mount does.

use super::super::wire::{EIO, ENTRIES_MAX, Errno, NOT_EXPRESSIBLE};
use super::procedures::{Attributes, Entry, FOLDER, FileHandle, Set, Sizes, Stable, Written, errno};
use super::rpc::Rpc;
use bakeoff_engine::{FileCall, Handle, OpenMode};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::CString;
use std::rc::Rc;

const EBADF: Errno = -9;
const ENOENT: Errno = -2;
const EEXIST: Errno = -17;
const ENOTDIR: Errno = -20;
const EISDIR: Errno = -21;
const EINVAL: Errno = -22;
const ELOOP: Errno = -40;
const ESTALE: Errno = -116;
/// Folders in folders that are removed, at most.
const NESTING_MAX: usize = 64;

/// A file that is open here; the server knows nothing of it.
#[derive(Debug, Clone)]
struct OpenFile {
    file: FileHandle,
    position: u64,
    stable: Stable,
    /// Bytes were written that the server may still lose, under this verifier.
    unstable: Option<[u8; 8]>,
}

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    pub rpc: Rpc,
    /// The folder that names are relative to.
    pub root: RefCell<Option<FileHandle>>,
    pub sizes: Cell<Sizes>,
    folders: RefCell<HashMap<Vec<u8>, FileHandle>>,
    files: RefCell<Vec<Option<OpenFile>>>,
    /// What the last call of each slot has read.
    pub data: RefCell<Vec<Vec<u8>>>,
}

impl Session {
    pub fn new(rpc: Rpc, depth: u32) -> Self {
        Self {
            rpc,
            root: RefCell::default(),
            sizes: Cell::default(),
            folders: RefCell::default(),
            files: RefCell::default(),
            data: RefCell::new(vec![Vec::new(); depth as usize]),
        }
    }

    /// Carries out one call: its value, or the negative error number.
    pub async fn execute(self: Rc<Self>, slot: u32, call: FileCall, names: [CString; 2], data: Vec<u8>) -> i64 {
        let [name, other] = [names[0].as_bytes(), names[1].as_bytes()];
        let done = |result: Result<(), Errno>| result.map(|()| 0);
        let value = match call {
            FileCall::Open { file, mode, permissions, .. } => done(self.open(file, name, mode, permissions).await),
            FileCall::Close { file } => done(self.close(file).await),
            FileCall::ReadAt { file, length, offset, .. } => self.read(slot, file, offset, length).await,
            FileCall::WriteAt { file, offset, .. } => self.write(file, offset, &data).await,
            FileCall::Read { file, length, .. } => self.read_on(slot, file, length).await,
            FileCall::Write { file, .. } => self.write_on(file, &data).await,
            FileCall::Sync { file } | FileCall::DataSync { file } => done(self.sync(file).await),
            FileCall::Truncate { file, length } => done(self.truncate(file, length).await),
            FileCall::HandleStat { file } => self.size_of(file).await,
            FileCall::Stat { .. } => self.stat(name).await.map(|attributes| attributes.size as i64),
            FileCall::Touch { .. } => done(self.set(name, Set { now: true, ..Set::default() }).await),
            FileCall::Permissions { permissions, .. } => {
                done(self.set(name, Set { mode: Some(u32::from(permissions)), ..Set::default() }).await)
            }
            FileCall::Rename { .. } => done(self.rename(name, other).await),
            FileCall::Unlink { .. } => done(self.unlink(name).await),
            FileCall::MakeFolder { .. } => done(self.make_folder(name).await),
            FileCall::RemoveFolder { .. } => done(self.remove_folder(name).await),
            FileCall::RemoveTree { .. } => done(self.remove_tree(name).await),
            FileCall::ReadFolder { .. } => self.count(name).await,
            FileCall::FileSystem => self.free_bytes().await,
            // There is no cache between a session and its server.
            FileCall::DropFileCache { .. } | FileCall::LeaveFolder | FileCall::EnterFolder => Ok(0),
            // Locks are a protocol of their own (NLM), which is not spoken here; space cannot be reserved.
            _ => Err(NOT_EXPRESSIBLE),
        };
        value.unwrap_or_else(|errno| errno)
    }

    fn root(&self) -> Result<FileHandle, Errno> {
        self.root.borrow().clone().ok_or(ESTALE)
    }

    /// The handle of a folder by its path from the root.
    async fn folder(&self, path: &[u8]) -> Result<FileHandle, Errno> {
        let mut at = self.root()?;
        let known = self.folders.borrow().get(path).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let mut depth = 0;
        for part in path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
            depth += 1;
            if part == b".." || depth > NESTING_MAX {
                return Err(EINVAL);
            }
            let (found, attributes) = self.rpc.lookup(&at, part).await?;
            if attributes.is_some_and(|attributes| attributes.kind != FOLDER) {
                return Err(ENOTDIR);
            }
            at = found;
        }
        self.folders.borrow_mut().insert(path.to_vec(), Rc::clone(&at));
        Ok(at)
    }

    fn forget(&self, path: &[u8]) {
        self.folders.borrow_mut().retain(|known, _| !known.starts_with(path));
    }

    /// The folder that a name is in, and what it is called there.
    async fn place<'a>(&self, name: &'a [u8]) -> Result<(FileHandle, &'a [u8]), Errno> {
        let (folder, last) = match name.iter().rposition(|&byte| byte == b'/') {
            Some(at) => (&name[..at], &name[at + 1..]),
            None => (&b""[..], name),
        };
        if last.is_empty() || last == b"." || last == b".." {
            return Err(EINVAL);
        }
        Ok((self.folder(folder).await?, last))
    }

    async fn look_up(&self, name: &[u8]) -> Result<(FileHandle, Option<Attributes>), Errno> {
        let (folder, last) = self.place(name).await?;
        match self.rpc.lookup(&folder, last).await {
            // A folder that was made anew has another handle.
            Err(ESTALE) => {
                self.folders.borrow_mut().clear();
                let (folder, last) = self.place(name).await?;
                self.rpc.lookup(&folder, last).await
            }
            found => found,
        }
    }

    async fn stat(&self, name: &[u8]) -> Result<Attributes, Errno> {
        match self.look_up(name).await? {
            (_, Some(attributes)) => Ok(attributes),
            (file, None) => self.rpc.getattr(&file).await,
        }
    }

    async fn open(&self, number: Handle, name: &[u8], mode: OpenMode, permissions: u16) -> Result<(), Errno> {
        let place = usize::from(number);
        if self.files.borrow().get(place).is_some_and(Option::is_some) {
            return Err(EBADF);
        }
        let (file, attributes) = if mode.create {
            self.make(name, mode, permissions).await?
        } else {
            let found = self.look_up(name).await?;
            if mode.truncate {
                self.rpc.setattr(&found.0, Set { size: Some(0), ..Set::default() }).await?;
            }
            found
        };
        let kind = attributes.map(|attributes| attributes.kind);
        if mode.folder && kind.is_some_and(|kind| kind != FOLDER) {
            return Err(ENOTDIR);
        }
        if mode.write && kind == Some(FOLDER) {
            return Err(EISDIR);
        }
        let position = if mode.append { attributes.map_or(0, |attributes| attributes.size) } else { 0 };
        let stable = match (mode.sync, mode.data_sync) {
            (true, _) => Stable::File,
            (_, true) => Stable::Data,
            _ => Stable::Unstable,
        };
        let mut files = self.files.borrow_mut();
        if files.len() <= place {
            files.resize(place + 1, None);
        }
        files[place] = Some(OpenFile { file, position, stable, unstable: None });
        Ok(())
    }

    async fn make(
        &self,
        name: &[u8],
        mode: OpenMode,
        permissions: u16,
    ) -> Result<(FileHandle, Option<Attributes>), Errno> {
        let (folder, last) = self.place(name).await?;
        let size = mode.truncate.then_some(0);
        let set = Set { mode: Some(u32::from(permissions)), size, now: false };
        match self.rpc.create(&folder, last, set, mode.exclusive).await? {
            (Some(file), attributes) => Ok((file, attributes)),
            (None, _) => self.rpc.lookup(&folder, last).await,
        }
    }

    fn opened(&self, number: Handle) -> Result<OpenFile, Errno> {
        self.files.borrow().get(usize::from(number)).cloned().flatten().ok_or(EBADF)
    }

    fn change(&self, number: Handle, change: impl FnOnce(&mut OpenFile)) {
        if let Some(Some(file)) = self.files.borrow_mut().get_mut(usize::from(number)) {
            change(file);
        }
    }

    async fn close(&self, number: Handle) -> Result<(), Errno> {
        let synced = self.sync(number).await;
        let closed = self.files.borrow_mut().get_mut(usize::from(number)).and_then(Option::take);
        synced.and(closed.map(drop).ok_or(EBADF))
    }

    /// Commits what is not stable yet. A server that has another verifier than when it took the bytes has lost them.
    async fn sync(&self, number: Handle) -> Result<(), Errno> {
        let open = self.opened(number)?;
        let Some(verifier) = open.unstable else { return Ok(()) };
        self.change(number, |file| file.unstable = None);
        if self.rpc.commit(&open.file).await? == verifier { Ok(()) } else { Err(EIO) }
    }

    async fn read(&self, slot: u32, number: Handle, offset: u64, length: u32) -> Result<i64, Errno> {
        let open = self.opened(number)?;
        let most = self.sizes.get().read;
        let mut data = std::mem::take(&mut self.data.borrow_mut()[slot as usize]);
        data.clear();
        let mut result = Ok(());
        while (data.len() as u32) < length {
            let before = data.len() as u32;
            let count = (length - before).min(most);
            match self.rpc.read(&open.file, offset + u64::from(before), count, &mut data).await {
                Ok(is_end) if is_end || data.len() as u32 == before => break,
                Ok(_) => {}
                Err(errno) => {
                    result = Err(errno);
                    break;
                }
            }
        }
        let count = data.len() as i64;
        self.data.borrow_mut()[slot as usize] = data;
        result.map(|()| count)
    }

    async fn read_on(&self, slot: u32, number: Handle, length: u32) -> Result<i64, Errno> {
        let position = self.opened(number)?.position;
        let count = self.read(slot, number, position, length).await?;
        self.change(number, |file| file.position += count as u64);
        Ok(count)
    }

    async fn write(&self, number: Handle, offset: u64, data: &[u8]) -> Result<i64, Errno> {
        let open = self.opened(number)?;
        let most = self.sizes.get().write as usize;
        let mut done = 0;
        while done < data.len() {
            let piece = &data[done..data.len().min(done + most)];
            let written = self.rpc.write(&open.file, offset + done as u64, piece, open.stable).await?;
            self.keep_verifier(number, written)?;
            done += written.count as usize;
        }
        Ok(done as i64)
    }

    fn keep_verifier(&self, number: Handle, written: Written) -> Result<(), Errno> {
        let before = self.opened(number)?.unstable;
        if before.is_some_and(|verifier| verifier != written.verifier) {
            self.change(number, |file| file.unstable = None);
            return Err(EIO);
        }
        if !written.is_stable {
            self.change(number, |file| file.unstable = Some(written.verifier));
        }
        Ok(())
    }

    async fn write_on(&self, number: Handle, data: &[u8]) -> Result<i64, Errno> {
        let position = self.opened(number)?.position;
        let count = self.write(number, position, data).await?;
        self.change(number, |file| file.position += count as u64);
        Ok(count)
    }

    async fn truncate(&self, number: Handle, length: u64) -> Result<(), Errno> {
        let open = self.opened(number)?;
        self.rpc.setattr(&open.file, Set { size: Some(length), ..Set::default() }).await
    }

    async fn size_of(&self, number: Handle) -> Result<i64, Errno> {
        let open = self.opened(number)?;
        Ok(self.rpc.getattr(&open.file).await?.size as i64)
    }

    async fn set(&self, name: &[u8], set: Set) -> Result<(), Errno> {
        let (file, _) = self.look_up(name).await?;
        self.rpc.setattr(&file, set).await
    }

    async fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let (from_folder, from_last) = self.place(from).await?;
        let (to_folder, to_last) = self.place(to).await?;
        self.forget(from);
        self.rpc.rename((&from_folder, from_last), (&to_folder, to_last)).await
    }

    async fn unlink(&self, name: &[u8]) -> Result<(), Errno> {
        let (folder, last) = self.place(name).await?;
        self.rpc.remove(&folder, last).await
    }

    async fn make_folder(&self, name: &[u8]) -> Result<(), Errno> {
        let (folder, last) = self.place(name).await?;
        match self.rpc.mkdir(&folder, last).await {
            // One that is there must be a folder and no link.
            Err(EEXIST) if self.stat(name).await?.kind != FOLDER => Err(ENOTDIR),
            made => made,
        }
    }

    async fn remove_folder(&self, name: &[u8]) -> Result<(), Errno> {
        let (folder, last) = self.place(name).await?;
        self.forget(name);
        self.rpc.rmdir(&folder, last).await
    }

    async fn count(&self, name: &[u8]) -> Result<i64, Errno> {
        let folder = self.folder(name).await?;
        let (mut count, mut cookie, mut verifier) = (0, 0, [0; 8]);
        loop {
            let listing = self.rpc.readdirplus(&folder, cookie, verifier, false).await?;
            count += listing.count as i64;
            if listing.is_end {
                return Ok(count);
            }
            if count > ENTRIES_MAX as i64 {
                return Err(EIO);
            }
            (cookie, verifier) = (listing.cookie, listing.verifier);
        }
    }

    /// The names in a folder, and whether they are folders.
    pub async fn entries(&self, folder: &FileHandle) -> Result<Vec<Entry>, Errno> {
        let (mut all, mut cookie, mut verifier) = (Vec::new(), 0, [0; 8]);
        loop {
            let listing = self.rpc.readdirplus(folder, cookie, verifier, true).await?;
            all.extend(listing.entries.into_iter().filter(|entry| entry.name != b"." && entry.name != b".."));
            if listing.is_end {
                return Ok(all);
            }
            if all.len() > ENTRIES_MAX {
                return Err(EIO);
            }
            (cookie, verifier) = (listing.cookie, listing.verifier);
        }
    }

    /// Removes a folder with all that is in it; a missing one is fine.
    async fn remove_tree(&self, name: &[u8]) -> Result<(), Errno> {
        let (above, last) = match self.place(name).await {
            Err(ENOENT) => return Ok(()),
            place => place?,
        };
        self.forget(name);
        let (top, attributes) = match self.rpc.lookup(&above, last).await {
            Err(ENOENT) => return Ok(()),
            found => found?,
        };
        if attributes.is_some_and(|attributes| attributes.kind != FOLDER) {
            return Err(ENOTDIR);
        }
        // The way down: each folder, what is left in it, and its name in the one above.
        let mut way = vec![(Rc::clone(&top), self.entries(&top).await?, last.to_vec())];
        while let Some((folder, left, _)) = way.last_mut() {
            let folder = Rc::clone(folder);
            match left.pop() {
                Some(entry) if entry.is_folder => {
                    if way.len() >= NESTING_MAX {
                        return Err(ELOOP);
                    }
                    let (below, _) = self.rpc.lookup(&folder, &entry.name).await?;
                    let entries = self.entries(&below).await?;
                    way.push((below, entries, entry.name));
                }
                Some(entry) => match self.rpc.remove(&folder, &entry.name).await {
                    Err(ENOENT) => {}
                    removed => removed?,
                },
                None => {
                    let name = way.pop().map(|(_, _, name)| name).unwrap_or_default();
                    let parent = way.last().map_or(&above, |(folder, _, _)| folder);
                    match self.rpc.rmdir(parent, &name).await {
                        Err(ENOENT) => {}
                        removed => removed?,
                    }
                }
            }
        }
        Ok(())
    }

    async fn free_bytes(&self) -> Result<i64, Errno> {
        let root = self.root()?;
        Ok(i64::try_from(self.rpc.free_bytes(&root).await?).unwrap_or(i64::MAX))
    }
}

/// An export that cannot be used, in a sentence.
pub(super) fn mount_refusal(path: &str, host: &str, refused: Errno) -> String {
    const NOT_FOUND: Errno = errno(2);
    const DENIED: Errno = errno(13);
    const NOT_PERMITTED: Errno = errno(1);
    match refused {
        NOT_FOUND => format!("{host} exports no {path}: look at `showmount -e {host}`"),
        DENIED | NOT_PERMITTED => {
            format!("{host} does not let this machine mount {path}: add it to the export, or run as root")
        }
        -93 => format!("{host} does not speak NFS version 3: enable it"),
        _ => format!("{host} refuses to mount {path} (error {})", -refused),
    }
}

/// An export whose server takes no calls, in a sentence.
pub(super) fn call_refusal(path: &str, host: &str, refused: Errno) -> String {
    const DENIED: Errno = errno(13);
    const NOT_PERMITTED: Errno = errno(1);
    match refused {
        DENIED | NOT_PERMITTED => format!(
            "{host} refuses calls for {path}: most servers take them from the 512 ports below 1024 alone, as root: use \
             fewer clients, or export it with `insecure`"
        ),
        _ => format!("{host}: {path} cannot be used (error {})", -refused),
    }
}
