"""Verdicts in words: of a pair, at one load, and why nothing is shown."""

from __future__ import annotations

from collections.abc import Callable

from bakeoff.compare.model.pair import RatioPoint, Verdict
from bakeoff.compare.verdict.why_open import FlipsFail, HolmFails, NextAnalysis, Open
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.gates import gate_text


@sentence.register
def verdict_text(verdict: Verdict) -> str:
    """What may be said of a pair, with what an answer would still take."""
    match verdict.kind:
        case "disqualified" | "withheld":
            return f"{verdict.kind}: {decisive_words(verdict)}"
        case "too_few":
            return f"no verdict: {wording.plural(verdict.blocks, 'usable block')}, at least {MINIMUM_BLOCKS} are needed"
        case "inconclusive":
            return with_open("inconclusive", verdict.still)
        case "equivalent":
            faster = faster_words(verdict)
            return f"equivalent within ±{wording.percent(verdict.margin)}" + (f" ({faster})" if faster else "")
        case "near_margin":
            return f"{faster_words(verdict)}; whether by more than {wording.percent(verdict.margin)} is open"
        case "better":
            unsized = "" if verdict.sized else ": the direction is certain, the size is not"
            return f"{verdict.winner} better{unsized}"


def brief_text(of: Verdict | RatioPoint) -> str:
    """A verdict, or that at one load, with the names of its gates alone where it is withheld: their words stand with
    what decides.
    """
    if isinstance(of, RatioPoint):
        return _point_text(of, brief_text)
    verdict, gates = of, dict.fromkeys(gate.name for gate in of.decisive)
    return f"withheld: {', '.join(gates)}" if verdict.kind == "withheld" and gates else sentence(verdict)


def decisive_words(verdict: Verdict) -> str:
    """The reasons of one that disqualifies or is withheld."""
    return "; ".join(map(gate_text, verdict.decisive))


def faster_words(verdict: Verdict) -> str:
    """ "a is faster, by 1.2 to 2.4 %", of a difference that is certain and no verdict; empty where none is."""
    if not verdict.ahead:
        return ""
    by = f", by {wording.excess(*verdict.reach)}" if verdict.reach[0] > 1.0 else ""
    return f"{verdict.ahead} is faster{by}"


@sentence.register
def point_text(point: RatioPoint) -> str:
    """The verdict at one load in few words, with what was forfeited there."""
    return _point_text(point, verdict_text)


def _point_text(point: RatioPoint, words: Callable[[Verdict], str]) -> str:
    if not point.blocks:
        return "no pair of usable trials"
    verdict = point.verdict
    by_rate = not point.forfeited_as > 0.0
    did = "was overloaded in" if by_rate else "forfeited"
    losers = [f"{name} {did} {number} of {point.blocks} trials" for name, number in point.forfeited.items() if number]
    how = f", each counted {wording.counted_as(point.forfeited_as)}" if losers and not by_rate else ""
    parts = ["disqualified" if verdict.kind == "disqualified" else words(verdict), *losers]
    text = "; ".join(parts) + how
    if point.both_overloaded:
        text += (
            f"; both were overloaded in {point.both_overloaded} of {point.blocks} blocks: answers per second compared"
        )
    return text


def with_open(verdict: str, still: Open | None) -> str:
    """`verdict` with what keeps it open: "inconclusive: about 9 more blocks needed"."""
    reason = "" if still is None else open_text(still)
    return f"{verdict}: {reason}" if reason else verdict


@sentence.register
def open_text(still: Open) -> str:
    """What a difference did not pass, and what would settle it."""
    waits = "" if still.next_blocks is None else next_analysis(NextAnalysis(still.next_blocks))
    why = "" if still.why is None else sentence(still.why)
    needed = "" if still.needed is None else sentence(still.needed)
    parts = [waits] if still.between else [why, waits or needed]
    return "; ".join(part for part in parts if part)


@sentence.register
def next_analysis(why: NextAnalysis) -> str:
    """Of interim analyses that are planned."""
    return f"the next planned interim analysis is after {wording.plural(why.blocks, 'block')}"


@sentence.register
def flips_fail(why: FlipsFail) -> str:
    """Of the cross-check of each t test."""
    over = wording.plural(why.blocks, "block")
    return f"p = {wording.probability(why.p)} of the sign-flip test over {over} is above {why.level:.3g}"


@sentence.register
def holm_fails(why: HolmFails) -> str:
    """Of the t test; of one alone Holm leaves p as it is."""
    after = f" after Holm over {wording.plural(why.family, why.of)}" if why.family > 1 else ""
    return f"p = {wording.probability(why.p)}{after} is above {why.level:.3g}"
