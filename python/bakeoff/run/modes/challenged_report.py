"""The plans of a report, for another contender: which of its suites are measured again, and beside whom."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bakeoff.agents.base import Agent
from bakeoff.core.errors import PlanError
from bakeoff.plan.campaign import SUITES_MAX, Campaign, SuiteRun
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import NAME, Contender, Plan
from bakeoff.run.modes.challenge import (
    Challenger,
    Rerun,
    contender_of,
    embedded_subset,
    foreign_plan,
    refuse_hidden,
    refuse_large,
    rerun_of,
    with_contenders,
)
from bakeoff.store.collections.challenged import LONGEST, MOST_SENTENCES, ChallengedCampaign, ChallengedSuite

NO_PLAN = "that report holds no plan of it"
UNPLANNED = "campaign"


class ReportedSuite(BaseModel):
    """A suite as the report of a campaign holds it; `comparison` is None where it has no figures, and why `missing`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(pattern=f"^{NAME}$")
    weight: float = Field(gt=0, le=1000)
    missing: str = Field("", max_length=LONGEST)
    comparison: dict[str, Any] | None = None


class ReportedCampaign(BaseModel):
    """The campaign that a report tells of. One that is made of run files of several suites has their names as its."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = Field(max_length=LONGEST)
    title: str = Field(min_length=1, max_length=LONGEST)
    contenders: tuple[str, ...] = Field(default=(), max_length=100)
    headline: tuple[str, ...] = Field(default=(), max_length=10_000)
    suites: tuple[ReportedSuite, ...] = Field(min_length=1, max_length=SUITES_MAX)

    @field_validator("suites")
    @classmethod
    def _by_their_names(cls, suites: tuple[ReportedSuite, ...]) -> tuple[ReportedSuite, ...]:
        if len({suite.name for suite in suites}) < len(suites):
            raise ValueError("two suites have one name")
        return suites


@dataclass(frozen=True)
class Suite:
    """A suite of the report, and the `data` that the report holds of it. `missing` says why it holds no figures; `plan`
    is None where it holds none; `own` is the challenger in it, None where that is `left_out` for a reason.
    """

    name: str
    weight: float
    missing: str
    data: Mapping[str, Any]
    plan: Plan | None
    own: Contender | None = None
    left_out: str = ""


@dataclass(frozen=True)
class ToChallenge:
    """A report as it is to be challenged: its `contenders` and suites. That on a run has one suite, without a name."""

    name: str
    title: str
    contenders: tuple[str, ...]
    headline: tuple[str, ...]
    suites: tuple[Suite, ...]

    @property
    def again(self) -> Sequence[tuple[Suite, Plan, Contender]]:
        """The suites that are measured again, each with its plan and the challenger in it."""
        return [(one, one.plan, one.own) for one in self.suites if one.plan is not None and one.own is not None]

    @property
    def rivals(self) -> list[str]:
        """The contenders of the report in these suites."""
        return list(dict.fromkeys(each.name for _, plan, _ in self.again for each in plan.contenders))


def report_to_challenge(data: Mapping[str, Any], own: Challenger, named: str, stored: bool) -> ToChallenge:
    """What a report holds, for this challenger. `stored` is what has all that its plans say, as a run file or a folder
    does. Raises PlanError or RunFileError where it is damaged or cannot be carried out, or an address is for no suite.
    """
    source = _of_campaign(data, named) if "campaign" in data else _of_run(data, named)
    if own.name in source.contenders:
        raise PlanError(f"the report has a contender {own.name!r} already: give the challenger another name")
    plans = [one.plan for one in source.suites if one.plan is not None]
    addresses = _by_address_kind(own, list(dict.fromkeys(plan_part(plan.kind).address_kind for plan in plans)), named)
    there = list(dict.fromkeys(each.name for plan in plans for each in plan.contenders))
    if own.settings_of is not None and own.settings_of not in there:
        raise PlanError(
            f"--settings-of: the report has no contender {own.settings_of!r}: {did_you_mean(own.settings_of, there)}"
        )
    made = replace(source, suites=tuple(_with(one, own, addresses) for one in source.suites))
    for one, _, _ in made.again if not stored else ():
        where = (f"{named} ({one.name})", "folder of its campaign") if one.name else (named, "run file")
        refuse_hidden(one.data["plan"], *where)
    return made


def _of_run(data: Mapping[str, Any], named: str) -> ToChallenge:
    table = data.get("plan")
    if not isinstance(table, dict) or not table:
        raise PlanError(f"{named} holds no plan: what another tool measured cannot be measured again")
    plan = foreign_plan(table, named)
    names = tuple(contender.name for contender in plan.contenders)
    return ToChallenge(plan.name, plan.name, names, (), (Suite("", 1.0, "", embedded_subset(data), plan),))


def _of_campaign(data: Mapping[str, Any], named: str) -> ToChallenge:
    try:
        reported = ReportedCampaign.model_validate(data["campaign"])
    except ValidationError:
        raise PlanError(f"the data in {named} is damaged: get the report again from where it was made") from None
    suites = tuple(_suite_of(number, suite, data, named) for number, suite in enumerate(reported.suites, 1))
    if not any(one.plan for one in suites):
        raise PlanError(f"{named} holds no plan of any of its suites: name the folder of its campaign")
    return ToChallenge(reported.name, reported.title, reported.contenders, reported.headline[:MOST_SENTENCES], suites)


def _suite_of(number: int, reported: ReportedSuite, data: Mapping[str, Any], named: str) -> Suite:
    parts = {
        "comparison": reported.comparison,
        "plan": data.get(f"plan-{number}"),
        "measured": data.get(f"measured-{number}"),
    }
    table = parts["plan"]
    if reported.comparison is not None and reported.comparison.get("joined"):
        raise PlanError(f"{named} covers several run files of {reported.name}: challenge one of them")
    plan = foreign_plan(table, f"{named} ({reported.name})") if isinstance(table, dict) and table else None
    if plan is not None and plan.capacity is not None:
        raise PlanError(f"{named} ({reported.name}) holds a search, which no campaign has: it cannot be carried out")
    subset = embedded_subset({name: value for name, value in parts.items() if value})
    missing = "" if reported.comparison is not None else reported.missing or "nothing of it was measured"
    return Suite(reported.name, reported.weight, missing, subset, plan, left_out="" if plan else NO_PLAN)


def _by_address_kind(own: Challenger, address_kinds: Sequence[str], named: str) -> Mapping[str, str]:
    """The addresses of the challenger by sort of suite. Raises PlanError for one that is for none."""
    wanted = " ".join(f"{own.name}:{address_kind}=ADDRESS" for address_kind in address_kinds)
    if "" in own.addresses:
        if len(address_kinds) > 1:
            raise PlanError(
                f"{named} is about several suites: say for which the address {own.addresses['']} is: {wanted}"
            )
        if len(own.addresses) > 1:
            raise PlanError(f"{own.name} has two addresses for {address_kinds[0]}: leave one out")
        return {address_kinds[0]: own.addresses[""]}
    if unknown := next((address_kind for address_kind in own.addresses if address_kind not in address_kinds), None):
        raise PlanError(
            f"{own.name}:{unknown}=… is for no suite of {named}: {did_you_mean(unknown, address_kinds)} ({wanted})"
        )
    return own.addresses


def _with(one: Suite, own: Challenger, addresses: Mapping[str, str]) -> Suite:
    if one.plan is None:
        return one
    address_kind = plan_part(one.plan.kind).address_kind
    if address_kind not in addresses:
        return replace(one, left_out=f"{own.name} has no address for it ({address_kind})")
    return replace(one, own=contender_of(one.plan, own, addresses[address_kind]))


def rerun_plans(source: ToChallenge, wanted: Collection[str]) -> list[Plan]:
    """The plan of each suite that is measured again, of those contenders of the report that are to run beside."""
    return [with_contenders(plan, [c for c in plan.contenders if c.name in wanted]) for _, plan, _ in source.again]


def reruns_of(
    source: ToChallenge, wanted: Collection[str], agents: Callable[[Plan], Sequence[Agent]] | None
) -> dict[str, Rerun]:
    """Who runs beside the challenger in each suite, by its name: see `rerun_of`."""
    return {
        suite.name: rerun_of(plan, wanted, None if agents is None else partial(agents, plan))
        for suite, plan, _ in source.again
    }


def challenging(source: ToChallenge, own: Challenger, found: Mapping[str, Rerun]) -> Campaign:
    """What is measured: the suites in the order and with the weights of the report, by the rules of any campaign."""
    suite_runs = tuple(
        SuiteRun(suite.name, with_contenders(plan, (*found[suite.name].again, mine)), suite.weight)
        for suite, plan, mine in source.again
    )
    there = {contender.name for suite_run in suite_runs for contender in suite_run.plan.contenders}
    taking = tuple(name for name in (*source.rivals, own.name) if name in there)
    title = f"{source.title}: challenged by {own.name}"
    name = source.name if re.fullmatch(NAME, source.name) else UNPLANNED
    return Campaign(name, title, suite_runs[0].plan.seed, taking, suite_runs)


def challenged_by(
    source: ToChallenge, own: Challenger, found: Mapping[str, Rerun], report: str, sha256: str
) -> ChallengedCampaign:
    """What is held of the report beside what is measured. Raises PlanError where that is more than any report has."""
    refuse_large([dict(suite.data) for suite in source.suites])
    return ChallengedCampaign(
        report=report,
        sha256=sha256,
        challenger=own.name,
        title=source.title,
        contenders=source.contenders,
        headline=source.headline,
        suites=tuple(_challenged(one, found.get(one.name)) for one in source.suites),
    )


def _challenged(one: Suite, found: Rerun | None) -> ChallengedSuite:
    return ChallengedSuite(
        name=one.name,
        weight=one.weight,
        left_out=one.left_out,
        missing=one.missing,
        contenders=() if one.plan is None else tuple(contender.name for contender in one.plan.contenders),
        absent={} if found is None else dict(found.absent),
        data=one.data,
    )
