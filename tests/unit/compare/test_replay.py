"""The table of paths of a replay, and what is compared of it."""

import math
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.kind import compare_part
from bakeoff.kinds.replay.compare import MOST_ASKED, ReplaySummary
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.warned import warnings_of
from tests.unit.store.test_figures import path_row, record_of


def rows(count: int, **changes: Any) -> dict[str, Any]:
    """Figures of a trial with so many paths of their own."""
    made = [{**path_row(f"GET /{n}"), **changes} for n in range(count)]
    return {"paths": {"rows": made, "others": {"paths": 9, "sum": path_row("other paths")}}}


def test_rows_are_summed_over_blocks_and_percentiles_are_their_geometric_mean() -> None:
    record = record_of("replay", rows(MOST_ASKED + 2))
    comparison = compare_run(record)
    own = comparison.own
    assert isinstance(own, ReplaySummary)
    table = next(table for table in own.paths if table.contender == "nginx" and table.trials)
    assert (len(table.most_asked), len(table.longest), table.other_paths) == (MOST_ASKED, 2, 9)
    first = table.most_asked[0]
    assert (first.asked, first.answered) == (80 * table.trials, 70 * table.trials)
    assert (first.p50_ns, first.p99_ns) == pytest.approx((1e6, 9e6))
    assert (first.logged_status, first.got_status, first.errors) == (200, 404, {"refused": table.trials})
    page = compose(record, comparison, detail=Detail.PAGE)
    assert "paths" in {section.id for section in page.sections}
    assert any("status that does not fit the log's" in warning.text for warning in warnings_of(comparison))


def test_only_what_the_log_chose_is_compared() -> None:
    record = record_of("replay", rows(MOST_ASKED + 2))
    base = record.trials[0]
    one, other = (replace(base, workload=rows(MOST_ASKED + 2, time_s=t, answered=100)) for t in (1.0, 2.0))
    explored = list(compare_part("replay").explored(one, other))
    assert {name for name, metric, _ in explored if metric == "mean"} == {f"GET /{n}" for n in range(MOST_ASKED)}
    assert all(value == pytest.approx(math.log(2.0)) for _, metric, value in explored if metric == "mean")
