"""Cells of trials as arrays: contender × cell × block."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube import Cube
from bakeoff.store.records import RunRecord, TrialRecord

CellKey = tuple[str, int | None, int | None]


@dataclass(frozen=True)
class Surface:
    """Rates in KiB/s of all contenders at one number of clients, shape (contenders, cells, blocks).

    NaN where a cell has no rate; ``skipped`` and ``void`` say why, by the position of contender and cell.
    ``cached`` holds (contender, cell) that only a cache explains in at least half of the blocks.
    """

    contenders: tuple[str, ...]
    clients: int
    keys: tuple[CellKey, ...]
    rates: NDArray[np.float64]
    skipped: dict[tuple[int, int], str]
    void: dict[tuple[int, int], str]
    cached: frozenset[tuple[int, int]]


def cells_of(trial: TrialRecord) -> list[dict[str, Any]]:
    """The cells of a trial; an empty list for suites without."""
    cells = trial.workload.get("cells")
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def has_cells(trials: Iterable[TrialRecord]) -> bool:
    """Whether any trial is made of cells."""
    return any(cells_of(trial) for trial in trials)


def key_of(cell: dict[str, Any]) -> CellKey:
    """Test, file size and record size in bytes."""
    return str(cell.get("test", "")), cell.get("file_bytes"), cell.get("record_bytes")


def rate_of(cell: dict[str, Any]) -> float:
    """KiB/s; NaN for a cell that was skipped, that delivered damaged records, or that has no rate."""
    rate = cell.get("rate_kib_s")
    if cell.get("skipped") or cell.get("damaged") or not isinstance(rate, (int, float)):
        return math.nan
    return float(rate) if rate > 0.0 and math.isfinite(rate) else math.nan


def build_surface(cube: Cube, clients: int) -> Surface:
    """All cells of the usable trials at ``clients``, tests in order of work, sizes rising."""
    trials = {
        (c, b): trial
        for c, name in enumerate(cube.contenders)
        for b, block in enumerate(cube.blocks)
        if (trial := cube.usable.get((name, clients, block))) is not None
    }
    keys = _ordered({key_of(cell): None for trial in trials.values() for cell in cells_of(trial)})
    index = {key: i for i, key in enumerate(keys)}
    rates = np.full((len(cube.contenders), len(keys), len(cube.blocks)), math.nan)
    skipped: dict[tuple[int, int], str] = {}
    void: dict[tuple[int, int], str] = {}
    cached: Counter[tuple[int, int]] = Counter()
    for (c, b), trial in trials.items():
        for cell in cells_of(trial):
            at = (c, index[key_of(cell)])
            rates[at[0], at[1], b] = rate_of(cell)
            if cell.get("skipped"):
                skipped[at] = str(cell["skipped"])
            elif cell.get("damaged"):
                void[at] = f"{cube.contenders[c]} gave back {cell['damaged']:,} damaged records"
            cached[at] += cell.get("cached") is True
    measured = np.isfinite(rates).sum(axis=2)
    often = frozenset(at for at, times in cached.items() if times and 2 * times >= measured[at])
    return Surface(cube.contenders, clients, keys, rates, skipped, void, often)


def _ordered(keys: Iterable[CellKey]) -> tuple[CellKey, ...]:
    found = list(keys)
    tests = {test: place for place, test in reversed(list(enumerate(test for test, _, _ in found)))}
    return tuple(sorted(found, key=lambda key: (tests[key[0]], key[1] or 0, key[2] or 0)))


def common_cells(run: RunRecord, usable: Iterable[TrialRecord]) -> frozenset[CellKey]:
    """Cells with a rate for every contender, in half of its usable trials at least."""
    trials = list(usable)
    number = Counter(trial.contender for trial in trials)
    seen = Counter(
        (trial.contender, key_of(cell)) for trial in trials for cell in cells_of(trial) if math.isfinite(rate_of(cell))
    )
    names = [contender.name for contender in run.contenders if number[contender.name]]
    keys = {key for _, key in seen}
    return frozenset(key for key in keys if all(2 * seen[name, key] >= number[name] for name in names))


def mean_rate(trial: TrialRecord, keys: frozenset[CellKey]) -> float:
    """The geometric mean of KiB/s over ``keys``; NaN when one of them has no rate, or there are none."""
    logs = [math.log(rate_of(cell)) for cell in cells_of(trial) if key_of(cell) in keys]
    return math.exp(math.fsum(logs) / len(logs)) if logs and len(logs) == len(keys) else math.nan
