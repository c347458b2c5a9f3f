"""The comparison of cells: one ratio for each test, file size and record size.

Ratios are contender divided by baseline, so that above 1 the contender is faster. Sizes are in KiB, rates in KiB/s.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal

from bakeoff.compare.cube.cell_form import Axis, CellForm
from bakeoff.compare.cube.file_weights import FileWeights
from bakeoff.compare.model.fact import NARRATED, OMITTED, Fact
from bakeoff.compare.model.plain import Words, as_dict, no_words
from bakeoff.load.load_step import LoadStep, named

CellState = Literal["ahead", "behind", "tied", "open", "void", "skipped"]


@dataclass(frozen=True)
class CellRatio:
    """One cell. `state` is the contender's: `ahead` and `behind` after Benjamini–Hochberg over all cells,
    `tied` when no difference is shown, `open` with too few blocks, `void` or `skipped` for a `reason`.

    `cached` names the contenders whose rate only a cache explains. `outlier` is the reason why the cell
    stands out of its surroundings, None when it does not. Sizes are None where the cell has none.
    """

    test: str
    file_kib: float | None
    record_kib: float | None
    blocks: int
    ratio: float
    low: float
    high: float
    p: float
    q: float
    state: CellState
    reason: Fact | None = dataclasses.field(metadata=NARRATED)
    cached: tuple[str, ...]
    outlier: Fact | None
    baseline_kib_s: float
    contender_kib_s: float

    @property
    def certain(self) -> bool:
        """The interval does not include 1."""
        return self.low > 1.0 or self.high < 1.0


@dataclass(frozen=True)
class NeighbourOutliers(Fact):
    """The ratio of a cell, and the median of those around it."""

    ratio: float
    around: float


@dataclass(frozen=True)
class WildBlock(Fact):
    """The ratio of a cell in one block, and the median of the others."""

    ratio: float
    others: float


@dataclass(frozen=True)
class Level:
    """The geometric mean over blocks with the least and the most of them, and its 95 % interval over enough blocks for
    a verdict; NaN where nothing was measured.
    """

    centre: float
    least: float
    most: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class CellLevel:
    """One contender in one cell, by itself, in `blocks` that have a rate. In JSON the members of a Level are columns:
    `p99_ms`, `p99_ms_least`, `p99_ms_most`, `p99_ms_low` and `p99_ms_high`.

    In `lost` of the blocks `tried` it moved nothing, for a client at least. `operations` are the fewest of a block:
    with too few of them a percentile is not known, and `longest_ms`, of all blocks, says more. `reason` is why a block
    has no rate.
    """

    contender: str
    load_step: LoadStep
    test: str
    file_kib: float | None
    record_kib: float | None
    blocks: int
    tried: int
    forfeited: int
    kib_s: Level
    transfers_s: Level
    operations: int
    p50_ms: Level
    p95_ms: Level
    p99_ms: Level
    longest_ms: float
    cpu_us: float
    cached: bool
    reason: Fact | None = dataclasses.field(metadata=NARRATED)

    def row(self, words: Words = no_words) -> dict[str, Any]:
        """Plain values, flat: `p99_ms` with the least, the most and the interval beside it."""
        plain: dict[str, Any] = {}
        for name in (field.name for field in dataclasses.fields(self)):
            value = getattr(self, name)
            if isinstance(value, Level):
                plain |= {name: value.centre, f"{name}_least": value.least, f"{name}_most": value.most}
                plain |= {f"{name}_low": value.low, f"{name}_high": value.high}
            elif name == "load_step":
                plain |= named(value)
            else:
                plain[name] = words(value).get("text", "") if name == "reason" else value
        return plain


@dataclass(frozen=True)
class Average:
    """The geometric mean of the ratios of `cells` cells with its interval over blocks, and how they ended.

    `arithmetic` is their arithmetic mean; `above` counts the cells with a ratio over 1, shown or not. Of a
    `weighted` one both means are weighed by the files of a share, and cells without weight are left out.
    """

    name: str
    cells: int
    blocks: int
    ratio: float
    low: float
    high: float
    arithmetic: float
    lowest: float
    highest: float
    above: int
    ahead: int
    behind: int
    tied: int
    open: int
    weighted: bool = False


@dataclass(frozen=True)
class RegionAverage:
    """A region in words, and the average of its cells."""

    words: str
    average: Average


@dataclass(frozen=True)
class SizePoint:
    """The geometric mean of the ratios of all cells of one size."""

    size_kib: float
    cells: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Crossing:
    """Between `last_kib` and `first_kib` the ratio crosses 1.00, near `near_kib`; `falls` when the contender
    is ahead below and behind above. Without `shown` it is seen in the numbers, with too few blocks to show it.
    """

    last_kib: float
    first_kib: float
    near_kib: float
    falls: bool
    shown: bool


@dataclass(frozen=True)
class SizeCurve:
    """Ratios against the record size or the file size; `test` is empty for all tests together."""

    test: str
    axis: Axis
    points: tuple[SizePoint, ...]
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True)
class CacheZone:
    """With records from `record_low_kib` to `record_high_kib` caching is strong for files up to `strong_kib`, and none
    from `none_kib` on, where rates are `fall` times lower; between them it is weak, for the file sizes `weak_kib`. Not
    `levelled` when only the largest files are as slow: where the fall ends was not seen.
    """

    record_low_kib: float
    record_high_kib: float
    strong_kib: float
    weak_kib: tuple[float, ...]
    none_kib: float
    fall: float
    levelled: bool


@dataclass(frozen=True)
class FewFileSizes(Fact):
    """Fewer sizes of files were measured than tell of a cache."""

    least: int


@dataclass(frozen=True)
class NoFall(Fact):
    """Up to the largest files rates do not fall by so many times."""

    largest_kib: float
    times: float


@dataclass(frozen=True)
class CachedDespiteFall(Fact):
    """Rates fall by so many times, but files as large as these came from a cache as well."""

    fall: float
    largest_kib: float


@dataclass(frozen=True)
class CacheUnknown:
    """With records from `record_low_kib` to `record_high_kib` nothing can be told of caching, and `why`."""

    record_low_kib: float
    record_high_kib: float
    why: Fact


@dataclass(frozen=True)
class CacheRule:
    """Where caching is strong, weak and none over file size × record size, by the jump of a contender's rates in
    `tests`, which are alike.
    """

    contender: str
    load_step: LoadStep
    tests: tuple[str, ...]
    zones: tuple[CacheZone, ...]
    unknown: tuple[CacheUnknown, ...]


@dataclass(frozen=True)
class CellPair:
    """Two contenders over all cells at one load step.

    `overall` counts every cell that has a ratio. `uncached` and `without_outliers` are the same without the
    cells so marked, None when there are none; `cached_cells` counts those of `overall`; `regions` are those of
    the plan that hold any cell. Averages are by `weights`, where there are any; `measured` are the file sizes, in
    bytes, of the cells that have a ratio in all blocks.
    """

    baseline: str
    contender: str
    load_step: LoadStep
    cells: tuple[CellRatio, ...]
    overall: Average
    cached_cells: int
    uncached: Average | None
    without_outliers: Average | None
    regions: tuple[RegionAverage, ...]
    tests: tuple[Average, ...]
    curves: tuple[SizeCurve, ...]
    form: CellForm = dataclasses.field(metadata=OMITTED)
    weights: FileWeights | None = dataclasses.field(metadata=OMITTED)
    measured: tuple[int | None, ...] = dataclasses.field(metadata=OMITTED)

    def ratios_of(self, test: str) -> list[CellRatio]:
        """The cells of a test that have a ratio, and one that counts."""
        of_test = (cell for cell in self.cells if cell.test == test and cell.state not in ("void", "skipped"))
        return [cell for cell in of_test if 0.0 < cell.ratio < math.inf]

    def curve(self, test: str, axis: Axis) -> SizeCurve | None:
        """The curve of `test` ("" for all tests), None when there are fewer than two sizes."""
        return next((c for c in self.curves if c.test == test and c.axis == axis), None)


@dataclass(frozen=True)
class CellComparison:
    """The comparison of a suite whose trials are made of cells: what is `measured` of each contender by itself, one
    entry in `pairs` for each pair and load step (none of a single contender), where caching ends of each contender, and
    how its cells are named and told.
    """

    kind: str
    form: CellForm
    blocks: int
    pairs: tuple[CellPair, ...]
    weights: FileWeights | None = None
    measured: tuple[CellLevel, ...] = ()
    caching: tuple[CacheRule, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that any contender did, in the order of work."""
        return tuple(dict.fromkeys(level.test for level in self.measured))

    def at(self, contender: str, load_step: LoadStep) -> tuple[CellLevel, ...]:
        """The cells of one contender at one load step."""
        return tuple(level for level in self.measured if level.contender == contender and level.load_step == load_step)

    def to_dict(self, words: Words = no_words) -> dict[str, Any]:
        """Plain values. Cells, and those measured, are rows under `columns`: a page holds thousands of them."""
        fields = dataclasses.fields(CellRatio)
        columns = [field.name for field in fields]
        pairs = []
        for pair in self.pairs:
            plain = _all_short(as_dict(dataclasses.replace(pair, cells=()), words))
            rows = [[_cell(cell, field, words) for field in fields] for cell in pair.cells]
            pairs.append({**plain, **words(pair), "cells": {"columns": columns, "rows": rows}})
        weights = None if self.weights is None else _all_short(self.weights.to_dict())
        return {
            "kind": self.kind,
            "form": dataclasses.asdict(self.form),
            "blocks": self.blocks,
            "weights": weights,
            "measured": self._measured(words),
            "caching": _all_short(as_dict(list(self.caching), words)),
            "pairs": pairs,
        }

    def _measured(self, words: Words) -> dict[str, Any]:
        rows = [level.row(words) for level in self.measured]
        columns = list(rows[0]) if rows else []
        return {"columns": columns, "rows": [[_short(row[name]) for name in columns] for row in rows]}


def _short(value: Any) -> Any:
    """Five figures are far below any interval of a cell, and there are thousands of them."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short


def _cell(cell: CellRatio, field: dataclasses.Field[Any], words: Words) -> Any:
    value = getattr(cell, field.name)
    if field.metadata.get("narrated") and words is not no_words:
        return words(value).get("text", "")
    return _all_short(as_dict(value, words)) if isinstance(value, Fact) else _short(value)


def _all_short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _all_short(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_all_short(inner) for inner in value]
    return _short(value)
