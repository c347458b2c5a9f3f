"""The sections of a report in the order they are printed. To add one: a new file here and a line below."""

from __future__ import annotations

from collections.abc import Callable

from bakeoff.report.blocks import Section
from bakeoff.report.context import Context
from bakeoff.report.sections import (
    audits,
    bottleneck,
    curves,
    errors,
    fairness,
    generator,
    left_out,
    mail,
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
    trials,
)

SECTIONS: tuple[Callable[[Context], Section | None], ...] = (
    result.section,
    mail.section,
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
