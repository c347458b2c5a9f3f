"""What qualifies the figures and need not be known before they are read."""

from __future__ import annotations

from bakeoff.report.blocks.tree import Section, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate.warned import warnings_of


@report_section("notes", detail=Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """The warnings that do not stand above the result, each once; in a chapter those of its suite alone."""
    notes = [w for w in warnings_of(context.comparison) if not w.first and w.text not in context.elsewhere]
    blocks = tuple(Text(w.text, "warning", w.advice, Detail.SUMMARY) for w in notes)
    return Section("Notes on the measurement", blocks) if blocks else None
