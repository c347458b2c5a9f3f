"""Values of a stored row, each checked before it is believed: SQLite keeps any type in any column."""

import json
import math
import sqlite3
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NoReturn

from bakeoff.mix import Mix, mix_from_json, mixes_from_json

MOST_CLIENTS = 1_000_000
MOST_DEPTH = 40  # levels of a stored JSON value


class DamagedError(Exception):
    """A stored value is not what it must be; the message says which. Does not leave `store`."""


class Fields:
    """Reads the columns of one row by name. Every method raises DamagedError when the value does not fit."""

    def __init__(self, table: str, row: sqlite3.Row | Mapping[str, Any]) -> None:
        self._table, self._row = table, row

    def whole(self, name: str, least: int = 0, most: int = 2**63 - 1) -> int:
        """A whole number between both."""
        value = self._row[name]
        if type(value) is not int or not least <= value <= most:
            self._refuse(name)
        return value

    def whole_or_none(self, name: str) -> int | None:
        """A whole number that is not negative, or NULL."""
        return None if self._row[name] is None else self.whole(name)

    def real(self, name: str) -> float:
        """A finite number that is not negative."""
        value = self._row[name]
        if type(value) is not float or not 0 <= value < math.inf:
            self._refuse(name)
        return value

    def positive(self, name: str, below: float = math.inf) -> float:
        """A finite number above 0 and below a limit."""
        value = self.real(name)
        return value if 0 < value < below else self._refuse(name)

    def real_or_none(self, name: str) -> float | None:
        """A finite number that is not negative, or NULL."""
        return None if self._row[name] is None else self.real(name)

    def text(self, name: str) -> str:
        """A text."""
        value = self._row[name]
        if type(value) is not str:
            self._refuse(name)
        return value

    def text_or_none(self, name: str) -> str | None:
        """A text, or NULL."""
        return None if self._row[name] is None else self.text(name)

    def one_of(self, name: str, known: Collection[str]) -> str:
        """A text out of `known`."""
        text = self.text(name)
        return text if text in known else self._refuse(name)

    def is_null(self, name: str) -> bool:
        """Whether there is no value."""
        return self._row[name] is None

    def moment(self, name: str) -> str:
        """A moment as ISO text with its offset from UTC."""
        text = self.text(name)
        try:
            known = datetime.fromisoformat(text).tzinfo is not None
        except ValueError:
            known = False
        return text if known else self._refuse(name)

    def table(self, name: str) -> dict[str, Any]:
        """A JSON object."""
        value = self._json(name)
        return value if isinstance(value, dict) else self._refuse(name)

    def tables(self, name: str, most: int) -> list[dict[str, Any]]:
        """A JSON array of so many objects at most."""
        tables = self._array(name, dict)
        return tables if len(tables) <= most else self._refuse(name)

    def counts(self, name: str) -> dict[str, int]:
        """A JSON object of whole numbers that are not negative."""
        table = self.table(name)
        return table if all(type(n) is int and n >= 0 for n in table.values()) else self._refuse(name)

    def counts_and_list(self, name: str, rest: str) -> tuple[dict[str, int], tuple[int, ...]]:
        """The same, with a list of such numbers by the name of `rest` among them, which may be missing."""
        table = dict(self.table(name))
        numbers = table.pop(rest, [])
        if not isinstance(numbers, list) or any(type(n) is not int or n < 0 for n in [*table.values(), *numbers]):
            self._refuse(name)
        return table, tuple(numbers)

    def words(self, name: str) -> tuple[str, ...]:
        """A JSON array of texts."""
        return tuple(self._array(name, str))

    def numbers(self, name: str) -> tuple[int, ...]:
        """A JSON array of whole numbers from 1."""
        numbers = tuple(self._array(name, int))
        return numbers if all(n >= 1 for n in numbers) else self._refuse(name)

    def mix(self, name: str) -> Mix:
        """A mix as JSON."""
        try:
            return _bounded(mix_from_json(self._json(name)))
        except ValueError:
            self._refuse(name)

    def mixes(self, name: str) -> tuple[Mix, ...]:
        """A JSON array of mixes of one sort."""
        try:
            return tuple(map(_bounded, mixes_from_json(self._json(name))))
        except ValueError:
            self._refuse(name)

    def _array(self, name: str, kind: type) -> list[Any]:
        value = self._json(name)
        if not isinstance(value, list) or any(type(item) is not kind for item in value):
            self._refuse(name)
        return value

    def _json(self, name: str) -> Any:
        try:
            value = json.loads(self.text(name), parse_constant=_no_constant)
            return value if _fits(value, 0) else self._refuse(name)
        except (ValueError, RecursionError):
            self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        raise DamagedError(f"{self._table}.{name} does not hold what it must")


def _bounded(mix: Mix) -> Mix:
    if mix.clients > MOST_CLIENTS:
        raise ValueError("more clients than there may be")
    return mix


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
