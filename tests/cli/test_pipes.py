"""Output that nobody reads any more."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, Bakeoff, Serve
from tests.control import PATIENCE_S
from tests.unit.compare.synthetic import FULL_MIXES, run
from tests.unit.store.builders import stored


@pytest.mark.parametrize("words", [("show",), ("show", "--json"), ("compare",), ("compare", "--json")])
def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path: Path, words: tuple[str, ...]) -> None:
    stored(run(mixes=FULL_MIXES, blocks=6, window_s=2.0), tmp_path / "r.bakeoff")
    command = [*COMMAND, words[0], "r.bakeoff", *words[1:]]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()  # before the first line is written
        said = process.stderr.read().decode()
        process.wait(PATIENCE_S)
    assert (process.returncode, said) == (141, "")


def test_a_run_whose_progress_nobody_reads_goes_on_to_its_end(serve: Serve, tmp_path: Path, bakeoff: Bakeoff) -> None:
    words = ["run", "web-dynamic", f"a={serve()}", "--mixes", "1", "--length", "300ms", "--blocks", "3"]
    command = [*COMMAND, *words, "-o", "r.bakeoff"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
        assert "Run file: r.bakeoff" in process.stdout.read()
        assert process.wait(PATIENCE_S) == 0
    assert ", complete" in bakeoff("show", "r.bakeoff").stdout
