"""Looks at a run, planned and not, in words."""

from __future__ import annotations

import math

from bakeoff.compare.estimate.interim import LEVEL, Look, Standing
from bakeoff.compare.verdict.why_open import NextLook
from bakeoff.plan.rules.until import precision_of
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


def waits(look: Look) -> str:
    """Why there is no verdict before the next planned look; empty when none is to come."""
    if look.next_blocks is None:
        return ""
    return sentence(NextLook(look.next_blocks))


def place(look: Look) -> str:
    """ "look 3 of 5", of those that are planned."""
    number = sum(each <= look.blocks for each in look.planned)
    return f"look {number} of {len(look.planned)}"


def looks_told(look: Look) -> str:
    """What must be known of looks, in sentences; empty when the only one was planned."""
    told = [_added(look)] if look.added else []
    if look.planned:
        at = wording.names([f"{each:,}" for each in look.planned])
        told += [f"Looks were planned after {at} blocks.", *_ending(look)]
    if look.between:
        told.append(f"There is no look at {wording.plural(look.blocks, 'block')}: {waits(look) or 'all are over'}.")
    elif look.earlier or look.planned or look.level > LEVEL:
        told.append(
            f"This is look {look.number}: its tests are held to {wording.percent(look.alpha)} and its intervals to "
            f"{100.0 * look.level:.4g} %, so that all looks together hold at 5 % and 95 %."
        )
    return " ".join(told)


def _added(look: Look) -> str:
    parts = [
        f"{wording.plural(more, 'block')} after {wording.count(seen)} had been seen"
        for more, seen in zip(look.added, look.seen, strict=True)
    ]
    what = "Blocks of a further file count as" if look.joined else "Blocks were"
    plan = "added after a look" if look.joined else "added that the plan did not have"
    return f"{what} {plan}: {wording.names(parts)}."


def _ending(look: Look) -> list[str]:
    """Whether what ends the run early was there."""
    wanted, reached = precision_of(look.until), f"precision {wording.percent(look.precision)}"
    if look.ended_early:
        why = "its verdict is clear" if wanted is None else f"{reached} reached ({wording.percent(wanted)} wanted)"
        return [f"Stopped at {place(look)}: {why}."]
    if wanted is None or look.between:
        return []
    if look.precision <= wanted:
        return [f"At {place(look)}: {reached} reached ({wording.percent(wanted)} wanted)."]
    reached = "no precision" if math.isnan(look.precision) else f"only {reached}"
    return [f"At {place(look)}: {reached} ({wording.percent(wanted)} wanted)."]


@sentence.register
def standing_told(one: Standing) -> str:
    """How what a plan waits for stands."""
    if one.wanted is not None:
        wanted = f"({wording.percent(one.wanted)} wanted)"
        if math.isnan(one.precision):
            return f"no interval yet {wanted}"
        return f"precision {wording.percent(one.precision)}{' reached' if one.ends else ''} {wanted}"
    if not one.ends:
        return "not clear yet"
    return "; ".join(f"{pair.contender} and {pair.baseline}: {sentence(pair.primary.verdict)}" for pair in one.pairs)
