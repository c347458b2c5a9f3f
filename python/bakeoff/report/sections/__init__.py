"""The general sections of a report, in their order within a part. To add one: a new file here and a line below.

A section says by its `@report_section` all that is known of it.
"""

from __future__ import annotations

from importlib import import_module

from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import ReportSection

MODULES = (
    "setup.run_files",
    "result.result",
    "result.objective",
    "result.challenged",
    "result.overview",
    "result.factors",
    "load.soak",
    "load.capacity",
    "cells.heat_map",
    "cells.cell_levels",
    "cells.cell_tables",
    "cells.cell_times",
    "cells.size_curves",
    "cells.surfaces",
    "cells.caches",
    "load.curves",
    "load.stated",
    "load.open_loop",
    "load.response",
    "load.errors",
    "result.ratios",
    "result.numbers",
    "load.seconds",
    "load.steps",
    "setup.resources",
    "load.fairness",
    "load.operations",
    "load.kind_figures",
    "validity.notes",
    "validity.left_out",
    "setup.machines",
    "setup.method",
    "validity.generator",
    "result.noise",
    "validity.audits",
    "validity.arithmetic",
    "validity.trials",
    "result.reading",
)
SECTIONS: tuple[ReportSection, ...] = tuple(import_module(f"{__name__}.{name}").section for name in MODULES)


def sections_for(context: Context) -> list[ReportSection]:
    """The sections that fit the run of `context`, in their order."""
    found, hidden = [], context.shape.hides(context)
    for general in SECTIONS:
        found += [
            one for one in (general, *_placed_after(general, context)) if one.fits(context) and one.id not in hidden
        ]
    return found


def _placed_after(general: ReportSection, context: Context) -> list[ReportSection]:
    return [own for own in (*context.shape.sections(), *context.kind.sections) if own.after == general.id]
