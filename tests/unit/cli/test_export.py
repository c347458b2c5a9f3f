"""What `bakeoff export` writes, and what it leaves alone."""

import importlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters import EXPORTERS
from bakeoff.formats.exporters.base import Exporter
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored


class Names(Exporter):
    """A format of names alone."""

    name, suffix, summary = "names", ".names", "names of contenders"

    def content(self, run: RunRecord, table: str | None = None) -> str:
        return "".join(f"{contender.name}\n" for contender in run.contenders)


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    importlib.import_module("bakeoff.cli.share.export")  # its help lists the formats that there are when it is loaded
    monkeypatch.setitem(EXPORTERS, "names", Names())
    return ["export", str(stored(run(blocks=1), tmp_path / "x.bakeoff")), "--to", "names"]


@pytest.mark.parametrize("where", [[], ["-o"]])
def test_a_file_that_is_there_is_replaced_by_force_alone(words: list[str], where: list[str], tmp_path: Path) -> None:
    target = tmp_path / ("given.txt" if where else "x.names")
    words = [*words, *where, *([str(target)] if where else [])]
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    text = target.read_text()
    assert text
    target.write_text("mine")
    again = CliRunner().invoke(app, words)
    assert isinstance(again.exception, PlanError) and "--force" in str(again.exception)
    assert target.read_text() == "mine"
    assert CliRunner().invoke(app, [*words, "--force"]).exit_code == 0
    assert target.read_text() == text


def test_the_run_file_is_never_the_target_and_a_device_may_be(words: list[str]) -> None:
    refused = CliRunner().invoke(app, [*words, "-o", words[1], "--force"])
    assert isinstance(refused.exception, PlanError) and "itself" in str(refused.exception)
    assert CliRunner().invoke(app, [*words, "-o", "/dev/null"]).exit_code == 0
    assert CliRunner().invoke(app, [*words, "-o", "-"]).output
