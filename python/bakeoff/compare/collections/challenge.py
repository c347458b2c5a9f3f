"""How a run, or a campaign, stands to the report that it challenges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.collections.campaign_model import SuiteResult
from bakeoff.compare.collections.challenge_model import (
    AskedOtherwise,
    CampaignChallenge,
    Challenge,
    Machine,
    NoFigures,
    NotByBlock,
    OtherContent,
    OtherLoadSteps,
    OtherMachines,
    OtherMetric,
    ReferenceRatio,
    Searched,
    SuiteChallenge,
)
from bakeoff.compare.model import settings
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.level import Levels
from bakeoff.compare.model.plain import as_dict, nulled
from bakeoff.core.redact import HIDDEN
from bakeoff.stats import UnpairedRatio, unpaired_from_logs
from bakeoff.store.collections.challenged import (
    Challenged,
    ChallengedCampaign,
    ChallengedSuite,
    ReportedLevels,
    challenged,
    corpus_of,
)
from bakeoff.store.records.absent import absent_of
from bakeoff.store.records.run_records import RunRecord

# Of a plan: who was measured, and texts that follow from the rest.
NOT_SETTINGS = frozenset({"contenders", "fleet", "format", "name", "title", "changed", "assumed", "differences"})
Logs = NDArray[np.float64]


def challenge_of(run: RunRecord, levels: Levels | None, level: float) -> Challenge | None:
    """See Challenge; None for a run that challenges nothing. Intervals are at `level`."""
    read = challenged(run)
    if read is None:
        return None
    read = read.model_copy(update={"absent": {**read.absent, **absent_of(run)}})
    reported, origin = read.reported, read.origin
    why = _why_none(read, levels, not run.planned.shape.steps)
    asked = [AskedOtherwise(name, read.challenger, differ) for name, differ in _otherwise(run, read).items()]
    return Challenge(
        report=read.report,
        sha256=read.sha256,
        seal=origin.seal,
        file=reported.run.file,
        suite=reported.run.suite,
        created_at=reported.run.created_at,
        plan_hash=reported.run.plan_hash,
        reported=reported.headline,
        challenger=read.challenger,
        again=tuple(c.name for c in run.contenders if c.name in read.contenders and c.name != read.challenger),
        absent=dict(read.absent),
        metric="" if levels is None else levels.title,
        unit="" if levels is None else levels.unit,
        higher_is_better=levels is None or levels.higher_is_better,
        ratios=()
        if why or levels is None or reported.levels is None
        else tuple(_ratios(read, levels, reported.levels, level, frozenset(one.contender for one in asked))),
        why_none=why,
        missing=read.missing,
        differences=(*_differences(run, read), *asked),
        other_settings=tuple(dict.fromkeys(_other(read.data.get("plan"), run.plan))),
    )


def _other(reported: object, now: object, name: str = "") -> Iterator[str]:
    """The settings in which two plans differ; what a report hides is not known to."""
    if isinstance(reported, dict) and isinstance(now, dict):
        for key in {**reported, **now}:
            if key not in NOT_SETTINGS and key in reported and key in now:
                yield from _other(reported[key], now[key], f"{name}.{key}".lstrip("."))
    elif isinstance(reported, list) and isinstance(now, list) and len(reported) == len(now):
        for one, other in zip(reported, now, strict=True):
            yield from _other(one, other, name)
    elif reported != now and not (isinstance(reported, str) and HIDDEN in reported):
        yield name


def _otherwise(run: RunRecord, read: Challenged) -> dict[str, tuple[str, ...]]:
    """Contenders of the report with whom clients talked otherwise than with the challenger, and in which settings."""
    plan = read.data.get("plan")
    reported_plan = plan if isinstance(plan, dict) else {}
    names = sorted(
        {name for each in (reported_plan, run.plan) for own in settings.of_single(each).values() for name in own}
    )
    now = settings.of_contender(run.plan, read.challenger)
    found = {each: settings.of_contender(reported_plan, each) for each in read.absent}
    differ = {each: tuple(name for name in names if own.get(name) != now.get(name)) for each, own in found.items()}
    return {each: changed for each, changed in differ.items() if changed}


def _why_none(read: Challenged, levels: Levels | None, searched: bool) -> Fact | None:
    """Why nothing of now is divided by anything of then."""
    reported = read.reported.levels
    if read.missing:
        return NoFigures(read.missing)
    if searched:
        return Searched()
    if levels is None or reported is None:
        return NotByBlock()
    if (reported.title, reported.unit) != (levels.title, levels.unit):
        return OtherMetric(reported.title, levels.title)
    return OtherLoadSteps() if list(reported.load_steps) != nulled(as_dict(levels.load_steps)) else None


def _ratios(
    read: Challenged, levels: Levels, reported: ReportedLevels, level: float, otherwise: frozenset[str]
) -> Iterator[ReferenceRatio]:
    """Those who ran again first: they tell what else changed. The challenger is held against the others alone, for with
    those there is a paired ratio, and not against whom clients talked `otherwise` with. Whoever lost a trial has none:
    its other blocks would make it look better than it is.
    """
    former = {
        one.contender: _logs(one.values)
        for one in reported.contenders
        if one.contender in read.contenders and not one.forfeited
    }
    now = {one.contender: _logs(one.values) for one in levels.contenders if not one.forfeited}
    bridge = tuple(name for name in now if name != read.challenger and name in former)
    for name in bridge:
        yield from _against(name, name, (), unpaired_from_logs(former[name], now[name], level=level))
    for name in former:
        if name not in read.absent or name in otherwise or read.challenger not in now:
            continue
        below, above = former[name], now[read.challenger]
        if bridge:
            below = below - np.mean([_fitting(former[one], below) for one in bridge], axis=0)
            above = above - np.mean([now[one] for one in bridge], axis=0)
        made = unpaired_from_logs(below, above, level=level)
        alone = made if bridge else replace(made, low=math.nan, high=math.nan)
        yield from _against(read.challenger, name, bridge, alone)


def _against(name: str, reference: str, over: tuple[str, ...], made: UnpairedRatio) -> Iterator[ReferenceRatio]:
    if all(made.blocks):
        yield ReferenceRatio(name, reference, over, made.blocks[1], made.blocks[0], made.ratio, made.low, made.high)


def _logs(values: Sequence[float | None]) -> Logs:
    return np.array([math.log(value) if value is not None and value > 0.0 else math.nan for value in values])


def _fitting(values: Logs, other: Logs) -> Logs:
    """The values of a report by block, where they are as many as the others."""
    return values if values.shape == other.shape else np.full_like(other, math.nan)


def _differences(run: RunRecord, read: Challenged) -> Iterator[Fact]:
    if read.origin.corpus != corpus_of(run):
        yield OtherContent()
    machines = [(m.cpu, m.kernel) for m in read.origin.machines]
    facts = [agent.facts for agent in run.agents]
    here = [(f["cpu"].get("model") if isinstance(f.get("cpu"), dict) else None, f.get("kernel")) for f in facts]
    if machines != here:
        yield OtherMachines(_known_once(machines), _known_once(here))


def _known_once(machines: Sequence[tuple[str | None, str | None]]) -> tuple[Machine, ...]:
    """What is known of each; those that are alike once."""
    return tuple(dict.fromkeys(tuple(part for part in machine if part) for machine in machines))


def challenge_over_all(suites: Sequence[SuiteResult], read: ChallengedCampaign) -> CampaignChallenge:
    """See CampaignChallenge; `suites` are all of the report's."""
    results = {suite.name: suite for suite in suites}
    return CampaignChallenge(
        report=read.report,
        sha256=read.sha256,
        title=read.title,
        reported=read.headline,
        challenger=read.challenger,
        suites=tuple(_of_suite(one, results[one.name]) for one in read.suites),
    )


def _of_suite(one: ChallengedSuite, result: SuiteResult) -> SuiteChallenge:
    own = None if result.comparison is None else result.comparison.challenge
    return SuiteChallenge(
        suite=one.name,
        left_out=one.left_out,
        missing=result.missing if result.comparison is None and not one.left_out else "",
        again=() if own is None else own.again,
        absent=dict(one.absent if own is None else own.absent),
        reported=() if one.missing else _headline_of(one),
        had_no_figures=one.missing,
        has_figures=result.comparison is not None,
    )


def _headline_of(one: ChallengedSuite) -> tuple[str, ...]:
    comparison = one.data.get("comparison")
    lines = comparison.get("headline") if isinstance(comparison, dict) else None
    return tuple(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ()
