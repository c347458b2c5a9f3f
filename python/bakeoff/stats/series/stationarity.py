"""Whether a figure was steady over rows that follow each other: where it settled, where it changed, whether it drifts,
and how many independent rows it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bakeoff.stats.series.trend import growth

# Fewer rows are too short to judge; a change lasts for so many rows at least; one below this share does not matter.
FEWEST_ROWS, SHORTEST, LEAST_SHARE = 20, 3, 0.02
# By how many standard errors two stretches differ that chance, with the choice of the place, hardly ever makes differ:
# of white noise and of AR(1) with half of it kept, by simulation. Short series know their own spread less well.
CERTAIN, SHORT = 4.75, 4.0
# Rows further out than so many standard deviations count as that far: a pause of one row is no change.
FARTHEST = 5.0
BATCH = 5
TREND_LEVEL = 0.999
MOST_CHANGES = 20
# By how much more a line may leave unexplained than steps do, which are fitted to it in more places.
AS_WELL = 1.2
# The share of the spread that a line explains of a course that has hardly any noise.
SMOOTH = 0.9

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Steadiness:
    """What `rows` rows say. `settled` is the row from which on they are steady, 0 where they are from the first on;
    `changes` are rows at which the level changes after that, each with the factor by which. `growth` is the factor from
    the first steady row to the last one, 1 where no trend is shown. `effective` is how many independent rows the steady
    part is worth. `early` is the level at the begin by that after `settled`.
    """

    rows: int
    settled: int
    early: float
    changes: tuple[tuple[int, float], ...]
    growth: float
    effective: float

    @property
    def is_steady(self) -> bool:
        """Whether nothing was found."""
        return not self.settled and not self.changes and self.growth == 1.0


def steadiness(rates: ArrayLike) -> Steadiness | None:
    """Judges `rates`, one for each row, none below 0; None under 20 rows, or when most of them are 0."""
    values = np.asarray(rates, dtype=np.float64).ravel()
    if values.size < FEWEST_ROWS or not np.median(values) > 0.0:
        return None
    logs = _logs(values)
    places = change_points(logs)
    if places and _is_line(logs, places):
        places = []
    settled, early = _settled(values, logs, places)
    later = [place for place in places if place > settled]
    ends = [settled, *later, logs.size]
    levels = [float(logs[begin:end].mean()) for begin, end in pairwise(ends)]
    changes = tuple(
        (place, math.exp(after - before)) for place, before, after in zip(later, levels[:-1], levels[1:], strict=True)
    )
    steady = logs[settled:]
    residual = np.concatenate([logs[b:e] - level for b, e, level in zip(ends[:-1], ends[1:], levels, strict=True)])
    drift = 1.0 if changes else _growth(steady)
    return Steadiness(values.size, settled, early, changes, drift, effective_rows(residual))


def mser5(values: ArrayLike) -> int:
    """How many rows at the begin are best left out (White, 1997): the cut that leaves the smallest standard error of
    the mean, over means of five; at most half of them. Of noise alone it often finds a small cut: it says where a
    warm-up ends, not that there is one.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    batches = flat[: flat.size // BATCH * BATCH].reshape(-1, BATCH).mean(axis=1)
    if batches.size < 2:
        return 0
    cuts = range(batches.size // 2 + 1)
    return BATCH * min(cuts, key=lambda cut: float(batches[cut:].var()) / (batches.size - cut))


def change_points(logs: Floats) -> list[int]:
    """Rows at which the level of `logs` changes, rising: by binary segmentation. Each splits a stretch into two whose
    means differ by more than chance makes of rows that are correlated like these, and by 2 % at least.
    """
    found: list[int] = []
    open_: list[tuple[int, int]] = [(0, logs.size)]
    while open_ and len(found) < MOST_CHANGES:
        begin, end = open_.pop()
        place = _split(logs[begin:end])
        if place is not None:
            found.append(begin + place)
            open_ += [(begin, begin + place), (begin + place, end)]
    return sorted(found)


def effective_rows(values: ArrayLike) -> float:
    """How many independent rows correlated ones are worth, n / (1 + 2 Σ ρ): for AR(1) n (1 − φ) / (1 + φ). Sums of
    neighbouring correlations are taken while they are above 0 and fall (Geyer's initial monotone sequence).
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    centred = flat - flat.mean() if flat.size else flat
    squares = float(centred @ centred)
    if flat.size < 4 or squares <= 1e-20:
        return float(flat.size)
    size = 1 << (2 * flat.size - 1).bit_length()
    transformed = np.fft.rfft(centred, size)
    correlations = np.fft.irfft(transformed * transformed.conj(), size)[: flat.size // 2] / squares
    pairs = correlations[: correlations.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    below = np.flatnonzero(pairs <= 0.0)
    kept = np.minimum.accumulate(pairs[: below[0] if below.size else pairs.size])
    return float(min(flat.size, flat.size / max(1.0, 2.0 * float(kept.sum()) - 1.0)))


def _logs(values: Floats) -> Floats:
    """Logarithms in which one or two rows that lie far from the two before and the two after are brought near them; a
    row of 0 lies as far out as any.
    """
    logs = np.log(np.maximum(values, np.median(values) * 1e-3))
    # Of differences: a change of the level is one of many.
    reach = FARTHEST * max(1e-4, 1.4826 * float(np.median(np.abs(np.diff(logs)))) / math.sqrt(2.0))
    padded = np.pad(logs, 2, mode="reflect")
    around = np.sort([padded[:-4], padded[1:-3], padded[3:-1], padded[4:]], axis=0)
    bounded: Floats = np.clip(logs, around[1] - reach, around[2] + reach)
    return bounded


def _split(logs: Floats) -> int | None:
    """The row that splits a stretch best, when it does for certain."""
    n = logs.size
    if n < 2 * SHORTEST + 2:
        return None
    sums, first = np.cumsum(logs), np.arange(SHORTEST, n - SHORTEST + 1)
    before, after = sums[first - 1] / first, (sums[-1] - sums[first - 1]) / (n - first)
    score = np.abs(after - before) * np.sqrt(first * (n - first) / n)
    best = int(np.argmax(score))
    place, gap = int(first[best]), float(after[best] - before[best])
    residual = np.concatenate((logs[:place] - before[best], logs[place:] - after[best]))
    squares = float(residual @ residual)
    if abs(gap) < math.log1p(LEAST_SHARE):
        return None
    if squares <= 1e-18:
        return place
    lagged = float(residual[1:] @ residual[:-1]) / squares
    kept = min(0.9, max(0.0, lagged + (2.0 + 3.0 * max(0.0, lagged)) / n))  # corrected for its bias
    spread = math.sqrt(squares / (n - 3) * (1.0 + kept) / (1.0 - kept))
    return place if score[best] / spread > CERTAIN * (1.0 + SHORT / n) else None


def _is_line(logs: Floats, places: Sequence[int]) -> bool:
    """Whether a straight line tells the course as well as the steps do: a drift is cut into steps as well."""
    at = np.arange(logs.size, dtype=np.float64)
    line = logs - np.polyval(np.polyfit(at, logs, 1), at)
    ends = [0, *places, logs.size]
    steps = sum(float(logs[b:e].var()) * (e - b) for b, e in pairwise(ends))
    return float(line @ line) <= AS_WELL * steps


def _settled(values: Floats, logs: Floats, places: Sequence[int]) -> tuple[int, float]:
    """From which row on it is steady, when only its begin is different, and the level before by that after; 0 and 1
    else. A warm-up that ends slowly has several steps, all one way: where it ends MSER-5 says.
    """
    if not places or places[0] > values.size // 2:
        return 0, 1.0
    ends = [0, *places, values.size]
    levels = [float(logs[begin:end].mean()) for begin, end in pairwise(ends)]
    steps = np.sign(np.diff(levels))
    number = int(np.argmax(steps != steps[0])) if np.any(steps != steps[0]) else len(places)
    inside = [place for place in places[:number] if place <= values.size // 2]
    settled = inside[-1]
    cut = mser5(values)
    # It counts in fives, and at the half it has not found the end.
    if len(inside) == len(places) and settled + BATCH <= cut < values.size // 2 - BATCH:
        settled = cut
    return settled, math.exp(levels[0] - float(logs[settled:].mean()))


def _growth(steady: Floats) -> float:
    """The factor of the trend, 1 where none is shown or it is below 2 %."""
    found = growth(range(steady.size), np.exp(steady).tolist(), float(steady.size - 1), TREND_LEVEL)
    if found is None or abs(math.log(found.factor)) < math.log1p(LEAST_SHARE):
        return 1.0
    # A smooth course leaves residuals that are alike, which the test takes for correlated noise.
    at = np.arange(steady.size, dtype=np.float64)
    explains = float(np.corrcoef(at, steady)[0, 1]) ** 2
    return found.factor if explains > SMOOTH or not found.low <= 1.0 <= found.high else 1.0
