"""Two contenders against each other: what was found on each metric, what it is called, and what speaks against that.

Ratios are always contender divided by baseline. NaN means "not available".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from bakeoff.compare.model.fact import NARRATED, OMITTED
from bakeoff.compare.model.gate import GateDetail
from bakeoff.compare.verdict.why_open import Open, without_number
from bakeoff.load.load_step import LoadStep

VerdictKind = Literal["better", "equivalent", "near_margin", "inconclusive", "withheld", "disqualified", "too_few"]
GateLevel = Literal["red", "amber"]
# Every general gate; kinds name theirs. `tests/unit/compare/test_every_gate_and_audit.py` trips each alone.
GateName = Literal[
    "wrong content",
    "different content",
    "failed trials",
    "starved clients",
    "unfinished",
    "wrong answers",
    "errors",
    "generator",
    "generator waited",
    "generator stopped",
    "other load",
    "link",
    "generator capacity",
    "schedule",
    "Little's law",
    "blocks",
    "different pages",
    "stale connections",
    "error replies",
    "repeated trials",
    "not steady",
    "files",
    "settings",
]


@dataclass(frozen=True)
class Gate:
    """A validity check that did not pass. `red` takes the verdict away, `amber` qualifies it. `contender` is the
    one that it speaks of, `detail` has what was found, `weight` is by how much it is so.
    """

    name: str
    level: GateLevel
    contender: str
    detail: GateDetail
    weight: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """What may be said of a pair from so many usable `blocks`. `winner` is set when `kind` is better, `more_blocks` if
    a number of blocks would settle it. Not `sized`: who is better is certain, by how much is not. Of one that is
    equivalent, or near the `margin` that matters (0.05 = 5 %), `ahead` is who is certainly faster all the same, by a
    factor inside `reach`. `reasons` speak against it, and `still` is what keeps an inconclusive one open.
    """

    kind: VerdictKind
    winner: str | None = None
    more_blocks: int | None = None
    reasons: tuple[Gate, ...] = field(default=(), metadata=NARRATED)
    sized: bool = True
    blocks: int = 0
    margin: float = math.nan
    ahead: str = ""
    reach: tuple[float, float] = (math.nan, math.nan)
    still: Open | None = None

    @property
    def decisive(self) -> tuple[Gate, ...]:
        """The reasons that disqualify or withhold; none where it is another."""
        if self.kind == "disqualified":
            return tuple(gate for gate in self.reasons if gate.name == "wrong content")
        if self.kind != "withheld":
            return ()
        red = tuple(gate for gate in self.reasons if gate.level == "red")
        # However many blocks, and whoever is ahead: they did not do the same, or days contradict each other.
        for name in ("different pages", "files"):
            if own := tuple(gate for gate in red if gate.name == name):
                return own
        return red

    def without_number(self) -> Self:
        """The same without what an answer would still take."""
        return replace(self, more_blocks=None, still=without_number(self.still))


@dataclass(frozen=True)
class Endpoint:
    """One metric over the whole curve: the weighted geometric mean over load steps of the paired ratio.

    `forfeited` has for either contender how many of the `pairs_counted` pairs (load step and block) it forfeited; each
    counts as `forfeited_as` times slower. `low` and `high` are NaN under six blocks.
    """

    metric: str
    title: str
    higher_is_better: bool
    load_steps: tuple[LoadStep, ...]
    load_steps_left_out: tuple[LoadStep, ...]
    blocks: int
    blocks_left_out: tuple[int, ...]
    ratio: float
    low: float
    high: float
    log_sd: float
    p_t: float
    p_sign_flip: float
    p_adjusted: float
    p_equivalence: float
    p_equivalence_adjusted: float
    forfeited: dict[str, int]
    pairs_counted: int
    forfeited_as: float
    verdict: Verdict
    gates: tuple[Gate, ...]
    is_mean_of_cells: bool = field(default=False, metadata=OMITTED)

    @property
    def decisive(self) -> tuple[Gate, ...]:
        """The gates that withhold the verdict; none where it is another."""
        if self.verdict.kind != "withheld" or not self.blocks:
            return ()
        red = tuple(gate for gate in self.gates if gate.level == "red")
        return tuple(gate for gate in red if gate.name == "different pages") or red

    @property
    def all_forfeited(self) -> str:
        """The contender that forfeited every pair, so that the ratio is what a loss counts as and no measure; empty
        when nobody did.
        """
        whole = [name for name, number in self.forfeited.items() if 0 < number == self.pairs_counted]
        if len(whole) != 1 or not self.ratio > 0.0 or not self.forfeited_as > 0.0:
            return ""
        return whole[0] if math.isclose(abs(math.log(self.ratio)), math.log(self.forfeited_as)) else ""


@dataclass(frozen=True)
class RatioPoint:
    """The ratio at one load step with its simultaneous band, or of the only load step with the interval of the
    endpoint. `forfeited` has for either contender in how many of the `blocks` it forfeited; the band is then that of
    the sign-flip test, and each counts as `forfeited_as` times slower (NaN: it was overloaded, and answered less).
    `both_overloaded`: in so many of the blocks both were overloaded, and the ratio is that of what they answered.
    """

    load_step: LoadStep
    blocks: int
    ratio: float
    low: float
    high: float
    forfeited: dict[str, int]
    verdict: Verdict
    both_overloaded: int = 0
    forfeited_as: float = math.nan

    @property
    def all_forfeited(self) -> str:
        """The contender that forfeited every block, so that the ratio is what a loss counts as and no measure; empty
        when nobody did.
        """
        whole = [name for name, number in self.forfeited.items() if 0 < number == self.blocks]
        return whole[0] if len(whole) == 1 else ""


@dataclass(frozen=True)
class RatioCurve:
    """The ratio of one metric over the load steps; `method` says how the band was made."""

    metric: str
    title: str
    higher_is_better: bool
    method: str
    level: float
    points: tuple[RatioPoint, ...]

    @property
    def measured(self) -> tuple[RatioPoint, ...]:
        """The load steps with a ratio of what was measured of both."""
        return tuple(p for p in self.points if p.blocks and not p.all_forfeited and 0.0 < p.ratio < math.inf)


@dataclass(frozen=True)
class OperationRatio:
    """One exploratory comparison of an operation at a load step; `q` is the Benjamini–Hochberg value."""

    operation: str
    metric: str
    load_step: LoadStep
    blocks: int
    ratio: float
    low: float
    high: float
    p: float
    q: float


@dataclass(frozen=True)
class Exploratory:
    """Every operation at every load step. `found` are the cells with q ≤ 0.05; their intervals are FCR-
    adjusted.
    """

    tested: int
    level: float
    found: tuple[OperationRatio, ...]


@dataclass(frozen=True)
class PairComparison:
    """Two contenders against each other."""

    baseline: str
    contender: str
    primary: Endpoint
    secondary: tuple[Endpoint, ...]
    curves: tuple[RatioCurve, ...]
    exploratory: Exploratory
