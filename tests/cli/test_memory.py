"""Little memory: it is enough for reading, or a sentence says that it is not."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.control import PATIENCE_S
from tests.unit.compare.synthetic import FULL_LOAD_STEPS, run
from tests.unit.store.builders import stored

LIMIT_KIB = 819_200


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 load steps, 8 blocks, 60 clients at most, a series of four minutes in each of 256 trials."""
    return stored(
        run(load_steps=FULL_LOAD_STEPS, blocks=8, window_s=240.0), tmp_path_factory.mktemp("full") / "x.bakeoff"
    )


def limited(limit_kib: int, *words: object) -> subprocess.CompletedProcess[str]:
    command = shlex.join([sys.executable, "-m", "bakeoff", *map(str, words)])
    limits = f"ulimit -v {limit_kib}; exec {command}"
    return subprocess.run(["/bin/sh", "-c", limits], capture_output=True, text=True, timeout=PATIENCE_S, check=False)


@pytest.mark.parametrize("verb", ["show", "compare"])
def test_reading_fits(run_file: Path, verb: str) -> None:
    done = limited(LIMIT_KIB, verb, run_file)
    assert done.returncode == 0 and not done.stderr and len(done.stdout) > 1000, done.stderr


@pytest.mark.parametrize("limit_kib", [LIMIT_KIB, 4 << 20, 40 << 20])
def test_a_report_says_that_it_cannot_be_drawn(run_file: Path, tmp_path: Path, limit_kib: int) -> None:
    done = limited(limit_kib, "report", run_file, "-o", tmp_path / "r.html")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "drawing charts reserves" in done.stderr and "ulimit -v unlimited" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_this_process_starts_does_not_inherit_the_setting_of_one_thread() -> None:
    look = "'OPENBLAS_NUM_THREADS' in os.environ, len(os.listdir('/proc/self/task'))"
    script = f"import os, bakeoff.compare; print({look})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "1"]
