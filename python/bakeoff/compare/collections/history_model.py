"""What run files of one plan show over time, as data."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.collections.joined_model import FileDifference
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import Gate
from bakeoff.load.load_step import LoadStep

# Changes so many runs apart may be one.
NEAR_RUNS = 1


@dataclass(frozen=True)
class TrialsLost(Fact):
    """Of the trials of a contender it forfeited so many: the others alone would flatter it."""

    forfeited: int
    of: int


@dataclass(frozen=True)
class GatesClosed(Fact):
    """A verdict on this contender would be withheld."""

    gates: tuple[Gate, ...]


@dataclass(frozen=True)
class NoValue(Fact):
    """No trial has a value of the metric."""


@dataclass(frozen=True)
class UnreadFile(Fact):
    """A file that is no run file, in the words of who tried to read it."""

    stated: str


@dataclass(frozen=True)
class ImportedRun(Fact):
    """A run that another tool measured: it states no plan."""

    tool: str


@dataclass(frozen=True)
class NothingMeasured(Fact):
    """No trial ended well."""


@dataclass(frozen=True)
class CopiedRun(Fact):
    """The same run is in another file."""

    path: str


@dataclass(frozen=True)
class WithoutMetric(Fact):
    """No contender has this metric, or any where it is empty."""

    metric: str


@dataclass(frozen=True)
class RunPoint:
    """A contender in one run: the geometric mean over `blocks`, with its 95 % interval; NaN where there is none.
    `left_out` says why the run is no part of the level.
    """

    run: int
    blocks: int
    centre: float
    low: float
    high: float
    left_out: Fact | None = None


@dataclass(frozen=True)
class LevelChange:
    """The level changed before the run `run`: `ratio` is new ÷ old level with its 95 % interval, `p` after Bonferroni.
    The levels are geometric means over `runs` before and after. `is_shared`: all contenders changed there alike.
    """

    run: int
    ratio: float
    low: float
    high: float
    p: float
    levels: tuple[float, float]
    runs: tuple[int, int]
    is_better: bool
    is_shared: bool = False


@dataclass(frozen=True)
class Series:
    """A contender over time; with a `baseline` the ratio of the two in the same blocks. `level` is the newest one, NaN
    without any.
    """

    contender: str
    baseline: str
    points: tuple[RunPoint, ...]
    changes: tuple[LevelChange, ...]
    level: float

    @property
    def counted(self) -> tuple[RunPoint, ...]:
        """The points that make the level."""
        return tuple(point for point in self.points if point.left_out is None)


@dataclass(frozen=True)
class RunOfPlan:
    """A run: its file, when it began (ISO 8601, UTC), and how many blocks and failed or voided trials it has."""

    path: str
    began_at: str
    blocks: int
    trials: int
    trials_bad: int


@dataclass(frozen=True)
class PlanHistory:
    """Runs of one plan, the oldest first. `differences` has for the first run after a change what differs from the run
    before.
    """

    suite: str
    name: str
    load_steps: tuple[LoadStep, ...]
    metric: str
    title: str
    unit: str
    higher_is_better: bool
    runs: tuple[RunOfPlan, ...]
    levels: tuple[Series, ...]
    ratios: tuple[Series, ...]
    differences: dict[int, tuple[FileDifference, ...]]

    def worse(self) -> tuple[Series, ...]:
        """The series whose last change is for the worse. A change that all contenders share is the machine's, and a
        ratio also falls where its baseline rises.
        """
        rises = [(one.contender, change.run) for one in self.levels for change in one.changes if change.is_better]

        def is_of_baseline(one: Series, run: int) -> bool:
            return any(name == one.baseline and abs(at - run) <= NEAR_RUNS for name, at in rises)

        last = [(one, one.changes[-1]) for one in (*self.levels, *self.ratios) if one.changes]
        bad = [(one, change) for one, change in last if not (change.is_better or change.is_shared)]
        return tuple(one for one, change in bad if not is_of_baseline(one, change.run))


@dataclass(frozen=True)
class LeftOutFile:
    """A run file that is in no history, and why."""

    path: str
    reason: Fact


@dataclass(frozen=True)
class History:
    """Every plan with its runs, those with most runs first."""

    plans: tuple[PlanHistory, ...]
    left_out: tuple[LeftOutFile, ...]
