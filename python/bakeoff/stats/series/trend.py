"""Growth of a figure over rows that follow each other, and of a queue over a window."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]
FEWEST_ROWS = 6
# Above this many rows neighbours are taken together: every row is compared with every other.
MOST_ROWS = 400
_MOST_CORRELATED = 0.8


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

    The line is Theil's and Sen's: the median of the slopes between all pairs, which single bad rows do not move. Its
    interval holds those slopes that Kendall's test of a trend does not refuse. Rows that follow each other are alike,
    which would make it too narrow: the variance of that test is raised by the correlation of neighbouring residuals,
    corrected for its bias in short series.
    """
    line = _line(*_thinned(np.asarray(at, dtype=float), np.log(np.asarray(values, dtype=float))), level)
    if line is None:
        return None
    slope, low, high = (value * length for value in line[:3])
    return Growth(_exp(slope), _exp(low), _exp(high), line[3])


def queue_growth(lengths: Sequence[int], skip: float = 0.0) -> float:
    """By how much a queue grew over a window, of which `lengths` tells it at the begin and at even distances up to the
    end: 0 where no growth is shown. `skip` is the share of the window, half of it at most, in which it fills anyway.

    The line is that of `growth`. A pause of the server moves the few lengths beside it and not the line; a queue that
    only grows for less than three tenths of the window is none that grows.
    """
    first = math.ceil(min(0.5, skip) * (len(lengths) - 1))
    y = np.asarray(lengths[first:], dtype=float)
    line = _line(np.arange(len(y), dtype=float), y, 0.95)
    return 0.0 if line is None or line[1] <= 0.0 else line[0] * (len(lengths) - 1)


def _line(x: Floats, y: Floats, level: float) -> tuple[float, float, float, float] | None:
    """A slope with its interval, and how many independent rows there are; None under six rows."""
    n = len(x)
    if n < FEWEST_ROWS:
        return None
    earlier, later = np.triu_indices(n, 1)
    slopes = np.sort((y[later] - y[earlier]) / (x[later] - x[earlier]))
    slope = float(np.median(slopes))
    correlation = _correlation(x, y)
    inflation = (1.0 + correlation) / (1.0 - correlation)
    sd = math.sqrt(n * (n - 1) * (2 * n + 5) / 18.0 * inflation)
    reach = float(special.ndtri(0.5 + level / 2.0)) * sd
    first, last = math.floor((len(slopes) - reach) / 2.0), math.ceil((len(slopes) + reach) / 2.0)
    low = float(slopes[first]) if first >= 0 else -math.inf
    high = float(slopes[last]) if last < len(slopes) else math.inf
    return slope, low, high, n / inflation


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Means of neighbours, so many that few enough rows are left."""
    together = -(-len(x) // MOST_ROWS)
    if together <= 1:
        return x, y
    whole = len(x) // together * together
    return x[:whole].reshape(-1, together).mean(axis=1), y[:whole].reshape(-1, together).mean(axis=1)


def _correlation(x: Floats, y: Floats) -> float:
    """Of neighbouring residuals of a parabola: a drift that slows down, or speeds up, is no noise."""
    centred = (x - x.mean()) / (x[-1] - x[0])
    design = np.stack([np.ones(len(x)), centred, centred**2], axis=1)
    fitted, *_ = np.linalg.lstsq(design, y, rcond=None)
    residuals = y - design @ fitted
    squares = float(residuals @ residuals)
    if squares <= 1e-20:
        return 0.0
    lagged = float(residuals[1:] @ residuals[:-1]) / squares
    return min(_MOST_CORRELATED, max(0.0, lagged + (3.0 + 6.0 * max(0.0, lagged)) / len(x)))


def _exp(value: float) -> float:
    """Never infinite: a file of figures has no place for it."""
    return math.exp(min(700.0, max(-700.0, value)))
