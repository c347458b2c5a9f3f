//! What the app server did, and what it used of the machine.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bakeoff_app_protocol::{Figures, Kind, Status, UNKNOWN, known};
use serde_json::{Map, Value, json};

const KINDS: usize = 7;

/// Figures of one kind of request.
#[derive(Default)]
struct KindTally {
    requests: AtomicU64,
    queue_ns: AtomicU64,
    queue_max_ns: AtomicU64,
    service_ns: AtomicU64,
    service_max_ns: AtomicU64,
}

/// One worker's figures. Only the worker writes; plain loads and stores are enough.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Tally {
    kinds: [KindTally; KINDS],
    refused: [AtomicU64; Status::ALL.len()],
    pub connections: AtomicU64,
    pub closed: AtomicU64,
    pub connections_refused: AtomicU64,
    pub bytes_in: AtomicU64,
    pub bytes_out: AtomicU64,
    /// Writes that were damaged or lost, and answers that were wrong, on purpose.
    pub spoilt: AtomicU64,
    /// Processor work that was answered from memory.
    pub remembered: AtomicU64,
    /// Records that a read found not to be whole.
    pub broken_records: AtomicU64,
}

pub(super) fn bump(figure: &AtomicU64, by: u64) {
    figure.store(figure.load(Relaxed) + by, Relaxed);
}

fn raise(figure: &AtomicU64, to: u64) {
    figure.store(figure.load(Relaxed).max(to), Relaxed);
}

impl Tally {
    pub fn served(&self, kind: Kind, queue_ns: u64, service_ns: u64) {
        let tally = &self.kinds[kind as usize];
        bump(&tally.requests, 1);
        bump(&tally.queue_ns, queue_ns);
        raise(&tally.queue_max_ns, queue_ns);
        bump(&tally.service_ns, service_ns);
        raise(&tally.service_max_ns, service_ns);
    }

    pub fn refused(&self, status: Status) {
        bump(&self.refused[status as usize], 1);
    }
}

fn sum(tallies: &[Tally], of: impl Fn(&Tally) -> &AtomicU64) -> u64 {
    tallies.iter().map(|tally| of(tally).load(Relaxed)).sum()
}

fn kind_json(tallies: &[Tally], kind: Kind) -> Value {
    let of = |pick: fn(&KindTally) -> &AtomicU64| sum(tallies, |tally| pick(&tally.kinds[kind as usize]));
    let max = |pick: fn(&KindTally) -> &AtomicU64| {
        tallies.iter().map(|tally| pick(&tally.kinds[kind as usize]).load(Relaxed)).max().unwrap_or(0)
    };
    let requests = of(|tally| &tally.requests);
    let mean = |total: u64| total.checked_div(requests).unwrap_or(0);
    json!({
        "requests": requests,
        "queue_mean_ns": mean(of(|tally| &tally.queue_ns)), "queue_max_ns": max(|tally| &tally.queue_max_ns),
        "service_mean_ns": mean(of(|tally| &tally.service_ns)), "service_max_ns": max(|tally| &tally.service_max_ns),
    })
}

/// The sum over all workers, as JSON keys.
pub(super) fn totals(tallies: &[Tally]) -> Map<String, Value> {
    let connections = sum(tallies, |tally| &tally.connections);
    let kinds = std::iter::once(Kind::Hello).chain(Kind::WORK);
    let refused = Status::ALL.iter().map(|&status| (status, sum(tallies, |tally| &tally.refused[status as usize])));
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("connections", json!(connections));
    put("open", json!(connections.saturating_sub(sum(tallies, |tally| &tally.closed))));
    put("connections_refused", json!(sum(tallies, |tally| &tally.connections_refused)));
    put("requests", json!(kinds.clone().map(|kind| sum(tallies, |t| &t.kinds[kind as usize].requests)).sum::<u64>()));
    put("kinds", kinds.map(|kind| (kind.name().to_owned(), kind_json(tallies, kind))).collect::<Map<_, _>>().into());
    let refused = refused.filter(|(_, count)| *count > 0);
    put("refused", refused.map(|(status, n)| (status.name().to_owned(), json!(n))).collect::<Map<_, _>>().into());
    put("bytes_in", json!(sum(tallies, |tally| &tally.bytes_in)));
    put("bytes", json!(sum(tallies, |tally| &tally.bytes_out)));
    put("spoilt", json!(sum(tallies, |tally| &tally.spoilt)));
    put("remembered", json!(sum(tallies, |tally| &tally.remembered)));
    put("broken_records", json!(sum(tallies, |tally| &tally.broken_records)));
    map
}

/// The last look at what the process has used.
#[derive(Default)]
pub(super) struct Used {
    /// The `stat` of the block device that holds the data segments; `None`: no device is known to do so.
    disk: Option<PathBuf>,
    uptime_ns: AtomicU64,
    cpu_ns: AtomicU64,
    disk_read_bytes: AtomicU64,
    disk_written_bytes: AtomicU64,
}

impl Used {
    /// For segments in `folder`.
    pub fn of(folder: &Path) -> Self {
        Self { disk: device_counters(folder), ..Self::default() }
    }

    /// Looks again, `uptime_ns` after the start.
    pub fn look(&self, uptime_ns: u64) {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a live timespec; the clock exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        self.cpu_ns.store(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64, Relaxed);
        // What the process hands to the page cache is no disk work: only the device knows what was.
        let text = self.disk.as_ref().and_then(|stat| std::fs::read_to_string(stat).ok()).unwrap_or_default();
        self.disk_read_bytes.store(sectors(&text, 2), Relaxed);
        self.disk_written_bytes.store(sectors(&text, 6), Relaxed);
        self.uptime_ns.store(uptime_ns, Relaxed);
    }

    pub fn figures(&self) -> Figures {
        Figures {
            uptime_ns: self.uptime_ns.load(Relaxed),
            cpu_ns: self.cpu_ns.load(Relaxed),
            disk_read_bytes: self.disk_read_bytes.load(Relaxed),
            disk_written_bytes: self.disk_written_bytes.load(Relaxed),
        }
    }
}

/// A field of a block device's `stat` that counts sectors, in bytes; [`UNKNOWN`] without a device.
fn sectors(text: &str, field: usize) -> u64 {
    let count = text.split_whitespace().nth(field).and_then(|number| number.parse::<u64>().ok());
    count.map_or(UNKNOWN, |sectors| sectors * 512)
}

/// The `stat` of the block device that holds `folder`; none behind memory and network file systems.
fn device_counters(folder: &Path) -> Option<PathBuf> {
    let device = std::fs::metadata(folder).ok()?.dev();
    let at = |device| format!("/sys/dev/block/{}:{}/stat", libc::major(device), libc::minor(device)).into();
    let own: PathBuf = at(device);
    if own.exists() {
        return Some(own);
    }
    // Btrfs numbers its volumes itself; the table of mounts names the device.
    let table = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let source = source_of(&table, &format!("{}:{}", libc::major(device), libc::minor(device)))?;
    let of_source: PathBuf = at(std::fs::metadata(source).ok()?.rdev());
    of_source.exists().then_some(of_source)
}

/// The device file that a file system with this number was mounted from.
fn source_of<'a>(table: &'a str, number: &str) -> Option<&'a str> {
    let line = table.lines().find(|line| line.split(' ').nth(2) == Some(number))?;
    line.split(" - ").nth(1)?.split(' ').nth(1).filter(|source| source.starts_with("/dev/"))
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// What the whole process has used, as JSON.
pub(super) fn process_json(used: &Used) -> Value {
    // SAFETY: rusage is plain numbers and filled by the call that gets a live pointer to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let figures = used.figures();
    json!({
        "user_s": seconds(usage.ru_utime), "system_s": seconds(usage.ru_stime),
        "voluntary_switches": usage.ru_nvcsw, "involuntary_switches": usage.ru_nivcsw,
        "major_faults": usage.ru_majflt, "peak_rss_bytes": usage.ru_maxrss * 1024,
        "disk_read_bytes": known(figures.disk_read_bytes), "disk_written_bytes": known(figures.disk_written_bytes),
    })
}
