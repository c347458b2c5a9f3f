"""Stored values, each checked before it is believed: SQLite keeps any type in any column. What does not fit its type
raises ValueError.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from datetime import datetime
from typing import Any, NoReturn, get_args, get_origin

from bakeoff.load.load_step import LoadStep, load_step_from_json, load_steps_from_json
from bakeoff.store.records.figure import LARGEST, MOST_CLIENTS, Field, Figure, fields_of, is_record, without_none
from bakeoff.store.sqlite.canonical import printable, to_json

MOST_DEPTH = 40  # levels of a stored JSON value
MOST_PARTS = 1000  # records in one
Check = Callable[[Any], Any]
PLAIN = Figure("")


class DamagedError(Exception):
    """A stored value is not what it must be; the message says which. Does not leave `store`."""


def reader(field: Field) -> Check:
    """What makes the value of a field of that in its column."""
    figure = field.figure or PLAIN
    known: dict[Any, Callable[[Figure], Check]] = {int: _whole, float: _real, str: _text}
    read = known[field.hint](figure) if field.hint in known else _of_json(field.hint)
    return _or_none(read) if field.optional else read


def writer(field: Field) -> Check:
    """What makes the value of its column of that of a field."""
    if field.hint in (int, float):
        return _same
    write = printable if field.hint is str else _json_of
    return _or_none(write) if field.optional else write


def sql_type(hint: Any) -> str:
    """What a column of a type is called by SQLite."""
    return {int: "INTEGER", float: "REAL"}.get(hint, "TEXT")


def _same(value: Any) -> Any:
    return value


def _or_none(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _refuse() -> NoReturn:
    raise ValueError("it does not hold what it must")


def _whole(figure: Figure) -> Check:
    least, most = figure.least, figure.most

    def read(value: Any) -> int:
        return value if type(value) is int and least <= value <= most else _refuse()

    return read


def _real(figure: Figure) -> Check:
    below, above_zero = figure.below, figure.above_zero

    def read(value: Any) -> float:
        return value if type(value) is float and 0 <= value < below and (value or not above_zero) else _refuse()

    return read


def _text(figure: Figure) -> Check:
    if figure.moment:
        return _moment
    words = figure.words

    def read(value: Any) -> str:
        return value if type(value) is str and (not words or value in words) else _refuse()

    return read


def _moment(value: Any) -> str:
    """ISO text with its offset from UTC."""
    return value if type(value) is str and datetime.fromisoformat(value).tzinfo is not None else _refuse()


def _of_json(hint: Any) -> Check:
    inside = _inside(hint)

    def read(value: Any) -> Any:
        return inside(parsed_json(value))

    return read


def parsed_json(value: Any) -> Any:
    """The value of stored JSON: not too deep, and without what nothing can print or compute."""
    try:
        found = json.loads(value if type(value) is str else _refuse(), parse_constant=_no_constant)
        return found if _fits(found, 0) else _refuse()
    except RecursionError:
        _refuse()


def _inside(hint: Any) -> Check:
    """What checks a value inside of JSON, and makes it that of its type."""
    hint, optional = without_none(hint)
    if optional:
        return _or_none(_inside(hint))
    if hint == LoadStep:
        return lambda value: _bounded(load_step_from_json(value))
    if is_record(hint):
        return _record(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is dict:
        return _table(_inside(inner[1]))
    if origin is tuple:
        return _load_steps if inner[0] == LoadStep else _array(_inside(inner[0]), is_record(inner[0]))
    known: dict[Any, Check] = {int: _count, float: _number, str: _word, bool: _flag}
    return known.get(hint, _same)


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= LARGEST else _refuse()


def _number(value: Any) -> float:
    return float(value) if type(value) in (int, float) and value >= 0 else _refuse()


def _word(value: Any) -> str:
    return value if type(value) is str else _refuse()


def _flag(value: Any) -> bool:
    return value if type(value) is bool else _refuse()


def _table(inner: Check) -> Check:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            _refuse()
        return value if inner is _same else {name: inner(one) for name, one in value.items()}

    return read


def _array(inner: Check, of_records: bool) -> Check:
    def read(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or (of_records and len(value) > MOST_PARTS):
            _refuse()
        return tuple(map(inner, value))

    return read


def _load_steps(value: Any) -> tuple[LoadStep, ...]:
    """Load steps of one sort."""
    return tuple(map(_bounded, load_steps_from_json(value)))


def _bounded(load_step: LoadStep) -> LoadStep:
    return load_step if load_step.clients <= MOST_CLIENTS else _refuse()


def _record(hint: type) -> Check:
    inside = {one.name: _or_none(_inside(one.hint)) if one.optional else _inside(one.hint) for one in fields_of(hint)}
    needed = {one.name for one in fields(hint) if one.default is MISSING and one.default_factory is MISSING}

    def read(value: Any) -> Any:
        if type(value) is not dict or not needed <= set(value) <= set(inside):
            _refuse()
        return hint(**{name: inside[name](one) for name, one in value.items()})

    return read


def _json_of(value: Any) -> str:
    return to_json(_plain(value))


def _plain(value: Any) -> Any:
    """As JSON writes it."""
    if isinstance(value, LoadStep):
        return value.to_json()
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else asdict(value) if is_record(type(value)) else value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _fits(value: Any, depth: int) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        keys = all(map(_is_text, value)) if isinstance(value, dict) else True
        return depth < MOST_DEPTH and keys and all(_fits(item, depth + 1) for item in inner)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= 64
    return not isinstance(value, str) or _is_text(value)


def _is_text(value: str) -> bool:
    """JSON's escapes can write half of a character (a lone surrogate), which nothing can print."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
