"""`bakeoff plan … --power` of campaigns and suites: what is printed, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.store.collections.campaign import FORMAT, StoredCampaign, StoredSuiteRun, write_campaign
from bakeoff.store.sqlite.canonical import plan_hash
from tests.unit.compare.test_power_suites import RESTLESS, STEADY
from tests.unit.store.builders import stored

CAMPAIGN = """
[campaign]
title = "Two small servers"
blocks = 6
[[contender]]
name = "blue"
web = "http://127.0.0.1:1"
[[contender]]
name = "red"
web = "http://127.0.0.1:2"
[[suite]]
suite = "web-static"
[[suite]]
suite = "web-dynamic"
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A campaign's file, and the folder of a campaign that is its pilot."""
    (tmp_path / "lab.toml").write_text(CAMPAIGN)
    folder = tmp_path / "pilot.bakeoff"
    folder.mkdir()
    runs = {run.suite: replace(run, plan_hash=plan_hash(run.plan)) for run in (STEADY, RESTLESS)}
    suite_runs = tuple(
        StoredSuiteRun(name=name, file=f"{name}.bakeoff", weight=1.0, plan=run.plan) for name, run in runs.items()
    )
    planned = StoredCampaign(
        format=FORMAT, name="lab", title="Lab", seed=1, contenders=("blue", "red"), suite_runs=suite_runs
    )
    write_campaign(folder, planned)
    for name, run in runs.items():
        stored(run, folder / f"{name}.bakeoff")
    return tmp_path


def output_of(*words: object) -> str:
    outcome = CliRunner().invoke(app, ["plan", *map(str, words)], catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome.output


def test_a_campaign_is_told_how_many_blocks_and_hours_it_needs(lab: Path) -> None:
    words = (lab / "lab.toml", "--power", lab / "pilot.bakeoff")
    text = output_of(*words)
    assert "How many blocks Two small servers needs" in text and "web-dynamic needs the most" in text
    assert "Holm over the 2 pairs of all suites" in text and "tests at 2.25 %" in text
    found = json.loads(output_of(*words, "--json"))
    assert found["schema"] == "bakeoff-campaign-power/1" and found["family"] == 2
    assert [suite["name"] for suite in found["suites"]] == ["web-static", "web-dynamic"]
    assert found["needs"][0]["blocks"] >= 6 and found["needs"][0]["own_duration_s"] > 0.0


def test_run_files_of_its_suites_are_pilots_of_a_campaign(lab: Path) -> None:
    files = [lab / "pilot.bakeoff" / f"{suite}.bakeoff" for suite in ("web-static", "web-dynamic")]
    one = output_of(lab / "lab.toml", "--power", files[0])
    assert "web-dynamic: no pilot of web-dynamic, so it has no forecast" in one
    both = json.loads(output_of(lab / "lab.toml", "--power", files[0], "--power", files[1], "--json"))
    assert all(suite["power"] is not None for suite in both["suites"])


def test_a_suite_by_itself_takes_its_pilot_from_a_campaign(lab: Path) -> None:
    words = ("blue=http://127.0.0.1:1", "red=http://127.0.0.1:2", "--power", lab / "pilot.bakeoff", "--json")
    found = json.loads(output_of("web-dynamic", *words))
    assert found["pilot"] == "web-dynamic.bakeoff" and found["series"][0]["alpha"] == pytest.approx(0.045)
    with pytest.raises(PlanError, match="has no run of web-url"):
        output_of("web-url", *words)


def test_a_plan_by_itself_is_told_without_suites(lab: Path) -> None:
    words = (
        "blue=http://127.0.0.1:1",
        "red=http://127.0.0.1:2",
        "--power",
        lab / "pilot.bakeoff" / "web-static.bakeoff",
    )
    text = output_of("web-static", *words)
    assert "How many blocks web-static needs, by the spread of web-static.bakeoff (" in text
    assert "tests at 4.5 %" in text and "(assumed) " in text
    assert not any(word in text for word in ("In each suite", "own", "all suites", "[[suite]]"))
