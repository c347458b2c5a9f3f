//! What each file call is in requests of SMB 2 and 3, as a Windows redirector without oplocks sends them.

use super::super::wire::{EIO, ENTRIES_MAX, Errno, NOT_EXPRESSIBLE};
use super::login::Negotiated;
use super::packet::{Channel, Command, HEADER, Request, u16_at, u32_at, u64_at};
use super::status;
use bakeoff_engine::{FileCall, Handle, OpenMode};
use std::cell::RefCell;
use std::ffi::CString;
use std::rc::Rc;

const EBADF: Errno = -9;
const ENOENT: Errno = -2;
const EINVAL: Errno = -22;
const ENOTDIR: Errno = -20;
const ELOOP: Errno = -40;
const NESTING_MAX: usize = 64;
/// Entries of a folder are asked for in so many bytes.
const LISTING_BYTES: u32 = 64 * 1024;

const OPEN: u32 = 1;
const CREATE: u32 = 2;
const OPEN_IF: u32 = 3;
const OVERWRITE: u32 = 4;
const OVERWRITE_IF: u32 = 5;
const READ_ACCESS: u32 = 0x0012_0089;
const WRITE_ACCESS: u32 = 0x0012_0116;
const DELETE_ACCESS: u32 = 0x0001_0080;
const ATTRIBUTES_ACCESS: u32 = 0x0010_0080;
const SET_ATTRIBUTES_ACCESS: u32 = 0x0010_0180;
const FOLDER_OPTION: u32 = 0x1;
const WRITE_THROUGH_OPTION: u32 = 0x2;
const FILE_OPTION: u32 = 0x40;
const FOLDER_ATTRIBUTE: u32 = 0x10;

const STANDARD: u8 = 5;
const BASIC: u8 = 4;
const RENAME: u8 = 10;
const DISPOSITION: u8 = 13;
const ALLOCATION: u8 = 19;
const END_OF_FILE: u8 = 20;
const BOTH_NAMES: u8 = 37;
const FULL_SIZE: u8 = 7;

type FileId = [u8; 16];
/// In a chain: the file of the request before.
const SAME: FileId = [0xFF; 16];

#[derive(Debug, Clone, Copy)]
struct OpenFile {
    id: FileId,
    position: u64,
    writes: bool,
    through: bool,
}

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    pub channel: Channel,
    /// The folder below the share that names are relative to, by backslashes.
    pub base: String,
    pub agreed: RefCell<Negotiated>,
    files: RefCell<Vec<Option<OpenFile>>>,
    /// What the last call of each slot has read.
    pub data: RefCell<Vec<Vec<u8>>>,
}

/// An entry of a folder.
#[derive(Debug)]
struct Entry {
    name: String,
    is_folder: bool,
}

impl Session {
    pub fn new(channel: Channel, base: String, depth: u32) -> Self {
        let data = RefCell::new(vec![Vec::new(); depth as usize]);
        Self { channel, base, agreed: RefCell::default(), files: RefCell::default(), data }
    }

    /// Files that were open on another connection are gone.
    pub fn forget_files(&self) {
        self.files.borrow_mut().clear();
    }

    /// Carries out one call: its value, or the negative error number.
    pub async fn execute(self: Rc<Self>, slot: u32, call: FileCall, names: [CString; 2], data: Vec<u8>) -> i64 {
        let [name, other] = [names[0].to_string_lossy(), names[1].to_string_lossy()];
        let done = |result: Result<(), Errno>| result.map(|()| 0);
        let value = match call {
            FileCall::Open { file, mode, .. } => done(self.open(file, &name, mode).await),
            FileCall::Close { file } => done(self.close(file).await),
            FileCall::ReadAt { file, length, offset, .. } => self.read(slot, file, offset, length).await,
            FileCall::WriteAt { file, offset, .. } => self.write(file, offset, &data).await,
            FileCall::Read { file, length, .. } => self.read_on(slot, file, length).await,
            FileCall::Write { file, .. } => self.write_on(file, &data).await,
            FileCall::Sync { file } | FileCall::DataSync { file } => done(self.flush(file).await),
            FileCall::Truncate { file, length } => done(self.set_length(file, END_OF_FILE, length).await),
            FileCall::Allocate { file, length } => done(self.set_length(file, ALLOCATION, length).await),
            FileCall::Lock { file, exclusive } => done(self.lock(file, if exclusive { 2 } else { 1 }).await),
            FileCall::Unlock { file } => done(self.lock(file, 4).await),
            FileCall::HandleStat { file } => self.size_of(file).await,
            FileCall::Stat { .. } => self.stat(&name).await,
            FileCall::Touch { .. } => done(self.touch(&name).await),
            FileCall::Rename { .. } => done(self.rename(&name, &other).await),
            FileCall::Unlink { .. } => done(self.delete(&name, FILE_OPTION).await),
            FileCall::RemoveFolder { .. } => done(self.delete(&name, FOLDER_OPTION).await),
            FileCall::MakeFolder { .. } => done(self.make_folder(&name).await),
            FileCall::RemoveTree { .. } => done(self.remove_tree(&name).await),
            FileCall::ReadFolder { .. } => self.entries(&name).await.map(|entries| entries.len() as i64),
            FileCall::FileSystem => self.free_bytes().await,
            FileCall::DropFileCache { .. } | FileCall::LeaveFolder | FileCall::EnterFolder => Ok(0),
            // Permissions of Unix are no part of the protocol.
            _ => Err(NOT_EXPRESSIBLE),
        };
        value.unwrap_or_else(|errno| errno)
    }

    /// The path below the share, in the server's characters. Dots lead nowhere.
    fn path(&self, name: &str) -> Result<Vec<u8>, Errno> {
        let mut path = self.base.clone();
        for part in name.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." || part.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
                return Err(EINVAL);
            }
            if !path.is_empty() {
                path.push('\\');
            }
            path.push_str(part);
        }
        Ok(utf16(&path))
    }

    fn create(path: &[u8], access: u32, disposition: u32, options: u32) -> Request {
        let mut body = Vec::with_capacity(56 + path.len());
        body.extend_from_slice(&[57, 0, 0, 0]);
        put32(&mut body, 2);
        body.extend_from_slice(&[0; 16]);
        put32(&mut body, access);
        put32(&mut body, 0);
        put32(&mut body, 7);
        put32(&mut body, disposition);
        put32(&mut body, options);
        put16(&mut body, (HEADER + 56) as u16);
        put16(&mut body, path.len() as u16);
        body.extend_from_slice(&[0; 8]);
        body.extend_from_slice(path);
        if path.is_empty() {
            body.push(0);
        }
        Request { command: Command::Create, body, payload: 0 }
    }

    fn close_of(id: FileId) -> Request {
        let mut body = vec![24, 0, 0, 0, 0, 0, 0, 0];
        body.extend_from_slice(&id);
        Request { command: Command::Close, body, payload: 0 }
    }

    fn query(id: FileId, sort: u8, class: u8, bytes: u32) -> Request {
        let mut body = vec![41, 0, sort, class];
        put32(&mut body, bytes);
        body.extend_from_slice(&[0; 16]);
        body.extend_from_slice(&id);
        body.push(0);
        Request { command: Command::QueryInfo, body, payload: bytes as usize }
    }

    fn set(id: FileId, class: u8, info: &[u8]) -> Request {
        let mut body = vec![33, 0, 1, class];
        put32(&mut body, info.len() as u32);
        put16(&mut body, (HEADER + 32) as u16);
        put16(&mut body, 0);
        put32(&mut body, 0);
        body.extend_from_slice(&id);
        body.extend_from_slice(info);
        Request { command: Command::SetInfo, body, payload: info.len() }
    }

    async fn plain(&self, request: Request) -> Result<(), Errno> {
        self.channel
            .call(request, |status, _| if status == status::SUCCESS { Ok(()) } else { Err(status::errno(status)) })
            .await
    }

    /// Opens a name: the file and its size.
    async fn open_id(&self, request: Request) -> Result<(FileId, u64, u32), Errno> {
        self.channel
            .call(request, |status, message| {
                if status != status::SUCCESS {
                    return Err(status::errno(status));
                }
                let id = message.get(128..144).and_then(|id| id.first_chunk()).copied().ok_or(EIO)?;
                Ok((id, u64_at(message, 112)?, u32_at(message, 120)?))
            })
            .await
    }

    async fn open(&self, number: Handle, name: &str, mode: OpenMode) -> Result<(), Errno> {
        let place = usize::from(number);
        if self.files.borrow().get(place).is_some_and(Option::is_some) {
            return Err(EBADF);
        }
        let disposition = match (mode.create, mode.exclusive, mode.truncate) {
            (true, true, _) => CREATE,
            (true, false, true) => OVERWRITE_IF,
            (true, false, false) => OPEN_IF,
            (false, _, true) => OVERWRITE,
            (false, _, false) => OPEN,
        };
        let access = if mode.write { WRITE_ACCESS } else { 0 } | if mode.read || !mode.write { READ_ACCESS } else { 0 };
        let through = mode.sync || mode.data_sync;
        let options =
            if mode.folder { FOLDER_OPTION } else { FILE_OPTION } | if through { WRITE_THROUGH_OPTION } else { 0 };
        let (id, size, _) = self.open_id(Self::create(&self.path(name)?, access, disposition, options)).await?;
        let mut files = self.files.borrow_mut();
        if files.len() <= place {
            files.resize(place + 1, None);
        }
        files[place] = Some(OpenFile { id, position: if mode.append { size } else { 0 }, writes: mode.write, through });
        Ok(())
    }

    fn opened(&self, number: Handle) -> Result<OpenFile, Errno> {
        self.files.borrow().get(usize::from(number)).copied().flatten().ok_or(EBADF)
    }

    fn moved(&self, number: Handle, count: i64) {
        if let Some(Some(file)) = self.files.borrow_mut().get_mut(usize::from(number)) {
            file.position += count as u64;
        }
    }

    async fn close(&self, number: Handle) -> Result<(), Errno> {
        let open = self.opened(number)?;
        self.files.borrow_mut()[usize::from(number)] = None;
        self.plain(Self::close_of(open.id)).await
    }

    async fn read(&self, slot: u32, number: Handle, offset: u64, length: u32) -> Result<i64, Errno> {
        let open = self.opened(number)?;
        let most = self.agreed.borrow().read;
        let mut data = std::mem::take(&mut self.data.borrow_mut()[slot as usize]);
        data.clear();
        let mut result = Ok(());
        while (data.len() as u32) < length {
            let before = data.len();
            let count = (length - before as u32).min(most).min(self.channel.affordable());
            let mut body = vec![49, 0, 0x50, 0];
            put32(&mut body, count);
            put64(&mut body, offset + before as u64);
            body.extend_from_slice(&open.id);
            body.extend_from_slice(&[0; 17]);
            let request = Request { command: Command::Read, body, payload: count as usize };
            let read = self.channel.call(request, |status, message| match status {
                status::SUCCESS => {
                    let at = usize::from(*message.get(66).ok_or(EIO)?);
                    let bytes = u32_at(message, 68)? as usize;
                    if bytes > count as usize {
                        return Err(EIO);
                    }
                    data.extend_from_slice(message.get(at..at + bytes).ok_or(EIO)?);
                    Ok(())
                }
                status::END_OF_FILE => Ok(()),
                failed => Err(status::errno(failed)),
            });
            result = read.await;
            if result.is_err() || data.len() == before {
                break;
            }
        }
        let count = data.len() as i64;
        self.data.borrow_mut()[slot as usize] = data;
        result.map(|()| count)
    }

    async fn read_on(&self, slot: u32, number: Handle, length: u32) -> Result<i64, Errno> {
        let count = self.read(slot, number, self.opened(number)?.position, length).await?;
        self.moved(number, count);
        Ok(count)
    }

    async fn write(&self, number: Handle, offset: u64, data: &[u8]) -> Result<i64, Errno> {
        let open = self.opened(number)?;
        let most = self.agreed.borrow().write as usize;
        let mut done = 0;
        while done < data.len() {
            let piece = &data[done..data.len().min(done + most.min(self.channel.affordable() as usize))];
            let mut body = Vec::with_capacity(48 + piece.len());
            put16(&mut body, 49);
            put16(&mut body, (HEADER + 48) as u16);
            put32(&mut body, piece.len() as u32);
            put64(&mut body, offset + done as u64);
            body.extend_from_slice(&open.id);
            body.extend_from_slice(&[0; 12]);
            put32(&mut body, u32::from(open.through && self.is_3()));
            body.extend_from_slice(piece);
            let request = Request { command: Command::Write, body, payload: piece.len() };
            let written = self.channel.call(request, |status, message| match status {
                status::SUCCESS => u32_at(message, 68),
                failed => Err(status::errno(failed)),
            });
            let written = written.await? as usize;
            if written == 0 || written > piece.len() {
                return Err(EIO);
            }
            done += written;
        }
        Ok(done as i64)
    }

    fn is_3(&self) -> bool {
        self.agreed.borrow().dialect.starts_with("SMB 3")
    }

    async fn write_on(&self, number: Handle, data: &[u8]) -> Result<i64, Errno> {
        let count = self.write(number, self.opened(number)?.position, data).await?;
        self.moved(number, count);
        Ok(count)
    }

    async fn flush(&self, number: Handle) -> Result<(), Errno> {
        let open = self.opened(number)?;
        // Servers refuse to flush what was opened to be read.
        if !open.writes {
            return Ok(());
        }
        let mut body = vec![24, 0, 0, 0, 0, 0, 0, 0];
        body.extend_from_slice(&open.id);
        self.plain(Request { command: Command::Flush, body, payload: 0 }).await
    }

    async fn lock(&self, number: Handle, flags: u32) -> Result<(), Errno> {
        let open = self.opened(number)?;
        let mut body = vec![48, 0, 1, 0, 0, 0, 0, 0];
        body.extend_from_slice(&open.id);
        put64(&mut body, 0);
        put64(&mut body, i64::MAX as u64);
        put32(&mut body, flags);
        put32(&mut body, 0);
        self.plain(Request { command: Command::Lock, body, payload: 0 }).await
    }

    async fn set_length(&self, number: Handle, class: u8, length: u64) -> Result<(), Errno> {
        let open = self.opened(number)?;
        self.plain(Self::set(open.id, class, &length.to_le_bytes())).await
    }

    async fn size_of(&self, number: Handle) -> Result<i64, Errno> {
        let open = self.opened(number)?;
        self.channel
            .call(Self::query(open.id, 1, STANDARD, 24), |status, message| match status {
                status::SUCCESS => standard_size(message),
                failed => Err(status::errno(failed)),
            })
            .await
    }

    async fn stat(&self, name: &str) -> Result<i64, Errno> {
        let create = Self::create(&self.path(name)?, ATTRIBUTES_ACCESS, OPEN, 0);
        self.channel.chain([create, Self::query(SAME, 1, STANDARD, 24), Self::close_of(SAME)], standard_size).await
    }

    async fn changed(&self, create: Request, class: u8, info: &[u8]) -> Result<(), Errno> {
        self.channel.chain([create, Self::set(SAME, class, info), Self::close_of(SAME)], |_| Ok(())).await
    }

    /// Without a clock: the server's own time when the session began.
    async fn touch(&self, name: &str) -> Result<(), Errno> {
        let create = Self::create(&self.path(name)?, SET_ATTRIBUTES_ACCESS, OPEN, 0);
        let time = self.agreed.borrow().server_time.to_le_bytes();
        let mut info = [0; 40];
        info[8..16].copy_from_slice(&time);
        info[16..24].copy_from_slice(&time);
        self.changed(create, BASIC, &info).await
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        let create = Self::create(&self.path(from)?, DELETE_ACCESS, OPEN, 0);
        let target = self.path(to)?;
        let mut info = vec![1, 0, 0, 0, 0, 0, 0, 0];
        info.extend_from_slice(&[0; 8]);
        put32(&mut info, target.len() as u32);
        info.extend_from_slice(&target);
        self.changed(create, RENAME, &info).await
    }

    async fn delete(&self, name: &str, option: u32) -> Result<(), Errno> {
        let create = Self::create(&self.path(name)?, DELETE_ACCESS, OPEN, option);
        self.changed(create, DISPOSITION, &[1]).await
    }

    async fn make_folder(&self, name: &str) -> Result<(), Errno> {
        let made = self.open_id(Self::create(&self.path(name)?, ATTRIBUTES_ACCESS, CREATE, FOLDER_OPTION)).await;
        match made {
            Ok((id, ..)) => self.plain(Self::close_of(id)).await,
            // One that is there must be a folder.
            Err(-17) => {
                let look = Self::create(&self.path(name)?, ATTRIBUTES_ACCESS, OPEN, FOLDER_OPTION);
                let (id, ..) = self.open_id(look).await?;
                self.plain(Self::close_of(id)).await?;
                Err(-17)
            }
            Err(errno) => Err(errno),
        }
    }

    /// All entries of a folder, "." and ".." among them.
    async fn entries(&self, name: &str) -> Result<Vec<Entry>, Errno> {
        let create = Self::create(&self.path(name)?, READ_ACCESS, OPEN, FOLDER_OPTION);
        let (id, _, attributes) = self.open_id(create).await?;
        let found = if attributes & FOLDER_ATTRIBUTE == 0 { Err(ENOTDIR) } else { self.listed(id).await };
        self.plain(Self::close_of(id)).await?;
        found
    }

    async fn listed(&self, id: FileId) -> Result<Vec<Entry>, Errno> {
        let mut all = Vec::new();
        loop {
            let mut body = vec![33, 0, BOTH_NAMES, 0];
            put32(&mut body, 0);
            body.extend_from_slice(&id);
            put16(&mut body, (HEADER + 32) as u16);
            put16(&mut body, 2);
            put32(&mut body, LISTING_BYTES);
            body.extend_from_slice(b"*\0");
            let request = Request { command: Command::QueryDirectory, body, payload: LISTING_BYTES as usize };
            let part = self.channel.call(request, |status, message| match status {
                status::SUCCESS => match output(message)? {
                    part if part.len() > LISTING_BYTES as usize => Err(EIO),
                    part => listing(part).map(Some),
                },
                status::NO_MORE_FILES => Ok(None),
                failed => Err(status::errno(failed)),
            });
            match part.await? {
                Some(part) if !part.is_empty() && all.len() <= ENTRIES_MAX => all.extend(part),
                Some(part) if !part.is_empty() => return Err(EIO),
                _ => return Ok(all),
            }
        }
    }

    /// Removes a folder with all that is in it; a missing one is fine.
    async fn remove_tree(&self, name: &str) -> Result<(), Errno> {
        let below = |entries: Vec<Entry>| {
            let kept = entries.into_iter().filter(|entry| entry.name != "." && entry.name != "..");
            kept.collect::<Vec<_>>()
        };
        let top = match self.entries(name).await {
            Err(ENOENT) => return Ok(()),
            entries => below(entries?),
        };
        let mut way = vec![(name.to_owned(), top)];
        while let Some((folder, left)) = way.last_mut() {
            let Some(entry) = left.pop() else {
                let folder = way.pop().map(|(folder, _)| folder).unwrap_or_default();
                self.delete(&folder, FOLDER_OPTION).await?;
                continue;
            };
            let path = format!("{folder}/{}", entry.name);
            if !entry.is_folder {
                self.delete(&path, FILE_OPTION).await?;
                continue;
            }
            if way.len() >= NESTING_MAX {
                return Err(ELOOP);
            }
            let entries = below(self.entries(&path).await?);
            way.push((path, entries));
        }
        Ok(())
    }

    async fn free_bytes(&self) -> Result<i64, Errno> {
        let create = Self::create(&self.path("")?, ATTRIBUTES_ACCESS, OPEN, FOLDER_OPTION);
        let requests = [create, Self::query(SAME, 2, FULL_SIZE, 32), Self::close_of(SAME)];
        self.channel
            .chain(requests, |message| {
                let facts = output(message)?;
                let unit = u64::from(u32_at(facts, 24)?) * u64::from(u32_at(facts, 28)?);
                Ok(i64::try_from(u64_at(facts, 8)?.saturating_mul(unit)).unwrap_or(i64::MAX))
            })
            .await
    }
}

/// The bytes that a query gives.
fn output(message: &[u8]) -> Result<&[u8], Errno> {
    let (at, length) = (usize::from(u16_at(message, 66)?), u32_at(message, 68)? as usize);
    message.get(at..at.checked_add(length).ok_or(EIO)?).ok_or(EIO)
}

fn standard_size(message: &[u8]) -> Result<i64, Errno> {
    i64::try_from(u64_at(output(message)?, 8)?).map_err(|_| EIO)
}

fn listing(bytes: &[u8]) -> Result<Vec<Entry>, Errno> {
    let mut entries = Vec::new();
    let mut from = 0;
    loop {
        let entry = bytes.get(from..).ok_or(EIO)?;
        let (next, length) = (u32_at(entry, 0)? as usize, u32_at(entry, 60)? as usize);
        let name = entry.get(104..104_usize.checked_add(length).ok_or(EIO)?).ok_or(EIO)?;
        let units: Vec<u16> = name.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        let is_folder = u32_at(entry, 56)? & FOLDER_ATTRIBUTE != 0;
        entries.push(Entry { name: String::from_utf16_lossy(&units), is_folder });
        if next == 0 {
            return Ok(entries);
        }
        // Entries that overlap would be more than the bytes that came.
        if next < 104 + length {
            return Err(EIO);
        }
        from += next;
    }
}

pub(super) fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn put16(body: &mut Vec<u8>, value: u16) {
    body.extend_from_slice(&value.to_le_bytes());
}

fn put32(body: &mut Vec<u8>, value: u32) {
    body.extend_from_slice(&value.to_le_bytes());
}

fn put64(body: &mut Vec<u8>, value: u64) {
    body.extend_from_slice(&value.to_le_bytes());
}
