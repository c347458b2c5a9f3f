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
        let device = std::fs::metadata(folder).map_or(0, |facts| facts.dev());
        let disk = PathBuf::from(format!("/sys/dev/block/{}:{}/stat", libc::major(device), libc::minor(device)));
        let stats = read_to_string("/proc/self/mountstats").unwrap_or_default();
        Self { disk: disk.exists().then_some(disk), mount_point: counted_mount(&stats, folder) }
    }

    /// The cached pages and, when asked for, the counters now.
    pub fn read(&self, counters: bool, at_ns: Nanos, pages: Option<Pages>) -> Observation {
        let cached_pages = pages.map(|pages| pages.cached);
        let dirty_pages = pages.map(|pages| pages.dirty + pages.writeback);
        if !counters {
            return Observation { at_ns, cached_pages, dirty_pages, ..Observation::default() };
        }
        let process = read_to_string("/proc/self/io").unwrap_or_default();
        let wire = read_to_string("/proc/net/dev").ok().map(|text| wire_bytes(&text, is_stacked));
        let mount = self
            .mount_point
            .as_deref()
            .and_then(|point| mount_bytes(&read_to_string("/proc/self/mountstats").unwrap_or_default(), point));
        Observation {
            at_ns,
            process_read_bytes: field_after(&process, "read_bytes:"),
            disk_write_bytes: self.disk.as_ref().and_then(|path| disk_written(&read_to_string(path).ok()?)),
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

fn field_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

/// Sectors written, field 7 of a block device's `stat`, in bytes.
fn disk_written(text: &str) -> Option<u64> {
    text.split_whitespace().nth(6)?.parse::<u64>().ok().map(|sectors| sectors * 512)
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
    let mut found: Option<&str> = None;
    let mut current = "";
    for line in stats.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            current = rest.split(" mounted on ").nth(1).and_then(|rest| rest.split(" with ").next()).unwrap_or("");
        } else if line.trim_start().starts_with("bytes:")
            && folder.starts_with(current)
            && found.is_none_or(|best| best.len() < current.len())
        {
            found = Some(current);
        }
    }
    found.map(str::to_owned)
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
        assert_eq!(disk_written("  1 0 8 3 5 0 16 4 0 0 0"), Some(16 * 512));
        assert_eq!(field_after("rchar: 1\nread_bytes: 4096\n", "read_bytes:"), Some(4096));
    }
}
