"""What a search is in a report: what was found, how, and response times at shares of it; in every renderer."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bakeoff.compare import compare_run
from bakeoff.compare.limits.capacity_model import ContenderCapacity, ShareMet
from bakeoff.report.blocks.tree import Chart, Table
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_dict
from bakeoff.report.narrate.figures.capacity import capacity_text
from bakeoff.report.narrate.json_schema import json_schema
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.renderers import FORMS, renderer
from bakeoff.run.driver import start_run
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.unit.report.test_pdf import pages
from tests.unit.run.fake import Notebook, serving
from tests.unit.run.virtual_agent import VirtualAgent, books, limited, search_plan

__all__ = ["books"]
pytestmark = pytest.mark.usefixtures("books")


@pytest.fixture
def run(tmp_path: Path) -> RunRecord:
    with serving({"": b"page"}) as one, serving({"": b"page"}) as two:
        rates = {one.address.rpartition(":")[2]: limited(1000.0), two.address.rpartition(":")[2]: limited(1400.0)}
        plan = search_plan(one.address, two.address, least="300", repeats="1")
        start_run(plan, tmp_path / "x.bakeoff", [VirtualAgent(rates)], Notebook())
    return read_run(tmp_path / "x.bakeoff")


def test_a_report_draws_the_search_and_says_what_was_found(run: RunRecord) -> None:
    report = compose(run, compare_run(run))
    (section,) = (section for section in report.sections if section.id == "capacity")
    assert section.title == "Capacity under p99<=20ms,errors<=0.1%"
    tables = {block.title: block for block in section.blocks if isinstance(block, Table)}
    assert [row[0] for row in tables["Capacities"].rows] == ["a", "b"]
    shares = tables["Response time at shares of the capacity"]
    assert [row[0] for row in shares.rows] == ["50 %", "95 %", "105 %"]
    assert [row[-1] for row in shares.rows] == ["1 of 1", "1 of 1", "0 of 1"]
    charts = {block.id: block for block in section.blocks if isinstance(block, Chart)}
    probes = sum(trial.purpose == "search" for trial in run.trials)
    path = charts["chart-search"].spec["datasets"]
    assert sum(len(rows) for name, rows in path.items() if name.startswith("probes")) == probes
    last = [row for row in path["bounds0"] if row["probe"] == max(r["probe"] for r in path["bounds0"])]
    met, missed = (next(row["load"] for row in last if row["side"] == side) for side in ("met", "missed"))
    assert met < 1010 and missed > 990 and (missed - met) / missed < 0.011
    assert {"rates", "ratios", "fairness", "offered"}.isdisjoint(section.id for section in report.sections)
    every = next(section for section in report.sections if section.id == "trials")
    assert isinstance(every.blocks[0], Table) and len(every.blocks[0].rows) == len(run.trials)


def test_every_renderer_can_tell_a_search(run: RunRecord) -> None:
    report = compose(run, compare_run(run))
    for name in FORMS:
        made = renderer(name)
        made.prepare()
        rendered = made.render(report, "report")
        text = " ".join(pages(rendered)) if name == "pdf" else rendered.decode()
        assert "Capacities" in text and "no verdict" in text, name


def test_the_comparison_is_json(run: RunRecord) -> None:
    plain = to_dict(compare_run(run))
    Draft202012Validator(json_schema()).validate(plain)
    assert plain["capacity"]["objective"] == "p99<=20ms,errors<=0.1%"
    found = {c["name"]: c["capacity"] for c in plain["capacity"]["contenders"]}
    assert found["a"] == pytest.approx(1000.0, rel=0.02) and found["b"] == pytest.approx(1400.0, rel=0.02)
    assert plain["run"]["load_steps"] == [0.5, 0.95, 1.05]


def test_loads_are_told_as_whole_numbers_where_they_are() -> None:
    found = ContenderCapacity("a", 6, 64.0, 60.0, 68.5, 1, 0, 0, 0, (), None, (ShareMet(0.5, 6, 6),))
    assert capacity_text(found, "clients") == "at least 64 clients (95 % 60 – 68.50)"
    assert capacity_text(replace(found, capacity=math.nan, low=math.nan, blocks=0), "clients") == "none found"


def sent_by(run: RunRecord, names: str, *, contender: str, least_order: int = 0) -> RunRecord:
    """The same, whose trials of a contender from that one on were sent by these machines, a letter each."""
    trials = tuple(
        replace(trial, per_agent=tuple(replace(trial.per_agent[0], agent=name) for name in names))
        if trial.contender == contender and trial.order >= least_order
        else trial
        for trial in run.trials
    )
    return replace(run, trials=trials)


def test_capacities_that_other_machines_found_are_listed_and_compared_with_none(run: RunRecord) -> None:
    same_machines = sent_by(sent_by(run, "xyz", contender="a"), "xyz", contender="b")
    texts = [sentence(left.reason) for left in compare_run(same_machines).left_out]
    without = [sentence(left.reason) for left in compare_run(sent_by(same_machines, "xy", contender="b")).left_out]
    assert not any("machines were lost" in reason for reason in texts)
    (met,) = {search.met for search in run.searches if search.contender == "a"}
    assert any("x, y" in reason and "x, y, z" in reason for reason in set(without) - set(texts))
    changed = compare_run(sent_by(same_machines, "xy", contender="a", least_order=met or 0)).left_out
    assert any(sentence(left.reason).startswith("searched by ") and left.contender == "a" for left in changed)
