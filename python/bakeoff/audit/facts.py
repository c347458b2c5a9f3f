"""What checks find, as data: numbers, names and kinds. `report/narrate/audit/` has the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bakeoff.compare.model.fact import Fact


@dataclass(frozen=True)
class Expected:
    """What should stand somewhere, from `low` to `high` in the printed `unit`."""

    low: float
    high: float
    unit: str
    decimals: int


@dataclass(frozen=True)
class WrongProduct(Fact):
    """A number is not the product of the others of its row. `law` is in words of columns: throughput = rate × size.
    `from_numbers` are the others, as they stand.
    """

    law: str
    expected: Expected
    from_numbers: tuple[str, ...]
    found: float


@dataclass(frozen=True)
class FitsConstant(Fact):
    """Rows `fit` of `rows` by one constant: `name` is its name, empty where it has none. Of rows that are near to one,
    `spread` is by how much they differ, as a share.
    """

    law: str
    name: str
    constant: float
    fit: int
    rows: int
    spread: float = 0.0


@dataclass(frozen=True)
class FitsNone(Fact):
    """No constant fits the rows: columns are not what they are called, or were measured apart."""

    law: str
    low: float
    high: float
    rows: int


@dataclass(frozen=True)
class WrongSum(Fact):
    """`whole` is not the sum of `parts`."""

    law: str
    expected: Expected
    parts: int
    missing: float


@dataclass(frozen=True)
class OutOfBounds(Fact):
    """A mean of parts that lies beyond all of them."""

    low: float
    high: float
    parts: int


@dataclass(frozen=True)
class ImpliedPause(Fact):
    """N = X · (R + Z): most rows imply the same pause `pause_s`, from `low_s` to `high_s`, and `per_client` requests at
    once.
    """

    pause_s: float
    low_s: float
    high_s: float
    per_client: int
    rows: int
    fit: int


@dataclass(frozen=True)
class WrongPause(Fact):
    """A row that implies a pause of its own: `pause_s`, where the others have `others_s`. `clients` are needed for what
    the row states where there is no pause, and it has `stated`.
    """

    pause_s: float
    others_s: float
    clients: float
    stated: float
    expected: Expected


@dataclass(frozen=True)
class TooManyInFlight(Fact):
    """Rate × time: more requests are on their way at once than there are clients."""

    in_flight: float
    stated: float


@dataclass(frozen=True)
class WrongOrder(Fact):
    """`lower` must not be more than `upper`, by the names of columns, and is."""

    lower: str
    upper: str
    lower_value: float
    upper_value: float
    unit: str


@dataclass(frozen=True)
class MeanBeyond(Fact):
    """The mean that percentiles allow is from `low` to `high`."""

    low: float
    high: float
    unit: str


Bound = Literal["bhatia-davis", "popoviciu", "samuelson", "mean-median"]


@dataclass(frozen=True)
class DeviationBeyond(Fact):
    """The deviation that the other numbers allow is from `low` to `high`; `bound` is whose law that is."""

    bound: Bound
    low: float
    high: float
    unit: str


Carrier = Literal["link", "bus", "memory"]


@dataclass(frozen=True)
class AboveSpeed(Fact):
    """So many bytes a second are more than the link, bus or memory carries: a cache."""

    carrier: Carrier
    bytes_per_s: float
    limit_bytes_per_s: float


@dataclass(frozen=True)
class CacheEnd(Fact):
    """Only a cache explains `rows` of `of` rows; the largest file among them, and the smallest larger one that is
    within the limit (None where there is none).
    """

    carrier: Carrier
    rows: int
    of: int
    largest_bytes: float | None
    next_bytes: float | None


@dataclass(frozen=True)
class FitsMemory(Fact):
    """So many rows are of files that the memory holds: reads need not have met a disk."""

    rows: int
    of: int
    memory_bytes: float


Copied = Literal["row", "column", "file", "stretch"]


@dataclass(frozen=True)
class Copy(Fact):
    """A row, column, file or stretch of a column equals another to the digit: `numbers` numbers of `digits` digits.
    `of` is what it is a copy of.
    """

    what: Copied
    of: str
    numbers: int
    digits: int


@dataclass(frozen=True)
class OffCurve(Fact):
    """A number is `times` what its neighbours on the axis let expect; theirs is `usual` at most."""

    expected: Expected
    times: float
    usual: float


@dataclass(frozen=True)
class Asked(Fact):
    """The command line asks for `asked` of something, and `printed` is printed. `forbids`: the least or the most
    that the command allows.
    """

    what: str
    asked: float
    printed: float
    unit: str


@dataclass(frozen=True)
class TooShort(Fact):
    """A percentile of so few operations that it is one of the largest alone: it needs `needed`."""

    quantile: float
    operations: float
    needed: float


@dataclass(frozen=True)
class ErrorsCounted(Fact):
    """The rate counts `errors` failed operations as work: without them it is `rate`, not `stated`."""

    errors: float
    of: float
    rate: float
    stated: float


@dataclass(frozen=True)
class OtherUnit(Fact):
    """The heading has `unit`, which is `named` bytes, and rows `fit` of `rows` by another one: `name`, `constant`."""

    unit: str
    named: float
    name: str
    constant: float
    fit: int
    rows: int


@dataclass(frozen=True)
class WrongChange(Fact):
    """By how much a number is more or less than another: from `low` to `high` in `unit`, % or ×, of `from_numbers`."""

    unit: str
    low: float
    high: float
    from_numbers: tuple[str, ...]


@dataclass(frozen=True)
class OtherChange(Fact):
    """A change in percent of the number itself and not of what it is held to: that is from `low` to `high`. `beyond`:
    it is a fall by more than all.
    """

    beyond: bool
    low: float
    high: float


@dataclass(frozen=True)
class WrongBase(Fact):
    """The number that changes are of, in the row without one: the others were calculated from another one."""

    expected: Expected


@dataclass(frozen=True)
class NoBase(Fact):
    """So many `rows` imply bases from `low` to `high`, and none is that of all."""

    low: float
    high: float
    rows: int
    unit: str


@dataclass(frozen=True)
class Exchanged(Fact):
    """Two rows in each other's place, this one and `other`: exchanged, all `fit` changes fit."""

    other: str
    fit: int


@dataclass(frozen=True)
class NotAsPrinted(Fact):
    """A number beside the output of a tool that it was typed from: `stands` in `file`, and so many others are equal."""

    file: str
    stands: str
    unit: str
    equal: int
