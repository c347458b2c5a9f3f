"""Loads at which the order turns: one contender is better at some load steps, the other at others."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bakeoff.compare.estimate.intervals import turned
from bakeoff.compare.model.pair import Endpoint, PairComparison, RatioPoint
from bakeoff.load.load_step import LoadStep

# The kind of the sentence in a headline.
CROSSOVER = "crossover"
NO_RATIO = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Crossover:
    """Who is better at `load_steps`, by the simultaneous bands. `ratio` with its band is what `winner` reaches of the
    other where its lead is largest, at the load step `at`; NaN where `losers` lost every trial at all of them (at
    rates: fell behind, or failed), or `both_overloaded`. `to_the_end`: at all load steps from the first of these on.
    """

    winner: str
    load_steps: tuple[LoadStep, ...]
    to_the_end: bool
    at: LoadStep
    ratio: float
    low: float
    high: float
    losers: tuple[str, ...] = ()
    both_overloaded: bool = False


def crossovers_of(pair: PairComparison, end: Endpoint | None = None) -> tuple[Crossover, ...]:
    """One for each who is better at some load by `end`, else by what decides, in the order of their first loads; empty
    where that is nobody but the one who is better over all loads. Where only the other one is, the loads of the one who
    is better over all have no verdict of their own, and the ranking crosses over all the same.
    """
    end = end or pair.primary
    curve = next((each for each in pair.curves if each.metric == end.metric), None)
    points = () if curve is None else curve.points
    won = [(point.verdict.winner, point) for point in points if point.verdict.winner is not None]
    winners = list(dict.fromkeys(winner for winner, _ in won))
    overall = {end.verdict.winner} - {None}
    if len({*winners} | overall) < 2 or not winners:
        return ()
    return tuple(_crossover(pair, name, [point for winner, point in won if winner == name], points) for name in winners)


def _crossover(pair: PairComparison, winner: str, own: list[RatioPoint], points: tuple[RatioPoint, ...]) -> Crossover:
    load_steps = tuple(point.load_step for point in own)
    to_the_end = load_steps == tuple(point.load_step for point in points[-len(load_steps) :])
    # Of trials that were lost the ratio is what a loss counts as; of two that were overloaded that of what they
    # answered.
    measured = [point for point in own if not point.all_forfeited and not point.both_overloaded]
    if not measured:
        losers = tuple(dict.fromkeys(point.all_forfeited for point in own if point.all_forfeited))
        return Crossover(
            winner,
            load_steps,
            to_the_end,
            load_steps[0],
            *NO_RATIO,
            losers,
            any(point.both_overloaded for point in own),
        )
    most = max(measured, key=lambda point: abs(math.log(point.ratio)))
    ratio, ends = most.ratio, (most.low, most.high)
    if winner == pair.baseline:
        ratio, ends = 1.0 / ratio, turned(*ends)
    return Crossover(winner, load_steps, to_the_end, most.load_step, ratio, *ends)
