"""The report that a run or a campaign challenges: what it said, and how what was measured now stands to it."""

from __future__ import annotations

import math

from bakeoff.compare.collections.challenge_model import CampaignChallenge, Challenge, ReferenceRatio, SuiteChallenge
from bakeoff.compare.planning.noise import floor_of
from bakeoff.report.blocks.tree import Block, Bullets, Column, Section, SeverityText, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.campaign import NOTHING_YET
from bakeoff.report.narrate.sentences import sentence

OVER_A_BRIDGE = (
    "Unpaired, and no verdict. Each side is divided by a contender that both runs measured, the bridge: a change that "
    "hit all alike cancels. The intervals (95 %, Welch) hold only if nothing else changed; no measurement can show "
    "that."
)
NO_BRIDGE = (
    "Unpaired, no verdict and no interval: a change of the machine or the network would look the same. Measure one of "
    "the reported contenders again (`--rerun`) for an interval."
)
TITLE = "The report that is challenged"
REPORTED_SENTENCES = "That report says, unconfirmed by this run:"


@report_section("challenge", ReportPart.FRONT, Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """What is challenged, beside whom, and ratios that are no verdict."""
    made = context.comparison.challenge
    if made is None:
        return None
    blocks: list[Block] = [
        Text(_what(context, made), detail=Detail.SUMMARY),
        Text(_company(made), detail=Detail.SUMMARY),
    ]
    if moved := _moved(made, context.comparison.run.delta):
        blocks.append(Text(moved, "warning", detail=Detail.SUMMARY))
    if apart := _apart(context, made):
        blocks.append(Text(apart))
    if made.ratios:
        blocks.append(_table(made))
        blocks += [Text(text, detail=Detail.SUMMARY) for text in _within_the_noise(context, made)]
    elif made.absent:
        blocks.append(Text(f"Nothing of now is divided by anything of then: {_why_none(made)}."))
    blocks += [Text(REPORTED_SENTENCES), Bullets(tuple(made.reported))] if made.reported else []
    seal = f", and its run file by the seal {made.seal}" if made.seal else ""
    blocks.append(Text(f"It is known by its SHA-256, {made.sha256}{seal}."))
    return Section(TITLE, tuple(blocks))


def challenge_over_all(made: CampaignChallenge) -> Section:
    """Of a campaign: which suites were measured again, beside whom, and what the report says over all of them."""
    columns = (
        Column("Suite", False),
        Column(f"Measured beside {made.challenger}", False),
        Column("Not measured again", False),
        Column("What that report says", False, spare=1),
    )
    note = (
        "Verdicts rest on trials of this run. The chapter of each suite compares the challenger with contenders that "
        "were not measured again, unpaired and without a verdict. A contender that misses a suite has no place in the "
        "order over all suites."
    )
    rows = tuple((one.suite, _again(one, made.challenger), _absent(one), _first_sentence(one)) for one in made.suites)
    what = (
        f"This campaign challenges {made.report}, a report on {wording.plural(len(made.suites), 'suite')} titled "
        f"“{made.title}”: {made.challenger} was measured by the plans of that report."
    )
    blocks: list[Block] = [
        Text(what, detail=Detail.SUMMARY),
        Table("The challenge, suite by suite", columns, rows, note, detail=Detail.SUMMARY),
    ]
    blocks += [Text(REPORTED_SENTENCES), Bullets(made.reported)] if made.reported else []
    blocks.append(Text(f"It is known by its SHA-256, {made.sha256}."))
    return Section(TITLE, tuple(blocks), section.id, section.part)


def _first_sentence(one: SuiteChallenge) -> str:
    if one.had_no_figures:
        return f"It had no figures: {one.had_no_figures}."
    return one.reported[0] if one.reported else "nothing"


def _again(one: SuiteChallenge, challenger: str) -> str:
    if one.left_out:
        return SeverityText(f"left out: {one.left_out}", "bad")
    if not one.has_figures:
        return SeverityText(f"no figures: {one.missing or NOTHING_YET}", "bad")
    if challenger in one.absent:
        return SeverityText(f"no figures: {challenger} is missing from it, {one.absent[challenger]}", "bad")
    return wording.names(list(one.again)) or SeverityText("none: no verdict", "bad")


def _absent(one: SuiteChallenge) -> str:
    reasons = "; ".join(why if why.startswith(name) else f"{name}: {why}" for name, why in one.absent.items())
    return SeverityText(reasons, "warning") if reasons else wording.MISSING


def _apart(context: Context, made: Challenge) -> str:
    """Of a plan with factors: the challenger is none of their combinations."""
    factors = [factor.name for factor in context.run.planned.factors]
    if not factors:
        return ""
    return f"{made.challenger} has no level of {wording.names(factors)}: effects of factors are those of the others."


def _what(context: Context, made: Challenge) -> str:
    if made.missing:
        return (
            f"This run is part of a challenge of {made.report}, which has no figures of {context.run.suite} "
            f"({made.missing}): {made.challenger} was measured by the plan that the report holds of it."
        )
    began = context.moment(made.created_at) if made.created_at else "an unknown day"
    return (
        f"This run challenges {made.report}, a report on {made.file or 'a run'} of {made.suite} begun {began}: "
        f"{made.challenger} was measured by the plan of that report, with other contenders"
        + (f" and another {wording.names(list(made.other_settings[:8]))}." if made.other_settings else ".")
    )


def _why_none(made: Challenge) -> str:
    return "trials were lost" if made.why_none is None else sentence(made.why_none)


def _company(made: Challenge) -> str:
    if made.challenger in made.absent:
        return f"{made.challenger} could not be measured: {made.absent[made.challenger]}. There is no verdict on it."
    again = wording.names(list(made.again))
    text = (
        f"{again} of that report {'was' if len(made.again) == 1 else 'were'} measured again in the same blocks: the "
        f"verdicts on {made.challenger} and {again} are of this run alone."
        if made.again
        else f"None of its contenders was measured again, so that there is no verdict on {made.challenger}."
    )
    return " ".join((text, *(f"{name} was not measured again: {why}." for name, why in made.absent.items())))


def _moved(made: Challenge, delta: float) -> str:
    """Those who were measured again are the gauge: where they are not what they were, something else changed."""
    moved = [
        f"measured again, {one.contender} is {wording.ratio(one.ratio, one.low, one.high)} of what it was"
        for one in made.ratios
        if one.contender == one.reference and (one.low > 1.0 + delta or one.high < 1.0 / (1.0 + delta))
    ]
    changes = [*map(sentence, made.differences), *moved]
    if not changes:
        return ""
    return f"{wording.sentence('; '.join(changes))}. Ratios that stand over no bridge are of that, too."


def _within_the_noise(context: Context, made: Challenge) -> list[str]:
    """What equals differ by in one run, and which of the ratios are nearer to 1 than that."""
    if context.comparison.noise_quote is None:
        return []
    floors = [floor_of(context.comparison, min(one.blocks_now, one.reference_blocks)) for one in made.ratios]
    near = [_named(one) for one, floor in zip(made.ratios, floors, strict=True) if _lead(one.ratio) < floor]
    text = f"The noise floor of this set-up is {wording.percent(max(floors))}, by which equals differ within one run"
    conclusion = (
        f"nearer to 1 than that, and so no difference: {'; '.join(near)}" if near else "no ratio is nearer to 1"
    )
    return [f"{text}: {conclusion}."]


def _lead(ratio: float) -> float:
    return max(ratio, 1.0 / ratio) - 1.0 if ratio > 0.0 else math.inf


def _table(made: Challenge) -> Table:
    direction = "" if made.higher_is_better else " (below 1 is better)"
    columns = (
        Column("Now ÷ then", False),
        Column("Ratio"),
        Column("95 % interval"),
        Column("Blocks now"),
        Column("then"),
    )
    rows = tuple(
        (
            _named(one),
            wording.ratio(one.ratio, one.low, one.high),
            wording.interval(one.low, one.high),
            f"{one.blocks_now}",
            f"{one.reference_blocks}",
        )
        for one in made.ratios
    )
    note = OVER_A_BRIDGE if made.again else NO_BRIDGE
    return Table(f"Held against the report: {made.metric}{direction}", columns, rows, note, detail=Detail.SUMMARY)


def _named(one: ReferenceRatio) -> str:
    if one.contender == one.reference:
        return f"{one.contender}, itself again"
    return f"{one.contender} ÷ {one.reference}" + (f", over {wording.names(list(one.over))}" if one.over else "")
