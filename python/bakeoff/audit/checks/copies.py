"""Numbers that are equal to the digit where each should be measured: rows, columns, contenders, files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from bakeoff.audit.facts import Copied, Copy
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.table import COUNTS, Column, Table
from bakeoff.formats.foreign.bulk.figures import Codes, first_alike, mixed

KEY = "copies"
# So many digits beyond the first of each number are not equal by chance.
MOST_BY_CHANCE = 6
FEWEST = 3
# Of more columns the first ones are compared.
MOST_COMPARED = 2_000


def check_rows(table: Table, given: Given) -> Iterator[Outcome]:
    """Rows of one table, whose loads differ."""
    columns = [column for column in table.measured if column.name not in COUNTS]
    if not columns or len(table.rows) < 2:
        return
    findings = []
    if len(columns) > 1:
        first = first_alike([column.cells.codes for column in columns])
        digits = np.array([column.cells.digits for column in columns])
        for row in map(int, np.flatnonzero(first < np.arange(len(first)))):
            numbers = digits[:, row][digits[:, row] > 1]
            if len(numbers) > 1 and numbers.sum() - len(numbers) >= MOST_BY_CHANCE:
                places = (table.place(columns[0], row), table.place(columns[0], int(first[row])))
                fact = Copy("row", places[1].row or str(places[1].line), len(numbers), int(numbers.sum()))
                findings.append(Finding(KEY, "off", places, fact, "likely"))
    yield Outcome(KEY, table.file, len(table.rows), tuple(findings))


def check_tables(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    """Columns of contenders, parts and files against each other, and different metrics with one unit."""
    columns = compared_columns(tables)
    compared: set[tuple[int, int]] = set()
    findings: dict[str, list[Finding]] = {}
    for same in _alike([keys(column) for _, column in columns[:MOST_COMPARED]]):
        for (one, left), (other, right) in combinations([columns[at] for at in same[:10]], 2):
            pair = (id(left), id(right))
            if left is right or pair in compared or not _comparable(one, left, other, right):
                continue
            compared.add(pair)
            if (found := _copied(one, left, other, right)) is not None:
                findings.setdefault(other.file, []).append(found)
    numbers = Counter(table.file for table, _ in columns)
    for file in dict.fromkeys(table.file for table in tables):
        yield Outcome(KEY, file, numbers[file], tuple(findings.get(file, ())))


def compared_columns(tables: Sequence[Table]) -> list[tuple[Table, Column]]:
    """What may be a copy."""
    return [
        (table, column)
        for table in tables
        for column in table.measured
        if column.name not in COUNTS and len(column.cells) >= FEWEST
    ]


def files_alike(stretches: Sequence[Sequence[Codes]]) -> set[int]:
    """The files that have a stretch of another column, by the keys of the columns of each."""
    owners = [file for file, own in enumerate(stretches) for _ in own]
    together = [column for own in stretches for column in own]
    return {owners[column] for same in _alike(together) for column in same}


def keys(column: Column) -> Codes:
    """Every stretch of three numbers that are not equal by chance."""
    codes, digits = column.cells.codes, column.cells.digits
    one, two, three = codes[:-2], codes[1:-1], codes[2:]
    certain = digits[:-2] + digits[1:-1] + digits[2:] - FEWEST >= MOST_BY_CHANCE
    chosen = certain & (one != two) & (two != three) & (one != three)
    return np.asarray(mixed((one, two, three))[chosen])


def _alike(stretches: Sequence[Codes]) -> Iterator[list[int]]:
    """The columns of each stretch that is there several times, in the order of the stretches."""
    together = np.concatenate(stretches) if stretches else np.zeros(0, dtype=np.uint64)
    ordered = np.sort(together)
    several = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(several):
        return
    places = np.flatnonzero(np.isin(together, several))
    columns = np.searchsorted(np.cumsum([len(own) for own in stretches]), places, "right")
    found: dict[int, list[int]] = {}
    for key, column in zip(together[places].tolist(), columns.tolist(), strict=True):
        found.setdefault(key, []).append(column)
    yield from found.values()


def _comparable(one: Table, left: Column, other: Table, right: Column) -> bool:
    """Whether both were measured, each by itself. Figures of one time may be equal, as maximum and last percentile."""
    if one is other:
        names = {left.name, right.name}
        return left.unit.quantity == right.unit.quantity == "bytes/s" and not names & {"throughput", "rate"}
    if one.contender == other.contender and one.file == other.file and not (one.part and other.part):
        return False  # a part that is all of the work
    return left.name == right.name


def _copied(one: Table, left: Column, other: Table, right: Column) -> Finding | None:
    length = min(len(left.cells), len(right.cells))
    codes = left.cells.codes[:length]
    rows = np.flatnonzero((codes == right.cells.codes[:length]) & (codes != 0))
    digits = int(left.cells.digits[rows].sum())
    if len(rows) < FEWEST or digits - len(rows) < MOST_BY_CHANCE or len(np.unique(codes[rows])) < FEWEST:
        return None
    whole = len(rows) == length
    kind: Copied = "file" if whole and one.file != other.file else "column" if whole else "stretch"
    name = " ".join(filter(None, (one.contender, one.part, left.heading)))
    of = f"{one.file}: {name}" if one.file != other.file else name
    places = (other.place(right, int(rows[0])), one.place(left, int(rows[0])))
    return Finding(KEY, "off", places, Copy(kind, of, len(rows), digits), "likely")
