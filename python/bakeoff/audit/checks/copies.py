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

KEY = "copies"
# So many digits beyond the first of each number are not equal by chance.
MOST_BY_CHANCE = 6
FEWEST = 3
# Tables with more columns are compared by the first of them.
MOST_COLUMNS = 200


def check_rows(table: Table, given: Given) -> Iterator[Outcome]:
    """Rows of one table, whose loads differ."""
    columns = [column for column in table.measured if column.name not in COUNTS]
    if not columns or len(table.rows) < 2:
        return
    seen: dict[tuple[str, ...], int] = {}
    findings = []
    for row, texts in enumerate(zip(*(column.texts for column in columns), strict=True)):
        first = seen.setdefault(texts, row)
        if first == row:
            continue
        numbers = [column.digits[row] for column in columns if column.digits[row] > 1]
        if len(numbers) > 1 and sum(numbers) - len(numbers) >= MOST_BY_CHANCE:
            places = (table.place(columns[0], row), table.place(columns[0], first))
            fact = Copy("row", places[1].row or str(places[1].line), len(numbers), sum(numbers))
            findings.append(Finding(KEY, "off", places, fact, "likely"))
    yield Outcome(KEY, table.file, len(table.rows), tuple(findings))


def check_tables(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    """Columns of contenders, parts and files against each other, and different metrics with one unit."""
    columns = [
        (table, column)
        for table in tables
        for column in table.measured
        if column.name not in COUNTS and len(column.cells) >= FEWEST
    ]
    by_rows: dict[tuple[str, ...], list[tuple[Table, Column]]] = {}
    for table, column in columns[: MOST_COLUMNS * 10]:
        for key in _keys(column):
            by_rows.setdefault(key, []).append((table, column))
    compared: set[tuple[int, int]] = set()
    findings: dict[str, list[Finding]] = {}
    for same in by_rows.values():
        for (one, left), (other, right) in combinations(same[:10], 2):
            pair = (id(left), id(right))
            if pair in compared or not _comparable(one, left, other, right):
                continue
            compared.add(pair)
            if (found := _copied(one, left, other, right)) is not None:
                findings.setdefault(other.file, []).append(found)
    numbers = Counter(table.file for table, _ in columns)
    for file in dict.fromkeys(table.file for table in tables):
        yield Outcome(KEY, file, numbers[file], tuple(findings.get(file, ())))


def _keys(column: Column) -> Iterator[tuple[str, ...]]:
    """Every stretch of three numbers."""
    texts, digits = column.texts, column.digits
    for at in range(len(texts) - FEWEST + 1):
        stretch = texts[at : at + FEWEST]
        if sum(digits[at : at + FEWEST]) - FEWEST >= MOST_BY_CHANCE and len(set(stretch)) == FEWEST:
            yield stretch


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
    equal = np.array([left.texts[row] == right.texts[row] != "" for row in range(length)])
    if not equal.any():
        return None
    rows = [int(row) for row in np.flatnonzero(equal)]
    digits = sum(left.digits[row] for row in rows)
    if len(rows) < FEWEST or digits - len(rows) < MOST_BY_CHANCE or len({left.texts[row] for row in rows}) < FEWEST:
        return None
    whole = len(rows) == length
    kind: Copied = "file" if whole and one.file != other.file else "column" if whole else "stretch"
    name = " ".join(filter(None, (one.contender, one.part, left.heading)))
    of = f"{one.file}: {name}" if one.file != other.file else name
    places = (other.place(right, rows[0]), one.place(left, rows[0]))
    return Finding(KEY, "off", places, Copy(kind, of, len(rows), digits), "likely")
