//! File work: the trial's own folder, the executors of file calls, caches and their proof.

mod buffers;
mod cache;
mod calls;
mod folder;
mod map;
mod observe;
mod owner;
mod psync;
mod server_check;
mod server_folder;
mod server_queue;
mod server_session;
mod slots;
mod trial;
mod uring;
mod virtual_user;
mod work_place;

pub use owner::{Owner, folder_name, owner_of};
pub use server_check::{remove_from_server, try_server};
pub use trial::start_files;

/// The bytes of a file of the user's, at most `limit` of them; the error is a sentence.
pub fn read_bounded(path: &str, limit: usize) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(limit as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot be read ({error}): check the path"))?;
    if bytes.len() > limit {
        return Err(format!("is larger than {limit} bytes: use a smaller one"));
    }
    Ok(bytes)
}

/// The error number of the last failed call, negative.
pub(crate) fn last_error() -> i64 {
    -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

/// What a call returned: its value, or the negative error number.
#[inline]
pub(crate) fn value_or_errno(value: i64) -> i64 {
    if value < 0 { last_error() } else { value }
}
