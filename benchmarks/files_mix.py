"""Debian's loadfile through dbench and through file-mix: MB/s at the same numbers of clients."""

import re
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

from common import run_trial

LOADFILE = Path("/usr/share/dbench/client.txt")
SECONDS = 5
CLIENTS = (1, 4, 8)


def run_dbench(folder: Path, clients: int) -> float:
    """MB/s after its warm-up of a fifth of the time."""
    command = ["dbench", "-t", str(SECONDS), "-c", str(LOADFILE), "-D", str(folder), str(clients)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shutil.rmtree(folder / "clients", ignore_errors=True)
    found = re.search(r"^Throughput ([\d.]+) MB/sec", out, re.MULTILINE)
    if found is None:
        raise SystemExit(f"dbench said nothing of its throughput:\n{out}")
    return float(found[1])


def run_mix(folder: Path, clients: int) -> float:
    """MB/s by file-mix, in the unit of dbench (MiB), with the same warm-up."""
    workload = {
        "kind": "file-mix", "folder": str(folder), "loadfile": str(LOADFILE), "once": False, "resolve": True,
        "workspace_bytes": 20_000_000, "flush": True, "verify": False, "reuse": None, "keep": False,
        "link_bytes_per_s": None,
        "iteration_bytes": None,
        "iteration_pause_s": 0.0,
        "stall_s": 60.0,
    }  # fmt: skip
    warming_s = SECONDS / 5
    figures = run_trial(workload, clients=clients, length_s=SECONDS + warming_s, ramp_up_s=warming_s)
    return float(figures["throughput_mbit_s"]) * 1e6 / 8 / (1 << 20)


def measure(folder: Path, repeats: int) -> dict[str, Any]:
    """Medians: clients → (dbench, file-mix). Without dbench, which brings the loadfile, there is nothing."""
    found: dict[str, Any] = {}
    if shutil.which("dbench") is None:
        return found
    for clients in CLIENTS:
        theirs, ours = [], []
        for iteration in range(repeats):
            for tool in ("dbench", "mix") if iteration % 2 else ("mix", "dbench"):
                if tool == "mix":
                    ours.append(run_mix(folder, clients))
                else:
                    theirs.append(run_dbench(folder, clients))
        found[str(clients)] = [statistics.median(theirs), statistics.median(ours)]
    return found


def table(places: dict[str, dict[str, Any]]) -> str:
    """MB/s of both."""
    lines = ["| loadfile of dbench | clients | dbench | bakeoff | ratio |", "|---|--:|--:|--:|--:|"]
    lines += [
        f"| {place} | {clients} | {theirs:,.0f} MB/s | {ours:,.0f} MB/s | {ours / theirs:.2f}× |"
        for place, rows in places.items()
        for clients, (theirs, ours) in rows.items()
    ]
    lines += [f"| {place} | – | not installed | – | – |" for place, rows in places.items() if not rows]
    return "\n".join(lines)


def summary(places: dict[str, dict[str, Any]]) -> str:
    """Nothing to add."""
    return ""
