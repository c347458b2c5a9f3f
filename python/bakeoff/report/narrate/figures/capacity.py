"""What searches found, in sentences."""

from __future__ import annotations

import math

from bakeoff.compare.limits.capacity_model import CapacityComparison, ContenderCapacity, LeastLoad
from bakeoff.core.times import ms_of
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import AT_LEAST, DIED, UNSETTLED
from bakeoff.store.records.trial_parts import GROWTH_TERM, TermRecord


def capacity_sentences(found: CapacityComparison) -> list[str]:
    """The capacities in one sentence, then what keeps one of them from being known."""
    parts = [f"{c.name} {capacity_text(c, found.unit)}" for c in found.contenders]
    texts = [f"Capacity under {found.objective}: {'; '.join(parts)}."]
    for contender in found.contenders:
        texts += _at_least(contender)
        texts += _none(contender, found)
        texts += _died(contender)
        reasons = [search.reason for search in contender.searches if search.outcome == UNSETTLED]
        if reasons:
            of = f"{len(reasons)} of {_searches(contender)}"
            texts.append(f"The bounds of {contender.name} did not close in {of}: {reasons[-1]}.")
    return texts


def capacity_text(c: ContenderCapacity, unit: str) -> str:
    """`1,000 requests/s (95 % 990 – 1,010)`."""
    if not c.blocks:
        return "none found"
    least = "at least " if c.at_least else ""
    interval = "" if math.isnan(c.low) else f"95 % {wording.rate(c.low)} – {wording.rate(c.high)}"
    remarks = "; ".join(filter(None, (interval, unconfirmed(c))))
    return f"{least}{wording.rate(c.capacity)} {unit}" + (f" ({remarks})" if remarks else "")


def unconfirmed(c: ContenderCapacity) -> str:
    """ "not confirmed: at 85 % it failed in 2 of 6", or that no share was tried; empty where each was met each time."""
    if not c.shares:
        return "not confirmed: no trial at a share of it followed"
    missed = c.unconfirmed
    if missed is None:
        return ""
    failed = missed.trials - missed.met
    return f"not confirmed: at {wording.percent(missed.share)} it failed in {failed} of {missed.trials}"


def _searches(c: ContenderCapacity) -> str:
    return wording.plural(len(c.searches), "search", "searches")


def _at_least(c: ContenderCapacity) -> list[str]:
    reasons = [search.reason for search in c.searches if search.outcome == AT_LEAST]
    if not reasons:
        return []
    return [f"{c.name} carries at least that: in {len(reasons)} of {_searches(c)} {reasons[-1]}."]


def _none(c: ContenderCapacity, found: CapacityComparison) -> list[str]:
    if not c.none:
        return []
    figures = "" if c.least is None else f"; at {c.least.load}, the least, {_figures(c.least)}"
    return [f"No load met {found.objective} on {c.name} in {c.none} of {_searches(c)}{figures}."]


def _figures(least: LeastLoad) -> str:
    if least.reason:
        return f"the trial {least.state}: {least.reason}"
    terms = [term for term in least.terms if term.name != GROWTH_TERM or not term.met]
    return ", ".join(f"{term.name} was {term_value(term)}" for term in terms)


# What these terms come to is a share; all others are times.
def term_value(term: TermRecord) -> str:
    """What it came to: `12.3 ms`, `0.4 %`."""
    if term.value is None:
        return "beyond all that was answered"
    if term.is_share:
        return wording.percent(term.value)
    return f"{wording.figures(ms_of(term.value))} ms"


def _died(c: ContenderCapacity) -> list[str]:
    reasons = [search.reason for search in c.searches if search.outcome == DIED]
    if not reasons:
        return []
    return [f"{c.name} was lost in {len(reasons)} of {_searches(c)}, which count as forfeited: {reasons[0]}."]
