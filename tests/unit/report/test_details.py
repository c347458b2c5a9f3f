"""What explains a verdict and what shows that it holds: a terminal names it, and `--details` shows it."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Chart, Table
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Depth
from bakeoff.report.renderers.terminal import show
from tests.unit.compare.synthetic import FAST, SLOW, Server, run

FOUR = (FAST, SLOW, replace(FAST, name="twin"), replace(SLOW, name="caddy"))


@pytest.mark.parametrize(("servers", "most"), [((FAST, SLOW), 40), (FOUR, 80)])
def test_a_comparison_is_a_page_and_none_of_its_tables_is_lost(servers: tuple[Server, ...], most: int) -> None:
    record = run(servers=servers, load_steps=(1, 8, 32))
    report = compose(record, compare_run(record), depth=Depth.DETAILS)
    blocks = [b for s in report.sections for b in s.blocks if b.depth <= Depth.DETAILS]
    tables = [(b, b) for b in blocks if isinstance(b, Table)]
    tables += [(b, b.plain or b.table) for b in blocks if isinstance(b, Chart)]
    details = {b.title.partition(" (")[0] for b, table in tables if table.folded or b.depth == Depth.DETAILS}
    texts = {}
    for depth in (Depth.COMPARISON, Depth.DETAILS):
        stream = StringIO()
        show(report, Console(file=stream, width=80 if depth == Depth.COMPARISON else 400), depth)
        texts[depth] = stream.getvalue()
    page, whole = texts[Depth.COMPARISON], texts[Depth.DETAILS]
    assert len(page.splitlines()) <= most
    assert f"--details shows {len(details)} more tables: Secondary endpoints to Audits" in " ".join(page.split())
    titles = " ".join(whole.split())
    assert all(title in titles for title in details) and "--details" not in whole
    assert "Verdicts" in page and ("Ranking" in page) == (len(servers) > 2)
