//! Counters of disk, wire and cache: what was really carried, beside what was delivered.

use super::cache::Pages;
use crate::clock::process_cpu_ns;
use bakeoff_engine::{Nanos, Observation};
use std::fs::read_to_string;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the counters of one folder are found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    disk: Option<PathBuf>,
    mount_point: Option<String>,
}

impl Counters {
    /// For the file system that holds `folder`.
    pub fn of(folder: &Path) -> Self {
        let stats = read_to_string("/proc/self/mountstats").unwrap_or_default();
        Self { disk: disk_of(folder), mount_point: counted_mount(&stats, folder) }
    }

    /// The cached pages and, when asked for, the counters now.
    pub fn read(&self, counters: bool, at_ns: Nanos, pages: Option<Pages>) -> Observation {
        let cached_pages = pages.map(|pages| pages.cached);
        let dirty_pages = pages.map(|pages| pages.dirty + pages.writeback);
        if !counters {
            return Observation { at_ns, cached_pages, dirty_pages, ..Observation::default() };
        }
        let disk = self.disk.as_ref().and_then(|path| read_to_string(path).ok()).unwrap_or_default();
        let wire = read_to_string("/proc/net/dev").ok().map(|text| wire_bytes(&text, is_stacked));
        let mount = self
            .mount_point
            .as_deref()
            .and_then(|point| mount_bytes(&read_to_string("/proc/self/mountstats").unwrap_or_default(), point));
        Observation {
            at_ns,
            disk_read_bytes: disk_bytes(&disk, SECTORS_READ),
            disk_write_bytes: disk_bytes(&disk, SECTORS_WRITTEN),
            wire_in_bytes: wire.map(|bytes| bytes.0),
            wire_out_bytes: wire.map(|bytes| bytes.1),
            mount_read_bytes: mount.map(|bytes| bytes.0),
            mount_write_bytes: mount.map(|bytes| bytes.1),
            cached_pages,
            dirty_pages,
            process_cpu_ns: Some(process_cpu_ns()),
        }
    }
}

/// Fields of a block device's `stat`.
const SECTORS_READ: usize = 2;
const SECTORS_WRITTEN: usize = 6;

/// A count of sectors in a block device's `stat`, in bytes.
fn disk_bytes(stat: &str, field: usize) -> Option<u64> {
    stat.split_whitespace().nth(field)?.parse::<u64>().ok().map(|sectors| sectors * 512)
}

/// The `stat` of the block device that holds `folder`; none behind memory and network file systems.
fn disk_of(folder: &Path) -> Option<PathBuf> {
    let device = std::fs::metadata(folder).ok()?.dev();
    let number = |device| format!("{}:{}", libc::major(device), libc::minor(device));
    let at = |device| PathBuf::from(format!("/sys/dev/block/{}/stat", number(device)));
    if at(device).exists() {
        return Some(at(device));
    }
    // Btrfs numbers its volumes itself; the table of mounts names the device.
    let table = read_to_string("/proc/self/mountinfo").ok()?;
    let of_source = at(std::fs::metadata(source_of(&table, &number(device))?).ok()?.rdev());
    of_source.exists().then_some(of_source)
}

/// The device file that a file system with this number was mounted from.
fn source_of<'a>(table: &'a str, number: &str) -> Option<&'a str> {
    let line = table.lines().find(|line| line.split(' ').nth(2) == Some(number))?;
    line.split(" - ").nth(1)?.split(' ').nth(1).filter(|source| source.starts_with("/dev/"))
}

/// Whether an interface (a bond, a bridge, a VLAN) hands its bytes to others, which count them as well.
fn is_stacked(interface: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(Path::new("/sys/class/net").join(interface)) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("lower_"))
}

/// Bytes in and out over the interfaces of `/proc/net/dev` that are not stacked on others.
fn wire_bytes(text: &str, is_stacked: impl Fn(&str) -> bool) -> (u64, u64) {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(name, _)| !is_stacked(name.trim())).fold((0, 0), |sum, (_, fields)| {
        let numbers: Vec<u64> = fields.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
        let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
        (sum.0 + at(0), sum.1 + at(8))
    })
}

/// The mount point with a `bytes:` line that holds `folder`, the longest one.
fn counted_mount(stats: &str, folder: &Path) -> Option<String> {
    let mut mount: Option<&str> = None;
    let mut current = "";
    for line in stats.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            current = rest.split(" mounted on ").nth(1).and_then(|rest| rest.split(" with ").next()).unwrap_or("");
        } else if line.trim_start().starts_with("bytes:")
            && folder.starts_with(current)
            && mount.is_none_or(|best| best.len() < current.len())
        {
            mount = Some(current);
        }
    }
    mount.map(str::to_owned)
}

/// Bytes read from and written to the server: fields 5 and 6 of the mount's `bytes:` line.
fn mount_bytes(stats: &str, point: &str) -> Option<(u64, u64)> {
    let head = format!(" mounted on {point} with ");
    let line = stats
        .lines()
        .skip_while(|line| !line.contains(&head))
        .skip(1)
        .take_while(|line| !line.starts_with("device "))
        .find_map(|line| line.trim_start().strip_prefix("bytes:"))?;
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    Some((*numbers.get(4)?, *numbers.get(5)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = "device proc mounted on /proc with fstype proc\n\
        device srv:/a mounted on /mnt/a with fstype nfs4 statvers=1.1\n\topts:\trw\n\
        \tbytes:\t10 20 30 40 50 60 7 8\n\
        device srv:/b mounted on /mnt/a/b with fstype nfs4 statvers=1.1\n\tbytes:\t1 2 3 4 5 6 7 8\n";

    #[test]
    fn server_bytes_are_those_of_the_innermost_mount() {
        assert_eq!(counted_mount(STATS, Path::new("/mnt/a/x")).as_deref(), Some("/mnt/a"));
        assert_eq!(counted_mount(STATS, Path::new("/mnt/a/b/x")).as_deref(), Some("/mnt/a/b"));
        assert_eq!(counted_mount(STATS, Path::new("/proc/x")), None);
        assert_eq!(mount_bytes(STATS, "/mnt/a"), Some((50, 60)));
        assert_eq!(mount_bytes(STATS, "/mnt/a/b"), Some((5, 6)));
    }

    #[test]
    fn wire_and_disk_counters_are_read_by_their_columns() {
        let dev = "Inter-| Receive | Transmit\n face |bytes packets|bytes\n\
                   lo: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n eth0: 7 1 0 0 0 0 0 0 9 2 0 0 0 0 0 0\n";
        assert_eq!(wire_bytes(dev, |_| false), (107, 209));
        let bond = format!("{dev} bond0: 7 1 0 0 0 0 0 0 9 2 0 0 0 0 0 0\n");
        assert_eq!(wire_bytes(&bond, |name| name == "bond0"), (107, 209), "each byte is counted once");
        let stat = "  1 0 8 3 5 0 16 4 0 0 0";
        assert_eq!(
            (disk_bytes(stat, SECTORS_READ), disk_bytes(stat, SECTORS_WRITTEN)),
            (Some(8 * 512), Some(16 * 512))
        );
        assert_eq!(disk_bytes("", SECTORS_READ), None, "no device, no figure");
    }

    #[test]
    fn the_device_of_a_volume_with_a_number_of_its_own_is_in_the_table_of_mounts() {
        let table = "25 1 0:23 / /mnt/v rw shared:1 - btrfs /dev/sdb1 rw\n26 1 0:24 / /tmp rw - tmpfs tmpfs rw\n";
        assert_eq!((source_of(table, "0:23"), source_of(table, "0:24")), (Some("/dev/sdb1"), None));
        assert_eq!(disk_of(Path::new("/proc")), None);
    }
}
