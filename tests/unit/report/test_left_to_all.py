"""Tables of single pairs: with many contenders a terminal names them, and `--all` shows them."""

from dataclasses import replace
from io import StringIO

from rich.console import Console

from bakeoff.compare import compare_run
from bakeoff.report.blocks import Table
from bakeoff.report.compose import compose
from bakeoff.report.depth import Depth
from bakeoff.report.renderers.terminal import show
from tests.unit.compare.synthetic import FAST, SLOW, run


def test_tables_that_a_page_folds_are_named_and_none_is_lost() -> None:
    record = run(servers=(FAST, SLOW, replace(FAST, name="twin"), replace(SLOW, name="caddy")))
    report = compose(record, compare_run(record), depth=Depth.COMPARISON)
    shown = [b for s in report.sections for b in s.blocks if b.depth <= Depth.COMPARISON]
    folded = [b.title for b in shown if isinstance(b, Table) and b.folded]
    texts = {}
    for whole in (False, True):
        stream = StringIO()
        show(report, Console(file=stream, width=200), Depth.COMPARISON, whole)
        texts[whole] = stream.getvalue()
    assert len(folded) == 7, "the secondary endpoints, and each of six pairs"
    assert f"--all shows {len(folded)} more tables: Secondary endpoints … caddy ÷ twin at each mix" in texts[False]
    assert all(title in texts[True] and title not in texts[False] for title in folded[1:])
    assert "--all" not in texts[True] and "Ranking" in texts[False] and "Verdicts" in texts[False]
    assert len(texts[False].splitlines()) + 5 * len(folded) < len(texts[True].splitlines())
