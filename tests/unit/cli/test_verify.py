"""A report is held against its run to the last number; one that was touched is found in every form."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from bakeoff.cli.read import report as report_verb
from bakeoff.cli.share import verify as verify_verb
from bakeoff.core.errors import BakeoffError
from tests.unit.compare.synthetic import run
from tests.unit.compare.test_noise import aa
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
    for name in ("turned.md", "turned.txt"):
        call("report", place / "demo.bakeoff", "-o", place / name, "--baseline", "apache", "--delta", "2%", "--brief")
    return place


def call(*words: object) -> Result:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit | BakeoffError):
        raise done.exception
    return done


@pytest.mark.parametrize(
    "name", [f"{one}.{form}" for one in ("demo", "turned") for form in ("html", "pdf", "md", "txt")]
)
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
    assert done.exit_code == 1 and "difference" in done.output.splitlines()[-1]
    is_reported = "demo.bakeoff, seal" in done.output and "other.bakeoff has the seal" in done.output
    assert is_reported == (name != "demo.txt"), "text holds no run that could say its seal"


def test_what_cannot_be_compared_is_refused(folder: Path, tmp_path: Path) -> None:
    for words in (
        (folder / "demo.bakeoff", folder / "demo.bakeoff"),
        (tmp_path / "missing.html", folder / "demo.bakeoff"),
        (folder / "demo.html", tmp_path / "missing.bakeoff"),
    ):
        assert isinstance(call("verify", *words).exception, BakeoffError)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    assert isinstance(call("verify", tmp_path / "broken.pdf", folder / "demo.bakeoff").exception, BakeoffError)


def test_what_is_hidden_from_readers_or_added_in_a_comment_is_found(folder: Path, tmp_path: Path) -> None:
    page = (folder / "demo.html").read_text()
    at = page.index('<section id="audits"')
    end = page.index("</section>", at) + len("</section>")
    section = page[at:end]
    for number, changed in enumerate(
        (
            section.replace("<section ", "<section hidden ", 1),
            f"<template>{section}</template>",
            f"<dialog>{section}",
            f"<!--> all of it is right -->{section}",
            f"<![CDATA[ all of it is right ]]>{section}",
            f"<![foo[ all of it is right ]]>{section}",
            f"<?pi all of it is right >{section}",
        )
    ):
        assert changed != section
        (tmp_path / f"{number}.html").write_text(page[:at] + changed + page[end:])
        assert call("verify", tmp_path / f"{number}.html", folder / "demo.bakeoff").exit_code == 1, changed[:40]


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_noise_floor_is_held_against_its_run_or_said_not_to_be(folder: Path, tmp_path: Path, form: str) -> None:
    stored(aa(), tmp_path / "floor.bakeoff")
    report, floor = tmp_path / f"quoted.{form}", tmp_path / "floor.bakeoff"
    call("report", folder / "demo.bakeoff", "-o", report, "--aa", floor)
    assert call("verify", report, folder / "demo.bakeoff", "--aa", floor).exit_code == 0
    done = call("verify", report, folder / "demo.bakeoff")
    if form == "html":
        assert done.exit_code == 0, "a page holds the A/A run itself"
    else:
        assert done.exit_code == 2 and "name that A/A run by --aa" in done.output
    stored(aa(spread=0.05), tmp_path / "another.bakeoff")
    assert call("verify", report, folder / "demo.bakeoff", "--aa", tmp_path / "another.bakeoff").exit_code == 1
