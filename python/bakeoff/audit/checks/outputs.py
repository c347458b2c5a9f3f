"""A table that was typed from outputs of tools, beside these: what stands in both is equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

import numpy as np

from bakeoff.audit.checks.copies import MOST_BY_CHANCE
from bakeoff.audit.facts import NotAsPrinted
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval
from bakeoff.audit.repairs import repairs
from bakeoff.audit.table import Column, Table

KEY = "outputs"


def check(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    """Each row of a typed table against the output of its name: a file, or a contender in one."""
    printed: dict[str, list[Table]] = {}
    for table in filter(_is_output, tables):
        printed.setdefault(_name(table), []).append(table)
    for table in (one for one in tables if printed and not one.exact):
        checked, findings = 0, list[Finding]()
        for output in printed.get(_name(table), []):
            both = [(column, output.columns[column.name]) for column in table.measured if column.name in output.columns]
            for row in range(len(table.rows)):
                number, found = _of_row(table, output, row, both)
                checked += number
                findings += found
        if checked:
            yield Outcome(KEY, table.file, checked, tuple(findings))


def names(tables: Sequence[Table]) -> tuple[set[str], set[str]]:
    """Of which names there are outputs, and of which typed tables."""
    return {_name(one) for one in tables if _is_output(one)}, {_name(one) for one in tables if not one.exact}


def _is_output(table: Table) -> bool:
    return table.exact and not table.part and len(table.rows) == 1


def _name(table: Table) -> str:
    """In small letters, without marks and blanks."""
    return re.sub(r"[\W_]+", "", (table.contender or PurePath(table.file).stem).lower())


def _of_row(table: Table, output: Table, row: int, both: Sequence[tuple[Column, Column]]) -> tuple[int, list[Finding]]:
    """The row is of that output if most of its numbers are, with more digits than chance makes equal."""
    stated = [(mine, theirs) for mine, theirs in both if mine.known[row] and theirs.known[0]]
    same = [(mine, theirs) for mine, theirs in stated if _equal(mine, theirs, row)]
    digits = sum(int(mine.cells.digits[row]) - 1 for mine, _ in same)
    if digits < MOST_BY_CHANCE or len(same) <= len(stated) - len(same):
        return 0, []
    findings = []
    for mine, theirs in (one for one in stated if one not in same):
        scale = float(mine.factors[row])
        low, high = float(theirs.base.low[0]) / scale, float(theirs.base.high[0]) / scale
        mended = repairs(mine.text(row), low, high)
        fact = NotAsPrinted(output.file, theirs.text(0), theirs.unit.name, len(same))
        places = (table.place(mine, row), output.place(theirs, 0))
        findings.append(Finding(KEY, "impossible", places, fact, "likely", mended))
    return len(stated), findings


def _equal(mine: Column, theirs: Column, row: int) -> bool:
    """In some reading of the unit that was typed: MB are 10⁶ bytes in one tool and 2²⁰ in another."""
    cell = mine.cells[row]
    assert cell is not None
    readings = np.array(cell.unit.readings or (cell.unit.factor,))
    printed = Interval.of(mine.cut.low[row] * readings, mine.cut.high[row] * readings)
    return bool(printed.meets(theirs.base[0]).any())
