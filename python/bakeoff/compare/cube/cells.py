"""Cells of trials as arrays: contender × cell × block."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.file_weights import FileWeights
from bakeoff.compare.cube.forfeits import ENOUGH, PairLogs, bounded
from bakeoff.compare.model.comparison import Forfeit
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.reason import ClientsUnserved, DamagedRecords, GeneratorIdle, NoTransfer, Recorded
from bakeoff.core.thresholds import MOST_WAITED, STARVED_SHARE
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.figures import CellFigures, Figures
from bakeoff.store.records.run_records import RunRecord, TrialRecord

# In less time than this one hiccup of any sort is all of the cell.
LATE_S = 0.1

CellKey = tuple[str, int | None, int | None]


@dataclass(frozen=True)
class CellArray:
    """Rates in KiB/s of all contenders at one load step, shape (contenders, cells, blocks).

    NaN where a cell has no rate; `skipped` and `void` say why, by the position of contender and cell. `lost`, of
    the same shape, marks the cells in which the contender moved nothing, or nothing for a client, or whose whole trial
    it forfeited.
    `cached` holds (contender, cell) that only a cache explains in at least half of the blocks.
    """

    contenders: tuple[str, ...]
    load_step: LoadStep
    keys: tuple[CellKey, ...]
    rates: NDArray[np.float64]
    forfeited: NDArray[np.bool_]
    skipped: dict[tuple[int, int], Fact]
    void: dict[tuple[int, int], Fact]
    cached: frozenset[tuple[int, int]]

    def pair(self, baseline: int, contender: int) -> PairLogs:
        """ln(contender / baseline), shape (cells, blocks), with bounded losses."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.rates)
        return bounded(logs[baseline], logs[contender], (self.forfeited[baseline], self.forfeited[contender]))


def cells_of(trial: TrialRecord) -> tuple[CellFigures, ...]:
    """The cells of a trial; none for suites without."""
    return trial.figures(Figures).cells or ()


def file_sizes_of(run: RunRecord) -> frozenset[int]:
    """The file sizes in bytes of all cells that any trial was asked for."""
    return frozenset(cell.file_bytes for t in run.trials for cell in cells_of(t) if cell.file_bytes)


def has_cells(trials: Iterable[TrialRecord]) -> bool:
    """Whether any trial is made of cells."""
    return any(cells_of(trial) for trial in trials)


def key_of(cell: CellFigures) -> CellKey:
    """Test, file size and record size in bytes."""
    return cell.test, cell.file_bytes, cell.record_bytes


def is_empty(cell: CellFigures) -> bool:
    """The contender was asked for this cell and moved nothing in its time: a result, unlike a cell that was skipped."""
    if cell.empty is not None:
        # Few long transfers are measured over the whole cell, with its ramp: those have a rate.
        return cell.empty and not (cell.rate_kib_s or 0.0) > 0.0
    if cell.skipped:
        return cell.none_ended
    return cell.operations == 0 and not cell.damaged


def idle_clients(cell: CellFigures) -> tuple[int, ...]:
    """The clients to whom the contender gave nothing, or next to nothing, of a cell in which it served others; by
    position. As in a whole trial, few operations say nothing, nor does a cell that is over at once.
    """
    return tuple(client for client in _without_work(cell) if not _waited(cell, client))


def unrun_clients(cell: CellFigures) -> tuple[int, ...]:
    """The clients that did (next to) nothing in a cell because the generator's threads for them did not run for most of
    it; by position.
    """
    return tuple(client for client in _without_work(cell) if _waited(cell, client))


def is_unrun(cell: CellFigures) -> bool:
    """The generator did not give all clients their time in this cell, which the contender did not lose: no result."""
    return bool(cell.waited_shares) and bool(unrun_clients(cell)) and not is_lost(cell)


def _waited(cell: CellFigures, client: int) -> bool:
    return client < len(cell.waited_shares) and cell.waited_shares[client] > MOST_WAITED


def _without_work(cell: CellFigures) -> tuple[int, ...]:
    if len(cell.per_client) < 2 or cell.skipped or (cell.operations or 0) < ENOUGH * len(cell.per_client):
        return ()
    moved = [moved_bytes for moved_bytes, _ in cell.per_client]
    if (cell.elapsed_s or 0.0) < LATE_S and not cell.stretched:
        return ()
    least = STARVED_SHARE * sum(moved) / len(moved)
    return tuple(client for client, moved_bytes in enumerate(moved) if moved_bytes < least)


def starving_cells(trial: TrialRecord) -> list[tuple[CellFigures, tuple[int, ...]]]:
    """The cells of a trial in which clients were starved, with these."""
    return [(cell, idle) for cell in cells_of(trial) if (idle := idle_clients(cell))]


def is_lost(cell: CellFigures) -> bool:
    """The contender moved nothing in this cell, or nothing for some of the clients: both are a loss of the cell."""
    return is_empty(cell) or bool(idle_clients(cell))


def rate_of(cell: CellFigures) -> float:
    """KiB/s; NaN for a cell that was skipped, that delivered damaged records, in which the generator did not run, or
    that has no rate.
    """
    if cell.skipped or cell.damaged or not cell.rate_kib_s or is_unrun(cell):
        return math.nan
    return cell.rate_kib_s


def cell_array(cube: Cube, load_step: LoadStep) -> CellArray:
    """All cells of the usable trials at `load_step`, tests in order of work, sizes rising."""
    trials = {
        (c, b): trial
        for c, name in enumerate(cube.contenders)
        for b, block in enumerate(cube.blocks)
        if (trial := cube.usable.get((name, load_step, block))) is not None
    }
    keys = ordered_keys({key_of(cell): None for trial in trials.values() for cell in cells_of(trial)})
    index = {key: i for i, key in enumerate(keys)}
    rates = np.full((len(cube.contenders), len(keys), len(cube.blocks)), math.nan)
    forfeited = np.zeros(rates.shape, dtype=bool)
    for c, name in enumerate(cube.contenders):
        for b, block in enumerate(cube.blocks):
            forfeited[c, :, b] = (name, load_step, block) in cube.forfeited
    skipped: dict[tuple[int, int], Fact] = {}
    void: dict[tuple[int, int], Fact] = {}
    cached: Counter[tuple[int, int]] = Counter()
    for (c, b), trial in trials.items():
        for cell in cells_of(trial):
            at = (c, index[key_of(cell)])
            rates[at[0], at[1], b] = rate_of(cell)
            if is_lost(cell):
                forfeited[at[0], at[1], b] = True
            elif cell.skipped:
                skipped[at] = Recorded(cell.skipped)
            elif is_unrun(cell):
                skipped[at] = _why_unrun(cell)
            elif cell.damaged:
                void[at] = DamagedRecords(cube.contenders[c], cell.damaged)
            cached[at] += cell.cached is True
    measured = np.isfinite(rates).sum(axis=2)
    often = frozenset(at for at, times in cached.items() if times and 2 * times >= measured[at])
    return CellArray(cube.contenders, load_step, keys, rates, forfeited, skipped, void, often)


def ordered_keys(keys: Iterable[CellKey]) -> tuple[CellKey, ...]:
    """Tests in order of work, sizes rising."""
    listed = list(keys)
    tests = {test: place for place, test in reversed(list(enumerate(test for test, _, _ in listed)))}
    return tuple(sorted(listed, key=lambda key: (tests[key[0]], key[1] or 0, key[2] or 0)))


def common_cells(run: RunRecord, usable: Iterable[TrialRecord]) -> frozenset[CellKey]:
    """Cells that every contender tried, in half of its usable trials at least: with a rate, or in vain."""
    trials = list(usable)
    number = Counter(trial.contender for trial in trials)
    seen = Counter(
        (trial.contender, key_of(cell))
        for trial in trials
        for cell in cells_of(trial)
        if math.isfinite(rate_of(cell)) or is_empty(cell)
    )
    names = [contender.name for contender in run.contenders if number[contender.name]]
    keys = {key for _, key in seen}
    return frozenset(key for key in keys if all(2 * seen[name, key] >= number[name] for name in names))


def unpaired_cells(cube: Cube) -> dict[str, tuple[int, int]]:
    """By contender: how many of its cells not all contenders with usable trials have tried, and of how many."""
    tried: dict[str, set[CellKey]] = {}
    for (name, _, _), trial in cube.usable.items():
        tried.setdefault(name, set()).update(map(key_of, cells_of(trial)))
    common = set.intersection(*tried.values()) if tried else set()
    return {name: (len(own - common), len(own)) for name, own in tried.items() if own - common}


def mean_rate(trial: TrialRecord, keys: frozenset[CellKey], weights: FileWeights | None = None) -> float:
    """The geometric mean of KiB/s over `keys`; NaN when one of them has no rate, or there are none."""
    cells = [cell for cell in cells_of(trial) if key_of(cell) in keys]
    if not cells or len(cells) != len(keys):
        return math.nan
    logs = np.array([math.log(rate_of(cell)) for cell in cells])
    return math.exp(float(weights_over(list(map(key_of, cells)), weights) @ logs))


def weights_over(keys: list[CellKey], weights: FileWeights | None) -> NDArray[np.float64]:
    """What each cell counts in a mean over `keys`, together 1: all alike without `weights`."""
    return np.full(len(keys), 1.0 / max(1, len(keys))) if weights is None else weights.of([file for _, file, _ in keys])


def whole(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """`logs` of the cells that are in all blocks kept, the others NaN; shape (cells, blocks kept).

    A block is kept with half of the cells of the fullest one. An average over blocks must mean the same cells in each.
    """
    kept = logs[:, well_filled_blocks(logs)]
    complete = np.isfinite(kept).all(axis=1, keepdims=True)
    rows: NDArray[np.float64] = np.where(complete, kept, np.nan)
    return rows


def well_filled_blocks(logs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Blocks with half of the cells of the fullest one at least."""
    per_block = np.isfinite(logs).sum(axis=0)
    enough: NDArray[np.bool_] = per_block * 2 >= max(1, int(per_block.max(initial=0)))
    return enough


def mean_logs(
    cube: Cube, keys: frozenset[CellKey], weights: FileWeights | None, baseline: str, contender: str
) -> PairLogs:
    """The mean over `keys` of ln(contender / baseline), shape (load steps, blocks), as the table of cells averages
    it.
    """
    shape = (len(cube.load_steps), len(cube.blocks))
    logs = np.full(shape, np.nan)
    forfeited = (np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool))
    factors = [1.0]
    sides = cube.index(baseline), cube.index(contender)
    for m, load_step in enumerate(cube.load_steps):
        array = cell_array(cube, load_step)
        rows = [at for at, key in enumerate(array.keys) if key in keys]
        if not rows:
            continue
        pair = array.pair(*sides)
        settled = pair.settled()[rows]
        averaged = whole(settled)
        present = np.isfinite(averaged).all(axis=1)
        if present.any():
            there = [array.keys[rows[at]] for at in np.flatnonzero(present)]
            logs[m, well_filled_blocks(settled)] = weights_over(there, weights) @ averaged[present]
        for side in (0, 1):
            forfeited[side][m] = pair.forfeited[side][rows][present].any(axis=0) & np.isfinite(logs[m])
        factors.append(pair.factor)
    return PairLogs(logs, np.zeros(shape, dtype=bool), forfeited, max(factors))


def forfeited_cells(cube: Cube) -> tuple[Forfeit, ...]:
    """Cells of usable trials in which a contender moved nothing, or nothing for a client, in the order they ran."""
    trials = sorted(cube.usable.values(), key=lambda trial: trial.order)
    return tuple(
        Forfeit(trial.contender, trial.load_step, trial.block, cell_name(cell), _why_forfeited(cell))
        for trial in trials
        for cell in cells_of(trial)
        if is_lost(cell)
    )


def _why_forfeited(cell: CellFigures) -> Fact:
    return NoTransfer() if is_empty(cell) else ClientsUnserved(idle_clients(cell), len(cell.per_client))


def _why_unrun(cell: CellFigures) -> Fact:
    unrun = unrun_clients(cell)
    return GeneratorIdle(unrun, len(cell.per_client), max(cell.waited_shares[client] for client in unrun))


def cell_name(cell: CellFigures) -> str:
    """ "random read, 4 KiB" for people."""
    test, _, record = key_of(cell)
    return test.replace("_", " ") + (f", {record / 1024:g} KiB" if record else "")
