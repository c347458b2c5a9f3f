"""Contenders are called as the author calls them: in text by a name with spaces, in tables by a short one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.tree import Chart, Report, Table
from bakeoff.report.compose import compose
from bakeoff.report.paper.display_names import with_names
from bakeoff.report.renderers.html import render_html
from tests.unit.compare.synthetic import run


def called(**names: dict[str, str]) -> Report:
    record = run()
    tables: dict[str, Any] = {"contenders": names}
    return with_names(compose(record, compare_run(record)), paper_of(tables))


def test_long_names_stand_in_text_and_short_ones_in_tables_and_drawings() -> None:
    report = called(apache={"title": "Cobalt Qube 2", "short": "Qube 2"})
    assert report.title == "nginx against Cobalt Qube 2" and "Cobalt Qube 2" in report.headline[0]
    assert report.contenders == ("nginx", "Qube 2")
    blocks = [block for section in report.sections for block in section.blocks]
    rows = [cell for block in blocks if isinstance(block, Table) for row in block.rows for cell in row]
    assert "Qube 2 ÷ nginx" in rows and not any(cell == "apache" for cell in rows)
    chart = next(block for block in blocks if isinstance(block, Chart))
    drawn = json.dumps(chart.spec, default=str)
    assert '"Qube 2"' in drawn and '"apache"' not in drawn
    page = render_html(report)
    assert "Cobalt Qube 2" in page.partition("<main>")[0] and "Qube 2" in page.partition("<main>")[2]


def test_what_only_looks_like_a_name_stays() -> None:
    report = called(apache={"title": "The Qube"}, nginx={"title": "Box"})
    facts = [value for section in report.sections for block in section.blocks for value in [getattr(block, "text", "")]]
    assert report.embedded["comparison"]["contenders"][1]["name"] == "apache", "data has the names of the plan"
    assert not any("The Qube.conf" in text or "/Box" in text for text in facts)


def test_two_may_not_be_called_alike() -> None:
    with pytest.raises(PlanError, match="two are called 'nginx'"):
        called(apache={"title": "nginx"})
