"""Maps and ratios of any pair of contenders: in the open where asked for, else in folds, in every form of report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError
from bakeoff.report.blocks.tree import Chart, Report
from bakeoff.report.compose import compose
from bakeoff.report.layout.shown_pairs import ShownPairs, shown_pairs
from bakeoff.report.renderers import renderer
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import FAST, SLOW, Server, run
from tests.unit.compare.synthetic_cells import matrix_run

SIZES = [(64 << 10, 4 << 10), (64 << 10, 16 << 10), (1 << 20, 4 << 10), (1 << 20, 16 << 10)]


def three(record: RunRecord) -> RunRecord:
    """With a third contender that does as the second does."""
    second = record.contenders[1]
    third = [
        replace(t, id=t.id + 1000, order=t.order + 1000, contender="c")
        for t in record.trials
        if t.contender == second.name
    ]
    contenders = (*record.contenders, replace(second, name="c"))
    return replace(record, contenders=contenders, trials=(*record.trials, *third))


def charts_of(report: Report, pair: str) -> list[Chart]:
    return [chart for chart in report.charts() if pair in chart.title or pair in chart.description]


@pytest.fixture(scope="module")
def small() -> RunRecord:
    return three(matrix_run(lambda test, file, record: 1.2, tests=("read", "write"), sizes=SIZES))


def test_few_other_pairs_are_in_folds(small: RunRecord) -> None:
    names = [contender.name for contender in small.contenders]
    report = compose(small, compare_run(small))
    open_, folded = charts_of(report, f"{names[1]} ÷ {names[0]}"), charts_of(report, f"c ÷ {names[1]}")
    assert open_ and folded and len(open_) == len(folded), "the same maps for every pair"
    assert not any(chart.folded for chart in open_) and all(chart.folded for chart in folded)
    assert len({chart.id for chart in report.charts()}) == len(report.charts())
    asked = compose(small, compare_run(small), shown=shown_pairs([f"c,{names[1]}"], names))
    assert not any(chart.folded for chart in charts_of(asked, f"c ÷ {names[1]}"))


def test_folds_in_every_form(small: RunRecord) -> None:
    report = compose(small, compare_run(small))
    folded = [chart for chart in report.charts() if chart.folded]
    page = renderer("html").render(report, "r").decode()
    for chart in folded:
        fold = page.index(f'<details class="fold"><summary>{chart.title}</summary><figure id="{chart.id}"')
        assert "÷" in chart.title, "the title of a fold says whose it is"
        assert page.index("</figure>", fold) < page.index("</details>", page.index("</figure>", fold))
    text = renderer("markdown").render(report, "r").decode()
    assert all(f"r.figures/{chart.id}.svg" in text for chart in folded)
    assert renderer("pdf").render(report, "r").startswith(b"%PDF")


def test_many_other_pairs_are_drawn_when_asked_for() -> None:
    servers = (FAST, SLOW, *(Server(name, 20_000.0, 0.2) for name in "cde"))
    record = run(servers, load_steps=(1, 4), blocks=6)
    found = compare_run(record)
    names = [contender.name for contender in record.contenders]

    def drawn(shown: ShownPairs) -> tuple[int, int]:
        charts = [chart for chart in compose(record, found, shown=shown).charts() if chart.id.startswith("chart-ratio")]
        return sum(not chart.folded for chart in charts), sum(chart.folded for chart in charts)

    assert drawn(ShownPairs()) == (2, 0), "six other pairs are too many to be drawn unasked"
    assert drawn(shown_pairs(["c,d"], names)) == (4, 0)
    assert drawn(shown_pairs(["d,c", "all"], names)) == (4, 10)
    chosen = compose(record, found, shown=shown_pairs(["d,c"], names))
    (rate,) = (chart for chart in chosen.charts() if chart.id == "chart-ratio-rate-1")
    assert rate.title == "Requests/s: d ÷ c" and {row[1] for row in rate.table.rows} == {"d ÷ c"}


@pytest.mark.parametrize(
    ("word", "words"), [("b", "two contenders"), ("b,b", "two"), ("b,c,d", "two"), ("b,x", "no contender 'x'")]
)
def test_what_is_no_pair(word: str, words: str) -> None:
    with pytest.raises(PlanError) as refused:
        shown_pairs([word], ["b", "c", "d"])
    assert words in str(refused.value)
