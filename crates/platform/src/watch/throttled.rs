//! What a limit of a control group took from this process: `cpu.stat` of its group and of those above it.

use bakeoff_engine::Nanos;
use std::path::{Path, PathBuf};

/// Since the group was made, or between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Periods in which processes of the group were stopped.
    pub periods: u64,
    /// For how long, ns: that of the group which lost most; several processors add up.
    pub length_ns: Nanos,
}

impl Throttled {
    /// As it stands now; `None` where no group tells it.
    pub fn read() -> Option<Self> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let stats = folders(&groups).into_iter().flat_map(|(root, own)| above(&root, &own));
        let told = stats.filter_map(|folder| parse(&std::fs::read_to_string(folder.join("cpu.stat")).ok()?));
        told.max_by_key(|stat| stat.length_ns)
    }

    pub fn since(self, earlier: Self) -> Self {
        Self {
            periods: self.periods.saturating_sub(earlier.periods),
            length_ns: self.length_ns.saturating_sub(earlier.length_ns),
        }
    }
}

/// Roots of the hierarchies that limit processors, and the place of this process in each.
fn folders(groups: &str) -> Vec<(PathBuf, PathBuf)> {
    let place = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, own) = rest.split_once(':')?;
        let roots: &[&str] = match controllers {
            "" => &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
            names if names.split(',').any(|name| name == "cpu") => {
                &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"]
            }
            _ => return None,
        };
        let own = own.trim_start_matches('/').to_owned();
        Some(roots.iter().map(move |root| (PathBuf::from(root), PathBuf::from(own.clone()))).collect::<Vec<_>>())
    };
    groups.lines().filter_map(place).flatten().collect()
}

/// The folder of the group and of all above it, down to the root.
fn above(root: &Path, own: &Path) -> Vec<PathBuf> {
    own.ancestors().map(|part| root.join(part)).collect()
}

/// `nr_throttled` with `throttled_usec`, or `throttled_time` (ns) of the first version.
fn parse(text: &str) -> Option<Throttled> {
    let number = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    let length_ns = number("throttled_usec").map(|us| us.saturating_mul(1_000)).or_else(|| number("throttled_time"))?;
    Some(Throttled { periods: number("nr_throttled")?, length_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_the_file_are_read_and_what_tells_nothing_is_none() {
        let second = "usage_usec 5\nuser_usec 3\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1500\n";
        assert_eq!(parse(second), Some(Throttled { periods: 4, length_ns: 1_500_000 }));
        let first = "nr_periods 9\nnr_throttled 4\nthrottled_time 1500\n";
        assert_eq!(parse(first), Some(Throttled { periods: 4, length_ns: 1_500 }));
        for nothing in ["", "usage_usec 5\nuser_usec 3\n", "nr_throttled x\nthrottled_usec y\n", "\u{0}\u{fffd}"] {
            assert_eq!(parse(nothing), None);
        }
        assert_eq!(parse("nr_throttled 1\nthrottled_usec 18446744073709551615\n").map(|t| t.length_ns), Some(u64::MAX));
    }

    #[test]
    fn a_group_and_all_above_it_are_asked() {
        let found = folders("9:name=systemd:/\n1:cpu,cpuacct:/a\n0::/b/c\n");
        assert_eq!(found.len(), 4);
        assert_eq!(found[2], (PathBuf::from("/sys/fs/cgroup"), PathBuf::from("b/c")));
        let asked = above(&found[2].0, &found[2].1);
        let names: Vec<_> = asked.iter().map(|path| path.to_string_lossy().trim_end_matches('/').to_owned()).collect();
        assert_eq!(names, ["/sys/fs/cgroup/b/c", "/sys/fs/cgroup/b", "/sys/fs/cgroup"]);
    }

    #[test]
    fn two_readings_are_what_lies_between_them() {
        let (early, late) = (Throttled { periods: 2, length_ns: 10 }, Throttled { periods: 5, length_ns: 40 });
        assert_eq!(late.since(early), Throttled { periods: 3, length_ns: 30 });
        assert_eq!(early.since(late), Throttled::default());
    }
}
