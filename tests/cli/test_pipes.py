"""Output that nobody reads any more: the reader has gone before the first line is written."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, Bakeoff, Serve
from tests.control import PATIENCE_S
from tests.unit.compare.synthetic import FULL_LOAD_STEPS, run
from tests.unit.store.builders import stored


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe's end for writing, whose other end is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize("words", [("show",), ("show", "--json"), ("compare",), ("compare", "--json")])
def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path: Path, words: tuple[str, ...], unread: int) -> None:
    stored(run(load_steps=FULL_LOAD_STEPS, blocks=6, window_s=2.0), tmp_path / "r.bakeoff")
    command = [*COMMAND, words[0], "r.bakeoff", *words[1:]]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=unread, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (141, "")


def test_a_run_whose_progress_nobody_reads_goes_on_to_its_end(
    serve: Serve, tmp_path: Path, bakeoff: Bakeoff, unread: int
) -> None:
    words = ["run", "web-dynamic", f"a={serve()}", "--clients", "1", "--operations", "50", "--length", "5m"]
    command = [*COMMAND, *words, "--blocks", "3", "-o", "r.bakeoff"]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=unread, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0 and "Run file: r.bakeoff" in done.stdout
    assert ", complete" in bakeoff("show", "r.bakeoff").stdout
