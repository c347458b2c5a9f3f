"""Runs for programs and notebooks: what `bakeoff.open` gives.

    import bakeoff

    run = bakeoff.open("lab.bakeoff")
    run.trials                      # a data frame: a row for each trial
    run.table("seconds")            # another table of `bakeoff export --table`
    run.headline()                  # what the statistics say
    run.chart("rate")               # drawn by the notebook

The folder of a campaign opens the same way: its tables begin with a column `suite`, its charts are called `SUITE/rate`,
and `run.suite("web-static")` is the run of one suite.

What equals differ by on the set-up (`bakeoff aa`) stands in the `noise_quote` of a comparison, and the `floor` of a
campaign's verdicts: `compare(aa="aa-web.bakeoff")` names the A/A run, by default it is the one that `bakeoff compare`
finds beside the run file, and `aa=()` is none.

Data frames are Polars', or else pandas', whichever is installed; without either a table is a list of rows. What is
documented here stays as it is until a version says otherwise in its changelog.
"""

from __future__ import annotations

import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.tables import TABLES, table_of
from bakeoff.noise_floors import noise_for
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.store.collections.campaign import CampaignFolder, campaign_of, read_campaign_folder
from bakeoff.store.collections.collection import THE_RUN
from bakeoff.store.collections.join import join
from bakeoff.store.sqlite.read import read_run

if TYPE_CHECKING:
    from bakeoff.compare.collections.campaign_model import CampaignComparison
    from bakeoff.compare.model.comparison import Comparison
    from bakeoff.compare.planning.noise_model import NoiseFloor
    from bakeoff.report.blocks.tree import Chart
    from bakeoff.store.records.run_records import RunRecord

PREFIX = "chart-"
AaRuns = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""A/A runs whose noise floors are quoted: one, several, none (empty), or those that lie near (None)."""


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


class _Opened(ABC):
    """What a run and a campaign tell alike."""

    @property
    def trials(self) -> Any:
        """A data frame with a row for each trial; the columns are those of `bakeoff export --table trials`."""
        return self.table("trials")

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables."""
        return tuple(TABLES)

    @abstractmethod
    def table(self, name: str) -> Any:
        """A data frame of one of `tables`. Raises PlanError for another name."""

    @abstractmethod
    def compare(
        self, baseline: str | None = None, delta: float | None = None, aa: AaRuns = None
    ) -> Comparison | CampaignComparison:
        """What the statistics say."""

    def headline(self, baseline: str | None = None, delta: float | None = None, aa: AaRuns = None) -> tuple[str, ...]:
        """What `compare` finds, in sentences."""
        from bakeoff.report.narrate.collections.headlines import headline

        return tuple(one.text for one in headline(self.compare(baseline, delta, aa)))


class OpenRun(_Opened):
    """A run file, or several together, read when something of it is asked for. Raises RunFileError where one is damaged
    or none, PlanError where they cannot be told of together.
    """

    def __init__(
        self, paths: Sequence[Path], failed: Sequence[str] = (), notes: Sequence[tuple[str, str]] = ()
    ) -> None:
        if not paths:
            raise PlanError("name a run file")
        self.path, self.paths = paths[0], tuple(paths)
        self._failed, self._notes = tuple(failed), tuple((day, text) for day, text in notes)

    @cached_property
    def record(self) -> RunRecord:
        """The run with all its figures, as `bakeoff show --json` tells them."""
        return join([read_run(path) for path in self.paths], self._failed, self._notes)

    @property
    def contenders(self) -> tuple[str, ...]:
        """Their names in the order of the plan."""
        return tuple(contender.name for contender in self.record.contenders)

    def table(self, name: str) -> Any:
        """A data frame of one of `tables`. Raises PlanError for another name."""
        _check_table(name)
        made = table_of(self.record, name)
        return framed(made.columns, made.rows)

    def compare(self, baseline: str | None = None, delta: float | None = None, aa: AaRuns = None) -> Comparison:
        """What the statistics say: pairs, verdicts, curves, audits. `delta` is a ratio minus 1, such as 0.05. `aa` is
        the A/A run whose noise floor stands in `noise_quote`: by default the newest beside the run file that is of the
        same machine, suite and address, as `bakeoff compare` finds it; `aa=()` quotes none.

        Raises PlanError when the baseline is no contender, delta is out of range, or `aa` is no A/A run, RunFileError
        when that cannot be read.
        """
        from bakeoff.compare import compare_run

        return compare_run(self.record, baseline, delta, noise=self._floor(aa))

    def _floor(self, aa: AaRuns) -> NoiseFloor | None:
        return _floors(self.paths, aa).get(THE_RUN)

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
        from bakeoff.report.charts.svg import draw

        if name not in self._charts:
            raise PlanError(f"there is no chart {name!r}: {did_you_mean(name, list(self._charts))}")
        chart = self._charts[name]
        return ShownChart(name, chart.title, chart.description, chart.spec, draw(chart))

    def __repr__(self) -> str:
        return f"OpenRun({', '.join(repr(str(path)) for path in self.paths)})"


class _OpenSuite(OpenRun):
    """A suite of a campaign, which quotes what the campaign does."""

    def __init__(self, run: RunRecord, name: str, campaign: OpenCampaign) -> None:
        super().__init__([run.path])
        self.record = run  # it was read with the folder
        self._name, self._campaign = name, campaign

    def _floor(self, aa: AaRuns) -> NoiseFloor | None:
        return super()._floor(aa) if aa is not None else self._campaign._floors_near.get(self._name)


class OpenCampaign(_Opened):
    """The folder of a campaign, read when something of it is asked for. Raises RunFileError where it is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def folder(self) -> CampaignFolder:
        """What was planned, the runs of its suites, and why others have none."""
        return read_campaign_folder(self.path)

    @property
    def contenders(self) -> tuple[str, ...]:
        """Their names in the order of the campaign."""
        return self.folder.campaign.contenders

    @property
    def suites(self) -> tuple[str, ...]:
        """The names of the suites that were measured."""
        return tuple(self.folder.runs)

    def suite(self, name: str) -> OpenRun:
        """The run of one of `suites`. Raises PlanError for another name."""
        if name not in self._runs:
            raise PlanError(f"there is no suite {name!r}: {did_you_mean(name, list(self._runs))}")
        return self._runs[name]

    def table(self, name: str) -> Any:
        """A data frame of one of `tables` over all suites, whose names are its first column. A figure that a suite does
        not have is None. Raises PlanError for another name.
        """
        _check_table(name)
        made = {suite: table_of(run.record, name) for suite, run in self._runs.items()}
        columns = list(dict.fromkeys(column for table in made.values() for column in table.columns))
        rows = [
            [suite, *(values.get(column) for column in columns)]
            for suite, table in made.items()
            for values in (dict(zip(table.columns, row, strict=True)) for row in table.rows)
        ]
        return framed(["suite", *columns], rows)

    def compare(self, baseline: str | None = None, delta: float | None = None, aa: AaRuns = None) -> CampaignComparison:
        """What the statistics say over all suites. `aa` are A/A runs, at most one of each suite, whose noise floors
        stand beside the verdicts (`floor`); by default those in the folder or beside it, as `bakeoff compare` finds
        them, and with `aa=()` none. Raises as `OpenRun.compare` does, also for one of another suite.
        """
        from bakeoff.compare.collections.campaign import compare_folder

        noise = self._floors_near if aa is None else _floors([self.path], aa, self.folder)
        return compare_folder(self.folder, baseline, delta, noise)

    @cached_property
    def _floors_near(self) -> Mapping[str, NoiseFloor]:
        return _floors([self.path], None, self.folder)

    @property
    def charts(self) -> tuple[str, ...]:
        """The names of all charts, each with that of its suite: `web-static/rate`."""
        return tuple(f"{suite}/{name}" for suite, run in self._runs.items() for name in run.charts)

    def chart(self, name: str) -> ShownChart:
        """One of `charts`. Raises PlanError for another name."""
        suite, slash, own = name.partition("/")
        if not slash or suite not in self._runs:
            raise PlanError(f"there is no chart {name!r}: {did_you_mean(name, list(self.charts))}")
        return self._runs[suite].chart(own)

    @cached_property
    def _runs(self) -> dict[str, OpenRun]:
        return {name: _OpenSuite(run, name, self) for name, run in self.folder.runs.items()}

    def __repr__(self) -> str:
        return f"OpenCampaign({str(self.path)!r})"


def opened(
    paths: Sequence[Path], failed: Sequence[str] = (), notes: Sequence[tuple[str, str]] = ()
) -> OpenRun | OpenCampaign:
    """What `bakeoff.open` gives. Raises PlanError where something stands beside a campaign."""
    folder = campaign_of(paths)
    if folder is None:
        return OpenRun(paths, failed, notes)
    if failed or notes:
        raise PlanError(f"{folder} is a campaign: leave `failed` and `notes` out, which are of several run files")
    return OpenCampaign(folder)


def _floors(paths: Sequence[Path], aa: AaRuns, embedded: CampaignFolder | None = None) -> Mapping[str, NoiseFloor]:
    """The noise floors to quote, by suite or under THE_RUN."""
    if aa is None:
        return noise_for(paths, None, embedded)
    named = [Path(each) for each in ([aa] if isinstance(aa, str | os.PathLike) else aa)]
    return noise_for(paths, named, embedded) if named else {}


def _check_table(name: str) -> None:
    if name not in TABLES:
        raise PlanError(f"there is no table {name!r}: {did_you_mean(name, list(TABLES))}")


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
