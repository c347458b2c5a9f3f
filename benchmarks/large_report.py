"""The report of a large run: four contenders, 16 load steps of up to 60 clients, 13 blocks, trials of a minute.

From the run file, by the command that a user types: processor time, memory and size of the page and of the paper, and
how long Chromium takes to load the page. Ends with 1 when a figure misses its mark.

    python benchmarks/large_report.py [--write]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from common import ROOT, machine_line, put_table
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(ROOT))
from tests.unit.compare.synthetic import FULL_LOAD_STEPS, Server, run
from tests.unit.store.builders import stored

CHROMIUM = "/usr/bin/chromium"
SERVERS = tuple(Server(f"server {letter}", 40_000.0 / (1 + 0.4 * i), 0.1 + 0.03 * i) for i, letter in enumerate("ABCD"))
BLOCKS, WINDOW_S = 13, 60.0
# User time at most, s, by form; memory at most, MB; until the page is loaded at most, s.
USER_S = {"html": 10.0, "pdf": 15.0}
MEMORY_MB, LOAD_S = 1_000.0, 1.0
LOADS = 5


@dataclass(frozen=True)
class Made:
    """What making a report took, in seconds of user time and MB, and how large it is, in MB."""

    user_s: float
    peak_mb: float
    size_mb: float


def made(path: Path, target: Path) -> Made:
    """The report at `target` of the run file at `path`, made by a process of its own."""
    words = [sys.executable, "-m", "bakeoff", "report", str(path), "-o", str(target)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"`{' '.join(words)}` ended with {process.returncode}")
    return Made(used.ru_utime, used.ru_maxrss * 1024 / 1e6, target.stat().st_size / 1e6)


def loaded_s(page: Path) -> float:
    """Seconds until Chromium has loaded it, the median of some times."""
    taken_ms = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for _ in range(LOADS):
            window = browser.new_page(viewport={"width": 1280, "height": 900})
            window.goto(page.as_uri(), wait_until="load")
            window.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
            taken_ms.append(window.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
            window.close()
        browser.close()
    return statistics.median(taken_ms) / 1e3


def measured() -> tuple[dict[str, Made], float]:
    """Each form, and the seconds until the page is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = stored(run(SERVERS, FULL_LOAD_STEPS, BLOCKS, WINDOW_S), Path(folder) / "large.bakeoff")
        reports = {form: made(path, Path(folder) / f"large.{form}") for form in USER_S}
        return reports, loaded_s(Path(folder) / "large.html")


def main() -> int:
    """Measures all, and says which are beside their marks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    write = options.parse_args().write
    reports, load_s = measured()
    lines = [f"{machine_line()}", "", "| | user time | memory at most | size | loaded in Chromium |"]
    lines.append("| :-- | --: | --: | --: | --: |")
    for form, one in reports.items():
        load = f"{load_s:.2f} s" if form == "html" else ""
        lines.append(f"| {form} | {one.user_s:.1f} s | {one.peak_mb:.0f} MB | {one.size_mb:.1f} MB | {load} |")
    print("\n".join(lines))
    missed = [f"{form}: {one.user_s:.1f} s" for form, one in reports.items() if one.user_s >= USER_S[form]]
    missed += [f"{form}: {one.peak_mb:.0f} MB" for form, one in reports.items() if one.peak_mb >= MEMORY_MB]
    missed += [f"loaded in {load_s:.2f} s"] if load_s >= LOAD_S else []
    for miss in missed:
        print(f"MISS {miss}")
    if write:
        put_table(ROOT / "docs" / "performance.md", "large-report", "\n".join(lines))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
