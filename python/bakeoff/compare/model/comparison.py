"""The comparison: immutable values, ready to be written as JSON.

Ratios are always contender divided by baseline. Rates are per second, times in milliseconds, shares and
levels between 0 and 1. NaN means "not available" and becomes null in JSON.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from bakeoff.compare.advice.caveat_model import Caveat
from bakeoff.compare.collections.challenge_model import Challenge
from bakeoff.compare.collections.joined_model import DatedNote, Joined
from bakeoff.compare.estimate.interim import InterimAnalysis
from bakeoff.compare.failures.content import Bodies, ChangedFact
from bakeoff.compare.failures.faults_model import Fault
from bakeoff.compare.limits.capacity_model import CapacityComparison
from bakeoff.compare.limits.objective_model import ObjectiveOutcome
from bakeoff.compare.limits.soak import Soak
from bakeoff.compare.model.cell import CellComparison
from bakeoff.compare.model.fact import NARRATED, OMITTED, Fact
from bakeoff.compare.model.factor import FactorComparison
from bakeoff.compare.model.level import Levels
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.model.plain import Words, as_dict, no_words, nulled
from bakeoff.compare.model.ranking import Place
from bakeoff.compare.planning.noise_model import NoiseFloor, NoiseQuote
from bakeoff.compare.resources.fleet_model import Machines
from bakeoff.compare.resources.telemetry_model import Resources
from bakeoff.compare.validity.client_options_model import ClientOption
from bakeoff.compare.validity.steadiness_model import SteadyState
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.design.unit import OPERATIONS, LoadUnit
from bakeoff.store.records.run_records import AmendmentRecord

SCHEMA = "bakeoff-comparison/1"
# Every general audit; kinds name theirs. `tests/unit/compare/test_every_gate_and_audit.py` trips each alone.
AuditName = Literal[
    "Little's law", "Offered starts", "Fates", "Counts", "Bytes", "Rates", "Same content", "Steady state"
]


@dataclass(frozen=True)
class CurvePoint:
    """A metric of one contender at one load step: centre and interval over `blocks`. `lost` trials were forfeited;
    of rates those that failed count as 0, and there is no interval then.
    """

    load_step: LoadStep
    blocks: int
    centre: float
    low: float
    high: float
    forfeited: int = 0


@dataclass(frozen=True)
class Curve:
    """A metric of one contender over the load steps; `centre_is` names the kind of mean over blocks."""

    metric: str
    title: str
    unit: str
    contender: str
    centre_is: str
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True)
class Failed:
    """How many of what users count, such as `messages`, were tried in the windows, and how many of them failed."""

    what: str
    failed: int
    tried: int

    @property
    def share(self) -> float:
        """Of what was tried, that which failed; NaN where nothing was tried."""
        return self.failed / self.tried if self.tried else math.nan


@dataclass(frozen=True)
class StepName(Fact):
    """A step of the operations of a kind of suite, to be told by name."""

    kind_of_suite: str
    step: str


@dataclass(frozen=True)
class DominantStep:
    """A step, in `words`, that is the `share` of a contender's time, of what `of` says; `others` have theirs of it."""

    contender: str
    of: str
    step: str
    words: StepName = field(metadata=NARRATED)
    share: float
    others: dict[str, float]


@dataclass(frozen=True)
class DelayedStep(Fact):
    """A step, in `words`, of which `share` or more take as long as a delayed acknowledgement does, `typical_ms`, in
    `trials` trials; the quickest other step of the contender has a median of `beside_ms`.
    """

    contender: str
    step: str
    words: StepName = field(metadata=NARRATED)
    share: float
    typical_ms: float
    other_steps_ms: float
    trials: int


Course = Literal["none", "one_load_step", "rising", "flat", "flat_and_falls", "falls", "lost", "may_fall"]


@dataclass(frozen=True)
class CurveShape:
    """What a curve does, as far as its numbers support it: `none` without a usable trial, `rising` where no limit was
    reached, `may_fall` where chance explains that. It is highest at `peak_load_step` and flat from `knee_load_step` on;
    the last load step has `last_share` of the peak, and lost `lost` of its trials. `failed` are all trials that did.
    """

    course: Course
    knee_load_step: LoadStep | None = None
    peak_load_step: LoadStep | None = None
    last_share: float = math.nan
    forfeited: int = 0
    of: int = 0
    failed: int = 0


@dataclass(frozen=True)
class ContenderSummary:
    """Peak, saturation and reliability of one contender over the whole run.

    `saturation_load_step` is None when the curve was not seen to flatten. `hung_operations` never ended, in
    `hung_trials` trials; there may be trials without a count. `generator_wait_share` is the largest share of a window
    that the generator waited for a processor, over the `generator_waited` trials. In `trials_dead` of the failed ones
    not one operation succeeded: a share of errors over all trials says nothing then. `error_replies` are replies with
    statuses 5xx that the plan counts as answers. `peak_lowest` and `peak_highest` are the lowest and the highest block
    at the peak. `peak_ratio` is peak ÷ peak of the baseline, each at its own load step, paired over blocks, with its
    interval; NaN of the baseline, of what lost trials there, and of a peak that is nobody's.
    """

    name: str
    address: str
    peak_load_step: LoadStep | None
    peak: float
    peak_low: float
    peak_high: float
    peak_p99_ms: float
    saturation_load_step: LoadStep | None
    load_steps_measured: int
    peak_is_last_load_step: bool
    last_share_of_peak: float
    collapsed: bool
    shape: CurveShape
    trials_ok: int
    trials_failed: int
    trials_voided: int
    trials_interrupted: int
    operations: int
    errors: dict[str, int]
    error_share: float
    error_replies: dict[str, int]
    fairness_lowest: float
    generator_limited: int
    link_limited: int
    generator_waited: int
    generator_wait_share: float
    hung_operations: int
    hung_trials: int
    trials_dead: int = 0
    trials_not_asked: int = 0
    # Where users count something else than operations: `error_share` is then the largest of these.
    failures: tuple[Failed, ...] = ()
    peak_lowest: float = math.nan
    peak_highest: float = math.nan
    peak_ratio: float = math.nan
    peak_ratio_low: float = math.nan
    peak_ratio_high: float = math.nan

    @property
    def peak_is_bimodal(self) -> bool:
        """Its blocks at the peak differ by more than a factor of 2: a mean of two speeds is no peak."""
        return self.peak_highest > 2.0 * self.peak_lowest

    def saturation(self) -> str:
        """From which load step on a higher one brings no more work, in words; one load step is no curve."""
        if self.saturation_load_step is not None:
            return self.saturation_load_step.number
        return "not reached" if self.load_steps_measured > 1 else "–"


@dataclass(frozen=True)
class OverloadPoint:
    """The rate from which on a contender is overloaded: the median over blocks of the lowest rate at which
    it was, None where that is beyond all; `sustained_load_step` is the rate before it.

    With six `blocks` there is an `interval` of 95 % from `low_load_step` to `high_load_step`, by order statistics; None
    at an end then means beyond `highest_load_step`. Rates offer starts of `unit`.
    """

    contender: str
    blocks: int
    overload_load_step: LoadStep | None
    sustained_load_step: LoadStep | None
    interval: bool
    low_load_step: LoadStep | None
    high_load_step: LoadStep | None
    highest_load_step: LoadStep
    unit: LoadUnit


@dataclass(frozen=True)
class LeftOut:
    """A trial whose numbers are in no statistic, and why; `code` is that of its reason."""

    trial_id: int
    contender: str
    load_step: LoadStep
    block: int
    order: int
    state: str
    reason: Fact = field(metadata=NARRATED)
    code: str = ""


@dataclass(frozen=True)
class Repeated:
    """A failed or voided trial that was repeated: it is kept, and `again` is the state of the last attempt, empty
    where there is none that ended.
    """

    trial_id: int
    contender: str
    load_step: LoadStep
    block: int
    order: int
    state: str
    reason: str
    again: str


@dataclass(frozen=True)
class LeftOutContender:
    """A contender that was dead in so many blocks in a row that the run went on without it from a block on. Its missing
    trials count as failed. `words` says how often it was dead.
    """

    contender: str
    from_block: int
    words: str


@dataclass(frozen=True)
class Forfeit:
    """What `contender` forfeited: a trial, or one cell of it when `cell` is not empty."""

    contender: str
    load_step: LoadStep
    block: int
    cell: str
    reason: Fact = field(metadata=NARRATED)


@dataclass(frozen=True)
class AuditTrial:
    """One trial that did not pass an audit, and what was found."""

    trial_id: int
    contender: str
    load_step: LoadStep
    block: int
    found: tuple[Fact, ...]


@dataclass(frozen=True)
class Audit:
    """A check made on every usable trial, by a `rule`. `worst` is the largest relative deviation seen. Of `not_stated`
    trials, which another tool measured, nobody said what it needs.
    """

    name: str
    rule: Fact
    checked: int
    not_applicable: int
    worst: float
    deviating: tuple[AuditTrial, ...]
    not_stated: int = 0


@dataclass(frozen=True)
class Advisory:
    """Something to know; `first` when nothing else can be read without it."""

    about: Fact
    first: bool = False


@dataclass(frozen=True)
class RunInfo:
    """Which run was compared, and under what rules."""

    name: str
    suite: str
    kind: str
    file: str
    plan_hash: str
    created_at: str
    finished_at: str | None
    work: str
    rate_unit: str
    load_steps: tuple[LoadStep, ...]
    blocks_planned: int
    blocks_measured: int
    trials_planned: int
    trials: dict[str, int]
    delta: float
    level: float
    baseline: str
    null_operations_per_s: float | None
    # What became of the plan: its hash at the start, and what was asked for, or happened, since.
    plan_hash_first: str = ""
    amendments: tuple[AmendmentRecord, ...] = ()
    interim: InterimAnalysis | None = None
    # Contenders that the run goes on without, as they are dead.
    left_out: tuple[LeftOutContender, ...] = ()
    # Contenders that were not there when it began, with why: the run has nothing of them.
    absent: dict[str, str] = field(default_factory=dict)
    # How long a block takes, s; NaN where the starts of trials do not tell.
    block_s: float = math.nan
    # What a trial counts a second, and what a rate offers.
    unit: LoadUnit = OPERATIONS
    # Whether the contenders are one server, and so differ by chance alone.
    equals: bool = False


@dataclass(frozen=True)
class Measure:
    """What contenders are compared by; `short` is its name in a sentence. What is `paired` is no ratio of the values of
    two trials; a trial of fewer operations than `least` has no such figure. By the sizes of the files in `weighted_by`
    the mean of cells is weighted.
    """

    metric: str
    title: str
    short: str
    unit: str
    higher_is_better: bool
    paired: bool
    least: int
    weighted_by: str


@dataclass(frozen=True)
class KindSummary:
    """What a kind of suite tells of a run beside the curves; `key` is its name in JSON."""

    key: ClassVar[str] = ""


@dataclass(frozen=True)
class Comparison:
    """All that a report says about who is faster. The first of `measures` decides. What compares cells is there for
    suites whose trials are made of them; a kind of suite may tell more of its own.
    """

    schema: str
    run: RunInfo
    measures: tuple[Measure, ...]
    pairs: tuple[PairComparison, ...]
    contenders: tuple[ContenderSummary, ...]
    curves: tuple[Curve, ...]
    left_out: tuple[LeftOut, ...]
    forfeited: tuple[Forfeit, ...]
    audits: tuple[Audit, ...]
    warnings: tuple[Advisory, ...]
    overload_points: tuple[OverloadPoint, ...] = ()
    # Steps that are most of a contender's time and not of another's; those that wait for a delayed acknowledgement.
    dominant: tuple[DominantStep, ...] = ()
    delayed: tuple[DelayedStep, ...] = ()
    cells: CellComparison | None = field(default=None, metadata={"json": "matrix"})
    capacity: CapacityComparison | None = None
    own: KindSummary | None = None
    soak: Soak | None = None
    machines: Machines | None = None
    resources: Resources | None = None
    # Of three and more contenders, the best first.
    ranking: tuple[Place, ...] = ()
    repeated: tuple[Repeated, ...] = ()
    # None where only pairs have the primary metric.
    levels: Levels | None = None
    challenge: Challenge | None = None
    # Where the contenders are combinations of levels.
    factors: FactorComparison | None = None
    # None where seconds say nothing of it, as at rates.
    steady: SteadyState | None = None
    # Settings of the load that contenders have differently.
    client_options: tuple[ClientOption, ...] = ()
    # By contender: what it did wrong to the data in its care, and what was not the same in all of its trials.
    faults: dict[str, tuple[Fault, ...]] = field(default_factory=dict)
    changed: tuple[ChangedFact, ...] = ()
    # How far replies were held to what they were before timing.
    bodies: tuple[Bodies, ...] = ()
    # Of several run files.
    joined: Joined | None = None
    notes: tuple[DatedNote, ...] = ()
    # Of an A/A run what it has shown; of another one what it quotes of an A/A run of its set-up.
    noise: NoiseFloor | None = None
    noise_quote: NoiseQuote | None = None
    # What a reader of the result must know beside it; None where the headline says all that speaks against it.
    caveat: Caveat | None = None
    # Where the plan states one, and searches nothing.
    objective: ObjectiveOutcome | None = None
    # The names of the shape of the run.
    shape: tuple[str, ...] = field(default=(), metadata=OMITTED)

    @property
    def winner(self) -> str | None:
        """The one that is better than each of the others; nobody of an A/A run."""
        if self.noise is not None:
            return None
        won = [pair.primary.verdict.winner for pair in self.pairs]
        most = len(self.contenders) - 1
        return next((c.name for c in self.contenders if most > 0 and won.count(c.name) == most), None)

    def to_dict(self, words: Words = no_words) -> dict[str, Any]:
        """Plain dictionaries, lists, strings and numbers, with the `words` for them; NaN and infinity become None."""
        rest = as_dict(dataclasses.replace(self, cells=None, own=None), words)
        del rest["own"], rest["cells"]
        own = {} if self.own is None else {self.own.key: as_dict(self.own, words)}
        plain = nulled({**rest, "matrix": self.cells.to_dict(words) if self.cells else None, **own})
        assert isinstance(plain, dict)
        return plain

    def curve(self, metric: str, contender: str) -> Curve:
        """The curve of `metric` for `contender`. Raises KeyError when there is none."""
        for curve in self.curves:
            if curve.metric == metric and curve.contender == contender:
                return curve
        raise KeyError(f"no curve of {metric} for {contender}")
