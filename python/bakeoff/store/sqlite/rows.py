"""The rows of a run file as plain values: what a record is made of, without histograms.

As columns they can be passed on inside of something else, such as a report, and be read again. They have no seals of
their own, so that every value is checked when a record is made of them, as those of a file are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from bakeoff.store.records.values import DamagedError
from bakeoff.store.sqlite import schema
from bakeoff.store.sqlite.schema import CHAINS, LISTS, SCHEMA_VERSION, columns_of
from bakeoff.store.sqlite.table import Row

TrialRows = tuple[Row, Mapping[str, Sequence[Row]]]
Columns = dict[str, list[Any]]
Tables = dict[str, Columns]

RUN, TRIALS, EVENTS, SOAK_ROWS = "run", "trials", "events", "soak_intervals"
PARTS = tuple(part.shape.table for part in schema.PARTS)
EMBEDDED = (RUN, *LISTS, TRIALS, *PARTS, EVENTS, SOAK_ROWS)
# Columns that no comparison and no report reads, and what a record has in their place: seals of what is not here, the
# marks of who wrote a file, and of seconds all but their rates and tails, which are the better part of a large run.
_NOT_OF_SECONDS = tuple(f"service_{name}_ns" for name in ("mean", "p50", "p95", "p999", "max", "min"))
LEFT_OUT: dict[str, dict[str, Any]] = {
    RUN: {
        **{f"{table}_sha256": "" for table in (*LISTS, *CHAINS)},
        **dict.fromkeys(CHAINS, 0),
        "writer": None,
        "started_here": None,
    },
    TRIALS: {"sha256": ""},
    "seconds": {"errors": 0, "bytes_in": 0, **dict.fromkeys(_NOT_OF_SECONDS)},
    SOAK_ROWS: dict.fromkeys(("hdr", "hdr_sha256", "response_hdr", "response_hdr_sha256")),
}


class Rows(Protocol):
    """The rows of a run, in the order in which they were stored. Raises DamagedError for what cannot be one."""

    def run(self) -> Row:
        """The row of the run."""

    def table(self, name: str) -> Sequence[Row]:
        """All rows of a table of `LISTS`."""

    def events(self) -> Sequence[Row]:
        """Every event."""

    def soak_intervals(self) -> Sequence[Row]:
        """Every interval of a soak."""

    def trials(self) -> Iterator[TrialRows]:
        """Every trial that was stored, with its rows in each table of its parts."""


def tables_of(rows: Rows) -> Tables:
    """All of it by table and column, without what is left out."""
    tables: Tables = {table: {name: [] for name in embedded_columns(table)} for table in EMBEDDED}
    _add(tables[RUN], (rows.run(),))
    for table in LISTS:
        _add(tables[table], rows.table(table))
    for trial, parts in rows.trials():
        _add(tables[TRIALS], (trial,))
        for table in PARTS:
            _add(tables[table], parts[table])
    _add(tables[EVENTS], rows.events())
    _add(tables[SOAK_ROWS], rows.soak_intervals())
    return tables


def _add(columns: Columns, rows: Sequence[Row]) -> None:
    for name, values in columns.items():
        values += [row[name] for row in rows]


class PlainRows:
    """Rows of what `tables_of` gave. Raises DamagedError where it is not that."""

    def __init__(self, tables: Any) -> None:
        self._tables = _checked(tables)
        self._parts: dict[str, dict[Any, list[Row]]] = {}

    def run(self) -> Row:
        rows = self._rows(RUN)
        if len(rows) != 1:
            raise DamagedError("it holds no run")
        return rows[0]

    def table(self, name: str) -> Sequence[Row]:
        return self._rows(name)

    def events(self) -> Sequence[Row]:
        return self._rows(EVENTS)

    def soak_intervals(self) -> Sequence[Row]:
        return self._rows(SOAK_ROWS)

    def trials(self) -> Iterator[TrialRows]:
        parts = {table: self._by_trial(table) for table in PARTS}
        for trial in self._rows(TRIALS):
            yield trial, {table: found.pop(trial["id"], []) for table, found in parts.items()}
        if any(parts.values()):
            raise DamagedError("it has parts of trials that are not there")

    def _by_trial(self, table: str) -> dict[Any, list[Row]]:
        found: dict[Any, list[Row]] = defaultdict(list)
        for row in self._rows(table):
            if type(row["trial_id"]) is not int:
                raise DamagedError(f"{table}.trial_id does not hold what it must")
            found[row["trial_id"]].append(row)
        return found

    def _rows(self, table: str) -> list[Row]:
        columns, missing = self._tables[table], LEFT_OUT.get(table, {})
        return [
            {**missing, **dict(zip(columns, values, strict=True))} for values in zip(*columns.values(), strict=True)
        ]


def _checked(tables: Any) -> Tables:
    if not isinstance(tables, dict) or set(tables) != set(EMBEDDED):
        raise DamagedError("it does not have the tables of a run")
    for table, columns in tables.items():
        if not isinstance(columns, dict) or set(columns) != set(embedded_columns(table)):
            raise DamagedError(f"its table {table} does not have the columns of a run")
        values = list(columns.values())
        if any(not isinstance(one, list) or len(one) != len(values[0]) for one in values):
            raise DamagedError(f"its table {table} is cut off")
        if any(type(value) not in (str, int, float, type(None)) for one in values for value in one):
            raise DamagedError(f"its table {table} holds what no table can")
    return tables


def embedded_columns(table: str) -> tuple[str, ...]:
    """The columns of a table that are held, in the order of the schema."""
    missing = LEFT_OUT.get(table, {})
    return tuple(name for name in columns_of(table) if name not in missing)


VERSION = SCHEMA_VERSION
"""That of the tables: rows of another version are refused."""
