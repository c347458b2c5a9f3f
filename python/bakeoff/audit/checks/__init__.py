"""All checks. To add one: a file here, and a row below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bakeoff.audit.checks import (
    changes,
    command,
    copies,
    counts,
    curve,
    laws,
    load_law,
    order,
    outputs,
    parts,
    speeds,
    summaries,
)
from bakeoff.audit.finding import Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.table import Table

# Of each table by itself.
TABLE_CHECKS: tuple[Callable[[Table, Given], Iterator[Outcome]], ...] = (
    laws.check,
    counts.check,
    load_law.check,
    order.check,
    speeds.check,
    command.check,
    copies.check_rows,
    curve.check,
)
# Of all tables of a file together.
FILE_CHECKS: tuple[Callable[[Sequence[Table], Given], Iterator[Outcome]], ...] = (
    parts.check,
    summaries.check,
    changes.check,
)
# Of all tables that another file may contradict.
CROSS_FILE_CHECKS: tuple[Callable[[Sequence[Table], Given], Iterator[Outcome]], ...] = (
    outputs.check,
    copies.check_tables,
)
