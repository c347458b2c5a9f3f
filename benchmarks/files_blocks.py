"""Block work and the office mix beside fio and dbench: same machine, same folder, interleaved, medians.

    python benchmarks/files_blocks.py FOLDER [FOLDER …] [--rounds 5] [--write]

Prints a table in Markdown; `--write` puts it into docs/performance-files-blocks.md.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.mounts import mount_of
from bakeoff.plan.access import spec_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance-files-blocks.md"
LOADFILE = Path("/usr/share/dbench/client.txt")
REGION = 64 << 20
SECONDS = 2.0
MIX_SECONDS = 6


@dataclass(frozen=True)
class Case:
    """One kind of access, named as fio names it."""

    name: str
    access: str
    depth: int
    direct: bool


CASES = (
    Case("cached random reads, one at a time", "randread", 1, False),
    Case("cached sequential reads, one at a time", "read", 1, False),
    Case("cached random reads, 32 outstanding", "randread", 32, False),
    Case("direct random reads, 32 outstanding", "randread", 32, True),
    Case("direct random writes, 32 outstanding", "randwrite", 32, True),
)


def run_fio(folder: Path, case: Case) -> tuple[float, float]:
    """(I/O per second, CPU in µs per I/O) of fio at 4 KiB."""
    engine = "io_uring" if case.depth > 1 else "psync"
    command = [
        "fio", "--name=x", f"--filename={folder}/fio.dat", f"--size={REGION}", "--bs=4k",
        f"--rw={case.access}", f"--ioengine={engine}", f"--iodepth={case.depth}",
        f"--direct={int(case.direct)}", "--invalidate=0", f"--runtime={SECONDS:g}",
        "--time_based", "--output-format=json",
    ]  # fmt: skip
    if case.depth > 1:
        command += ["--registerfiles", "--fixedbufs"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    job = json.loads(out)["jobs"][0]
    side = job["write" if case.access == "randwrite" else "read"]
    return side["iops"], (job["usr_cpu"] + job["sys_cpu"]) / 100 * 1e6 / side["iops"]


def run_trial(workload: dict[str, Any], clients: int, length_s: float, ramp_s: float) -> dict[str, Any]:
    """The workload's own figures of a trial."""
    spec = TrialSpec.model_validate(
        {"workload": workload, "clients": clients, "length_s": length_s, "ramp_up_s": ramp_s, "seed": 1}
    )
    outcome = LocalAgent().start(spec).wait(length_s + 120)
    if outcome is None or outcome.result.fatal:
        raise SystemExit(f"the trial failed: {outcome and outcome.result.fatal}")
    return outcome.result.workload or {}


def run_blocks(folder: Path, case: Case, verify: bool) -> tuple[float, float]:
    """(I/O per second, CPU in µs per I/O) of file-blocks at 4 KiB."""
    read = 0 if case.access == "randwrite" else 100
    random = 0 if case.access == "read" else 100
    lines = [line.model_dump() for line in spec_of("x", [(4096, 100, read, random, 0, 1, 4096, 0)]).lines]
    workload = {
        "kind": "file-blocks", "folder": str(folder), "region_bytes": REGION, "outstanding": case.depth,
        "cells": [{"pattern": "x", "block_bytes": 4096, "lines": lines}], "cell_s": SECONDS, "ramp_up_s": 0.1,
        "direct": case.direct, "dsync": False, "verify": verify, "cache": "warm", "drop_caches": False,
        "cold_command": None, "reuse": None, "keep": False, "carrier": "unknown", "link_bytes_per_s": None,
        "stall_s": 60.0,
    }  # fmt: skip
    cell = run_trial(workload, 1, 600, 0)["cells"][0]
    return cell["ios_per_s"], cell["cpu_us_per_io"]


def run_dbench(folder: Path, clients: int) -> float:
    """MB/s of dbench."""
    command = ["dbench", "-t", str(MIX_SECONDS), "-c", str(LOADFILE), "-D", str(folder), str(clients)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^Throughput ([\d.]+) MB/sec", out, re.MULTILINE)
    if found is None:
        raise SystemExit(f"dbench said nothing of its throughput:\n{out}")
    return float(found[1])


def run_loadfile(folder: Path, clients: int) -> float:
    """MB/s of the same loadfile by file-mix."""
    workload = {
        "kind": "file-mix", "folder": str(folder), "loadfile": str(LOADFILE), "once": False, "resolve": True,
        "workspace_bytes": 20_000_000, "flush": True, "verify": False, "reuse": None, "keep": False,
        "stall_s": 60.0,
    }  # fmt: skip
    return float(run_trial(workload, clients, MIX_SECONDS * 1.2, MIX_SECONDS * 0.2)["throughput_mbit_s"]) / 8


def block_rows(folder: Path, rounds: int) -> list[str]:
    """Lines of the table against fio."""
    rows, kind = [], mount_of(folder).type
    for case in CASES:
        if case.direct and kind == "tmpfs":
            continue
        fio, plain, checked = [], [], []
        for _ in range(rounds):
            fio.append(run_fio(folder, case))
            plain.append(run_blocks(folder, case, verify=False))
            checked.append(run_blocks(folder, case, verify=True))
        (folder / "fio.dat").unlink(missing_ok=True)
        rate = [statistics.median(one[0] for one in runs) for runs in (fio, plain, checked)]
        cpu = [statistics.median(one[1] for one in runs) for runs in (fio, plain, checked)]
        figures = [f"{r:,.0f} ({1e6 / r:.2f} µs; {c:.2f} µs)" for r, c in zip(rate, cpu, strict=True)]
        rows.append(f"| {kind} | {case.name} | {' | '.join(figures)} | {rate[1] / rate[0]:.2f} |")
        print(rows[-1], flush=True)
    return rows


def mix_rows(folder: Path, rounds: int) -> list[str]:
    """Lines of the table against dbench."""
    rows, kind = [], mount_of(folder).type
    for clients in (1, 4, 8):
        theirs, ours = [], []
        for _ in range(rounds):
            theirs.append(run_dbench(folder, clients))
            shutil.rmtree(folder / "clients", ignore_errors=True)
            ours.append(run_loadfile(folder, clients))
        one, other = statistics.median(theirs), statistics.median(ours)
        rows.append(f"| {kind} | {clients} | {one:,.0f} | {other:,.0f} | {other / one:.2f} |")
        print(rows[-1], flush=True)
    return rows


def page(blocks: list[str], mix: list[str], rounds: int) -> str:
    """The page in Markdown."""
    fio = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return "\n".join(
        [
            "# Block work and the office mix beside fio and dbench",
            "",
            f"Measured by `benchmarks/files_blocks.py` on {os.cpu_count()} cores, "
            f"Linux {os.uname().release}, {fio}, dbench 4.00; {rounds} interleaved rounds, medians.",
            "",
            "## 4 KiB transfers: per second (wall time and CPU time of each)",
            "",
            "| file system | access | fio | file-blocks, no-verify | file-blocks | no-verify ÷ fio |",
            "|---|---|---|---|---|---|",
            *blocks,
            "",
            "fio's CPU time leaves out the kernel's helper threads; file-blocks counts them.",
            "",
            "## Debian's client.txt, MB/s",
            "",
            "| file system | clients | dbench | file-mix --loadfile | ratio |",
            "|---|---|---|---|---|",
            *mix,
            "",
        ]
    )


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    blocks, mix = [], []
    for parent in given.folders:
        with tempfile.TemporaryDirectory(dir=parent, prefix="bakeoff-bench-") as name:
            blocks += block_rows(Path(name), given.rounds)
            mix += mix_rows(Path(name), given.rounds)
    text = page(blocks, mix, given.rounds)
    if given.write:
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
