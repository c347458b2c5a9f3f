"""Flags made from the settings models: every setting of every kind is a flag of the same name.

A flag hands its text to the plan unchanged, so that units are parsed and refused in one place, with one
wording, for plan files and flags alike.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from bakeoff.cli import complete
from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.plan.campaign import is_campaign
from bakeoff.plan.design.factors import parse_factors
from bakeoff.plan.kind import plan_part, plan_section_keys, setting_owners
from bakeoff.plan.load import (
    PlanInput,
    parse_contenders,
    plan_of_table,
    with_flags,
)
from bakeoff.plan.rules.capacity import CapacityPlan
from bakeoff.plan.settings.client_options import parse_client_options
from bakeoff.plan.settings.fields import Metavar, extra_of, read_toml
from bakeoff.plan.settings.fleet import FleetPlan
from bakeoff.plan.settings.plan_section import PLAN_FIELDS
from bakeoff.plan.suites import load_suite, suite_names
from bakeoff.store.sqlite.read import read_run
from bakeoff.telemetry import where

WHAT = (
    "PLAN.toml, the file of a campaign, a run file, to repeat its plan, or a suite followed by NAME=ADDRESS for each "
    "contender; `bakeoff suites` lists the suites."
)
COMMON_PANEL = "Settings of every suite"


def with_plan_options(
    verb: Callable[..., None], searches: bool = False, arranged: Callable[[list[str]], list[str]] = list
) -> Callable[..., None]:
    """Give `verb(given: PlanInput, **own)` the arguments and flags of a plan after its own ones; with `searches` also
    those of a search for the capacity.
    """
    own = [p for p in inspect.signature(verb, eval_str=True).parameters.values() if p.name != "given"]

    def command(**values: Any) -> None:
        mine = {p.name: values.pop(p.name) for p in own}
        verb(given=_plan_input({**values, "words": arranged(values["words"])}), **mine)

    parameters = [
        _parameter(
            "words",
            list[str],
            typer.Argument(metavar="PLAN|SUITE [NAME=ADDRESS]...", help=WHAT, autocompletion=complete.plans_and_suites),
            ...,
        )
    ]
    parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    parameters += [*(_capacity_parameters() if searches else ()), *_plan_parameters(searches), *_fleet_parameters()]
    parameters += _setting_parameters()
    command.__name__, command.__doc__ = verb.__name__, verb.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _parameter(name: str, annotation: Any, info: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[annotation, info],
        default=inspect.Parameter.empty if default is ... else default,
    )


def _capacity_parameters() -> Iterator[inspect.Parameter]:
    for name, field in CapacityPlan.model_fields.items():
        yield _field_parameter(f"capacity_{name}", name, field, "Capacity")


def _plan_parameters(searches: bool) -> Iterator[inspect.Parameter]:
    """Of a search but for those that it has itself."""
    for name, field in PLAN_FIELDS.items():
        if name != "suite" and not (searches and name in CapacityPlan.model_fields):
            yield _field_parameter(f"plan_{name}", name, field, "Plan")
    yield _parameter(
        "plan_reset",
        list[str] | None,
        typer.Option(
            "--reset",
            metavar="NAME=COMMAND",
            autocompletion=complete.resets,
            rich_help_panel="Plan",
            help="Shell command that restores contender NAME before each block.",
        ),
        None,
    )
    yield _parameter(
        "plan_watch",
        list[str] | None,
        typer.Option(
            "--watch",
            metavar="NAME=WHERE",
            autocompletion=complete.watches,
            rich_help_panel="Plan",
            help=f"Watch processors, memory, disks and network of contender NAME during trials: {where.FORMS}.",
        ),
        None,
    )
    yield _parameter(
        "plan_factor",
        list[str] | None,
        typer.Option(
            "--factor",
            metavar="NAME=LEVEL,LEVEL",
            rich_help_panel="Plan",
            help="A setting tried at several levels: each contender becomes one for each of them, and {NAME} in its "
            "address, reset and settings the level. As often as there are factors.",
        ),
        None,
    )
    yield _parameter(
        "plan_contender_setting",
        list[str] | None,
        typer.Option(
            "--contender-setting",
            metavar="NAME:SETTING=VALUE",
            rich_help_panel="Plan",
            help="A client option of contender NAME alone, such as h2:http=2, new:keep_alive=off or raw:direct=on; "
            "what is measured is the same for all. With --factor http=1.1,2 also web:http={http}.",
        ),
        None,
    )


def _fleet_parameters() -> Iterator[inspect.Parameter]:
    for name, field in FleetPlan.model_fields.items():
        if name != "addresses":  # of plan files alone
            key = field.alias or name
            yield _field_parameter(f"fleet_{key}", key, field, "Load machines")


def _setting_parameters() -> Iterator[inspect.Parameter]:
    seen: set[str] = set()
    for kind in map(plan_part, KINDS):
        for name, field in kind.settings.model_fields.items():
            flag = field.alias or name
            if flag not in seen:
                seen.add(flag)
                owners = setting_owners()[flag]
                panel = COMMON_PANEL if len(owners) == len(KINDS) else f"Settings of {_listed(owners)}"
                if flag in plan_section_keys():
                    yield _field_parameter(f"plan_{flag}", flag, field, "Plan")
                else:
                    yield _field_parameter(f"setting_{flag}", flag, field, panel, _text_of(flag, owners))


def _text_of(flag: str, owners: Sequence[str]) -> str:
    """What a flag is, and what it is elsewhere where kinds mean different things by it."""
    kinds_by_text: dict[str, list[str]] = {}
    for kind in owners:
        for name, field in plan_part(kind).settings.model_fields.items():
            if flag == (field.alias or name):
                kinds_by_text.setdefault(field.description or "", []).append(kind)
    first, *others = kinds_by_text
    return " ".join([first, *(f"In {_listed(kinds_by_text[text])}: {text}" for text in others)])


def _listed(kinds: Sequence[str]) -> str:
    return f"{', '.join(kinds[:-1])} and {kinds[-1]} suites" if len(kinds) > 1 else f"the {kinds[0]} suites"


def _field_parameter(
    parameter: str, name: str, field: FieldInfo, panel: str, text: str | None = None
) -> inspect.Parameter:
    extra, text = extra_of(field), text or field.description
    flag = "--" + str(extra.get("flag", name.replace("_", "-")))
    if field.annotation is bool:
        off = extra.get("off", f"no-{name.replace('_', '-')}")
        return _parameter(
            parameter, bool | None, typer.Option(f"{flag}/--{off}", help=text, rich_help_panel=panel), None
        )
    kind = list[str] if extra.get("repeat") else str
    flags = [flag, *([f"--{extra['synonym']}"] if "synonym" in extra else [])]
    flags += [f"-{extra['short']}"] if "short" in extra else []
    values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    words = tuple(map(str, values or extra.get("values", ())))
    completed = complete.any_files if extra.get("path") else None
    if words:
        completed = (complete.list_of if extra.get("listed") else complete.one_of)(words)
    option = typer.Option(*flags, metavar=metavar(field), help=text, rich_help_panel=panel, autocompletion=completed)
    return _parameter(parameter, kind | None, option, None)


def metavar(field: FieldInfo) -> str:
    """What stands for the value in help texts: as the field says, or its type."""
    extra = extra_of(field)
    by_type = [part.text for part in field.metadata if isinstance(part, Metavar)]
    plain = {int: "N", float: "N"}.get(field.annotation, "TEXT")  # type: ignore[arg-type]
    return str(extra.get("metavar") or ("PATH" if extra.get("path") else None) or next(iter(by_type), plain))


def _plan_input(values: dict[str, Any]) -> PlanInput:
    words, resets = values.pop("words"), values.pop("plan_reset") or []
    watched = values.pop("plan_watch") or []
    client_options = parse_client_options(values.pop("plan_contender_setting") or [])
    factors = parse_factors(values.pop("plan_factor") or [])
    given = {key: value for key, value in values.items() if value is not None and value != []}
    plan = {key.removeprefix("plan_"): value for key, value in given.items() if key.startswith("plan_")}
    settings = {key.removeprefix("setting_"): value for key, value in given.items() if key.startswith("setting_")}
    capacity = {key.removeprefix("capacity_"): value for key, value in given.items() if key.startswith("capacity_")}
    fleet = {key.removeprefix("fleet_"): value for key, value in given.items() if key.startswith("fleet_")}
    base = _base(words)
    resets_by_name = dict(_reset(word) for word in resets)
    watched_by_name = dict(map(_watch, watched))
    settings = _shared_flags(base, settings)
    searched = capacity or None
    return with_flags(base, plan, settings, resets_by_name, searched, fleet, watched_by_name, factors, client_options)


def _shared_flags(base: PlanInput, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with the meaning of flags that two kinds share: --close ends a connection for one kind, a file
    for another.
    """
    suite = base.plan.get("suite")
    if suite not in suite_names():
        return settings
    for name, field in plan_part(load_suite(str(suite)).suite.kind).settings.model_fields.items():
        other = extra_of(field).get("also")
        if isinstance(other, str) and settings.get(other) is False:
            settings = {**{key: value for key, value in settings.items() if key != other}, name: True}
    return settings


def _base(words: list[str]) -> PlanInput:
    first, contenders = words[0], parse_contenders(words[1:])
    if "=" in first and not Path(first).is_file():
        raise PlanError(f"name the suite first: bakeoff run SUITE {first} …; `bakeoff suites` lists them")
    if is_run_file(first):
        return PlanInput(first, {}, {}, contenders, repeats=read_run(Path(first)))
    if first not in suite_names() and (first.endswith(".toml") or "/" in first or Path(first).is_file()):
        table = read_toml(Path(first), "plan file")
        if is_campaign(table):
            return PlanInput(first, {}, {}, contenders, campaign=Path(first))
        given = plan_of_table(Path(first), table)
        if not contenders:
            return given
        known = {c.get("name"): c for c in given.contenders}
        merged = [{**known.get(c["name"], {}), **c} for c in contenders]
        left_out = known.keys() - {c["name"] for c in contenders}
        return replace(given, contenders=merged, agents=_without(given.agents, left_out))
    return PlanInput("command line", {"suite": first}, {}, contenders)


def _without(agents: dict[str, Any], contenders: Set[Any]) -> dict[str, Any]:
    """Tables of agents without the addresses of contenders that do not take part."""
    tables = {}
    for name, table in agents.items():
        addresses = table.get("addresses") if isinstance(table, dict) else None
        if isinstance(addresses, dict):
            table = {**table, "addresses": {key: place for key, place in addresses.items() if key not in contenders}}
        tables[name] = table
    return tables


def is_run_file(word: str) -> bool:
    """Whether a word means the plan of a run."""
    return word.endswith(".bakeoff") and word not in suite_names()


def _watch(word: str) -> tuple[str, str]:
    name, equals, place = word.partition("=")
    if not equals or not place:
        raise PlanError(f"--watch {word!r}: write NAME=WHERE, where WHERE is {where.FORMS}")
    return name, place


def _reset(word: str) -> tuple[str, str]:
    name, equals, command = word.partition("=")
    if not equals or not command:
        raise PlanError(f"--reset {word!r}: write NAME=COMMAND, such as --reset 'nginx=systemctl restart nginx'")
    return name, command
