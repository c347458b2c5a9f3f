"""The JSON Schema of a comparison, made from its dataclasses as `document.to_dict` writes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from bakeoff.compare.cube.file_weights import FileWeights
from bakeoff.compare.kind import compare_part
from bakeoff.compare.model.cell import CellLevel, CellPair, CellRatio
from bakeoff.compare.model.comparison import SCHEMA, Advisory, Audit, Comparison, KindSummary
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.gate import GateDetail
from bakeoff.kinds import KINDS
from bakeoff.load.load_step import Clients, Rate
from bakeoff.report.narrate.sentences import is_reported

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE: Mapping[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    NoneType: {"type": "null"},
}
RATE: Schema = {
    "type": "object",
    "properties": {
        "per_s": {"type": "number"},
        "arrivals": {"type": "object"},
        "most_connections": {"type": "integer"},
    },
    "required": ["per_s", "arrivals", "most_connections"],
}
# As `FileWeights.to_dict` has them.
WEIGHTS: Schema = {
    "type": "object",
    "description": "The files of `folder` by size, whose shares are together 1; `folded_share` are of other sizes.",
    "properties": {
        "folder": {"type": "string"},
        "files": {"type": "integer"},
        "errors": {"type": "integer"},
        "folded_share": {"type": "number"},
        "sizes": {"type": "array", "items": {"type": "object", "required": ["file_kib", "share"]}},
    },
    "required": ["folder", "files", "errors", "folded_share", "sizes"],
}
# Its kind, and what is known of that.
FACT: Schema = {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}
HEADLINE = (("headline", tuple[str, ...]), ("headline_kinds", tuple[str, ...]))
# Thousands of them: one list of names, and the values in its order.
IN_ROWS = (CellRatio, CellLevel)


def json_schema() -> Schema:
    """The whole schema, draft 2020-12. A figure that is not available is null."""
    parts: dict[str, Schema] = {}
    object_of(Comparison, parts)
    root = parts.pop(Comparison.__name__)
    root["properties"]["schema"] = {"const": SCHEMA}
    return {"$schema": DIALECT, "$id": SCHEMA, **root, "$defs": parts}


def whole(name: str, properties: Mapping[str, Schema], parts: Mapping[str, Schema]) -> Schema:
    """The schema of a document with these properties and its name under `schema`."""
    root = exactly({"schema": {"const": name}, **properties})
    return {"$schema": DIALECT, "$id": name, **root, "$defs": dict(parts)}


def exactly(properties: Mapping[str, Schema]) -> Schema:
    """An object that has all of these and nothing else."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Schema) -> Schema:
    """A list of these."""
    return {"type": "array", "items": items}


def keys_of(made: Any) -> list[tuple[str, Any]]:
    """The keys of a dataclass as JSON has them, with their types: what a kind of suite tells has a key of its own."""
    hints = get_type_hints(made)
    found: list[tuple[str, Any]] = [("kind", str)] if issubclass(made, Fact) else []
    for field in dataclasses.fields(made):
        if KindSummary in leaves(hints[field.name]):
            own = [get_type_hints(compare_part(kind).summary)["return"] for kind in KINDS]
            found += [(one.key, one) for one in own if is_own(one)]
        else:
            hint = hints[field.name]
            if field.metadata.get("omitted"):
                continue
            if field.metadata.get("narrated"):
                hint = tuple[str, ...] if get_origin(hint) is tuple else str
            found.append((field.metadata.get("json", field.name), hint))
    several = made is CellPair
    keys = [(key, tuple[str, ...] if several else str) for key in _words(made)]
    return found + keys + (list(HEADLINE) if made is Comparison else [])


def is_own(hint: Any) -> bool:
    """Whether it is what one kind of suite tells, and so not there in runs of others."""
    return isinstance(hint, type) and issubclass(hint, KindSummary)


def is_load_step(hint: Any) -> bool:
    """Whether it is a load step; a field that is called so is the member by its name: `clients`, `rate` or the
    share.
    """
    return Clients in get_args(hint) and Rate in get_args(hint)


def leaves(hint: Any) -> list[Any]:
    """The types that a type is made of."""
    inner = get_args(hint)
    return [leaf for part in inner for leaf in leaves(part)] if inner else [hint]


def object_of(made: Any, parts: dict[str, Schema]) -> Schema:
    """A reference to the schema of a dataclass, which is among `parts` then."""
    reference = {"$ref": f"#/$defs/{made.__name__}"}
    if made.__name__ in parts:
        return reference
    parts[made.__name__] = {}
    properties: dict[str, Schema] = {}
    optional: set[str] = set()
    for key, hint in keys_of(made):
        if is_load_step(hint):
            members = _members(key.removesuffix("load_step"))
            properties |= members
            optional |= set(members)
        else:
            properties[key] = _of(hint, parts)
            optional |= {key} if is_own(hint) else set()
    parts[made.__name__] = {
        "type": "object",
        "description": " ".join((made.__doc__ or "").split()),
        "properties": properties,
        "required": [key for key in properties if key not in optional],
        "additionalProperties": False,
    }
    return reference


def _words(made: Any) -> tuple[str, ...]:
    """Under which keys its words are, of what is told."""
    if made is Audit:
        return "what", "tolerance"
    if made is CellPair:
        return "summary", "sentences"
    return ("text", "advice") if made is Advisory else ("text",) if is_reported(made) else ()


def _members(prefix: str) -> dict[str, Schema]:
    """What a load step may be in an object; one of them is there, `outstanding` beside clients."""
    return {
        f"{prefix}clients": {"type": ["integer", "null"]},
        f"{prefix}outstanding": {"type": "integer"},
        f"{prefix}rate": RATE,
        f"{prefix}share_of_capacity": {"type": "number"},
    }


def _of(hint: Any, parts: dict[str, Schema]) -> Schema:
    origin, inner = get_origin(hint), get_args(hint)
    if is_load_step(hint):  # alone, as in a list
        depth: Schema = {"clients": {"type": "integer"}, "outstanding": {"type": "integer"}}
        made = [{"type": "object", "properties": members} for members in ({"rate": RATE}, depth)]
        return {"anyOf": [{"type": ["integer", "number"]}, *made]}
    if origin in (Union, UnionType):
        return {"anyOf": [_of(part, parts) for part in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (tuple, list):
        if inner[0] in IN_ROWS:
            names = {"type": "array", "items": {"type": "string"}}
            rows = {"type": "array", "items": {"type": "array"}}
            table: Schema = {"type": "object", "properties": {"columns": names, "rows": rows}}
            return {**table, "required": ["columns", "rows"], "description": f"{inner[0].__name__}s, values in a row"}
        kinds = list(dict.fromkeys(part for part in inner if part is not Ellipsis))
        items = [_of(part, parts) for part in kinds]
        return {"type": "array", "items": items[0] if len(items) == 1 else {"anyOf": items}}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of(inner[1], parts)}
    if hint is FileWeights:
        return WEIGHTS
    if hint is GateDetail:  # each check has its own
        return {"type": "object"}
    if hint is Fact:
        return FACT
    if dataclasses.is_dataclass(hint):
        return object_of(hint, parts)
    return SIMPLE.get(hint, {})
