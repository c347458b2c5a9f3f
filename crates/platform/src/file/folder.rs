//! The trial's own folder: made in the contender's folder, worked in alone, removed at the end.

use super::owner::folder_name;
use bakeoff_engine::FileNeeds;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often, and how long after each other, a folder is removed that is not empty yet.
const REMOVALS: u32 = 30;
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);
const OPENAT2: libc::c_long = 437;
const RESOLVE_NO_MAGICLINKS: u64 = 0x02;
const RESOLVE_NO_SYMLINKS: u64 = 0x04;
const RESOLVE_BENEATH: u64 = 0x08;

#[repr(C)]
struct OpenHow {
    flags: u64,
    mode: u64,
    resolve: u64,
}

/// Opens a name under `folder` that may not lead out of it and is no link.
pub(crate) fn open_beneath(folder: RawFd, name: &CStr, flags: i32, mode: u32) -> i64 {
    let making = flags & libc::O_CREAT != 0;
    let how = OpenHow {
        flags: (flags | libc::O_CLOEXEC | libc::O_NOFOLLOW) as u64,
        mode: if making { u64::from(mode) } else { 0 },
        resolve: RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    // SAFETY: name and structure are valid; the size is the structure's.
    let opened = unsafe { libc::syscall(OPENAT2, folder, name.as_ptr(), &raw const how, size_of::<OpenHow>()) };
    if opened >= 0 {
        return opened;
    }
    let error = super::last_error();
    if error != -i64::from(libc::ENOSYS) {
        return error;
    }
    if !stays_beneath(name) {
        return -i64::from(libc::EXDEV);
    }
    // SAFETY: name is valid.
    super::value_or_errno(i64::from(unsafe { libc::openat(folder, name.as_ptr(), how.flags as i32, mode) }))
}

/// Opens a folder under `above` that may not lead out of it and is no link; else the negative error number.
pub(crate) fn folder_beneath(above: RawFd, name: &CStr, flags: i32) -> Result<OwnedFd, i64> {
    match open_beneath(above, name, flags | libc::O_DIRECTORY, 0) {
        error if error < 0 => Err(error),
        // SAFETY: a descriptor just opened, owned by nobody else.
        opened => Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) }),
    }
}

/// Whether a name is relative and climbs nowhere.
pub(crate) fn stays_beneath(name: &CStr) -> bool {
    let bytes = name.to_bytes();
    !bytes.is_empty() && bytes[0] != b'/' && bytes.split(|&byte| byte == b'/').all(|part| part != b"..")
}

/// The trial's folder.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    parent: PathBuf,
    name: CString,
    inode: (u64, u64),
    stays: FolderLifetime,
}

/// Which trial takes its folder away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderLifetime {
    /// None: the user wants to look into it.
    Always,
    /// One that failed: others of the run go on with what it holds.
    ForTheRun,
    /// Any: it was made for one trial.
    ForTheTrial,
}

impl FolderLifetime {
    /// As the workload wishes; `reused` says that trials of the run share the folder.
    pub const fn of(needs: &FileNeeds, reused: bool) -> Self {
        match (needs.keep, reused) {
            (true, _) => Self::Always,
            (false, true) => Self::ForTheRun,
            (false, false) => Self::ForTheTrial,
        }
    }

    /// Whether it stays after a trial that has, or has not, failed.
    pub const fn after(self, failed: bool) -> bool {
        match self {
            Self::Always => true,
            Self::ForTheRun => !failed,
            Self::ForTheTrial => false,
        }
    }
}

/// The name of a trial's folder, and whether trials of the run share it; the error is a sentence.
pub(crate) fn work_name(needs: &FileNeeds) -> Result<(CString, bool), String> {
    let (name, reused) = match &needs.reuse {
        Some(what) if what.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => {
            (folder_name(what), true)
        }
        Some(what) => return Err(format!("the work folder {what:?} must be named by letters and digits")),
        None => (folder_name(&format!("trial-{:08x}", unique())), false),
    };
    Ok((CString::new(name).map_err(|_| "the folder's name holds a zero byte".to_owned())?, reused))
}

/// Why a trial cannot begin in a folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FolderError {
    /// One sentence.
    pub reason: String,
    /// There is no room for it.
    pub full: bool,
}

/// Folders of this process's trials that could not be removed, by the contender's folder.
pub(crate) struct FailedRemovals;

static LEFT: Mutex<Vec<(PathBuf, CString)>> = Mutex::new(Vec::new());

impl FailedRemovals {
    /// Remembers a folder.
    pub fn add(parent: PathBuf, name: CString) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = (parent, name);
        if !left.contains(&entry) {
            left.push(entry);
        }
    }

    /// Tries again to `remove` what was left with a contender; what that says is gone is forgotten.
    pub fn again(parent: &Path, mut remove: impl FnMut(&CStr) -> bool) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|(place, name)| place != parent || !remove(name));
    }
}

impl WorkFolder {
    /// Makes (or, when it is to be reused, finds) the folder, after what earlier trials could not remove.
    pub fn make(needs: &FileNeeds) -> Result<Self, FolderError> {
        let parent = PathBuf::from(&needs.folder);
        let refused = |reason: String| FolderError { reason, full: false };
        let advised = |error: &io::Error| FolderError {
            reason: advice(&parent, error),
            full: matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT)),
        };
        let parent = parent.canonicalize().map_err(|error| advised(&error))?;
        if parent == Path::new("/") {
            return Err(refused("the contender's folder is /: name a folder below it".to_owned()));
        }
        let (name, reused) = work_name(needs).map_err(refused)?;
        let above = open_folder(&parent).map_err(|error| advised(&error))?;
        FailedRemovals::again(&parent, |name| {
            let removed = std::fs::remove_dir_all(beneath(&above, name));
            removed.is_ok() || removed.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        });
        check_space(&parent, above.as_raw_fd(), needs.space_bytes)
            .map_err(|reason| FolderError { reason, full: true })?;
        // SAFETY: name is valid.
        if unsafe { libc::mkdirat(above.as_raw_fd(), name.as_ptr(), 0o700) } != 0 {
            let error = io::Error::last_os_error();
            if !(reused && error.raw_os_error() == Some(libc::EEXIST)) {
                return Err(advised(&error));
            }
        }
        let stays = FolderLifetime::of(needs, reused);
        let mut folder = Self { parent, name, inode: (0, 0), stays };
        let unusable = |folder: &Self, error: &io::Error| refused(advice(&folder.parent, error));
        let opened = folder.open().map_err(|error| unusable(&folder, &error))?;
        folder.inode = identity(&opened).map_err(|error| unusable(&folder, &error))?;
        Ok(folder)
    }

    /// The contender's folder.
    pub fn parent(&self) -> &Path {
        &self.parent
    }

    /// Opens the trial's folder; after a remount it must still be the same one.
    pub fn open(&self) -> io::Result<OwnedFd> {
        let above = open_folder(&self.parent)?;
        let opened = folder_beneath(above.as_raw_fd(), &self.name, libc::O_RDONLY)
            .map_err(|error| io::Error::from_raw_os_error(-error as i32))?;
        if self.inode != (0, 0) && identity(&opened)?.1 != self.inode.1 {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        Ok(opened)
    }

    /// Removes the folder with all that is in it, unless it is to stay; what trials of the run share leaves with one that
    /// `failed`, so that what it filled is not in the way of the others.
    pub fn remove(&self, failed: bool) -> Result<(), String> {
        if self.stays.after(failed) {
            return Ok(());
        }
        let above = open_folder(&self.parent).map_err(|error| advice(&self.parent, &error))?;
        match remove_all(&beneath(&above, &self.name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.left_behind();
                Err(format!("{} could not be removed ({error}): remove it yourself", self.shown()))
            }
            _ => Ok(()),
        }
    }

    /// Remembers a folder that could not be removed.
    pub fn left_behind(&self) {
        FailedRemovals::add(self.parent.clone(), self.name.clone());
    }

    /// Its path, as people read it.
    pub fn shown(&self) -> String {
        format!("{}/{}", self.parent.display(), self.name.to_string_lossy())
    }
}

/// What trials of this process have left in a contender's folder because it could not be removed.
pub(crate) fn left_in(folder: &str) -> Vec<String> {
    let parent = Path::new(folder).canonicalize().unwrap_or_else(|_| PathBuf::from(folder));
    let left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    let here = left.iter().filter(|entry| entry.0 == parent);
    here.map(|(parent, name)| format!("{}/{}", parent.display(), name.to_string_lossy())).collect()
}

/// A name in an open folder, as a path.
fn beneath(above: &OwnedFd, name: &CStr) -> PathBuf {
    Path::new("/proc/self/fd").join(above.as_raw_fd().to_string()).join(std::ffi::OsStr::from_bytes(name.to_bytes()))
}

/// Removes a folder. Clients of network file systems keep a file that was removed for as long as the kernel holds it,
/// which it does some time after a ring was closed: its folder is not empty until then.
fn remove_all(path: &Path) -> io::Result<()> {
    for _ in 1..REMOVALS {
        match std::fs::remove_dir_all(path) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTEMPTY | libc::EBUSY)) => {
                std::thread::sleep(REMOVAL_PAUSE);
            }
            done => return done,
        }
    }
    std::fs::remove_dir_all(path)
}

/// A number that no other folder of this process has soon.
pub(crate) fn unique() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    (time.tv_nsec as u32).wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed) << 20) ^ time.tv_sec as u32
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path)?;
    Ok(file.into())
}

fn identity(folder: &OwnedFd) -> io::Result<(u64, u64)> {
    let facts = std::fs::File::from(folder.try_clone()?).metadata()?;
    Ok((facts.dev(), facts.ino()))
}

/// Free bytes of the file system of an open folder. Some FUSE file systems say that they have no space at all, free
/// or not: then nothing is known, and nothing is in the way.
pub(crate) fn free_bytes(folder: RawFd) -> i64 {
    // SAFETY: a zeroed statvfs is valid for the kernel to fill.
    unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        if libc::fstatvfs(folder, &raw mut facts) != 0 {
            return super::last_error();
        }
        if facts.f_blocks == 0 {
            return i64::MAX;
        }
        i64::try_from(facts.f_bavail.saturating_mul(facts.f_frsize)).unwrap_or(i64::MAX)
    }
}

fn check_space(parent: &Path, folder: RawFd, needed: u64) -> Result<(), String> {
    let free = free_bytes(folder);
    if free >= 0 && (free as u64) < needed {
        return Err(format!(
            "{} has {} MB free, the trial needs {} MB: free some space or use smaller files",
            parent.display(),
            free / 1_000_000,
            needed.div_ceil(1_000_000)
        ));
    }
    Ok(())
}

/// What is wrong with a folder and what to do, in one sentence.
pub(crate) fn advice(folder: &Path, error: &io::Error) -> String {
    let folder = folder.display();
    match error.raw_os_error().unwrap_or(0) {
        libc::ENOENT => format!("{folder} does not exist: make it, or mount the share"),
        libc::ENOTDIR => format!("{folder} is not a folder: name the folder to work in"),
        libc::EROFS => format!("{folder} is read-only: mount it for writing"),
        libc::EACCES | libc::EPERM => format!("{folder} may not be written to: give yourself the right to"),
        libc::ENOSPC | libc::EDQUOT => format!("{folder} is full: free some space"),
        libc::ESTALE
        | libc::ENOTCONN
        | libc::ECONNABORTED
        | libc::ECONNRESET
        | libc::EHOSTDOWN
        | libc::ENODEV
        | libc::ENXIO
        | libc::ESHUTDOWN => {
            format!("{folder} has vanished ({error}): mount the share again")
        }
        _ => format!("{folder} cannot be used: {error}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use bakeoff_engine::Executor;

    pub(crate) fn needs(folder: &Path) -> FileNeeds {
        FileNeeds {
            folder: folder.to_string_lossy().into_owned(),
            keep: false,
            reuse: None,
            space_bytes: 0,
            handles: 4,
            buffers: 1,
            buffer_bytes: 4096,
            registered_bytes: 4096,
            depth: 1,
            executor: Executor::Blocking,
            cold_command: None,
            stall_ns: 5_000_000_000,
        }
    }

    pub(crate) fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("bakeoff-test-{name}-{}-{}", std::process::id(), unique()));
        std::fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let parent = scratch("beneath");
        std::fs::write(parent.join("secret"), "x").unwrap();
        let folder = WorkFolder::make(&needs(&parent)).unwrap();
        let opened = folder.open().unwrap();
        let inside = parent.join(folder.name.to_str().unwrap());
        std::os::unix::fs::symlink("/etc/passwd", inside.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", inside.join("etc")).unwrap();
        for name in [c"../secret", c"/etc/passwd", c"link", c"etc/passwd", c"a/../../secret"] {
            assert!(open_beneath(opened.as_raw_fd(), name, libc::O_RDONLY, 0) < 0, "{name:?}");
        }
        folder.remove(false).unwrap();
        assert!(!inside.exists() && parent.join("secret").exists() && Path::new("/etc/passwd").exists());
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn faults_of_the_folder_are_told_with_advice() {
        let parent = scratch("advice");
        let missing = WorkFolder::make(&needs(&parent.join("none"))).unwrap_err().reason;
        assert!(missing.contains("does not exist"), "{missing}");
        let root = WorkFolder::make(&needs(Path::new("/"))).unwrap_err().reason;
        assert!(root.contains("below it"), "{root}");
        let large = WorkFolder::make(&FileNeeds { space_bytes: 1 << 60, ..needs(&parent) }).unwrap_err();
        assert!(large.full && large.reason.contains("MB free"), "{large:?}");
        let foreign = WorkFolder::make(&FileNeeds { reuse: Some("../mine".to_owned()), ..needs(&parent) });
        assert!(foreign.unwrap_err().reason.contains("letters and digits"));
        std::fs::write(parent.join("file"), "").unwrap();
        assert!(WorkFolder::make(&needs(&parent.join("file"))).unwrap_err().reason.contains("not a folder"));
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 1);
        std::fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn a_kept_folder_stays_and_a_reused_one_is_found_again() {
        let parent = scratch("keep");
        let reused = FileNeeds { reuse: Some("region".to_owned()), ..needs(&parent) };
        for _ in 0..2 {
            WorkFolder::make(&reused).unwrap().remove(false).unwrap();
            assert!(parent.join(folder_name("region")).is_dir());
        }
        let kept = WorkFolder::make(&FileNeeds { keep: true, ..needs(&parent) }).unwrap();
        kept.remove(true).unwrap();
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 2);
        WorkFolder::make(&reused).unwrap().remove(true).unwrap();
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 1, "it leaves with a trial that failed");
        std::fs::remove_dir_all(parent).unwrap();
    }
}
