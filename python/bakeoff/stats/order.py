"""Order statistics: intervals of a median that need no shape of the spread."""

from __future__ import annotations

from scipy.stats import binom


def median_ranks(count: int, level: float = 0.95) -> tuple[int, int] | None:
    """Between which of `count` sorted values, from 0, the median of their source lies in a share `level` of cases.

    None where there are too few: the lowest and the highest of five hold it in 93.75 % of cases only.
    """
    lowest = int(binom.ppf((1.0 - level) / 2.0, count, 0.5)) if count else 0
    while lowest > 0 and 2.0 * binom.cdf(lowest - 1, count, 0.5) > 1.0 - level:
        lowest -= 1
    return (lowest - 1, count - lowest) if lowest > 0 else None
