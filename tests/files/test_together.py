"""Runs that share a folder keep apart, and say of each other what can be known."""

import subprocess
import sys
from pathlib import Path

import pytest

from bakeoff import _engine
from bakeoff.store.sqlite.read import read_run
from tests import forks
from tests.control import PATIENCE_S

COMMAND = [*forks.COMMAND, "run"]
MIX = ["file-mix", "--clients", "1", "--length", "5m", "--workspace", "2MB", "--blocks", "1", "--operations"]
BLOCKS = ["file-blocks", "--clients", "1", "--region", "8MiB", "--block-sizes", "4KiB", "--patterns", "random_read",
          "--cell-time", "1s", "--ramp-up", "0s", "--blocks", "1"]  # fmt: skip


def name_of_a_process_that_is_over(what: str) -> str:
    """The name that a process gave its folder which has ended since."""
    script = "import sys; from bakeoff import _engine; print(_engine.work_folder_name(sys.argv[1]))"
    return subprocess.run(
        [sys.executable, "-c", script, what], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.parametrize("words", [[*MIX, "10000"], BLOCKS], ids=["mix", "blocks"])
def test_two_runs_of_one_plan_on_one_folder(tmp_path: Path, words: list[str]) -> None:
    """Each waits for the other before its trial: both are in the folder at once."""
    folder = tmp_path / "share"
    folder.mkdir()
    runs = []
    for number in range(2):
        here, there = (tmp_path / f"at-{n}" for n in (number, 1 - number))
        wait = f"a=touch {here}; until test -e {there}; do sleep 0.02; done"
        command = [*COMMAND, *words, f"a={folder}", "--reset", wait, "-o", str(tmp_path / f"{number}.bakeoff")]
        runs.append(subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    said = [run.communicate(timeout=PATIENCE_S)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    for number in range(2):
        (trial,) = read_run(tmp_path / f"{number}.bakeoff").trials
        assert trial.state == "ok", trial.reason
    assert list(folder.iterdir()) == []


def test_only_what_is_surely_over_is_called_left_behind(tmp_path: Path) -> None:
    folder = tmp_path / "share"
    over = folder / name_of_a_process_that_is_over("trial-1")
    mine, own = folder / ".bakeoff-mine", folder / _engine.work_folder_name("x")  # this process runs
    elsewhere = folder / ".bakeoff-x-0000000000000001-f0000000-1-1-6d5f4e6c"
    for path in (over, mine, own):
        path.mkdir(parents=True)
    assert _engine.work_folder_owner(elsewhere.name) is None, "its check is wrong"
    command = [*COMMAND, *MIX, "10", f"a={folder}", "-o", str(tmp_path / "r.bakeoff")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert f"a: left behind by an earlier run, remove it: {over.name}\n" in done.stderr
    assert f"another run works in this folder at the same time, so both measure each other: {own.name}\n" in done.stderr
    assert mine.name not in done.stderr
    assert sorted(folder.iterdir()) == sorted([over, mine, own]), "nothing of others is removed"


def test_what_a_killed_run_of_the_same_plan_left_is_taken_over(tmp_path: Path) -> None:
    folder = tmp_path / "share"
    folder.mkdir()
    command = [*COMMAND, *BLOCKS, "--keep", f"a={folder}", "-o", str(tmp_path / "r.bakeoff")]
    inodes = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert done.returncode == 0, done.stderr
        (left,) = folder.iterdir()
        assert _engine.work_folder_owner(left.name) == "over"
        inodes.append((left / "region").stat().st_ino)
        (tmp_path / "r.bakeoff").unlink()
    assert inodes[0] == inodes[1]
