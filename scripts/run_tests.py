"""Runs the Rust and the Python tests side by side and ends with one line that counts both.

No test's outcome depends on how busy the machine is, so there are three processes of Python tests more than
processors: tests with real servers wait for most of their time. Python may keep what it compiled, whatever the
environment says: hundreds of tests start it. The exit status is 0 only when all passed and each suite ran at least one
test. `--quick` runs what fits into a minute on two cores; all other arguments are pytest's.
"""

import compileall
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
MORE_THAN_PROCESSORS = 3
CARGO = ["cargo", "test", "--no-fail-fast", "--locked"]
# Libraries, programs and their tests: examples are not asked for, and no documentation has tests.
ALL_CRATES = [*CARGO, "--tests", "--workspace", "--exclude", "bakeoff-bridge"]

# In virtual time or on scripted bytes.
QUICK_CRATES = [*CARGO, "-p", "bakeoff-engine", "-p", "bakeoff-workloads", "--lib"]
# The arithmetic of statistics, of plans and of run files, and a few known answers.
QUICK = ["tests/unit", "tests/bridge", "tests/truth/test_web_truth.py"]
# Simulations of error rates, damages by the hundred, pages drawn whole: in `make test` alone.
NOT_QUICK = {
    "tests/unit/compare/test_said_rightly.py",
    "tests/unit/plan/test_hostile_plans.py",
    "tests/unit/report/test_cells.py",
    "tests/unit/report/test_html.py",
    "tests/unit/report/test_size.py",
    "tests/unit/stats/test_simulation.py",
    "tests/unit/run/test_hostile_servers.py",
    "tests/unit/store/test_damage.py",
}


def start_cargo(command: list[str], output: IO[str]) -> subprocess.Popen[bytes]:
    """A `cargo test`, which goes on by itself."""
    return subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)


def cargo_counts(process: subprocess.Popen[bytes], output: IO[str]) -> tuple[int, int]:
    """Returns (passed, failed) of `cargo test` and shows what it said."""
    status = process.wait()
    output.seek(0)
    text = output.read()
    sys.stdout.write(text)
    found = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", text)
    passed, failed = (sum(int(pair[at]) for pair in found) for at in (0, 1))
    return passed, failed if failed or status == 0 else 1  # it did not even build


def run_pytest(arguments: list[str]) -> tuple[int, int]:
    """Returns (passed, failed) of pytest; a skipped test counts as failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        workers = str(len(os.sched_getaffinity(0)) + MORE_THAN_PROCESSORS)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        compileall.compile_dir(ROOT / "python", quiet=2)
        command = [sys.executable, "-m", "pytest", f"--junitxml={report}", "-rs", *arguments]
        command += ["--numprocesses", workers, "--dist", "loadscope", "--no-loadscope-reorder"]
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if not report.exists():
            return 0, 1
        suites = ElementTree.parse(report).getroot().findall("testsuite")
    total = sum(int(suite.get("tests", 0)) for suite in suites)
    bad = sum(int(suite.get(key, 0)) for suite in suites for key in ("failures", "errors", "skipped"))
    return total - bad, bad if bad or status == 0 else 1


def quick_files() -> list[str]:
    """The files of QUICK."""
    found = sorted(file for place in QUICK for file in (ROOT / place).glob("**/test_*.py"))
    found += [ROOT / place for place in QUICK if place.endswith(".py")]
    return [file for path in found if (file := str(path.relative_to(ROOT))) not in NOT_QUICK]


def main() -> int:
    """Runs both suites, or what is quick of them."""
    quick = sys.argv[1:] == ["--quick"]
    with tempfile.TemporaryFile("w+") as output:
        cargo = start_cargo(QUICK_CRATES if quick else ALL_CRATES, output)
        python = run_pytest(quick_files() if quick else sys.argv[1:])
        results = [python, cargo_counts(cargo, output)]
    passed, failed = (sum(result[i] for result in results) for i in (0, 1))
    sys.stdout.write(f"\n{passed} passed, {failed} failed\n")
    return 0 if failed == 0 and all(passed for passed, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
