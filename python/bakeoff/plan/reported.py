"""The plan of a run for whoever tells of it: every setting an attribute, by the one model of plans.

Who acts on a plan asks `bakeoff.plan.input.stored`, which refuses what is no plan of this version. What is told of a
run does not depend on that: in a report secrets are hidden, so that a value may not have its form any more; a run of
another tool has no plan; and somebody may have altered it. There each value is read alone, and one that is missing or
does not fit is what the model has by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from bakeoff.core.errors import BakeoffError
from bakeoff.kinds import KINDS
from bakeoff.plan.design.factors import Factor
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import FORMAT, Contender, Plan
from bakeoff.plan.rules.capacity import CapacityPlan
from bakeoff.plan.settings.fields import RESOLVED
from bakeoff.plan.settings.shared import CommonSettings

M = TypeVar("M", bound=BaseModel)
HIDDEN = "(hidden"
REFUSED = (ValidationError, BakeoffError, KeyError, TypeError, ValueError, AttributeError, RecursionError)
# What a plan must have, of one that does not tell it.
NOTHING: dict[str, Any] = {
    "format": FORMAT, "name": "", "suite": "", "title": "", "modelled_on": "", "size": "", "blocks": 0, "seed": 0,
    "delta": 0.0, "error_limit": 0.0, "primary": "", "changed": (), "classes": (), "contenders": (), "assumed": (),
}  # fmt: skip
LISTS = ("contenders", "factors", "classes")


def lenient_plan(stored: Mapping[str, Any], kind: str) -> Plan:
    """The plan of a run of this kind. Raises nothing."""
    try:
        plan = Plan.from_dict(dict(stored))
    except REFUSED:
        return _each_alone(stored, kind)
    return plan if plan.kind == kind else _each_alone(stored, kind)


def _each_alone(stored: Mapping[str, Any], kind: str) -> Plan:
    part = plan_part(kind) if kind in KINDS else None
    own, capacity = stored.get("settings"), stored.get("capacity")
    settings = _made(CommonSettings if part is None else part.settings, own if isinstance(own, dict) else {})
    tables: dict[str, type[BaseModel]] = {
        "contenders": Contender,
        "factors": Factor,
        **({} if part is None else {"classes": part.suite_class}),
    }
    return Plan.model_construct(
        **{
            **NOTHING,
            **_values(Plan, {name: value for name, value in stored.items() if name not in ("settings", *LISTS)}),
            **{name: _all(model, stored.get(name)) for name, model in tables.items()},
            "kind": kind,
            "settings": settings,
            "capacity": _made(CapacityPlan, capacity) if isinstance(capacity, dict) else None,
        }
    )


def _all(model: type[BaseModel], stored: Any) -> tuple[BaseModel, ...]:
    """Those of a list that are tables, with whatever they lack."""
    return tuple(_made(model, one) for one in stored if isinstance(one, dict)) if isinstance(stored, list) else ()


def _made(model: type[M], stored: Mapping[str, Any]) -> M:
    values = _values(model, stored)
    fields = model.model_fields.items()
    missing = {name: _nothing(field.annotation) for name, field in fields if field.is_required() and name not in values}
    return model.model_construct(**missing, **values)


def _nothing(annotation: Any) -> Any:
    """What stands for a value that a model has none of itself: 0, an empty text, nothing at all."""
    made = get_origin(annotation) or annotation
    return made() if made in (str, int, float, bool, dict, tuple) else None


def _values(model: type[BaseModel], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `stored` that fit, by themselves, a field of the model."""
    found = {}
    for name, field in model.model_fields.items():
        if name in stored:
            try:
                found[name] = _reader(model, name).validate_python(
                    stored[name], by_alias=False, by_name=True, context=RESOLVED
                )
            except REFUSED:
                if (value := _hidden(field.annotation, stored[name])) is not None:
                    found[name] = value
    return found


@cache
def _reader(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    """What reads a single value of a model; the checks that its values need of each other are none of it."""
    return TypeAdapter(model.model_fields[name].rebuild_annotation())


def _hidden(annotation: Any, value: Any) -> Any:
    """A value in which a report hides something, or a model with such a value; None where that is not why it does not
    fit.
    """
    if isinstance(value, str):
        shown = (value,) if get_origin(annotation) is tuple else value
        return shown if HIDDEN in value else None
    for model in (annotation, *get_args(annotation)):
        if isinstance(value, dict) and isinstance(model, type) and issubclass(model, BaseModel):
            values = _values(model, value)
            if all(name in values for name, field in model.model_fields.items() if field.is_required()):
                return model.model_construct(**values)
    return None
