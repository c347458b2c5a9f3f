"""A campaign: the same contenders under several suites, planned as one.

    [campaign]
    title = "Two small office servers"
    blocks = 6

    [[contender]]
    name = "blue"
    web = "http://192.0.2.1"
    files = "/mnt/blue"
    mail = "192.0.2.1"

    [[suite]]
    suite = "web-static"
    size = "medium"

    [[suite]]
    suite = "mail-pop"
    weight = 2
    load steps = "1,8"

A contender has an address for each sort of suite in which it takes part, by the names that `PlanPart.door` has, and
settings of how clients talk with it by the same names: `settings.web = { http = "2" }`. What stands in a `[[suite]]`
beside its name, size and weight are its settings, as in the table [settings] of a plan file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.plan.design.factors import OWN, SETTINGS, Factor, expanded
from bakeoff.plan.design.order import shuffled_square
from bakeoff.plan.design.order_choice import OrderChoice
from bakeoff.plan.input.messages import did_you_mean, explain
from bakeoff.plan.kind import plan_part, plan_section_keys
from bakeoff.plan.load import CONTENDERS_MAX, PlanInput, input_relative_to, resolve_plan
from bakeoff.plan.model import NAME, Contender, Plan
from bakeoff.plan.settings.fields import OptionalShare, OptionalWhole, Share, Strict, Whole, read_toml
from bakeoff.plan.settings.plan_section import MAX_SEED, ORDER, PLAN_FIELDS
from bakeoff.plan.suites import SizeName, load_suite, suite_names

M = TypeVar("M", bound=Strict)
TABLES = ("campaign", "suite", "contender", "factors")
SUITES_MAX = 20
# Keys of a [[suite]] that are no settings.
HEAD = ("suite", "size", "name", "weight", "blocks", "order", "objective")


class CampaignSection(Strict):
    """The table `[campaign]`."""

    name: str = Field("campaign", pattern=f"^{NAME}$", description="Name of the campaign in reports and files.")
    title: str | None = Field(None, min_length=1, max_length=200, description="Title of its report.")
    size: SizeName = Field("quick", description="Size of suites that state none.")
    blocks: OptionalWhole = Field(None, ge=1, le=1000, description="Blocks of suites that state none.")
    seed: Whole = Field(1, ge=0, le=MAX_SEED, description="Seed of all random choices.")
    delta: OptionalShare = Field(None, gt=0, lt=1, description="Smallest difference that matters: 5%.")
    error_limit: Share = Field(
        0.05, ge=0, le=1, description="Share of failed operations above which a trial is failed."
    )


class SuiteSection(Strict):
    """What of a `[[suite]]` is no setting. `weight` is what the suite counts in the ranking over all of them."""

    suite: str = Field(description="Name of the suite: see `bakeoff suites`.")
    name: str | None = Field(None, pattern=f"^{NAME}$", description="Its name here, if a suite is listed twice.")
    size: SizeName | None = Field(None, description="Its size.")
    blocks: OptionalWhole = Field(None, ge=1, le=1000, description="Its blocks.")
    order: OrderChoice = ORDER
    weight: float = Field(1.0, gt=0, le=1000, description="Its weight in the ranking over all suites.")
    objective: str | None = Field(None, description="Objective of each of its trials: p99<=50ms,errors<=0.1%.")


@dataclass(frozen=True)
class SuiteRun:
    """A suite of a campaign; that of a plan by itself has no name."""

    name: str
    plan: Plan
    weight: float


@dataclass(frozen=True)
class Campaign:
    """A campaign with all plans resolved."""

    name: str
    title: str
    seed: int
    contenders: tuple[str, ...]
    suite_runs: tuple[SuiteRun, ...]
    factors: tuple[Factor, ...] = ()

    @property
    def is_one(self) -> bool:
        """Whether it is a plan by itself."""
        return [suite_run.name for suite_run in self.suite_runs] == [""]

    def rounds(self) -> Iterator[Sequence[tuple[SuiteRun, int]]]:
        """What runs, round by round: a block of each suite run, in another order each time, so that the hours of a day
        and what came before hit all suites alike. A suite run of fewer blocks sits rounds out, evenly.
        """
        most = max(suite_run.plan.blocks for suite_run in self.suite_runs)
        rng = random.Random(self.seed)
        orders = chain.from_iterable(shuffled_square(len(self.suite_runs), rng) for _ in count())
        for number in range(most):
            suite_runs = [self.suite_runs[place] for place in next(orders)]
            due = ((suite_run, (number + 1) * suite_run.plan.blocks // most) for suite_run in suite_runs)
            yield [(suite_run, block) for suite_run, block in due if block > number * suite_run.plan.blocks // most]


def campaign_of_one(plan: Plan) -> Campaign:
    """A plan by itself."""
    names = tuple(contender.name for contender in plan.contenders)
    return Campaign(plan.name, plan.name, plan.seed, names, (SuiteRun("", plan, 1.0),))


def is_campaign(table: Mapping[str, Any]) -> bool:
    """Whether a plan file is one of a campaign: it has suites of its own."""
    return "suite" in table


def read_campaign(path: Path) -> Campaign:
    """The campaign of a file, resolved. Raises PlanError."""
    table = read_toml(path, "campaign file")
    for key in table:
        if key not in TABLES:
            raise PlanError(f"{path}: unknown table [{key}]: {did_you_mean(key, TABLES)}")
    head = _section(CampaignSection, table.get("campaign", {}), f"{path} [campaign]")
    contenders = _tables(path, table, "contender", CONTENDERS_MAX)
    suites = _tables(path, table, "suite", SUITES_MAX)
    address_kinds = sorted({plan_part(kind).address_kind for kind in KINDS})
    for contender in contenders:
        _refuse_unknown(path, contender, address_kinds)
    factors = table.get("factors", {})
    if not isinstance(factors, dict):
        raise PlanError(f"{path}: write [factors] as a table")
    for factor, levels in factors.items():
        for level, own in levels.items() if isinstance(levels, dict) else ():
            if isinstance(own, dict):
                _refuse_unsorted(own, address_kinds, f"{path} [factors] {factor}.{level}")
    contenders, found = expanded(contenders, factors, str(path), address_kinds)
    for contender in contenders:
        if idle := next(
            (address_kind for address_kind in contender.get(SETTINGS, {}) if address_kind not in contender), None
        ):
            raise PlanError(
                f"{path} contender {contender['name']} {SETTINGS} {idle}: they have no effect without an address for "
                f"such suites: give it `{idle} = …`, or leave them out"
            )
    order = {factor.name: list(factor.levels) for factor in found}
    suite_runs = [_suite_run(path, head, one, contenders, order) for one in suites]
    names = [suite_run.name for suite_run in suite_runs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise PlanError(f"{path}: two suites are called {twice!r}: give each a `name` of its own")
    taking = [c["name"] for c in contenders if any(_is_in(suite_run, c["name"]) for suite_run in suite_runs)]
    if idle := next((c["name"] for c in contenders if c["name"] not in taking), None):
        raise PlanError(
            f"{path}: contender {idle!r} takes part in no suite: give it an address ({', '.join(address_kinds)})"
        )
    return Campaign(head.name, head.title or head.name, head.seed, tuple(taking), tuple(suite_runs), found)


def _is_in(suite_run: SuiteRun, contender: str) -> bool:
    return any(one.name == contender for one in suite_run.plan.contenders)


def _section(model: type[M], table: Mapping[str, Any], where: str) -> M:
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise explain(error, model, lambda key: f"{where} {key}") from None


def _tables(path: Path, table: Mapping[str, Any], key: str, most: int) -> list[dict[str, Any]]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found) or not found:
        raise PlanError(f"{path}: write each {key} as its own [[{key}]] table")
    if len(found) > most:
        raise PlanError(f"{path}: {len(found)} tables [[{key}]] are too many: at most {most}")
    return found


def _refuse_unknown(path: Path, contender: Mapping[str, Any], address_kinds: Sequence[str]) -> None:
    known = {"name", "reset", "ready_timeout", "watch", "levels", OWN, SETTINGS, *address_kinds}
    where = f"{path} contender {contender.get('name')}"
    for key in contender:
        if key not in known:
            raise PlanError(f"{where} {key}: unknown key: {did_you_mean(key, sorted(known))}")
    _refuse_unsorted(contender, address_kinds, where)
    if not isinstance(contender.get("name"), str):
        raise PlanError(f"{path}: give each [[contender]] a name")


def _refuse_unsorted(table: Mapping[str, Any], address_kinds: Sequence[str], where: str) -> None:
    """Settings of a contender, or of a level, are those of one sort of suites each."""
    own = table.get(SETTINGS, {})
    if not isinstance(own, dict) or not all(isinstance(each, dict) for each in own.values()):
        raise PlanError(f"{where} {SETTINGS}: write a table for each sort of suite: {SETTINGS}.{address_kinds[-1]}")
    for address_kind in own:
        if address_kind not in address_kinds:
            raise PlanError(
                f"{where} {SETTINGS} {address_kind}: no sort of suite: {did_you_mean(address_kind, address_kinds)}"
            )


def _suite_run(
    path: Path,
    head: CampaignSection,
    table: Mapping[str, Any],
    contenders: Sequence[Mapping[str, Any]],
    factors: Mapping[str, list[str]],
) -> SuiteRun:
    own = _section(SuiteSection, {key: value for key, value in table.items() if key in HEAD}, f"{path} [[suite]]")
    if own.suite not in suite_names():
        raise PlanError(f"{path} [[suite]] suite: {did_you_mean(own.suite, suite_names())}")
    name = own.name or own.suite
    address_kind = plan_part(load_suite(own.suite).suite.kind).address_kind
    taking = [_contender(contender, address_kind) for contender in contenders if address_kind in contender]
    if not taking:
        raise PlanError(f"{path}: no contender has an address for {name}: give them `{address_kind} = …`")
    plan = {
        "suite": own.suite,
        "size": own.size or head.size,
        "seed": head.seed,
        "order": own.order,
        "error_limit": f"{head.error_limit:.6%}",
        "name": f"{head.name}: {name}",
        **{key: value for key, value in table.items() if key in plan_section_keys()},
    }
    plan |= {"blocks": blocks} if (blocks := own.blocks or head.blocks) else {}
    plan |= {"objective": own.objective} if own.objective else {}
    plan |= {"delta": f"{head.delta:.6%}"} if head.delta else {}
    settings = {key: value for key, value in table.items() if key not in HEAD and key not in plan_section_keys()}
    if named := next((key for key in settings if key in PLAN_FIELDS), None):
        known = named in CampaignSection.model_fields
        where = "belongs in the table [campaign]: move it there" if known else "is of single runs: leave it out"
        raise PlanError(f"{path} [[suite]] {name} {named}: {where}")
    given = PlanInput(f"{path} [[suite]] {name}", plan, settings, taking, factors=dict(factors))
    return SuiteRun(name, resolve_plan(input_relative_to(given, path.parent)), own.weight)


def _contender(table: Mapping[str, Any], address_kind: str) -> dict[str, Any]:
    kept = {key: value for key, value in table.items() if key in Contender.model_fields or key == "ready_timeout"}
    own = table.get(SETTINGS, {}).get(address_kind, {})
    return {**{key: value for key, value in kept.items() if key != SETTINGS}, "address": table[address_kind]} | (
        {SETTINGS: own} if own else {}
    )
