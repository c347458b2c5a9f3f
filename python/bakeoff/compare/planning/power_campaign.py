"""How many blocks a campaign needs, by the spread that each of its suites had in a pilot.

Each suite's primary endpoint is one of the family of all pairs of all suites, and counts by Holm's strictest step: what
is told holds for a suite whatever the others show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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


def power_of_campaign(pilots: Sequence[Pilot], campaign: Campaign) -> CampaignPower:
    """What `campaign` needs: nothing where no suite has a pilot of use. Raises PlanError where none has a pilot at all,
    or one is of none of its suites.
    """
    chosen = {
        suite_run.name: chosen_pilot(suite_run.name, suite_run.plan.suite, pilots) for suite_run in campaign.suite_runs
    }
    used = {id(pilot) for pilot in chosen.values()}
    if idle := next((pilot for pilot in pilots if not pilot.name and id(pilot) not in used), None):
        raise PlanError(
            f"{idle.run.path} is of {idle.run.suite}, and the suites of this campaign are "
            f"{', '.join(dict.fromkeys(suite_run.plan.suite for suite_run in campaign.suite_runs))}: leave it out"
        )
    family = sum(pairs_of(suite_run.plan) for suite_run in campaign.suite_runs)
    if not any(chosen.values()):
        suites_named = names(list(dict.fromkeys(suite_run.plan.suite for suite_run in campaign.suite_runs)))
        raise PlanError(f"--power: the pilot has no run of {suites_named}: run them briefly first")
    suites = tuple(_suite(suite_run, chosen[suite_run.name], family) for suite_run in campaign.suite_runs)
    known = any(suite.power for suite in suites)
    needs = tuple(_need(suites, each, power) for each in (*DIFFERENCES, None) for power in POWERS if known)
    return CampaignPower(CAMPAIGN_SCHEMA, campaign.name, family, suites, needs)


def chosen_pilot(name: str, suite: str, pilots: Sequence[Pilot]) -> Pilot | None:
    """The one of these that is of a suite, which stands under `name` where it may stand twice. Raises PlanError where
    none of several is called so.
    """
    known = [pilot for pilot in pilots if pilot.run.suite == suite]
    named = [pilot for pilot in known if pilot.name == name]
    if len(known) > 1 and len(named) != 1:
        files = names([f"{pilot.run.path}" for pilot in known])
        raise PlanError(f"--power: {files} are all of {suite}: name the one that is meant")
    return next(iter(named or known), None)


def _suite(suite_run: SuiteRun, pilot: Pilot | None, family: int) -> SuitePower:
    found, pairs = expected_duration(suite_run.plan), pairs_of(suite_run.plan)

    def suite_power(block: tuple[float, str], power: Power | None, why_not: NotKnown | None = None) -> SuitePower:
        return SuitePower(suite_run.name, pairs, suite_run.plan.blocks, *block, found.layout_s, power, why_not)

    if pilot is None:
        return suite_power(_forecast(suite_run, found), None, NotKnown("no_pilot", suite_run.plan.suite))
    block = block_time(pilot.run, pilot.blocks_s, suite_run.plan, found)
    if not pairs:
        return suite_power(block, None, NotKnown("alone", suite_run.plan.suite))
    try:
        return suite_power(block, power_of(pilot.run, suite_run.plan, block[0], found.layout_s, family, block[1]))
    except PlanError as error:
        return suite_power(block, None, NotKnown("unusable", suite_run.plan.suite, str(error)))


def _forecast(suite_run: SuiteRun, found: ExpectedDuration) -> tuple[float, str]:
    return found.trials_s / suite_run.plan.blocks, FORECAST


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
