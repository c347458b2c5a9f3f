"""The editions of a report, by name."""

from __future__ import annotations

from bakeoff.report.blocks.tree import Report
from bakeoff.report.embed.report_options import Extent
from bakeoff.report.layout.brief import brief
from bakeoff.report.layout.standard import standard


def in_extent(report: Report, extent: Extent) -> Report:
    """The whole `report`, or what of it stands in that edition."""
    if extent == "brief":
        return brief(report)
    return standard(report) if extent == "standard" else report
