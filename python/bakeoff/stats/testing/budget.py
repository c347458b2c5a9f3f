"""Whether chance explains so many failures."""

from scipy import special


def binomial_at_least(count: int, of: int, share: float) -> float:
    """The probability of `count` or more among `of` that fail independently, each with probability `share`."""
    return 1.0 if count <= 0 else float(special.bdtrc(count - 1, of, share))
