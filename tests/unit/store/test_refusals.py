import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bakeoff.core.errors import RunFileError
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunWriter
from tests.unit.store.builders import header, planned, trial


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "x.bakeoff"
    RunWriter.create(path, header(), planned()).close()
    return path


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="does not exist: give the path"):
        read_run(tmp_path / "none.bakeoff")


def test_a_pipe_is_named_as_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RunFileError, match="is no file but a pipe"):
        read_run(tmp_path / "pipe")


@pytest.mark.parametrize("content", [b"", b"just text, and long enough to fill a header " * 10])
def test_not_a_run_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.bakeoff"
    path.write_bytes(content)
    with pytest.raises(RunFileError, match="is not a run file"):
        read_run(path)
    assert path.read_bytes() == content


def test_another_sqlite_database(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE run (id)")
    connection.commit()
    connection.close()
    with pytest.raises(RunFileError, match="is not a run file"):
        read_run(path)


@pytest.mark.parametrize("version", [0, 2, 99])
def test_another_version(run_file: Path, version: int) -> None:
    connection = sqlite3.connect(run_file)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(RunFileError, match=f"has run file version {version}, this Bakeoff reads version 1"):
        read_run(run_file)
    with pytest.raises(RunFileError, match="the Bakeoff that wrote it"):
        RunWriter.reopen(run_file)


def test_cut_short(run_file: Path) -> None:
    os.truncate(run_file, 8192)
    with pytest.raises(RunFileError, match="damaged"):
        read_run(run_file)


def test_damaged_text(run_file: Path) -> None:
    connection = sqlite3.connect(run_file)
    connection.execute("UPDATE run SET plan = '{oops'")
    connection.commit()
    connection.close()
    with pytest.raises(RunFileError, match="damaged"):
        read_run(run_file)


def test_existing_file_is_never_overwritten(run_file: Path) -> None:
    before = run_file.read_bytes()
    with pytest.raises(RunFileError, match="exists already: choose another name with -o"):
        RunWriter.create(run_file, header(), planned())
    assert run_file.read_bytes() == before


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="cannot be written: No such file or directory"):
        RunWriter.create(tmp_path / "no" / "x.bakeoff", header(), planned())


def test_full_disk_keeps_what_was_stored(run_file: Path) -> None:
    with RunWriter.reopen(run_file) as writer:
        writer.add_trial(trial(), {})
        pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
        writer._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(RunFileError, match="disk is full, what was measured so far is kept"):
            writer.add_trial(trial(order=1, contender="b"), {"service": b"x" * 100_000})
    assert [t.order for t in read_run(run_file).trials] == [0]


def test_two_writers_at_once_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with (
        RunWriter.create(path, header(), planned()),
        pytest.raises(RunFileError, match=f"being written by process {os.getpid()}"),
    ):
        RunWriter.reopen(path)


def test_a_dead_writer_is_succeeded_and_committed_trials_survive_it(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    script = (
        "import os, sys, pathlib\n"
        "from bakeoff.store.sqlite.trial_rows import insert_trial\n"
        "from bakeoff.store.sqlite.write import RunWriter\n"
        "from tests.unit.store.builders import header, planned, trial\n"
        "w = RunWriter.create(pathlib.Path(sys.argv[1]), header(), planned())\n"
        "w.add_trial(trial(), {'service': b'1'})\n"
        "w._connection.execute('BEGIN IMMEDIATE')\n"
        "insert_trial(w._connection, trial(order=1, contender='b'))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -9
    assert [t.order for t in read_run(path).trials] == [0]
    RunWriter.reopen(path).close()
