"""The section on factors, in every form, and of runs that search capacities."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.blocks.tree import Chart, Report, Section, Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.layout.brief import brief
from bakeoff.report.narrate.figures.factors import factor_sentences
from bakeoff.report.renderers import FORMS, renderer
from bakeoff.report.sections.result import factors
from bakeoff.run.driver import start_run
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.unit.compare.designs import design
from tests.unit.compare.synthetic import run
from tests.unit.compare.test_factors import dead, joined, plain
from tests.unit.run.fake import Notebook, serving
from tests.unit.run.virtual_agent import VirtualAgent, books, limited, search_plan

__all__ = ["books"]


def reported_in(found: Comparison) -> list[str]:
    assert found.factors is not None
    return [one.text for one in factor_sentences(found.factors, found.measures[0], found.run.delta)]


def section_of(report: Report) -> Section:
    (found,) = (section for section in report.sections if section.id == "factors")
    return found


def report_of(record: RunRecord) -> Report:
    return compose(record, compare_run(record))


def test_every_form_tells_the_effects() -> None:
    report = report_of(design(joined))
    report = replace(report, sections=(section_of(report),), embedded={})
    for name in FORMS:
        made = renderer(name).render(report, "r")
        assert made.startswith(b"%PDF") if name == "pdf" else "Effects of the factors" in made.decode()
    tables = {block.title: block for block in section_of(report).blocks if isinstance(block, Table)}
    effects = tables["Effects of the factors"]
    assert [row[0] for row in effects.rows] == [
        "effect of server (apache ÷ nginx)",
        "effect of raid (0 ÷ 5)",
        "server × raid: server apache ÷ server nginx, raid 0 ÷ raid 5",
    ]
    assert effects.rows[2][3] == "depend on each other"
    where = [(row[0], row[1]) for row in tables["Effects by the other factors"].rows]
    assert ("effect of raid (0 ÷ 5)", "server apache") in where and len(where) == 4
    assert [column.title for column in tables["Effects at each load step (clients)"].columns] == ["Effect", "1", "4"]


def test_the_pictures_have_what_the_tables_have() -> None:
    blocks = section_of(report_of(design(joined))).blocks
    charts = {block.id: block for block in blocks if isinstance(block, Chart)}
    assert set(charts) == {"chart-factors", "chart-factors-1"}
    rows = charts["chart-factors"].spec["datasets"]["rows"]
    assert [(row["effect"], row["contender"], row["shown"]) for row in rows][1:] == [
        ("effect of raid (0 ÷ 5)", "main effect", True),
        ("server × raid", "interaction", True),
    ]
    lines = charts["chart-factors-1"].spec["datasets"]["rows"]
    assert {(row["contender"], row["level"]) for row in lines} == {
        (f"server {s}", r) for s in ("nginx", "apache") for r in "50"
    }
    assert charts["chart-factors-1"].table.rows[0][1] == "1.00×"


def test_what_cannot_be_estimated_stands_in_the_open() -> None:
    report = report_of(dead(design(plain), "apache-0"))
    warned = [
        block.text for block in section_of(report).blocks if isinstance(block, Text) and block.severity == "warning"
    ]
    assert any(text.startswith("apache-0 forfeited") for text in warned)
    assert "Cannot be estimated: the interaction of server and raid." in warned
    short = brief(report)
    assert any("apache-0 forfeited" in block.text for block in section_of(short).blocks if isinstance(block, Text))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (design(joined), r"Holm over these (\d+) together\."),
        (dead(design(plain), "apache-0"), r"Holm over the (\d+) of these that can be estimated\."),
    ],
    ids=["whole", "dead"],
)
def test_holm_is_said_to_count_what_it_counts(record: RunRecord, words: str) -> None:
    found = compare_run(record)
    assert found.factors is not None
    estimated = [effect for effect in found.factors.explaining if effect.estimated]
    assert max(effect.p_adjusted / effect.p_t for effect in estimated) <= len(estimated) * (1 + 1e-9)
    tables = [block for block in section_of(compose(record, found)).blocks if isinstance(block, Table)]
    (note,) = (table.note for table in tables if table.title == "Effects on the other figures")
    match = re.search(words, note)
    assert match is not None and int(match[1]) == len(estimated), note


def test_a_picture_of_the_first_effects_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "MOST", 2)
    blocks = section_of(report_of(design(joined))).blocks
    (chart,) = (block for block in blocks if isinstance(block, Chart) and block.id == "chart-factors")
    words = "the first 2 of 3 main effects and interactions"
    assert words in chart.description and chart.spec["title"]["subtitle"].startswith(words)
    assert len(chart.table.rows) == 2


def test_runs_without_factors_have_no_such_section() -> None:
    assert "factors" not in {section.id for section in report_of(run(blocks=2)).sections}


@pytest.mark.usefixtures("books")
def test_effects_on_capacities(tmp_path: Path) -> None:
    with serving({"": b"page"}) as one, serving({"": b"page"}) as two:
        rates = {one.address.rpartition(":")[2]: limited(1000.0), two.address.rpartition(":")[2]: limited(1400.0)}
        plan = search_plan(one.address, two.address, least="300", repeats="1")
        start_run(plan, tmp_path / "x.bakeoff", [VirtualAgent(rates)], Notebook())
    record = read_run(tmp_path / "x.bakeoff")
    contenders = [
        {**one, "levels": {"raid": level}} for one, level in zip(record.plan["contenders"], "50", strict=True)
    ]
    factors = [{"name": "raid", "levels": ["5", "0"]}]
    record = replace(record, plan={**record.plan, "contenders": contenders, "factors": factors})
    found = compare_run(record)
    assert found.factors is not None
    (effect,) = found.factors.effects
    assert effect.metric == "capacity" and effect.ratio == pytest.approx(1.4, rel=0.03)
    assert reported_in(found)[0].startswith("raid 0 carried 1.") and "the load of raid 5" in reported_in(found)[0]
    assert renderer("html").render(compose(record, found), "r")
