"""What a design can show, told before it is run: whether a verdict can be reached with so many blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count

from bakeoff.cli.shapes import plan_words
from bakeoff.core.thresholds import MINIMUM_BLOCKS, P99_OPERATIONS
from bakeoff.core.units import plural
from bakeoff.load import open_loop
from bakeoff.load.load_step import Rate
from bakeoff.plan.campaign import Campaign, SuiteRun
from bakeoff.plan.model import Plan

CELL_BLOCKS = 13


def smallest_p(blocks: int) -> float:
    """The smallest p value of a two-sided sign-flip test of so many pairs: 2 / 2^blocks, at most 1."""
    return min(1.0, 0.5 ** (blocks - 1))


def single_name(plan: Plan) -> str:
    """What single claims are about: cells, where trials are made of them."""
    work = plan.settings.work(plan.settings.load_steps[-1])
    return "load steps" if work is None or not work.cells else "cells"


def advice(plan: Plan) -> str:
    """Whether the blocks of a plan are enough, and for what."""
    if len(plan.contenders) < 2:
        return f"One contender: figures only. Name a second one to compare.{_percentiles(plan)}"
    if plan.blocks < MINIMUM_BLOCKS:
        given = "gives" if plan.blocks == 1 else "give"
        effects = ", neither on pairs nor on effects" if _has_effects(plan) else ""
        return (
            f"{plural(plan.blocks, 'block')} {given} numbers but no verdict{effects}: fewer than {MINIMUM_BLOCKS} "
            f"pairs can never reach p = 0.05. Use --blocks {MINIMUM_BLOCKS} or more.{_percentiles(plan)}"
        )
    what = plan_words(plan).verdict
    enough = f"{plan.blocks} blocks are enough for {what}{' and on effects of factors' * _has_effects(plan)}"
    if plan.blocks == MINIMUM_BLOCKS:
        enough += ", with none to spare: a pair with a voided block has no verdict"
    if not plan.shape.steps:
        enough += "."
    elif plan.blocks < CELL_BLOCKS:
        enough += f"; use --blocks {CELL_BLOCKS} for claims about single {single_name(plan)}."
    else:
        enough += f" and for single {single_name(plan)}."
    return enough + _forfeited_trials(plan) + _percentiles(plan)


def campaign_advice(campaign: Campaign) -> list[str]:
    """What the suites of a campaign cannot show, a line each; empty where all can be told."""
    compared = [suite_run for suite_run in campaign.suite_runs if len(suite_run.plan.contenders) > 1]
    few = [suite_run for suite_run in compared if suite_run.plan.blocks < MINIMUM_BLOCKS]
    lines = []
    if few:
        give = "gives" if len(few) == 1 else "give"
        lines.append(
            f"{_names(few)} {give} numbers but no verdict, so no contender is the best over all suites: fewer than "
            f"{MINIMUM_BLOCKS} pairs can never reach p = 0.05. Use blocks = {MINIMUM_BLOCKS} or more."
        )
    lines += _forfeited_in_suites(
        [suite_run for suite_run in compared if suite_run not in few],
        sum(_pairs(suite_run.plan) for suite_run in compared),
    )
    lines += [
        f"{suite_run.name}: {text.strip()}"
        for suite_run in campaign.suite_runs
        if (text := _percentiles(suite_run.plan))
    ]
    return lines


def _names(suite_runs: Sequence[SuiteRun]) -> str:
    """ "web-static (4 blocks) and file-mix (5 blocks)"."""
    parts = [f"{suite_run.name} ({plural(suite_run.plan.blocks, 'block')})" for suite_run in suite_runs]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _has_effects(plan: Plan) -> bool:
    return any(len(factor.levels) > 1 for factor in plan.factors)


def _pairs(plan: Plan) -> int:
    return math.comb(len(plan.contenders), 2)


def _first_level(plan: Plan, pairs: int) -> float:
    """What the first of so many pairs must reach: Holm holds it to the level of the last analysis over all of them."""
    from bakeoff.compare.estimate.interim import planned_levels  # with NumPy, which the help does without

    return planned_levels(plan.interim_analyses or ())[-1] / pairs


def _enough(level: float) -> int:
    """The fewest blocks of which a sign-flip test can reach `level`."""
    return next(blocks for blocks in count(MINIMUM_BLOCKS) if smallest_p(blocks) <= level)


def _forfeited_trials(plan: Plan) -> str:
    """What pairs with a lost trial need besides, where these blocks are too few for them: they are judged by the
    sign-flip test alone, whose p values are coarse.
    """
    pairs = _pairs(plan)
    first = _first_level(plan, pairs)
    if smallest_p(plan.blocks) <= first:
        return ""
    lost = plan_words(plan).lost
    return (
        f" Not for pairs in {lost}, which are judged by signs alone: their p is at least "
        f"{smallest_p(plan.blocks):.3g}, and of {pairs} pairs one must reach {first:.2g} (Holm): use --blocks "
        f"{_enough(first)} where a contender may fail."
    )


def _forfeited_in_suites(suite_runs: Sequence[SuiteRun], family: int) -> list[str]:
    """The same of suites, whose pairs are one family."""
    levels = {suite_run.name: _first_level(suite_run.plan, family) for suite_run in suite_runs}
    short = [suite_run for suite_run in suite_runs if smallest_p(suite_run.plan.blocks) > levels[suite_run.name]]
    if not short:
        return []
    most = min(levels[suite_run.name] for suite_run in short)
    least = min(suite_run.plan.blocks for suite_run in short)
    return [
        f"{_names(short)}: no verdict on pairs in which a trial is lost. They are judged by signs alone, whose p is at "
        f"least {smallest_p(least):.3g}; of {family} pairs of all suites one must reach {most:.2g} (Holm). Use "
        f"blocks = {_enough(most)} where a contender may fail."
    ]


def _percentiles(plan: Plan) -> str:
    """Which percentiles trials of a rate, or of so many operations, are too short for."""
    clock, length_s = plan.settings.clock, plan.settings.length_s
    rates = [load_step for load_step in plan.settings.load_steps if isinstance(load_step, Rate)]
    if not plan.shape.steps or (not rates and clock.operations is None):
        return ""
    end_s = length_s - clock.ramp_down_s
    figure = open_loop.deciding(rates, clock.ramp_up_s, end_s, length_s, clock.operations)
    if figure == "p99":
        return ""
    decides = f" The {open_loop.words_of(figure)} decides." if rates else ""
    if clock.operations is not None:
        return (
            f" A trial has {plural(clock.operations, 'operation')}, too few for a p99, which needs "
            f"{P99_OPERATIONS}.{decides}"
        )
    slowest = min(rate.per_s for rate in rates)
    return (
        f" Trials are too short for a p99, which needs {P99_OPERATIONS} starts in the window: "
        f"{math.ceil(P99_OPERATIONS / slowest):,} s at {min(rates, key=lambda rate: rate.per_s).words}.{decides}"
    )
