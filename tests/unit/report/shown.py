"""What a terminal shows of a run."""

from __future__ import annotations

import html
import io
import re

from rich.console import Console

from bakeoff.compare import compare_run
from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.blocks.tree import Report
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.renderers import renderer
from bakeoff.report.renderers.terminal import show
from bakeoff.store.records.run_records import RunRecord


def shown(
    record: RunRecord,
    detail: Detail = Detail.COMPARISON,
    width: int = 240,
    comparison: Comparison | None = None,
    colours: bool = False,
) -> str:
    """The text, with styles only when `colours` are wanted."""
    text = io.StringIO()
    style = "standard" if colours else None
    console = Console(file=text, width=width, highlight=False, force_terminal=colours, color_system=style)  # type: ignore[arg-type]
    show(compose(record, comparison or compare_run(record), detail=detail), console, detail)
    return text.getvalue()


def form(report: Report, name: str) -> str:
    """What a file of this ending says, without the marks of its language."""
    text = renderer(name).render(report).decode()
    return html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\\", "")
