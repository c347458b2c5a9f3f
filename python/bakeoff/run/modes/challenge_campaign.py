"""The plans of a report on a campaign, for another contender: which suites are measured again, and beside whom."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bakeoff.agents.base import Agent
from bakeoff.core.errors import PlanError
from bakeoff.plan.campaign import SUITES_MAX, Campaign, SuiteRun
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import NAME, Contender, Plan
from bakeoff.run.modes.challenge import (
    Beside,
    Challenger,
    beside,
    contender_of,
    foreign_plan,
    kept_data,
    refuse_hidden,
    refuse_large,
    with_contenders,
)
from bakeoff.store.collections.challenged import LONGEST, ChallengedCampaign, ChallengedSuite

NO_PLAN = "that report holds no plan of it"
UNPLANNED = "campaign"


class ThenSuite(BaseModel):
    """A suite as the report of a campaign holds it; `comparison` is None where it has no figures, and why `missing`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(pattern=f"^{NAME}$")
    weight: float = Field(gt=0, le=1000)
    missing: str = Field("", max_length=LONGEST)
    comparison: dict[str, Any] | None = None


class ThenCampaign(BaseModel):
    """The campaign that a report tells of. One that is made of run files of several suites has their names as its."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(max_length=LONGEST)
    title: str = Field(min_length=1, max_length=LONGEST)
    contenders: tuple[str, ...] = Field(default=(), max_length=100)
    headline: tuple[str, ...] = Field(default=(), max_length=10_000)
    suites: tuple[ThenSuite, ...] = Field(min_length=1, max_length=SUITES_MAX)

    @field_validator("suites")
    @classmethod
    def _by_their_names(cls, suites: tuple[ThenSuite, ...]) -> tuple[ThenSuite, ...]:
        if len({suite.name for suite in suites}) < len(suites):
            raise ValueError("two suites have one name")
        return suites


@dataclass(frozen=True)
class Suite:
    """A suite of the report with its place in it, and what the report holds of it. `plan` is None where it holds none;
    `own` is the challenger in it, None where that has no address for it.
    """

    number: int
    then: ThenSuite
    data: Mapping[str, Any]
    plan: Plan | None
    own: Contender | None = None
    left_out: str = ""


@dataclass(frozen=True)
class HeldCampaign:
    """A report on a campaign as it is to be challenged."""

    then: ThenCampaign
    suites: tuple[Suite, ...]

    @property
    def again(self) -> Sequence[tuple[Suite, Plan, Contender]]:
        """The suites that are measured again, each with its plan and the challenger in it."""
        return [(one, one.plan, one.own) for one in self.suites if one.plan is not None and one.own is not None]

    @property
    def contenders(self) -> list[str]:
        """Those of the report in these suites."""
        return list(dict.fromkeys(each.name for _, plan, _ in self.again for each in plan.contenders))


def held_campaign(data: Mapping[str, Any], own: Challenger, named: str, stored: bool) -> HeldCampaign:
    """What a report on a campaign holds, for this challenger. `stored` is what has all that its plans say, as a folder
    does. Raises PlanError or RunFileError where it is damaged or cannot be carried out, or an address is for no suite.
    """
    try:
        then = ThenCampaign.model_validate(data.get("campaign"))
    except ValidationError:
        raise PlanError(f"the data in {named} is damaged: get the report again from where it was made") from None
    if own.name in then.contenders:
        raise PlanError(f"the report has a contender {own.name!r} already: give the challenger another name")
    suites = [_held(number, suite, data, named) for number, suite in enumerate(then.suites, 1)]
    doors = dict.fromkeys(plan_part(one.plan.kind).door for one in suites if one.plan is not None)
    addresses = _by_door(own, list(doors), named)
    made = tuple(_with(one, own, addresses) for one in suites)
    there = list(dict.fromkeys(each.name for one in made if one.plan is not None for each in one.plan.contenders))
    if own.like is not None and own.like not in there:
        raise PlanError(f"--like: the report has no contender {own.like!r}: {did_you_mean(own.like, there)}")
    for one in made:
        if one.own is not None and not stored:
            refuse_hidden(one.data["plan"], f"{named} ({one.then.name})", "folder of its campaign")
    return HeldCampaign(then, made)


def _held(number: int, then: ThenSuite, data: Mapping[str, Any], named: str) -> Suite:
    parts = {
        "comparison": then.comparison,
        "plan": data.get(f"plan-{number}"),
        "measured": data.get(f"measured-{number}"),
    }
    table = parts["plan"]
    if then.comparison is not None and then.comparison.get("joined"):
        raise PlanError(f"{named} tells of several run files of {then.name}: challenge one of them")
    plan = foreign_plan(table, f"{named} ({then.name})") if isinstance(table, dict) and table else None
    if plan is not None and plan.capacity is not None:
        raise PlanError(f"{named} ({then.name}) holds a search, which no campaign has: it cannot be carried out")
    kept = kept_data({name: value for name, value in parts.items() if value})
    return Suite(number, then, kept, plan)


def _by_door(own: Challenger, doors: Sequence[str], named: str) -> Mapping[str, str]:
    """The addresses of the challenger by sort of suite. Raises PlanError for one that is for none."""
    wanted = " ".join(f"{own.name}:{door}=ADDRESS" for door in doors)
    if not doors:
        raise PlanError(f"{named} holds no plan of any of its suites: name the folder of its campaign")
    if "" in own.addresses:
        if len(doors) > 1 or len(own.addresses) > 1:
            raise PlanError(
                f"{named} is about several suites: say for which the address {own.addresses['']} is: {wanted}"
            )
        return {doors[0]: own.addresses[""]}
    if unknown := next((door for door in own.addresses if door not in doors), None):
        raise PlanError(f"{own.name}:{unknown}=… is for no suite of {named}: {did_you_mean(unknown, doors)} ({wanted})")
    return own.addresses


def _with(one: Suite, own: Challenger, addresses: Mapping[str, str]) -> Suite:
    if one.plan is None:
        return Suite(one.number, one.then, one.data, None, None, NO_PLAN)
    door = plan_part(one.plan.kind).door
    if door not in addresses:
        return Suite(one.number, one.then, one.data, one.plan, None, f"{own.name} has no address for it ({door})")
    return Suite(one.number, one.then, one.data, one.plan, contender_of(one.plan, own, addresses[door]))


def plans_beside(held: HeldCampaign, wanted: Collection[str]) -> list[Plan]:
    """The plan of each suite that is measured again, of those contenders of the report that are to run beside."""
    return [with_contenders(plan, [c for c in plan.contenders if c.name in wanted]) for _, plan, _ in held.again]


def found_beside(
    held: HeldCampaign, wanted: Collection[str], agents: Callable[[Plan], Sequence[Agent]] | None
) -> dict[str, Beside]:
    """Who runs beside the challenger in each suite, by its name: see `beside`."""
    found = {}
    for suite, plan, _ in held.again:
        ask = None if agents is None else _asked(agents, plan)
        found[suite.then.name] = beside(plan, wanted, ask)
    return found


def _asked(agents: Callable[[Plan], Sequence[Agent]], plan: Plan) -> Callable[[], Sequence[Agent]]:
    return lambda: agents(plan)


def campaign_of(held: HeldCampaign, own: Challenger, found: Mapping[str, Beside]) -> Campaign:
    """The new campaign: the suites in the order and with the weights of the report, by the rules of any campaign."""
    suite_runs = tuple(
        SuiteRun(suite.then.name, with_contenders(plan, (*found[suite.then.name].again, mine)), suite.then.weight)
        for suite, plan, mine in held.again
    )
    there = {contender.name for suite_run in suite_runs for contender in suite_run.plan.contenders}
    taking = tuple(name for name in (*held.contenders, own.name) if name in there)
    title = f"{held.then.title}: challenged by {own.name}"
    name = held.then.name if re.fullmatch(NAME, held.then.name) else UNPLANNED
    return Campaign(name, title, suite_runs[0].plan.seed, taking, suite_runs)


def challenged_of(
    held: HeldCampaign, own: Challenger, found: Mapping[str, Beside], report: str, sha256: str
) -> ChallengedCampaign:
    """What the new campaign holds of the report. Raises PlanError where that is more than any report has."""
    suites = tuple(_challenged(one, found.get(one.then.name)) for one in held.suites)
    refuse_large([dict(suite.data) for suite in suites])
    return ChallengedCampaign(
        report=report,
        sha256=sha256,
        challenger=own.name,
        title=held.then.title,
        contenders=held.then.contenders,
        said=held.then.headline[:50],
        suites=suites,
    )


def _challenged(one: Suite, found: Beside | None) -> ChallengedSuite:
    has_figures = one.then.comparison is not None
    missing = "" if has_figures else one.then.missing or "nothing of it was measured"
    return ChallengedSuite(
        name=one.then.name,
        weight=one.then.weight,
        left_out=one.left_out,
        missing=missing,
        contenders=() if one.plan is None else tuple(contender.name for contender in one.plan.contenders),
        absent={} if found is None else dict(found.absent),
        data=one.data,
    )
