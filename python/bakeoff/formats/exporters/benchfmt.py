"""Trials as lines of Go's benchmark format, which benchstat and its like compare: each block is one sample of a name.

A line is a name, the number of operations, and values with their units. Trials whose figures count in no statistic are
left out: the format has no way to say that something failed.
"""

import re
from collections.abc import Iterator

from bakeoff.core.errors import PlanError
from bakeoff.core.times import ns_of_ms
from bakeoff.formats.exporters.base import Exporter
from bakeoff.formats.exporters.csv_text import Value, cell
from bakeoff.formats.exporters.tables import Row, table_of
from bakeoff.store.records.run_records import RunRecord

# Column and unit; times in ns, as the format has them.
TRIAL_FIGURES = (
    ("service_mean_ms", "ns/op"), ("service_p50_ms", "p50-ns/op"), ("service_p99_ms", "p99-ns/op"),
    ("response_p50_ms", "p50-response-ns/op"), ("response_p99_ms", "p99-response-ns/op"),
    ("operations_per_s", "op/s"), ("in_bytes_per_s", "in-B/s"), ("errors", "errors"),
)  # fmt: skip
CELL_FIGURES = (("rate_kib_s", "B/s"), ("service_p50_ns", "p50-ns/op"), ("service_p99_ns", "p99-ns/op"))
SCALES = {"rate_kib_s": 1024.0}


class Benchfmt(Exporter):
    name = "benchfmt"
    suffix = ".bench.txt"
    summary = "trials in Go's benchmark format, a sample for each block, as benchstat reads it"

    def content(self, run: RunRecord, table: str | None = None) -> str:
        lines = list(_lines(run))
        if not lines:
            raise PlanError("the run has no trial whose figures count: there is nothing to export")
        return "\n".join([f"suite: {run.suite}", f"plan: {run.plan_hash}", f"date: {run.created_at}", *lines, ""])

    def notes(self, run: RunRecord) -> tuple[str, ...]:
        """How many trials do not stand in it."""
        made = table_of(run, "trials")
        at = made.columns.index("left_out")
        missing = sum(row[at] is not None for row in made.rows)
        return (f"{missing:,} of {len(made.rows):,} trials are left out: their figures do not count",) * bool(missing)


def _lines(run: RunRecord) -> Iterator[str]:
    made = table_of(run)
    for values in made.rows:
        row: Row = dict(zip(made.columns, values, strict=True))
        units = CELL_FIGURES if made.name == "cells" else TRIAL_FIGURES
        pairs = [f"{number} {unit}" for column, unit in units if (number := _number(column, row.get(column)))]
        if row["left_out"] is None and not row.get("skipped") and pairs:
            yield " ".join([_name(run, row), cell(row.get("operations") or 1), *pairs])


def _number(column: str, value: Value) -> str:
    """Empty where it is not known."""
    if not isinstance(value, int | float):
        return ""
    if column.endswith("_ms"):
        return cell(ns_of_ms(value))
    scale = SCALES.get(column, 1.0)
    return cell(value * scale if scale != 1.0 else value)


def _name(run: RunRecord, row: Row) -> str:
    kind = "".join(part.capitalize() for part in re.split(r"[^A-Za-z0-9]+", run.suite))
    keys = ("contender", "clients", "offered_per_s", "share_of_capacity", "test", "file_bytes", "record_bytes")
    parts = [f"{key}={re.sub(r'[^!-.0-~]', '_', cell(value))}" for key in keys if (value := row.get(key)) is not None]
    return "/".join([f"Benchmark{kind}", *parts])


BENCHFMT = Benchfmt()
