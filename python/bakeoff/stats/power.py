"""How many blocks an answer needs (normal approximation with the z²/2 term for small numbers)."""

from __future__ import annotations

import math

from scipy import special

MOST_BLOCKS = 10_000


def _z(probability: float) -> float:
    return float(special.ndtri(probability))


def blocks_for_difference(log_sd: float, log_effect: float, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Blocks to show a difference of `log_effect` with the given power; None if more than 10,000.

    `log_sd` is the spread of per-block log-ratios: sqrt(2(1 - rho)) times one contender's spread.
    """
    if log_effect == 0.0:
        return None
    tail = _z(1.0 - alpha / 2.0)
    return _round_up((tail + _z(power)) ** 2 * (log_sd / log_effect) ** 2 + tail**2 / 2.0)


def blocks_for_equivalence(
    log_sd: float, delta: float, log_effect: float = 0.0, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Blocks to show equivalence within `delta` (0.05 = 5 %) when the true log-ratio is `log_effect`.

    None when the effect lies outside the margin or more than 10,000 blocks would be needed.
    """
    room = math.log1p(delta) - abs(log_effect)
    if room <= 0.0:
        return None
    tail = _z(1.0 - alpha)
    # Both one-sided tests must pass, so each gets half of the risk of missing.
    return _round_up((tail + _z(0.5 + power / 2.0)) ** 2 * (log_sd / room) ** 2 + tail**2 / 2.0)


def blocks_for_sign_flip(alpha: float = 0.05) -> int:
    """Fewest blocks with which a sign-flip test can reach `alpha` at all (6 for 0.05)."""
    return max(1, math.ceil(1.0 - math.log2(alpha)))


def _round_up(blocks: float) -> int | None:
    return math.ceil(blocks) if blocks <= MOST_BLOCKS else None
