"""Bakeoff's httperf beside Debian's: one connection after the other, closed after one reply, as fast as can be.

Generator and server have a core each. Each repeat visits every tool once, in an order that turns by one. The floor is a
bare client in C that sleeps while it waits; both httperfs look for replies all the time. After the table: what memory a
long load takes. `--write` puts both into docs/performance.md.

    python benchmarks/httperf.py [--repeats 5] [--connections 40000] [--long 1000000] [--write]
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import machine_line, put_table
from web import (
    CLIENT_CORE,
    NGINX_PORT,
    NULL_CLOSE_PORT,
    ROOT,
    Case,
    Figures,
    figures_cell,
    floor,
    number,
    paired,
    run_tool,
    servers,
)

from bakeoff import _engine

CASES = [
    Case("1 KB, nginx", NGINX_PORT, "/1k", 1, False),
    Case("1 KB, null server, which closes first", NULL_CLOSE_PORT, "/1k", 1, False),
]
# The floor is told a time: about what so many connections take.
FLOOR_PER_S = 15_000


def trial(case: Case, connections: int) -> dict[str, Any]:
    """The figures of a trial with httperf's defaults."""
    workload = {
        "kind": "httperf",
        "servers": [{"host": "127.0.0.1", "address": f"127.0.0.1:{case.port}"}],
        "server_name": None,
        "uri": case.path,
        "method": "GET",
        "http_version": "1.1",
        "no_host_hdr": False,
        "user_agent": "httperf/0.9.0",
        "add_header": "",
        "period": None,
        "num_conns": connections,
        "num_calls": 1,
        "burst_length": 1,
        "max_piped_calls": 32,
        "think_timeout_s": 0.0,
        "client": {"index": 0, "of": 1},
        "hog": False,
        "myaddr": [],
        "send_buffer": 4096,
        "recv_buffer": 16384,
        "close_with_reset": False,
        "retry_on_failure": False,
        "session_cookies": False,
        "print_request": {"header": False, "body": False},
        "print_reply": {"header": False, "body": False},
        "periodic_stats": False,
        "verbose": False,
        "tell_figures": False,
    }
    spec = {"workload": workload, "load": {"clients": 1}, "length_s": 3600, "pin": [int(CLIENT_CORE)]}
    outcome = _engine.start(json.dumps(spec)).go().wait(3600)
    assert outcome is not None
    result: dict[str, Any] = json.loads(outcome.json())
    assert not result["errors"], result["errors"]
    assert result["workload"]["replies"] == connections
    return result


def bakeoff(case: Case, connections: int) -> Figures:
    """Rate, and CPU of the load thread per connection, by its own clocks."""
    figures = trial(case, connections)["workload"]
    cpu_s = figures["cpu_user_s"] + figures["cpu_system_s"]
    return connections / figures["test_duration_s"], cpu_s * 1e6 / connections


def httperf(case: Case, connections: int) -> Figures:
    """Debian's, with its own defaults."""
    where = ["--server", "127.0.0.1", "--port", str(case.port), "--uri", case.path]

    def read(text: str) -> tuple[float, float]:
        return number(r"replies (\d+)", text), number(r"test-duration ([\d.]+) s", text)

    figures = run_tool(["httperf", *where, "--num-conns", str(connections)], read)
    if figures is None:
        raise SystemExit("httperf did not end within 8 s: give fewer --connections")
    return figures


def bare(case: Case, connections: int) -> Figures:
    """The floor of benchmarks/web.py."""
    figures = floor(case, connections / FLOOR_PER_S)
    assert figures is not None
    return figures


TOOLS: dict[str, Callable[[Case, int], Figures]] = {"floor": bare, "bakeoff httperf": bakeoff, "httperf": httperf}


def measure(case: Case, repeats: int, connections: int) -> dict[str, list[Figures]]:
    """All repeats of one case, interleaved."""
    tools = list(TOOLS)
    seen: dict[str, list[Figures]] = {name: [] for name in tools}
    for repeat in range(repeats):
        turn = repeat % len(tools)
        for tool in tools[turn:] + tools[:turn]:
            seen[tool].append(TOOLS[tool](case, connections))
    return seen


def table(results: dict[str, dict[str, list[Figures]]]) -> str:
    """Medians: CPU per connection, connections/s below, and the paired ratios."""
    lines = [
        "| work | " + " | ".join(TOOLS) + " | CPU ÷ httperf | rate ÷ httperf |",
        "|---|" + "--:|" * (len(TOOLS) + 2),
    ]
    for case, seen in results.items():
        own, other = seen["bakeoff httperf"], seen["httperf"]
        ratios = [f"{paired(own, other, 1):.2f}×", f"{paired(own, other, 0):.2f}×"]
        lines.append(f"| {case} | " + " | ".join([*map(figures_cell, seen.values()), *ratios]) + " |")
    return "\n".join(lines)


def resident_bytes() -> int:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def memory(case: Case, long: int) -> str:
    """What a long load adds to a process that has done a short one, in one sentence."""
    trial(case, 20_000)
    before = resident_bytes()
    rate = long / trial(case, long)["workload"]["test_duration_s"]
    grown = resident_bytes() - before
    return f"{long:,} connections at {rate:,.0f}/s: the process has grown by {grown / 1024:,.0f} KiB."


def main() -> int:
    """Runs all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--connections", type=int, default=40_000, help="of each run")
    parser.add_argument("--long", type=int, default=1_000_000, help="connections of the load whose memory is told")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["BAKEOFF_FLOOR"] = str(folder / "floor")
        subprocess.run(["cc", "-O2", "-o", str(folder / "floor"), str(ROOT / "benchmarks/floor.c")], check=True)
        with servers(folder):
            results = {case.name: measure(case, options.repeats, options.connections) for case in CASES}
            grown = memory(CASES[0], options.long)
    version = subprocess.run(["httperf", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"httperf-[\d.]+", version)
    text = f"{table(results)}\n\n{grown}"
    print(text)
    if options.write:
        tool = found[0] if found else "httperf"
        note = f"{machine_line()}; {tool}; medians of {options.repeats} interleaved runs of {options.connections:,}."
        put_table(ROOT / "docs/performance.md", "httperf", f"{note}\n\n{text}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
