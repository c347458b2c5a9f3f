"""Growth of a figure over rows that follow each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

FEWEST_ROWS = 6
_MOST_CORRELATED = 0.95
_LEAST_INDEPENDENT = 4.0
_PARAMETERS = 3


@dataclass(frozen=True)
class Growth:
    """By which factor a figure grew from begin to end, as a straight line through the logarithms says, with its
    interval; `independent` is how many independent rows the correlated ones are worth.
    """

    factor: float
    low: float
    high: float
    independent: float


def growth(at: Sequence[float], values: Sequence[float], length: float, level: float = 0.95) -> Growth | None:
    """The growth of positive `values` at rising moments `at` over `length`, in one unit of time; None under six rows.

    Rows that follow each other are alike, which makes an ordinary interval too narrow: they are counted as fewer, by
    the correlation of neighbouring residuals (Santer et al., J. Geophys. Res. 105, 2000), corrected for its bias in
    short series. Residuals are those of a parabola: a drift that slows down is no noise.
    """
    x, y = np.asarray(at, dtype=float), np.log(np.asarray(values, dtype=float))
    n = len(x)
    if n < FEWEST_ROWS:
        return None
    centred = (x - x.mean()) / (x[-1] - x[0])
    design = np.stack([np.ones(n), centred, centred**2 - np.mean(centred**2)], axis=1)
    fitted, *_ = np.linalg.lstsq(design, y, rcond=None)
    residuals = y - design @ fitted
    squares = float(residuals @ residuals)
    independent = _independent(residuals, squares, n)
    variance = squares / (independent - _PARAMETERS) * float(np.linalg.inv(design.T @ design)[1, 1])
    reach = float(stats.t.ppf(0.5 + level / 2.0, independent - _PARAMETERS)) * math.sqrt(variance)
    slope, over = float(fitted[1]), length / float(x[-1] - x[0])
    return Growth(_exp(slope * over), _exp((slope - reach) * over), _exp((slope + reach) * over), independent)


def _independent(residuals: "np.ndarray[tuple[int], np.dtype[np.float64]]", squares: float, n: int) -> float:
    if squares <= 1e-24:
        return float(n)  # a line without noise
    lagged = float(residuals[1:] @ residuals[:-1]) / squares
    unbiased = lagged + (4.0 + 8.0 * max(0.0, lagged)) / n
    correlation = min(_MOST_CORRELATED, max(0.0, unbiased))
    return max(_LEAST_INDEPENDENT, n * (1.0 - correlation) / (1.0 + correlation))


def _exp(value: float) -> float:
    return math.exp(min(700.0, max(-700.0, value)))
