"""The words of a closed loop. Other shapes say what differs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.model.comparison import Comparison, ContenderSummary, RunInfo
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.verdict.ranking import LEAST
from bakeoff.compare.verdict.why_open import why_of
from bakeoff.core.thresholds import P99_OPERATIONS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.crossover import crossover_clause
from bakeoff.report.narrate.verdict.verdicts import brief_text


class ShapeWords:
    """What a headline says of a run as its load was laid out: derive from it, and override what differs."""

    # Whether equals, as two contenders, show a noise floor.
    has_floor = True

    def beside(self, found: Comparison, pairs: Sequence[PairComparison]) -> list[str]:
        """What is told of these pairs beside what decides."""
        return [text for pair in pairs for text in _p99(pair, found)]

    def most(self, found: Comparison) -> list[str]:
        """What each contender reached."""
        return [_peaks(found.contenders, found.run)]

    def rates(self, found: Comparison) -> list[float]:
        """The starts a second that were offered, or carried; none of clients that wait."""
        return []


def _p99(pair: PairComparison, found: Comparison) -> list[str]:
    for end in pair.secondary:
        if end.metric == "p99" and end.blocks > 1 and end.verdict.kind != "disqualified" and not end.all_forfeited:
            title = next(one.short for one in found.measures if one.metric == "p99")
            interval = "" if math.isnan(end.low) else f" ({wording.interval(end.low, end.high)})"
            reach = wording.times(end.ratio, f"that of {pair.baseline}", end.low, end.high)
            few = end.verdict.kind == "too_few" and end.blocks < pair.primary.blocks
            why = f" (a trial of fewer than {P99_OPERATIONS} operations has no p99)" if few else ""
            open_by = why_of(end.verdict.still)
            verdict = f"inconclusive, {sentence(open_by)}" if open_by else brief_text(end.verdict)
            crossings = crossover_clause(pair, title, end)
            also = f"; the {crossings}" if crossings else ""
            return [f"The {title} of {pair.contender} is {reach}{interval}: {verdict}{why}{also}."]
    return []


def _peaks(contenders: tuple[ContenderSummary, ...], info: RunInfo) -> str:
    peaked = [c for c in contenders if c.peak_load_step is not None]
    load_steps = {c.peak_load_step for c in peaked}
    if len(peaked) >= LEAST and len(load_steps) == 1:
        figures = sorted(peaked, key=lambda c: -c.peak)
        parts = [f"{c.name} {_peak_figure(c)}" for c in figures]
        return f"Peak in {info.rate_unit}, at {load_steps.pop().words}: {'; '.join(parts)}."  # type: ignore[union-attr]
    parts = [
        f"{c.name} {peak_text(c, info)} at {c.peak_load_step.words}" for c in contenders if c.peak_load_step is not None
    ]
    if not parts and any(c.trials_ok for c in contenders):
        return "No rate is stated."
    return f"Peak: {'; '.join(parts)}." if parts else "No trial can be used."


def peak_text(c: ContenderSummary, info: RunInfo) -> str:
    return _peak_figure(c, f" {info.rate_unit}")


def _peak_figure(c: ContenderSummary, unit: str = "") -> str:
    if c.peak_is_bimodal:
        ends = f"{wording.rate(c.peak_lowest)} and {wording.rate(c.peak_highest)}"
        return f"between {ends}{unit} (blocks differ)"
    return f"{wording.rate(c.peak)}{unit}"
