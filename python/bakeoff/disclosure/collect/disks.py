"""Disks, their controllers, RAID and file systems, of an answer."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from bakeoff.core.units import format_size
from bakeoff.disclosure.collect.answer import Answer
from bakeoff.disclosure.collect.machine import chosen

SECTOR_BYTES = 512  # of /sys/block, whatever the disk has
# File systems that hold data of a server: on disks, over a network, in several parts.
DATA = (
    "ext2 ext3 ext4 xfs btrfs zfs f2fs jfs reiserfs bcachefs ocfs2 gfs2 ntfs ntfs3 exfat vfat nfs nfs4 cifs smb3 ceph "
    "glusterfs lustre beegfs gpfs 9p virtiofs overlay fuse.sshfs fuse.glusterfs fuse.mergerfs fuse.rclone fuse.ceph"
)
# Mount options that are documented to change how fast or how durable a file system is.
OPTIONS = (
    "rw ro sync async atime noatime relatime strictatime lazytime nodiratime discard nodiscard dirsync data barrier "
    "nobarrier journal_checksum journal_async_commit commit delalloc nodelalloc stripe inode64 logbufs logbsize "
    "allocsize sunit swidth noquota compress compress-force ssd nossd space_cache autodefrag nodatacow nodatasum vers "
    "nfsvers proto rsize wsize hard soft timeo retrans nconnect ac noac acregmin acregmax acdirmin acdirmax "
    "lookupcache nolock local_lock sec cache actimeo seal sign serverino noserverino nobrl mfsymlinks multichannel "
    "max_channels direct_io kernel_cache auto_cache trans msize dax"
)
PRIVATE = ("/run", "/dev/", "/sys/", "/proc/", "/var/lib/docker/", "/snap/", "/var/lib/containers/")
MOST_LINES = 40
_CONTROLLER = re.compile(
    r"^\S{1,20} ((?:SATA|RAID bus|SCSI storage|IDE|Serial Attached SCSI|Non-Volatile memory|Fibre Channel|"
    r"Mass storage|SAS) controller|IDE interface): (.{1,200})$",
    re.MULTILINE | re.IGNORECASE,
)


def storage(answer: Answer) -> str:
    """`2 × Samsung PM9A3 (1.9 TB, no moving parts, scheduler none, write back)`, a line for each sort."""
    disks: dict[str, dict[str, str]] = defaultdict(dict)
    for path, value in answer.values("disks").items():
        parts = path.split("/")
        if path.startswith("/sys/block/") and len(parts) > 4:
            disks[parts[3]]["/".join(parts[4:])] = value
    sorts = Counter(_disk(facts) for facts in disks.values() if facts.get("size", "0") != "0")
    return _lines([f"{count} × {text}" for text, count in sorts.items()])


def _disk(facts: dict[str, str]) -> str:
    maker, model = facts.get("device/vendor", ""), facts.get("device/model", "")
    named = (
        " ".join(filter(None, ("" if maker in ("ATA", "NVMe") or maker.startswith("0x") else maker, model)))
        or "disk without a model name"
    )
    size = facts.get("size", "")
    words = [
        format_size(int(size) * SECTOR_BYTES) if size.isdigit() and len(size) < 16 else "",
        {"0": "no moving parts", "1": "rotating"}.get(facts.get("queue/rotational", ""), ""),
        f"firmware {code}" if (code := facts.get("device/firmware_rev") or facts.get("device/rev")) else "",
        f"scheduler {chosen(text)}" if (text := facts.get("queue/scheduler")) else "",
        facts.get("queue/write_cache", ""),
    ]
    return f"{named} ({', '.join(filter(None, words))})"


def controllers(answer: Answer) -> str:
    """Controllers of disks, as the bus names them."""
    found = Counter(f"{kind}: {name}" for kind, name in _CONTROLLER.findall(answer.text("lspci")))
    return _lines([f"{count} × {text}" for text, count in found.items()])


def raid(answer: Answer) -> str:
    """RAID by the kernel: `md0: raid1, 2 members, [UU]`. That of controllers is hidden behind them."""
    arrays = []
    blocks = re.split(r"\n(?=md)", "\n" + answer.text("/proc/mdstat"))
    for block in blocks:
        found = re.match(
            r"(md\S{1,40}) : (?:active|inactive)\s?(?:\([a-z-]{1,20}\) )?(?:(raid\d+|linear) )?(.*)", block
        )
        if found:
            state = re.search(r"\[[U_]{1,200}\]", block)
            members = len(re.findall(r"\S+\[\d+\]", found[3]))
            words = (found[2] or "not running", f"{members} members", state[0] if state else "")
            arrays.append(f"{found[1]}: {', '.join(filter(None, words))}")
    return _lines(arrays)


def file_systems(answer: Answer) -> str:
    """`/srv: ext4 (rw,relatime) on /dev/sda1`: those that hold data, with the options that are listed."""
    lines = []
    for line in answer.text("/proc/mounts").splitlines():
        words = [_unescaped(word) for word in line.split(" ")]
        if len(words) < 4 or words[2] not in DATA.split() or words[1].startswith(PRIVATE):
            continue
        options = ",".join(each for each in words[3].split(",") if each.partition("=")[0] in OPTIONS.split())
        lines.append(f"{words[1]}: {words[2]} ({options}) on {words[0]}")
    return _lines(lines)


def _unescaped(word: str) -> str:
    """Names of mounts have blanks as octal numbers."""
    return re.sub(r"\\(0[0-7]{2}|1[0-7]{2})", lambda match: chr(int(match[1], 8)), word)


def _lines(lines: list[str]) -> str:
    more = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"and {more} more"] if more > 0 else [])])
