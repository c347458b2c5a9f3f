"""The cost of a 4 KiB transfer beside fio and beside a bare loop of pread: the same file in the same cache state."""

import json
import resource
import shutil
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import ROOT, run_trial

from bakeoff._engine import work_folder_name
from bakeoff.core.system.mounts import mount_of
from bakeoff.plan.settings.access import spec_of

CORE = 1
REGION = 64 << 20
SECONDS = 1.0
WHAT = "blocks"
KEPT = work_folder_name(WHAT)
LOOP = ROOT / "target/release/examples/pread_loop"
LOOP_ROUNDS = 150
Figures = tuple[float, float]  # ns between two transfers, ns of CPU for each


@dataclass(frozen=True)
class Case:
    """One kind of access, named as fio names it."""

    name: str
    access: str
    depth: int
    direct: bool


CASES = (
    Case("cached random reads, 1 outstanding", "randread", 1, False),
    Case("cached sequential reads, 1 outstanding", "read", 1, False),
    Case("cached random reads, 32 outstanding", "randread", 32, False),
    Case("direct random reads, 1 outstanding", "randread", 1, True),
    Case("direct random reads, 32 outstanding", "randread", 32, True),
    Case("direct random writes, 32 outstanding", "randwrite", 32, True),
)


def cpu_of(command: list[str]) -> tuple[str, float]:
    """What a command prints, and the CPU time in s of its processes, helper threads of the kernel included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fio_command(region: Path, case: Case) -> list[str]:
    """fio on the file of Bakeoff, its cached pages left alone."""
    engine = ["--ioengine=psync"]
    if case.depth > 1:
        engine = ["--ioengine=io_uring", f"--iodepth={case.depth}", "--registerfiles", "--fixedbufs"]
    return [
        "fio", "--name=x", f"--filename={region}", f"--size={REGION}", "--bs=4k", f"--rw={case.access}", *engine,
        f"--direct={int(case.direct)}", "--invalidate=0", f"--cpus_allowed={CORE}", "--output-format=json",
    ]  # fmt: skip


def run_fio(region: Path, case: Case) -> Figures:
    """Of its CPU time that of a run of one transfer is taken off: its start is no part of the work."""
    command = fio_command(region, case)
    _, start_s = cpu_of([*command, "--number_ios=1"])
    out, cpu_s = cpu_of([*command, "--time_based", f"--runtime={SECONDS:g}"])
    side = json.loads(out)["jobs"][0]["write" if case.access == "randwrite" else "read"]
    return 1e9 / side["iops"], (cpu_s - start_s) * 1e9 / side["total_ios"]


def run_blocks(folder: Path, case: Case, verify: bool) -> Figures:
    """The same by file-blocks, everything recorded."""
    read = 0 if case.access == "randwrite" else 100
    random = 0 if case.access == "read" else 100
    lines = [line.model_dump() for line in spec_of("x", [(4096, 100, read, random, 0, 1, 4096, 0)]).lines]
    workload = {
        "kind": "file-blocks", "folder": str(folder), "region_bytes": REGION, "outstanding": case.depth,
        "cells": [{"pattern": "x", "block_bytes": 4096, "lines": lines}], "cell_s": SECONDS, "ramp_up_s": 0.1,
        "min_transfers": 0, "cell_limit_s": SECONDS,
        "direct": case.direct, "dsync": False, "verify": verify, "cache": "warm", "drop_caches": False,
        "cold_command": None, "reuse": WHAT, "keep": True, "carrier": "unknown", "link_bytes_per_s": None,
        "stall_s": 60.0,
    }  # fmt: skip
    cell = run_trial(workload, pin=[CORE])["cells"][0]
    return 1e9 / cell["ios_per_s"], cell["cpu_us_per_io"] * 1e3


def run_loop(region: Path) -> Figures:
    """A pread in a loop that does nothing else: the median of many passes over the file."""
    out, _ = cpu_of(["taskset", "-c", str(CORE), str(LOOP), str(region), "4096", str(LOOP_ROUNDS)])
    time_ns = float(out.split()[1])
    return time_ns, time_ns


def tools_of(case: Case, folder: Path) -> dict[str, Callable[[], Figures]]:
    """What is measured of a case. Without fio its part is left out."""
    region = folder / KEPT / "region"
    tools: dict[str, Callable[[], Figures]] = {
        "plain": lambda: run_blocks(folder, case, verify=False),
        "checked": lambda: run_blocks(folder, case, verify=True),
    }
    if shutil.which("fio"):
        tools["fio"] = lambda: run_fio(region, case)
    if case.access == "read":
        tools["loop"] = lambda: run_loop(region)
    return tools


def measure(folder: Path, repeats: int) -> dict[str, Any]:
    """Medians: case → tool → figures."""
    found: dict[str, Any] = {}
    for case in CASES:
        if case.direct and mount_of(folder).type == "tmpfs":
            continue
        tools = tools_of(case, folder)
        names, seen = list(tools), {name: [] for name in tools}
        tools["plain"]()  # writes the region, and brings it into the cache
        for turn in range(repeats):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                seen[name].append(tools[name]())
        found[case.name] = {
            name: [statistics.median(run[i] for run in runs) for i in (0, 1)] for name, runs in seen.items()
        }
        shutil.rmtree(folder / KEPT)
    return found


def table(places: dict[str, dict[str, Any]]) -> str:
    """Wall and CPU time of a transfer, ns."""
    lines = [
        "| 4 KiB transfers | file system | bare loop | fio | bakeoff | bakeoff, contents checked | bakeoff ÷ fio |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for case in CASES:
        for place, cases in places.items():
            if (tools := cases.get(case.name)) is None:
                continue
            cells = [f"{tools['loop'][0]:,.0f} ns" if "loop" in tools else "–"]
            cells += [
                f"{tools[tool][0]:,.0f} ns<br>CPU {tools[tool][1]:,.0f} ns" if tool in tools else "–"
                for tool in ("fio", "plain", "checked")
            ]
            if "fio" not in tools:
                cells[1] = "not installed"
            ratio = "–"
            if "fio" in tools:
                wall, cpu = (tools["plain"][i] / tools["fio"][i] for i in (0, 1))
                ratio = f"{wall:.2f}×<br>CPU {cpu:.2f}×"
            lines.append(f"| {case.name} | {place} | " + " | ".join(cells) + f" | {ratio} |")
    return "\n".join(lines)


def summary(places: dict[str, dict[str, Any]]) -> str:
    """Bakeoff over the bare loop."""
    own = {
        place: tools["plain"][0] - tools["loop"][0]
        for place, cases in places.items()
        for tools in cases.values()
        if "loop" in tools
    }
    text = ", ".join(f"{ns:.0f} ns on {place}" for place, ns in own.items())
    missing = all("fio" not in tools for cases in places.values() for tools in cases.values())
    return f"Over the bare loop a recorded transfer costs {text}." + (" fio is not installed here." if missing else "")
