"""Cells against each other: every cell paired over blocks, averages, curves, crossings and outliers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cell_caching import cache_rules
from bakeoff.compare.cube.cell_find import crossings, outliers
from bakeoff.compare.cube.cell_form import AXES, SIZES, Axis, CellForm
from bakeoff.compare.cube.cell_levels import cell_levels
from bakeoff.compare.cube.cells import CellArray, CellKey, cell_array, weights_over, whole
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.file_weights import FileWeights
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.compare.cube.regions import SMALL_OFFICE, Region
from bakeoff.compare.estimate.intervals import shown
from bakeoff.compare.model.cell import (
    Average,
    CellComparison,
    CellPair,
    CellRatio,
    CellState,
    RegionAverage,
    SizeCurve,
    SizePoint,
)
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.reason import MovedNothing, NoCommonBlock, SeveralReasons
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.stats import RowRatios, benjamini_hochberg, ratios_by_row

Floats = NDArray[np.float64]
Q = 0.05


def compare_cells(
    cube: Cube,
    level: float,
    kind: str,
    in_memory: frozenset[str] = frozenset(),
    regions: tuple[Region, ...] = (SMALL_OFFICE,),
    weights: FileWeights | None = None,
) -> CellComparison | None:
    """The comparison cell by cell, and each contender by itself; None when no cell was tried.

    Contenders `in_memory` have no cache in front of something slower.
    """
    form = cube.kind.cells or SIZES
    arrays = [array for load_step in cube.load_steps if (array := cell_array(cube, load_step)).keys]
    pairs = []
    for pair in combinations(range(len(cube.contenders)), 2):
        if not cube.together(*(cube.contenders[one] for one in pair)).any():
            continue
        works = [_Work(array, *pair, level, regions, weights) for array in arrays]
        works = [work for work in works if np.isfinite(work.served()).any()]
        if not works:
            continue
        # One family of tests for each pair: all cells at all load steps.
        q_values = benjamini_hochberg(np.concatenate([work.tested_p() for work in works]))
        start = 0
        for work in works:
            pairs.append(work.result(q_values[start : start + len(work.array.keys)], form))
            start += len(work.array.keys)
    levels = cell_levels(cube)
    if not levels:
        return None
    caching = cache_rules(arrays, in_memory) if len(form.axes) > 1 else ()
    return CellComparison(kind, form, len(cube.blocks), tuple(pairs), weights, levels, caching)


@dataclass(frozen=True)
class _Work:
    """One pair at one number of clients."""

    array: CellArray
    baseline: int
    contender: int
    level: float
    regions: tuple[Region, ...]
    weights: FileWeights | None

    @cached_property
    def pair(self) -> PairLogs:
        """ln(contender / baseline), shape (cells, blocks), with bounded losses."""
        return self.array.pair(self.baseline, self.contender)

    @cached_property
    def logs(self) -> Floats:
        """The same with 0 for what both lost."""
        return self.pair.settled()

    @cached_property
    def rows(self) -> RowRatios:
        """Each cell over its blocks; where one of the two lost some of them, by the sign-flip test."""
        ratios = ratios_by_row(self.logs, self.level, self.forfeited)
        few = ratios.blocks < MINIMUM_BLOCKS
        return replace(ratios, low=np.where(few, np.nan, ratios.low), high=np.where(few, np.nan, ratios.high))

    @property
    def forfeited(self) -> NDArray[np.bool_]:
        """Cells that one of the two lost in some block."""
        return np.asarray((self.pair.forfeited[0] | self.pair.forfeited[1]).any(axis=1))

    def tested_p(self) -> Floats:
        """p of the cells with enough blocks for a verdict, NaN for the others."""
        return np.where(self.rows.blocks >= MINIMUM_BLOCKS, self.rows.p, np.nan)

    def served(self) -> Floats:
        """The logarithms of what both measured: a cell that was lost stands out of its surroundings for that alone."""
        forfeited = self.pair.forfeited[0] | self.pair.forfeited[1] | self.pair.ties
        return np.where(forfeited, np.nan, self.logs)

    def result(self, q_values: Floats, form: CellForm) -> CellPair:
        logs = self.logs
        cells = self._cells(self.rows, q_values, outliers(self.array.keys, self.served()))
        average = _Averages(cells, whole(logs), self.level, self.forfeited, self.array.keys, self.weights)
        tests = tuple(dict.fromkeys(cell.test for cell in cells))
        curves = [average.curve(test, axis) for test in ("", *tests) for axis in AXES]
        overall = average.over("all cells", lambda cell: True)
        assert overall is not None
        return CellPair(
            baseline=self.array.contenders[self.baseline],
            contender=self.array.contenders[self.contender],
            load_step=self.array.load_step,
            cells=cells,
            overall=overall,
            cached_cells=average.count(lambda cell: bool(cell.cached)),
            uncached=average.without(name="without cached cells", left_out=lambda cell: bool(cell.cached)),
            without_outliers=average.without(name="without outliers", left_out=lambda cell: bool(cell.outlier)),
            regions=tuple(
                RegionAverage(region.words, mean)
                for region in self.regions
                if (mean := average.over(region.name, region.holds)) is not None
            ),
            tests=tuple(mean for test in tests if (mean := average.over(test, _of(test))) is not None),
            curves=tuple(curve for curve in curves if curve is not None),
            form=form,
            weights=self.weights,
            measured=average.file_sizes(),
        )

    def _cells(self, rows: RowRatios, q_values: Floats, odd: dict[int, Fact]) -> tuple[CellRatio, ...]:
        with np.errstate(divide="ignore", invalid="ignore"):
            centres = np.exp(_means(np.log(self.array.rates)))
        cells = []
        for at, (test, file, record) in enumerate(self.array.keys):
            state, reason = self._state(at, rows, float(q_values[at]))
            cells.append(
                CellRatio(
                    test=test,
                    file_kib=None if file is None else file / 1024.0,
                    record_kib=None if record is None else record / 1024.0,
                    blocks=int(rows.blocks[at]),
                    ratio=float(rows.ratio[at]),
                    low=float(rows.low[at]),
                    high=float(rows.high[at]),
                    p=float(rows.p[at]),
                    q=float(q_values[at]),
                    state=state,
                    reason=reason,
                    cached=tuple(
                        self.array.contenders[side]
                        for side in (self.baseline, self.contender)
                        if (side, at) in self.array.cached
                    ),
                    outlier=odd.get(at),
                    baseline_kib_s=float(centres[self.baseline, at]),
                    contender_kib_s=float(centres[self.contender, at]),
                )
            )
        return tuple(cells)

    def _state(self, at: int, rows: RowRatios, q: float) -> tuple[CellState, Fact | None]:
        sides = ((self.baseline, at), (self.contender, at))
        wrong = [self.array.void[side] for side in sides if side in self.array.void]
        if wrong:
            return "void", SeveralReasons(tuple(wrong))
        if rows.blocks[at] == 0:
            reasons = list(dict.fromkeys(self.array.skipped[side] for side in sides if side in self.array.skipped))
            return ("skipped", SeveralReasons(tuple(reasons))) if reasons else ("void", NoCommonBlock())
        empty = self._empty(at)
        if rows.blocks[at] < MINIMUM_BLOCKS:
            return "open", empty
        if q > Q:
            return "tied", empty
        return ("ahead" if rows.log_mean[at] > 0.0 else "behind"), empty

    def _empty(self, at: int) -> MovedNothing | None:
        """Who lost this cell, and in how many blocks; None when nobody did."""
        sides = zip((self.baseline, self.contender), self.pair.forfeited, strict=True)
        found = ((self.array.contenders[side], int(forfeited[at].sum())) for side, forfeited in sides)
        blocks = tuple((name, number) for name, number in found if number)
        return MovedNothing(blocks) if blocks else None


def _means(logs: Floats) -> Floats:
    known = np.isfinite(logs)
    total = np.where(known, logs, 0.0).sum(axis=2)
    number = known.sum(axis=2)
    means: Floats = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return means


def _of(test: str) -> Callable[[CellRatio], bool]:
    return lambda cell: cell.test == test


@dataclass(frozen=True)
class _Averages:
    """Averages over groups of cells: the mean log-ratio of the group in each block, then over the blocks."""

    cells: tuple[CellRatio, ...]
    logs: Floats
    level: float
    # Cells that one of the two lost in some block.
    forfeited: NDArray[np.bool_]
    keys: tuple[CellKey, ...]
    weights: FileWeights | None

    def _pick(self, wanted: Callable[[CellRatio], bool]) -> list[int]:
        """Those that count: not the sizes that a share has no files of."""
        weights = self.weights
        return [at for at in self._usable(wanted) if weights is None or weights.has(self.keys[at][1])]

    def file_sizes(self) -> tuple[int | None, ...]:
        """Those of all cells that can be averaged, in bytes."""
        return tuple(self.keys[at][1] for at in self._usable(lambda cell: True))

    def _usable(self, wanted: Callable[[CellRatio], bool]) -> list[int]:
        usable = set(np.flatnonzero(np.isfinite(self.logs).any(axis=1)).tolist())
        return [at for at, cell in enumerate(self.cells) if at in usable and cell.state != "void" and wanted(cell)]

    def over(self, name: str, wanted: Callable[[CellRatio], bool]) -> Average | None:
        """None when no cell is `wanted`. The name is for people: a test, or what the group is."""
        picked = self._pick(wanted)
        if not picked and name != "all cells":
            return None
        weight = weights_over([self.keys[at] for at in picked], self.weights)
        means = weight @ self.logs[picked] if picked else np.full(self.logs.shape[1], np.nan)
        rows = ratios_by_row(means, self.level, self.forfeited[picked].any())
        ratios = np.exp(self.logs[picked].mean(axis=1))
        states = [self.cells[at].state for at in picked]
        return Average(
            name=name,
            cells=len(picked),
            blocks=int(rows.blocks[0]),
            ratio=float(rows.ratio[0]),
            low=shown(float(rows.low[0]), int(rows.blocks[0])),
            high=shown(float(rows.high[0]), int(rows.blocks[0])),
            arithmetic=float(weight @ ratios) if picked else math.nan,
            lowest=float(ratios.min(initial=math.inf)),
            highest=float(ratios.max(initial=-math.inf)),
            above=int((ratios > 1.0).sum()),
            ahead=states.count("ahead"),
            behind=states.count("behind"),
            tied=states.count("tied"),
            open=states.count("open"),
            weighted=self.weights is not None,
        )

    def without(self, name: str, left_out: Callable[[CellRatio], bool]) -> Average | None:
        """None when nothing is left out, or nothing is left."""
        if not any(left_out(self.cells[at]) for at in self._pick(lambda cell: True)):
            return None
        return self.over(name, lambda cell: not left_out(cell))

    def curve(self, test: str, axis: Axis) -> SizeCurve | None:
        """Averages by size, in which all cells of a size count alike; None with fewer than two sizes."""
        groups: dict[float, list[int]] = {}
        for at in self._usable(lambda cell: test in ("", cell.test)):
            size = self.cells[at].record_kib if axis == "record" else self.cells[at].file_kib
            if size is not None:
                groups.setdefault(size, []).append(at)
        if len(groups) < 2:
            return None
        sizes = sorted(groups)
        rows = ratios_by_row(np.array([self.logs[groups[size]].mean(axis=0) for size in sizes]), self.level)
        enough = bool(rows.blocks.min() >= MINIMUM_BLOCKS)
        low, high = (end if enough else np.full(len(sizes), np.nan) for end in (rows.low, rows.high))
        points = tuple(
            SizePoint(size, len(groups[size]), *values)
            for size, *values in zip(sizes, rows.ratio.tolist(), low.tolist(), high.tolist(), strict=True)
        )
        return SizeCurve(test, axis, points, crossings(points, enough))

    def count(self, wanted: Callable[[CellRatio], bool]) -> int:
        """How many of the cells in the average are `wanted`."""
        return len(self._pick(wanted))
