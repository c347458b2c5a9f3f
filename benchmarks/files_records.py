"""Every test of iozone's automatic mode beside iozone: the same tests, sizes, folder and core, in turn."""

import contextlib
import math
import multiprocessing
import os
import random
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import run_trial

from bakeoff.mounts import mount_of

CORE = 1
FILE_BYTES = 64 << 20
STRIDE = 17
RECORDS_KIB = (64, 256, 1024, 4096, 16384)
# A row of iozone takes a fraction of a second: each repeat is so many rows of each tool.
ROUNDS = 3
SHUFFLES = 2000
TESTS = (
    "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite",
    "stride_read", "fwrite", "refwrite", "fread", "refread",
)  # fmt: skip
FORK = multiprocessing.get_context("fork")
Rates = list[float]  # KiB/s, in the order of TESTS
Cell = tuple[str, str, str]  # test, file system, record size in KiB
LIMIT = 0.03

# iozone writes zeros but for one word of each page, and processors move zeros over zeros up to 40 % faster than
# other bytes. With this the C library fills what it hands out, as Bakeoff fills its buffers.
FILLED = os.environ | {"MALLOC_PERTURB_": "165"}


@contextlib.contextmanager
def evenly_placed(folder: Path) -> Iterator[Path]:
    """In memory, where root is allowed to: a tmpfs of huge pages. On scattered small pages the place that a file
    happens to get decides more than the tool, and the tools' own buffers decide which place that is."""
    if mount_of(folder).type != "tmpfs" or os.geteuid() != 0:
        yield folder
        return
    place = folder / "huge"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "huge=always,size=1g", "bakeoff-bench", str(place)]
    if subprocess.run(mount, check=False).returncode != 0:
        yield folder
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def run_iozone(folder: Path, record_kib: int) -> Rates:
    """A row of its automatic mode."""
    tests = [word for number in range(8) for word in ("-i", str(number))]
    sizes = ["-s", f"{FILE_BYTES >> 10}k", "-r", f"{record_kib}k"]
    command = ["taskset", "-c", str(CORE), "iozone", "-a", *sizes, *tests, "-f", str(folder / "iozone.dat")]
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=FILLED).stdout
    row = re.search(rf"^ +\d+ +{record_kib}((?: +\d+){{{len(TESTS)}}}) *$", out, re.MULTILINE)
    if row is None:
        raise SystemExit(f"iozone printed no row of {len(TESTS)} tests:\n{out}")
    return [float(rate) for rate in row[1].split()]


def run_matrix(folder: Path, record_kib: int, verify: bool) -> Rates:
    """The same cells by file-matrix, in a process of its own as each row of iozone is: its buffer then gets other
    pages each time."""
    pairs = [[FILE_BYTES, record_kib << 10]]
    workload = {"kind": "file-matrix", "folder": str(folder), "pairs": pairs, "tests": TESTS, "verify": verify}
    with FORK.Pool(1) as alone:
        figures = alone.apply(run_trial, (workload,), {"pin": [CORE]})
    return [cell["rate_kib_s"] for cell in figures["cells"]]


def measure(folder: Path, repeats: int) -> dict[str, Any]:
    """Medians of KiB/s: tool → record size in KiB → rates of the tests. Without iozone its part is left out."""
    with evenly_placed(folder) as place:
        return _measure(place, repeats)


def _measure(folder: Path, repeats: int) -> dict[str, Any]:
    tools = {
        "plain": lambda record: run_matrix(folder, record, verify=False),
        "checked": lambda record: run_matrix(folder, record, verify=True),
    }
    if shutil.which("iozone"):
        # Twice, so that it can be held against itself.
        tools["iozone"] = tools["iozone again"] = lambda record: run_iozone(folder, record)
    names, found = list(tools), {name: {} for name in (*tools, "spread")}
    for record in RECORDS_KIB:
        seen: dict[str, list[Rates]] = {name: [] for name in names}
        for turn in range(repeats * ROUNDS):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                seen[name].append(tools[name](record))
        for name, rows in seen.items():
            found[name][str(record)] = [statistics.median(rates) for rates in zip(*rows, strict=True)]
        if "iozone" in seen:
            both = zip(*seen["iozone"], *seen["iozone again"], strict=True)
            found["spread"][str(record)] = [spread(list(rates)) for rates in both]
    return found


def spread(rates: Rates) -> float:
    """How far from 1 the ratio of a tool to itself is in 95 % of all ways to deal out `rates` to two of it, each with
    the median of its half: what this procedure cannot tell from no difference."""
    dealt = random.Random(1)
    half = len(rates) // 2
    distances = []
    for _ in range(SHUFFLES):
        dealt.shuffle(rates)
        distances.append(abs(math.log(statistics.median(rates[:half]) / statistics.median(rates[half:]))))
    return math.expm1(sorted(distances)[int(0.95 * SHUFFLES)])


def same_work(test: str, record_kib: str) -> bool:
    """With fewer records than its stride iozone reads the first one again and again, Bakeoff each of them once."""
    return test != "stride_read" or int(record_kib) * STRIDE < FILE_BYTES >> 10


def size(record_kib: str) -> str:
    """64 KiB, 1 MiB …"""
    number = int(record_kib)
    return f"{number >> 10} MiB" if number >= 1024 else f"{number} KiB"


def table(places: dict[str, dict[str, Any]]) -> str:
    """Rates of Bakeoff in GB/s and, where iozone is there, their ratio to its."""
    records = list(next(iter(places.values()))["plain"])
    lines = [
        "| test | file system | " + " | ".join(size(record) for record in records) + " |",
        "|---|---|" + "--:|" * len(records),
    ]
    for index, test in enumerate(TESTS):
        for place, tools in places.items():
            cells = []
            for record in records:
                own, checked = tools["plain"][record][index], tools["checked"][record][index]
                cell = f"{own * 1024 / 1e9:.2f} GB/s"
                if "iozone" in tools and same_work(test, record):
                    peer = tools["iozone"][record][index]
                    cell += f"<br>**{own / peer:.3f}** ({checked / peer:.3f})"
                cells.append(cell)
            lines.append(f"| {test.replace('_', ' ')} | {place} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(places: dict[str, dict[str, Any]]) -> str:
    """How many cells are within 3 % of iozone's, and which are not, beside iozone against itself."""
    if any("iozone" not in tools for tools in places.values()):
        return "iozone is not installed here (Debian has it in non-free): its ratios are left out."
    cells = [
        (test, place, record, index)
        for place, tools in places.items()
        for record in tools["plain"]
        for index, test in enumerate(TESTS)
        if same_work(test, record)
    ]
    own, itself, noise = (
        {(t, p, r): found(places[p], r, index) for t, p, r, index in cells}
        for found in (
            lambda tools, r, i: tools["plain"][r][i] / tools["iozone"][r][i],
            lambda tools, r, i: tools["iozone again"][r][i] / tools["iozone"][r][i],
            lambda tools, r, i: tools["spread"][r][i],
        )
    )
    outside = {key: ratio for key, ratio in own.items() if not near(ratio, LIMIT)}
    beyond = {key: ratio for key, ratio in outside.items() if not near(ratio, noise[key])}
    good = f"{len(own) - len(outside)} of {len(own)} cells are within 3 % of iozone's"
    same = sum(near(ratio, LIMIT) for ratio in itself.values())
    wide = sorted(noise.values())
    text = (
        f"{good}; of iozone against itself, in the same turns, {same} are. What iozone differs from itself by (95 % of "
        f"all ways to deal out its rows to two tools) is {wide[len(wide) // 2]:.1%} in the median cell and "
        f"{wide[-1]:.0%} in the widest; {len(own) - len(beyond)} cells are within 3 % or within that"
    )
    return f"{text}.\n\nBeyond both: {listed(beyond, noise)}." if beyond else f"{text}."


def near(ratio: float, limit: float) -> bool:
    """Whether two rates differ by the factor 1 + `limit` at most."""
    return abs(math.log(ratio)) <= math.log1p(limit)


def listed(ratios: dict[Cell, float], noise: dict[Cell, float]) -> str:
    """Cells with their ratio and the spread of iozone against itself there."""
    return ", ".join(
        f"{t.replace('_', ' ')} {size(r)} on {p} {ratio:.3f} (±{noise[t, p, r]:.1%})"
        for (t, p, r), ratio in ratios.items()
    )
