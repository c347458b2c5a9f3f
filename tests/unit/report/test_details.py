"""What explains a verdict and what shows that it holds: a terminal names it, and `--details` shows it."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Chart, Table
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.renderers.terminal import show
from tests.unit.compare.synthetic import FAST, SLOW, Server, run

FOUR = (FAST, SLOW, replace(FAST, name="twin"), replace(SLOW, name="caddy"))


@pytest.mark.parametrize(("servers", "most"), [((FAST, SLOW), 40), (FOUR, 80)])
def test_a_comparison_is_a_page_and_none_of_its_tables_is_lost(servers: tuple[Server, ...], most: int) -> None:
    record = run(servers=servers, load_steps=(1, 8, 32))
    report = compose(record, compare_run(record), detail=Detail.DETAILS)
    blocks = [b for s in report.sections for b in s.blocks if b.detail <= Detail.DETAILS]
    tables = [(b, b) for b in blocks if isinstance(b, Table)]
    tables += [(b, b.plain or b.table) for b in blocks if isinstance(b, Chart)]
    details = {b.title.partition(" (")[0] for b, table in tables if table.folded or b.detail == Detail.DETAILS}
    texts = {}
    for detail in (Detail.COMPARISON, Detail.DETAILS):
        stream = StringIO()
        show(report, Console(file=stream, width=80 if detail == Detail.COMPARISON else 400), detail)
        texts[detail] = stream.getvalue()
    page, whole = texts[Detail.COMPARISON], texts[Detail.DETAILS]
    assert len(page.splitlines()) <= most
    assert f"--details shows {len(details)} more tables: Secondary endpoints to Audits" in " ".join(page.split())
    titles = " ".join(whole.split())
    assert all(title in titles for title in details) and "--details" not in whole
    assert "Verdicts" in page and ("Ranking" in page) == (len(servers) > 2)
