"""The general sections of a report, by id, in their order within a part (`report/parts.py`). To add one: a new file
here and a line below.

A kind of suite says behind which of them its own sections stand.
"""

from __future__ import annotations

from bakeoff.report.context import Context
from bakeoff.report.kind import Builder
from bakeoff.report.sections import (
    audits,
    caches,
    capacity,
    cell_levels,
    cell_tables,
    cell_times,
    challenged,
    curves,
    errors,
    factors,
    fairness,
    figures,
    generator,
    heat_map,
    left_out,
    machines,
    method,
    noise,
    notes,
    numbers,
    objective,
    offered,
    operations,
    overview,
    ratios,
    reading,
    resources,
    response,
    result,
    run_files,
    seconds,
    size_curves,
    soak,
    steps,
    surfaces,
    trials,
)

SECTIONS: tuple[tuple[str, Builder], ...] = (
    ("run-files", run_files.section),
    ("result", result.section),
    ("objective", objective.section),
    ("challenge", challenged.section),
    ("overview", overview.section),
    ("factors", factors.section),
    ("soak", soak.section),
    ("capacity", capacity.section),
    ("heat-map", heat_map.section),
    ("levels", cell_levels.section),
    ("rates-of-cells", cell_tables.section),
    ("times-of-cells", cell_times.section),
    ("sizes", size_curves.section),
    ("surfaces", surfaces.section),
    ("caches", caches.section),
    ("rates", curves.section),
    ("offered", offered.section),
    ("response", response.section),
    ("errors", errors.section),
    ("ratios", ratios.section),
    ("numbers", numbers.section),
    ("seconds", seconds.section),
    ("steps", steps.section),
    ("resources", resources.section),
    ("fairness", fairness.section),
    ("operations", operations.section),
    ("figures", figures.section),
    ("notes", notes.section),
    ("left-out", left_out.section),
    ("machines", machines.section),
    ("method", method.section),
    ("generator", generator.section),
    ("noise", noise.section),
    ("audits", audits.section),
    ("trials", trials.section),
    ("reading", reading.section),
)

# What is left out where load does not wait: its connections stand in for each other, and there is no peak.
OF_CLOSED_LOOPS = frozenset({"rates", "fairness"})
# What is left out when trials are made of cells and there is only one number of clients.
OVER_CLIENTS = frozenset({"rates", "errors", "ratios", "numbers"})
# What is left out where trials are made of cells: their times stand by cell, and no second is like the next.
OF_WHOLE_TRIALS = frozenset({"response", "seconds"})

# What is left out where each contender was measured at shares of its own capacity: a ratio of rates there says nothing.
OF_LOADS = frozenset({"rates", "ratios"})


def builders(context: Context) -> list[Builder]:
    """What makes the sections of a report on `context`, in their order."""
    hidden = context.kind.hides(context) | (OVER_CLIENTS if context.cells_alone else frozenset())
    hidden |= OF_WHOLE_TRIALS if context.of_cells else frozenset()
    hidden |= OF_CLOSED_LOOPS if context.at_rates else frozenset()
    hidden |= OF_LOADS if context.comparison.capacity else frozenset()
    hidden |= OF_CLOSED_LOOPS if context.searched_by_rate else frozenset()
    builds = []
    for place, build in SECTIONS:
        if place not in hidden:
            builds.append(build)
        builds += [own for after, own in context.kind.sections if after == place]
    return builds
