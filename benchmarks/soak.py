"""A stand-in for a soak of days: millions of connections at the highest rate, each closed after one request.

The null server and the generator are bound to a core each. Printed are how the generator's memory grew for each
million operations after the first tenth, and whether its counts are those of the server. `--write`
puts the table into docs/performance.md.

    cargo build --release -p bakeoff-targets --bins
    python benchmarks/soak.py [--connections 4000000] [--clients 8] [--write]
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import machine_line, put_table

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec

ROOT = Path(__file__).resolve().parent.parent
SERVER_CORE, CLIENT_CORE = 0, 1
ROW_S, WARM_SHARE = 1.0, 0.1
MOST_BYTES_PER_MILLION = 64 << 10


@dataclass(frozen=True)
class Moment:
    """What had been done when an interval ended, and the memory of the process then."""

    operations: int
    rss_bytes: int


@contextlib.contextmanager
def server(counts: Path) -> Iterator[str]:
    """A null server that closes after each reply; gives its `host:port`, and leaves its counts when it ends."""
    words = ["serve", "null", "--port", "0", "--close", "--pin", str(SERVER_CORE), "--counts-file", str(counts)]
    process = subprocess.Popen([sys.executable, "-m", "bakeoff", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://(\S+)", process.stdout.readline())
        assert found
        yield found[1]
    finally:
        process.terminate()
        process.wait()


def resident_bytes() -> int:
    """Memory of this process, Python included."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def workload(address: str) -> dict[str, Any]:
    """One page, on a connection of its own for each request."""
    page = {"name": "url", "weight": 1, "expect": [200]}
    request = {"method": "GET", "path": "/", "length": 1024, "sha256": None}
    return {
        "kind": "web", "scheme": "http", "host": "localhost", "addresses": [address], "unix": None, "http": "1.1",
        "keep_alive": False, "receive_buffer_bytes": None, "close_with_reset": False, "source_addresses": [],
        "requests_per_connection": None, "tls": None, "check_every": 0, "headers": [],
        "classes": [{**page, "requests": [request]}],
    }  # fmt: skip


def run(address: str, connections: int, clients: int) -> tuple[TrialResult, list[Moment]]:
    """So many connections, and what memory was at the end of each interval."""
    spec = TrialSpec.model_validate(
        {
            "workload": workload(address), "load": {"clients": clients}, "length_s": 3600, "interval_s": ROW_S,
            "max_operations": connections, "pin": [CLIENT_CORE],
        }
    )  # fmt: skip
    session, moments, done, outcome = LocalAgent().start(spec).go(), list[Moment](), 0, None
    while outcome is None:
        outcome = session.wait(0.2)
        session.snapshot()
        for interval in session.drain_intervals():
            done += interval.figures.operations + sum(interval.figures.errors.values())
            moments.append(Moment(done, resident_bytes()))
    return outcome.result, moments


def main() -> None:
    """Prints the table; exit status 1 when memory grows or counts differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=4_000_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.json"
        with server(counts) as address:
            result, moments = run(address, arguments.connections, arguments.clients)
        served = json.loads(counts.read_text())
    warm = next(moment for moment in moments if moment.operations >= WARM_SHARE * arguments.connections)
    grown = moments[-1].rss_bytes - warm.rss_bytes
    millions = max(1, moments[-1].operations - warm.operations) / 1e6
    table = {"connections": result.connections.opened, "requests": result.operations + result.errors_total}
    theirs = {name: served[name] for name in table}
    intervals = [
        ("connections, each closed after one request", f"{result.connections.opened:,}"),
        ("of them per second", f"{result.operations / result.window_s:,.0f}"),
        ("errors", f"{result.errors_total:,}"),
        ("memory at the end", f"{moments[-1].rss_bytes / 1e6:.1f} MB"),
        ("growth of memory after the first tenth", f"{grown / 1024:,.0f} KiB"),
        ("for each million operations", f"{grown / millions / 1024:,.1f} KiB"),
        (
            "connections and requests as the server counted them",
            f"{theirs['connections']:,} and {theirs['requests']:,}",
        ),
    ]
    text = f"{machine_line()}; {arguments.clients} clients, intervals of {ROW_S:g} s\n\n| | |\n| :-- | --: |\n"
    text += "\n".join(f"| {name} | {value} |" for name, value in intervals)
    print(text)
    if arguments.write:
        put_table(ROOT / "docs/performance.md", "soak", text)
    if table != theirs:
        raise SystemExit(f"counted {table}, but the server {theirs}")
    if grown / millions > MOST_BYTES_PER_MILLION:
        raise SystemExit(f"memory grew by {grown / millions:,.0f} bytes for each million operations")


if __name__ == "__main__":
    main()
