"""Every test of iozone's automatic mode beside iozone: the same tests, sizes, folder and core, in turn."""

import contextlib
import math
import mmap
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

import numpy as np
from common import run_trial
from numpy.typing import NDArray

from bakeoff.core.system.mounts import mount_of

CORE = 1
FILE_BYTES = 256 << 20
STRIDE = 17
RECORDS_KIB = (64, 256, 1024, 4096, 16384)
# A row takes half a second, and a cell some 10 ms: each repeat is so many rows of each tool.
ROUNDS = 12
SAMPLES = 1000
# Memory that is held while a row runs, at most, in pages of 2 MiB.
HELD_MOST, HUGE_PAGE = 100, 2 << 20
TESTS = (
    "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite",
    "stride_read", "fwrite", "refwrite", "fread", "refread",
)  # fmt: skip
FORK = multiprocessing.get_context("fork")
Rates = list[float]  # KiB/s, in the order of TESTS
Ratio = tuple[float, float, float]  # a ratio and its 95 % interval
Cell = tuple[str, str, str]  # test, file system, record size in KiB
LIMIT = math.log(1.03)

# iozone writes zeros but for one word of each page, and processors move zeros over zeros up to 40 % faster than
# other bytes. With this the C library fills what it hands out, as Bakeoff fills its buffers.
FILLED = os.environ | {"MALLOC_PERTURB_": "165"}


@contextlib.contextmanager
def evenly_placed(folder: Path) -> Iterator[Path]:
    """In memory, where root is allowed to: a tmpfs of huge pages. On scattered small pages the place that a file
    happens to get decides more than the tool."""
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
    workload = {
        "kind": "file-matrix", "folder": str(folder), "pairs": pairs, "tests": TESTS, "verify": verify, "keep": False,
        "fsync": False, "close": False, "direct": False, "dsync": False, "sync": False, "mmap": False, "cache": "warm",
        "drop_caches": False, "cold_command": None, "stonewall": False, "mixed_read_percent": None, "stride": 17,
        "carrier": "unknown", "link_bytes_per_s": None, "stall_s": 60.0,
    }  # fmt: skip
    with FORK.Pool(1) as alone:
        figures = alone.apply(run_trial, (workload,), {"pin": [CORE]})
    return [cell["rate_kib_s"] for cell in figures["cells"]]


@contextlib.contextmanager
def other_pages(dealt: random.Random) -> Iterator[None]:
    """Holds a random amount of memory: the kernel hands out what was freed last, and without this each tool would get
    the same pages in every row. On one machine some of them were 15 % slower than others."""
    pages = dealt.randint(1, HELD_MOST)
    # Private: shared memory is shmem, which has no huge pages here.
    with mmap.mmap(-1, (pages + 1) * HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, len(held), mmap.PAGESIZE):
            held[at] = 1
        yield


def measure(folder: Path, repeats: int) -> dict[str, Any]:
    """`rates`: tool → record size in KiB → medians of the tests, KiB/s. Where iozone is there also `ratios`: `plain`,
    `checked` and `itself` → record size → a `Ratio` to iozone's rate for each test."""
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
    dealt = random.Random(1)
    rates: dict[str, dict[str, Rates]] = {name: {} for name in tools}
    ratios: dict[str, dict[str, list[Ratio]]] = {name: {} for name in ("plain", "checked", "itself")}
    for record in RECORDS_KIB:
        seen: dict[str, list[Rates]] = {name: [] for name in tools}
        for _ in range(repeats * ROUNDS):
            for name in dealt.sample(list(tools), len(tools)):
                with other_pages(dealt):
                    seen[name].append(tools[name](record))
        for name, rows in seen.items():
            rates[name][str(record)] = [statistics.median(cell) for cell in zip(*rows, strict=True)]
        if "iozone" in seen:
            logs = {name: np.log(rows) for name, rows in seen.items()}
            peer = (logs["iozone"] + logs["iozone again"]) / 2
            for name, own in (("plain", logs["plain"] - peer), ("checked", logs["checked"] - peer)):
                ratios[name][str(record)] = [within_turns(cell) for cell in own.T]
            itself = logs["iozone again"] - logs["iozone"]
            ratios["itself"][str(record)] = [within_turns(cell) for cell in itself.T]
    return {"rates": rates} | ({"ratios": ratios} if ratios["plain"] else {})


def within_turns(logs: NDArray[np.float64]) -> Ratio:
    """The median of the ratios within turns, and what it is in 95 % of samples drawn from the turns."""
    drawn = np.random.default_rng(1).choice(logs, (SAMPLES, len(logs)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return math.exp(float(np.median(logs))), math.exp(low), math.exp(high)


def same_work(test: str, record_kib: str) -> bool:
    """With fewer records than its stride iozone reads the first one again and again, Bakeoff each of them once."""
    return test != "stride_read" or int(record_kib) * STRIDE < FILE_BYTES >> 10


def size(record_kib: str) -> str:
    """64 KiB, 1 MiB …"""
    number = int(record_kib)
    return f"{number >> 10} MiB" if number >= 1024 else f"{number} KiB"


def table(places: dict[str, dict[str, Any]]) -> str:
    """Rates of Bakeoff in GB/s and, where iozone is there, their ratio to its."""
    records = list(next(iter(places.values()))["rates"]["plain"])
    lines = [
        "| test | file system | " + " | ".join(size(record) for record in records) + " |",
        "|---|---|" + "--:|" * len(records),
    ]
    for index, test in enumerate(TESTS):
        for place, found in places.items():
            cells = []
            for record in records:
                cell = f"{found['rates']['plain'][record][index] * 1024 / 1e9:.2f} GB/s"
                if "ratios" in found and same_work(test, record):
                    own, checked = (found["ratios"][name][record][index][0] for name in ("plain", "checked"))
                    cell += f"<br>**{own:.3f}** ({checked:.3f})"
                elif "ratios" not in found:
                    cell += "<br>iozone not installed"
                cells.append(cell)
            lines.append(f"| {test.replace('_', ' ')} | {place} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(places: dict[str, dict[str, Any]]) -> str:
    """How many cells are within 3 % of iozone's, and which are shown not to be, beside iozone against itself."""
    if any("ratios" not in found for found in places.values()):
        return "iozone is not installed here (Debian has it in non-free): the cells lack its ratios."
    own, itself = (
        {
            (test, place, record): found["ratios"][name][record][index]
            for place, found in places.items()
            for record in found["ratios"][name]
            for index, test in enumerate(TESTS)
            if same_work(test, record)
        }
        for name in ("plain", "itself")
    )
    cells = len(own)
    near, same = (sum(abs(math.log(ratio)) <= LIMIT for ratio, _, _ in all_.values()) for all_ in (own, itself))
    beyond = {cell: found for cell, found in own.items() if outside(found)}
    odd = sum(outside(found) for found in itself.values())
    widths = sorted(math.sqrt(high / low) - 1 for _, low, high in own.values())
    text = (
        f"{near} of {cells} cells are within 3 % of iozone's; of iozone against itself, in the same turns, {same} are. "
        f"The 95 % interval of a ratio is ±{widths[cells // 2]:.1%} in the median cell and ±{widths[-1]:.0%} in the "
        f"widest. In {len(beyond)} cells it lies wholly beyond 3 % (in {odd} of iozone against itself)"
    )
    return f"{text}: {listed(beyond)}." if beyond else f"{text}."


def outside(ratio: Ratio) -> bool:
    """Whether the whole interval is farther than `LIMIT` from 1."""
    _, low, high = ratio
    return math.log(low) > LIMIT or math.log(high) < -LIMIT


def listed(cells: dict[Cell, Ratio]) -> str:
    """Cells with their ratio and its interval."""
    return ", ".join(
        f"{t.replace('_', ' ')} {size(r)} on {p} {ratio:.3f} ({low:.3f}–{high:.3f})"
        for (t, p, r), (ratio, low, high) in cells.items()
    )
