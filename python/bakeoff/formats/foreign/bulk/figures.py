"""Printed numbers below each other, as arrays: of a list of values, or of the digits of a text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from bakeoff.formats.foreign.bulk.digits import LONGEST, Bools, Digits, Ints
from bakeoff.formats.foreign.printed import Printed, Rounding
from bakeoff.formats.foreign.table import ForeignValue
from bakeoff.formats.foreign.units import NO_UNIT, Unit

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.uint64]
_POWERS = np.array([10**power for power in range(LONGEST + 2)])
_ODD = np.uint64(0x9E3779B97F4A7C15)
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]*)?")


class Figures(Protocol):
    """Numbers below each other; NaN, and a text without digits, stand where there is none.

    `value`, `low` and `high` are in the printed unit, `factors` make them those of the base. `integer` is where a text
    has digits alone, `decimals` how many stand behind its point, `digits` how many are significant. Texts are equal
    where `codes` are; 0 is none.
    """

    @property
    def value(self) -> Floats: ...
    @property
    def low(self) -> Floats: ...
    @property
    def high(self) -> Floats: ...
    @property
    def factors(self) -> Floats: ...
    @property
    def integer(self) -> Bools: ...
    @property
    def decimals(self) -> Ints: ...
    @property
    def digits(self) -> Ints: ...
    @property
    def codes(self) -> Codes: ...
    @property
    def unit(self) -> Unit:
        """Of the first number."""
        ...

    @property
    def heading(self) -> str:
        """That of the first number that has one."""
        ...

    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> ForeignValue | None: ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Of values that are there one by one."""

    cells: Sequence[ForeignValue | None]

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, row: int) -> ForeignValue | None:
        return self.cells[row]

    @cached_property
    def _texts(self) -> list[str]:
        return ["" if cell is None else cell.number.text for cell in self.cells]

    @cached_property
    def value(self) -> Floats:
        return np.array([np.nan if cell is None else cell.number.value for cell in self.cells], dtype=np.float64)

    @cached_property
    def low(self) -> Floats:
        return np.array([np.nan if cell is None else cell.number.low for cell in self.cells], dtype=np.float64)

    @cached_property
    def high(self) -> Floats:
        return np.array([np.nan if cell is None else cell.number.high for cell in self.cells], dtype=np.float64)

    @cached_property
    def factors(self) -> Floats:
        return np.array([np.nan if cell is None else cell.unit.factor for cell in self.cells])

    @cached_property
    def integer(self) -> Bools:
        return np.array([text.isdigit() for text in self._texts], dtype=bool)

    @cached_property
    def decimals(self) -> Ints:
        return np.array([len(text.partition(".")[2]) for text in self._texts], dtype=np.int64)

    @cached_property
    def digits(self) -> Ints:
        return np.array([significant(text) for text in self._texts], dtype=np.int64)

    @cached_property
    def codes(self) -> Codes:
        return np.array([_code(text) for text in self._texts], dtype=np.uint64)

    @property
    def unit(self) -> Unit:
        return next((cell.unit for cell in self.cells if cell is not None), NO_UNIT)

    @property
    def heading(self) -> str:
        return next((cell.heading for cell in self.cells if cell is not None and cell.heading), "")


@dataclass(frozen=True, eq=False)
class Stretch:
    """Of the digits of a text: all with one unit, heading and column. What is printed is `times` smaller."""

    numbers: Digits
    lines: Ints
    unit: Unit
    column: int = 0
    heading: str = ""
    rounding: Rounding = "nearest"
    times: float = 1.0

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, row: int) -> ForeignValue:
        ends = (float(array[row]) for array in (self.value, self.low, self.high))
        number = Printed(self.numbers.text(row), *ends)
        return ForeignValue(number, self.unit, int(self.lines[row]), self.column, self.heading)

    def rows(self, part: Any) -> Stretch:
        """Some of them, as an array has it."""
        return Stretch(
            self.numbers[part], self.lines[part], self.unit, self.column, self.heading, self.rounding, self.times
        )

    @cached_property
    def value(self) -> Floats:
        return self._part(0)

    @cached_property
    def low(self) -> Floats:
        return self.value if self.rounding != "nearest" else self._part(-5)

    @cached_property
    def high(self) -> Floats:
        return self.value if self.rounding == "exact" else self._part(10 if self.rounding == "down" else 5)

    def _part(self, more: int) -> Floats:
        """The numbers and so many tenths of their last digits, as `printed` has it: a quotient of whole numbers."""
        return np.asarray((10 * self.numbers.whole + more) / _POWERS[self.numbers.decimals + 1] * self.times)

    @property
    def factors(self) -> Floats:
        return np.full(len(self), self.unit.factor)

    @property
    def integer(self) -> Bools:
        return ~self.numbers.pointed

    @property
    def decimals(self) -> Ints:
        return self.numbers.decimals

    @cached_property
    def digits(self) -> Ints:
        return np.searchsorted(_POWERS, self.numbers.whole, "right")

    @cached_property
    def codes(self) -> Codes:
        own = self.numbers
        return np.asarray(_coded(own.whole, own.ends - own.begins, own.decimals, own.pointed)).astype(np.uint64)


def _coded(whole: Any, length: Any, decimals: Any, pointed: Any) -> Any:
    """Digits, length and point of a plain number in 56 bits."""
    return ((whole * 16 + length) * 16 + decimals) * 2 + pointed


def _code(text: str) -> int:
    """The same of one text; of one that is not plain a hash."""
    if len(text) <= LONGEST and _PLAIN.fullmatch(text):
        whole, point, decimals = text.partition(".")
        return int(_coded(int(whole + decimals), len(text), len(decimals), bool(point)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") | 1 << 63 if text else 0


def significant(text: str) -> int:
    """How many significant digits a printed number has."""
    plain = text.replace(".", "", 1)
    if not (plain.isascii() and plain.isdigit()):
        plain = "".join(filter(str.isdigit, text.partition("e")[0]))
    return len(plain.lstrip("0"))


def first_alike(codes: Sequence[Codes]) -> Ints:
    """For each row the first one with the same texts."""
    _, firsts, which = np.unique(mixed(codes), return_index=True, return_inverse=True)
    return np.asarray(firsts[which])


def mixed(codes: Sequence[Codes]) -> Codes:
    """One number for the texts of each place; others have the same one once in 10¹⁹."""
    found: Codes = np.zeros(len(codes[0]), dtype=np.uint64)
    for own in codes:
        found = (found ^ own) * _ODD
        found ^= found >> np.uint64(29)
    return found
