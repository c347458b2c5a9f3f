"""The sections of a report in the order they are printed. To add one: a new file here and a line below."""

from __future__ import annotations

from collections.abc import Callable

from bakeoff.report.blocks import Section
from bakeoff.report.context import Context
from bakeoff.report.sections import (
    audits,
    bottleneck,
    caches,
    cell_times,
    curves,
    errors,
    fairness,
    file_mix,
    generator,
    heat_map,
    left_out,
    mail,
    matrix_curves,
    matrix_tables,
    method,
    numbers,
    operations,
    ratios,
    reading,
    response,
    result,
    scores,
    seconds,
    steps,
    surfaces,
    trials,
)

SECTIONS: tuple[Callable[[Context], Section | None], ...] = (
    result.section,
    mail.section,
    heat_map.section,
    matrix_curves.section,
    surfaces.section,
    matrix_tables.section,
    cell_times.section,
    caches.section,
    file_mix.section,
    curves.section,
    response.section,
    errors.section,
    ratios.section,
    numbers.section,
    scores.section,
    seconds.section,
    steps.section,
    bottleneck.section,
    fairness.section,
    operations.section,
    left_out.section,
    generator.section,
    audits.section,
    method.section,
    trials.section,
    reading.section,
)

# What is left out when trials are made of cells and there is only one number of clients.
OVER_CLIENTS = (
    curves.section,
    response.section,
    errors.section,
    ratios.section,
    numbers.section,
    seconds.section,
)
