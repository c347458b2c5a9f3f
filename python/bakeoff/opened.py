"""Runs for programs and notebooks: what `bakeoff.open` gives.

    import bakeoff

    run = bakeoff.open("lab.bakeoff")
    run.trials                      # a data frame: a row for each trial
    run.table("seconds")            # another table of `bakeoff export --table`
    run.compare().headline          # what the statistics say
    run.chart("rate")               # drawn by the notebook

Data frames are Polars', or else pandas', whichever is installed; without either a table is a list of rows. What is
documented here stays as it is until a version says otherwise in its changelog.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.errors import PlanError
from bakeoff.exporters.tables import TABLES, table_of
from bakeoff.plan.messages import did_you_mean
from bakeoff.store.read import read_run

if TYPE_CHECKING:
    from bakeoff.compare.model import Comparison
    from bakeoff.report.blocks import Chart
    from bakeoff.store.records import RunRecord

PREFIX = "chart-"


@dataclass(frozen=True)
class ShownChart:
    """A chart of a report: its title, what it shows in words, and its Vega-Lite specification. A notebook draws it."""

    name: str
    title: str
    description: str
    spec: dict[str, Any]
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What Jupyter and marimo ask for."""
        return {
            "application/vnd.vegalite.v6+json": self.spec,
            "image/svg+xml": self.svg,
            "text/plain": f"{self.title}: {self.description}",
        }


class OpenRun:
    """A run file, read when something of it is asked for. Raises RunFileError where it is damaged or none."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def record(self) -> RunRecord:
        """The run with all its figures, as `bakeoff show --json` tells them."""
        return read_run(self.path)

    @property
    def contenders(self) -> tuple[str, ...]:
        """Their names in the order of the plan."""
        return tuple(contender.name for contender in self.record.contenders)

    @property
    def trials(self) -> Any:
        """A data frame with a row for each trial; the columns are those of `bakeoff export --table trials`."""
        return self.table("trials")

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables."""
        return tuple(TABLES)

    def table(self, name: str) -> Any:
        """A data frame of one of `tables`. Raises PlanError for another name."""
        if name not in TABLES:
            raise PlanError(f"there is no table {name!r}: {did_you_mean(name, list(TABLES))}")
        made = table_of(self.record, name)
        return framed(made.columns, made.rows)

    def compare(self, baseline: str | None = None, delta: float | None = None) -> Comparison:
        """What the statistics say: pairs, verdicts, curves, audits. `delta` is a ratio minus 1, such as 0.05.

        Raises PlanError when the baseline is no contender or delta is out of range.
        """
        from bakeoff.compare import compare_run

        return compare_run(self.record, baseline, delta)

    @cached_property
    def _charts(self) -> dict[str, Chart]:
        from bakeoff.report.compose import compose

        charts = compose(self.record, self.compare()).charts()
        return {chart.id.removeprefix(PREFIX): chart for chart in charts}

    @property
    def charts(self) -> tuple[str, ...]:
        """The names of all charts of its report."""
        return tuple(self._charts)

    def chart(self, name: str) -> ShownChart:
        """One of `charts`, such as `rate`, `mean` or `p99`. Raises PlanError for another name."""
        from bakeoff.report.svg import draw

        if name not in self._charts:
            raise PlanError(f"there is no chart {name!r}: {did_you_mean(name, list(self._charts))}")
        chart = self._charts[name]
        return ShownChart(name, chart.title, chart.description, chart.spec, draw(chart))

    def __repr__(self) -> str:
        return f"OpenRun({str(self.path)!r})"


def is_installed(package: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(package) is not None


def framed(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """A data frame of Polars or pandas, or a list of rows by column where neither is installed."""
    if is_installed("polars"):
        import polars

        series = {column: [row[place] for row in rows] for place, column in enumerate(columns)}
        return polars.DataFrame(series, strict=False, infer_schema_length=None)
    if is_installed("pandas"):
        import pandas

        return pandas.DataFrame([list(row) for row in rows], columns=list(columns))
    return [dict(zip(columns, row, strict=True)) for row in rows]
