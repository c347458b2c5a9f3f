"""Columns that say how much one number is more, or less, than another: `diff %`, `overhead`, `speedup`.

Of what and from where is seldom said: the pair, the base and the form that fit most rows are taken, and the rows that
they do not fit are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, permutations
from typing import Literal

import numpy as np

from bakeoff.audit.checks.copies import MOST_BY_CHANCE
from bakeoff.audit.facts import Copy, Exchanged, Expected, NoBase, OtherChange, WrongBase, WrongChange
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.audit.given import Given
from bakeoff.audit.interval import Interval
from bakeoff.audit.repairs import repairs
from bakeoff.audit.table import Place, Table
from bakeoff.formats.foreign.bulk.figures import significant
from bakeoff.formats.foreign.table import ForeignValue
from bakeoff.formats.foreign.units import Unit

KEY = "changes"
MOST_ROWS, FEWEST = 0.6, 2
# Of more rows nobody typed the changes; of more columns none is far from what it was calculated from.
LARGEST, WIDEST = 400, 12
# Among so many rows two are looked for that were exchanged, by so many columns.
MOST_EXCHANGED, NEAREST = 12, 3
# Which row the others are held to: one whose own change is none, the first, the least or the most.
Base = Literal["own", "first", "least", "most"]
# new ÷ old − 1, 1 − new ÷ old, and the same of old ÷ new; new ÷ old and old ÷ new.
Form = Literal["more", "less", "more-back", "less-back", "times", "times-back"]
PERCENTS: tuple[Form, ...] = ("more", "less", "more-back", "less-back")
TIMES: tuple[Form, ...] = ("times", "times-back")


@dataclass(frozen=True)
class _Numbers:
    """The figures of one column, in the rows of the changes; NaN where a row has none."""

    column: int
    heading: str
    unit: Unit
    decimals: int
    values: Interval
    places: tuple[Place | None, ...]


@dataclass(frozen=True)
class _Changes:
    """A column of changes: which are printed as `times`, and which rows belong together."""

    column: int
    heading: str
    values: Interval
    places: tuple[Place, ...]
    times: bool
    groups: tuple[tuple[int, ...], ...]

    @property
    def stated(self) -> tuple[int, ...]:
        """The rows that say something: a base has no change of its own."""
        nothing = 1.0 if self.times else 0.0
        return tuple(int(row) for row in np.flatnonzero(self.values.known & (self.values.middle != nothing)))


@dataclass(frozen=True)
class _Reading:
    """What each change should be if it is the `form` of `new`, a column, and of `old`: another column, or a row."""

    form: Form
    new: _Numbers
    base: Base | None
    expected: Interval
    old: tuple[Place | None, ...]

    def fits(self, changes: _Changes) -> list[int]:
        cut = _cut(changes.values)
        known = self.expected.known
        return [row for row in changes.stated if known[row] and bool(self.expected[row].meets(cut[row]))]


def check(tables: Sequence[Table], given: Given) -> Iterator[Outcome]:
    """Of each file."""
    for file in dict.fromkeys(table.file for table in tables if table.changes):
        group = [table for table in tables if table.file == file]
        columns = list(islice(_columns(group), WIDEST))
        findings = [one for changes in columns for one in _judged(changes, _numbers(group, changes))]
        checked = sum(len(changes.stated) for changes in columns)
        yield Outcome(KEY, file, checked, (*findings, *_copies(columns)))


def _columns(tables: Sequence[Table]) -> Iterator[_Changes]:
    rows = tables[0].changes[:LARGEST]
    names = {line: (part, contender, load) for line, part, contender, load in _lines(tables)}
    for name in dict.fromkeys(name for row in rows for name in row.values):
        cells = [(row, row.values[name]) for row in rows if name in row.values]
        own = [names.get(row.line, (row.part, row.contender, "")) for row, _ in cells]
        places = tuple(_place(tables[0].file, of, value) for of, (_, value) in zip(own, cells, strict=True))
        values = Interval.of([one.low for _, one in cells], [one.high for _, one in cells])
        times = any(one.unit.name == "×" for _, one in cells)
        yield _Changes(cells[0][1].column, cells[0][1].heading, values, places, times, _groups(own))


def _lines(tables: Sequence[Table]) -> Iterator[tuple[int, str, str, str]]:
    for table in tables:
        yield from ((row.line, table.part, row.contender, row.where()) for row in table.rows)


def _place(file: str, of: tuple[str, str, str], value: ForeignValue) -> Place:
    part, contender, load = of
    where = ", ".join(filter(None, (" ".join(filter(None, (contender, part))), load)))
    return Place(file, value.line, where, value.heading, value.number.text, value.column)


def _groups(own: Sequence[tuple[str, str, str]]) -> tuple[tuple[int, ...], ...]:
    """Rows of contenders at the same load, or else the rows of each part, or else all."""
    for key in ([(part, load) for part, _, load in own], [(part, "") for part, _, _ in own]):
        found: dict[tuple[str, str], list[int]] = {}
        for row, one in enumerate(key):
            found.setdefault(one, []).append(row)
        if any(len(rows) > 1 for rows in found.values()):
            return tuple(map(tuple, found.values()))
    return (tuple(range(len(own))),)


def _numbers(tables: Sequence[Table], changes: _Changes) -> list[_Numbers]:
    """The measured columns of the file: those that the heading names first, then the nearest on the left."""
    rows = {place.line: row for row, place in enumerate(changes.places)}
    found: dict[int, dict[int, tuple[Place, Interval]]] = {}
    about: dict[int, tuple[str, Unit, int]] = {}
    for table in tables:
        for column in table.measured:
            for at in range(len(column.cells)):
                cell = column.cells[at]
                if cell is not None and cell.line in rows:
                    found.setdefault(cell.column, {})[rows[cell.line]] = (table.place(column, at), column.base[at])
                    about.setdefault(cell.column, (column.heading, cell.unit, column.decimals))
    made = []
    for number, cells in found.items():
        values = np.full((2, len(changes.places)), np.nan)
        for row, (_, value) in cells.items():
            values[:, row] = float(value.low), float(value.high)
        places = tuple(cells[row][0] if row in cells else None for row in range(len(changes.places)))
        made.append(_Numbers(number, *about[number], Interval.of(*values), places))
    words = changes.heading.lower()
    return sorted(made, key=lambda one: (one.heading.lower() not in words, one.column > changes.column, -one.column))


def _judged(changes: _Changes, numbers: Sequence[_Numbers]) -> Iterator[Finding]:
    stated = changes.stated
    found = list(_readings(changes, numbers[:WIDEST]))
    if not stated or not found:
        return
    best = max(found, key=lambda one: len(one.fits(changes)))
    fits = best.fits(changes)
    of = [row for row in stated if best.expected.known[row]]
    if len(fits) == len(stated):
        yield from _on_other_base(changes, best)
    elif len(fits) >= max(FEWEST, MOST_ROWS * len(of)):
        yield from (_wrong(changes, best, row) for row in of if row not in fits)
    elif (exchanged := _exchanged(changes, numbers)) is not None:
        yield exchanged
    elif len(stated) >= FEWEST:
        yield from _without_base(changes, numbers)


def _readings(changes: _Changes, numbers: Sequence[_Numbers]) -> Iterator[_Reading]:
    """Against one row of a group, against another column, against a base that stands nowhere."""
    forms = TIMES if changes.times else PERCENTS
    # Of two columns each is the old one once: to go back is the other order.
    forms_of_two = [form for form in forms if not form.endswith("-back")]
    for new in numbers:
        for base in ("own", "first", "least", "most"):
            rows = _base_rows(changes, new, base)
            old = Interval(new.values.low[rows], new.values.high[rows])
            places = tuple(new.places[row] for row in rows)
            yield from (_Reading(form, new, base, _made(form, new.values, old), places) for form in forms)
    for new, old_column in permutations(numbers, 2):
        if new.unit.quantity == old_column.unit.quantity:
            for form in forms_of_two:
                yield _Reading(form, new, None, _made(form, new.values, old_column.values), old_column.places)


def _base_rows(changes: _Changes, new: _Numbers, base: Base) -> list[int]:
    """For each row the one of its group that is its base."""
    rows = list(range(len(changes.places)))
    for group in changes.groups:
        known = [row for row in group if new.values.known[row]] or list(group)
        middle = new.values.middle
        if base == "own":
            stated = set(changes.stated)
            at = next((row for row in known if row not in stated), known[0])
        elif base == "first":
            at = known[0]
        else:
            at = (min if base == "least" else max)(known, key=lambda row: float(middle[row]))
        for row in group:
            rows[row] = at
    return rows


def _made(form: Form, new: Interval, old: Interval) -> Interval:
    one = Interval.of(1.0)
    ratio = old / new if form.endswith("-back") else new / old
    if form.startswith("times"):
        return ratio
    return ratio - 1.0 if form.startswith("more") else one - ratio


def _cut(values: Interval) -> Interval:
    """The printed changes as they are where digits were left out, or the last one was raised."""
    half = (values.high - values.low) / 2
    return values.widened(half)


def _on_other_base(changes: _Changes, best: _Reading) -> Iterator[Finding]:
    """Signed percentages whose base is each row's own number: a fall by more than 100 % shows that none is meant."""
    if best.form != "less-back" or best.base is None:
        return
    right = _made("more", best.new.values, best.new.values * (Interval.of(1.0) - best.expected))
    falls = [row for row in changes.stated if changes.values.high[row] < 0]
    for place, row in enumerate(sorted(falls, key=lambda row: float(changes.values.low[row]))):
        beyond = bool(changes.values.high[row] < -1.0)
        if place and not beyond:
            continue
        fact = OtherChange(beyond, float(right.low[row]) * 100, float(right.high[row]) * 100)
        places = (changes.places[row], *_places(best, row))
        yield Finding(KEY, "impossible" if beyond else "off", places, fact, "certain" if beyond else "likely")


def _wrong(changes: _Changes, best: _Reading, row: int) -> Finding:
    scale = 1.0 if changes.times else 100.0
    low, high = float(best.expected.low[row]) * scale, float(best.expected.high[row]) * scale
    places = _places(best, row)
    text = changes.places[row].text
    mended = repairs(text.lstrip("-+"), abs(low), abs(high)) if low > 0 or changes.times else ()
    fact = WrongChange("×" if changes.times else "%", low, high, tuple(place.text for place in places))
    return Finding(KEY, "impossible", (changes.places[row], *places), fact, "likely", mended)


def _places(reading: _Reading, row: int) -> tuple[Place, ...]:
    return tuple(place for place in (reading.new.places[row], reading.old[row]) if place is not None)


def _exchanged(changes: _Changes, numbers: Sequence[_Numbers]) -> Finding | None:
    """Two rows of a group after whose exchange every change fits: they were written in each other's place."""
    for new in numbers[:NEAREST]:
        for group in changes.groups:
            for one, other in combinations(group[:MOST_EXCHANGED], 2):
                order = list(range(len(changes.places)))
                order[one], order[other] = other, one
                turned = replace(new, values=new.values[order])
                fit = [len(reading.fits(changes)) for reading in _readings(changes, [turned])]
                first, second = new.places[one], new.places[other]
                if first and second and len(changes.stated) >= FEWEST and max(fit) == len(changes.stated):
                    fact = Exchanged(second.row, len(changes.stated))
                    return Finding(KEY, "impossible", (first, second, *changes.places), fact, "likely")
    return None


def _without_base(changes: _Changes, numbers: Sequence[_Numbers]) -> Iterator[Finding]:
    """Where no row is the base: what it would have to be, of all rows of a group the same. It may be that each row has
    its own, which is not in the table.
    """
    groups = [[row for row in group if row in changes.stated] for group in changes.groups]
    for new in numbers[:NEAREST]:
        for form in _forms(changes):
            implied = _implied(changes, new, form)
            together = [Interval.of(implied.low[rows].max(), implied.high[rows].min()) for rows in groups if rows]
            if all(one.low <= one.high for one in together) and max(map(len, groups)) > 1:
                of = [group for group, rows in zip(changes.groups, groups, strict=True) if rows]
                yield from _wrong_bases(changes, new, of, together)
                return
    stated, new = list(changes.stated), numbers[0]
    implied = _implied(changes, new, _forms(changes)[0])[stated] * (1 / new.unit.factor)
    fact = NoBase(float(implied.low.min()), float(implied.high.max()), len(stated), new.unit.name)
    places = (changes.places[stated[-1]], *(place for row in stated if (place := new.places[row]) is not None))
    yield Finding(KEY, "off", places, fact, "likely")


def _wrong_bases(
    changes: _Changes, new: _Numbers, groups: Sequence[Sequence[int]], together: Sequence[Interval]
) -> Iterator[Finding]:
    """The rows agree about a number that is not that of the row without a change."""
    for group, base in zip(groups, together, strict=True):
        for row in (one for one in group if changes.values.known[one] and one not in changes.stated):
            place, value = new.places[row], base * (1 / new.unit.factor)
            if place is None or bool(base.meets(new.values[row])):
                continue
            stands = Expected(float(value.low), float(value.high), new.unit.name, new.decimals)
            mended = repairs(place.text, stands.low, stands.high)
            yield Finding(KEY, "impossible", (place, changes.places[row]), WrongBase(stands), "likely", mended)


def _forms(changes: _Changes) -> tuple[Form, ...]:
    return ("times-back", "times") if changes.times else PERCENTS


def _implied(changes: _Changes, new: _Numbers, form: Form) -> Interval:
    """The base of each row: the number that its change was calculated from."""
    one, change = Interval.of(1.0), changes.values
    ratio = change if form.startswith("times") else one + change if form.startswith("more") else one - change
    return new.values * ratio if form.endswith("-back") else new.values / ratio


def _copies(columns: Sequence[_Changes]) -> Iterator[Finding]:
    """Columns of changes that are equal to the digit, and not of the same numbers."""
    for one, other in combinations(columns, 2):
        theirs = {place.line: place for place in one.places}
        same = [place for place in other.places if place.line in theirs and theirs[place.line].text == place.text]
        digits = sum(significant(place.text) for place in same)
        if len(same) == len(other.places) >= 3 and digits - len(same) >= MOST_BY_CHANCE:
            fact = Copy("column", f"{one.heading} (column {one.column})", len(same), digits)
            yield Finding(KEY, "off", (same[0], theirs[same[0].line]), fact, "likely")
