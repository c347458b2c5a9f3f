"""What every section gets: the run, its comparison, and small helpers over both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from bakeoff.compare.cube.cube import why_unusable
from bakeoff.compare.kind import ComparePart, compare_part
from bakeoff.compare.model.comparison import Comparison, Curve, CurvePoint
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Column, Table
from bakeoff.report.charts.palette import AS_PLANNED, Placed
from bakeoff.report.kind import ReportPart, report_part
from bakeoff.report.layout.shown_pairs import BASELINE_AND_FEW, Pair, ShownPairs
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.kind import WordsPart, words_part
from bakeoff.report.shapes import ShapeReport, shape_report
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import RunRecord, TrialRecord

P = TypeVar("P", bound=Pair)


@dataclass(frozen=True)
class Context:
    """The run and its comparison."""

    run: RunRecord
    comparison: Comparison
    # Surfaces in three dimensions are wanted, too.
    surfaces: bool = False
    # The run as it is in its file: of a search `run` has the trials at shares of the capacity alone.
    stored: RunRecord | None = None
    # Which pairs are drawn beside those against the baseline.
    shown: ShownPairs = BASELINE_AND_FEW
    # The contenders of the whole report, in its order and colours, where they are not those of the plan.
    among: Placed = AS_PLANNED
    # What that tells once for several of its chapters.
    elsewhere: frozenset[str] = frozenset()

    @property
    def whole(self) -> RunRecord:
        """The run with all of its trials."""
        return self.run if self.stored is None else self.stored

    @property
    def kind(self) -> ReportPart:
        """What reports know of the kind of suite."""
        return report_part(self.run.kind)

    @property
    def compared(self) -> ComparePart:
        """What comparisons know of the kind of suite."""
        return compare_part(self.run.kind)

    @property
    def shape(self) -> ShapeReport:
        """What reports know of the shape of the run."""
        return shape_report(self.comparison.shape)

    @property
    def words(self) -> WordsPart:
        """The words of the kind of suite."""
        return words_part(self.run.kind)

    @property
    def names(self) -> Placed:
        """Names of the contenders in the order of the plan, whatever the baseline: the position decides colour and
        marker everywhere; in a chapter, and where an author gave an order, that of the whole report does.
        """
        every = self.among or [contender.name for contender in self.run.contenders]
        places = {name: place for place, name in enumerate(every)}
        names = (contender.name for contender in self.comparison.contenders)
        ordered = sorted(names, key=lambda name: places.get(name, len(places)))
        return Placed(ordered, tuple(self.among), self.among.colours)

    def drawn(self, pairs: Sequence[P], cells: int = 0) -> list[tuple[P, bool]]:
        """Those of `pairs`, of so many `cells` each, that are drawn, and whether in a fold: open ones first."""
        base = self.comparison.run.baseline
        opened = [pair for pair in pairs if self.shown.in_the_open(pair, base)]
        others = len(pairs) - len(opened)
        folded = [(pair, True) for pair in pairs if self.shown.folded(pair, base, others, cells)]
        return [*((pair, False) for pair in sorted(opened, key=lambda pair: pair.baseline != base)), *folded]

    @property
    def cells_alone(self) -> bool:
        """Cells at one number of clients: there is no curve over clients, and no second is like the next."""
        return self.comparison.cells is not None and len(self.comparison.run.load_steps) == 1

    @property
    def of_cells(self) -> bool:
        """Trials are made of cells: pooled over them a response time or a second is nobody's."""
        return self.comparison.cells is not None

    def known(self, metrics: Sequence[str]) -> tuple[str, ...]:
        """Those of `metrics` that the comparison has curves of."""
        there = {curve.metric for curve in self.comparison.curves}
        return tuple(metric for metric in metrics if metric in there)

    @property
    def is_open_loop(self) -> bool:
        """Whether the load of the run did not wait."""
        return self.shape.is_open_loop

    @property
    def searched_by_rate(self) -> bool:
        """Whether rates were searched that meet an objective."""
        capacity = self.comparison.capacity
        return capacity is not None and capacity.by == "rate"

    @cached_property
    def is_stated(self) -> bool:
        """Whether the figures are those that files of another tool state."""
        return any(trial.figures(Figures).stated for trial in self.run.trials)

    @property
    def load_step_unit(self) -> str:
        """The unit of the run's load steps: `clients`."""
        return self.comparison.run.load_steps[0].unit

    @property
    def load_step_title(self) -> str:
        """The same at the head of a column: `Clients`."""
        return f"{self.load_step_unit[0].upper()}{self.load_step_unit[1:]}"

    @property
    def load_step_axis(self) -> str:
        """What the axis of load steps counts: `simulated clients`."""
        return self.comparison.run.load_steps[0].axis.lower()

    @cached_property
    def usable(self) -> tuple[TrialRecord, ...]:
        """Trials whose numbers count, in the order they ran."""
        trials = (trial for trial in self.run.trials if why_unusable(trial) is None)
        return tuple(sorted(trials, key=lambda trial: trial.order))

    def at(self, contender: str, load_step: LoadStep) -> tuple[TrialRecord, ...]:
        """Usable trials of `contender` at one load step."""
        return tuple(t for t in self.usable if t.contender == contender and t.load_step == load_step)

    def peak_load_step(self) -> LoadStep | None:
        """The load step at which the fastest contender peaks."""
        peaked = [contender for contender in self.comparison.contenders if contender.peak_load_step is not None]
        return max(peaked, key=lambda contender: contender.peak).peak_load_step if peaked else None

    def curves(self, metric: str) -> tuple[Curve, ...]:
        """The curve of each contender."""
        return tuple(self.comparison.curve(metric, name) for name in self.names)

    def curve_table(self, metric: str) -> Table:
        """Centre and interval of each contender at each load step, and the number of blocks where they differ."""
        curves = self.curves(metric)
        counts = {point.blocks for curve in curves for point in curve.points}
        titles = [Column(self.load_step_title)]
        for name in self.names:
            titles += [Column(curves[0].unit or "value", group=name), Column("95 % interval", group=name)]
            titles += [Column("blocks", group=name)] if len(counts) > 1 else []
        rows = []
        for index, load_step in enumerate(self.comparison.run.load_steps):
            row = [f"{load_step}"]
            for curve in curves:
                point = curve.points[index]
                row += [
                    wording.figures(point.centre)
                    + wording.forfeits_of(point.forfeited, max(point.blocks, point.forfeited)),
                    span(point),
                ]
                row += [f"{point.blocks}"] if len(counts) > 1 else []
            rows.append(tuple(row))
        over = f"{max(counts)} blocks" if len(counts) == 1 and counts != {1} else "blocks"
        title = f"{curves[0].title} ({curves[0].unit}), {curves[0].centre_is} over {over}"
        return Table(title, tuple(titles), tuple(rows))

    @staticmethod
    def moment(iso: str | None) -> str:
        """An ISO moment without fractions of seconds."""
        return "not finished" if iso is None else iso.replace("T", " ")[:19] + " UTC"


def span(point: CurvePoint) -> str:
    """The interval of a point; a dash where there is none."""
    if math.isnan(point.low):
        return wording.MISSING
    return f"{wording.figures(point.low)} – {wording.figures(point.high)}"


def geometric_mean(values: Sequence[float | None]) -> float:
    """Of the values that are there and not 0; NaN without any."""
    logs = [math.log(value) for value in values if value]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan
