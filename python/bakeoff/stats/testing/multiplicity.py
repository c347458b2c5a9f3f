"""Corrections for many comparisons: Holm for a few planned ones, Benjamini–Hochberg for many cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's step-down adjusted p values, same shape; NaN entries stay NaN and do not count."""
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Benjamini–Hochberg adjusted p values (q values), same shape; NaN entries stay NaN and do not count."""
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    scaled = p[order] * order.size / np.arange(1, order.size + 1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted


def fcr_level(selected: int, tested: int, q: float = 0.05) -> float:
    """Level of the intervals of cells picked by Benjamini–Hochberg at `q`.

    Keeps the expected share of picked intervals that miss at `q` (Benjamini and Yekutieli, 2005).
    """
    if tested < 1 or selected < 1:
        return 1.0 - q
    return 1.0 - q * min(selected, tested) / tested
