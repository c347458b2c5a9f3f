"""Trials that were not steady, in words."""

from __future__ import annotations

from bakeoff.compare.steady_model import Pace, size
from bakeoff.units import plural


def unsteady_clause(pace: Pace) -> str:
    """ "was not steady in 3 of 8 trials: it sank by 8 % over the trial (trial 3, 8 clients, block 2)"."""
    worst = max(pace.unsteady, key=size)
    trials = f"{len(pace.unsteady)} of {plural(pace.judged, 'trial')}"
    where = f"trial {worst.trial_id}, {worst.mix.words}, block {worst.block}"
    return f"was not steady in {trials}: it {worst.words} ({where})"


def unsteady_too(pace: Pace) -> str:
    """ "nor was apache in 2 of 8", after the clause of another contender."""
    return f"nor was {pace.contender} in {len(pace.unsteady)} of {pace.judged}"
