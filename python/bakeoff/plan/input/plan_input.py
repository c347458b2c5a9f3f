"""A plan that was resolved, as somebody would write it: what resolves to the same plan again."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from bakeoff.core.errors import PlanError
from bakeoff.plan.design.differences import text_of
from bakeoff.plan.design.order_choice import fits
from bakeoff.plan.kind import PlanPart, plan_part, plan_section_keys
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.rules.capacity import CapacityPlan
from bakeoff.plan.rules.stopping_rules import StoppingRules
from bakeoff.plan.settings.client_options import keys_of
from bakeoff.plan.settings.fields import SettingText, extra_of
from bakeoff.plan.suites import suite_names

HEAD = ("name", "suite", "size", "blocks", "seed", "delta", "error_limit")


class UnwritableError(ValueError):
    """A value that no text stands for: it was read from a file."""


def plan_input_of(plan: Plan, origin: str) -> PlanInput:
    """What resolves to this plan: its contenders and numbers, the settings that were given, and those that this
    version's suite would fill in otherwise.

    Raises PlanError for a plan with values that were read from a file which it does not name.
    """
    if plan.suite not in suite_names():
        raise PlanError(f"{origin}: this version has no suite {plan.suite!r} and cannot write a plan file of it")
    own = {key for key in plan_section_keys() if key in _fields(type(plan.settings))}
    order = {} if fits(plan) else {"order": plan.order}
    head = (
        {name: getattr(plan, name) for name in HEAD}
        | order
        | _stopping_rules(plan)
        | _table(plan.settings, own, origin)
    )
    head |= {"objective": plan.objective} if plan.objective else {}
    given = PlanInput(
        origin,
        head,
        _table(plan.settings, set(plan.changed), origin),
        [_contender(contender, plan.kind) for contender in plan.contenders],
        capacity=None if plan.capacity is None else _capacity(plan.capacity),
        fleet=_table(plan.fleet, {"agents", "least", "start_spread"}, origin),
        agents={name: {"addresses": dict(places)} for name, places in plan.fleet.addresses.items()},
        factors={factor.name: list(factor.levels) for factor in plan.factors},
    )
    return _with_what_differs(given, plan)


def input_value(field: FieldInfo, name: str, value: Any) -> Any:
    """A value of a setting as a plan file has it. Raises UnwritableError."""
    one = create_model("One", value=(Annotated[(field.annotation, None, *field.metadata)], ...))  # type: ignore[arg-type]
    path = None if hasattr(value, "plan_text") else getattr(value, "path", None)
    if extra_of(field).get("path") and isinstance(path, str):
        return path
    for text in _forms(field, name, value):
        try:
            if getattr(one.model_validate({"value": text}), "value") == value:  # noqa: B009 - of a model made here
                return text
        except (ValidationError, ValueError, TypeError, AttributeError, PlanError):
            continue
    raise UnwritableError(name)


def _forms(field: FieldInfo, name: str, value: Any) -> Iterator[Any]:
    """Ways to write a value, the one that reads best first; what reads back as another is passed over."""
    if value is None:
        yield "auto"
    elif isinstance(value, (bool, str)):
        yield value
    elif isinstance(value, (tuple, list)):
        if any(isinstance(part, SettingText) for part in field.metadata):
            yield text_of(name, field, value)
        plain = all(isinstance(item, (int, str)) for item in value)
        yield list(value) if plain else text_of(name, field, value)
        yield from ([str(item) for item in value], ",".join(map(str, value)), text_of(name, field, value))
        yield [getattr(item, "plan_text", getattr(item, "name", item)) for item in value]
        yield "none"
    elif isinstance(value, Mapping):
        yield ",".join(f"{key}={item!r}" for key, item in value.items())
        yield dict(value)
    elif isinstance(value, (int, float)):
        is_count = isinstance(value, int) and not name.endswith("_bytes")
        yield value if is_count else text_of(name, field, value)
        yield from (f"{value!r}s", value, str(value), f"{value * 100!r}%", f"{value * 8:.15g}bit/s")
    else:
        yield from (
            getattr(value, "plan_text", None),
            str(value),
            getattr(value, "text", None),
            getattr(value, "words", None),
        )


def _stopping_rules(plan: Plan) -> dict[str, Any]:
    """What is not as by default."""
    table = {}
    for key, (name, field) in _fields(StoppingRules).items():
        if (value := getattr(plan, name)) != field.default:
            table[key] = input_value(field, name, value)
    return table


def _fields(model: type[BaseModel]) -> dict[str, tuple[str, FieldInfo]]:
    return {field.alias or name: (name, field) for name, field in model.model_fields.items()}


def _table(values: BaseModel, keys: set[str] | None, origin: str) -> dict[str, Any]:
    """Those of a model's values that have these keys in plan files, or all that are not as by default."""
    table = {}
    for key, (name, field) in _fields(type(values)).items():
        value = getattr(values, name)
        if (key not in keys) if keys is not None else False:
            continue
        if value == field.default and (
            keys is None or key in plan_section_keys() or name in ("agents", "start_spread_s")
        ):
            continue
        if value is None and name == "least":
            continue
        try:
            table[key] = input_value(field, name, value)
        except UnwritableError:
            raise PlanError(
                f"{origin} cannot become a plan file: {key} came from a file whose name is not stored; `bakeoff run "
                f"{origin}` repeats it as it is"
            ) from None
    return table


def _capacity(capacity: CapacityPlan) -> dict[str, Any]:
    """The search: numbers as they are, but for shares, which are written in percent."""
    table = {name: getattr(capacity, name) for name in CapacityPlan.model_fields}
    shares = [f"{share * 100:.12g}%" for share in capacity.shares]
    return table | {"shares": shares or "none"}


def _contender(contender: Contender, kind: str) -> dict[str, Any]:
    fields = Contender.model_fields
    table: dict[str, Any] = {"name": contender.name, "address": contender.address}
    if contender.reset is not None:
        table["reset"] = contender.reset
    if contender.ready_timeout_s != fields["ready_timeout_s"].default:
        field = fields["ready_timeout_s"]
        table["ready_timeout"] = input_value(field, "ready_timeout_s", contender.ready_timeout_s)
    if contender.watch is not None:
        table["watch"] = contender.watch
    table |= {"levels": contender.levels} if contender.levels else {}
    return table | ({"settings": _client_options(contender, plan_part(kind))} if contender.settings else {})


def _client_options(contender: Contender, part: PlanPart) -> dict[str, Any]:
    """What clients do otherwise with this contender: all of it is plain, so that there is a text for each value."""
    fields = part.settings.model_fields
    own = {name: tuple(value) if isinstance(value, list) else value for name, value in contender.settings.items()}
    return {key: input_value(fields[name], name, own[name]) for key, name in keys_of(part).items() if name in own}


def _with_what_differs(given: PlanInput, plan: Plan) -> PlanInput:
    """With the settings, too, that a suite of another version filled in otherwise than this one's does."""
    try:
        now = resolve_plan(given)
    except PlanError:  # of what is gone from this machine: told when the plan is used
        return given
    other = {
        key
        for key, (name, _) in _fields(type(plan.settings)).items()
        if key not in plan_section_keys() and getattr(now.settings, name) != getattr(plan.settings, name)
    } - set(plan.changed)
    loads = set() if plan.capacity is None else set(plan.capacity.loads)
    more = _table(plan.settings, other - loads, given.origin)
    return replace(given, settings={**given.settings, **more})
