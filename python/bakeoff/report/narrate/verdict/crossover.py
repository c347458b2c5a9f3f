"""Where the order turns with the load, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.compare.verdict.crossover import Turn, turns_of
from bakeoff.load.load_step import Rate
from bakeoff.report.narrate import wording

MOST_NAMED = 3


def turn_sentence(pair: PairComparison, what: str) -> str:
    """ "The order turns with the load: at 1 client a is better (1.52× the requests/s of b, 1.49–1.55), from 4 clients
    on b (…)." `what` is the short name of what decides.
    """
    found = turn_clause(pair, what)
    return f"The {found}." if found else ""


def turn_clause(pair: PairComparison, what: str, end: Endpoint | None = None) -> str:
    """ "order turns with the load: at 1 client a is better (…)", by `end`, else by what decides; empty where none."""
    parts = []
    for place, turn in enumerate(turns_of(pair, end)):
        other = pair.baseline if turn.winner == pair.contender else pair.contender
        reach = _instead(turn) or _reach(turn, f"the {what} of {other}")
        parts.append(f"{_where(turn)} {turn.winner}{' is better' if place == 0 else ''} ({reach})")
    return f"order turns with the load: {', '.join(parts)}" if parts else ""


def also_turns(pairs: Sequence[PairComparison]) -> str:
    """ "The order of other pairs turns with the load, too: a and c; b and c." Empty where none does."""
    turning = [f"{pair.baseline} and {pair.contender}" for pair in pairs if turns_of(pair)]
    more = [f"{len(turning) - MOST_NAMED} more"] if len(turning) > MOST_NAMED else []
    named = "; ".join([*turning[:MOST_NAMED], *more])
    return f"The order of other pairs turns with the load, too: {named}." if turning else ""


def _where(turn: Turn) -> str:
    if len(turn.load_steps) == 1:
        return f"at {turn.load_steps[0].words}"
    if turn.to_the_end:
        return f"from {turn.load_steps[0].words} on"
    return f"at {wording.names([*(load_step.number for load_step in turn.load_steps[:-1]), turn.load_steps[-1].words])}"


def _reach(turn: Turn, what: str) -> str:
    """ "up to 2.10× the requests/s of a at 32 clients, 2.05–2.15"."""
    where = f" at {turn.at.words}" if len(turn.load_steps) > 1 else ""
    up_to = ("up to " if turn.ratio > 1.0 else "down to ") if where else ""
    ratio = wording.times(turn.ratio, what, turn.low, turn.high)
    return f"{up_to}{ratio}{where}, {wording.interval(turn.low, turn.high)}"


def _instead(turn: Turn) -> str:
    """Why there is no ratio of what decides at any of these loads; empty where there is one."""
    did = "fell behind, or failed, in" if any(isinstance(load_step, Rate) for load_step in turn.load_steps) else "lost"
    parts = [f"{name} {did} every trial{'' if len(turn.load_steps) == 1 else ' at each'}" for name in turn.losers]
    parts += [f"both fall behind, {turn.winner} answers more a second"] if turn.both_behind else []
    return "; ".join(parts)
