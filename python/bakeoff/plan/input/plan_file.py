"""The text of a plan file: what was given, and as comments what holds beside it, with its meaning."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from bakeoff.plan.input.plan_input import UnwritableError, input_value
from bakeoff.plan.input.secrets import masked
from bakeoff.plan.input.toml import key_to_toml, line_to_toml, table_to_toml
from bakeoff.plan.kind import plan_section_keys
from bakeoff.plan.load import PlanInput
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.plan_section import PlanSection

WIDTH = 100
# Stands before a value that holds without being given; without it the line says the same.
AS_IT_IS = "#"


def plan_to_toml(given: PlanInput, plan: Plan) -> str:
    """A plan file that resolves to `plan` as `given` does. Settings that were not given stand there as comments, as
    those of the suite may be others in another version.
    """
    settings = type(plan.settings).model_fields
    own = {key: field for key, field in _named(settings) if key in plan_section_keys()}
    rest = {key: field for key, field in _named(settings) if key not in plan_section_keys()}
    head = {name: field for name, field in _named(PlanSection.model_fields) if name != "suite"}
    given, variables = masked_input(given, plan)
    shown = given.settings
    parts = [
        *_explained(variables),
        table_to_toml("[plan]", given.plan)
        + _comments(head, given.plan, plan)
        + _comments(own, given.plan, plan.settings),
        table_to_toml("[settings]", shown) + _comments(rest, given.settings, plan.settings),
    ]
    if given.capacity is not None:
        parts.append(table_to_toml("[capacity]", given.capacity))
    if given.fleet:
        parts.append(table_to_toml("[fleet]", given.fleet))
    parts += [table_to_toml(f"[agents.{key_to_toml(name)}]", table) for name, table in given.agents.items()]
    parts += factors_to_toml(given.factors)
    parts += [table_to_toml("[[contender]]", contender) for contender in given.contenders]
    return "\n".join(parts)


def factors_to_toml(factors: Mapping[str, Any]) -> list[str]:
    """The table `[factors]`, and one for each level that has one."""
    # What stands behind a table cannot be a list again without losing its place.
    lists = dict(takewhile(lambda item: not isinstance(item[1], Mapping), factors.items()))
    tables = {
        name: levels if isinstance(levels, Mapping) else {level: {} for level in levels}
        for name, levels in factors.items()
        if name not in lists
    }
    return [table_to_toml("[factors]", lists)] * bool(lists) + [
        table_to_toml(f"[factors.{key_to_toml(name)}.{key_to_toml(level)}]", table)
        for name, levels in tables.items()
        for level, table in levels.items()
    ]


def masked_input(given: PlanInput, plan: Plan) -> tuple[PlanInput, list[str]]:
    """What was given without its secrets, and the environment variables that stand there instead."""
    settings, variables = _masked(given.settings, plan, "")
    contenders = []
    for contender in given.contenders:
        made, names = _masked_table(contender, plan, str(contender.get("name")))
        contenders.append(made)
        variables += names
    factors: dict[str, Any] = {}
    for name, levels in given.factors.items():
        if not isinstance(levels, Mapping):
            factors[name] = levels
            continue
        factors[name] = {}
        for level, table in levels.items():
            factors[name][level], names = _masked_table(table, plan, f"{name}_{level}")
            variables += names
    return replace(given, settings=settings, contenders=contenders, factors=factors), variables


def _masked_table(table: dict[str, Any], plan: Plan, whose: str) -> tuple[dict[str, Any], list[str]]:
    """The table of a contender or a level, which may have settings of its own."""
    if not isinstance(table.get("settings"), Mapping):
        return table, []
    shown, variables = _masked(table["settings"], plan, whose)
    return {**table, "settings": shown}, variables


def _masked(settings: Mapping[str, Any], plan: Plan, whose: str) -> tuple[dict[str, Any], list[str]]:
    fields = dict(_named(type(plan.settings).model_fields))
    shown = {
        key: masked(key, fields[key], value, whose) if key in fields else (value, ()) for key, value in settings.items()
    }
    return {key: value for key, (value, _) in shown.items()}, [name for _, names in shown.values() for name in names]


def _explained(variables: Sequence[str]) -> list[str]:
    """What stands over a plan that has variables in place of secrets."""
    return [f"# Secrets are not written here: set {', '.join(variables)} in the environment.\n"] if variables else []


def _named(fields: Mapping[str, FieldInfo]) -> Iterable[tuple[str, FieldInfo]]:
    """Fields by their key in plan files."""
    return ((field.alias or name, field) for name, field in fields.items())


def _comments(fields: Mapping[str, FieldInfo], given: Mapping[str, Any], values: BaseModel) -> str:
    """What was not given: its meaning, and the value that it has."""
    names = {field.alias or name: name for name, field in PlanSection.model_fields.items() if hasattr(values, name)}
    names |= {field.alias or name: name for name, field in type(values).model_fields.items()}
    lines = []
    for key, field in fields.items():
        if key not in given and key in names:
            text = " ".join((field.description or "").split())
            lines += ["", *textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ")]
            lines.append(_line(key, field, names[key], getattr(values, names[key])))
    return "\n".join(lines) + "\n" if lines else ""


def _line(key: str, field: FieldInfo, name: str, value: Any) -> str:
    try:
        return AS_IT_IS + line_to_toml(key, input_value(field, name, value))
    except UnwritableError:
        return f"# ({key} is not set)" if value is None else f"# ({key} is as the suite has it)"
