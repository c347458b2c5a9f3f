"""Checks that cost nothing: fairness over clients and Little's law."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def jain_index(rates: ArrayLike) -> float:
    """Jain's fairness index of per-client amounts, shape `(clients,)`: 1 = all alike, 1/n = one got all.

    NaN without clients or when nobody got anything. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
    """
    x = np.asarray(rates, dtype=np.float64).ravel()
    squares = float((x**2).sum())
    if x.size == 0 or squares == 0.0:
        return math.nan
    return float(x.sum()) ** 2 / (x.size * squares)


def littles_law_clients(operations_per_s: float, response_s: float, think_s: float = 0.0) -> float:
    """Sessions that Little's law implies, N = X · (R + Z): the closed loop must find its own number again."""
    return operations_per_s * (response_s + think_s)
