"""A report is held against its run to the last number; one that was touched is found in every form."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from bakeoff.cli import report as report_verb
from bakeoff.cli import verify as verify_verb
from bakeoff.errors import BakeoffError
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored

app = Typer()
report_verb.register(app)
verify_verb.register(app)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file with its reports."""
    place = tmp_path_factory.mktemp("verify")
    stored(run(), place / "demo.bakeoff")
    stored(run(seed=2), place / "other.bakeoff")
    for name in ("demo.html", "demo.pdf", "demo.md", "demo.txt"):
        call("report", place / "demo.bakeoff", "-o", place / name)
    call(
        "report",
        place / "demo.bakeoff",
        "-o",
        place / "turned.html",
        "--baseline",
        "apache",
        "--delta",
        "2%",
        "--brief",
    )
    call("report", place / "demo.bakeoff", "-o", place / "turned.pdf", "--baseline", "apache")
    return place


def call(*words: object) -> Result:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit | BakeoffError):
        raise done.exception
    return done


@pytest.mark.parametrize("name", ["demo.html", "demo.pdf", "demo.md", "demo.txt", "turned.html", "turned.pdf"])
def test_an_untouched_report_is_what_its_run_gives(folder: Path, name: str) -> None:
    """Also one with another baseline: how it was asked for is embedded in it."""
    done = call("verify", folder / name, folder / "demo.bakeoff")
    assert done.exit_code == 0, done.output
    assert "numbers" in done.output


@pytest.mark.parametrize("name", ["demo.html", "demo.md", "demo.txt"])
def test_one_changed_digit_is_found_and_shown(folder: Path, tmp_path: Path, name: str) -> None:
    for path in folder.iterdir():
        shutil.copytree(path, tmp_path / path.name) if path.is_dir() else shutil.copy(path, tmp_path)
    text = (tmp_path / name).read_text()
    assert "0.80×" in text
    (tmp_path / name).write_text(text.replace("0.80×", "1.80×", 1))
    done = call("verify", tmp_path / name, folder / "demo.bakeoff")
    assert done.exit_code == 1 and "1.80×" in done.output and "0.80×" in done.output


def test_a_moved_point_of_a_chart_and_a_changed_datum_are_found(folder: Path, tmp_path: Path) -> None:
    page = (folder / "demo.html").read_text()
    at = page.index(' d="M', page.index("<svg")) + 5
    moved = page[:at] + ("9" if page[at] != "9" else "8") + page[at + 1 :]
    (tmp_path / "moved.html").write_text(moved)
    assert call("verify", tmp_path / "moved.html", folder / "demo.bakeoff").exit_code == 1
    (tmp_path / "datum.html").write_text(page.replace('"blocks":6', '"blocks":60', 1))
    assert call("verify", tmp_path / "datum.html", folder / "demo.bakeoff").exit_code == 1
    shutil.copy(folder / "demo.md", tmp_path)
    shutil.copytree(folder / "demo.figures", tmp_path / "demo.figures")
    figure = next((tmp_path / "demo.figures").iterdir())
    figure.write_text(figure.read_text().replace('d="M', 'd="M7', 1))
    assert call("verify", tmp_path / "demo.md", folder / "demo.bakeoff").exit_code == 1


@pytest.mark.parametrize("name", ["demo.html", "demo.pdf", "demo.txt"])
def test_the_report_of_another_run_is_not_this_one(folder: Path, name: str) -> None:
    done = call("verify", folder / name, folder / "other.bakeoff")
    assert done.exit_code == 1 and "differences" in done.output


def test_what_cannot_be_compared_is_refused(folder: Path, tmp_path: Path) -> None:
    for words in (
        (folder / "demo.bakeoff", folder / "demo.bakeoff"),
        (tmp_path / "missing.html", folder / "demo.bakeoff"),
        (folder / "demo.html", tmp_path / "missing.bakeoff"),
    ):
        assert isinstance(call("verify", *words).exception, BakeoffError)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    assert isinstance(call("verify", tmp_path / "broken.pdf", folder / "demo.bakeoff").exception, BakeoffError)
