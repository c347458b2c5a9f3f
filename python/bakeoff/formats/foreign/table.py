"""One file of results as a table of what it prints: contender × load × metric.

A row is one sample, or a part of one: all that was measured together. So the numbers of a row obey each other
(rate × duration = operations), those of rows with the same metric are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bakeoff.core.units import exact_size
from bakeoff.formats.foreign.printed import Printed
from bakeoff.formats.foreign.units import Unit

# Names of metrics that mean the same in every format. Times have the name of their part before them where they are not
# those of whole operations: `connect mean`. Any other name is that of the file.
RATE, THROUGHPUT = "rate", "throughput"
OPERATIONS, REQUESTS, ERRORS, BYTES, BYTES_IN, BYTES_OUT, DURATION = (
    "operations", "requests", "errors", "bytes", "bytes in", "bytes out", "duration",
)  # fmt: skip
MINIMUM, MEAN, MEDIAN, MAXIMUM, DEVIATION = "minimum", "mean", "p50", "maximum", "deviation"
# Names of loads. Any other one is that of the file.
CLIENTS, OFFERED, BLOCK_SIZE, FILE_SIZE, RECORD_SIZE, DEPTH = (
    "clients", "offered", "block size", "file size", "record size", "in flight",
)  # fmt: skip
Better = Literal["higher", "lower"]


def percentile(share: float) -> str:
    """The name of a percentile: `p99.9`. The median is p50."""
    return f"p{share:.10g}"


@dataclass(frozen=True)
class ForeignValue:
    """A number with its place: `line` from 1 (of a spreadsheet: its row), `column` from 1, 0 where the line has no
    columns, and `heading` as the file calls it.
    """

    number: Printed
    unit: Unit
    line: int
    column: int = 0
    heading: str = ""

    @property
    def value(self) -> float:
        """In the base of its quantity: bytes, seconds, a second, shares."""
        return self.number.value * self.unit.factor

    @property
    def low(self) -> float:
        """The least that its digits allow, in the same base."""
        return self.number.low * self.unit.factor

    @property
    def high(self) -> float:
        """The most that its digits allow, in the same base."""
        return self.number.high * self.unit.factor

    @property
    def is_printed(self) -> bool:
        """Whether it stands in the file. A number that is not printed was counted by the reader."""
        return bool(self.number.text)


@dataclass(frozen=True)
class ForeignRow:
    """What was measured together: of which contender ("" where the file does not say), under which load, and which
    `part` of the work ("" for all of it; `read`, `GET /`). A `breakdown` (`worker 1`) is there to be added up, and is
    compared with nothing.
    """

    contender: str
    load: Mapping[str, ForeignValue]
    values: Mapping[str, ForeignValue]
    line: int
    part: str = ""
    breakdown: bool = False

    def where(self) -> str:
        """Its load in words: `8 clients`, `file size 64 KiB, record size 4 KiB`; empty where none is stated."""
        return ", ".join(_load(name, value) for name, value in self.load.items())


def _load(name: str, value: ForeignValue) -> str:
    if value.unit.quantity == "bytes":
        return f"{name} {exact_size(round(value.value))}"
    number = value.number.text or f"{value.number.value:.10g}"
    unit = f" {value.unit.name}" if value.unit.name else ""
    if name == CLIENTS and value.value == 1:
        return "1 client"
    return f"{number} {name}" if name in (CLIENTS, DEPTH) else f"{name} {number}{unit}"


@dataclass(frozen=True)
class ForeignTable:
    """One file. `format` is the importer's name of it, `tool` the tool's own with its version.
    `began` is an ISO moment. `stated` is what the file says of the way of measuring,
    `lines` in which line each of that stands. `better` says which way of a metric is good where its quantity does not.
    `missing` names what runs of Bakeoff have and this file does not state. `summaries` are rows that were calculated
    from the others, and not measured: their part is their label (`Total`). `changes` are the figures of rows that were
    calculated from two others, by heading (`diff %`, `speedup`).
    """

    format: str
    tool: str
    rows: Sequence[ForeignRow]
    began: str | None = None
    stated: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    better: Mapping[str, Better] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    path: str = ""
    summaries: tuple[ForeignRow, ...] = ()
    changes: tuple[ForeignRow, ...] = ()

    def totals(self) -> tuple[ForeignRow, ...]:
        """The rows of all work, without those of its parts."""
        return tuple(row for row in self.rows if not row.part)

    def metrics(self) -> tuple[str, ...]:
        """The names of all metrics, in the order of the file."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    def contenders(self) -> tuple[str, ...]:
        """The names of all contenders, in the order of the file."""
        return tuple(dict.fromkeys(row.contender for row in self.rows))

    def column(self, metric: str, contender: str | None = None) -> Iterator[tuple[ForeignRow, ForeignValue]]:
        """The values of one metric down the rows of all work, of one contender or all."""
        for row in self.totals():
            if metric in row.values and contender in (None, row.contender):
                yield row, row.values[metric]
