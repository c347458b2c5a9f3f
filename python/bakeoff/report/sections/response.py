"""Response time against clients: mean and percentiles."""

from __future__ import annotations

from bakeoff.report.blocks import Section, Text
from bakeoff.report.context import Context
from bakeoff.report.sections.curves import curve_chart


def section(context: Context) -> Section:
    """Four charts: mean, p50, p95, p99."""
    note = (
        "Service time of successful operations in a closed loop: a client sends its next "
        "operation when the last one "
        "is done, so a slow server is also asked less often. Percentiles are taken from the full "
        "histogram of each "
        "trial; the point is the geometric mean of the blocks."
    )
    charts = tuple(curve_chart(context, metric) for metric in ("mean", "p50", "p95", "p99"))
    return Section("response", "Response time against clients", (Text(note), *charts))
