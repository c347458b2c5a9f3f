"""Several test beds in one paper: each chapter says where it was measured, and each bed is drawn and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.collections.campaign import Measured, compare_campaign
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.tree import Chart, Report, Section, Table, Text
from bakeoff.report.collections.campaign import compose_campaign
from bakeoff.report.compose import compose
from bakeoff.report.paper.authored import with_paper
from bakeoff.report.paper.testbed import Generators
from bakeoff.report.renderers import renderer
from bakeoff.store.collections.campaign import FORMAT, CampaignFolder, StoredCampaign, StoredSuiteRun
from bakeoff.store.records.run_records import AgentRecord
from tests.unit.compare.synthetic import run

FIELDS = {"location": "Hall 2", "tested_by": "B"}


def bed(client: str, *measured: str, **fields: str) -> dict[str, Any]:
    machines = [{"name": client, "role": "generator"}, {"name": f"{client}-server", "role": "server"}]
    links = [{"ends": [client, f"{client}-server"], "speed": "1 Gbit/s"}]
    return {"machines": machines, "links": links, **({"measured": list(measured)} if measured else {}), **fields}


def places(*names: str) -> dict[str, Generators]:
    return {name: Generators([AgentRecord(f"client of {name}", {})], [("nginx", "http://192.0.2.1")]) for name in names}


def campaign() -> tuple[Report, dict[str, Any]]:
    one = run(blocks=6)
    two = replace(one, plan={**one.plan, "delta": 0.02})
    runs = {"web": one, "again": two}
    names = tuple(contender.name for contender in one.contenders)
    found = compare_campaign("lab", "Lab", names, [Measured(name, 1.0, of) for name, of in runs.items()])
    suite_runs = tuple(StoredSuiteRun(name=name, file=f"{name}.bakeoff", weight=1.0, plan={}) for name in runs)
    stored = StoredCampaign(format=FORMAT, name="lab", title="Lab", seed=1, contenders=names, suite_runs=suite_runs)
    folder = CampaignFolder(Path("lab.bakeoff"), stored, runs, {})
    made = compose_campaign(found, folder, (("Campaign", "lab"), ("Folder", "lab")))
    return made, {suite.name: suite.comparison for suite in found.suites}


def with_beds(tables: dict[str, Any]) -> Report:
    made, comparisons = campaign()
    return with_paper(made, paper_of(tables), comparisons, places("web", "again"))


def firsts(report: Report) -> dict[str, str]:
    """What the first section of each chapter says first."""
    found: dict[str, str] = {}
    for section in report.sections:
        if section.chapter:
            found.setdefault(section.chapter, getattr(section.blocks[0], "text", ""))
    return found


def disclosed(report: Report) -> Section:
    (section,) = [one for one in report.sections if one.id == "author-disclosure"]
    return section


def test_each_chapter_says_on_which_bed_it_was_measured_and_each_bed_is_drawn() -> None:
    report = with_beds(
        {"testbeds": {"north": bed("pc", "web", **FIELDS), "south": bed("box", "again", location="Bonn")}}
    )
    assert firsts(report) == {
        "web": "Measured on test bed north, as the author states.",
        "again": "Measured on test bed south, as the author states.",
    }
    blocks = disclosed(report).blocks
    charts = [block for block in blocks if isinstance(block, Chart)]
    assert [(c.id, c.title) for c in charts] == [
        ("chart-testbed-1", "Test bed north (web)"), ("chart-testbed-2", "Test bed south (again)"),
    ]  # fmt: skip
    assert "pc to pc-server" in charts[0].description and "box to box-server" in charts[1].description
    (table,) = [b for b in blocks if isinstance(b, Table) and b.title == "What differs between the test beds"]
    assert [column.title for column in table.columns] == ["Item", "north (web)", "south (again)"]
    assert ("Where it was tested", "Hall 2", "Bonn") in table.rows


def test_what_no_bed_names_was_measured_on_the_general_one_or_nobody_knows_where() -> None:
    two = {"testbeds": {"north": bed("pc", "web")}}
    assert firsts(with_beds(two))["again"] == "Measured on a test bed that is not disclosed."
    general = two | {"testbed": bed("box")}
    assert firsts(with_beds(general))["again"] == "Measured on test bed unnamed, as the author states."


def test_one_test_bed_is_told_as_ever() -> None:
    report = with_beds({"testbed": bed("pc", **FIELDS)})
    assert not any("Measured on" in text for text in firsts(report).values())
    assert [b.id for b in disclosed(report).blocks if isinstance(b, Chart)] == ["chart-testbed"]


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"testbeds": {"north": bed("pc", "wep")}}, "'wep' is nothing of this report: did you mean 'web'"),
        ({"testbeds": {"north": bed("pc", "web"), "south": bed("box", "web")}}, "stands in .testbeds.north. as well"),
        ({"testbeds": {"north": bed("pc")}}, "says not what was measured on it"),
        ({"testbed": bed("pc", "web")}, "stands in .testbeds.NAME. alone"),
        ({"testbeds": {"north": bed("pc", "web") | {"places": "x"}}}, "unknown key 'places'"),
    ],
)
def test_beds_that_cannot_be_are_refused(tables: dict[str, Any], why: str) -> None:
    with pytest.raises(PlanError, match=why):
        with_beds(tables)


def test_run_files_of_one_suite_name_their_beds_by_letter_and_a_single_run_needs_none() -> None:
    comparison = compare_run(run())
    report = compose(run(), comparison)
    one = with_paper(
        report,
        paper_of({"testbeds": {"north": bed("pc", "web-static")}}),
        {"web-static": comparison},
        places("web-static"),
    )
    (overview,) = [section for section in one.sections if section.id == "overview"]
    first = overview.blocks[0]
    assert isinstance(first, Text) and first.text == "web-static: measured on test bed north, as the author states."


@pytest.mark.parametrize("form", ["markdown", "html", "terminal"])
def test_two_beds_are_shown_in_every_form(form: str) -> None:
    report = with_beds({"testbeds": {"north": bed("pc", "web"), "south": bed("box", "again")}})
    text = renderer(form).render(report, "r").decode()
    assert "Measured on test bed north" in text
    # Terminals leave disclosure to pages.
    assert ("Test bed south (again)" in text) == (form != "terminal")
