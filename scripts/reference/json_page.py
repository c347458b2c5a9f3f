"""docs/reference/json.md"""

import dataclasses
import re
from collections.abc import Mapping
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from scripts.reference.markdown import code, table

from bakeoff.compare.model.comparison import SCHEMA as COMPARISON
from bakeoff.compare.model.comparison import Comparison
from bakeoff.formats.exporters.document_model import SCHEMA as SHOW
from bakeoff.formats.exporters.document_model import Document
from bakeoff.report.narrate.json_schema import IN_ROWS, is_load_step, is_own, keys_of, leaves
from bakeoff.run.checks.doctor import SCHEMA as DOCTOR
from bakeoff.run.checks.doctor import Finding

HEAD = f"""# JSON

What programs can read. A value that is not available is `null`; numbers are never NaN. Units are the ends of names:
`_s` seconds, `_ms` milliseconds, `_ns` nanoseconds, `_bytes`, `_per_s`; shares lie between 0 and 1.

* [`bakeoff compare RUN --json`](#bakeoff-compare---json): one object, `schema` is `{COMPARISON}`. `bakeoff compare
  --json-schema` prints its JSON Schema, which is [`compare.schema.json`](compare.schema.json).
* [`bakeoff show RUN --json`](#bakeoff-show---json): one object, `schema` is `{SHOW}`. `bakeoff show --json-schema`
  prints its JSON Schema, which is [`show.schema.json`](show.schema.json).
* `bakeoff audit --json` and `bakeoff history --json`: one object each. `--json-schema` prints its JSON Schema, which is
  [`audit.schema.json`](audit.schema.json) or [`history.schema.json`](history.schema.json).
* [`bakeoff doctor --json`](#bakeoff-doctor---json): one object, `schema` is `{DOCTOR}`.
"""

SHOWN = """All that a report uses stands here, but for histograms. Each trial is a line. The number at the end of
`schema` rises when a key is renamed, leaves or changes its meaning; new keys may come without that. Names under
`per_operation`, `steps_ms` and `per_agent` are those of operations, steps and agents.

`workload` are the figures of the kind of suite: its forms are in the JSON Schema under `$defs`, `workload-web`,
`workload-mail` and so on. Cells of file suites are `workload.cells`, the ledger of mail `workload.ledger`, requests
that failed `workload.failed`. Files of earlier versions may tell less there. Names under `telemetry[].series` are those
of [series of telemetry](csv.md#telemetry).
"""
LOAD_STEPS = ("clients", "rate", "share_of_capacity")
OWN = "; not there in runs of other kinds"


def text() -> str:
    """The page."""
    return "\n".join(
        [
            HEAD,
            "## bakeoff compare --json\n",
            *(_class(made) for made in _classes(Comparison)),
            "## bakeoff show --json\n",
            SHOWN,
            *(_class(made) for made in _classes(Document)),
            "## bakeoff doctor --json\n",
            "`mend` is the number of findings to mend, `findings` the array of them, the most important first.\n",
            _class(Finding),
        ]
    )


def _classes(root: Any) -> list[Any]:
    """A dataclass and all dataclasses that its fields lead to, each once, outer ones first."""
    found: list[Any] = []
    waiting = [root]
    while waiting:
        made = waiting.pop(0)
        if made in found:
            continue
        found.append(made)
        for _, hint in _fields(made):
            waiting += [leaf for leaf in leaves(hint) if _is_object(leaf)]
    return found


def _is_object(hint: Any) -> bool:
    return isinstance(hint, type) and (dataclasses.is_dataclass(hint) or issubclass(hint, BaseModel))


def _fields(made: Any) -> list[tuple[str, Any]]:
    """Keys as JSON has them, with their types."""
    if issubclass(made, BaseModel):
        return [(field.alias or name, field.annotation) for name, field in made.model_fields.items()]
    return keys_of(made)


def _class(made: Any) -> str:
    about = re.sub(r"``([^`]*)``", r"`\1`", cleandoc(made.__doc__ or ""))
    rows = [(_key(key, hint), _kind(hint) + OWN * is_own(hint)) for key, hint in _fields(made)]
    meant = _schema_docs(made)
    if not meant:
        return f"### {made.__name__}\n\n{about}\n\n" + table(("key", "value"), rows)
    found = [(*row, meant.get(key, "").replace("|", "\\|")) for row, (key, _) in zip(rows, _fields(made), strict=True)]
    return f"### {made.__name__}\n\n{about}\n\n" + table(("key", "value", "holds"), found)


def _schema_docs(made: Any) -> dict[str, str]:
    """By key what its figure means, where the record says it."""
    hints = get_type_hints(made, include_extras=True) if dataclasses.is_dataclass(made) else {}
    values = {key: getattr(hint, "__metadata__", ()) for key, hint in hints.items()}
    return {key: one.description for key, all_ in values.items() for one in all_ if getattr(one, "description", None)}


def _key(key: str, hint: Any) -> str:
    """A load step is the member by its name."""
    prefix = key.removesuffix("load_step")
    return (
        " or ".join(code(f"{prefix}{name}") for name in LOAD_STEPS)
        if key != prefix and is_load_step(hint)
        else code(key)
    )


def _kind(hint: Any) -> str:
    """A type as JSON has it."""
    origin, inner = get_origin(hint), get_args(hint)
    if is_load_step(hint):
        return "clients, a [Rate](#rate), or a share" + " or null" * (NoneType in inner)
    if inner and inner[0] in IN_ROWS:
        return f"`columns` and `rows`, the values of [{inner[0].__name__}](#{inner[0].__name__.lower()})"
    if origin in (Union, UnionType):
        known = [_kind(part) for part in inner if part is not NoneType]
        return " or ".join([*known, *(["null"] if NoneType in inner else [])])
    if origin is Literal:
        return "one of " + ", ".join(code(str(word)) for word in inner)
    if origin in (tuple, list):
        known = list(dict.fromkeys(_kind(part) for part in inner if part is not Ellipsis))
        return "array of " + " and ".join(known)
    if origin in (dict, Mapping):
        return f"object of {_kind(inner[1])}"
    if _is_object(hint):
        name = getattr(hint, "__name__", "")
        return f"[{name}](#{name.lower()})"
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}.get(hint, "any")


def made_up(made: Any, within: tuple[Any, ...] = ()) -> Any:
    """A value of a type: every number 1, every text empty, one item in each array of records, but none of what it is
    `within`.
    """
    origin, inner = get_origin(made), get_args(made)
    if dataclasses.is_dataclass(made) and isinstance(made, type):
        hints = get_type_hints(made)
        inside = (*within, made)
        fields = [field.name for field in dataclasses.fields(made) if field.init]
        return made(**{name: made_up(hints[name], inside) for name in fields})
    if isinstance(made, type) and issubclass(made, BaseModel):
        members = {name: made_up(field.annotation, within) for name, field in made.model_fields.items()}
        return made.model_construct(**members)
    if origin is Annotated:
        return made_up(inner[0], within)
    if origin in (Union, UnionType):
        return made_up(next(part for part in inner if part is not NoneType), within)
    if origin is tuple:
        return () if _holds(inner[0], within) else (made_up(inner[0], within),)
    if origin in (dict, Mapping) or made is dict:
        return {}
    return {str: "", int: 1, float: 1.0, bool: True}.get(made)


def _holds(made: Any, within: tuple[Any, ...]) -> bool:
    """Whether a record has a field of a type that it would be within: a value of it would have no end."""
    if not dataclasses.is_dataclass(made) or not isinstance(made, type):
        return False
    return any(hint in within for hint in get_type_hints(made).values())
