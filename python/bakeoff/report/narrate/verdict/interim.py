"""Interim analyses of a run, planned and not, in words."""

from __future__ import annotations

import math

from bakeoff.compare.estimate.interim import LEVEL, InterimAnalysis, Standing
from bakeoff.compare.verdict.why_open import NextAnalysis
from bakeoff.plan.rules.until import precision_of
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


def waits(interim: InterimAnalysis) -> str:
    """Why there is no verdict before the next planned interim analysis; empty when none is to come."""
    if interim.next_blocks is None:
        return ""
    return sentence(NextAnalysis(interim.next_blocks))


def place(interim: InterimAnalysis) -> str:
    """ "interim analysis 3 of 5", of those that are planned."""
    number = sum(each <= interim.blocks for each in interim.planned)
    return f"interim analysis {number} of {len(interim.planned)}"


def interim_text(interim: InterimAnalysis) -> str:
    """The interim analyses in sentences; empty when the end of the plan is the only analysis."""
    sentences = [_added(interim)] if interim.added else []
    if interim.planned:
        at = wording.names([f"{each:,}" for each in interim.planned])
        sentences += [f"Interim analyses were planned after {at} blocks.", *_ending(interim)]
    if interim.between:
        sentences.append(
            f"No interim analysis is planned at {wording.plural(interim.blocks, 'block')}: "
            f"{waits(interim) or 'all are over'}."
        )
    elif interim.earlier or interim.planned or interim.level > LEVEL:
        sentences.append(
            f"This is analysis {interim.number}: its tests use {wording.percent(interim.alpha)} and its intervals "
            f"{100.0 * interim.level:.4g} %, so that all analyses together keep 5 % and 95 %."
        )
    return " ".join(sentences)


def _added(interim: InterimAnalysis) -> str:
    parts = [
        f"{wording.plural(more, 'block')} after {wording.count(seen)} had been seen"
        for more, seen in zip(interim.added, interim.seen, strict=True)
    ]
    what = "Blocks of a further file count as" if interim.joined else "Blocks were"
    plan = "added after an analysis" if interim.joined else "added that the plan did not have"
    return f"{what} {plan}: {wording.names(parts)}."


def _ending(interim: InterimAnalysis) -> list[str]:
    """Whether what ends the run early was there."""
    wanted, reached = precision_of(interim.until), f"precision {wording.percent(interim.precision)}"
    if interim.ended_early:
        why = "its verdict is clear" if wanted is None else f"{reached} reached ({wording.percent(wanted)} wanted)"
        return [f"Stopped at {place(interim)}: {why}."]
    if wanted is None or interim.between:
        return []
    if interim.precision <= wanted:
        return [f"At {place(interim)}: {reached} reached ({wording.percent(wanted)} wanted)."]
    reached = "no precision" if math.isnan(interim.precision) else f"only {reached}"
    return [f"At {place(interim)}: {reached} ({wording.percent(wanted)} wanted)."]


@sentence.register
def standing_text(one: Standing) -> str:
    """How what a plan waits for stands."""
    if one.wanted is not None:
        wanted = f"({wording.percent(one.wanted)} wanted)"
        if math.isnan(one.precision):
            return f"no interval yet {wanted}"
        return f"precision {wording.percent(one.precision)}{' reached' if one.ends else ''} {wanted}"
    if not one.ends:
        return "not clear yet"
    return "; ".join(f"{pair.contender} and {pair.baseline}: {sentence(pair.primary.verdict)}" for pair in one.pairs)
