"""What the factors of a design do: effects with intervals. Ratios are of one level over that of the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bakeoff.compare.model.fact import NARRATED, Fact
from bakeoff.compare.model.pair import Gate
from bakeoff.compare.verdict.why_open import Open
from bakeoff.load.load_step import LoadStep

# `shown`: a difference that is certain and matters, of an interaction that one factor's effect depends on another.
EffectKind = Literal["shown", "equivalent", "near_margin", "inconclusive", "withheld", "too_few", "not_estimated"]


@dataclass(frozen=True)
class FactorLevels:
    """A factor with its levels; the first is that of the baseline, which the others are divided by."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class NotMeasured(Fact):
    """It has no trial."""


@dataclass(frozen=True)
class TrialsForfeited(Fact):
    """It lost so many trials of how many, the first for a reason."""

    trials: int
    of: int
    reason: Fact = field(metadata=NARRATED)


@dataclass(frozen=True)
class TrialsUnusable(Fact):
    """So many trials of how many have no figures, or were `voided`."""

    trials: int
    of: int
    voided: bool


@dataclass(frozen=True)
class Combination:
    """A contender as a combination of levels of the factors that it has; `missing` is why no effect can be estimated
    from it, if so.
    """

    contender: str
    levels: dict[str, str]
    missing: NotMeasured | TrialsForfeited | TrialsUnusable | None


@dataclass(frozen=True)
class EffectVerdict:
    """What may be said of an effect of so many `blocks` beside the `margin` that matters; `more_blocks` when a number
    of blocks would settle it. `reasons` speak against it, `decisive` are those of one that is withheld, and `still` is
    what keeps one open that is not shown. `better` is the factor and the level that a main effect speaks for.
    """

    kind: EffectKind
    blocks: int
    margin: float
    more_blocks: int | None
    reasons: tuple[Gate, ...] = field(default=(), metadata=NARRATED)
    still: Open | None = None
    decisive: tuple[Gate, ...] = field(default=(), metadata=NARRATED)
    better: tuple[str, str] | None = None


@dataclass(frozen=True)
class EffectAt:
    """An effect where another factor is at one level: its mean over the rest of the factors, with its own interval."""

    factor: str
    level: str
    blocks: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class EffectPoint:
    """An effect at one load step, with the band that holds for all load steps together."""

    load_step: LoadStep
    blocks: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Effect:
    """What going from the levels `below` to `above` of `factors` does to a metric. Of one factor it is its main effect,
    the geometric mean of the ratio over all `contexts`, combinations of the other factors, of which `contexts_wanted`
    are planned. Of more it is their interaction: by what factor the ratio of the last one is larger at `above` than at
    `below` of the others. Over the curve it is weighted as the endpoints are. `p_adjusted` and
    `p_equivalence_adjusted` are after Holm over all effects of the primary metric, or over all of the others. `at` has
    a main effect by the levels of each other factor.
    """

    metric: str
    title: str
    higher_is_better: bool
    factors: tuple[str, ...]
    below: tuple[str, ...]
    above: tuple[str, ...]
    contexts: int
    contexts_wanted: int
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
    verdict: EffectVerdict
    at: tuple[EffectAt, ...]
    points: tuple[EffectPoint, ...]
    method: str
    level: float

    @property
    def is_main(self) -> bool:
        """Whether it is the effect of one factor by itself."""
        return len(self.factors) == 1

    @property
    def estimated(self) -> bool:
        """Whether it has a number."""
        return self.blocks > 0


@dataclass(frozen=True)
class PlaneCell:
    """Levels of two factors together, over those of the baseline, as a mean over the other factors."""

    levels: tuple[str, str]
    blocks: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Plane:
    """Two factors: what each combination of their levels comes to."""

    factors: tuple[str, str]
    cells: tuple[PlaneCell, ...]


@dataclass(frozen=True)
class FactorComparison:
    """All effects of a run with factors: `effects` of the primary metric, of which there are `family`, `explaining`
    of the others.
    """

    factors: tuple[FactorLevels, ...]
    combinations: tuple[Combination, ...]
    effects: tuple[Effect, ...]
    explaining: tuple[Effect, ...]
    planes: tuple[Plane, ...]
    family: int

    @property
    def is_partial(self) -> bool:
        """Whether a contender among the combinations has no level of a factor."""
        return any(len(one.levels) < len(self.factors) for one in self.combinations)
