//! Calls on names: relative to the trial's folder, and not out of it.

use crate::file::folder::{folder_beneath, open_beneath, stays_beneath};
use crate::file::{cache, last_error, value_or_errno};
use bakeoff_engine::{FileCall, FileSession};
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Carries out a call on a name: its value, or the negative error number.
pub(super) fn execute(folder: RawFd, call: &FileCall, session: &impl FileSession) -> i64 {
    let (name, other) = match *call {
        FileCall::Stat { name }
        | FileCall::Touch { name }
        | FileCall::Permissions { name, .. }
        | FileCall::Unlink { name }
        | FileCall::MakeFolder { name }
        | FileCall::RemoveFolder { name }
        | FileCall::RemoveTree { name }
        | FileCall::ReadFolder { name }
        | FileCall::DropFileCache { name } => (session.path(name), None),
        FileCall::Rename { from, to } => (session.path(from), Some(session.path(to))),
        _ => return -i64::from(libc::ENOSYS),
    };
    if !stays_beneath(name) || other.is_some_and(|other| !stays_beneath(other)) {
        return -i64::from(libc::EXDEV);
    }
    let text = name.as_ptr();
    // SAFETY: names are valid and zero-terminated, descriptors plain numbers.
    let value = unsafe {
        match *call {
            FileCall::Stat { .. } => return size_of_name(folder, name),
            FileCall::Touch { .. } => libc::utimensat(folder, text, std::ptr::null(), libc::AT_SYMLINK_NOFOLLOW),
            FileCall::Permissions { permissions, .. } => {
                libc::fchmodat(folder, text, libc::mode_t::from(permissions), 0)
            }
            FileCall::Unlink { .. } => libc::unlinkat(folder, text, 0),
            FileCall::MakeFolder { .. } => return make_folder(folder, name),
            FileCall::RemoveFolder { .. } => libc::unlinkat(folder, text, libc::AT_REMOVEDIR),
            FileCall::Rename { .. } => libc::renameat(folder, text, folder, other.map_or(text, CStr::as_ptr)),
            FileCall::RemoveTree { .. } => return remove_tree(folder, name),
            FileCall::ReadFolder { .. } => return count_entries(folder, name),
            FileCall::DropFileCache { .. } => return with_opened(folder, name, cache::drop_file),
            _ => return -i64::from(libc::ENOSYS),
        }
    };
    value_or_errno(i64::from(value))
}

/// Runs `work` on a name opened for reading, without a handle.
pub(super) fn with_opened(folder: RawFd, name: &CStr, work: impl FnOnce(RawFd) -> i64) -> i64 {
    let opened = open_beneath(folder, name, libc::O_RDONLY, 0);
    if opened < 0 {
        return opened;
    }
    let value = work(opened as RawFd);
    // SAFETY: a descriptor just opened here.
    unsafe { libc::close(opened as RawFd) };
    value
}

fn size_of_name(folder: RawFd, name: &CStr) -> i64 {
    // SAFETY: as above, and the name is valid.
    unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        if libc::fstatat(folder, name.as_ptr(), &raw mut facts, libc::AT_SYMLINK_NOFOLLOW) == 0 {
            facts.st_size
        } else {
            last_error()
        }
    }
}

fn count_entries(folder: RawFd, name: &CStr) -> i64 {
    let opened = open_beneath(folder, name, libc::O_RDONLY | libc::O_DIRECTORY, 0);
    if opened < 0 {
        return opened;
    }
    // SAFETY: the descriptor was just opened and passes to the stream of entries, which closes it.
    unsafe {
        let entries = libc::fdopendir(opened as RawFd);
        if entries.is_null() {
            let error = last_error();
            libc::close(opened as RawFd);
            return error;
        }
        let mut count = 0;
        while !libc::readdir(entries).is_null() {
            count += 1;
        }
        libc::closedir(entries);
        count
    }
}

/// Makes a folder. One that is there must be a folder and no link: what is done below it stays in the trial's.
fn make_folder(folder: RawFd, name: &CStr) -> i64 {
    // SAFETY: the name is valid and zero-terminated.
    let made = value_or_errno(i64::from(unsafe { libc::mkdirat(folder, name.as_ptr(), 0o700) }));
    if made != -i64::from(libc::EEXIST) {
        return made;
    }
    folder_beneath(folder, name, libc::O_PATH).map_or_else(|error| error, |_| made)
}

/// Removes a folder with all that is in it; no folder above it may be a link.
fn remove_tree(folder: RawFd, name: &CStr) -> i64 {
    let bytes = name.to_bytes();
    let (above, last) = match bytes.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (&b"."[..], bytes),
    };
    let Ok(above) = CString::new(above) else { return -i64::from(libc::EINVAL) };
    let parent = match folder_beneath(folder, &above, libc::O_PATH) {
        Ok(parent) => parent,
        Err(error) => return if error == -i64::from(libc::ENOENT) { 0 } else { error },
    };
    let path = Path::new("/proc/self/fd").join(parent.as_raw_fd().to_string()).join(OsStr::from_bytes(last));
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            -i64::from(error.raw_os_error().unwrap_or(libc::EIO))
        }
        _ => 0,
    }
}
