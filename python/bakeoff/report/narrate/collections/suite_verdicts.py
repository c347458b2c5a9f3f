"""Verdicts of suites among those of all suites of a campaign, in words."""

from __future__ import annotations

from bakeoff.compare.collections.campaign_model import SuiteEffect, SuiteVerdict
from bakeoff.report.narrate.figures.factors import NOT_EQUAL, verdict_text
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.verdicts import open_text, with_open

ALONE = {"better": "better", "near_margin": "different", "equivalent": "equivalent"}


@sentence.register
def suite_verdict(one: SuiteVerdict) -> str:
    """The verdict that is left of a pair, with what an answer would still take."""
    if one.left and one.kind != "inconclusive":
        return sentence(one.verdict)
    own = "" if one.left else f"{ALONE[one.verdict.kind]}{_lost(one.family)}"
    text = "; ".join(part for part in (own, "" if one.still is None else open_text(one.still)) if part)
    return f"inconclusive: {text}" if text else "inconclusive"


@sentence.register
def suite_effect(one: SuiteEffect) -> str:
    """The same of an effect."""
    if not one.left:
        clause = NOT_EQUAL if one.verdict.kind == "near_margin" else verdict_text(one.verdict)
        return with_open(f"{clause}{_lost(one.family)}", one.still)
    if one.kind == "inconclusive":
        return with_open("not shown to differ", one.still)
    return verdict_text(one.verdict)


def _lost(family: int) -> str:
    return f" in this suite alone, not after Holm over {family}"
