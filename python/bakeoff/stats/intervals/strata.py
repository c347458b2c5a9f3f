"""Weighted means over strata: samples that no block pairs, as of several files, suites or days (Welch, Satterthwaite).

An interval has in it what members of a stratum differ by, and nothing by which strata differ as wholes, as by the day.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bakeoff.stats.intervals.blocks import finite, t_quantile, t_two_sided_p


@dataclass(frozen=True)
class Stratum:
    """The mean of a sample of logarithms with its standard error, its degrees of freedom, and its weight in a sum."""

    weight: float
    mean: float
    error: float
    freedom: int


@dataclass(frozen=True)
class OverStrata:
    """The weighted sum of the means with its interval; `p` is that of a sum of 0. All but `mean` are NaN where a
    stratum does not tell its own error.
    """

    mean: float
    low: float
    high: float
    p: float
    error: float
    freedom: float

    def p_beyond(self, margin: float) -> float:
        """The p value that the sum lies outside ±`margin` (two one-sided tests, the larger of the two)."""
        if not self.error:
            return float(abs(self.mean) >= margin)
        return float(special.stdtr(self.freedom, -(margin - abs(self.mean)) / self.error))


def stratum_of(logs: ArrayLike, weight: float) -> Stratum:
    """A stratum from its members; what is not finite is left out."""
    used = finite(logs)
    spread = float(used.std(ddof=1)) if used.size > 1 else math.nan
    mean = float(used.mean()) if used.size else math.nan
    return Stratum(weight, mean, spread / math.sqrt(max(1, used.size)), used.size - 1)


def over_strata(strata: Sequence[Stratum], level: float = 0.95) -> OverStrata:
    """The sum of the strata's means by their weights, with a t interval that has Satterthwaite's degrees of freedom."""
    mean = sum(one.weight * one.mean for one in strata)
    parts = [(one.weight * one.error) ** 2 for one in strata]
    variance = sum(parts)
    if not all(one.freedom > 0 for one in strata) or not math.isfinite(variance):
        return OverStrata(mean, *[math.nan] * 5)
    if variance == 0.0:
        return OverStrata(mean, mean, mean, float(mean == 0.0), 0.0, math.inf)
    freedom = variance**2 / sum(part**2 / one.freedom for part, one in zip(parts, strata, strict=True))
    error = float(np.sqrt(variance))
    half = t_quantile(freedom, level) * error
    return OverStrata(mean, mean - half, mean + half, t_two_sided_p(mean / error, freedom), error, freedom)
