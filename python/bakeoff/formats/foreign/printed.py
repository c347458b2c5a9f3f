"""A number as it is printed, and the interval of values that it may stand for.

238.57 stands for all values from 238.565 to 238.575. `12.3k` stands for those from 12,250 to 12,350.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from bakeoff.core.errors import PlanError

# How a tool makes the digits: to the nearest, by leaving the rest out, or without any loss, as of counts.
Rounding = Literal["nearest", "down", "exact"]
LONGEST = 60
# Beyond these a number of a result is damage: it would be infinite as soon as something is calculated with it.
LARGEST, SMALLEST = Decimal("1e100"), Decimal("1e-100")
SUFFIXES = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}
BLANKS = "\u00a0\u202f\u2009 '\u2019"
_ALIKE = str.maketrans("23456789", "11111111")
_NUMBERS = re.compile(rf"[-+]?[\d.,{BLANKS}]*\d[\d.,{BLANKS}]*(?:[eE][-+]?\d+)?")
# What most numbers are: digits, and at most a point; few enough that no bound is reached.
_USUAL = re.compile(r"([0-9]{1,20})(?:\.([0-9]{0,20}))?")
_PLAIN = re.compile(r"([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?([kKMGT]?)")


@dataclass(frozen=True)
class Printed:
    """A number: its `text` in the file, its `value`, and from where to where the true value may lie.

    `text` is empty where no number is printed and a reader counted it: the interval then is the value itself.
    """

    text: str
    value: float
    low: float
    high: float

    @property
    def digits(self) -> str:
        """The digits alone, without marks, leading zeros and unit: what two equal numbers of a table have in common."""
        return re.sub(r"\D", "", re.sub(r"[eE].*", "", self.text)).lstrip("0")


def counted(value: float) -> Printed:
    """A number that a reader made itself, of all that the file holds."""
    return Printed("", value, value, value)


@dataclass(frozen=True)
class Marks:
    """How a file writes numbers: the mark before decimals, and what stands between thousands ("" where nothing)."""

    decimal: Literal[".", ","] = "."
    thousands: str = ""


PLAIN = Marks()


def printed(text: str, marks: Marks = PLAIN, rounding: Rounding = "nearest") -> Printed:
    """The number that `text` is. Raises ValueError with a sentence for anything else, also for infinity and NaN."""
    shown = text.strip()
    if (plain := _USUAL.fullmatch(shown)) and marks.decimal == "." and marks.thousands != ".":
        return _usual(shown, plain[1], plain[2] or "", rounding)
    if len(shown) > LONGEST:
        raise ValueError(f"{shown[:20]}… is too long for a number")
    found = _PLAIN.fullmatch(_plain(shown, marks))
    if found is None or not (found[2] or found[3]):
        raise ValueError(f"{shown!r} is not a number")
    sign, whole, decimals, power, suffix = found.groups()
    scale = Decimal(SUFFIXES[suffix]).scaleb(int(power or 0))
    value = Decimal(f"{sign}{whole or 0}.{decimals or 0}") * scale
    if value and not SMALLEST < abs(value) < LARGEST:
        raise ValueError(f"{shown!r} is beyond all results")
    low, high = _interval(value, Decimal(1).scaleb(-len(decimals or "")) * scale, rounding)
    return Printed(shown, float(value), float(low), float(high))


def _usual(shown: str, whole: str, decimals: str, rounding: Rounding) -> Printed:
    """The same of digits and a point alone. Python rounds the quotient of two whole numbers to the nearest float, as it
    does a decimal number: it is the same interval in a fraction of the time.
    """
    digits, scale = 10 * int(whole + decimals), 10 ** (len(decimals) + 1)
    value = digits / scale
    if rounding == "exact":
        return Printed(shown, value, value, value)
    low, high = (digits, digits + 10) if rounding == "down" else (digits - 5, digits + 5)
    return Printed(shown, value, low / scale, high / scale)


def _interval(value: Decimal, last: Decimal, rounding: Rounding) -> tuple[Decimal, Decimal]:
    """From where to where a value may lie whose last digit is worth `last`."""
    if rounding == "exact":
        return value, value
    if rounding == "down":
        return (value, value + last) if value >= 0 else (value - last, value)
    return value - last / 2, value + last / 2


def _plain(text: str, marks: Marks) -> str:
    """The same number as programs write it: a point before decimals, nothing between thousands."""
    if marks.thousands and marks.thousands in text:
        gap = re.escape(marks.thousands)
        if not re.fullmatch(rf"[-+]?\d{{1,3}}(?:{gap}\d{{3}})+(?:{re.escape(marks.decimal)}\d*)?[kKMGT]?", text):
            return "?"
        text = text.replace(marks.thousands, "")
    return text.replace(",", ".") if marks.decimal == "," and "." not in text else text


def marks_of(texts: Iterable[str]) -> Marks:
    """How the numbers among `texts` are written, where that is certain.

    One number is enough that can be read in one way alone: `1,234,567`, `1.234,5`, `0,5`, `12,34`; so is one with more
    than four digits and no mark. Raises PlanError where all fit two ways (`1,234` alone), and where numbers contradict
    each other.
    """
    roles: dict[str, set[str]] = {".": set(), ",": set()}
    doubtful, blank, ungrouped = "", "", False
    # Digits are alike but for 0: numbers of one form say the same, and the first of them is looked at.
    forms: dict[str, str] = {}
    for text in map(str.strip, texts):
        forms.setdefault(text.translate(_ALIKE), text)
    for text in forms.values():
        if len(text) > LONGEST or not _NUMBERS.fullmatch(text):
            continue
        blank = blank or next((mark for mark in BLANKS if re.search(rf"\d{mark}\d{{3}}(?!\d)", text)), "")
        ungrouped = ungrouped or re.search(r"\d{5}", text.partition(".")[0].partition(",")[0]) is not None
        number = re.sub(rf"[{BLANKS}]", "", text)
        for mark, found in roles.items():
            role = _role(number, mark)
            doubtful = doubtful or (text if role == "?" else "")
            found.update({role} - {"", "?"})
    return _decided(roles["."], roles[","], doubtful, blank, ungrouped or bool(blank))


def _role(number: str, mark: str) -> str:
    """What a mark must be in a number: `decimal`, `thousands`, "?" for either, "" where it is not there."""
    other = "," if mark == "." else "."
    if mark not in number:
        return ""
    if number.count(mark) > 1:
        return "thousands"
    if other in number:
        return "decimal" if number.index(mark) > number.index(other) else "thousands"
    whole, _, rest = number.partition(mark)
    whole = whole.lstrip("-+")
    # Thousands are three digits, after one to three of which the first is not 0.
    if len(rest) != 3 or not 1 <= len(whole) <= 3 or whole.startswith("0"):
        return "decimal"
    return "?"


def _decided(points: set[str], commas: set[str], doubtful: str, blank: str, no_marks: bool) -> Marks:
    """What certain numbers tell of the doubtful ones; with `no_marks` neither point nor comma stands between
    thousands.
    """
    is_comma = "decimal" in commas or "thousands" in points
    is_point = "decimal" in points or "thousands" in commas
    if is_comma and is_point:
        raise PlanError("its numbers have points and commas in two ways: write all of them in one way")
    if doubtful and not (is_comma or is_point or no_marks):
        raise PlanError(
            f"{doubtful!r} may be above a thousand or a number with decimals: say which with --decimal point or comma"
        )
    if is_comma or (doubtful and not is_point and "," in doubtful):
        return Marks(",", blank or ("." if "thousands" in points or (doubtful and "." in doubtful) else ""))
    return Marks(".", blank or ("," if "thousands" in commas or (doubtful and "," in doubtful) else ""))


def is_finite(number: Printed) -> bool:
    """Whether all of it can be calculated with."""
    return all(map(math.isfinite, (number.value, number.low, number.high)))
