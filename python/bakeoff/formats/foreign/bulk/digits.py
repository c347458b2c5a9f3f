"""The numbers of a text of digits, points and marks, found by array operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
NEW_LINE, POINT, ZERO, NINE = b"\n.09"
# Ten times such a number and 5 is a whole number that a float holds.
LONGEST = 14


@dataclass(frozen=True, eq=False)
class Digits:
    """Numbers of `data`: where each begins and ends, its digits as one `whole` number, how many of them are `decimals`,
    and whether it is `pointed`.
    """

    data: bytes
    begins: Ints
    ends: Ints
    whole: Ints
    decimals: Ints
    pointed: Bools

    def __len__(self) -> int:
        return len(self.whole)

    def __getitem__(self, part: Any) -> Digits:
        """Some of them, as an array has it."""
        parts = (array[part] for array in (self.begins, self.ends, self.whole, self.decimals, self.pointed))
        return Digits(self.data, *parts)

    def text(self, at: int) -> str:
        """One as it stands."""
        return self.data[self.begins[at] : self.ends[at]].decode("ascii")


def digits_of(data: bytes, marks: bytes) -> tuple[Digits, Ints] | None:
    """The numbers of lines, and how many stand before the end of each line. None where there is anything else than
    digits, points within numbers and `marks` between them, or a number too long.
    """
    if not data.endswith(b"\n") or data.translate(None, b"0123456789.\n" + marks):
        return None
    letters = np.frombuffer(data, np.uint8)
    inside = ((letters >= ZERO) & (letters <= NINE)) | (letters == POINT)
    edges = np.flatnonzero(np.diff(inside, prepend=False))
    begins, ends = edges[0::2], edges[1::2]
    points = np.flatnonzero(letters == POINT)
    where = np.searchsorted(begins, points, "right") - 1
    pointed = np.zeros(len(begins), dtype=bool)
    pointed[where] = True
    too_long = bool(len(begins)) and int((ends - begins).max()) > LONGEST
    if too_long or np.any(np.diff(where) == 0) or np.any(points == begins[where]):
        return None
    decimals = np.zeros(len(begins), dtype=np.int64)
    decimals[where] = ends[where] - points - 1
    found = Digits(data, begins, ends, _whole(letters, begins, ends), decimals, pointed)
    return found, np.searchsorted(begins, np.flatnonzero(letters == NEW_LINE))


def _whole(letters: npt.NDArray[np.uint8], begins: Ints, ends: Ints) -> Ints:
    """The digits of each as one number, a place of all of them at a time."""
    found = np.zeros(len(begins), dtype=np.int64)
    for place in range(int((ends - begins).max(initial=0))):
        letter = letters[np.minimum(begins + place, len(letters) - 1)]
        is_digit = (begins + place < ends) & (letter != POINT)
        found = np.where(is_digit, found * 10 + letter - ZERO, found)
    return found
