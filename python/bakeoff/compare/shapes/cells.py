"""Trials that are made of cells: each is one test at one size of file and record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bakeoff.compare.cube.cell_form import SIZES
from bakeoff.compare.cube.cell_levels import PERCENTILES, mean_time_ms, timed_cells
from bakeoff.compare.cube.cells import CellKey, common_cells, file_sizes_of, has_cells, mean_rate
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.file_weights import weights_of
from bakeoff.compare.cube.regions import regions_of
from bakeoff.compare.estimate.cell_pairs import compare_cells
from bakeoff.compare.failures.content import facts_of
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.shapes.loop import Shape
from bakeoff.core.units import plural
from bakeoff.store.records.run_records import RunRecord

if TYPE_CHECKING:
    from bakeoff.compare.model.cell import CellComparison
    from bakeoff.compare.model.subject import Subject


class Cells(Shape):
    """The geometric mean of the rates of the cells that all contenders have decides: every cell then weighs the same,
    or by the files of a share.
    """

    @classmethod
    def fits(cls, run: RunRecord) -> bool:
        return has_cells(run.trials)

    def endpoints(self, run: RunRecord, cube: Cube) -> tuple[Metric, ...]:
        weights = weights_of(run.planned.settings, file_sizes_of(run))
        keys = common_cells(run, cube.usable.values())
        if weights is not None:
            keys = frozenset(key for key in keys if weights.has(key[1]))
        if not keys:
            return super().endpoints(run, cube)
        title = f"Geometric mean of {plural(len(keys), 'cell')}" + (
            f", weighted by the file sizes of {weights.folder}" if weights else ""
        )
        form = cube.kind.cells or SIZES
        unit, scale = form.rate_unit, form.rate_scale
        rate = Metric(
            "rate",
            title,
            unit,
            True,
            "log",
            lambda trial: scale * mean_rate(trial, keys, weights),
            unit,
            keys,
            is_mean_of_cells=True,
            weights=weights,
        )
        return (rate, *_times_of_cells(cube, keys))

    def findings(self, subject: Subject) -> Mapping[str, Any]:
        return {**super().findings(subject), "cells": _compared(subject)}


def _compared(subject: Subject) -> CellComparison | None:
    """The cells, without pairs about which files disagree."""
    run = subject.run
    regions, weights = regions_of(run.planned.settings), subject.metrics[0].weights
    cells = compare_cells(subject.cube, subject.judge.interim.level, run.kind, _in_memory(run), regions, weights)
    return cells and replace(cells, pairs=tuple(pair for pair in cells.pairs if not subject.files_disagree(pair)))


def _in_memory(run: RunRecord) -> frozenset[str]:
    """Contenders whose files lie in memory: tmpfs and its like."""
    return frozenset(c.name for c in run.contenders if facts_of(run, c.name).get("carrier") == "memory")


def _times_of_cells(cube: Cube, keys: frozenset[CellKey]) -> Iterator[Metric]:
    """Response times of cells, each of one test at one size: pooled they would be nobody's. What has too few transfers
    in some cell leaves that one out, for all contenders alike.
    """
    for what, least in PERCENTILES:
        timed = timed_cells(cube.usable.values(), keys, what, least)
        if not timed:
            continue
        key = what.removesuffix("_ns")
        cells = f"{len(timed):,}{f' of {len(keys):,}' if timed != keys else ''} cells"
        yield Metric(
            key,
            title=f"Geometric mean of the {key} of {cells}",
            unit="ms",
            higher_is_better=False,
            scale="log",
            extract=partial(mean_time_ms, keys=timed, what=what),
            short=f"mean {key} of cells",
            is_mean_of_cells=True,
        )


PART = Cells
