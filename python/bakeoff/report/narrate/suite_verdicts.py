"""Verdicts of suites among those of all suites of a campaign, in words."""

from __future__ import annotations

from bakeoff.compare.campaign_model import SuiteEffect, SuiteVerdict
from bakeoff.report.narrate.factors import NOT_EQUAL, verdict_told
from bakeoff.report.narrate.sentences import sentence

ALONE = {"better": "better", "near_margin": "different", "equivalent": "equivalent"}


@sentence.register
def suite_verdict(one: SuiteVerdict) -> str:
    """The verdict that is left of a pair, with what an answer would still take."""
    if one.left and one.kind != "inconclusive":
        return one.verdict.text
    own = [] if one.left else [f"{ALONE[one.verdict.kind]}{_lost(one.family)}"]
    return _with("inconclusive", [*own, *one.still])


@sentence.register
def suite_effect(one: SuiteEffect) -> str:
    """The same of an effect."""
    if not one.left:
        clause = NOT_EQUAL if one.verdict.kind == "near_margin" else verdict_told(one.verdict)
        return _with(f"{clause}{_lost(one.family)}", one.still)
    if one.kind == "inconclusive":
        return _with("not shown to differ", one.still)
    return verdict_told(one.verdict)


def _lost(family: int) -> str:
    return f" in this suite alone, not after Holm over {family}"


def _with(verdict: str, still: list[str] | tuple[str, ...]) -> str:
    return f"{verdict}: {'; '.join(still)}" if still else verdict
