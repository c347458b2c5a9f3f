"""Loads at which the order turns: one contender is better at some mixes, the other at others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.compare.intervals import turned
from bakeoff.compare.pair_model import PairComparison, RatioPoint
from bakeoff.mix import Mix, Rate
from bakeoff.report.narrate import wording

# The kind of the sentence in a headline.
TURNS = "turns"
MOST_NAMED = 3


@dataclass(frozen=True)
class Turn:
    """Who is better at `mixes`, by the simultaneous bands. `ratio` with its band is what `winner` reaches of the other
    where its lead is largest, at the mix `at`; NaN where the other lost every trial at all of them, or both
    fell behind: `why` is told instead. `to_the_end`: at all mixes from the first of these on.
    """

    winner: str
    mixes: tuple[Mix, ...]
    to_the_end: bool
    at: Mix
    ratio: float
    low: float
    high: float
    why: str = ""


def turns_of(pair: PairComparison) -> tuple[Turn, ...]:
    """One for each of the two, in the order of their first loads; empty where one is better wherever any is."""
    curve = next((each for each in pair.curves if each.metric == pair.primary.metric), None)
    points = () if curve is None else curve.points
    won = [(point.verdict.winner, point) for point in points if point.verdict.winner is not None]
    winners = list(dict.fromkeys(winner for winner, _ in won))
    if len(winners) < 2:
        return ()
    return tuple(_turn(pair, name, [point for winner, point in won if winner == name], points) for name in winners)


def _turn(pair: PairComparison, winner: str, own: list[RatioPoint], points: tuple[RatioPoint, ...]) -> Turn:
    mixes = tuple(point.mix for point in own)
    to_the_end = mixes == tuple(point.mix for point in points[-len(mixes) :])
    # Of trials that were lost the ratio is what a loss counts as; of two that fell behind that of what they answered.
    measured = [point for point in own if not point.all_lost and not point.both_behind]
    if not measured:
        return Turn(winner, mixes, to_the_end, mixes[0], math.nan, math.nan, math.nan, _instead(own, winner))
    most = max(measured, key=lambda point: abs(math.log(point.ratio)))
    ratio, ends = most.ratio, (most.low, most.high)
    if winner == pair.baseline:
        ratio, ends = 1.0 / ratio, turned(*ends)
    return Turn(winner, mixes, to_the_end, most.mix, ratio, *ends)


def turn_sentence(pair: PairComparison, what: str) -> str:
    """ "The order turns with the load: at 1 client a is better (1.52× the requests/s of b, 1.49–1.55), from 4 clients
    on b (…)." `what` is the short name of what decides.
    """
    parts = []
    for place, turn in enumerate(turns_of(pair)):
        other = pair.baseline if turn.winner == pair.contender else pair.contender
        reach = turn.why or _reach(turn, f"the {what} of {other}")
        parts.append(f"{_where(turn)} {turn.winner}{' is better' if place == 0 else ''} ({reach})")
    return f"The order turns with the load: {', '.join(parts)}." if parts else ""


def also_turns(pairs: Sequence[PairComparison]) -> str:
    """ "The order of other pairs turns with the load, too: a and c; b and c." Empty where none does."""
    turning = [f"{pair.baseline} and {pair.contender}" for pair in pairs if turns_of(pair)]
    more = [f"{len(turning) - MOST_NAMED} more"] if len(turning) > MOST_NAMED else []
    named = "; ".join([*turning[:MOST_NAMED], *more])
    return f"The order of other pairs turns with the load, too: {named}." if turning else ""


def _where(turn: Turn) -> str:
    if len(turn.mixes) == 1:
        return f"at {turn.mixes[0].words}"
    if turn.to_the_end:
        return f"from {turn.mixes[0].words} on"
    return f"at {wording.names([*(mix.number for mix in turn.mixes[:-1]), turn.mixes[-1].words])}"


def _reach(turn: Turn, what: str) -> str:
    """ "up to 2.10× the requests/s of a at 32 clients, 2.05–2.15"."""
    where = f" at {turn.at.words}" if len(turn.mixes) > 1 else ""
    up_to = ("up to " if turn.ratio > 1.0 else "down to ") if where else ""
    ratio = wording.times(turn.ratio, what, turn.low, turn.high)
    return f"{up_to}{ratio}{where}, {wording.interval(turn.low, turn.high)}"


def _instead(own: list[RatioPoint], winner: str) -> str:
    """Why there is no ratio of what decides at any of these loads."""
    losers = list(dict.fromkeys(point.all_lost for point in own if point.all_lost))
    did = "fell behind, or failed, in" if any(isinstance(point.mix, Rate) for point in own) else "lost"
    parts = [f"{name} {did} every trial{'' if len(own) == 1 else ' at each'}" for name in losers]
    if any(point.both_behind for point in own):
        parts.append(f"both fall behind, {winner} answers more a second")
    return "; ".join(parts)
