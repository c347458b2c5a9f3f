"""Validation errors as one sentence each, with the nearest right name for a wrong one."""

import difflib
from collections.abc import Callable, Iterable

from pydantic import BaseModel, ValidationError

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.foreign_flags import own_flag

LONGEST_NAME = 100


def input_names(model: type[BaseModel]) -> list[str]:
    """The names under which a person gives the fields of `model`: the alias where there is one."""
    return [field.alias or name for name, field in model.model_fields.items()]


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """` (did you mean `x`?)` or the list of what there is."""
    names = sorted(known)
    wrong = wrong[:LONGEST_NAME]  # comparing takes the product of the lengths
    near = difflib.get_close_matches(wrong, names, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    return "known are: " + ", ".join(names) if names else "none is known here"


def explain(error: ValidationError, model: type[BaseModel], label: Callable[[str], str]) -> PlanError:
    """A PlanError with one line per fault; `label` says where a key was given, such as `--length`.

    A fault of several keys together has no key: `label("")` opens it.
    """
    lines = []
    for fault in error.errors(include_url=False, include_context=True):
        key = str(fault["loc"][0]) if fault["loc"] else ""
        inner = "".join(f"[{part}]" for part in fault["loc"][1:] if isinstance(part, int))
        text = _sentence(fault["type"], fault["msg"], fault.get("input"), key, model)
        lines.append(f"{label(key)}{inner}: {text}")
    return PlanError("\n".join(dict.fromkeys(lines)))


def _sentence(kind: str, message: str, given: object, key: str, model: type[BaseModel]) -> str:
    if kind == "extra_forbidden":
        foreign = own_flag(f"--{key.replace('_', '-')}")
        return f"unknown key: {foreign or did_you_mean(key, input_names(model))}"
    if kind == "missing":
        return "is missing: add it"
    text = message.removeprefix("Value error, ")
    return text if kind == "value_error" else f"{_given(given)} does not fit: {text[0].lower()}{text[1:]}"


def _given(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "a value of more than 4,300 digits"
    return text if len(text) <= LONGEST_NAME else text[:LONGEST_NAME] + " …"
