"""Products that every row must obey: throughput = rate × size, operations = rate × duration, and their kin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bakeoff.audit.facts import Expected, FitsConstant, FitsNone, OtherUnit, WrongProduct
from bakeoff.audit.finding import Finding, Grade, Outcome, Sure
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval
from bakeoff.audit.product import MOST_REPAIRED, Fit, Suspect, fit, suspect
from bakeoff.audit.table import Column, Table
from bakeoff.compare.model.fact import Fact
from bakeoff.formats.foreign.table import (
    BLOCK_SIZE,
    BYTES,
    BYTES_IN,
    DURATION,
    ERRORS,
    OPERATIONS,
    RATE,
    RECORD_SIZE,
    REQUESTS,
    THROUGHPUT,
)

# Bytes for each printed unit of throughput; the last divides by 1.048576 twice.
BYTE_UNITS: dict[str, float] = {
    "B": 1.0,
    "10^3 B": 1e3,
    "2^10 B": 2.0**10,
    "10^6 B": 1e6,
    "2^20 B": 2.0**20,
    "10^3 · 2^10 B": 1024e3,
    "10^9 B": 1e9,
    "2^30 B": 2.0**30,
    "10^3 bit": 125.0,
    "2^10 bit": 128.0,
    "10^6 bit": 125e3,
    "2^20 bit": 2.0**17,
    "10^9 bit": 125e6,
    "2^40 ÷ 10^6 B": 2.0**40 / 1e6,
}
SECONDS: dict[str, float] = {"1 s": 1.0, "1 min": 60.0, "1 ms": 1e-3}
SIZES = (BLOCK_SIZE, RECORD_SIZE, "size")
# What a program divides differs by its own clock: to one part in so many, and what is typed by nothing. Only rate and
# throughput are typed of programs, too, each with its clock, or as the average of several runs.
CLOCK = 1e-3
# A constant is a reading of a unit when it is as near to it as rounded digits show.
UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Law:
    """`product` = constant · `one` · `other`, by names of metrics. `units` are constants with a name."""

    key: str
    product: tuple[str, ...]
    one: tuple[str, ...]
    other: tuple[str, ...]
    units: Mapping[str, float]
    in_unit: bool = False


LAWS = (
    Law("throughput", (THROUGHPUT,), (RATE,), SIZES, BYTE_UNITS, in_unit=True),
    Law("operations", (OPERATIONS, REQUESTS), (RATE,), (DURATION,), SECONDS),
    Law("bytes", (BYTES, BYTES_IN), (THROUGHPUT,), (DURATION,), {"1": 1.0, "10^6 ÷ 2^20": 1e6 / 2**20}),
    Law("bytes-of-operations", (BYTES,), (OPERATIONS,), SIZES, {"1": 1.0}),
)


def check(table: Table, given: Given) -> Iterator[Outcome]:
    """Each law of which the table has all columns."""
    for law in LAWS:
        columns = [_first(table, names) for names in (law.product, law.one, law.other)]
        product, one, other = columns
        if product is not None and one is not None and other is not None:
            yield _law_outcome(table, law, product, one, other)


def _first(table: Table, names: tuple[str, ...]) -> Column | None:
    return next((table.columns[name] for name in names if name in table.columns), None)


def _law_outcome(table: Table, law: Law, product: Column, one: Column, other: Column) -> Outcome:
    made = one.base * other.base
    made_cut = one.base_cut * other.base_cut
    if law.in_unit:
        constant, tolerant = made / product.printed, made_cut / product.cut
    else:
        constant, tolerant = product.base / made, product.base_cut / made_cut
    if table.exact or law.in_unit:
        tolerant = tolerant.widened(CLOCK * np.abs(tolerant.middle))
    found = fit(constant, tolerant, law.units)
    number = int(found.checked.sum())
    if not number:
        return Outcome(law.key, table.file)
    if found.found == "none":
        return _unfit(table, law, found, constant, (product, one, other))
    shows = FitsConstant(law.key, found.name, found.constant, number - int(found.wrong.sum()), number, found.spread)
    findings = tuple(_findings(table, law, found, (product, one, other)))
    if (unit := _other_unit(table, law, found, product, number)) is not None:
        findings = (unit, *findings)
    return Outcome(law.key, table.file, number, findings, (shows,))


def _other_unit(table: Table, law: Law, found: Fit, product: Column, number: int) -> Finding | None:
    """Where the unit that fits is not one that the heading may mean."""
    readings = product.unit.readings or (product.unit.factor,)
    if not law.in_unit or product.unit.quantity != "bytes/s" or found.found not in ("named", "common"):
        return None
    if any(abs(found.constant / reading - 1.0) < UNIT_TOLERANCE for reading in readings):
        return None
    fit_rows = number - int(found.wrong.sum())
    fact = OtherUnit(product.unit.name, readings[0], found.name, found.constant, fit_rows, number)
    far = not 0.5 < found.constant / readings[0] < 2.0
    row = int(np.flatnonzero(found.checked & ~found.wrong)[0])
    grade: Grade = "impossible" if far else "off"
    return Finding(law.key, grade, (table.place(product, row),), fact, "certain", comparisons=fit_rows)


def _unfit(table: Table, law: Law, found: Fit, constant: Interval, columns: tuple[Column, Column, Column]) -> Outcome:
    """No constant fits: what a program calculated is impossible; of typed columns one says so only once."""
    checked = constant[found.checked]
    number = int(found.checked.sum())
    fact = FitsNone(law.key, float(checked.low.min()), float(checked.high.max()), number)
    failed = table.columns.get(ERRORS)
    counts_others = law.key == "operations" and failed is not None and bool((failed.base.high > 0).any())
    if counts_others or (not table.exact and number < 2):
        return Outcome(law.key, table.file, number, (), (fact,))
    row = int(np.flatnonzero(found.checked)[0])
    places = tuple(table.place(column, row) for column in columns)
    grade: Grade = "impossible" if table.exact else "off"
    finding = Finding(law.key, grade, places, fact, "certain", comparisons=number)
    return Outcome(law.key, table.file, number, (finding,))


def _findings(table: Table, law: Law, found: Fit, columns: tuple[Column, Column, Column]) -> Iterator[Finding]:
    product, one, other = columns
    constant = found.constant
    wanted = _wanted(law, constant, product, one, other)
    wrong = np.flatnonzero(found.wrong)
    for row in map(int, wrong):
        who = suspect(table, row, wanted, len(wrong) <= MOST_REPAIRED)
        rest = [column for column in columns if column is not who.column]
        places = tuple(table.place(column, row) for column in (who.column, *rest))
        fact = wrong_product(law.key, who, row, rest)
        sure: Sure = "certain" if found.found != "near" else "likely"
        grade: Grade = "off" if found.found == "near" else "impossible"
        yield Finding(law.key, grade, places, fact, sure, who.repairs)


def wrong_product(key: str, who: Suspect, row: int, rest: list[Column]) -> Fact:
    """What is expected of the suspected number, and of which others that follows."""
    stands = float(who.column.printed.middle[row])
    others = tuple(column.words(row) for column in rest)
    return WrongProduct(key, expected(who.column, who.expected), others, stands)


def expected(column: Column, interval: Interval) -> Expected:
    """An interval in the unit of a column, and with its digits."""
    return Expected(float(interval.low), float(interval.high), column.unit.name, column.decimals)


def _wanted(law: Law, constant: float, product: Column, one: Column, other: Column) -> list[tuple[Column, Interval]]:
    """What each column would have to be, in its printed unit, for the others to be right."""
    factor = [Interval.of(column.factors) for column in (product, one, other)]
    if law.in_unit:
        return [
            (product, one.base * other.base / constant),
            (one, product.printed * constant / other.base / factor[1]),
            (other, product.printed * constant / one.base / factor[2]),
        ]
    return [
        (product, one.base * other.base * constant / factor[0]),
        (one, product.base / constant / other.base / factor[1]),
        (other, product.base / constant / one.base / factor[2]),
    ]
