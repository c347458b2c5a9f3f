"""Tables of a run file, made from the records whose fields are its columns; rows of records, and records of rows.

A field is a column where a `Figure` says what it means. A record of numbers inside of one is a column for each of
them, with the name of the field in front; any other is JSON.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from bakeoff.store.records.figure import Field, fields_of, is_record
from bakeoff.store.records.values import DamagedError, reader, sql_type, writer

R = TypeVar("R")
Row = sqlite3.Row | Mapping[str, Any]
Values = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """`sql` is its type and what it must hold, `text` what it means."""

    name: str
    sql: str
    text: str


@dataclass(frozen=True)
class Table:
    """`text` is what its rows are; `keys` together name a row, where no column alone does."""

    name: str
    text: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    options: str = ""

    @property
    def sql(self) -> str:
        """The statement that creates it."""
        lines = [f"  {one.name} {one.sql}" for one in self.columns]
        lines += [f"  PRIMARY KEY ({', '.join(self.keys)})"] if self.keys else []
        return f"CREATE TABLE {self.name} (\n" + ",\n".join(lines) + f"\n){self.options};"


class Shape(Generic[R]):
    """How records of one type are rows of the table of a name. `within` is the field in which they stand of another."""

    def __init__(self, record: type[R], table: str, within: str = "") -> None:
        self.table = table
        self._record = record
        front = f"{within}_" if within else ""
        fields = [(one, f"{front}{one.column}") for one in fields_of(record) if one.figure is not None or within]
        self._plain = [(one.name, name, reader(one), writer(one)) for one, name in fields if not _is_flat(one.hint)]
        self._flat = [
            (one.name, one.optional, Shape(one.hint, table, name)) for one, name in fields if _is_flat(one.hint)
        ]
        self.columns = tuple(_columns(fields, self._flat))

    def row(self, record: Any) -> Values:
        """The values of the columns, by their names."""
        found = {column: write(getattr(record, name)) for name, column, _, write in self._plain}
        for name, _, inner in self._flat:
            value = getattr(record, name)
            found |= dict.fromkeys(inner.names) if value is None else inner.row(value)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.columns)

    def read(self, row: Row, **known: Any) -> R:
        """The record of a row, with what is `known` of it from elsewhere. Raises DamagedError."""
        for name, column, read, _ in self._plain:
            try:
                known[name] = read(row[column])
            except ValueError:
                raise self._damage(column) from None
        for name, optional, inner in self._flat:
            empty = optional and all(row[column] is None for column in inner.names)
            known[name] = None if empty else inner.read(row)
        return self._record(**known)

    def value(self, row: Row, wanted: str) -> Any:
        """One of its fields alone. Raises DamagedError."""
        for name, column, read, _ in self._plain:
            if name == wanted:
                try:
                    return read(row[column])
                except ValueError:
                    raise self._damage(column) from None
        raise KeyError(wanted)

    def _damage(self, column: str) -> DamagedError:
        return DamagedError(f"{self.table}.{column} does not hold what it must")


def _columns(fields: Sequence[tuple[Field, str]], flat: Sequence[tuple[str, bool, Shape[Any]]]) -> Iterator[Column]:
    inner = {name: shape for name, _, shape in flat}
    for one, name in fields:
        text = one.figure.text if one.figure else ""
        if one.name in inner:
            for each in inner[one.name].columns:
                nullable = each.sql.removesuffix(" NOT NULL") if one.optional else each.sql
                yield Column(each.name, nullable, f"{text}: {each.text}")
        else:
            yield Column(name, _sql(one, name), text)


def _sql(field: Field, name: str) -> str:
    figure = field.figure
    words = ", ".join(f"'{word}'" for word in figure.words) if figure else ""
    parts = (sql_type(field.hint), "" if field.optional else "NOT NULL", figure.sql if figure else "")
    return " ".join(filter(None, (*parts, words and f"CHECK ({name} IN ({words}))")))


def _is_flat(hint: Any) -> bool:
    """Whether it is a record of numbers alone."""
    return is_record(hint) and all(one.hint in (int, float) for one in fields_of(hint))


def insert(connection: sqlite3.Connection, table: str, rows: Sequence[Values]) -> None:
    """Write rows, all of the same columns."""
    if rows:
        connection.executemany(_statement(table, tuple(rows[0])), [tuple(row.values()) for row in rows])


@cache
def _statement(table: str, names: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})"
