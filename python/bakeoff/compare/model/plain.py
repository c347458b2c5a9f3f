"""Records of the comparison as plain dictionaries and lists."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from bakeoff.compare.model.fact import Fact
from bakeoff.load.load_step import Clients, InFlight, LoadStep, OfCapacity, Rate, StatedLoad, named

Words = Callable[[Any], Mapping[str, Any]]


def no_words(value: Any) -> Mapping[str, Any]:
    """Data alone."""
    return {}


def as_dict(value: Any, words: Words = no_words) -> Any:
    """As `dataclasses.asdict`, but a field `load_step` is the members that the load step is by name: `"clients": 8`. A
    fact has its kind, and what has `words` these.
    """
    if isinstance(value, Clients):
        return value.n
    if isinstance(value, InFlight | Rate | StatedLoad):
        return value.to_json()
    if isinstance(value, OfCapacity):
        return value.share
    if dataclasses.is_dataclass(value):
        members: dict[str, Any] = {"kind": value.kind} if isinstance(value, Fact) else {}
        for field in dataclasses.fields(value):
            if field.metadata.get("omitted"):
                continue
            item = getattr(value, field.name)
            if field.metadata.get("narrated") and words is not no_words:
                members[field.name] = _plain_item(item, words)
                continue
            is_load_step = isinstance(item, LoadStep) or (item is None and field.name.endswith("_load_step"))
            members |= (
                named(item, field.name.removesuffix("load_step"))
                if is_load_step
                else {field.name: as_dict(item, words)}
            )
        return {**members, **words(value)}
    if isinstance(value, dict):
        return {key: as_dict(item, words) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_dict(item, words) for item in value]
    return value


def _plain_item(item: Any, words: Words) -> Any:
    """The words of a value, or of each of several, once."""
    if isinstance(item, tuple):
        return list(dict.fromkeys(_plain_item(each, words) for each in item))
    return words(item).get("text", "")


def nulled(value: Any) -> Any:
    """The same with None for NaN and infinity, and lists for tuples: what JSON can hold."""
    if isinstance(value, dict):
        return {str(key): nulled(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [nulled(item) for item in value]
    if isinstance(value, float):
        # Seven figures are far below any interval printed here, and keep the report small.
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value
