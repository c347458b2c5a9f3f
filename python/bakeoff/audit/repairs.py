"""Slips of a hand: which small change of a printed number would make it fit what is expected of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from bakeoff.audit.interval import Interval
from bakeoff.formats.foreign.printed import Printed, printed

Slip = Literal["exchanged", "doubled", "point", "unit", "lost", "digit"]
# Two digits exchanged, one typed twice, the point moved, another unit, a digit lost, another digit.
MOST_DIGITS = 15
# An interval so wide, as a share, holds what many slips would make.
WIDEST = 0.15
UNITS = (1000.0, 1024.0, 8.0, 60.0)


@dataclass(frozen=True)
class Repair:
    """`text` instead of what stands there; for another unit by which `factor` it is too large."""

    slip: Slip
    text: str
    factor: float = 1.0


def repairs(text: str, low: float, high: float) -> tuple[Repair, ...]:
    """The repairs after which a number meets the interval from `low` to `high`: those of the likeliest slip."""
    digits = sum(letter.isdigit() for letter in text)
    if not text or digits > MOST_DIGITS or not (np.isfinite(low) and np.isfinite(high)) or high - low > WIDEST * high:
        return ()
    expected = Interval.of(low, high)
    found: dict[Slip, list[Repair]] = {}
    for repair in _all(text):
        if repair.slip in found and repair.text in {other.text for other in found[repair.slip]}:
            continue
        number = _number(repair.text)
        if number is None:
            continue
        mended = Interval.of(number.low, number.high) * (1 / repair.factor)
        if bool(mended.meets(expected)):
            found.setdefault(repair.slip, []).append(repair)
    if not found:
        return ()
    likeliest = min(found, key=lambda slip: (len(found[slip]), RANKS[slip]))
    return tuple(found[likeliest])


RANKS: dict[Slip, int] = {"exchanged": 0, "doubled": 1, "point": 2, "unit": 3, "lost": 4, "digit": 5}


def _all(text: str) -> Iterator[Repair]:
    at = [place for place, letter in enumerate(text) if letter.isdigit()]
    for one, two in pairwise(at):
        if text[one] != text[two]:
            letters = list(text)
            letters[one], letters[two] = letters[two], letters[one]
            yield Repair("exchanged", "".join(letters))
        elif two == one + 1:
            yield Repair("doubled", text[:two] + text[two + 1 :])
    yield from _moved(text)
    for factor in UNITS:
        yield Repair("unit", text, factor)
        yield Repair("unit", text, 1 / factor)
    for place in sorted({end for digit_at in at for end in (digit_at, digit_at + 1)}):
        for digit in "0123456789":
            yield Repair("lost", text[:place] + digit + text[place:])
    for place in at:
        for digit in "0123456789":
            if digit != text[place]:
                yield Repair("digit", text[:place] + digit + text[place + 1 :])


def _moved(text: str) -> Iterator[Repair]:
    """The point elsewhere, or left out."""
    digits = text.replace(".", "")
    if not digits.isdigit():
        return
    stands = text.find(".") if "." in text else len(digits)
    for place in range(1, len(digits) + 1):
        if place != stands:
            whole = digits[:place].lstrip("0") or "0"
            yield Repair("point", f"{whole}.{digits[place:]}" if digits[place:] else whole)
    if stands == len(digits):
        for zeros in (1, 2, 3):
            yield Repair("point", digits + "0" * zeros)


def _number(text: str) -> Printed | None:
    try:
        return printed(text)
    except ValueError:
        return None
