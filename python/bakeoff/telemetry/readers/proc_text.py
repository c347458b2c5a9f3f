"""Files below /proc as numbers, wherever their text came from: it may be that of another machine, and hostile.

Layouts: proc_stat(5), proc_diskstats(5), proc_net_dev(5), and psi.rst and iostats.rst of the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bakeoff.core.times import s_of_us
from bakeoff.telemetry.readers.processors import spent_of, worked_of
from bakeoff.telemetry.reading import Reading

# Jiffies as user space sees them: USER_HZ, which is 100 on every Linux that servers run on.
TICKS_PER_S = 100
SECTOR_BYTES = 512
MOST_PARTS = 32
MOST_LINES = 5_000
# No count is larger: a 64-bit counter.
LARGEST = 2**64
# Parts of disks, and what lies above them: their work is counted below.
NO_DISK = re.compile(r"(loop|ram|zram|sr|fd|dm-|md)\d+.*|(sd|hd|vd|xvd)[a-z]+\d+|(nvme\d+n\d+|mmcblk\d+)p\d+.*")
# How fast a network card states to be, Mbit/s. What virtual links state is made up, and they are no devices.
SPEED_FILES = "/sys/class/net/*/device/net/*/speed"
SPEEDS = re.compile(r"/sys/class/net/[^/]+/device/net/([^/]+)/speed")
BYTES_PER_MBIT = 125_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,31}")
_CPU_COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_PROCESSOR = re.compile(r"cpu(\d{1,9})")

PAGING = {"pgmajfault": "major_faults", "pswpin": "swapped_in_pages", "pswpout": "swapped_out_pages"}

FILES = {
    "stat": "/proc/stat",
    "meminfo": "/proc/meminfo",
    "diskstats": "/proc/diskstats",
    "dev": "/proc/net/dev",
    "vmstat": "/proc/vmstat",
    "snmp": "/proc/net/snmp",
    "netstat": "/proc/net/netstat",
    "psi_cpu": "/proc/pressure/cpu",
    "psi_memory": "/proc/pressure/memory",
    "psi_io": "/proc/pressure/io",
    "boot_id": "/proc/sys/kernel/random/boot_id",
}


def machine(texts: Mapping[str, str]) -> Reading:
    """What a machine did since it was started, by the texts of those of `FILES` that there are."""
    reading = Reading()
    _stat(texts.get("stat", ""), reading)
    _memory(texts.get("meminfo", ""), reading)
    _paging(texts.get("vmstat", ""), reading)
    _disks(texts.get("diskstats", ""), reading)
    _links(texts.get("dev", ""), reading)
    _tcp(texts.get("snmp", ""), texts.get("netstat", ""), reading)
    for name in ("cpu", "memory", "io"):
        _pressure(texts.get(f"psi_{name}", ""), f"psi_{name}_s", reading)
    if speeds := link_speeds(texts):
        reading.facts["link_bytes_per_s"] = speeds
    if boot_id := texts.get("boot_id", "").strip()[:64]:
        reading.facts["boot_id"] = boot_id
    return reading


def number(text: str) -> int | None:
    """A count; None for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < LARGEST else None


def lines_of(text: str) -> Iterator[list[str]]:
    """The words of each line; of long texts those of the first lines."""
    for place, line in enumerate(text.splitlines()):
        if place >= MOST_LINES:
            return
        yield line.split()


def _stat(text: str, reading: Reading) -> None:
    each: dict[int, tuple[float, float]] = {}
    for words in lines_of(text):
        if not words:
            continue
        if words[0] == "cpu":
            if spent := _spent(words):
                spent["user"] += spent.pop("nice")
                reading.counters |= {f"cpu_{state}_s": value for state, value in spent.items()}
        elif named := _PROCESSOR.fullmatch(words[0]):
            each[int(named[1])] = worked_of(_spent(words))
        elif words[0] in ("procs_running", "procs_blocked") and len(words) == 2:
            value = number(words[1])
            if value is not None:
                # Whoever reads it runs, and waits for nobody.
                is_run = words[0] == "procs_running"
                reading.gauges["run_queue" if is_run else "blocked"] = max(0, value - 1) if is_run else value
    if each:
        reading.facts["processors"] = len(each)
        reading.processors = spent_of(each)


def _spent(words: list[str]) -> dict[str, float]:
    """Seconds by state of a line of processor times; nothing for one that is none."""
    ticks = [number(word) for word in words[1:9]]
    if len(ticks) != len(_CPU_COLUMNS) or None in ticks:
        return {}
    return {state: (tick or 0) / TICKS_PER_S for state, tick in zip(_CPU_COLUMNS, ticks, strict=True)}


def _memory(text: str, reading: Reading) -> None:
    found = {
        words[0].rstrip(":"): kib * 1024
        for words in lines_of(text)
        if len(words) == 3 and words[2] == "kB" and (kib := number(words[1])) is not None
    }
    total, available = found.get("MemTotal"), found.get("MemAvailable")
    if total is not None:
        reading.facts["memory_bytes"] = total
        if available is not None:
            reading.gauges["memory_used_bytes"] = max(0, total - available)


def _paging(text: str, reading: Reading) -> None:
    for words in lines_of(text):
        if len(words) == 2 and words[0] in PAGING and (value := number(words[1])) is not None:
            reading.counters[PAGING[words[0]]] = value


def _disks(text: str, reading: Reading) -> None:
    parts = 0
    for words in lines_of(text):
        if len(words) < 14 or NO_DISK.fullmatch(words[2]) or not NAME.fullmatch(words[2]) or parts >= MOST_PARTS:
            continue
        counts = [number(word) for word in (words[3], words[5], words[7], words[9], words[12])]
        if None in counts:
            continue
        reads, read, writes, written, busy_ms = (count or 0 for count in counts)
        parts += 1
        values = (reads, writes, read * SECTOR_BYTES, written * SECTOR_BYTES, busy_ms / 1e3)
        for name, value in zip(("reads", "writes", "read_bytes", "written_bytes", "busy_s"), values, strict=True):
            reading.counters[f"disk/{words[2]}/{name}"] = value


def _links(text: str, reading: Reading) -> None:
    parts = 0
    for line in text.splitlines()[:MOST_LINES]:
        name, colon, rest = line.partition(":")
        name, words = name.strip(), rest.split()
        if not colon or not NAME.fullmatch(name) or len(words) < 16 or parts >= MOST_PARTS:
            continue
        counts = [number(word) for word in (words[0], words[8], words[1], words[9])]
        if None in counts:
            continue
        parts += 1
        for what, count in zip(("in_bytes", "out_bytes", "in_packets", "out_packets"), counts, strict=True):
            reading.counters[f"net/{name}/{what}"] = count or 0


def link_speeds(texts: Mapping[str, str]) -> dict[str, int]:
    """Bytes a second of each card whose `SPEEDS` is among the texts; of one that states none nothing is known."""
    found = dict[str, int]()
    for path, text in texts.items():
        named = SPEEDS.fullmatch(path)
        mbit = number(text.strip()) if named is not None else None
        if named is not None and mbit and NAME.fullmatch(named[1]) and len(found) < MOST_PARTS:
            found[named[1]] = mbit * BYTES_PER_MBIT
    return found


def _tcp(snmp: str, netstat: str, reading: Reading) -> None:
    tcp, more = _pairs(snmp, "Tcp:"), _pairs(netstat, "TcpExt:")
    found = {
        "tcp_retransmits": tcp.get("RetransSegs"),
        "listen_overflows": more.get("ListenOverflows"),
        "listen_drops": more.get("ListenDrops"),
    }
    reading.counters |= {name: value for name, value in found.items() if value is not None}


def _pairs(text: str, head: str) -> dict[str, int]:
    """A line of names and a line of values, both with the same head."""
    lines = [words[1:] for words in lines_of(text) if words[:1] == [head]]
    if len(lines) < 2:
        return {}
    return {name: value for name, word in zip(*lines[:2], strict=False) if (value := number(word)) is not None}


def _pressure(text: str, name: str, reading: Reading) -> None:
    for words in lines_of(text):
        total = words[-1].partition("=") if words[:1] == ["some"] else ("", "", "")
        if total[0] == "total" and (value := number(total[2])) is not None:
            reading.counters[name] = s_of_us(value)
