"""How many blocks a campaign needs, by the spread that each of its suites had in a pilot. A plan is a campaign of one.

Each suite's primary endpoint is one of the family of all pairs of all suites, and counts by Holm's strictest step: what
is told holds for a suite whatever the others show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from bakeoff.compare.planning.power import DIFFERENCES, POWERS, Need, Power, pairs_of, power_of
from bakeoff.compare.planning.power_time import FORECAST, block_time, block_times
from bakeoff.core.errors import PlanError
from bakeoff.core.units import names
from bakeoff.plan.campaign import Campaign, SuiteRun
from bakeoff.plan.design.durations import ExpectedDuration, expected_duration
from bakeoff.store.records.run_records import RunRecord

CAMPAIGN_SCHEMA = "bakeoff-campaign-power/1"


@dataclass(frozen=True)
class Pilot:
    """A run of a pilot: `name` is that of its suite in a campaign, or nothing; `blocks_s` are what its blocks took."""

    name: str
    run: RunRecord
    blocks_s: tuple[float, ...]


@dataclass(frozen=True)
class NotKnown:
    """Why nothing is known of a suite; of one whose pilot is of no use, its `fault`."""

    kind: Literal["no_pilot", "alone", "unusable"]
    suite: str
    fault: str = ""


@dataclass(frozen=True)
class SuitePower:
    """A suite: `power` is what its pilot tells, or `why_not` says why nothing is known of it."""

    name: str
    pairs: int
    blocks: int
    block_s: float
    block_by: str
    layout_s: float
    power: Power | None
    why_not: NotKnown | None


@dataclass(frozen=True)
class CampaignNeed:
    """What it takes to see a true `difference` (None: that there is none beyond δ) in each suite in a share `power` of
    runs: so many `blocks` of all suites, which `suite` needs, in `duration_s`; `low` and `high` as in `Need`.
    `own_duration_s` is what it takes where each suite has the blocks that it needs by itself.
    """

    difference: float | None
    power: float
    blocks: int | None
    low: int | None
    high: int | None
    suite: str
    duration_s: float | None
    own_duration_s: float | None


@dataclass(frozen=True)
class CampaignPower:
    """The answer for a campaign; `family` is how many pairs all of its suites compare."""

    schema: str
    campaign: str
    family: int
    suites: tuple[SuitePower, ...]
    needs: tuple[CampaignNeed, ...]


def pilots_of(runs: Mapping[str, RunRecord]) -> list[Pilot]:
    """The runs of a folder, by the names of their suites, or one file under no name."""
    times = block_times(runs)
    return [Pilot(name, run, times[name]) for name, run in runs.items()]


def power_of_suites(
    pilots: Sequence[Pilot], campaign: Campaign, expected: Mapping[str, ExpectedDuration] = MappingProxyType({})
) -> CampaignPower:
    """What `campaign` needs: nothing where no suite has a pilot of use. How long a suite is `expected` to take may be
    known better than by its plan. Raises PlanError where none has a pilot at all, or one is of none of its suites.
    """
    suite_runs = campaign.suite_runs
    if campaign.is_one and len(pilots) == 1 and not pilots[0].name:
        # A run that is named for a plan may be of another suite.
        chosen: dict[str, Pilot | None] = {"": pilots[0]}
    else:
        chosen = {each.name: _chosen_pilot(each.name, each.plan.suite, pilots) for each in suite_runs}
    used = {id(pilot) for pilot in chosen.values()}
    suites_named = list(dict.fromkeys(suite_run.plan.suite for suite_run in suite_runs))
    if not any(chosen.values()):
        raise PlanError(f"--power: the pilot has no run of {names(suites_named)}: run them briefly first")
    if idle := next((pilot for pilot in pilots if not pilot.name and id(pilot) not in used), None):
        raise PlanError(
            f"{idle.run.path} is of {idle.run.suite}, and what is planned is {', '.join(suites_named)}: leave it out"
        )
    family = sum(pairs_of(suite_run.plan) for suite_run in suite_runs)
    suites = tuple(
        _suite(
            each,
            chosen[each.name],
            None if campaign.is_one else family,
            expected.get(each.name) or expected_duration(each.plan),
        )
        for each in suite_runs
    )
    known = any(suite.power for suite in suites)
    needs = tuple(_need(suites, each, power) for each in (*DIFFERENCES, None) for power in POWERS if known)
    return CampaignPower(CAMPAIGN_SCHEMA, campaign.name, family, suites, needs)


def _chosen_pilot(name: str, suite: str, pilots: Sequence[Pilot]) -> Pilot | None:
    """The one of these that is of a suite, which stands under `name` where it may stand twice. Raises PlanError where
    none of several is called so.
    """
    known = [pilot for pilot in pilots if pilot.run.suite == suite]
    named = [pilot for pilot in known if pilot.name == name]
    if len(known) > 1 and len(named) != 1:
        files = names([f"{pilot.run.path}" for pilot in known])
        raise PlanError(f"--power: {files} are all of {suite}: name the one that is meant")
    return next(iter(named or known), None)


def _suite(suite_run: SuiteRun, pilot: Pilot | None, family: int | None, expected: ExpectedDuration) -> SuitePower:
    """A suite in a `family` of so many pairs, None for a plan by itself."""
    plan, pairs = suite_run.plan, pairs_of(suite_run.plan)

    def suite_power(block: tuple[float, str], power: Power | None, why_not: NotKnown | None = None) -> SuitePower:
        return SuitePower(suite_run.name, pairs, plan.blocks, *block, expected.layout_s, power, why_not)

    if pilot is None:
        return suite_power((expected.trials_s / plan.blocks, FORECAST), None, NotKnown("no_pilot", plan.suite))
    block = block_time(pilot.run, pilot.blocks_s, plan, expected)
    if family is not None and not pairs:
        return suite_power(block, None, NotKnown("alone", plan.suite))
    try:
        return suite_power(block, power_of(pilot.run, plan, block[0], expected.layout_s, family, block[1]))
    except PlanError as error:
        return suite_power(block, None, NotKnown("unusable", plan.suite, str(error)))


def _need(suites: Sequence[SuitePower], difference: float | None, power: float) -> CampaignNeed:
    own = {suite.name: _of(suite.power, difference, power) for suite in suites if suite.power is not None}

    def most(blocks: Callable[[Need], int | None]) -> int | None:
        known = [blocks(need) for need in own.values()]
        return None if None in known else max(each for each in known if each is not None)

    common = most(lambda need: need.blocks)
    decides = max(own, key=lambda name: math.inf if own[name].blocks is None else own[name].blocks or 0)

    def whole_s(blocks: Callable[[SuitePower], int | None]) -> float | None:
        each = [(suite, blocks(suite)) for suite in suites]
        if any(number is None for _, number in each):
            return None
        return sum(suite.layout_s + (number or 0) * suite.block_s for suite, number in each)

    return CampaignNeed(
        difference,
        power,
        common,
        most(lambda need: need.low),
        most(lambda need: need.high),
        decides,
        whole_s(lambda _: common),
        # One of which nothing is known keeps the blocks that it has.
        whole_s(lambda suite: own[suite.name].blocks if suite.name in own else suite.blocks),
    )


def _of(result: Power, difference: float | None, power: float) -> Need:
    return next(need for need in result.series[0].needs if (need.difference, need.power) == (difference, power))
