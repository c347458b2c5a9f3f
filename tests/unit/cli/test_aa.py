"""`bakeoff aa`: its words, and what is refused before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.cli.measure import aa
from bakeoff.core.errors import PlanError
from bakeoff.plan.load import PlanInput


@pytest.fixture
def carried_out(monkeypatch: pytest.MonkeyPatch) -> list[tuple[PlanInput, Path]]:
    asked: list[tuple[PlanInput, Path]] = []
    monkeypatch.setattr(aa, "carry_out", lambda given, path, _cluster: asked.append((given, path)))
    return asked


@pytest.mark.parametrize("words", [["web=http://h:1", "web-static"], ["web-static", "web=http://h:1"]])
def test_one_server_becomes_two_contenders_of_twelve_blocks(words: list[str], carried_out: list[Any]) -> None:
    outcome = CliRunner().invoke(app, ["aa", *words, "--length", "3s"], catch_exceptions=False)
    assert outcome.exit_code == 0
    ((given, path),) = carried_out
    assert given.contenders == [
        {"name": "web", "address": "http://h:1"},
        {"name": "web-again", "address": "http://h:1"},
    ]
    assert given.plan["blocks"] == 12 and given.settings == {"length": "3s"}
    assert path.name.startswith("aa-web-static-") and path.suffix == ".bakeoff"


def test_blocks_that_are_asked_for_stay(carried_out: list[Any]) -> None:
    CliRunner().invoke(app, ["aa", "w=http://h:1", "web-static", "--blocks", "20"], catch_exceptions=False)
    assert carried_out[0][0].plan["blocks"] == "20"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["w=http://h:1"], "name the suite whose noise to measure, such as bakeoff aa w=http://h:1 web-static"),
        (["web-static"], "one contender is measured against itself, not 0"),
        (["web-static", "a=http://h:1", "b=http://h:2"], "one contender is measured against itself, not 2"),
    ],
)
def test_what_is_no_a_a_run_is_refused_in_a_sentence(words: list[str], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        CliRunner().invoke(app, ["aa", *words], catch_exceptions=False, standalone_mode=False)
