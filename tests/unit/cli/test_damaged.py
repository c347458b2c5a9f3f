"""Every verb that takes a run file refuses a damaged one, in one sentence, and writes nothing."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import RunFileError
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored

VERBS = (
    "show", "show --json", "show --events", "compare", "compare --json", "report -o r.html", "export --to iometer-csv",
    "export --to csv", "export --to json", "export --to lost-messages", "export --to benchfmt",
    "resume", "resume --trust",
)  # fmt: skip


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def a_figure_changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE trials SET operations_per_s = 2 * operations_per_s WHERE id = 1")
        connection.commit()


def a_trial_gone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM trials WHERE id = 3")
        connection.commit()


def a_text_that_is_no_json(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET plan = ?", ("[" * 100_000,))
        connection.commit()


def a_page_of_zeros(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(4096) + content[8192:])


@pytest.mark.parametrize("damage", [cut_off, a_figure_changed, a_trial_gone, a_text_that_is_no_json, a_page_of_zeros])
@pytest.mark.parametrize("words", VERBS)
def test_a_damaged_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, damage: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = stored(run(load_steps=(1,), blocks=2, window_s=2.0), tmp_path / "x.bakeoff", bytes(5000))
    damage(path)
    before = path.read_bytes()
    verb, *options = words.split()
    done = CliRunner().invoke(app, [verb, str(path), *options])
    assert isinstance(done.exception, RunFileError), done.exception
    assert "is damaged" in str(done.exception) and "\n" not in str(done.exception)
    assert done.output == "" and path.read_bytes() == before
    assert [other.name for other in tmp_path.iterdir()] == ["x.bakeoff"]
