"""Interim analyses: when a run may be judged, and what each analysis may spend of the chance of a false call.

A plan has one analysis, at its end, or those that it names. Blocks that are added later make another: whoever adds them
has seen the others. Of the 5 % the planned analyses spend all but a reserve, and each addition half of what is left of
that, so that all analyses together call equal contenders different in at most 5 % of runs, however often blocks are
added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.plan.rules.until import CLEAR as UNTIL_CLEAR
from bakeoff.plan.rules.until import precision_of
from bakeoff.stats import Decision, nominal_levels, spent
from bakeoff.store.records.run_records import ADDED, CLEAR, RunRecord

if TYPE_CHECKING:
    from bakeoff.compare.model.comparison import Comparison
    from bakeoff.compare.model.pair import PairComparison

# The chance of a false call, how much of it is kept for blocks that are added after an analysis, and the usual
# interval.
ALPHA, RESERVE, LEVEL = 0.05, 0.005, 0.95


@dataclass(frozen=True)
class InterimAnalysis:
    """The analysis that is made now. `number` counts from 1; `earlier` are the blocks at the analyses before it,
    `planned` those of all analyses that the plan names. `alpha` is the level of its tests, `level` that of its
    intervals: all analyses together then hold at 95 %. `next_blocks` is where the next planned analysis is; `between`
    says that none is now. `added` are the blocks that no plan had, `seen` how many were whole each time before they
    were.
    """

    number: int
    blocks: int
    alpha: float
    level: float
    next_alpha: float
    earlier: tuple[int, ...] = ()
    planned: tuple[int, ...] = ()
    next_blocks: int | None = None
    between: bool = False
    added: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()
    ended_early: bool = False
    # What ends the run before its last analysis, and how far the widest interval of a primary endpoint reaches to a
    # side: half of it on logarithms (0.02 = 2 %); NaN without one.
    until: str | None = None
    precision: float = math.nan
    # The blocks that were added are of further run files.
    joined: bool = False

    def settled(self, decision: Decision) -> Decision:
        """Between planned analyses nothing is settled."""
        if self.between and decision.outcome != "too_few":
            return Decision("inconclusive", None)
        return decision

    @property
    def is_reported(self) -> bool:
        """Whether interim analyses need saying: not where the end of the plan is the only analysis."""
        return bool(self.added or self.planned or self.between or self.earlier or self.level > LEVEL)


ONLY_ANALYSIS = InterimAnalysis(1, MINIMUM_BLOCKS, ALPHA - RESERVE, LEVEL, ALPHA - RESERVE)


def interim_of(run: RunRecord) -> InterimAnalysis:
    """The analysis of a run as it stands; of several files one as strict as that of each by itself, whose
    analyses are not undone by the other files.
    """
    interim, own = _interim_of(run), [_interim_of(file.run) for file in run.files if file.run is not run]
    return replace(
        interim,
        alpha=min(each.alpha for each in (interim, *own)),
        level=max(each.level for each in (interim, *own)),
        next_alpha=min(each.next_alpha for each in (interim, *own)),
    )


def _interim_of(run: RunRecord) -> InterimAnalysis:
    named, now, added = _named(run), run.blocks_whole, run.amended(ADDED)
    end = named[-1] if named else 0
    cumulative = {each: spent(each / end, ALPHA - RESERVE) for each in named if each <= now}
    left = RESERVE
    for each in sorted({now, *(a.blocks_seen for a in added)} - set(cumulative)):
        if max(end, MINIMUM_BLOCKS - 1) < each <= now:  # fewer have no verdict, so that nothing can be called
            left = left / 2.0 if cumulative else left
            cumulative[each] = ALPHA - left
    blocks = tuple(cumulative)
    levels = nominal_levels(blocks, tuple(cumulative.values())) or (ALPHA - RESERVE,)
    usual = len(blocks) < 2 and not named
    return InterimAnalysis(
        number=max(1, len(blocks)),
        blocks=now,
        alpha=levels[-1],
        level=LEVEL if usual else 1.0 - levels[-1],
        next_alpha=_next_alpha(cumulative, left),
        earlier=tuple(each for each in blocks if each < now),
        planned=named,
        next_blocks=None if run.amended(CLEAR) else next((each for each in named if each > now), None),
        between=now < end and now not in named,
        added=tuple(a.blocks - a.blocks_before for a in added),
        seen=tuple(a.blocks_seen for a in added),
        ended_early=bool(run.amended(CLEAR)),
        until=_until(run),
        joined=bool(run.joined),
    )


def planned_levels(interim_analyses: Sequence[int]) -> tuple[float, ...]:
    """The level of the tests at each analysis that a plan names; at its end when it names none."""
    if not interim_analyses:
        return (ALPHA - RESERVE,)
    return nominal_levels(
        interim_analyses, [spent(each / interim_analyses[-1], ALPHA - RESERVE) for each in interim_analyses]
    )


def _next_alpha(cumulative: dict[int, float], left: float) -> float:
    """The level of an analysis at twice as many blocks, if they were added now."""
    if not cumulative:
        return ALPHA - RESERVE
    blocks = (*cumulative, 2 * max(cumulative))
    return nominal_levels(blocks, (*cumulative.values(), ALPHA - left / 2.0))[-1]


def _named(run: RunRecord) -> tuple[int, ...]:
    """The interim analyses that the plan names, rising. A plan in a file may hold anything."""
    named = run.planned.interim_analyses or ()
    if not all(0 < each <= run.blocks_planned for each in named):
        return ()
    return tuple(sorted(set(named)))


def _until(run: RunRecord) -> str | None:
    """What ends it early. A plan in a file may hold anything."""
    until = run.planned.until
    try:
        return until if until is not None and (until == UNTIL_CLEAR or precision_of(until) is not None) else None
    except ValueError:
        return None


CLEAR_KINDS = ("better", "equivalent", "disqualified")


def precision(pairs: Sequence[PairComparison]) -> float:
    """How far the widest interval of a primary endpoint reaches to a side, as a share; NaN where one has none."""
    ends = [(pair.primary.low, pair.primary.high) for pair in pairs]
    if not ends or any(not low > 0.0 or not math.isfinite(high) for low, high in ends):
        return math.nan
    return max(math.sqrt(high / low) for low, high in ends) - 1.0


@dataclass(frozen=True)
class Standing:
    """How what a plan waits for stands at an interim analysis, and whether it `ends` the run: the `precision` that is
    `wanted`, or without one that all verdicts are clear.
    """

    ends: bool
    wanted: float | None
    precision: float
    pairs: tuple[PairComparison, ...]


def standing(found: Comparison) -> Standing:
    """Whether what the plan waits for is there at this analysis.

    The intervals of interim analyses hold at all of them together (repeated confidence intervals, Jennison and
    Turnbull), so that a run may end by their width, which those of a single analysis would not bear: they would hold in
    93 % of runs.
    """
    interim = found.run.interim
    wanted = None if interim is None else precision_of(interim.until)
    if interim is not None and wanted is not None:
        return Standing(interim.precision <= wanted, wanted, interim.precision, found.pairs)
    clear = bool(found.pairs) and all(pair.primary.verdict.kind in CLEAR_KINDS for pair in found.pairs)
    return Standing(clear, None, math.nan, found.pairs)
