//! The procedures of NFS version 3 and of its mount protocol (RFC 1813), each as one call.

use super::super::wire::{EIO, Errno};
use super::rpc::{MOUNT, NFS, PORTMAP, Rpc};
use super::xdr::{Xdr, XdrWrite};
use std::rc::Rc;

/// What a server names a file by.
pub(super) type FileHandle = Rc<[u8]>;

/// File handles have so many bytes at most.
const HANDLE_MAX: usize = 64;
/// Bytes of the attributes of a file.
const ATTRIBUTES: usize = 84;
/// Bytes of the attributes before a change: size and two times.
const BEFORE: usize = 24;
/// A path, and a name in a folder, have so many bytes at most.
const NAME_MAX: usize = 1024;
/// Authentication flavours that an export may list.
const FLAVOURS_MAX: u32 = 64;
/// `READDIRPLUS` asks for so many bytes.
const LISTING: (u32, u32) = (8 * 1024, 32 * 1024);
pub(super) const FOLDER: u32 = 2;

/// Attributes of a file that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    pub kind: u32,
    pub size: u64,
}

/// How stable a write is: as it is asked for, and as the server did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stable {
    Unstable = 0,
    Data = 1,
    File = 2,
}

/// An answer to a write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub count: u32,
    pub is_stable: bool,
    pub verifier: [u8; 8],
}

/// What a server carries at once, bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    pub read: u32,
    pub write: u32,
}

/// An entry of a folder.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: Vec<u8>,
    pub is_folder: bool,
}

/// A part of a folder's entries, and where the next begins.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub entries: Vec<Entry>,
    pub count: u64,
    pub cookie: u64,
    pub verifier: [u8; 8],
    pub is_end: bool,
}

/// What `SETATTR` and `CREATE` set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Set {
    pub mode: Option<u32>,
    pub size: Option<u64>,
    pub now: bool,
}

impl Set {
    fn put(self, out: &mut Vec<u8>) {
        match self.mode {
            Some(mode) => out.u32(1).u32(mode),
            None => out.u32(0),
        };
        out.u32(0).u32(0);
        match self.size {
            Some(size) => out.u32(1).u64(size),
            None => out.u32(0),
        };
        out.u32(u32::from(self.now)).u32(u32::from(self.now));
    }
}

/// The negative error number of a status (RFC 1813, 2.6), which is Linux's own as far as it is small.
pub(super) const fn errno(status: u32) -> Errno {
    let number = match status {
        1..=62 => status,
        63 => 36,
        66 => 39,
        69 => 122,
        70 | 10_001 => 116,
        71 => 66,
        10_004 => 95,
        10_005 | 10_007 => 22,
        10_006 => 121,
        10_008 => 11,
        _ => 5,
    };
    -(number as Errno)
}

fn status(at: &mut Xdr<'_>) -> Result<(), Errno> {
    match at.u32()? {
        0 => Ok(()),
        status => Err(errno(status)),
    }
}

fn attributes(at: &mut Xdr<'_>) -> Result<Attributes, Errno> {
    let kind = at.u32()?;
    at.skip(16)?;
    let size = at.u64()?;
    at.skip(ATTRIBUTES - 28)?;
    Ok(Attributes { kind, size })
}

fn attributes_after(at: &mut Xdr<'_>) -> Result<Option<Attributes>, Errno> {
    if at.flag()? { attributes(at).map(Some) } else { Ok(None) }
}

fn change(at: &mut Xdr<'_>) -> Result<(), Errno> {
    if at.flag()? {
        at.skip(BEFORE)?;
    }
    attributes_after(at).map(drop)
}

fn handle(at: &mut Xdr<'_>) -> Result<FileHandle, Errno> {
    at.opaque(HANDLE_MAX).map(Rc::from)
}

/// What a change made: its handle and attributes, where the server tells them.
fn made(at: &mut Xdr<'_>) -> Result<(Option<FileHandle>, Option<Attributes>), Errno> {
    status(at)?;
    let made = if at.flag()? { Some(handle(at)?) } else { None };
    Ok((made, attributes_after(at)?))
}

impl Rpc {
    /// The TCP port of a program; 0 where the server has none.
    pub async fn port_of(&self, (program, version): (u32, u32)) -> Result<u32, Errno> {
        let arguments = move |out: &mut Vec<u8>| _ = out.u32(program).u32(version).u32(6).u32(0);
        let port = |at: &mut Xdr<'_>| at.u32();
        self.call(PORTMAP, 3, arguments, port).await
    }

    /// The handle of an exported folder.
    pub async fn mount(&self, path: &[u8]) -> Result<FileHandle, Errno> {
        self.call(
            MOUNT,
            1,
            |out| _ = out.opaque(path),
            |at| {
                status(at)?;
                let root = handle(at)?;
                let flavours = at.u32()?;
                if flavours > FLAVOURS_MAX {
                    return Err(EIO);
                }
                // AUTH_NONE and AUTH_SYS; an old server lists nothing.
                let fits = (0..flavours).map(|_| at.u32()).collect::<Result<Vec<_>, _>>()?;
                if fits.is_empty() || fits.iter().any(|&flavour| flavour <= 1) { Ok(root) } else { Err(errno(13)) }
            },
        )
        .await
    }

    pub async fn fsinfo(&self, root: &FileHandle) -> Result<Sizes, Errno> {
        self.call(
            NFS,
            19,
            |out| _ = out.opaque(root),
            |at| {
                status(at)?;
                attributes_after(at)?;
                let read = at.u32()?;
                at.skip(8)?;
                Ok(Sizes { read, write: at.u32()? })
            },
        )
        .await
    }

    /// Free bytes for this user.
    pub async fn free_bytes(&self, root: &FileHandle) -> Result<u64, Errno> {
        self.call(
            NFS,
            18,
            |out| _ = out.opaque(root),
            |at| {
                status(at)?;
                attributes_after(at)?;
                at.skip(16)?;
                at.u64()
            },
        )
        .await
    }

    pub async fn getattr(&self, file: &FileHandle) -> Result<Attributes, Errno> {
        self.call(NFS, 1, |out| _ = out.opaque(file), |at| status(at).and_then(|()| attributes(at))).await
    }

    pub async fn setattr(&self, file: &FileHandle, set: Set) -> Result<(), Errno> {
        let arguments = |out: &mut Vec<u8>| {
            out.opaque(file);
            set.put(out);
            out.u32(0);
        };
        self.call(NFS, 2, arguments, status).await
    }

    pub async fn lookup(&self, folder: &FileHandle, name: &[u8]) -> Result<(FileHandle, Option<Attributes>), Errno> {
        self.call(
            NFS,
            3,
            |out| _ = out.opaque(folder).opaque(name),
            |at| {
                status(at)?;
                Ok((handle(at)?, attributes_after(at)?))
            },
        )
        .await
    }

    /// Reads into `data`, which it extends; the value is whether the file ends there.
    pub async fn read(&self, file: &FileHandle, offset: u64, count: u32, data: &mut Vec<u8>) -> Result<bool, Errno> {
        self.call(
            NFS,
            6,
            |out| _ = out.opaque(file).u64(offset).u32(count),
            |at| {
                status(at)?;
                attributes_after(at)?;
                at.skip(4)?;
                let is_end = at.flag()?;
                data.extend_from_slice(at.opaque(count as usize)?);
                Ok(is_end)
            },
        )
        .await
    }

    pub async fn write(&self, file: &FileHandle, offset: u64, data: &[u8], how: Stable) -> Result<Written, Errno> {
        let count = data.len() as u32;
        let arguments = |out: &mut Vec<u8>| _ = out.opaque(file).u64(offset).u32(count).u32(how as u32).opaque(data);
        self.call(NFS, 7, arguments, |at| {
            status(at)?;
            change(at)?;
            let (written, committed, verifier) = (at.u32()?, at.u32()?, at.fixed()?);
            if written > count || written == 0 && count > 0 {
                return Err(EIO);
            }
            Ok(Written { count: written, is_stable: committed >= Stable::Data as u32, verifier })
        })
        .await
    }

    /// Makes what was written stable; the value is the server's verifier.
    pub async fn commit(&self, file: &FileHandle) -> Result<[u8; 8], Errno> {
        self.call(
            NFS,
            21,
            |out| _ = out.opaque(file).u64(0).u32(0),
            |at| {
                status(at)?;
                change(at)?;
                at.fixed()
            },
        )
        .await
    }

    pub async fn create(
        &self,
        folder: &FileHandle,
        name: &[u8],
        set: Set,
        exclusive: bool,
    ) -> Result<(Option<FileHandle>, Option<Attributes>), Errno> {
        let arguments = |out: &mut Vec<u8>| {
            out.opaque(folder).opaque(name).u32(u32::from(exclusive));
            set.put(out);
        };
        self.call(NFS, 8, arguments, made).await
    }

    pub async fn mkdir(&self, folder: &FileHandle, name: &[u8]) -> Result<(), Errno> {
        let arguments = |out: &mut Vec<u8>| {
            out.opaque(folder).opaque(name);
            Set { mode: Some(0o700), ..Set::default() }.put(out);
        };
        self.call(NFS, 9, arguments, |at| made(at).map(drop)).await
    }

    pub async fn remove(&self, folder: &FileHandle, name: &[u8]) -> Result<(), Errno> {
        self.call(NFS, 12, |out| _ = out.opaque(folder).opaque(name), status).await
    }

    pub async fn rmdir(&self, folder: &FileHandle, name: &[u8]) -> Result<(), Errno> {
        self.call(NFS, 13, |out| _ = out.opaque(folder).opaque(name), status).await
    }

    pub async fn rename(&self, from: (&FileHandle, &[u8]), to: (&FileHandle, &[u8])) -> Result<(), Errno> {
        let arguments = |out: &mut Vec<u8>| _ = out.opaque(from.0).opaque(from.1).opaque(to.0).opaque(to.1);
        self.call(NFS, 14, arguments, status).await
    }

    /// The entries after a cookie, their names kept or only counted.
    pub async fn readdirplus(
        &self,
        folder: &FileHandle,
        cookie: u64,
        verifier: [u8; 8],
        with_names: bool,
    ) -> Result<Listing, Errno> {
        let arguments = |out: &mut Vec<u8>| {
            out.opaque(folder).u64(cookie);
            out.extend_from_slice(&verifier);
            out.u32(LISTING.0).u32(LISTING.1);
        };
        self.call(NFS, 17, arguments, |at| listing(at, with_names)).await
    }
}

fn listing(at: &mut Xdr<'_>, with_names: bool) -> Result<Listing, Errno> {
    status(at)?;
    attributes_after(at)?;
    let mut listing = Listing { verifier: at.fixed()?, ..Listing::default() };
    while at.flag()? {
        at.skip(8)?;
        let name = at.opaque(NAME_MAX)?;
        listing.cookie = at.u64()?;
        let is_folder = attributes_after(at)?.is_some_and(|attributes| attributes.kind == FOLDER);
        if at.flag()? {
            at.opaque(HANDLE_MAX)?;
        }
        listing.count += 1;
        if with_names {
            listing.entries.push(Entry { name: name.to_vec(), is_folder });
        }
    }
    listing.is_end = at.flag()?;
    if listing.count == 0 && !listing.is_end { Err(EIO) } else { Ok(listing) }
}
