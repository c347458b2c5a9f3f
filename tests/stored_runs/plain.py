"""What run files tell of the machine on which they were made, replaced by what a machine might be: in the tables, with
new seals, as it is the same whatever wrote it.
"""

import json
import os
import platform
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil

from bakeoff.agents.machine.environment import environment
from bakeoff.store.sqlite import seal
from bakeoff.store.sqlite.canonical import to_json

MEMORY = 8 << 30
HOST, BOOT = "bench", "00000000-0000-4000-8000-000000000000"
FACTS = {
    "clocksource": "tsc",
    "cpu": {"architecture": "x86_64", "model": "Some CPU", "mhz": 2500.0, "available": 2, "logical": 2, "physical": 2},
    "hostname": HOST,
    "kernel": "6.1.0",
    "limits": {"affinity": [0, 1], "engine": "0", "nice": 0, "open_files": 20000, "package": "0.1.0", "sources": "0"},
    "links": [{"addresses": ["127.0.0.1"], "name": "lo", "speed": "a loopback: nothing leaves the machine"}],
    "load_average": [0.1, 0.1, 0.1],
    "memory_bytes": MEMORY,
    "os": "Debian GNU/Linux 12 (bookworm)",
    "python": "3.11.2",
    "swap_used_bytes": 0,
    "sysctl": {"net.core.somaxconn": "4096", "net.ipv4.tcp_congestion_control": "cubic"},
}  # fmt: skip
# Shorter words stand for nothing by themselves.
SHORTEST = 6
MARK = "started-here"


def make_plain(path: Path) -> None:
    """Replace all that a run file tells of this machine."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN IMMEDIATE")
        for table in _tables(connection):
            for row in connection.execute(f"SELECT * FROM {table}").fetchall():
                for name, text in zip(row.keys(), tuple(row), strict=True):
                    if name != "plan" and isinstance(text, str) and text[:1] in ("{", "["):
                        new = to_json(_plain(json.loads(text)))
                        connection.execute(f"UPDATE {table} SET {name} = ? WHERE {name} = ?", (new, text))
        connection.execute("UPDATE agents SET facts = ?", (to_json(FACTS),))
        connection.execute("UPDATE run SET started_here = NULL")
        seal.renew(connection)
        connection.execute("COMMIT")
        connection.execute("VACUUM")
    if observed := reported_here(path):
        raise SystemExit(f"{path} still tells of this machine: {', '.join(observed)}")


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def _plain(value: Any) -> Any:
    """JSON without names of machines, disks and programs that ran on them."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return MEMORY if value == psutil.virtual_memory().total else value
    known = {"host": HOST, "hostname": HOST, "boot_id": BOOT, "processes": [], "pid": 1}
    found = {}
    for name, one in value.items():
        if name.startswith("disk/"):
            name = "disk/sda/" + name.rpartition("/")[2]
        elif name.startswith("net/") and not name.startswith("net/lo/"):
            name = "net/eth0/" + name.rpartition("/")[2]
        found[name] = known[name] if name in known else _plain(one)
    return found


def reported_here(path: Path) -> list[str]:
    """Facts of this machine, and of who uses it, that stand in a file."""
    here = environment()
    facts = [here.get("hypervisor"), here["kernel"], here["cpu"].get("microcode"), str(here["memory_bytes"])]
    facts += [str(Path.home()), str(Path(__file__).parents[2]), platform.version(), *_boot()]
    facts += [f'"{socket.gethostname()}"', f'"pid":{os.getpid()}']
    whole = path.read_bytes()
    return [fact for fact in facts if fact and len(fact) >= SHORTEST and fact.encode() in whole]


def _boot() -> list[str]:
    """How this kernel was started, word by word, and its number."""
    words = Path("/proc/cmdline").read_text().split()
    return [*(word for word in words if "=" in word), Path("/proc/sys/kernel/random/boot_id").read_text().strip()]
