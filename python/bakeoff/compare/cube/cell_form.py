"""How the cells of a kind of suite are named and told. Data: nobody has to ask which kind it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Axis = Literal["record", "file"]
# MB/s (10⁶ bytes a second) in a KiB/s.
MB_S = 1024 / 1e6
AXES: tuple[Axis, ...] = ("record", "file")


@dataclass(frozen=True)
class SizeAxis:
    """A size by which cells differ: `key` names it in data, `name` for people, `at` is one size of it."""

    key: Axis
    name: str
    at: str


@dataclass(frozen=True)
class CellForm:
    """`test` is what is done in a cell, besides its sizes; `axes` are the sizes that tell cells apart. Rates are
    shown in `rate_unit`, which is `rate_scale` times KiB/s. `transfers` names transfers a second where they are shown
    as well.
    """

    test: str
    tests: str
    axes: tuple[SizeAxis, ...]
    rate_unit: str
    rate_scale: float
    transfers: str = ""


SIZES = CellForm(
    test="test",
    tests="tests",
    axes=(SizeAxis("record", "record size", "{} records"), SizeAxis("file", "file size", "{} files")),
    rate_unit="MB/s",
    rate_scale=MB_S,
)
