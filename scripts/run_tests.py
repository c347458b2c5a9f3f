"""Runs the Rust and the Python tests and ends with one line that counts both.

The exit status is 0 only when all passed and each suite ran at least one test.
"""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = ["cargo", "test", "--workspace", "--exclude", "bakeoff-bridge", "--no-fail-fast", "--locked"]


def run_cargo() -> tuple[int, int]:
    """Returns (passed, failed) of `cargo test`, its output shown as it comes."""
    passed = failed = 0
    process = subprocess.Popen(CARGO, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
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


def main() -> int:
    """Runs both suites."""
    rust = run_cargo()
    python = run_pytest(sys.argv[1:])
    passed, failed = rust[0] + python[0], rust[1] + python[1]
    sys.stdout.write(f"\n{passed} passed, {failed} failed\n")
    return 0 if failed == 0 and rust[0] and python[0] else 1


if __name__ == "__main__":
    sys.exit(main())
