"""Crossovers over the loads, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.compare.verdict.crossover import Crossover, crossovers_of
from bakeoff.load.load_step import Rate
from bakeoff.report.narrate import wording

MOST_NAMED = 3


def crossover_sentence(pair: PairComparison, what: str) -> str:
    """ "The ranking crosses over: at 1 client a is better (1.52× the requests/s of b, 1.49–1.55), from 4 clients
    on b (…)." `what` is the short name of what decides.
    """
    found = crossover_clause(pair, what)
    return f"The {found}." if found else ""


def crossover_clause(pair: PairComparison, what: str, end: Endpoint | None = None) -> str:
    """ "ranking crosses over: at 1 client a is better (…)", by `end`, else by what decides; empty where none."""
    parts = []
    for place, crossover in enumerate(crossovers_of(pair, end)):
        other = pair.baseline if crossover.winner == pair.contender else pair.contender
        reach = _instead(crossover) or _reach(crossover, f"the {what} of {other}")
        parts.append(f"{_where(crossover)} {crossover.winner}{' is better' if place == 0 else ''} ({reach})")
    return f"ranking crosses over: {', '.join(parts)}" if parts else ""


def other_crossovers(pairs: Sequence[PairComparison]) -> str:
    """ "The ranking of other pairs crosses over, too: a and c; b and c." Empty where none does."""
    crossings = [f"{pair.baseline} and {pair.contender}" for pair in pairs if crossovers_of(pair)]
    more = [f"{len(crossings) - MOST_NAMED} more"] if len(crossings) > MOST_NAMED else []
    named = "; ".join([*crossings[:MOST_NAMED], *more])
    return f"The ranking of other pairs crosses over, too: {named}." if crossings else ""


def _where(crossover: Crossover) -> str:
    if len(crossover.load_steps) == 1:
        return f"at {crossover.load_steps[0].words}"
    if crossover.to_the_end:
        return f"from {crossover.load_steps[0].words} on"
    numbers = [load_step.number for load_step in crossover.load_steps[:-1]]
    return f"at {wording.names([*numbers, crossover.load_steps[-1].words])}"


def _reach(crossover: Crossover, what: str) -> str:
    """ "up to 2.10× the requests/s of a at 32 clients, 2.05–2.15"."""
    where = f" at {crossover.at.words}" if len(crossover.load_steps) > 1 else ""
    up_to = ("up to " if crossover.ratio > 1.0 else "down to ") if where else ""
    ratio = wording.times(crossover.ratio, what, crossover.low, crossover.high)
    return f"{up_to}{ratio}{where}, {wording.interval(crossover.low, crossover.high)}"


def _instead(crossover: Crossover) -> str:
    """Why there is no ratio of what decides at any of these loads; empty where there is one."""
    did = (
        "was overloaded, or failed, in"
        if any(isinstance(load_step, Rate) for load_step in crossover.load_steps)
        else "forfeited"
    )
    parts = [
        f"{name} {did} every trial{'' if len(crossover.load_steps) == 1 else ' at each'}" for name in crossover.losers
    ]
    parts += [f"both are overloaded, {crossover.winner} answers more a second"] if crossover.both_overloaded else []
    return "; ".join(parts)
