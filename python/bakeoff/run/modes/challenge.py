"""The plan of a report, for another contender: who of the report runs beside it, and who answers at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bakeoff.agents.base import Agent
from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.core.redact import HIDDEN
from bakeoff.plan.design.differences import client_options_text
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.input.stored import plan_of
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import TRIALS_MAX
from bakeoff.plan.model import NAME, Contender, Plan
from bakeoff.plan.settings.client_options import merged
from bakeoff.run.checks.trust import acts
from bakeoff.run.contenders.reset import reset

NO_NAMES = "none"
"""Of --rerun: the challenger runs alone."""
NOT_WANTED = "it was left out by --rerun"
KEPT = ("comparison", "plan", "measured")
MOST_CHARACTERS = 16 << 20
_WORD = re.compile(rf"({NAME})(?::([^=]*))?=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Challenger:
    """Who challenges, with an address for each sort of suite; one that was given for no sort stands under ""."""

    name: str
    addresses: Mapping[str, str]
    reset: str | None = None
    # Whose settings it has, of the contenders of the report.
    settings_of: str | None = None


def challenger(words: Sequence[str], reset: str | None, settings_of: str | None = None) -> Challenger:
    """The challenger of `NAME=ADDRESS`, or of a `NAME:SORT=ADDRESS` for each sort of suite. Raises PlanError."""
    addresses: dict[str, str] = {}
    names: dict[str, None] = {}
    for word in words:
        found = _WORD.fullmatch(word)
        if found is None or found[2] == "":
            raise PlanError(
                f"{word!r} is not a contender: write NAME=ADDRESS, such as mine=http://127.0.0.1:8080, or of a "
                "campaign NAME:SORT=ADDRESS for each sort of suite, such as mine:web=http://127.0.0.1:8080"
            )
        sort = found[2] or ""
        if sort in addresses:
            what = f"for {sort}" if sort else "without a sort of suite"
            raise PlanError(f"{found[1]} has two addresses {what}: leave one out")
        addresses[sort] = found[3]
        names[found[1]] = None
    if len(names) > 1:
        raise PlanError(f"{' and '.join(names)} cannot challenge together: one at a time")
    return Challenger(next(iter(names)), addresses, reset, settings_of)


def contender_of(plan: Plan, own: Challenger, address: str) -> Contender:
    """The challenger as a contender of a plan, to whom clients talk as to those of the report. Raises PlanError, also
    where it has to be said like which, as they talk with these in several ways.
    """
    part = plan_part(plan.kind)
    try:
        made = Contender.model_validate(
            {"name": own.name, "address": part.located(address, Path.cwd()), "reset": own.reset}
        )
    except ValidationError as error:
        raise PlanError(f"{own.name}={address!r}: {error.errors()[0]['msg']}: write NAME=ADDRESS") from None
    if any(made.name == other.name for other in plan.contenders):
        raise PlanError(f"the report has a contender {made.name!r} already: give the challenger another name")
    made = made.model_copy(update={"settings": _client_options_of(plan, own.settings_of)})
    part.check_address(made.address, merged(plan.kind, plan.settings, made.settings))
    return made


def _client_options_of(plan: Plan, settings_of: str | None) -> dict[str, Any]:
    known = {contender.name: contender.settings for contender in plan.contenders}
    if settings_of not in known and len(plan.groups) > 1:
        part = plan_part(plan.kind)
        ways = ", ".join(
            f"{', '.join(group)}: {client_options_text(part, own) or 'the settings of the run'}"
            for group in plan.groups
            for own in [known[group[0]]]
        )
        raise PlanError(
            f"clients talk with the contenders of the report in several ways ({ways}): name by --settings-of NAME "
            "the one whose settings the challenger has"
        )
    return known.get(settings_of or "", next(iter(known.values())))


def chosen(names: Sequence[str], names_given: Sequence[str]) -> frozenset[str]:
    """Those of the report's contenders that are to run beside; all where nothing is said. Raises PlanError."""
    words = [word for part in names_given for word in part.split(",") if word]
    for word in words:
        if word != NO_NAMES and word not in names:
            raise PlanError(f"--rerun: the report has no contender {word!r}: {did_you_mean(word, names)}")
    if NO_NAMES in words and len(set(words)) > 1:
        raise PlanError(f"--rerun: {NO_NAMES} stands alone: leave it out, or the names")
    return frozenset(words or names) - {NO_NAMES}


def foreign_plan(table: dict[str, Any], named: str) -> Plan:
    """The plan that a report holds. Raises RunFileError or PlanError where it is none that Bakeoff makes."""
    plan = plan_of(table, named)
    names = [contender.name for contender in plan.contenders]
    if not names:
        raise PlanError(f"{named} holds a plan without contenders: it cannot be carried out")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise PlanError(f"{named} holds a plan with two contenders called {twice!r}: it cannot be carried out")
    if plan.most_trials > TRIALS_MAX:
        raise PlanError(f"{named} holds a plan of {plan.most_trials:,} trials: at most {TRIALS_MAX:,} are carried out")
    return plan


def with_contenders(plan: Plan, contenders: Sequence[Contender]) -> Plan:
    """The same plan of these contenders."""
    names = {contender.name for contender in contenders}
    seen = {
        agent: kept
        for agent, places in plan.fleet.addresses.items()
        if (kept := {name: address for name, address in places.items() if name in names})
    }
    fleet = plan.fleet.model_copy(update={"addresses": seen})
    return plan.model_copy(update={"contenders": tuple(contenders), "fleet": fleet})


def foreign_acts(plan: Plan, contenders: Sequence[Contender]) -> list[str]:
    """What the plan of a report does that its reader did not ask for: all but the load on the challenger."""
    return acts(with_contenders(plan, contenders))


def refuse_hidden(plan: Mapping[str, Any], report: str, instead: str) -> None:
    """Raises PlanError where the plan of a report lacks what it needs, because reports do not hold it."""
    names = list(dict.fromkeys(_hidden(plan)))
    if names:
        raise PlanError(
            f"{report} does not hold {', '.join(names[:6])}, which may be secret: challenge the {instead} instead of "
            "its report"
        )


def _hidden(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _hidden(inner, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _hidden(inner, name)
    elif isinstance(value, str) and HIDDEN in value:
        yield name


@dataclass(frozen=True)
class Rerun:
    """Who of a report's contenders is measured again, and why others are not, by name."""

    again: tuple[Contender, ...]
    absent: Mapping[str, str]


def rerun_of(plan: Plan, wanted: Collection[str], agents: Callable[[], Sequence[Agent]] | None) -> Rerun:
    """Who of the contenders of a plan runs beside the challenger: those that are `wanted`, and that answer the `agents`
    where they are to be asked.
    """
    others = tuple(contender for contender in plan.contenders if contender.name in wanted)
    absent = {each.name: NOT_WANTED for each in plan.contenders if each.name not in wanted}
    if others and agents is not None:
        absent |= unresponsive(with_contenders(plan, others), agents())
    return Rerun(tuple(contender for contender in others if contender.name not in absent), absent)


def unresponsive(plan: Plan, agents: Sequence[Agent]) -> dict[str, str]:
    """The contenders of a plan that cannot be measured now, with why: they do not answer, also after their reset."""
    missing = {}
    for contender in plan.contenders:
        for agent in agents:
            seen = plan.seen_by(agent.name)
            own = next(each for each in seen.contenders if each.name == contender.name)
            answers = partial(agent.check(seen).answers, own)
            try:
                reset(own, answers)
                answers()
            except ContenderError as error:
                missing[contender.name] = str(error)
                break
    return missing


def embedded_subset(data: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of what a report holds. Raises PlanError where that is larger than any of Bakeoff's."""
    kept = {name: data[name] for name in KEPT if name in data}
    refuse_large(kept)
    return kept


def refuse_large(kept: object) -> None:
    """Raises PlanError for more data than any report of Bakeoff's has."""
    if len(json.dumps(kept, default=str)) > MOST_CHARACTERS:
        raise PlanError("the data of this report is larger than any that Bakeoff writes: get it from where it was made")
