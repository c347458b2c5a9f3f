"""What each contender did in each cell, by itself: rates, transfers a second and times, over its blocks.

Nothing is pooled: a time is a percentile of one cell of one trial, and blocks are averaged on logarithms.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

from bakeoff.compare.cube.cells import CellKey, cells_of, is_lost, key_of, ordered_keys, rate_of
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.model.cell import CellLevel, Level
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.reason import DamagedRecords, Recorded
from bakeoff.core.thresholds import MINIMUM_BLOCKS, P95_OPERATIONS, P99_OPERATIONS
from bakeoff.core.times import ms_of
from bakeoff.load.load_step import LoadStep
from bakeoff.stats.intervals.blocks import geometric_interval
from bakeoff.store.records.figures import CellFigures
from bakeoff.store.records.run_records import TrialRecord

UNKNOWN = Level(math.nan, math.nan, math.nan)
# Percentiles of cells: their name in ServiceTimes, and the transfers that one needs to say anything.
PERCENTILES = (("p50_ns", 1), ("p95_ns", P95_OPERATIONS), ("p99_ns", P99_OPERATIONS))


def cell_levels(cube: Cube) -> tuple[CellLevel, ...]:
    """Every cell of every contender at every load step, in the order of work; usable trials alone count."""
    levels = []
    for load_step in cube.load_steps:
        for name in cube.contenders:
            trials = [t for block in cube.blocks if (t := cube.usable.get((name, load_step, block))) is not None]
            by_key: dict[CellKey, list[CellFigures]] = defaultdict(list)
            for trial in trials:
                for cell in cells_of(trial):
                    by_key[key_of(cell)].append(cell)
            levels += [_level(name, load_step, key, by_key[key]) for key in ordered_keys(by_key)]
    return tuple(levels)


def _level(name: str, load_step: LoadStep, key: CellKey, cells: list[CellFigures]) -> CellLevel:
    test, file, record = key
    measured = [cell for cell in cells if math.isfinite(rate_of(cell))]
    times = {what: _over(measured, partial(time_ms, what=what)) for what, _ in PERCENTILES}
    fewest = min((cell.operations or 0 for cell in measured), default=0)
    known = {what: times[what] if fewest >= least else UNKNOWN for what, least in PERCENTILES}
    longest = [ms for cell in measured if (ms := time_ms(cell, "max_ns")) is not None]
    reasons: list[Fact] = [Recorded(cell.skipped) for cell in cells if cell.skipped]
    damaged = sum(cell.damaged or 0 for cell in cells)
    if damaged:
        reasons.append(DamagedRecords(name, damaged))
    return CellLevel(
        contender=name,
        load_step=load_step,
        test=test,
        file_kib=None if file is None else file / 1024.0,
        record_kib=None if record is None else record / 1024.0,
        blocks=len(measured),
        tried=sum(is_lost(cell) or math.isfinite(rate_of(cell)) for cell in cells),
        forfeited=sum(map(is_lost, cells)),
        kib_s=_over(measured, rate_of),
        transfers_s=_over(measured, transfers_of),
        operations=fewest,
        p50_ms=known["p50_ns"],
        p95_ms=known["p95_ns"],
        p99_ms=known["p99_ns"],
        longest_ms=max(longest, default=math.nan),
        cpu_us=_over(measured, lambda cell: cell.cpu_us_per_io).centre,
        cached=bool(measured) and 2 * sum(cell.cached is True for cell in measured) >= len(measured),
        reason=reasons[-1] if reasons else None,
    )


def time_ms(cell: CellFigures, what: str) -> float | None:
    """A time of single transfers of a cell in ms, by its name in ServiceTimes."""
    return None if cell.service is None else ms_of(getattr(cell.service, what))


def transfers_of(cell: CellFigures) -> float | None:
    """Transfers a second: as counted, or the rate over the one size that they have."""
    if cell.ios_per_s:
        return cell.ios_per_s
    return None if cell.record_bytes is None else 1024.0 * rate_of(cell) / cell.record_bytes


def _over(cells: Iterable[CellFigures], of: Callable[[CellFigures], float | None]) -> Level:
    values = [value for cell in cells if (value := of(cell)) is not None and 0.0 < value < math.inf]
    if not values:
        return UNKNOWN
    found = geometric_interval(values)
    known = found.blocks >= MINIMUM_BLOCKS
    low, high = (found.low, found.high) if known else (math.nan, math.nan)
    return Level(found.centre, min(values), max(values), low, high)


def timed_cells(trials: Iterable[TrialRecord], keys: frozenset[CellKey], what: str, least: int) -> frozenset[CellKey]:
    """Those of `keys` that have the time `what` of at least so many transfers wherever they were measured at all."""
    short = {
        key_of(cell)
        for trial in trials
        for cell in cells_of(trial)
        if math.isfinite(rate_of(cell)) and ((cell.operations or 0) < least or not time_ms(cell, what))
    }
    return keys - short


def mean_time_ms(trial: TrialRecord, keys: frozenset[CellKey], what: str) -> float:
    """The geometric mean over `keys` of a time of each cell; NaN when one of them has none."""
    cells = [cell for cell in cells_of(trial) if key_of(cell) in keys]
    times = [time_ms(cell, what) or math.nan for cell in cells if math.isfinite(rate_of(cell))]
    if not times or len(times) != len(keys):
        return math.nan
    return math.exp(math.fsum(map(math.log, times)) / len(times))
