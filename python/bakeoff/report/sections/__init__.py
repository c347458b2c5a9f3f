"""The general sections of a report, in their order within a part. To add one: a new file here and a line below.

A section says by its `@report_section` all that is known of it.
"""

from __future__ import annotations

from importlib import import_module

from bakeoff.report.context import Context
from bakeoff.report.report_section import ReportSection

MODULES = (
    "run_files",
    "result",
    "objective",
    "challenged",
    "overview",
    "factors",
    "soak",
    "capacity",
    "heat_map",
    "cell_levels",
    "cell_tables",
    "cell_times",
    "size_curves",
    "surfaces",
    "caches",
    "curves",
    "offered",
    "response",
    "errors",
    "ratios",
    "numbers",
    "seconds",
    "steps",
    "resources",
    "fairness",
    "operations",
    "figures",
    "notes",
    "left_out",
    "machines",
    "method",
    "generator",
    "noise",
    "audits",
    "trials",
    "reading",
)
SECTIONS: tuple[ReportSection, ...] = tuple(import_module(f"{__name__}.{name}").section for name in MODULES)


def sections_for(context: Context) -> list[ReportSection]:
    """The sections that fit the run of `context`, in their order."""
    found = []
    for general in SECTIONS:
        found += [one for one in (general, *_behind(general, context)) if one.fits(context)]
    return found


def _behind(general: ReportSection, context: Context) -> list[ReportSection]:
    return [own for own in context.kind.sections if own.after == general.id]
