"""Plain tables: one column a contender, or one file a contender with one column a metric.

Rows are loads (clients, rates, block sizes, file × record sizes), or parts of the work where the first column is text.
Units stand in headings, in a title, behind numbers, or are said by the user. What can be read in two ways is asked
about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.bulk.figures import Stretch
from bakeoff.formats.foreign.bulk.rows import Block, BlockRows
from bakeoff.formats.foreign.grids import Grid, grid_of, is_grid
from bakeoff.formats.foreign.grids.grid import GridRow
from bakeoff.formats.foreign.grids.numbers import NumberRows, number_rows
from bakeoff.formats.foreign.headings import (
    FACTS,
    SIZES,
    is_change,
    load_of,
    metric_of,
    metric_of_quantity,
    plain,
    role_of,
    summary_of,
    way_of,
)
from bakeoff.formats.foreign.printed import BLANKS, PLAIN, Marks, Printed, marks_of, printed
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import (
    CLIENTS,
    Better,
    ForeignRow,
    ForeignTable,
    ForeignValue,
)
from bakeoff.formats.foreign.units import (
    BYTES,
    COUNT,
    NO_UNIT,
    PERCENT,
    TIMES_AS_MUCH,
    Unit,
    split_heading,
    stated_unit,
    unit_of,
)
from bakeoff.formats.importers.base import Options, refuse

ABSENT = ("", "-", "–", "—", "n/a", "na", "nan", "none", "null", "?", "...", "…", "*")
_VALUE = re.compile(rf"([-+]?[\d.,{BLANKS}]*\d(?:[.,]\d*)?(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?")
_CHANGE = re.compile(rf"([-+−–]?)\s*([\d.,{BLANKS}]*\d(?:[.,]\d*)?)\s*(%|x|X|×)?")
_SPREAD = re.compile(r"\s*(?:±|\+/-).*")
_SIZE = re.compile(r"([\d.,]+)\s*([kKmMgGtT]?)i?[bB]?(?:ytes?)?")
_SCALES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True)
class _Column:
    """A column of values: of which contender and metric, in which unit; and its place, from 0."""

    at: int
    heading: str
    contender: str
    metric: str
    unit: Unit | None
    load: ForeignValue | None = None


@dataclass
class _Table:
    """The roles of the columns of a table."""

    columns: list[_Column] = field(default_factory=list)
    loads: dict[int, tuple[str, Unit]] = field(default_factory=dict)
    contender: int | None = None
    part: int | None = None
    changes: dict[int, tuple[str, Unit]] = field(default_factory=dict)


def sniff(source: Source) -> bool:
    return is_grid(source)


def read(source: Source, options: Options) -> ForeignTable:
    numbers = number_rows(source) if options.decimal is None else None
    made = None if numbers is None else _read(source, options, numbers.head, numbers)
    return made or _read(source, options, grid_of(source))


@overload
def _read(source: Source, options: Options, grid: Grid) -> ForeignTable: ...
@overload
def _read(source: Source, options: Options, grid: Grid, numbers: NumberRows) -> ForeignTable | None: ...
def _read(source: Source, options: Options, grid: Grid, numbers: NumberRows | None = None) -> ForeignTable | None:
    """A table of its cells, or of `numbers`: None where these are not all there is to say."""
    title, header, body = _parts(grid)
    marks = _marks(body, options) if numbers is None else PLAIN
    body, calculated = _measured(body)
    table = _roles(source, header, body, title, options, marks)
    table.columns = [replace(column, unit=column.unit or _behind(column, body)) for column in table.columns]
    better = {column.metric: way for column in table.columns if (way := _way(header, column, options)) is not None}
    rows: Sequence[ForeignRow] | None
    if numbers is None:
        rows = tuple(row for line in body for row in _rows(table, line, marks, options))
    else:
        rows = _number_rows(table, numbers) if len(body) == 1 and not table.changes else None
    if rows is None:
        return None
    if isinstance(rows, tuple) and not any(row.values for row in rows):
        raise refuse(header.line, "no row below this heading holds a number: give the table with its results")
    number = f"decimal {'comma' if marks.decimal == ',' else 'point'}"
    thousands = {"": "none", ",": "comma", ".": "point"}.get(marks.thousands, "a blank or mark")
    labelled = replace(table, loads={}, part=0)
    summaries = tuple(row for line in calculated for row in _rows(labelled, line, marks, options))
    changes = tuple(row for line in body if (row := _changes(table, line, marks)).values)
    stated = {"written as": grid.kind, "numbers": f"{number}, between thousands: {thousands}"}
    if title:
        stated["title"] = title[:500]
    if calculated:
        stated["calculated rows"] = ", ".join(f"{line.cell(0)} (line {line.line})" for line in calculated[:20])
    if changes:
        stated["calculated columns"] = ", ".join(heading for heading, _ in table.changes.values())[:500]
    for place, note in enumerate(grid.notes):
        stated[f"note {place + 1}"] = note
    return ForeignTable(
        "table", "a table", rows, stated=stated, better=better, missing=_missing(table), summaries=summaries,
        changes=changes,
    )  # fmt: skip


def _parts(grid: Grid) -> tuple[str, GridRow, Sequence[GridRow]]:
    """The title above a table, its heading, its rows."""
    titles: list[str] = []
    for place, row in enumerate(grid.rows):
        if row.filled > 1 or not row.cell(0):
            if place + 1 >= len(grid.rows):
                raise refuse(row.line, "below this heading there is no row: give the table with its results")
            return " ".join(titles), row, grid.rows[place + 1 :]
        titles.append(next(cell for cell in row.cells if cell))
    raise PlanError("no row has two cells: a table has loads in its first column and results in the next")


def _measured(body: Sequence[GridRow]) -> tuple[Sequence[GridRow], Sequence[GridRow]]:
    """The rows that were measured, and those that were calculated from them, as `Total`."""
    calculated = [row for row in body if summary_of(row.cell(0)) is not None]
    measured = [row for row in body if summary_of(row.cell(0)) is None]
    return (measured, calculated) if len(measured) > 1 else (body, [])


def _marks(body: Iterable[GridRow], options: Options) -> Marks:
    texts = [found[1] for row in body for cell in row.cells if (found := _VALUE.fullmatch(cell))]
    if options.decimal is None:
        return marks_of(texts)
    blank = next((mark for mark in BLANKS if any(re.search(rf"\d{mark}\d{{3}}", text) for text in texts)), "")
    decimal, other = (",", ".") if options.decimal == "comma" else (".", ",")
    return Marks(decimal, other if any(other in text for text in texts) else blank)  # type: ignore[arg-type]


def _roles(
    source: Source, header: GridRow, body: Sequence[GridRow], title: str, options: Options, marks: Marks
) -> _Table:
    table, names = _Table(), []
    width = max(len(row.cells) for row in (header, *body))
    for at in range(width):
        heading = header.cell(at)
        cells = [row.cell(at) for row in body if row.cell(at)]
        if not cells and not heading:
            continue
        role = role_of(heading)
        if at == 0 and role not in ("contender", "repeat"):
            _label(table, header, cells, options)
        elif role == "contender" and table.contender is None and not _numbers(cells):
            table.contender = at
        elif role == "part" and table.part is None and not _numbers(cells):
            table.part = at
        elif (of := _change_unit(heading, cells)) is not None:
            table.changes[at] = (heading, of)
        elif role == "load":
            name, unit = split_heading(heading)
            table.loads[at] = (load_of(name) or name, unit or NO_UNIT)
        elif role != "repeat":
            names.append((at, heading))
    if not names:
        raise refuse(header.line, "it has a column of loads and no column of results: add the results")
    table.columns = _columns(source, table, header, names, title, options, marks)
    return table


def _label(table: _Table, header: GridRow, cells: Sequence[str], options: Options) -> None:
    """The first column: a load where it holds numbers, else a part of the work."""
    name, unit = split_heading(options.rows or header.cell(0))
    if not _numbers(cells) and not all(map(_SIZE.fullmatch, cells)):
        table.part = 0
        return
    known = load_of(name) or load_of(header.cell(0) if options.rows is None else options.rows)
    if not name and not known:
        raise refuse(header.line, "its first column has no heading: say what its rows are with --rows clients")
    table.loads[0] = (known or name, unit or NO_UNIT)


def _numbers(cells: Iterable[str]) -> bool:
    """Whether all of these are numbers, as far as they are anything."""
    return all(map(_VALUE.fullmatch, _present(cells)))


def _change_unit(heading: str, cells: Sequence[str]) -> Unit | None:
    """In what a column says by how much numbers are more or less: %, or how many times; None for one of results."""
    found = [_CHANGE.fullmatch(_bare(cell)) for cell in _present(cells)]
    if not (found and all(found) and is_change(*split_heading(heading))):
        return None
    marks = {one[3] for one in found if one is not None and one[3]}
    if marks - {"%"} or (not marks and re.search("speed|slow", plain(heading))):
        return TIMES_AS_MUCH
    return PERCENT if marks or "%" in heading else None


def _behind(column: _Column, body: Sequence[GridRow]) -> Unit | None:
    """The unit behind the numbers of a metric, where its heading has none."""
    found = (_VALUE.fullmatch(_bare(row.cell(column.at))) for row in body if column.metric)
    return next((unit_of(one[2]) for one in found if one and one[2]), None)


def _present(cells: Iterable[str]) -> Iterable[str]:
    return (cell for cell in cells if cell.lower() not in ABSENT)


def _bare(cell: str) -> str:
    """Without what marks a number, and its spread."""
    return _SPREAD.sub("", cell).strip(" *†‡")


def _columns(
    source: Source,
    table: _Table,
    header: GridRow,
    names: Sequence[tuple[int, str]],
    title: str,
    options: Options,
    marks: Marks,
) -> list[_Column]:
    """Each column of results, by its heading: a metric, a contender, or a second load."""
    given = None if options.unit is None else stated_unit(options.unit)
    titled = split_heading(title)[1] if title else None
    if all(_SIZE.fullmatch(heading) for _, heading in names):
        return _second_load(source, table, header, names, given or titled, options, marks)
    split = {at: split_heading(heading) for at, heading in names}
    metrics = {at: metric_of(split[at][0], split[at][1]) for at, _ in names}
    whose = table.contender is not None or options.contender is not None
    if whose or all(metrics.values()):
        name = "" if table.contender is not None else (options.contender or source.path.stem)
        return [
            _Column(at, heading, name, metrics[at] or split[at][0] or heading, split[at][1] or given or titled)
            for at, heading in names
        ]
    made = []
    for at, heading in names:
        unit = split[at][1] or given or titled
        metric = "" if unit is None else metric_of_quantity(unit)
        made.append(_Column(at, heading, split[at][0] or heading, metric, unit))
    return made


def _second_load(
    source: Source,
    table: _Table,
    header: GridRow,
    names: Sequence[tuple[int, str]],
    unit: Unit | None,
    options: Options,
    marks: Marks,
) -> list[_Column]:
    """Columns headed by numbers: sizes of records beside those of files."""
    first = next(iter(table.loads.values()), ("", NO_UNIT))[0]
    corner = re.split(r"[\\/×x|]", header.cell(0), maxsplit=1)
    role = options.columns or (corner[1].strip() if len(corner) > 1 else "")
    if not role:
        raise refuse(header.line, "its columns are headed by numbers: say what these are with --columns 'record size'")
    if len(corner) > 1 and options.rows is None and 0 in table.loads:
        table.loads[0] = (load_of(split_heading(corner[0])[0]) or corner[0].strip(), table.loads[0][1])
        first = table.loads[0][0]
    name, size = split_heading(role)
    name = load_of(name) or name
    if name == first:
        raise refuse(header.line, f"rows and columns are both {name!r}: say what they are with --rows and --columns")
    contender = options.contender or source.path.stem
    metric = "" if unit is None else metric_of_quantity(unit)
    return [
        _Column(at, text, contender, metric, unit, _load(name, size or NO_UNIT, text, header.line, at, marks))
        for at, text in names
    ]


def _way(header: GridRow, column: _Column, options: Options) -> Better | None:
    """Which way of a column is good. Raises PlanError where that must be said."""
    if column.unit is None and not column.metric:
        return None  # its unit stands behind its numbers
    way = options.better or way_of(column.metric, column.unit or NO_UNIT)
    if way is None and column.metric not in FACTS:
        what = f"column {column.heading[:40]!r}"
        if column.unit is None:
            raise refuse(header.line, f"{what} has no unit: say it with --unit, such as --unit 'MB/s'")
        raise refuse(header.line, f"{what}: say which way is better with --better higher or --better lower")
    return way


def _rows(table: _Table, line: GridRow, marks: Marks, options: Options) -> Iterable[ForeignRow]:
    """The samples of one row: one for each contender, or for each second load."""
    load = {
        name: _load(name, unit, line.cell(at), line.line, at, marks)
        for at, (name, unit) in table.loads.items()
        if line.cell(at).lower() not in ABSENT
    }
    part = "" if table.part is None else line.cell(table.part)
    contender = "" if table.contender is None else line.cell(table.contender)
    found: dict[tuple[str, str], dict[str, ForeignValue]] = {}
    loads: dict[tuple[str, str], dict[str, ForeignValue]] = {}
    for column in table.columns:
        if line.cell(column.at).lower() in ABSENT:
            continue
        value = _value(line, column, marks, options)
        metric = column.metric or metric_of_quantity(value.unit)
        key = (contender or column.contender, "" if column.load is None else column.load.number.text)
        found.setdefault(key, {})[metric] = value
        if column.load is not None:
            loads[key] = {column.load.heading: column.load}
    for key, values in found.items():
        yield ForeignRow(key[0], load | loads.get(key, {}), values, line.line, part)


def _changes(table: _Table, line: GridRow, marks: Marks) -> ForeignRow:
    """What a row says of how much it is more or less than another, by column. A fall has its sign."""
    values = {}
    for at, (heading, unit) in table.changes.items():
        if (text := line.cell(at)).lower() in ABSENT:
            continue
        found = _CHANGE.fullmatch(_bare(text))
        assert found is not None, "its column would have another role"
        number = _number(found[2], heading, line.line, at, marks)
        if found[1] in ("-", "−", "–"):
            number = Printed(f"-{number.text}", -number.value, -number.high, -number.low)
        values[f"{heading} ({at + 1})"] = ForeignValue(number, unit, line.line, at + 1, heading)
    part = "" if table.part is None else line.cell(table.part)
    return ForeignRow("" if table.contender is None else line.cell(table.contender), {}, values, line.line, part)


def _number_rows(table: _Table, numbers: NumberRows) -> BlockRows | None:
    """The same of all rows at once; None where one of them cannot be a sample, or is several of one contender."""
    loads: dict[str, Stretch] = {}
    for at, (name, unit) in table.loads.items():
        own, is_size = numbers.columns[at], name in SIZES or unit.quantity == "bytes"
        times = _bytes_of(unit) if is_size else 1.0
        loads[name] = Stretch(own, numbers.lines, BYTES if is_size else unit, at + 1, name, "exact", times)
        if name == CLIENTS and not is_size and bool(np.any((own.decimals > 0) | (own.whole < 1))):
            return None
    values: dict[str, dict[str, Stretch]] = {}
    for column in table.columns:
        if column.load is not None or (column.unit is None and not column.metric):
            return None
        unit, own = column.unit or COUNT, numbers.columns[column.at]
        stretch = Stretch(own, numbers.lines, unit, column.at + 1, column.heading)
        values.setdefault(column.contender, {})[column.metric or metric_of_quantity(unit)] = stretch
    return BlockRows([Block(name, "", numbers.lines, loads, own) for name, own in values.items()])


def _value(line: GridRow, column: _Column, marks: Marks, options: Options) -> ForeignValue:
    """A cell as a number. Raises PlanError that names line and column."""
    text = line.cell(column.at)
    found = _VALUE.fullmatch(_bare(text))
    if found is None:
        raise refuse(line.line, f"{_where(column)}: a number was expected, not {text[:40]!r}")
    behind = unit_of(found[2]) if found[2] else None
    if found[2] and behind is None:
        raise refuse(line.line, f"{_where(column)}: {found[2][:20]!r} behind the number is no unit that Bakeoff knows")
    unit = behind or column.unit
    if (
        unit is None
        and column.metric not in FACTS
        and options.better is None
        and way_of(column.metric, NO_UNIT) is None
    ):
        raise refuse(line.line, f"{_where(column)} has no unit: say it with --unit, such as --unit 'MB/s'")
    try:
        number = printed(found[1], marks)
    except ValueError as error:
        raise refuse(line.line, f"{_where(column)}: {error}") from None
    if number.value < 0:
        raise refuse(line.line, f"{_where(column)}: {text[:40]} is less than nothing: no result is")
    return ForeignValue(number, unit or COUNT, line.line, column.at + 1, column.heading)


def _where(column: _Column) -> str:
    return f"column {column.at + 1} ({column.heading[:40]})"


def _load(name: str, unit: Unit, text: str, line: int, at: int, marks: Marks) -> ForeignValue:
    """A load as a number: sizes with their letters are counted in 1,024, as tools do."""
    if name in SIZES or unit.quantity == "bytes":
        found = _SIZE.fullmatch(text)
        if found is None:
            raise refuse(line, f"column {at + 1} ({name}): a size was expected, not {text[:40]!r}")
        scale = _SCALES[found[2].lower()]
        number = _number(found[1], name, line, at, marks)
        size = number.value * (scale if found[2] else _bytes_of(unit))
        exact = Printed(text, size, size, size)
        return ForeignValue(exact, BYTES, line, at + 1, name)
    found = _VALUE.fullmatch(text)
    if found is None:
        raise refuse(line, f"column {at + 1} ({name}): a number was expected, not {text[:40]!r}")
    number = _number(found[1], name, line, at, marks)
    if name == CLIENTS and (number.value < 1 or number.value != int(number.value)):
        raise refuse(line, f"column {at + 1}: {text[:40]!r} is no number of clients; say what rows are with --rows")
    return ForeignValue(replace(number, low=number.value, high=number.value), unit, line, at + 1, name)


def _bytes_of(unit: Unit) -> float:
    """How many bytes a size without letters counts."""
    if unit.quantity != "bytes":
        return 1.0
    return unit.readings[1] if len(unit.readings) > 1 else unit.factor


def _number(text: str, name: str, line: int, at: int, marks: Marks) -> Printed:
    try:
        number = printed(text, marks)
    except ValueError as error:
        raise refuse(line, f"column {at + 1} ({name}): {error}") from None
    if number.value < 0:
        raise refuse(line, f"column {at + 1} ({name}): {text[:40]} is less than nothing")
    return number


def _missing(table: _Table) -> tuple[str, ...]:
    """What a table never says, and what this one does not."""
    metrics = {column.metric for column in table.columns}
    columns_known = [("errors", "how many operations failed"), ("duration", "how long each sample took")]
    return (
        *(what for name, what in columns_known if name not in metrics),
        "in which order and how often was measured",
        "what the machines had to do",
    )
