"""Tables of any figures as trials: each sample has the figures that its file states, in their own units.

One load is that of the trials: the one that differs between rows. Other loads that differ, and parts of the work, tell
figures of one trial apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.core.units import exact_size
from bakeoff.formats.foreign.headings import FACTS, way_of
from bakeoff.formats.foreign.table import (
    BLOCK_SIZE,
    BYTES,
    BYTES_IN,
    BYTES_OUT,
    CLIENTS,
    DEPTH,
    DURATION,
    ERRORS,
    FILE_SIZE,
    MEAN,
    OFFERED,
    OPERATIONS,
    RATE,
    RECORD_SIZE,
    REQUESTS,
    THROUGHPUT,
    Better,
    ForeignRow,
    ForeignTable,
    ForeignValue,
)
from bakeoff.formats.foreign.units import Quantity, Unit
from bakeoff.formats.importers.as_run.sample import Sample
from bakeoff.load.load_step import Clients, LoadStep, StatedLoad
from bakeoff.store.records.figure import MOST_CLIENTS
from bakeoff.store.records.figures import MOST, MOST_STATED

MOST_TRIALS = 100_000
# Which load is that of the trials, where several differ.
FIRST = (CLIENTS, OFFERED, DEPTH, BLOCK_SIZE, RECORD_SIZE, FILE_SIZE)
NOT_COMPARED = (*FACTS, BYTES_IN, BYTES_OUT)
# What decides, where a file states several figures; what is not here follows in the order of the file.
ORDER = (RATE, THROUGHPUT, MEAN, "response time", "p50")
# In what several units of one quantity are told together.
TOGETHER: Mapping[Quantity, Unit] = {
    "bytes/s": Unit("MB/s", "bytes/s", 1e6),
    "operations/s": Unit("operations/s", "operations/s"),
    "share": Unit("%", "share", 0.01),
}
MILLISECONDS = Unit("ms", "time", 1e-3)


@dataclass(frozen=True)
class _Row:
    file: int
    contender: str
    row: ForeignRow
    better: Mapping[str, Better]


@dataclass
class _Gathered:
    """The rows of one sample: by which part of the work they are of."""

    file: int
    contender: str
    step: LoadStep
    rows: dict[str, ForeignRow] = field(default_factory=dict)


def stated_samples(files: Sequence[tuple[str, ForeignTable]]) -> list[Sample]:
    """The samples of all files in their order. Raises PlanError where rows do not fit together."""
    rows = [
        _Row(place, row.contender or name, row, table.better)
        for place, (name, table) in enumerate(files)
        for row in table.rows
        if row.values and not row.breakdown
    ]
    if not rows:
        raise PlanError("these files have no figures: give files with results")
    axis, others = _axes([row.row for row in rows])
    better = {name: way for row in rows for name, way in row.better.items()}
    gathered = list(_gathered(rows, axis, others))
    if len(gathered) > MOST_TRIALS:
        raise PlanError(f"these files hold more than {MOST_TRIALS:,} samples: import fewer at a time")
    figures = _Figures([row.row for row in rows], better)
    return [_sample(one, figures) for one in gathered]


def _axes(rows: Sequence[ForeignRow]) -> tuple[str | None, tuple[str, ...]]:
    """The load of the trials, and the others that differ."""
    in_all = set.intersection(*(set(row.load) for row in rows))
    values: dict[str, set[float]] = defaultdict(set)
    for row in rows:
        for name, value in row.load.items():
            values[name].add(value.value)
    names = sorted(values, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    differ = [name for name in names if len(values[name]) > 1 or name not in in_all]
    able = [name for name in differ if name in in_all] or [name for name in names if name in in_all]
    axis = able[0] if able else None
    return axis, tuple(name for name in differ if name != axis)


def _gathered(rows: Sequence[_Row], axis: str | None, others: Sequence[str]) -> Iterator[_Gathered]:
    """The samples: the nth row of a file with the same load and part is of the nth."""
    found: dict[tuple[int, str, LoadStep, int], _Gathered] = {}
    seen: Counter[tuple[int, str, LoadStep, str]] = Counter()
    for one in rows:
        step = _step(one.row, axis)
        of = ", ".join(
            [*(_words(name, one.row) for name in others if name in one.row.load), *filter(None, [one.row.part])]
        )
        place = (one.file, one.contender, step, of)
        key = (one.file, one.contender, step, seen[place])
        seen[place] += 1
        found.setdefault(key, _Gathered(one.file, one.contender, step)).rows[of] = one.row
    return iter(found.values())


def _step(row: ForeignRow, axis: str | None) -> LoadStep:
    if axis is None:
        return StatedLoad(1.0)
    value = row.load[axis]
    if axis == CLIENTS:
        if not 1 <= value.value <= MOST_CLIENTS or value.value != int(value.value):
            raise PlanError(f"line {row.line}: {value.number.text[:40]!r} is no number of clients")
        return Clients(int(value.value))
    unit = f" {value.unit.name}" if value.unit.name else ""
    text = exact_size(round(value.value)) if value.unit.quantity == "bytes" else f"{value.number.value:.10g}{unit}"
    return StatedLoad(value.value, axis[:200], text[:200])


def _words(name: str, row: ForeignRow) -> str:
    """One load of a row in words; empty where it has none."""
    return ForeignRow("", {name: row.load[name]}, {}, row.line).where() if name in row.load else ""


class _Figures:
    """The figures of all files, with one unit and one key for each."""

    def __init__(self, rows: Sequence[ForeignRow], better: Mapping[str, Better]) -> None:
        units: dict[str, list[Unit]] = defaultdict(list)
        for row in rows:
            for name, value in row.values.items():
                if name not in NOT_COMPARED and value.unit not in units[name]:
                    units[name].append(value.unit)
        self._units = {name: _together(name, all_) for name, all_ in units.items()}
        # Where operations are counted, errors are a share of them.
        if any(name in row.values for row in rows for name in (OPERATIONS, REQUESTS)):
            self._units.pop(ERRORS, None)
        self._ways = {name: better.get(name) or way_of(name, unit) for name, unit in self._units.items()}
        # A rate in operations goes before one in bytes; where there is none, bytes a second are the rate.
        self._rate = RATE if RATE in self._units else THROUGHPUT

    def of(self, rows: Mapping[str, ForeignRow]) -> dict[str, dict[str, Any]]:
        """The figures of a sample by their keys, what decides first."""
        found: dict[str, dict[str, Any]] = {}
        for of, row in rows.items():
            for name, value in row.values.items():
                unit, way = self._units.get(name), self._ways.get(name)
                if unit is None or way is None:
                    continue
                number = value.value / unit.factor
                if not 0 <= number <= MOST:
                    raise PlanError(f"line {value.line}: {value.number.text[:40]!r} is beyond all results")
                key = f"{of}: {name}" if of else "rate" if name == self._rate else name
                finest = (value.high - value.low) / 2.0 / value.value if value.value else 0.0
                figure = {"name": name, "value": number, "unit": unit.name, "of": of[:200], "finest": min(finest, 1.0)}
                found[key] = figure | {"higher_is_better": way == "higher"}
        if len(found) > MOST_STATED:
            raise PlanError(f"a sample has more than {MOST_STATED:,} figures: import fewer parts of the work")
        ordered = sorted(found.items(), key=lambda item: _place(item[1]["name"], bool(item[1]["of"])))
        return {key: figure | {"place": place} for place, (key, figure) in enumerate(ordered)}


def _place(name: str, is_part: bool) -> tuple[bool, int]:
    return is_part, ORDER.index(name) if name in ORDER else len(ORDER)


def _together(name: str, units: Sequence[Unit]) -> Unit:
    """In what a figure is told. Raises PlanError where its units are of different quantities."""
    quantities = {unit.quantity for unit in units}
    if len(quantities) > 1:
        both = " and ".join(unit.name or "no unit" for unit in units[:2])
        raise PlanError(f"{name} is stated in {both}, which cannot be compared: import these files separately")
    quantity = units[0].quantity
    if quantity == "time":
        return MILLISECONDS
    return units[0] if len(units) == 1 and units[0].name != "B/s" else TOGETHER.get(quantity, Unit("", quantity))


def _sample(one: _Gathered, figures: _Figures) -> Sample:
    whole = one.rows.get("")
    values: Mapping[str, ForeignValue] = {} if whole is None else whole.values
    done, asked, failed = (_count(values, name) for name in (OPERATIONS, REQUESTS, ERRORS))
    if done is None and asked is not None:
        done = asked - (failed or 0) if failed is not None else None
    length = values.get(DURATION)
    received = _count(values, BYTES_IN)
    return Sample(
        one.contender,
        one.step,
        one.file,
        length_s=None if length is None else length.value,
        operations=done if done is None or done >= 0 else None,
        bytes_in=_count(values, BYTES) if received is None else received,
        bytes_out=_count(values, BYTES_OUT),
        errors=None if failed is None or done is None else {"other": failed} if failed else {},
        workload={"stated": figures.of(one.rows)},
    )


def _count(values: Mapping[str, ForeignValue], name: str) -> int | None:
    value = values.get(name)
    return None if value is None or not 0 <= value.value < 2**63 else round(value.value)
