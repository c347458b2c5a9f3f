"""Tables of plain numbers below a heading, which need no look at each cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

import numpy as np

from bakeoff.formats.foreign.bulk.digits import ZERO, Digits, Ints, digits_of
from bakeoff.formats.foreign.grids.grid import MOST_CELLS, MOST_COLUMNS, MOST_ROWS, Grid
from bakeoff.formats.foreign.grids.text import delimited, is_markdown, mark_of
from bakeoff.formats.foreign.source import Source

# So many lines may stand above the first one of numbers.
MOST_HEADING = 20
# Of whole numbers and thousands the digits behind a point are as many.
THOUSANDS = 3


@dataclass(frozen=True, eq=False)
class NumberRows:
    """A `head` whose last row is the first one of numbers; the numbers of each column (from 0) and their lines."""

    head: Grid
    columns: tuple[Digits, ...]
    lines: Ints


def number_rows(source: Source) -> NumberRows | None:
    """The rows of a text whose points stand before decimals; None where any line below its heading has anything else
    than one plain number in each cell.
    """
    is_plain = source.is_text and not source.encoding.startswith("utf-16") and not is_markdown(source.head)
    mark = mark_of(source.head) if is_plain else None
    if mark is None or mark == "|" or not source.is_small:
        return None
    row = re.compile(rf"[0-9][0-9.]*(?:{mark}[0-9][0-9.]*)+\r?")
    above = next((at for at, line in enumerate(source.head.split("\n")[:MOST_HEADING]) if row.fullmatch(line)), 0)
    if not above:
        return None
    body = source.data().split(b"\n", above)[-1].replace(b"\r\n", b"\n")
    found = digits_of(body if body.endswith(b"\n") else body + b"\n", mark.encode())
    if found is None:
        return None
    numbers, before = found
    head, rows = delimited(islice(source.lines(), above + 1), mark), len(before)
    width = len(head.rows[-1].cells)
    is_even = np.array_equal(before, np.arange(1, rows + 1) * width) and body.count(mark.encode()) == rows * (width - 1)
    is_below = len(head.rows) > 1 and len(head.rows[-2].cells) == width and head.rows[-1].line == above + 1
    is_small = width <= MOST_COLUMNS and rows + above <= MOST_ROWS and (rows + above) * width <= MOST_CELLS
    if not (is_even and is_below and is_small and _is_certain(numbers)):
        return None
    return NumberRows(head, tuple(numbers[at::width] for at in range(width)), np.arange(rows) + above + 1)


def _is_certain(numbers: Digits) -> bool:
    """Whether a point can only stand before decimals: `1.234` alone may be above a thousand."""
    whole = numbers.ends - numbers.begins - 1 - numbers.decimals
    begins_with_0 = np.frombuffer(numbers.data, np.uint8)[numbers.begins] == ZERO
    certain = numbers.pointed & ((numbers.decimals != THOUSANDS) | (whole > THOUSANDS) | begins_with_0)
    return bool(certain.any() or not numbers.pointed.any())
