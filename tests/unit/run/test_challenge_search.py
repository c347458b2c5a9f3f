"""A search for capacities is challenged as a run is: the plan is searched again beside those who answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.compare.collections.challenge_model import Searched
from bakeoff.run.driver import start_run
from bakeoff.store.records.run_records import FOUND
from bakeoff.store.sqlite.read import read_run
from tests.unit.run.fake import Notebook, serving
from tests.unit.run.virtual_agent import VirtualAgent, books, limited, search_plan

__all__ = ["books"]
pytestmark = pytest.mark.usefixtures("books")
PAGES = {"": b"page"}


def test_a_search_is_carried_out_again_for_the_challenger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(PAGES) as one, serving(PAGES) as two, serving(PAGES) as three:
        able = ((one, 1000.0), (two, 900.0), (three, 1300.0))
        agent = VirtualAgent({site.address.rpartition(":")[2]: limited(per_s) for site, per_s in able})
        monkeypatch.setattr("bakeoff.agents.make.make_agent", lambda *_: agent)
        first, report, new = tmp_path / "first.bakeoff", tmp_path / "first.html", tmp_path / "new.bakeoff"
        start_run(search_plan(one.address, two.address, blocks=6), first, [agent], Notebook())
        assert CliRunner().invoke(app, ["report", str(first), "-o", str(report)]).exit_code == 0
        page = tmp_path / "new.html"
        words = ["challenge", str(report), f"mine={three.address}", "-o", str(new), "--trust", "--report", str(page)]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    run, made = read_run(new), compare_run(read_run(new))
    assert [c.name for c in run.contenders] == ["a", "b", "mine"] and {s.outcome for s in run.searches} == {FOUND}
    assert len(run.searches) == 18 and run.plan["capacity"] == read_run(first).plan["capacity"]
    assert made.ranking[0].contender == "mine" and made.challenge is not None and made.challenge.again == ("a", "b")
    assert not made.challenge.ratios and made.challenge.why_none == Searched()
    assert CliRunner().invoke(app, ["verify", str(page)]).exit_code == 0
