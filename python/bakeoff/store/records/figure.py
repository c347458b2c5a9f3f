"""What a figure of a record means, and what a value of it has to be: beside its name and its type, the one place where
both are said. How it is stored (`bakeoff.store.sqlite.table`) and what pages tell of it is made from that.
"""

from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

LARGEST = 2**63 - 1
MOST_CLIENTS = 1_000_000


@dataclass(frozen=True)
class Figure:
    """`text` is what it means. A whole number lies between `least` and `most`, a number is not negative, `above_zero`
    or `below` a limit; a text is one of `words`, or a `moment`. `column` is its name in the run file where that is
    another, `sql` what SQLite is told of it besides.
    """

    text: str
    least: int = 0
    most: int = LARGEST
    above_zero: bool = False
    below: float = float("inf")
    words: tuple[str, ...] = ()
    moment: bool = False
    column: str = ""
    sql: str = ""


# What several records tell, each of what it is about.
Operations = Annotated[int, Figure("operations that ended well")]
PerSecond = Annotated[float, Figure("operations that ended well, by the length of the time measured")]
Errors = Annotated[dict[str, int], Figure("failed operations by class, JSON object")]
ErrorCount = Annotated[int, Figure("how many operations failed")]
BytesIn = Annotated[int, Figure("bytes received, heads and bodies")]
BytesOut = Annotated[int, Figure("bytes sent, heads and bodies")]
Window = Annotated[float, Figure("length of the measured window")]
CpuShare = Annotated[float, Figure("processor time of the busiest load thread, as a share of the time measured")]
CpuPerOperation = Annotated[float, Figure("processor time of the generator for each operation, µs")]
RunDelayShare = Annotated[
    float, Figure("share of the time measured for which a load thread waited for a processor, at worst")
]
Memory = Annotated[int, Figure("memory of the generator at the end")]
Began = Annotated[str, Figure("when it began, ISO 8601 in UTC", moment=True)]
At = Annotated[str, Figure("when, ISO 8601 in UTC", moment=True)]
Block = Annotated[int, Figure("block, from 1", least=1)]


@dataclass(frozen=True)
class Field:
    """A field of a record: its type without what is said of it, whether it may be None, and what it means."""

    name: str
    hint: Any
    optional: bool
    figure: Figure | None

    @property
    def column(self) -> str:
        """Its name in the run file."""
        return (self.figure.column if self.figure else "") or self.name


def fields_of(record: Any) -> tuple[Field, ...]:
    """The fields of a dataclass, in its order."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(field_of(one.name, hints[one.name]) for one in fields(record) if one.init)


def is_record(hint: Any) -> bool:
    """Whether a type is a dataclass."""
    return isinstance(hint, type) and is_dataclass(hint)


def without_none(hint: Any) -> tuple[Any, bool]:
    """A type without None, and whether it had it."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    inner = get_args(hint)
    return reduce(or_, (part for part in inner if part is not NoneType)), NoneType in inner


def field_of(name: str, hint: Any) -> Field:
    """A field of a name whose type is that."""
    bare, optional = without_none(hint)
    if get_origin(bare) is not Annotated:
        return Field(name, bare, optional, None)
    kind, *figure = get_args(bare)
    kind, also = without_none(kind)
    figures = [one for one in figure if isinstance(one, Figure)]
    return Field(name, kind, optional or also, figures[-1] if figures else None)
