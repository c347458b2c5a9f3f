"""Runs the Rust and the Python tests and ends with one line that counts both.

The exit status is 0 only when all passed and each suite ran at least one test. `--quick` runs what fits into a minute
on two cores; all other arguments are pytest's.
"""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = ["cargo", "test", "--no-fail-fast", "--locked"]
ALL_CRATES = [*CARGO, "--workspace", "--exclude", "bakeoff-bridge"]

# In virtual time or on scripted bytes.
QUICK_CRATES = [*CARGO, "-p", "bakeoff-engine", "-p", "bakeoff-workloads", "--lib"]
# The arithmetic of statistics, of plans and of run files, and a few known answers.
QUICK = ["tests/unit", "tests/bridge", "tests/truth/test_web_truth.py"]
# Simulations of error rates, damages by the hundred, pages drawn whole: in `make test` alone.
NOT_QUICK = {
    "tests/unit/report/test_cells.py",
    "tests/unit/report/test_html.py",
    "tests/unit/report/test_size_and_speed.py",
    "tests/unit/stats/test_simulation.py",
    "tests/unit/store/test_damage.py",
}


def run_cargo(command: list[str]) -> tuple[int, int]:
    """Returns (passed, failed) of a `cargo test`, its output shown as it comes."""
    passed = failed = 0
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        sys.stdout.write(line)
        if found := re.search(r"test result: \w+\. (\d+) passed; (\d+) failed", line):
            passed += int(found[1])
            failed += int(found[2])
    if process.wait() != 0 and failed == 0:
        failed = 1  # it did not even build
    return passed, failed


def run_pytest(arguments: list[str]) -> tuple[int, int]:
    """Returns (passed, failed) of pytest; a skipped test counts as failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", f"--junitxml={report}", "-rs", *arguments]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if not report.exists():
            return 0, 1
        suites = ElementTree.parse(report).getroot().findall("testsuite")
    total = sum(int(suite.get("tests", 0)) for suite in suites)
    bad = sum(int(suite.get(key, 0)) for suite in suites for key in ("failures", "errors", "skipped"))
    return total - bad, bad if bad or status == 0 else 1


def quick_halves() -> list[list[str]]:
    """The files of QUICK, dealt to two processes."""
    found = sorted(file for place in QUICK for file in (ROOT / place).glob("**/test_*.py"))
    found += [ROOT / place for place in QUICK if place.endswith(".py")]
    files = [str(path.relative_to(ROOT)) for path in found if str(path.relative_to(ROOT)) not in NOT_QUICK]
    return [files[0::2], files[1::2]]


def main() -> int:
    """Runs both suites, or what is quick of them."""
    if sys.argv[1:] == ["--quick"]:
        results = [run_cargo(QUICK_CRATES)]
        with ThreadPoolExecutor() as both:
            results += both.map(run_pytest, quick_halves())
    else:
        results = [run_cargo(ALL_CRATES), run_pytest(sys.argv[1:])]
    passed, failed = (sum(result[i] for result in results) for i in (0, 1))
    sys.stdout.write(f"\n{passed} passed, {failed} failed\n")
    return 0 if failed == 0 and all(passed for passed, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
