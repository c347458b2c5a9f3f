"""The editions of a report, by name."""

from __future__ import annotations

from bakeoff.report.blocks.tree import Report
from bakeoff.report.embed.report_options import Edition
from bakeoff.report.layout.brief import brief
from bakeoff.report.layout.standard import standard


def in_edition(report: Report, edition: Edition) -> Report:
    """The whole `report`, or what of it stands in that edition."""
    if edition == "brief":
        return brief(report)
    return standard(report) if edition == "standard" else report
